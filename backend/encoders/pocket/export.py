"""From a training checkpoint to the files that ship: half precision, no training-only weights."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from backend.encoders.pocket import SENTENCE_FILE, TOKENIZER_FILE, TOWERS_FILE
from backend.encoders.pocket.text import quantise
from backend.errors import InputError

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
        audio, text = renamed(stored["net"]), renamed(stored["heads"])
    except Exception as error:  # torch raises whatever the unpickler met
        raise InputError(
            f"{checkpoint} is not a pocket checkpoint ({error}); give the file that pocket train wrote.",
            concerns="file",
        ) from error
    towers = {f"audio.{key}": value for key, value in audio.items()}
    towers |= {f"text.{key}": value for key, value in text.items()}
    return towers


def write_towers(towers: Mapping[str, torch.Tensor], folder: Path) -> Path:
    """Write the towers in half precision; returns the file. Batch counters stay integers."""
    folder.mkdir(parents=True, exist_ok=True)
    stored = {
        key: (value.half() if value.is_floating_point() else value).contiguous()
        for key, value in sorted(towers.items())
    }
    save_file(stored, folder / TOWERS_FILE)
    return folder / TOWERS_FILE


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
    save_file(stored, folder / SENTENCE_FILE)
    shutil.copyfile(source / "tokenizer.json", folder / TOKENIZER_FILE)
    return folder / SENTENCE_FILE
