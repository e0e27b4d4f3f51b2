"""Where an encoder finds each concept of a query (causal audit, section 3.1; science section 1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.audio import HOP_SECONDS, Clip, Span, Windows, checked_window, sliding_windows
from backend.checks import DEFAULT_SEED
from backend.encoders.base import Encoder, FloatArray
from backend.encoders.cached import EmbeddingCache, text_embeddings, window_batches, window_embeddings
from backend.encoders.prompts import background_vocabulary, concept_prompt
from backend.errors import InputError
from backend.negation import Concept, Query, at_least_one
from backend.reports.jsonable import DIGITS, jsonable
from backend.reports.provenance import provenance

STANDS_OUT_DEVIATIONS = 2.0
"""From this z-score on, a concept's best window is said to hold it (own choice; cosines are no probabilities)."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """A concept's curve over the windows.

    Attributes
    ----------
    scores : np.ndarray, shape (n,), float32
        Cosine of every window with "a sound of <concept>"; NaN where not computed yet.
    best : Span
        R(o), the highest-scoring window; ties go to the earliest.
    score : float
        Its cosine.
    z : float
        How many standard deviations that cosine lies above the mean cosine of the same window with
        the background vocabulary (own choice).
    """

    concept: Concept
    scores: FloatArray
    best: Span
    best_index: int
    score: float
    z: float

    @property
    def stands_out(self) -> bool:
        """Whether the best window lies far enough above the background to be called a find."""
        return self.z >= STANDS_OUT_DEVIATIONS

    def record(self, windows: Windows) -> dict[str, Any]:
        """The concept's curve over its windows, and the best of them."""
        return {
            "text": self.concept.text,
            "polarity": self.concept.polarity,
            "starts": jsonable(windows.starts, DIGITS),
            "scores": jsonable(self.scores, DIGITS),
            "best": {
                "start": jsonable(self.best.start, DIGITS),
                "end": jsonable(self.best.end, DIGITS),
                "score": jsonable(self.score, DIGITS),
                "z": jsonable(self.z, 4),
            },
        }


@dataclass(frozen=True, eq=False)
class Localization:
    """Every concept's evidence in one clip, and what made it."""

    encoder_id: str
    weights: str
    clip: Clip
    windows: Windows
    evidence: tuple[Evidence, ...]
    background_size: int

    @property
    def complete(self) -> bool:
        """Whether every window has been embedded."""
        return all(np.isfinite(found.scores).all() for found in self.evidence)

    def record(self, query: Query | None = None, seed: int = DEFAULT_SEED, **parameters: Any) -> dict[str, Any]:
        """The object that ``localize --json`` prints.

        Parameters
        ----------
        query : Query, optional
            As it was asked.
        seed : int
            Nothing is drawn here; it is only said.
        **parameters
            What else the provenance should name.
        """
        return {
            "encoder": {"id": self.encoder_id, "weights": self.weights},
            "clip": self.clip.record(),
            "window": jsonable(self.windows.length, DIGITS),
            "hop": self.windows.hop,
            "background": self.background_size,
            "concepts": [one.record(self.windows) for one in self.evidence],
            **asked(query),
            "provenance": provenance(self.encoder_id, self.weights, seed, **parameters),
        }


def asked(query: Query | None) -> dict[str, Any]:
    """The query of a record: as typed, its language and what the parser noticed."""
    if query is None:
        return {}
    return {"query": query.text, "query_language": query.language, "query_notes": list(query.notes)}


def temporal_iou(first: Span, second: Span) -> float:
    """Overlap divided by union of two spans, both in seconds (science section 1)."""
    overlap = max(0.0, min(first.end, second.end) - max(first.start, second.start))
    union = first.length + second.length - overlap
    return overlap / union if union > 0 else 0.0


def best_window(scores: NDArray[np.floating]) -> int:
    """Index of the highest finite score; ties go to the earliest."""
    return int(np.nanargmax(scores))


def checked_concepts(concepts: Sequence[Concept], encoder: Encoder) -> tuple[Concept, ...]:
    """The concepts, refused when there are none or the encoder has no text side."""
    if not encoder.has_text:
        raise InputError(
            f"The encoder {encoder.id} has no text side, so a query cannot be scored with it. "
            "Choose pocket or a CLAP encoder for queries; Compose works with this one."
        )
    return at_least_one(concepts)


def localize(
    encoder: Encoder,
    clip: Clip,
    concepts: Sequence[Concept],
    window: float,
    *,
    hop: float = HOP_SECONDS,
    cache: EmbeddingCache | None = None,
    persist: bool = True,
) -> Localization:
    """Score every window of a clip for every concept.

    Parameters
    ----------
    encoder : Encoder
        Must have a text side.
    clip : Clip
    concepts : sequence of Concept
        At least one.
    window, hop : float
        Seconds.
    persist : bool
        False keeps the embeddings out of the disk cache (cut clips that nobody will ask for again).

    Raises
    ------
    InputError
        No concept, an encoder without a text side, or a window out of its range.
    """
    concepts = checked_concepts(concepts, encoder)
    windows = sliding_windows(clip.duration, checked_window(window), hop)
    embeddings = window_embeddings(encoder, clip, windows, cache=cache, persist=persist)
    return score_windows(encoder, clip, windows, embeddings, concepts, cache=cache)


def localize_progressively(
    encoder: Encoder,
    clip: Clip,
    concepts: Sequence[Concept],
    window: float,
    *,
    hop: float = HOP_SECONDS,
    cache: EmbeddingCache | None = None,
) -> Iterator[Localization]:
    """As :func:`localize`, yielding after every batch of windows; the last one is complete."""
    concepts = checked_concepts(concepts, encoder)
    windows = sliding_windows(clip.duration, checked_window(window), hop)
    embeddings = np.full((len(windows), encoder.dim), np.nan, dtype=np.float32)
    for indices, ready in window_batches(encoder, clip, windows, cache=cache):
        embeddings[indices] = ready
        yield score_windows(encoder, clip, windows, embeddings, concepts, cache=cache)


def score_windows(
    encoder: Encoder,
    clip: Clip,
    windows: Windows,
    embeddings: FloatArray,
    concepts: Sequence[Concept],
    *,
    cache: EmbeddingCache | None = None,
) -> Localization:
    """Evidence from window embeddings, shape (n, D); rows of NaN are windows not embedded yet."""
    background = background_vocabulary()
    prompts = [concept_prompt(concept.text) for concept in concepts]
    texts = text_embeddings(encoder, [*prompts, *map(concept_prompt, background)], cache=cache)
    scores = embeddings @ texts[: len(concepts)].T
    evidence = []
    for column, concept in enumerate(concepts):
        index = best_window(scores[:, column])
        reference = embeddings[index] @ texts[len(concepts) :].T
        spread = max(float(reference.std()), 1e-6)
        score = float(scores[index, column])
        evidence.append(
            Evidence(
                concept,
                np.ascontiguousarray(scores[:, column]),
                windows.span(index),
                index,
                score,
                (score - float(reference.mean())) / spread,
            )
        )
    return Localization(encoder.id, encoder.weights, clip, windows, tuple(evidence), len(background))
