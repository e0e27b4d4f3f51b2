"""How likely a clip contains a concept: calibrated evidence from its windows (science section 4, own choice).

A cosine says little by itself: encoders differ in scale, texts differ in how readily anything
matches them, clips differ in how readily they match anything. Three comparisons remove that, none
of which is trained on labels:

1. within a window, the concept competes with the fixed background vocabulary (how far does it
   stand out of how this window scores everyday sounds?);
2. within a clip, the mean of the best three windows speaks (a short sound must not be diluted);
3. across the clips of a collection, the concept's usual level is taken away.

The result is a log-odds of presence. tests/bench/bench_exclusion.py compares the alternatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backend.encoders.base import Encoder, FloatArray
from backend.encoders.cached import EmbeddingCache, text_embeddings
from backend.vocabulary import background_vocabulary, concept_prompt

CHUNK = 65536
"""Windows compared with the vocabulary at once: bounds memory on large collections."""


@dataclass(frozen=True)
class PresenceForm:
    """The numbers of the form above; chosen on ESC-10 folds 1-3 (see the benchmark), fixed since.

    Attributes
    ----------
    sharpness : float
        Inverse temperature of the competition, per standard deviation of the window's background scores.
    synonym_cosine : float
        Background texts at least this close to the concept are left out: they name the same sound.
    best_windows : int
        How many of a clip's best windows are averaged.
    usual_mean, usual_sd, usual_weight : float
        What is assumed of a concept's level across clips, and as how many clips it counts against
        the collection's own statistics. It decides alone when there is one clip.
    familiarity_quantile : float
        A concept less similar to every background text than this share of the background texts are
        to each other is unknown to the encoder, and scores neutral.
    """

    sharpness: float = 2.0
    synonym_cosine: float = 0.8
    best_windows: int = 3
    usual_mean: float = 0.3
    usual_sd: float = 0.8
    usual_weight: float = 5.0
    familiarity_quantile: float = 0.1


FORM = PresenceForm()


@dataclass(frozen=True, eq=False)
class Background:
    """How every window of a collection scores the background vocabulary.

    Attributes
    ----------
    texts : np.ndarray, shape (b, D), float32
        Embedded prompts of the vocabulary.
    mean, spread : np.ndarray, shape (m,), float64
        Mean and standard deviation of a window's cosines with them.
    competition : np.ndarray, shape (m,), float64
        Sum over the vocabulary of exp(sharpness * z).
    """

    texts: FloatArray
    mean: NDArray[np.float64]
    spread: NDArray[np.float64]
    competition: NDArray[np.float64]


@dataclass(frozen=True)
class Calibration:
    """A concept's usual evidence across reference clips: what is taken away from each clip's."""

    mean: float
    sd: float


def background_texts(encoder: Encoder, *, cache: EmbeddingCache | None = None) -> FloatArray:
    """The embedded background vocabulary, shape (b, D) float32."""
    return text_embeddings(encoder, [concept_prompt(text) for text in background_vocabulary()], cache=cache)


def background_of(windows: FloatArray, texts: FloatArray, form: PresenceForm = FORM) -> Background:
    """Compare every window (m, D) with the background vocabulary (b, D)."""
    count = len(windows)
    mean, spread, competition = np.empty(count), np.empty(count), np.empty(count)
    for start in range(0, count, CHUNK):
        part = slice(start, min(start + CHUNK, count))
        scores = (windows[part] @ texts.T).astype(np.float64)
        mean[part] = scores.mean(axis=1)
        spread[part] = np.maximum(scores.std(axis=1), 1e-6)
        z = (scores - mean[part, None]) / spread[part, None]
        competition[part] = np.exp(form.sharpness * z).sum(axis=1)
    return Background(texts, mean, spread, competition)


def window_evidence(
    windows: FloatArray, concepts: FloatArray, background: Background, form: PresenceForm = FORM
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
        synonyms = background.texts[similar >= form.synonym_cosine]
        scores = (windows @ np.vstack([concept[None], synonyms]).T).astype(np.float64)
        z = (scores - background.mean[:, None]) / background.spread[:, None]
        rivals = len(background.texts) - len(synonyms)
        others = background.competition - np.exp(form.sharpness * z[:, 1:]).sum(axis=1)
        # Where the concept's own synonyms take nearly all of the sum, rounding must not make the rest negative.
        others = np.maximum(others, 1e-9 * background.competition)
        result[:, column] = z[:, 0] - np.log(others / max(rivals, 1)) / form.sharpness
    return result


def pooled(
    values: NDArray[np.float64], offsets: NDArray[np.int64], best: int = FORM.best_windows
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


def calibrate(evidence: NDArray[np.float64], form: PresenceForm = FORM) -> tuple[Calibration, ...]:
    """The usual level of each concept over reference clips, (n, k) pooled evidence.

    Shrunk towards the form's assumption, which alone decides for a single clip.
    """
    count = len(evidence)
    weight = form.usual_weight
    mean = (evidence.sum(axis=0) + weight * form.usual_mean) / (count + weight)
    deviation = ((evidence - mean) ** 2).sum(axis=0)
    sd = np.sqrt((deviation + weight * form.usual_sd**2) / (count + weight))
    return tuple(Calibration(float(m), float(s)) for m, s in zip(mean, sd, strict=True))


def calibrated(evidence: NDArray[np.float64], calibrations: Sequence[Calibration]) -> NDArray[np.float64]:
    """Pooled evidence (n, k) in standard deviations above each concept's usual level."""
    mean = np.array([calibration.mean for calibration in calibrations])
    sd = np.array([calibration.sd for calibration in calibrations])
    return (evidence - mean) / np.maximum(sd, 1e-6)


def known_concepts(concepts: FloatArray, texts: FloatArray, form: PresenceForm = FORM) -> NDArray[np.bool_]:
    """Which concepts (k, D) the encoder's text side places near any everyday sound (b, D)."""
    between = texts @ texts.T
    np.fill_diagonal(between, -1.0)
    threshold = np.quantile(between.max(axis=1), form.familiarity_quantile)
    return np.asarray((concepts @ texts.T).max(axis=1) >= threshold)
