"""From a training checkpoint to the files that ship: half precision, no training-only weights."""

from __future__ import annotations

import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save, save_file

from backend.encoders.families.pocket import FOLDER, SENTENCE_PARTS, SHIPPED_FILES, TOKENIZER_FILE, TOWERS_FILE
from backend.encoders.families.pocket.checkpoint import renamed
from backend.encoders.families.pocket.text import quantise
from backend.errors import InputError

TRAINING_ONLY = "auxiliary."
"""The weights of the head that only training needs."""


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
            f"{checkpoint} is not a pocket checkpoint ({type(error).__name__}); give the file that pocket train wrote.",
            concerns="file",
        ) from error
    towers = {f"audio.{key}": value for key, value in audio.items() if not key.startswith(TRAINING_ONLY)}
    towers |= {f"text.{key}": value for key, value in text.items()}
    return towers


def export_checkpoint(checkpoint: Path, folder: Path) -> None:
    """Write the towers of a checkpoint into a folder that may already hold the sentence encoder.

    Parameters
    ----------
    checkpoint : Path
        What ``pocket train`` wrote. Its audio is centred already: the mean sound is part of the last bias.
    folder : Path
        Gets TOWERS_FILE, and copies of the shipped sentence encoder where it has none.

    Raises
    ------
    InputError
        The checkpoint cannot be used.
    """
    towers = read_checkpoint(checkpoint)
    folder.mkdir(parents=True, exist_ok=True)
    # Half precision; the counters of the batch norms stay integers.
    stored = {key: value.half() if value.is_floating_point() else value for key, value in sorted(towers.items())}
    save_file({key: value.contiguous() for key, value in stored.items()}, folder / TOWERS_FILE)
    (folder / TOWERS_FILE).chmod(0o644)  # safetensors leaves its files to the owner alone
    for name in SHIPPED_FILES:
        if not (folder / name).exists():
            shutil.copyfile(FOLDER / name, folder / name)


def write_sentence_encoder(source: Path, folder: Path) -> None:
    """Quantise all-MiniLM-L6-v2 to 8 bits, one scale a row.

    Parameters
    ----------
    source : Path
        Folder with the model's ``model.safetensors`` and ``tokenizer.json``.
    folder : Path
        Gets SENTENCE_PARTS and TOKENIZER_FILE.

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
    whole = save(stored)
    length = -(-len(whole) // len(SENTENCE_PARTS))
    for index, name in enumerate(SENTENCE_PARTS):
        (folder / name).write_bytes(whole[index * length : (index + 1) * length])
    shutil.copyfile(source / "tokenizer.json", folder / TOKENIZER_FILE)
