"""Embeddings of many clips on disk: appended as they become ready, mapped when they are read.

A folder holds two plain float32 files, ``windows.f32`` and ``clips.f32``, and ``index.jsonl`` with one
line a clip. The line is written last, so a killed process loses at most the clip it was at; what lies
behind the last line is overwritten by the next run. One process writes at a time.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from backend.encoders.base import FloatArray
from backend.errors import InputError
from backend.files import move_into_place

WINDOWS, CLIPS, INDEX = "windows.f32", "clips.f32", "index.jsonl"


@dataclass(frozen=True, eq=False)
class ClipEmbeddings:
    """One clip: windows (w, D) and whole (D,), float32 unit vectors."""

    windows: FloatArray
    whole: FloatArray


@dataclass(frozen=True, eq=False)
class StoredArrays:
    """What a store holds, mapped from disk: clips (n, D), windows (m, D), offsets (n + 1,)."""

    clips: FloatArray
    windows: FloatArray
    offsets: NDArray[np.int64]


class EmbeddingStore:
    """The store in one folder, for vectors of ``dim`` numbers."""

    def __init__(self, folder: Path, dim: int) -> None:
        self.folder, self.dim = folder, dim

    def entries(self) -> list[tuple[str, int]]:
        """(key, number of windows) of every clip that is completely there, in file order."""
        try:
            lines = (self.folder / INDEX).read_text(encoding="utf-8").splitlines()
            rows = min(self._rows(CLIPS), len(lines))
            room = self._rows(WINDOWS)
        except (OSError, UnicodeDecodeError):
            return []
        found: list[tuple[str, int]] = []
        for line in lines[:rows]:
            try:
                key, count = json.loads(line)
                room -= int(count)
            except (ValueError, TypeError):
                break
            if room < 0:
                break
            found.append((str(key), int(count)))
        return found

    def _rows(self, name: str) -> int:
        return (self.folder / name).stat().st_size // (4 * self.dim)

    @contextlib.contextmanager
    def writing(self) -> Iterator[StoreWriter]:
        """The right to append, waited for; cuts off whatever an earlier process left half-written.

        Raises
        ------
        InputError
            Nothing can be written there.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock_file = (self.folder / ".lock").open("w")
        except OSError as error:
            raise InputError(
                f"The cache folder cannot be written to: {error.strerror}. Set UNHEARD_CACHE_DIR to one that can."
            ) from None
        with lock_file as lock:
            with contextlib.suppress(ImportError):
                import fcntl

                fcntl.flock(lock, fcntl.LOCK_EX)
            entries = self.entries()
            with contextlib.ExitStack() as files:
                windows, clips, index = (
                    files.enter_context((self.folder / name).open("r+b" if (self.folder / name).exists() else "w+b"))
                    for name in (WINDOWS, CLIPS, INDEX)
                )
                windows.truncate(4 * self.dim * sum(count for _, count in entries))
                clips.truncate(4 * self.dim * len(entries))
                index.truncate(sum(len(_line(key, count)) for key, count in entries))
                for file in (windows, clips, index):
                    file.seek(0, os.SEEK_END)
                yield StoreWriter(windows, clips, index)

    def arrange(self, keys: Sequence[str]) -> None:
        """Keep exactly these clips, in this order; copies only if they lie otherwise."""
        entries = self.entries()
        if [key for key, _ in entries] == list(keys):
            return
        held = self.arrays()
        place = {key: row for row, (key, _) in enumerate(entries)}
        new = EmbeddingStore(self.folder / f"arranged-{os.getpid()}", self.dim)
        with new.writing() as writer:
            for key in keys:
                row = place[key]
                windows = held.windows[held.offsets[row] : held.offsets[row + 1]]
                writer.add(key, ClipEmbeddings(windows, held.clips[row]))
        del held
        # The index goes first and comes last: in between, the store counts as empty, never as wrong.
        (self.folder / INDEX).unlink()
        for name in (WINDOWS, CLIPS, INDEX):
            move_into_place(new.folder / name, self.folder / name)
        (new.folder / ".lock").unlink()
        new.folder.rmdir()

    def arrays(self) -> StoredArrays:
        """Everything there is, mapped from disk."""
        entries = self.entries()
        offsets = np.cumsum([0, *(count for _, count in entries)])
        shapes = {CLIPS: (len(entries), self.dim), WINDOWS: (int(offsets[-1]), self.dim)}
        mapped = {
            name: np.memmap(self.folder / name, dtype=np.float32, mode="r", shape=shape)
            if shape[0]
            else np.empty(shape, np.float32)
            for name, shape in shapes.items()
        }
        return StoredArrays(mapped[CLIPS], mapped[WINDOWS], offsets)


class StoreWriter:
    """Appends clips to an open store."""

    def __init__(self, windows: BinaryIO, clips: BinaryIO, index: BinaryIO) -> None:
        self._windows, self._clips, self._index = windows, clips, index

    def add(self, key: str, embeddings: ClipEmbeddings) -> None:
        """Append one clip; the index line comes last and makes it count."""
        self._windows.write(np.ascontiguousarray(embeddings.windows, dtype="<f4").tobytes())
        self._clips.write(np.ascontiguousarray(embeddings.whole, dtype="<f4").tobytes())
        self._windows.flush()
        self._clips.flush()
        self._index.write(_line(key, len(embeddings.windows)))
        self._index.flush()


def _line(key: str, count: int) -> bytes:
    return (json.dumps([key, count], ensure_ascii=True) + "\n").encode("ascii")
