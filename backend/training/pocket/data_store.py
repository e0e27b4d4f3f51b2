"""Clip sets on disk: one directory a set, flat memory maps beside one CSV.

A set holds ``clips.csv`` (one row a clip), ``audio.i16`` (16 kHz mono, peak 0.7), ``mel.f16`` (log-mel frames)
and, once the teacher has heard it, ``scores.f16`` and ``features.f16`` (one row a 0.975 s patch). Flat files
let a training process map 20 hours of audio without reading it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backend.errors import InputError

SAMPLE_RATE = 16_000
PEAK = 0.7
BANDS = 64
CLASSES = 521
FEATURES = 1024


@dataclass(frozen=True)
class ClipRow:
    """One clip of a set; ``offset`` and ``samples`` address ``audio.i16``."""

    path: str
    """Path inside the package or repository it came from, with a suffix for copies."""
    package: str
    """Debian package, repository or generator: the unit that licences, weights and splits go by."""
    licence: str
    label: str
    """Text taken from the file name or the manifest; empty when it says nothing."""
    kind: str
    """real, effect, music, speech, instrument, synthesis, copy or mixture."""
    group: str
    """What must not be divided between training and development (a source recording)."""
    start: float
    """Seconds into the original file."""
    offset: int
    samples: int


class ClipWriter:
    """Writes ``clips.csv`` and ``audio.i16`` of a new set, clip by clip."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._audio = (directory / "audio.i16").open("wb")
        self._table = (directory / "clips.csv").open("w", newline="", encoding="utf-8")
        self._rows = csv.DictWriter(self._table, [field.name for field in fields(ClipRow)])
        self._rows.writeheader()
        self.count = 0
        self.samples = 0

    def add(self, signal: NDArray[np.int16], **described: object) -> None:
        """Append one clip, (samples,) int16; ``described`` fills the other fields of ClipRow."""
        row = ClipRow(offset=self.samples, samples=len(signal), **described)  # type: ignore[arg-type]
        self._audio.write(signal.tobytes())
        self._rows.writerow(asdict(row))
        self.samples += len(signal)
        self.count += 1

    def close(self) -> None:
        """Flush and close both files."""
        self._audio.close()
        self._table.close()

    def __enter__(self) -> ClipWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ClipSet:
    """Read access to a set: rows, audio and, where they exist, mels, scores and features."""

    def __init__(self, directory: Path) -> None:
        """Raises InputError when the set has not been written."""
        if not (directory / "clips.csv").is_file():
            raise InputError(
                f"There is no clip set at {directory}. Run: python -m backend pocket data", concerns="file"
            )
        self.directory = directory
        self.rows = tuple(_read_rows(directory / "clips.csv"))

    def audio(self) -> NDArray[np.int16]:
        """All samples of the set, (total,) int16, mapped."""
        return np.memmap(self.directory / "audio.i16", np.int16, "r")

    def signals(self) -> Iterator[NDArray[np.int16]]:
        """Each clip's samples in order, (samples,) int16."""
        audio = self.audio()
        for row in self.rows:
            yield np.asarray(audio[row.offset : row.offset + row.samples])

    def mels(self) -> tuple[NDArray[np.float16], NDArray[np.int64]]:
        """((frames, 64) float16 log-mel frames, (clips, 2) first frame and frame count)."""
        frames = np.memmap(self.directory / "mel.f16", np.float16, "r").reshape(-1, BANDS)
        return frames, np.load(self.directory / "mel.npy")

    def teacher(self) -> tuple[NDArray[np.float16], NDArray[np.float16], NDArray[np.int64]]:
        """((patches, 521) scores, (patches, 1024) features, (clips, 2) first patch and patch count)."""
        scores = np.memmap(self.directory / "scores.f16", np.float16, "r").reshape(-1, CLASSES)
        features = np.memmap(self.directory / "features.f16", np.float16, "r").reshape(-1, FEATURES)
        return scores, features, np.load(self.directory / "patches.npy")

    @property
    def complete(self) -> bool:
        """Whether mels and teacher outputs are both there."""
        return all((self.directory / name).is_file() for name in ("mel.npy", "patches.npy"))


def index_of(counts: Iterable[int]) -> NDArray[np.int64]:
    """(n,) lengths -> (n, 2) first index and length of each run in a flat file."""
    lengths = np.fromiter(counts, np.int64)
    return np.stack([np.cumsum(lengths) - lengths, lengths], axis=1)


def to_int16(signal: NDArray[np.floating]) -> NDArray[np.int16]:
    """Scale a signal to a peak of 0.7 and round it to int16; silence stays silence."""
    peak = float(np.abs(signal).max(initial=0.0))
    scaled = signal * (PEAK / peak) if peak > 0 else signal
    return np.round(scaled * 32767).astype(np.int16)


def _read_rows(path: Path) -> Iterator[ClipRow]:
    with path.open(newline="", encoding="utf-8") as table:
        for row in csv.DictReader(table):
            numbers = {"start": float(row["start"]), "offset": int(row["offset"]), "samples": int(row["samples"])}
            yield ClipRow(**{**row, **numbers})  # type: ignore[arg-type]
