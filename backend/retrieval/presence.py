"""How likely a clip contains a concept: calibrated evidence from its windows (science section 4, own choice).

A cosine says little by itself: encoders differ in scale, texts differ in how readily anything
matches them, clips differ in how readily they match anything. Four comparisons remove that, none
of which is trained on labels:

1. within a window, the concept competes with the fixed background vocabulary (how far does it
   stand out of how this window scores everyday sounds?);
2. within a clip, the mean of the best three windows speaks (a short sound must not be diluted);
3. the clip's own clearest everyday sounds set the scale: what is faint beside them counts for less;
4. across the clips of a collection, what the concept scores too readily is taken away: its median,
   less what is usual for the texts of the background vocabulary in the same clips.

The result is evidence in standard deviations of the background scores; :mod:`backend.retrieval.exclusion` makes
log-odds of it. tests/bench/bench_exclusion.py compares the alternatives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from backend.encoders.base import Encoder, FloatArray
from backend.encoders.cached import EmbeddingCache, text_embeddings
from backend.encoders.prompts import background_vocabulary, concept_prompt

CHUNK = 65536
"""Windows compared with the vocabulary at once: bounds memory on large collections."""
TYPICAL_CLIPS = 1000
"""Clips, evenly spread, from which the usual level of the background texts is taken."""


@dataclass(frozen=True)
class PresenceParameters:
    """The numbers of the form above; chosen on ESC-10 folds 1-3 (see the benchmark), fixed since.

    Attributes
    ----------
    sharpness : float
        Inverse temperature of the competition, per standard deviation of the window's background scores.
    synonym_cosine : float
        Background texts at least this close to the concept are left out: they name the same sound.
    best_windows : int
        How many of a clip's best windows are averaged.
    clearest : int
        How many of the background texts that a clip matches best make its own level.
    own_share, own_level : float
        How much of the clip's own level above ``own_level`` is taken from the evidence.
    prior_clips : float
        As how many clips the assumption counts that a concept is no more readily matched than others.
    familiarity_quantile : float
        A concept less similar to every background text than this share of the background texts are
        to each other is unknown to the encoder, and scores neutral.
    """

    sharpness: float = 2.0
    synonym_cosine: float = 0.8
    best_windows: int = 3
    clearest: int = 5
    own_share: float = 0.5
    own_level: float = 3.0
    prior_clips: float = 5.0
    familiarity_quantile: float = 0.1


PRESENCE = PresenceParameters()


@dataclass(frozen=True, eq=False)
class Background:
    """How the clips of a collection score the background vocabulary.

    Attributes
    ----------
    texts : np.ndarray, shape (b, D), float32
        Embedded prompts of the vocabulary.
    mean, spread : np.ndarray, shape (m,), float64
        Mean and standard deviation of a window's cosines with them.
    competition : np.ndarray, shape (m,), float64
        Sum over the vocabulary of exp(sharpness * z).
    own : np.ndarray, shape (n,), float64
        Each clip's own level: mean z of its clearest background texts.
    typical : float
        Median evidence of a background text across clips, averaged over the texts.
    """

    texts: FloatArray
    mean: NDArray[np.float64]
    spread: NDArray[np.float64]
    competition: NDArray[np.float64]
    own: NDArray[np.float64]
    typical: float


@dataclass(frozen=True)
class Calibration:
    """How much more readily than a background text a concept is matched, across reference clips."""

    shift: float


def background_texts(encoder: Encoder, *, cache: EmbeddingCache | None = None) -> FloatArray:
    """The embedded background vocabulary, shape (b, D) float32."""
    return text_embeddings(encoder, [concept_prompt(text) for text in background_vocabulary()], cache=cache)


def background_of(
    windows: FloatArray, offsets: NDArray[np.int64], texts: FloatArray, parameters: PresenceParameters = PRESENCE
) -> Background:
    """Compare every window (m, D) of the clips at ``offsets`` (n + 1,) with the background vocabulary (b, D)."""
    mean, spread, competition = np.empty(len(windows)), np.empty(len(windows)), np.empty(len(windows))
    own = np.empty(len(offsets) - 1)
    for first, last in _clip_chunks(offsets):
        part = slice(offsets[first], offsets[last])
        scores = (windows[part] @ texts.T).astype(np.float64)
        mean[part] = scores.mean(axis=1)
        spread[part] = np.maximum(scores.std(axis=1), 1e-6)
        z = (scores - mean[part, None]) / spread[part, None]
        competition[part] = np.exp(parameters.sharpness * z).sum(axis=1)
        best = np.sort(pooled(z, offsets[first : last + 1] - offsets[first], parameters.best_windows), axis=1)
        own[first:last] = best[:, -parameters.clearest :].mean(axis=1)
    compared = Background(texts, mean, spread, competition, own, 0.0)
    return replace(compared, typical=_typical(windows, offsets, compared, parameters))


def _clip_chunks(offsets: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Runs of whole clips with about ``CHUNK`` windows each."""
    first, count = 0, len(offsets) - 1
    while first < count:
        last = int(np.searchsorted(offsets, offsets[first] + CHUNK, side="right")) - 1
        last = min(max(last, first + 1), count)
        yield first, last
        first = last


