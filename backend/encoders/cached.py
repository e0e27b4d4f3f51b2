"""Embeddings computed once: in memory and on disk, keyed by encoder, weights, clip and span.

A second query on a known clip touches the text tower only. Both stores are bounded and drop
the least recently used first.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from backend.audio import Clip, Windows, resampled
from backend.encoders.base import Encoder, FloatArray, SpanEncoder
from backend.files import OWNER_ONLY, atomic_write, drop_oldest
from backend.kept import Kept
from backend.settings import settings

BATCH = 4
"""Windows a slow encoder embeds between two progress reports."""
MICROSECONDS = 1_000_000
REVISION = 2
"""Part of every key: raise it when code, not weights, changes the numbers an encoder gives."""


class EmbeddingCache:
    """A bounded store of float32 vectors, in memory and, if given a folder, on disk.

    Parameters
    ----------
    folder : Path or None
        Where files are kept; None keeps memory only.
    memory_bytes, disk_bytes : int
        Bounds of the two stores.
    """

    def __init__(self, folder: Path | None, *, memory_bytes: int, disk_bytes: int) -> None:
        self.folder = folder
        self.disk_bytes = disk_bytes
        self._memory: Kept[tuple[str, str], FloatArray] = Kept(
            most_bytes=memory_bytes, size=lambda vector: vector.nbytes, dropped=self._forget_reading
        )
        self._read_groups: set[str] = set()
        self._lock = threading.RLock()

    def get(self, group: str, key: str) -> FloatArray | None:
        """The vector of ``key`` in ``group``, or None."""
        with self._lock:
            if (group, key) not in self._memory and self.folder and group not in self._read_groups:
                self._read(group)
            return self._memory.found((group, key))

    def put(self, group: str, vectors: dict[str, FloatArray], *, persist: bool = True) -> None:
        """Keep vectors of one group; ``persist=False`` keeps them in memory only."""
        with self._lock:
            for key, vector in vectors.items():
                self._remember(group, key, np.array(vector, dtype=np.float32))
            if persist and self.folder and vectors:
                self._write(group, vectors)

    def _remember(self, group: str, key: str, vector: FloatArray) -> None:
        vector.setflags(write=False)
        self._memory.put((group, key), vector)

    def _forget_reading(self, dropped: tuple[str, str]) -> None:
        """A group that is not whole in memory any more is read from disk again when it is asked for."""
        self._read_groups.discard(dropped[0])

    def _path(self, group: str) -> Path:
        if self.folder is None:
            raise RuntimeError("this cache has no folder")
        return self.folder / f"{hashlib.sha256(group.encode()).hexdigest()[:32]}.npz"

    def _load(self, group: str) -> dict[str, FloatArray]:
        path = self._path(group)
        try:
            with np.load(path, allow_pickle=False) as stored:
                found = dict(zip(stored["keys"].tolist(), stored["vectors"].astype(np.float32), strict=True))
            os.utime(path)
            return found
        except Exception:
            # Missing, half-written or foreign: worth nothing, so the vectors are computed again.
            return {}

    def _read(self, group: str) -> None:
        self._read_groups.add(group)
        for key, vector in self._load(group).items():
            self._remember(group, key, vector)

    def _write(self, group: str, vectors: dict[str, FloatArray]) -> None:
        path = self._path(group)
        merged = {**self._load(group), **vectors}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(path, mode=OWNER_ONLY) as part, part.open("wb") as file:
                np.savez(file, keys=np.array(list(merged)), vectors=np.stack(list(merged.values())))
            drop_oldest(path.parent, "*.npz", self.disk_bytes, keep=path)
        except OSError:
            # A full or read-only disk costs speed, never a result.
            self.folder = None


_shared: EmbeddingCache | None = None
_shared_lock = threading.Lock()


def shared_cache() -> EmbeddingCache:
    """The cache of this process, bounded by the settings."""
    global _shared
    with _shared_lock:
        if _shared is None:
            chosen = settings()
            _shared = EmbeddingCache(
                chosen.cache_dir / "embeddings" if chosen.cache_disk_mb else None,
                memory_bytes=chosen.cache_memory_mb * 2**20,
                disk_bytes=chosen.cache_disk_mb * 2**20,
            )
        return _shared


def _group(encoder: Encoder, what: str) -> str:
    return f"{REVISION}|{encoder.id}|{encoder.weights}|{what}"


def _span_key(start: float, length: float) -> str:
    return f"{round(start * MICROSECONDS)}+{round(length * MICROSECONDS)}"


def window_batches(
    encoder: Encoder,
    clip: Clip,
    windows: Windows,
    *,
    cache: EmbeddingCache | None = None,
    persist: bool = True,
) -> Iterator[tuple[np.ndarray, FloatArray]]:
    """Embeddings of a clip's windows as they become ready.

    Yields
    ------
    indices : np.ndarray, shape (k,), int64
        Which windows are ready.
    embeddings : np.ndarray, shape (k, D), float32
        Their unit vectors. Cached windows come first, then batches of ``BATCH``; an encoder that
        embeds all windows in one pass yields once. Closing the generator stops the work.
    """
    cache = cache or shared_cache()
    group = _group(encoder, clip.digest)
    keys = [_span_key(float(start), windows.length) for start in windows.starts]
    found = {index: vector for index, key in enumerate(keys) if (vector := cache.get(group, key)) is not None}
    if found:
        yield np.array(list(found)), np.stack(list(found.values()))
    missing = np.array([index for index in range(len(keys)) if index not in found], dtype=np.int64)
    if not len(missing):
        return
    signal = resampled(clip, encoder.sample_rate)
    step = len(missing) if isinstance(encoder, SpanEncoder) else BATCH
    fresh: dict[str, FloatArray] = {}
    try:
        for offset in range(0, len(missing), step):
            batch = missing[offset : offset + step]
            embeddings = _embed(encoder, signal, windows.starts[batch], windows.length)
            fresh.update({keys[index]: vector for index, vector in zip(batch, embeddings, strict=True)})
            yield batch, embeddings
    finally:
        cache.put(group, fresh, persist=persist)


def _embed(encoder: Encoder, signal: FloatArray, starts: np.ndarray, length: float) -> FloatArray:
    if isinstance(encoder, SpanEncoder):
        return encoder.embed_spans(signal, starts, length)
    samples = min(round(length * encoder.sample_rate), len(signal))
    first = np.minimum(np.round(starts * encoder.sample_rate).astype(int), len(signal) - samples)
    return encoder.embed_audio(np.stack([signal[start : start + samples] for start in first]))


def window_embeddings(
    encoder: Encoder, clip: Clip, windows: Windows, *, cache: EmbeddingCache | None = None, persist: bool = True
) -> FloatArray:
    """Embeddings of all windows of a clip, shape (n, D) float32; see :func:`window_batches`."""
    result = np.empty((len(windows), encoder.dim), dtype=np.float32)
    for indices, embeddings in window_batches(encoder, clip, windows, cache=cache, persist=persist):
        result[indices] = embeddings
    return result


def text_embeddings(encoder: Encoder, texts: Sequence[str], *, cache: EmbeddingCache | None = None) -> FloatArray:
    """Embeddings of texts, shape (m, D) float32, each text embedded once per encoder and process."""
    cache = cache or shared_cache()
    group = _group(encoder, "text")
    found = {text: cache.get(group, text) for text in texts}
    known = {text: vector for text, vector in found.items() if vector is not None}
    missing = [text for text in found if text not in known]
    if missing:
        fresh = dict(zip(missing, encoder.embed_text(missing), strict=True))
        # A long vocabulary is worth a file; a typed query is not.
        cache.put(group, fresh, persist=len(missing) >= 50)
        known.update(fresh)
    return np.stack([known[text] for text in texts]).astype(np.float32)
