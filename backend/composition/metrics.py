"""The five reconstruction metrics (paper III-C), prepared once for the actual rows and reused for every prediction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from backend.reports.jsonable import jsonable

Floats = NDArray[np.float64]
Distance = Literal["cosine", "euclidean"]

METRICS = ("cosine", "relative_frobenius", "cka", "kl_bits", "hits_at_5")
HIGHER_IS_BETTER = {"cosine": True, "relative_frobenius": False, "cka": True, "kl_bits": False, "hits_at_5": True}
SHORT = {
    "cosine": "cosine",
    "relative_frobenius": "relative error",
    "cka": "CKA",
    "kl_bits": "KL",
    "hits_at_5": "Hits@5",
}
"""Their names within a sentence."""
HITS_K = 5
"""K of Hits@K (paper IV-A)."""
TIE = 1e-12
"""Scores closer than this, relative to their size, are a tie; a tie counts against the prediction (own choice)."""
FIRST_CANDIDATES = 32
"""Candidates met first by every row of Hits@K; each later block is twice as large and meets fewer rows."""


@dataclass(frozen=True)
class Metrics:
    """Five numbers about one reconstruction; NaN where a metric has no meaning (CKA of a single row)."""

    cosine: float
    relative_frobenius: float
    cka: float
    kl_bits: float
    hits_at_5: float

    def values(self) -> Floats:
        """In the order of ``METRICS``, (5,)."""
        return np.array([getattr(self, name) for name in METRICS])

    def record(self) -> dict[str, float | None]:
        """For JSON: NaN becomes None."""
        return {name: jsonable(getattr(self, name)) for name in METRICS}

    def beats(self, *others: Metrics) -> dict[str, bool]:
        """For each metric whether it is better here than in all others; False where one of them has no meaning."""
        sign = {name: 1.0 if HIGHER_IS_BETTER[name] else -1.0 for name in METRICS}
        return {
            name: all(sign[name] * getattr(self, name) > sign[name] * getattr(other, name) for other in others)
            for name in METRICS
        }


def metrics_from(values: Floats) -> Metrics:
    """Five values in the order of ``METRICS`` as Metrics."""
    return Metrics(*(float(value) for value in values))


def by_metric(values: Floats) -> dict[str, float | None]:
    """Five values in the order of ``METRICS`` under their names; NaN becomes None."""
    return dict(zip(METRICS, jsonable(values), strict=True))


@dataclass(frozen=True, eq=False)
class Target:
    """The actual rows R and all that the metrics need of them alone.

    Attributes
    ----------
    rows : np.ndarray, shape (q, m), float64
    norms : np.ndarray, shape (q,)
    probabilities : np.ndarray, shape (q, m)
        softmax of each row.
    negative_entropy : np.ndarray, shape (q,)
        sum of p log p of each row, in nats.
    centred : np.ndarray
        Column-centred rows (q, m), or their kernel (q, q) where that is the smaller.
    self_alignment : float
        HSIC(K, K) up to the constant that cancels.
    candidates, offsets : np.ndarray, shapes (q, m) and (q,)
        Row i's score for a prediction x is ``candidates[i] @ x + offsets[i]``: it orders as the cosine,
        or as the negative Euclidean distance.
    """

    rows: Floats
    norms: Floats
    probabilities: Floats
    negative_entropy: Floats
    centred: Floats
    self_alignment: float
    candidates: Floats
    offsets: Floats

    @property
    def by_kernel(self) -> bool:
        """Whether CKA is taken between q x q kernels rather than m x m covariances; the value is the same."""
        return len(self.rows) <= self.rows.shape[1]

    @cached_property
    def centred_single(self) -> NDArray[np.float32]:
        """``centred`` in float32, for quick products."""
        return self.centred.astype(np.float32)


def prepare(rows: Floats, distance: Distance = "cosine") -> Target:
    """Everything about the actual rows, (q, m) float64, that does not depend on a prediction.

    ``distance`` orders the candidates of Hits@K: cosine for leave-one-out, Euclidean for holdouts.
    """
    rows = np.asarray(rows, dtype=np.float64)
    norms = np.linalg.norm(rows, axis=1)
    log_probabilities = rows - _log_sum_exp(rows)[:, None]
    probabilities = np.exp(log_probabilities)
    centred = rows - rows.mean(axis=0)
    if len(rows) <= rows.shape[1]:
        centred = centred @ centred.T
        self_alignment = float(np.sum(centred * centred))
    else:
        self_alignment = float(np.sum(np.square(centred.T @ centred)))
    if distance == "cosine":
        candidates = np.divide(rows, norms[:, None], out=np.zeros_like(rows), where=norms[:, None] > 0)
        offsets = np.zeros(len(rows))
    else:
        candidates, offsets = 2.0 * rows, -np.square(norms)
    negative_entropy = np.einsum("ij,ij->i", probabilities, log_probabilities)
    return Target(rows, norms, probabilities, negative_entropy, centred, self_alignment, candidates, offsets)


def evaluate(target: Target, predicted: Floats, *, quick: bool = False) -> Metrics:
    """The five metrics of a prediction, (q, m) float64.

    ``quick`` saves a pass and takes CKA's products in float32, for a permuted baseline's many large problems.
    """
    predicted = np.asarray(predicted, dtype=np.float64)
    squares = np.einsum("ij,ij->i", predicted, predicted)
    inner = np.einsum("ij,ij->i", predicted, target.rows)
    lengths = np.sqrt(squares)
    size = float(np.linalg.norm(target.norms))
    if quick:
        # Shuffled predictions are far from their targets, so nothing cancels here.
        error = np.sqrt(max(0.0, squares.sum() - 2.0 * inner.sum() + size**2))
    else:
        error = np.linalg.norm(predicted - target.rows)
    return Metrics(
        cosine=float(_cosines(inner, lengths * target.norms).mean()),
        relative_frobenius=float(error / size) if size > 0 else float("nan"),
        cka=alignment(target, predicted, quick=quick),
        kl_bits=float(row_divergences(target, predicted).mean()),
        hits_at_5=float(hits(target, predicted, HITS_K, lengths).mean()),
    )


def row_cosines(target: Target, predicted: Floats) -> Floats:
    """Cosine of each predicted row with its actual row, (q,); 0 where either has no length (own choice)."""
    inner = np.einsum("ij,ij->i", predicted, target.rows)
    return _cosines(inner, np.linalg.norm(predicted, axis=1) * target.norms)


def _cosines(inner: Floats, scale: Floats) -> Floats:
    return np.divide(inner, scale, out=np.zeros_like(inner), where=scale > 0)


def row_divergences(target: Target, predicted: Floats) -> Floats:
    """KL divergence in bits from softmax(actual) to softmax(predicted), (q,)."""
    cross = np.einsum("ij,ij->i", target.probabilities, predicted)
    return (target.negative_entropy - cross + _log_sum_exp(predicted)) / np.log(2.0)


def row_residuals(target: Target, predicted: Floats) -> Floats:
    """Length of the residual of each row relative to the actual row, (q,); NaN for a row of zeros."""
    lengths = np.linalg.norm(predicted - target.rows, axis=1)
    return np.divide(lengths, target.norms, out=np.full_like(lengths, np.nan), where=target.norms > 0)


def alignment(target: Target, predicted: Floats, *, quick: bool = False) -> float:
    """Linear CKA, double-centred kernels; 0 where the prediction does not vary, NaN where the actual rows do not.

    ``quick`` multiplies in float32 and sums in float64. The roundings of so many products average out:
    at 1,289 x 512 the value differs by less than 1e-7 (tested), for half the time.
    """
    floor = (np.finfo(np.float64).eps * len(predicted)) ** 2
    if len(predicted) < 2 or target.self_alignment <= floor * np.linalg.norm(target.norms) ** 4:
        return float("nan")
    centred: NDArray[np.floating] = predicted - predicted.mean(axis=0)
    actual: NDArray[np.floating] = target.centred
    if quick and not target.by_kernel:
        centred, actual = centred.astype(np.float32), target.centred_single
    if target.by_kernel:
        kernel = centred @ centred.T
        cross, own = float(np.sum(kernel * actual)), float(np.sum(kernel * kernel))
    else:
        cross = float(np.sum(np.square(actual.T @ centred, dtype=np.float64)))
        own = float(np.sum(np.square(centred.T @ centred, dtype=np.float64)))
    if own <= floor * np.linalg.norm(predicted) ** 4:
        return 0.0
    return cross / np.sqrt(own * target.self_alignment)


def hits(target: Target, predicted: Floats, k: int, lengths: Floats | None = None) -> NDArray[np.bool_]:
    """Whether each row's actual row is among the k candidates nearest to its prediction, (q,).

    Candidates are met in growing blocks and a row is dropped once k of them have beaten its own: most rows of a
    permuted baseline are decided by the first few.
    """
    threshold = _own_scores(target, predicted, lengths)
    beaten = np.zeros(len(predicted), dtype=np.int64)
    open_rows = np.arange(len(predicted))
    start, size = 0, FIRST_CANDIDATES
    while start < len(target.rows) and len(open_rows):
        block = slice(start, start + size)
        left = predicted if len(open_rows) == len(predicted) else predicted[open_rows]
        scores = left @ target.candidates[block].T + target.offsets[block]
        beaten[open_rows] += np.count_nonzero(scores >= threshold[open_rows, None], axis=1)
        open_rows = open_rows[beaten[open_rows] <= k]
        start, size = start + size, 2 * size
    return beaten <= k


def ranks(target: Target, predicted: Floats) -> NDArray[np.int64]:
    """Rank of each row's actual row among all candidates, (q,), 1 is best; ties count against it."""
    threshold = _own_scores(target, predicted)
    counts = np.zeros(len(predicted), dtype=np.int64)
    for start in range(0, len(predicted), 1024):
        rows = slice(start, start + 1024)
        scores = predicted[rows] @ target.candidates.T + target.offsets
        counts[rows] = np.count_nonzero(scores >= threshold[rows, None], axis=1)
    return counts


