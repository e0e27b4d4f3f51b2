"""The recordings an evaluation listens to: ESC-10, or any folder with a manifest."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
import soxr

from backend.encoders.base import FloatArray
from backend.encoders.families.pocket.melspectrogram import SAMPLE_RATE
from backend.errors import InputError
from backend.training.pocket.evaluation.catalogue import ESC10_CLASSES

MANIFEST_COLUMNS = ("file", "label", "package")


@dataclass(frozen=True, eq=False)
class Recording:
    """One recording at 16 kHz.

    Attributes
    ----------
    signal : np.ndarray, shape (samples,), float32
    label : str
        Its class (ESC-10) or its caption (a pool).
    group : str
        Recordings of one source share it: they are drawn together when an interval is estimated.
    """

    signal: FloatArray
    label: str
    group: str


def read_signal(path: Path) -> FloatArray:
    """A file's mean over channels at 16 kHz, (samples,) float32.

    Raises
    ------
    InputError
        The file cannot be decoded.
    """
    try:
        samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    except (OSError, soundfile.LibsndfileError) as error:
        raise InputError(f"{path} cannot be decoded ({error}); remove or replace it.", concerns="file") from error
    return np.ascontiguousarray(soxr.resample(samples.mean(axis=1), rate, SAMPLE_RATE), dtype=np.float32)


def read_esc10(folder: Path) -> list[Recording]:
    """ESC-10: one folder per class, files named fold-source-take.ogg.

    Raises
    ------
    InputError
        The folder, or one of its classes, is not there.
    """
    missing = [name for name in ESC10_CLASSES if not (folder / name).is_dir()]
    if missing:
        raise InputError(
            f"ESC-10 is not in {folder} (no folder {missing[0]}); pass --esc10 DIR, one folder per class.",
            concerns="file",
        )
    return [
        Recording(read_signal(path), name, path.stem.split("-")[1])
        for name in ESC10_CLASSES
        for path in sorted((folder / name).glob("*.ogg"))
    ]


def read_pool(folder: Path, *, column: str | None = None) -> list[Recording]:
    """A folder whose ``manifest.csv`` has the columns file, label and package.

    A column ``caption``, where there is one, is what a recording is asked for by, in place of its label; or the
    ``column`` that is named, as it is written (``class`` holds the concept of the caption bank).

    Raises
    ------
    InputError
        The manifest is missing, lacks a column, or names a file that cannot be read.
    """
    manifest = folder / "manifest.csv"
    if not manifest.is_file():
        raise InputError(f"{folder} holds no manifest.csv; python -m backend pocket data writes one.", concerns="file")
    with manifest.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    lacking = [name for name in (*MANIFEST_COLUMNS, *([column] if column else [])) if not rows or name not in rows[0]]
    if lacking:
        raise InputError(f"{manifest} lacks the column {lacking[0]!r} or has no rows.", concerns="file")
    described = column or ("caption" if "caption" in rows[0] else "label")
    return [
        Recording(
            read_signal(folder / row["file"]),
            row[described] if column else row[described].strip().lower(),
            row["package"],
        )
        for row in rows
    ]
