"""Embedding a collection: with progress, resumed where it stopped, kept on disk and mapped from there.

A store belongs to one collection, encoder, weights, window and hop. Finished clips are written in
parts of ``PART`` clips; when all are there they become two plain arrays (windows, clips) that are
mapped, not loaded. A file that changed (size or time) is embedded again, an added one is added.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from backend.audio import HOP_SECONDS, Clip, clip_from_samples, load_clip, sliding_windows
from backend.collection import Collection, EmbeddedCollection, Item, Skipped, check_ids
from backend.composition.embeddings import read_embeddings
from backend.demo import DATA
from backend.encoders.base import Encoder, FloatArray
from backend.encoders.cached import EmbeddingCache, window_embeddings
from backend.errors import InputError
from backend.settings import settings
from backend.steering import unit

Progress = Callable[[str, float], None]
"""Called with what is done and the fraction done; raising stops the work, and what is done is kept."""
CLIP_SECONDS = 10.0
"""A clip is embedded as a whole up to this length; a longer one as the mean of such windows (own choice)."""
WINDOW_SECONDS = 2.0
PART = 16
"""Clips per part written: the most that an interruption can lose."""


@dataclass(frozen=True, eq=False)
class ClipEmbeddings:
    """One clip: windows (w, D) and whole (D,), float32 unit vectors."""

    windows: FloatArray
    whole: FloatArray


def embed_clip(
    encoder: Encoder, clip: Clip, window: float = WINDOW_SECONDS, hop: float = HOP_SECONDS
) -> ClipEmbeddings:
    """Embed one decoded clip: its sliding windows, and the clip as a whole."""
    throwaway = EmbeddingCache(None, memory_bytes=0, disk_bytes=0)
    windows = window_embeddings(encoder, clip, sliding_windows(clip.duration, window, hop), cache=throwaway)
    spans = sliding_windows(clip.duration, CLIP_SECONDS, CLIP_SECONDS)
    wholes = window_embeddings(encoder, clip, spans, cache=throwaway)
    return ClipEmbeddings(windows, unit(wholes.mean(axis=0)).astype(np.float32))


def embed_collection(
    collection: Collection,
    encoder: Encoder,
    *,
    window: float = WINDOW_SECONDS,
    hop: float = HOP_SECONDS,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> EmbeddedCollection:
    """Embed every clip of a collection that is not embedded yet, and map the result.

    Parameters
    ----------
    collection : Collection
    encoder : Encoder
    window, hop : float
        Seconds.
    folder : Path, optional
        Where stores are kept; by default in the cache folder of the settings.
    progress : callable, optional

    Returns
    -------
    EmbeddedCollection
        A clip that cannot be decoded is left out and listed in ``skipped`` with its reason.

    Raises
    ------
    InputError
        No clip is usable.
    """
    store = _Store(_store_folder(collection, encoder, window, hop, folder))
    keys = [_fingerprint(item) for item in collection.items]
    failures: dict[str, str] = {}
    if not store.is_exactly(keys):
        known = store.known()
        missing = [(key, item) for key, item in zip(keys, collection.items, strict=True) if key not in known]
        for batch in _batches(_embedded(missing, encoder, window, hop, failures, progress)):
            store.add(batch)
        usable = [key for key in keys if key not in failures]
        if usable:
            store.compact(usable)
    usable_items = [item for key, item in zip(keys, collection.items, strict=True) if key not in failures]
    skipped = tuple(
        Skipped(item.id, failures[key]) for key, item in zip(keys, collection.items, strict=True) if key in failures
    )
    if not usable_items:
        raise InputError(f"{collection.name}: no clip can be decoded; the first: {skipped[0].reason}", concerns="file")
    clips, windows, offsets = store.arrays()
    return EmbeddedCollection(
        name=collection.name,
        encoder_id=encoder.id,
        weights=encoder.weights,
        ids=tuple(item.id for item in usable_items),
        captions=tuple(item.caption for item in usable_items),
        labels=tuple(item.labels for item in usable_items),
        paths=tuple(item.path for item in usable_items),
        clips=clips,
        windows=windows,
        offsets=offsets,
        window_seconds=window,
        skipped=collection.skipped + skipped,
    )


def embedded_clips(
    name: str, encoder: Encoder, clips: Sequence[tuple[Item, Clip]], window: float = WINDOW_SECONDS
) -> EmbeddedCollection:
    """A collection of clips that are already decoded (a person's own), embedded in memory."""
    check_ids([item.id for item, _ in clips], name)
    made = [embed_clip(encoder, clip, window) for _, clip in clips]
    return EmbeddedCollection(
        name=name,
        encoder_id=encoder.id,
        weights=encoder.weights,
        ids=tuple(item.id for item, _ in clips),
        captions=tuple(item.caption for item, _ in clips),
        labels=tuple(item.labels for item, _ in clips),
        paths=tuple(item.path for item, _ in clips),
        clips=np.stack([one.whole for one in made]),
        windows=np.concatenate([one.windows for one in made]),
        offsets=np.cumsum([0, *(len(one.windows) for one in made)]),
        window_seconds=window,
    )


def ready_collection(path: str | Path, encoder: Encoder) -> EmbeddedCollection:
    """Ready embeddings of an ``.npz`` (ids, embeddings; captions and labels beside if given) or ``.parquet`` file.

    One vector a clip serves both as the whole clip and as its only window. Vectors are scaled to length one.

    Raises
    ------
    InputError
        The file is not that, or its vectors are not as wide as the encoder's.
    """
    path = Path(path)
    ids, vectors = read_embeddings(path)
    if vectors.shape[1] != encoder.dim:
        raise InputError(
            f"{path.name} has vectors of {vectors.shape[1]} numbers, {encoder.id} makes {encoder.dim}. "
            "Name the encoder that made them with --encoder."
        )
    if not np.isfinite(vectors).all():
        row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
        raise InputError(
            f"{path.name}: the embedding of {ids[row]!r} has a value that is not a number.", concerns="file"
        )
    captions, labels = _ready_texts(path, len(ids))
    clips = unit(vectors).astype(np.float32)
    return EmbeddedCollection(
        name=path.stem,
        encoder_id=encoder.id,
        weights="",
        ids=ids,
        captions=captions,
        labels=labels,
        paths=(None,) * len(ids),
        clips=clips,
        windows=clips,
        offsets=np.arange(len(ids) + 1),
        window_seconds=0.0,
    )


def _ready_texts(path: Path, count: int) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Captions and labels (separated by ``;``) that an .npz holds beside its embeddings, else empty ones."""
    found: dict[str, list[str]] = {}
    if path.suffix.lower() == ".npz":
        with np.load(path, allow_pickle=False) as stored:
            found = {name: [str(text) for text in stored[name]] for name in ("captions", "labels") if name in stored}
    for name, texts in found.items():
        if len(texts) != count:
            raise InputError(
                f"{path.name} has {count} ids and {len(texts)} {name}; there must be one a row.", concerns="file"
            )
    labels = [
        tuple(part.strip() for part in text.split(";") if part.strip()) for text in found.get("labels", [""] * count)
    ]
    captions = found.get("captions", [" and ".join(clip) for clip in labels])
    return tuple(captions), tuple(labels)


def _store_folder(collection: Collection, encoder: Encoder, window: float, hop: float, folder: Path | None) -> Path:
    base = folder if folder is not None else settings().cache_dir / "collections"
    places = sorted({str(item.path.parent.resolve()) for item in collection.items})
    identity = json.dumps([encoder.id, encoder.weights, window, hop, CLIP_SECONDS, collection.layout, places])
    return base / f"{_safe(collection.name)}-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"


def _safe(name: str) -> str:
    return "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)[:40] or "collection"


def _fingerprint(item: Item) -> str:
    try:
        status = item.path.stat()
        return f"{item.path.resolve()}|{status.st_size}|{status.st_mtime_ns}"
    except OSError:
        return f"{item.path}|missing"


def _embedded(
    missing: Sequence[tuple[str, Item]],
    encoder: Encoder,
    window: float,
    hop: float,
    failures: dict[str, str],
    progress: Progress | None,
) -> Iterator[tuple[str, ClipEmbeddings]]:
    for place, (key, item) in enumerate(missing):
        if progress:
            progress(f"Embedding {item.id} ({place + 1} of {len(missing)})", place / len(missing))
        try:
            yield key, embed_clip(encoder, _decoded(item.path), window, hop)
        except InputError as error:
            failures[key] = str(error)


def _decoded(path: Path) -> Clip:
    if DATA not in path.parents:
        return load_clip(path, shorten=True)
    # The program's own files need no child process; sixty of them would cost as many seconds.
    import soundfile

    samples, rate = soundfile.read(path, dtype="float32")
    return clip_from_samples(samples, rate, name=path.name)


def _batches(made: Iterator[tuple[str, ClipEmbeddings]]) -> Iterator[dict[str, ClipEmbeddings]]:
    batch: dict[str, ClipEmbeddings] = {}
    try:
        for key, embeddings in made:
            batch[key] = embeddings
            if len(batch) == PART:
                yield batch
                batch = {}
    except BaseException:
        # Stopped on the way (also by the person): what is done is kept, the next run goes on from there.
        if batch:
            yield batch
        raise
    if batch:
        yield batch


class _Store:
    """A folder with ``index.json``, ``windows.npy``, ``clips.npy`` and parts not merged yet."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _index(self) -> tuple[list[str], list[int]]:
        try:
            index = json.loads((self.folder / "index.json").read_text(encoding="utf-8"))
            clips = np.load(self.folder / "clips.npy", mmap_mode="r")
            windows = np.load(self.folder / "windows.npy", mmap_mode="r")
            if len(index["keys"]) == len(index["counts"]) == len(clips) and sum(index["counts"]) == len(windows):
                return list(index["keys"]), [int(count) for count in index["counts"]]
        except (OSError, ValueError, KeyError, TypeError):
            pass
        # Missing, half-written or foreign: worth nothing, the clips are embedded again.
        return [], []

    def is_exactly(self, keys: Sequence[str]) -> bool:
        """Whether the merged arrays hold exactly these clips, in this order."""
        return bool(keys) and self._index()[0] == list(keys)

    def known(self) -> dict[str, Callable[[], ClipEmbeddings]]:
        """What has been embedded, as readers: nothing is loaded before it is asked for."""
        found: dict[str, Callable[[], ClipEmbeddings]] = {}
        keys, _ = self._index()
        if keys:
            clips, windows, offsets = self.arrays()
            for place, key in enumerate(keys):
                found[key] = _slice_reader(clips, windows, offsets, place)
        for part in sorted(self.folder.glob("part-*.npz")):
            try:
                with np.load(part, allow_pickle=False) as stored:
                    offsets = np.cumsum([0, *stored["counts"].tolist()])
                    clips, windows = stored["clips"], stored["windows"]
                    for place, key in enumerate(stored["keys"].tolist()):
                        found[key] = _slice_reader(clips, windows, offsets, place)
            except Exception:
                part.unlink(missing_ok=True)
        return found

    def add(self, batch: dict[str, ClipEmbeddings]) -> None:
        """Write one part; atomic, so that a killed process leaves no half of it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        number = len(list(self.folder.glob("part-*.npz")))
        temporary = self.folder / f".part-{os.getpid()}.tmp"
        with temporary.open("wb") as file:
            np.savez(
                file,
                keys=np.array(list(batch)),
                counts=np.array([len(one.windows) for one in batch.values()]),
                clips=np.stack([one.whole for one in batch.values()]),
                windows=np.concatenate([one.windows for one in batch.values()]),
            )
        os.replace(temporary, self.folder / f"part-{number:06d}-{os.getpid()}.npz")

    def compact(self, keys: Sequence[str]) -> None:
        """Merge everything into the two arrays, in the order of ``keys``, and drop the parts."""
        if self.is_exactly(keys):
            return
        known = self.known()
        parts = list(self.folder.glob("part-*.npz"))
        counts = [len(known[key]().windows) for key in keys]
        width = len(known[keys[0]]().whole)
        new = {name: self.folder / f".{name}-{os.getpid()}.npy" for name in ("clips", "windows")}
        clips = open_memmap(new["clips"], mode="w+", dtype=np.float32, shape=(len(keys), width))
        windows = open_memmap(new["windows"], mode="w+", dtype=np.float32, shape=(sum(counts), width))
        at = 0
        for place, (key, count) in enumerate(zip(keys, counts, strict=True)):
            one = known[key]()
            clips[place], windows[at : at + count] = one.whole, one.windows
            at += count
        clips.flush()
        windows.flush()
        del clips, windows, known
        (self.folder / "index.json").unlink(missing_ok=True)
        for name, path in new.items():
            os.replace(path, self.folder / f"{name}.npy")
        temporary = self.folder / f".index-{os.getpid()}.json"
        temporary.write_text(json.dumps({"keys": list(keys), "counts": counts}), encoding="utf-8")
        os.replace(temporary, self.folder / "index.json")
        for part in parts:
            part.unlink(missing_ok=True)

    def arrays(self) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
        """Clips (n, D) and windows (m, D), mapped from disk, and offsets (n + 1,)."""
        _, counts = self._index()
        clips = np.load(self.folder / "clips.npy", mmap_mode="r")
        windows = np.load(self.folder / "windows.npy", mmap_mode="r")
        return clips, windows, np.cumsum([0, *counts])


def _slice_reader(
    clips: FloatArray, windows: FloatArray, offsets: NDArray[np.int64], place: int
) -> Callable[[], ClipEmbeddings]:
    return lambda: ClipEmbeddings(windows[offsets[place] : offsets[place + 1]], clips[place])
