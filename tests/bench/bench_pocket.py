"""The pocket encoder's speed on one thread, each figure beside the plain way to do the same.

``python -m tests.bench.bench_pocket``. Processor time, medians; ratios are what carries to other machines.
"""

from __future__ import annotations

import time

import numpy as np
import torch
from safetensors.torch import load_file

from backend.audio import sliding_windows
from backend.encoders.families.pocket import FOLDER, TOKENIZER_FILE, TOWERS_FILE
from backend.encoders.families.pocket.encoder import load_pocket
from backend.encoders.families.pocket.melspectrogram import log_mel
from backend.encoders.families.pocket.network import AudioTower, shape_of_state
from backend.encoders.families.pocket.text import load_sentence_weights, load_tokenizer
from backend.training.pocket.evaluation.resources import QUERY, milliseconds
from tests.reference.sentence_encoder import dequantised

RATE = 16000


def row(name: str, ours: float, plain: float | None = None, alternative: str = "") -> None:
    """One line: our milliseconds, and how many times longer the alternative takes."""
    beside = "" if plain is None else f"   {plain / ours:5.1f} x faster than {alternative} ({plain:.1f} ms)"
    print(f"{name:<52}{ours:9.1f} ms{beside}")


def unfolded_tower() -> AudioTower:
    """The shipped audio tower with its batch norms left where they were trained."""
    stored = load_file(FOLDER / TOWERS_FILE)
    state = {key[6:]: value.float() for key, value in stored.items() if key.startswith("audio.")}
    tower = AudioTower(shape_of_state(state))
    tower.load_state_dict(state)
    return tower.eval()


def transformers_query() -> float:
    """The same sentence encoder through transformers' BertModel."""
    from transformers import BertConfig, BertModel

    config = BertConfig(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536)
    model = BertModel(config, add_pooling_layer=False).eval()
    model.load_state_dict(dequantised(load_sentence_weights(FOLDER)), strict=False)
    tokenizer = load_tokenizer(FOLDER / TOKENIZER_FILE)

    def query() -> torch.Tensor:
        ids = torch.tensor([tokenizer.encode(QUERY).ids])
        return model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state.mean(1)

    with torch.inference_mode():
        return milliseconds(query)


def main() -> None:
    """Print the table."""
    began = time.process_time()
    encoder = load_pocket(FOLDER)
    row("load from disk", 1000 * (time.process_time() - began))
    generator = np.random.default_rng(0)
    signal = (0.1 * generator.standard_normal(10 * RATE)).astype(np.float32)
    windows = sliding_windows(10.0, 2.0)
    cut = np.stack([signal[int(start * RATE) : int(start * RATE) + 2 * RATE] for start in windows.starts])
    one_pass = milliseconds(lambda: encoder.embed_spans(signal, windows.starts, 2.0))
    row(
        "17 two-second windows of 10 s, mel included",
        one_pass,
        milliseconds(lambda: encoder.embed_audio(cut)),
        "cutting",
    )
    row("  of that the log-mel", milliseconds(lambda: log_mel(torch.from_numpy(signal[None]))))
    tower, mel = unfolded_tower(), log_mel(torch.from_numpy(signal[None]))
    with torch.inference_mode():
        folded = milliseconds(lambda: encoder.tower(mel))
        row("  the tower, batch norms folded", folded, milliseconds(lambda: tower(mel)), "unfolded")
    long = np.resize(signal, 600 * RATE)
    starts = sliding_windows(600.0, 2.0).starts
    whole = milliseconds(lambda: encoder.embed_spans(long, starts, 2.0), repeats=3)
    row("1,197 windows of 10 min", whole, 600_000.0, "listening")
    text = milliseconds(lambda: encoder.embed_text([QUERY]))
    row("one text query", text, transformers_query(), "the same through transformers")
    vocabulary = [f"{QUERY} {index}" for index in range(200)]
    row("200 texts", milliseconds(lambda: encoder.embed_text(vocabulary), repeats=3), 200 * text, "one by one")


if __name__ == "__main__":
    main()