def _typical(
    windows: FloatArray, offsets: NDArray[np.int64], background: Background, parameters: PresenceParameters
) -> float:
    count = len(offsets) - 1
    if not count:
        return 0.0
    chosen = np.unique(np.linspace(0, count - 1, min(count, TYPICAL_CLIPS)).round().astype(int))
    rows = np.concatenate([np.arange(offsets[clip], offsets[clip + 1]) for clip in chosen])
    texts = background.texts
    z = ((windows[rows] @ texts.T).astype(np.float64) - background.mean[rows, None]) / background.spread[rows, None]
    rivals = (texts @ texts.T < parameters.synonym_cosine).astype(np.float64)
    others = np.exp(parameters.sharpness * z) @ rivals.T / np.maximum(rivals.sum(axis=1), 1)
    evidence = z - np.log(np.maximum(others, 1e-12)) / parameters.sharpness
    sizes = np.cumsum([0, *np.diff(offsets)[chosen]])
    by_clip = pooled(evidence, sizes, parameters.best_windows) - _own_part(background.own[chosen], parameters)
    return float(np.median(by_clip, axis=0).mean())


def _own_part(own: NDArray[np.float64], parameters: PresenceParameters) -> NDArray[np.float64]:
    return parameters.own_share * (own - parameters.own_level)[:, None]


def clip_evidence(
    windows: FloatArray,
    offsets: NDArray[np.int64],
    concepts: FloatArray,
    background: Background,
    parameters: PresenceParameters = PRESENCE,
) -> NDArray[np.float64]:
    """Steps 1 to 3: evidence of each concept (k, D) in each clip, (n, k), not yet calibrated across clips."""
    found = window_evidence(windows, concepts, background, parameters)
    return pooled(found, offsets, parameters.best_windows) - _own_part(background.own, parameters)


def window_evidence(
    windows: FloatArray, concepts: FloatArray, background: Background, parameters: PresenceParameters = PRESENCE
) -> NDArray[np.float64]:
    """How far each concept stands out of the background in each window, in standard deviations.

    ``z_c - log(mean_b exp(sharpness * z_b)) / sharpness`` over the background texts b that do not
    name the concept itself.

    Parameters
    ----------
    windows : (m, D) float32; concepts : (k, D) float32, embedded concept prompts.

    Returns
    -------
    np.ndarray, shape (m, k), float64
    """
    result = np.empty((len(windows), len(concepts)))
    similarity = concepts @ background.texts.T
    for column, (concept, similar) in enumerate(zip(concepts, similarity, strict=True)):
        synonyms = background.texts[similar >= parameters.synonym_cosine]
        scores = (windows @ np.vstack([concept[None], synonyms]).T).astype(np.float64)
        z = (scores - background.mean[:, None]) / background.spread[:, None]
        rivals = len(background.texts) - len(synonyms)
        others = background.competition - np.exp(parameters.sharpness * z[:, 1:]).sum(axis=1)
        # Where the concept's own synonyms take nearly all of the sum, rounding must not make the rest negative.
        others = np.maximum(others, 1e-9 * background.competition)
        result[:, column] = z[:, 0] - np.log(others / max(rivals, 1)) / parameters.sharpness
    return result


def pooled(
    values: NDArray[np.float64], offsets: NDArray[np.int64], best: int = PRESENCE.best_windows
) -> NDArray[np.float64]:
    """Mean of the ``best`` highest values of every clip: (m, k) windows -> (n, k) clips.

    ``offsets``, shape (n + 1,): clip i has windows offsets[i] to offsets[i + 1].
    """
    counts = np.diff(offsets)
    result = np.empty((len(counts), values.shape[1]))
    for count in np.unique(counts):
        # Clips with equally many windows are pooled together: a plain array instead of a ragged one.
        clips = np.flatnonzero(counts == count)
        rows = offsets[clips][:, None] + np.arange(count)
        keep = min(best, int(count))
        result[clips] = np.partition(values[rows], count - keep, axis=1)[:, count - keep :].mean(axis=1)
    return result


def calibrate(
    evidence: NDArray[np.float64], typical: float, parameters: PresenceParameters = PRESENCE
) -> tuple[Calibration, ...]:
    """Step 4: how much too readily each concept is matched, from clip evidence (n, k) of reference clips.

    Shrunk towards "not at all", which alone decides for a single clip. The median, so that a sound
    in fewer than half of the clips does not count as readiness.
    """
    count = len(evidence)
    if not count:
        return (Calibration(0.0),) * evidence.shape[1]
    share = count / (count + parameters.prior_clips) if count > 1 else 0.0
    return tuple(Calibration(float(share * shift)) for shift in np.median(evidence, axis=0) - typical)


def calibrated(evidence: NDArray[np.float64], calibrations: Sequence[Calibration]) -> NDArray[np.float64]:
    """Clip evidence (n, k) with each concept's readiness taken away."""
    return evidence - np.array([calibration.shift for calibration in calibrations])


def known_concepts(
    concepts: FloatArray, texts: FloatArray, parameters: PresenceParameters = PRESENCE
) -> NDArray[np.bool_]:
    """Which concepts (k, D) the encoder's text side places near any everyday sound (b, D)."""
    between = texts @ texts.T
    np.fill_diagonal(between, -1.0)
    threshold = np.quantile(between.max(axis=1), parameters.familiarity_quantile)
    return np.asarray((concepts @ texts.T).max(axis=1) >= threshold)
