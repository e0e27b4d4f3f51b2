"""A labelled set of clips, and its embeddings: what queries are ranked over.

:mod:`backend.collections.layouts` reads one from disk, :mod:`backend.collections.store` embeds it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backend.encoders.base import FloatArray
from backend.errors import InputError
from backend.retrieval.presence import PRESENCE, Background, PresenceParameters, background_of


@dataclass(frozen=True)
class Item:
    """One clip of a collection that is not embedded yet.

    Attributes
    ----------
    id : str
        Unique within the collection.
    path : Path
    caption : str
        Affirmative text; empty if there is none.
    labels : tuple of str
        Sounds known to be in the clip; empty if nothing is known.
    captions : tuple of str
        All captions where there are several (Clotho has five); the first is ``caption``.
    """

    id: str
    path: Path
    caption: str = ""
    labels: tuple[str, ...] = ()
    captions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Skipped:
    """A row that cannot be used, and why, in one sentence."""

    row: str
    reason: str


@dataclass(frozen=True, eq=False)
class Collection:
    """Clips to be embedded.

    Attributes
    ----------
    name, layout : str
        The folder's or file's name; which layout it was read as.
    items : tuple of Item
    skipped : tuple of Skipped
        Rows that cannot be used; the rest goes on.
    """

    name: str
    layout: str
    items: tuple[Item, ...]
    skipped: tuple[Skipped, ...] = ()

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, eq=False)
class EmbeddedCollection:
    """Clips with their embeddings by one encoder.

    Attributes
    ----------
    name, encoder_id, weights : str
        ``weights`` is empty for ready embeddings that do not say who made them.
    ids, captions : tuple of str
    labels : tuple of tuple of str
        Empty where nothing is known of a clip.
    paths : tuple of Path or None
        None where only numbers are known.
    clips : np.ndarray, shape (n, D), float32
        Whole clips, unit vectors: what raw and steered scores use.
    windows : np.ndarray, shape (m, D), float32
        All windows of all clips, possibly mapped from disk: what exclusion uses.
    offsets : np.ndarray, shape (n + 1,), int64
        Clip i has the windows ``offsets[i]`` to ``offsets[i + 1]``.
    window_seconds : float
        Length of a window; 0 for ready embeddings, which have one "window" a clip.
    skipped : tuple of Skipped
    """

    name: str
    encoder_id: str
    weights: str
    ids: tuple[str, ...]
    captions: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    paths: tuple[Path | None, ...]
    clips: FloatArray
    windows: FloatArray
    offsets: NDArray[np.int64]
    window_seconds: float
    skipped: tuple[Skipped, ...] = ()
    _backgrounds: dict[PresenceParameters, Background] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __len__(self) -> int:
        return len(self.ids)

    def background(self, texts: FloatArray, parameters: PresenceParameters = PRESENCE) -> Background:
        """How every window scores the background vocabulary; computed once per collection."""
        with self._lock:
            known = self._backgrounds.get(parameters)
            if known is None or not (known.texts is texts or np.array_equal(known.texts, texts)):
                known = self._backgrounds[parameters] = background_of(self.windows, self.offsets, texts, parameters)
            return known

    def windows_of(self, index: int) -> FloatArray:
        """The windows of one clip, shape (its windows, D)."""
        return self.windows[self.offsets[index] : self.offsets[index + 1]]

    @property
    def is_labelled(self) -> bool:
        """Whether anything is known of any clip."""
        return any(self.labels)


def check_ids(ids: Sequence[str], where: str) -> None:
    """Refuse an empty collection and an id that occurs twice."""
    if not ids:
        raise InputError(f"{where} holds no usable clip. A collection needs at least one.", concerns="file")
    seen: set[str] = set()
    for clip_id in ids:
        if clip_id in seen:
            raise InputError(
                f"{where}: the id {clip_id!r} occurs twice; ids must differ. Rename one or delete its row.",
                concerns="file",
            )
        seen.add(clip_id)


def joined(first: EmbeddedCollection, second: EmbeddedCollection) -> EmbeddedCollection:
    """One collection of both, first's clips first: a person's own clips join the ranking this way.

    Raises
    ------
    InputError
        They were embedded with different encoders or weights, or share an id.
    """
    if (first.encoder_id, first.weights) != (second.encoder_id, second.weights):
        raise InputError(
            f"{second.name} was embedded with {second.encoder_id}, {first.name} with {first.encoder_id}; "
            "only clips embedded with the same encoder can be ranked together."
        )
    check_ids([*first.ids, *second.ids], f"{first.name} + {second.name}")
    return EmbeddedCollection(
        name=first.name,
        encoder_id=first.encoder_id,
        weights=first.weights,
        ids=first.ids + second.ids,
        captions=first.captions + second.captions,
        labels=first.labels + second.labels,
        paths=first.paths + second.paths,
        clips=np.concatenate([first.clips, second.clips]),
        windows=np.concatenate([first.windows, second.windows]),
        offsets=np.concatenate([first.offsets, first.offsets[-1] + second.offsets[1:]]),
        window_seconds=first.window_seconds,
        skipped=first.skipped + second.skipped,
    )


def nearest(matrix: FloatArray, queries: FloatArray, k: int) -> tuple[NDArray[np.int64], FloatArray]:
    """The k best rows for each query by exact search: one matrix product, then a partial sort.

    Parameters
    ----------
    matrix : (n, D) float32, may be mapped from disk; queries : (q, D) float32. Unit vectors.
    k : int
        At least 1; more than n gives n.

    Returns
    -------
    indices, scores : np.ndarray, shape (q, min(k, n))
        Best first; equal scores in the order of the rows.
    """
    if k < 1:
        raise InputError(f"{k} hits are asked for; ask for at least 1.")
    scores = np.atleast_2d(queries) @ matrix.T
    k = min(k, scores.shape[1])
    if k < scores.shape[1]:
        # Everything at least as good as the k-th best, so that ties at the edge go by row, not by chance.
        edge = np.partition(scores, scores.shape[1] - k, axis=1)[:, scores.shape[1] - k]
        rows = [np.flatnonzero(row >= limit) for row, limit in zip(scores, edge, strict=True)]
    else:
        rows = [np.arange(scores.shape[1])] * len(scores)
    order = [row[np.argsort(-values[row], kind="stable")[:k]] for row, values in zip(rows, scores, strict=True)]
    indices = np.array(order, dtype=np.int64)
    return indices, np.take_along_axis(scores, indices, axis=1)
