"""From a checkpoint to shipped files and back."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from backend.encoders.families.pocket import FOLDER, SENTENCE_PARTS, SHIPPED_FILES, TOWERS_FILE
from backend.encoders.families.pocket.encoder import load_pocket
from backend.encoders.families.pocket.network import AudioTower, TowerShape
from backend.encoders.families.pocket.text import TextHead, load_sentence_weights
from backend.errors import InputError
from backend.training.pocket.export import export_checkpoint, read_checkpoint, write_sentence_encoder

SMALL = TowerShape(channels=(4, 8, 8, 12, 16), repeats=(1, 0, 1, 1), hidden=32, expansion=2, dim=48)


def towers(seed: int = 0) -> tuple[AudioTower, TextHead]:
    torch.manual_seed(seed)
    return AudioTower(SMALL, auxiliary_classes=7).eval(), TextHead(SMALL.dim, 20).eval()


def checkpoint(folder: Path) -> Path:
    tower, head = towers()
    path = folder / "checkpoint.pt"
    torch.save({"net": tower.state_dict(), "heads": head.state_dict(), "step": 3}, path)
    return path


def test_what_is_exported_computes_what_was_trained(tmp_path: Path) -> None:
    export_checkpoint(checkpoint(tmp_path), tmp_path / "assets")
    encoder = load_pocket(tmp_path / "assets")
    assert (encoder.dim, len(encoder.weights)) == (48, 12)
    tower, head = towers()
    from backend.encoders.families.pocket.melspectrogram import log_mel

    signal = (0.1 * np.random.default_rng(0).standard_normal((2, 32000))).astype(np.float32)
    with torch.inference_mode():
        audio = tower(log_mel(torch.from_numpy(signal))).numpy()
        text = head(encoder.sentences(["a dog", "rain"])).numpy()
    assert np.abs(encoder.embed_audio(signal) - audio).max() < 5e-3
    assert np.abs(encoder.embed_text(["a dog", "rain"]) - text).max() < 5e-3


def test_names_of_the_first_checkpoints_are_understood(tmp_path: Path) -> None:
    tower, head = towers()
    words = {
        "input_norm": "bn0", ".layers.": ".b.", "features.": "f.", "projection": "proj", "attention_hidden": "att",
        "attention_logits": "att2", "embedding": "out", "auxiliary": "cls",
    }  # fmt: skip
    short = {}
    for key, value in tower.state_dict().items():
        for word, abbreviation in words.items():
            key = key.replace(word, abbreviation)
        short[key] = value
    texts = {
        f"minilm.{key.replace('linear', 'l').replace('correction', 'm')}": value
        for key, value in head.state_dict().items()
    }
    torch.save({"net": short, "heads": texts}, tmp_path / "old.pt")
    old, new = read_checkpoint(tmp_path / "old.pt"), read_checkpoint(checkpoint(tmp_path))
    assert old.keys() == new.keys()
    assert all(torch.equal(old[key], new[key]) for key in new)


def test_the_training_only_head_stays_behind_and_files_can_be_read_by_all(tmp_path: Path) -> None:
    export_checkpoint(checkpoint(tmp_path), tmp_path / "assets")
    stored = load_file(tmp_path / "assets" / TOWERS_FILE)
    assert not any("auxiliary" in key for key in stored)
    assert all(value.dtype in (torch.float16, torch.int64) for value in stored.values())
    assert sorted(path.name for path in (tmp_path / "assets").iterdir()) == sorted(SHIPPED_FILES)
    for name in SHIPPED_FILES:
        assert stat.S_IMODE((tmp_path / "assets" / name).stat().st_mode) & 0o044 == 0o044


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", None])
def test_what_is_no_checkpoint_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "x.pt"
    if content is None:
        torch.save({"something": 1}, path)
    else:
        path.write_bytes(content)
    with pytest.raises(InputError, match="is not a pocket checkpoint"):
        export_checkpoint(path, tmp_path / "assets")
    assert not (tmp_path / "assets").exists()


def test_the_sentence_encoder_is_stored_in_8_bits_and_reads_the_same(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not hold"):
        write_sentence_encoder(tmp_path, tmp_path / "assets")
    shipped = load_sentence_weights(FOLDER)
    full = {
        key: value.float() * shipped[key.removesuffix("weight") + "scale"][:, None]
        if value.dtype == torch.int8
        else value
        for key, value in shipped.items()
        if not key.endswith(".scale")
    }
    save_file(full, tmp_path / "model.safetensors")
    (tmp_path / "tokenizer.json").write_bytes((FOLDER / "tokenizer.json").read_bytes())
    write_sentence_encoder(tmp_path, tmp_path / "assets")
    written = load_sentence_weights(tmp_path / "assets")
    sizes = {(tmp_path / "assets" / name).stat().st_size for name in SENTENCE_PARTS}
    assert max(sizes) < 10e6 and max(sizes) - min(sizes) < len(SENTENCE_PARTS)
    assert written.keys() == shipped.keys()
    assert all(torch.equal(written[key], shipped[key]) for key in shipped if shipped[key].dtype == torch.int8)