def _own_scores(target: Target, predicted: Floats, lengths: Floats | None = None) -> Floats:
    """Score of each row's own candidate, lowered by the width of a tie."""
    lengths = np.linalg.norm(predicted, axis=1) if lengths is None else lengths
    own = np.einsum("ij,ij->i", predicted, target.candidates) + target.offsets
    scale = lengths * np.linalg.norm(target.candidates, axis=1).max() + np.abs(target.offsets).max()
    return own - TIE * scale


def linear_cka(first: Floats, second: Floats, *, debiased: bool = False) -> float:
    """Linear centred kernel alignment of two sets of rows, (q, a) and (q, b) (Kornblith et al. 2019).

    ``debiased`` uses the unbiased HSIC estimate (Song et al. 2012), which needs more than three rows.
    """
    kernels = [rows @ rows.T for rows in (np.asarray(first, np.float64), np.asarray(second, np.float64))]
    hsic = _unbiased_hsic if debiased else _centred_hsic
    one, other = kernels
    return float(hsic(one, other) / np.sqrt(hsic(one, one) * hsic(other, other)))


def _centred_hsic(one: Floats, other: Floats) -> float:
    centred = one - one.mean(axis=0) - one.mean(axis=1)[:, None] + one.mean()
    return float(np.sum(centred * other))


def _unbiased_hsic(one: Floats, other: Floats) -> float:
    count = len(one)
    one, other = one - np.diag(np.diag(one)), other - np.diag(np.diag(other))
    mean_part = one.sum() * other.sum() / ((count - 1) * (count - 2))
    row_part = 2.0 / (count - 2) * float(one.sum(axis=0) @ other.sum(axis=0))
    return float(np.sum(one * other) + mean_part - row_part)


def _log_sum_exp(rows: Floats) -> Floats:
    top = rows.max(axis=1)
    return top + np.log(np.exp(rows - top[:, None]).sum(axis=1))
