"""Repeated holdout: a fifth of the combinations left out at once, twenty times (paper IV-C, table I b)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.composition.baselines import label_overlap, p_values
from backend.composition.metrics import METRICS, by_metric, evaluate, metrics_from, prepare
from backend.composition.ridge import Ridge
from backend.progress import Progress

Floats = NDArray[np.float64]

SPLITS = 20
HELD_OUT_SHARE = 0.2
SHUFFLES_PER_SPLIT = 5
"""Twenty splits of five shuffles are the hundred permutations of the baseline (own choice)."""
KINDS = ("real", "permuted", "overlap")
_NONE = dict.fromkeys(METRICS)
NO_HOLDOUT: dict[str, Any] = {
    **dict.fromkeys(KINDS, _NONE),
    "p": _NONE,
    "best": dict.fromkeys(METRICS, False),
    "sd": dict.fromkeys(KINDS, _NONE),
    "splits": 0,
    "held_out": [],
}
"""The record where nothing could be held out."""


def draw_split(membership: Floats, random: np.random.Generator, share: float = HELD_OUT_SHARE) -> NDArray[np.int64]:
    """Sorted indices of the combinations held out; every source they have still occurs in training.

    A share of the combinations is drawn; then, in the order drawn, each whose sources are not all
    left in training is moved back. Combinations moved back only help those that follow, so one pass
    is enough. The result may be empty, where every combination has a source of its own.
    """
    membership = np.asarray(membership, dtype=np.float64)
    count = len(membership)
    drawn = random.permutation(count)[: max(1, round(share * count))]
    left = membership.sum(axis=0) - membership[drawn].sum(axis=0)
    held = []
    for row in drawn:
        if np.all(left[membership[row] > 0] > 0):
            held.append(row)
        else:
            left = left + membership[row]
    return np.sort(np.array(held, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Holdout:
    """Metrics per split.

    Attributes
    ----------
    real, overlap : np.ndarray, shape (splits, 5), float64
        In the order of ``METRICS``.
    permuted : np.ndarray, shape (splits, shuffles, 5), float64
    p : np.ndarray, shape (5,)
        Share of single shuffled splits at least as good as the mean of the real ones, both counted
        plus one (own choice: the paper gives none here).
    sizes : np.ndarray, shape (splits,), int64
        Combinations held out.
    """

    real: Floats
    overlap: Floats
    permuted: Floats
    p: Floats
    sizes: NDArray[np.int64]

    def mean(self, which: str) -> Floats:
        """Mean over splits, (5,), of ``real``, ``overlap`` or ``permuted``."""
        return _over_splits(self._per_split(which), np.mean)

    def spread(self, which: str) -> Floats:
        """Standard deviation over splits (n - 1), (5,); of ``permuted``, that of each split's mean."""
        return _over_splits(self._per_split(which), lambda values: np.std(values, ddof=1) if len(values) > 1 else 0.0)

    @property
    def best(self) -> dict[str, bool]:
        """Whether the sum of parts beats both baselines in the mean over splits, by metric."""
        real, *others = (metrics_from(self.mean(kind)) for kind in KINDS)
        return real.beats(*others)

    def record(self) -> dict[str, Any]:
        """Means, p-values and spreads by metric, and how much each split held out."""
        return {
            **{kind: by_metric(self.mean(kind)) for kind in KINDS},
            "p": by_metric(self.p),
            "best": self.best,
            "sd": {kind: by_metric(self.spread(kind)) for kind in KINDS},
            "splits": len(self.sizes),
            "held_out": self.sizes.tolist(),
        }

    def _per_split(self, which: str) -> Floats:
        table: Floats = getattr(self, which)
        return table if table.ndim == 2 else np.column_stack([_over_splits(part, np.mean) for part in table]).T


def repeated_holdout(
    ridge: Ridge,
    means: Floats,
    random: np.random.Generator,
    *,
    splits: int = SPLITS,
    shuffles: int = SHUFFLES_PER_SPLIT,
    progress: Progress | None = None,
) -> Holdout | None:
    """Seeded splits, with lambda and the one factorisation of S kept; None where nothing can be held out.

    Each block is left out in closed form. The permuted baseline shuffles all rows of R against S, as it
    does for leave-one-out, and then predicts the same held-out rows.
    """
    progress = progress or Progress()
    membership = ridge.factor.membership
    fitted = ridge.fitted(means)
    real, overlap, permuted, sizes = [], [], [], []
    for split in range(splits):
        rows = draw_split(membership, random)
        if not len(rows):
            continue
        target = prepare(means[rows], "euclidean")
        real.append(evaluate(target, ridge.leave_block_out(means, rows, fitted)).values())
        overlap.append(evaluate(target, label_overlap(membership, means, rows)).values())
        permuted.append([_shuffled(ridge, means[random.permutation(len(means))], rows) for _ in range(shuffles)])
        sizes.append(len(rows))
        progress.report(f"Holding out split {split + 1} of {splits}", split + 1, splits)
    if not sizes:
        return None
    real_table, permuted_table = np.array(real), np.array(permuted)
    real_mean = _over_splits(real_table, np.mean)
    p = p_values(real_mean, permuted_table.reshape(-1, len(METRICS)))
    return Holdout(real_table, np.array(overlap), permuted_table, p, np.array(sizes, dtype=np.int64))


def _shuffled(ridge: Ridge, means: Floats, rows: NDArray[np.int64]) -> Floats:
    return evaluate(prepare(means[rows], "euclidean"), ridge.leave_block_out(means, rows)).values()


def _over_splits(table: Floats, summary: Callable[[Floats], np.floating | float]) -> Floats:
    """A summary of each column over the rows where it is defined; NaN where it never is."""
    columns = [column[~np.isnan(column)] for column in table.T]
    return np.array([summary(column) if len(column) else np.nan for column in columns])
