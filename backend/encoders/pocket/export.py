"""From a training checkpoint to the files that ship: half precision, centred, no training-only weights."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from backend.audio import sliding_windows
from backend.encoders.pocket import ASSETS, SENTENCE_FILE, TOKENIZER_FILE, TOWERS_FILE
from backend.encoders.pocket.encoder import AUDIO_CENTRE, TEXT_CENTRE, load_pocket
from backend.encoders.pocket.evaluation.recordings import read_signal
from backend.encoders.pocket.text import quantise
from backend.errors import InputError

BACKGROUND_FILES = 1500
"""Sounds whose mean embedding centres the audio; more change nothing that matters."""
TEXT_SHARE = 0.5
BACKGROUND_SUFFIXES = (".wav", ".flac", ".ogg")
VOCABULARY = Path(__file__).resolve().parents[3] / "data" / "background_vocabulary.txt"

TRAINING_ONLY = ("cls.", "auxiliary.")
CHECKPOINT_NAMES = (
    (r"^bn0\.", "input_norm."),
    (r"^f\.(\d+)\.b\.", r"features.\1.layers."),
    (r"^f\.", "features."),
    (r"^proj\.", "projection."),
    (r"^att\.", "attention_hidden."),
    (r"^att2\.", "attention_logits."),
    (r"^out\.", "embedding."),
    (r"^(minilm\.)?l\.", "linear."),
    (r"^(minilm\.)?m\.", "correction."),
)
"""Short names of a training checkpoint and the names they ship under."""


def renamed(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """A checkpoint's weights under their full names, without training-only ones."""
    result = {}
    for key, value in state.items():
        if key.startswith(TRAINING_ONLY):
            continue
        for pattern, replacement in CHECKPOINT_NAMES:
            key = re.sub(pattern, replacement, key)
        result[key] = value
    return result


def read_checkpoint(checkpoint: Path) -> dict[str, torch.Tensor]:
    """The towers of a training checkpoint, float32, under the names they ship under.

    Raises
    ------
    InputError
        The file is missing, is no checkpoint, or lacks a tower.
    """
    try:
        stored = torch.load(checkpoint, map_location="cpu", weights_only=True)
        audio = renamed(stored["tower"] if "tower" in stored else stored["net"])
        text = renamed(stored["head"] if "head" in stored else stored["heads"])
    except Exception as error:  # torch raises whatever the unpickler met
        raise InputError(
            f"{checkpoint} is not a pocket checkpoint ({error}); give the file that pocket train wrote.",
            concerns="file",
        ) from error
    towers = {f"audio.{key}": value for key, value in audio.items()}
    towers |= {f"text.{key}": value for key, value in text.items()}
    return towers


def export_checkpoint(checkpoint: Path, folder: Path, background: Path | None = None) -> None:
    """Write the towers of a checkpoint into a folder that may already hold the sentence encoder.

    Parameters
    ----------
    checkpoint : Path
        What ``pocket train`` wrote.
    folder : Path
        Gets TOWERS_FILE, and copies of the shipped sentence encoder where it has none.
    background : Path, optional
        Folder of sounds, of no test, whose mean embedding becomes the centre of the audio;
        without it the audio stays uncentred.

    Raises
    ------
    InputError
        The checkpoint or the background cannot be used.
    """
    towers = read_checkpoint(checkpoint)
    _write_towers(towers, folder)
    for name in (SENTENCE_FILE, TOKENIZER_FILE):
        if not (folder / name).exists():
            shutil.copyfile(ASSETS / name, folder / name)
    if background is not None:
        _write_towers(towers | centres(folder, background), folder)


def centres(folder: Path, background: Path, seed: int = 0) -> dict[str, torch.Tensor]:
    """Mean audio embedding over background sounds and mean text embedding over the background vocabulary.

    What every sound shares carries no meaning, but it makes some texts everybody's neighbours;
    the encoder subtracts the one wholly and the other by half (chosen on development sounds; see the card).

    Returns
    -------
    dict
        AUDIO_CENTRE and TEXT_CENTRE, each (dim,) float32, for an encoder that has none yet.

    Raises
    ------
    InputError
        The folder holds no sound.
    """
    files = sorted(path for path in background.rglob("*") if path.suffix in BACKGROUND_SUFFIXES)
    if not files:
        raise InputError(f"{background} holds no {', '.join(BACKGROUND_SUFFIXES)} file to centre on.")
    chosen = np.random.default_rng(seed).permutation(len(files))[:BACKGROUND_FILES]
    encoder = load_pocket(folder)
    means = []
    for index in sorted(chosen):
        signal = read_signal(files[index])
        windows = sliding_windows(len(signal) / encoder.sample_rate, 4.0, 2.0)
        means.append(encoder.embed_spans(signal, windows.starts, windows.length).mean(axis=0))
    texts = [line for line in VOCABULARY.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    return {
        AUDIO_CENTRE: torch.from_numpy(np.mean(means, axis=0)),
        TEXT_CENTRE: torch.from_numpy(TEXT_SHARE * encoder.embed_text(texts).mean(axis=0)),
    }


def _write_towers(towers: Mapping[str, torch.Tensor], folder: Path) -> None:
    """Half precision, except the centres; batch counters stay integers."""
    folder.mkdir(parents=True, exist_ok=True)
    stored = {}
    for key, value in sorted(towers.items()):
        full = key in (AUDIO_CENTRE, TEXT_CENTRE) or not value.is_floating_point()
        stored[key] = (value if full else value.half()).contiguous()
    _save(stored, folder / TOWERS_FILE)


def _save(stored: dict[str, torch.Tensor], path: Path) -> None:
    """Write a file that everyone may read (safetensors leaves it to the owner alone)."""
    save_file(stored, path)
    path.chmod(0o644)


def write_sentence_encoder(source: Path, folder: Path) -> Path:
    """Quantise all-MiniLM-L6-v2 to 8 bits, one scale a row; returns the file.

    Parameters
    ----------
    source : Path
        Folder with the model's ``model.safetensors`` and ``tokenizer.json``.
    folder : Path
        Where the shipped files go.

    Raises
    ------
    InputError
        The folder does not hold the model.
    """
    if not (source / "model.safetensors").is_file() or not (source / "tokenizer.json").is_file():
        raise InputError(f"{source} does not hold model.safetensors and tokenizer.json of all-MiniLM-L6-v2.")
    folder.mkdir(parents=True, exist_ok=True)
    stored: dict[str, torch.Tensor] = {}
    for key, value in load_file(source / "model.safetensors").items():
        if key.startswith("pooler.") or key.endswith("position_ids"):
            continue
        if value.ndim == 2:
            stored[key], stored[key.removesuffix("weight") + "scale"] = quantise(value)
        else:
            stored[key] = value.contiguous()
    _save(stored, folder / SENTENCE_FILE)
    shutil.copyfile(source / "tokenizer.json", folder / TOKENIZER_FILE)
    return folder / SENTENCE_FILE
