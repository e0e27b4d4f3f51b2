"""Recall, accuracy and margins with seeded bootstrap intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from backend.checks import DEFAULT_SEED

RESAMPLES = 2000
"""Bootstrap resamples (science section 3)."""
CHUNK = 200
"""Resamples drawn at once: bounds memory."""


@dataclass(frozen=True)
class Measure:
    """A mean over items with its percentile bootstrap 95 % interval."""

    value: float
    low: float
    high: float
    items: int

    def record(self, digits: int = 6) -> dict[str, float | int]:
        """As plain numbers."""
        return {
            "value": round(self.value, digits),
            "low": round(self.low, digits),
            "high": round(self.high, digits),
            "items": self.items,
        }


def measured(values: ArrayLike, seed: int, resamples: int = RESAMPLES) -> Measure:
    """Mean of per-item values with its interval; the same seed resamples the same items, so rows compare paired."""
    array = np.asarray(values, dtype=np.float64)
    if not len(array):
        return Measure(float("nan"), float("nan"), float("nan"), 0)
    low, high = bootstrap_interval(array, seed=seed, resamples=resamples)
    return Measure(float(array.mean()), low, high, len(array))


def bootstrap_interval(
    values: NDArray[np.float64],
    groups: Sequence[str] | None = None,
    seed: int = DEFAULT_SEED,
    resamples: int = RESAMPLES,
) -> tuple[float, float]:
    """Percentile bootstrap 95 % interval of the mean of ``values``, drawing whole groups.

    Raises
    ------
    ValueError
        There are no values.
    """
    if not len(values):
        raise ValueError("An interval needs at least one value.")
    member = np.arange(len(values)) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    sums, sizes = np.bincount(member, weights=values), np.bincount(member)
    rng = np.random.default_rng(seed)
    means = []
    for done in range(0, resamples, CHUNK):
        drawn = rng.integers(len(sums), size=(min(CHUNK, resamples - done), len(sums)))
        means.append(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    return float(low), float(high)


def first_relevant(scores: NDArray[np.floating], relevant: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Rank (from 1) of the best relevant candidate of each query.

    Parameters
    ----------
    scores : (q, n); relevant : q lists of candidate indices.

    Ties count against the query: an equal score of a wrong candidate ranks before the right one, so a
    scorer that cannot tell them apart is not credited.
    """
    ranks = np.empty(len(scores), dtype=np.int64)
    for row, (values, right) in enumerate(zip(scores, relevant, strict=True)):
        best = max(values[list(right)])
        wrong = np.ones(len(values), dtype=bool)
        wrong[list(right)] = False
        ranks[row] = 1 + np.count_nonzero(values[wrong] >= best)
    return ranks


def recalls(ranks: NDArray[np.int64], seed: int) -> dict[str, Measure]:
    """R@1, R@5 and R@10, from ranks starting at 1."""
    return {f"R@{k}": measured(ranks <= k, seed) for k in (1, 5, 10)}
