"""Embedding a collection: with progress, resumed where it stopped, kept on disk and mapped from there.

A store belongs to one collection, encoder, weights, window and hop. A file that changed (size or
time) is embedded again, an added one is added.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from backend.audio import (
    HOP_SECONDS,
    WINDOW_SECONDS,
    Clip,
    clip_from_samples,
    load_clip,
    resampled,
    sliding_windows,
)
from backend.collections.collection import Collection, EmbeddedCollection, Item, Skipped, check_ids
from backend.collections.embedding_store import ClipEmbeddings, EmbeddingStore, StoredArrays
from backend.encoders.base import Encoder, FloatArray
from backend.encoders.batches import watching
from backend.encoders.cached import EmbeddingCache, window_embeddings
from backend.errors import InputError
from backend.files import DATA
from backend.progress import Progress
from backend.retrieval.steering import unit
from backend.settings import settings

CLIP_SECONDS = 10.0
"""A clip is embedded as a whole up to this length; a longer one as the mean of such windows (own choice)."""
CLIPS_AT_ONCE = 8
"""Clips of one length that are embedded in one pass where no windows are wanted: 1.25 to 4 times faster (measured)."""


def whole_clip_embedding(encoder: Encoder, clip: Clip) -> FloatArray:
    """One unit vector (D,) float32 for a clip: its whole length at once, or the mean of 10 s windows side by side."""
    spans = sliding_windows(clip.duration, CLIP_SECONDS, CLIP_SECONDS)
    wholes = window_embeddings(encoder, clip, spans, cache=_throwaway())
    return unit(wholes.mean(axis=0)).astype(np.float32)


def embed_clip(
    encoder: Encoder, clip: Clip, window: float | None = WINDOW_SECONDS, hop: float = HOP_SECONDS
) -> ClipEmbeddings:
    """Embed one decoded clip: its sliding windows (no window, none), and the clip as a whole."""
    windows = np.empty((0, encoder.dim), dtype=np.float32)
    if window is not None:
        windows = window_embeddings(encoder, clip, sliding_windows(clip.duration, window, hop), cache=_throwaway())
    return ClipEmbeddings(windows, whole_clip_embedding(encoder, clip))


def _throwaway() -> EmbeddingCache:
    """No cache: what a store keeps need not be kept twice."""
    return EmbeddingCache(None, memory_bytes=0, disk_bytes=0)


def embed_collection(
    collection: Collection,
    encoder: Encoder,
    *,
    window: float | None = WINDOW_SECONDS,
    hop: float = HOP_SECONDS,
    folder: Path | None = None,
    progress: Progress | None = None,
    noun: str = "clip",
) -> EmbeddedCollection:
    """Embed every clip of a collection that is not embedded yet, and map the result.

    Parameters
    ----------
    collection : Collection
    encoder : Encoder
    window, hop : float
        Seconds; without a window (None) each clip is embedded as a whole only.
    folder : Path, optional
        Where stores are kept; by default in the cache folder of the settings.
    progress : Progress, optional
        Told "Embedding clip 17 of 600" after each clip; when it is cancelled, the clips embedded so far are kept.
    noun : str
        What that sentence calls a clip.

    Returns
    -------
    EmbeddedCollection
        A clip that cannot be decoded is left out and listed in ``skipped`` with its reason.

    Raises
    ------
    InputError
        No clip is usable.
    """
    places = sorted({str(item.path.parent.resolve()) for item in collection.items})
    store = embedding_store(encoder, f"{collection.name}", [collection.layout, *places], window, hop, folder)
    keys = [_fingerprint(item) for item in collection.items]
    sounds = {key: item for key, item in zip(keys, collection.items, strict=True)}
    arrays, failures = embed_keyed(
        store, encoder, keys, lambda key: _decoded(sounds[key].path), window, hop, progress=progress, noun=noun
    )
    rows = list(zip(keys, collection.items, strict=True))
    usable = [item for key, item in rows if key not in failures]
    skipped = tuple(Skipped(item.id, failures[key]) for key, item in rows if key in failures)
    if not usable:
        raise InputError(f"{collection.name}: no clip can be decoded; the first: {skipped[0].reason}", concerns="file")
    return embedded(collection.name, encoder, usable, arrays, window, collection.skipped + skipped)


def embed_keyed(
    store: EmbeddingStore,
    encoder: Encoder,
    keys: Sequence[str],
    decoded: Callable[[str], Clip],
    window: float | None = WINDOW_SECONDS,
    hop: float = HOP_SECONDS,
    *,
    progress: Progress | None = None,
    noun: str = "clip",
) -> tuple[StoredArrays, dict[str, str]]:
    """Bring a store to hold exactly the clips of these keys, embedding what is missing.

    Returns
    -------
    arrays : StoredArrays
        In the order of ``keys``, without those that failed.
    failures : dict of str to str
        Why ``decoded`` refused a key.
    """
    progress = progress or Progress()
    failures: dict[str, str] = {}
    if [key for key, _ in store.entries()] == list(keys):
        return store.arrays(), failures
    most = 1 if window is not None else CLIPS_AT_ONCE
    with store.writing() as writer:
        held = {key for key, _ in store.entries()}
        missing = [key for key in dict.fromkeys(keys) if key not in held]
        written = 0
        for alike in _clips_alike(missing, decoded, most, failures):
            with watching(progress.silent_part()):
                made = _embedded_alike(encoder, [clip for _, clip in alike], window, hop)
            for (key, _), embeddings in zip(alike, made, strict=True):
                writer.add(key, embeddings)
            written += len(alike)
            done = written + len(failures)
            progress.report(f"Embedding {noun} {done} of {len(missing)}", done, len(missing))
    store.arrange([key for key in keys if key not in failures])
    return store.arrays(), failures


def _clips_alike(
    keys: Sequence[str], decoded: Callable[[str], Clip], most: int, failures: dict[str, str]
) -> Iterator[list[tuple[str, Clip]]]:
    """Clips that one pass can embed: neighbours of one length and rate, up to ``most``; a long one alone.

    What ``decoded`` refuses goes into ``failures``; a turn is given there too, perhaps without a clip.
    """
    alike: list[tuple[str, Clip]] = []
    for key in keys:
        try:
            clip = decoded(key)
        except InputError as error:
            failures[key] = str(error)
            yield alike
            alike = []
            continue
        if alike and (len(clip.mono), clip.sample_rate) != (len(alike[0][1].mono), alike[0][1].sample_rate):
            yield alike
            alike = []
        alike.append((key, clip))
        if len(alike) == most or clip.duration > CLIP_SECONDS:
            yield alike
            alike = []
    if alike:
        yield alike


def _embedded_alike(
    encoder: Encoder, clips: Sequence[Clip], window: float | None, hop: float
) -> Sequence[ClipEmbeddings]:
    """Clips of one length embedded: several of them as wholes only, in one pass."""
    if len(clips) < 2:
        return [embed_clip(encoder, clip, window, hop) for clip in clips]
    wholes = encoder.embed_audio(np.stack([resampled(clip, encoder.sample_rate) for clip in clips]))
    return [ClipEmbeddings(np.empty((0, encoder.dim), dtype=np.float32), whole) for whole in wholes]


def embedded(
    name: str,
    encoder: Encoder,
    items: Sequence[Item],
    arrays: StoredArrays,
    window: float | None,
    skipped: tuple[Skipped, ...] = (),
) -> EmbeddedCollection:
    """Items and their arrays, in the same order, as one record."""
    return EmbeddedCollection(
        name=name,
        encoder_id=encoder.id,
        weights=encoder.weights,
        ids=tuple(item.id for item in items),
        captions=tuple(item.caption for item in items),
        labels=tuple(item.labels for item in items),
        paths=tuple(item.path for item in items),
        clips=arrays.clips,
        windows=arrays.windows,
        offsets=arrays.offsets,
        window_seconds=window or 0.0,
        skipped=skipped,
    )


def embedded_clips(
    name: str, encoder: Encoder, clips: Sequence[tuple[Item, Clip]], window: float = WINDOW_SECONDS
) -> EmbeddedCollection:
    """A collection of clips that are already decoded (a person's own), embedded in memory."""
    check_ids([item.id for item, _ in clips], name)
    made = [embed_clip(encoder, clip, window) for _, clip in clips]
    arrays = StoredArrays(
        clips=np.stack([one.whole for one in made]),
        windows=np.concatenate([one.windows for one in made]),
        offsets=np.cumsum([0, *(len(one.windows) for one in made)]),
    )
    return embedded(name, encoder, [item for item, _ in clips], arrays, window)


def embedding_store(
    encoder: Encoder, name: str, identity: Sequence[str], window: float | None, hop: float, folder: Path | None = None
) -> EmbeddingStore:
    """The store of one set of clips, encoder and windows; ``identity`` tells sets of the same name apart."""
    base = folder if folder is not None else settings().cache_dir / "collections"
    made_by = json.dumps([encoder.id, encoder.weights, window, hop, CLIP_SECONDS, *identity])
    shown = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)[:40]
    digest = hashlib.sha256(made_by.encode()).hexdigest()[:16]
    return EmbeddingStore(base / f"{shown or 'collection'}-{digest}", encoder.dim)


def _fingerprint(item: Item) -> str:
    try:
        status = item.path.stat()
        return f"{item.path.resolve()}|{status.st_size}|{status.st_mtime_ns}"
    except OSError:
        return f"{item.path}|missing"


def _decoded(path: Path) -> Clip:
    if DATA not in path.parents:
        return load_clip(path, shorten=True)
    # The program's own files need no child process; sixty of them would cost as many seconds.
    import soundfile

    samples, rate = soundfile.read(path, dtype="float32")
    return clip_from_samples(samples, rate, name=path.name)
