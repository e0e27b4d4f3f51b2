"""Training-free steering of a text embedding away from what a query negates (negation paper, section IV).

All vectors are unit vectors of one encoder. A query C with negated concepts is moved to
``e* = e_C - lambda * e_neg``; a clip's score is its cosine with e*. Because
``|e*|^2 = 1 - 2 lambda c + lambda^2`` with ``c = cos(e_C, e_neg)``, every lambda follows from three
dot products per clip: a sweep embeds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from backend.checks import checked_number
from backend.encoders.base import FloatArray

PAPER_LAMBDAS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0)
"""The strengths of the paper's sweep (its appendix B)."""
DEFAULT_LAMBDA = 0.2
"""The strength the paper uses everywhere."""
LARGEST_LAMBDA = PAPER_LAMBDAS[-1]
"""Where the paper's sweep ends, and with it every slider, link, endpoint and option: at 8, e* already has a cosine
of at least 0.99 with -e_neg, whatever the query."""
VANISHED = 1e-6
"""Norm below which e* has no direction: e_C equals e_neg and lambda is 1."""


def checked_lambda(strength: object) -> float:
    """The steering strength, 0 to ``LARGEST_LAMBDA``. Raises InputError for anything else."""
    return checked_number("lambda", strength, 0, LARGEST_LAMBDA, advice=f"The paper uses {DEFAULT_LAMBDA:g}.")


def unit(vectors: ArrayLike) -> NDArray[np.float64]:
    """Vectors scaled to length one along the last axis, float64; a vanished vector becomes zeros."""
    array = np.asarray(vectors, dtype=np.float64)
    norm = np.linalg.norm(array, axis=-1, keepdims=True)
    return np.where(norm > VANISHED, array / np.maximum(norm, VANISHED), 0.0)


def combined_negative(negatives: ArrayLike) -> NDArray[np.float64]:
    """One direction for several negated concepts: the mean of their embeddings, length one (own choice).

    Parameters
    ----------
    negatives : array, shape (k, D)
        Unit vectors, k at least 1.
    """
    return unit(np.atleast_2d(np.asarray(negatives, dtype=np.float64)).mean(axis=0))


def steered_embedding(query: ArrayLike, negative: ArrayLike, strength: float) -> NDArray[np.float64]:
    """``e* = e_C - lambda e_neg`` scaled to length one, shape (D,).

    Where e* vanishes (e_C equals e_neg and lambda is 1) the result is all zeros, so every clip scores 0.
    """
    return unit(np.asarray(query, dtype=np.float64) - checked_lambda(strength) * np.asarray(negative, dtype=np.float64))


def steered_norm(cosine: float, lambdas: ArrayLike) -> NDArray[np.float64]:
    """``|e*|`` for every strength: ``sqrt(1 - 2 lambda c + lambda^2)``."""
    strengths = np.asarray(lambdas, dtype=np.float64)
    # Written as a sum of squares so that rounding cannot make it negative.
    return np.sqrt((strengths - cosine) ** 2 + max(0.0, 1.0 - cosine**2))


def steered_scores(
    query_scores: ArrayLike, negative_scores: ArrayLike, cosine: float, lambdas: Sequence[float] = PAPER_LAMBDAS
) -> NDArray[np.float64]:
    """Cosine of every clip with e* for every strength, from three dot products per clip.

    Parameters
    ----------
    query_scores, negative_scores : array, shape (n,)
        s(e_C, a) and s(e_neg, a).
    cosine : float
        c = s(e_C, e_neg).
    lambdas : sequence of float

    Returns
    -------
    np.ndarray, shape (n, len(lambdas)), float64
    """
    strengths = np.array([checked_lambda(value) for value in lambdas])
    norm = steered_norm(cosine, strengths)
    difference = np.subtract.outer(np.asarray(query_scores, dtype=np.float64), 0 * strengths)
    difference = difference - np.multiply.outer(np.asarray(negative_scores, dtype=np.float64), strengths)
    return np.where(norm > VANISHED, difference / np.maximum(norm, VANISHED), 0.0)


def cosine_with_negative(cosine: float, lambdas: ArrayLike) -> NDArray[np.float64]:
    """``cos(e*, e_neg) = (c - lambda) / sqrt(1 - 2 lambda c + lambda^2)`` (closed form, own derivation)."""
    norm = steered_norm(cosine, lambdas)
    return np.where(norm > VANISHED, (cosine - np.asarray(lambdas, dtype=np.float64)) / np.maximum(norm, VANISHED), 0.0)


def cosine_with_query(cosine: float, lambdas: ArrayLike) -> NDArray[np.float64]:
    """``cos(e*, e_C) = (1 - lambda c) / sqrt(1 - 2 lambda c + lambda^2)``: how much of the query is left."""
    strengths = np.asarray(lambdas, dtype=np.float64)
    norm = steered_norm(cosine, strengths)
    return np.where(norm > VANISHED, (1.0 - strengths * cosine) / np.maximum(norm, VANISHED), 0.0)


def steering_path(cosine: float, lambdas: ArrayLike) -> NDArray[np.float64]:
    """Unit e* in the plane of e_C and e_neg, shape (len(lambdas), 2).

    First axis: e_C. Second axis: the part of e_neg at right angles to e_C. So e_C is (1, 0) and
    e_neg is (c, sqrt(1 - c^2)). Exact, because e* never leaves that plane.
    """
    strengths = np.asarray(lambdas, dtype=np.float64)
    across = np.sqrt(max(0.0, 1.0 - cosine**2))
    return unit(np.stack([1.0 - strengths * cosine, -strengths * across], axis=-1))


def dot_products(
    query: FloatArray, negatives: FloatArray, clips: FloatArray
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """The three dot products behind a sweep: s(e_C, a) (n,), s(e_neg, a) (n,) and c.

    Parameters
    ----------
    query : (D,); negatives : (k, D), k at least 1; clips : (n, D). All unit vectors.
    """
    negative = combined_negative(negatives)
    query = np.asarray(query, dtype=np.float64)
    audio = np.asarray(clips, dtype=np.float64)
    return audio @ query, audio @ negative, float(np.clip(query @ negative, -1.0, 1.0))
