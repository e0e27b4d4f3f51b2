"""What an analysis found: everything the page shows and ``compose.json`` holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.composition.baselines import as_good
from backend.composition.cca import CanonicalCorrelations
from backend.composition.combinations import Combinations, LabelledEmbeddings
from backend.composition.holdout import NO_HOLDOUT, Holdout
from backend.composition.metrics import METRICS, SHORT, Metrics, by_metric, metrics_from
from backend.composition.ridge import PenaltyChoice, Ridge
from backend.reports.jsonable import jsonable

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Every combination predicted from all the others.

    Attributes
    ----------
    predicted : np.ndarray, shape (q, m), float64
    real, overlap, in_sample : Metrics
        The additive prediction, the label-overlap baseline, and the fit that has seen everything.
    permuted : np.ndarray, shape (N, 5), float64
        One row per shuffle, in the order of ``METRICS``.
    p : np.ndarray, shape (5,), float64
    cosines, overlap_cosines, divergences, residuals, leverage : np.ndarray, shape (q,), float64
        Per combination: cosine, that of the overlap baseline, KL in bits, residual length relative to the actual
        length, h_ii.
    ranks : np.ndarray, shape (q,), int64
        Rank of the actual combination among all q by cosine to the prediction; 1 is best.
    """

    predicted: Floats
    real: Metrics
    overlap: Metrics
    in_sample: Metrics
    permuted: Floats
    p: Floats
    cosines: Floats
    overlap_cosines: Floats
    divergences: Floats
    residuals: Floats
    leverage: Floats
    ranks: NDArray[np.int64]

    @property
    def permuted_mean(self) -> Metrics:
        """Mean over shuffles."""
        return metrics_from(self.permuted.mean(axis=0))

    @property
    def as_good(self) -> dict[str, int]:
        """How many shuffles are at least as good as the real value, by metric."""
        return dict(zip(METRICS, map(int, as_good(self.real.values(), self.permuted)), strict=True))

    @property
    def best(self) -> dict[str, bool]:
        """Whether the sum of parts beats both baselines, by metric."""
        return self.real.beats(self.permuted_mean, self.overlap)

    @property
    def largest_leverage(self) -> float:
        """The largest h_ii."""
        return float(self.leverage.max())

    def record(self) -> dict[str, Any]:
        """Means, p-values and spreads by metric."""
        return {
            "real": self.real.record(),
            "permuted": self.permuted_mean.record(),
            "overlap": self.overlap.record(),
            "p": by_metric(self.p),
            "as_good": self.as_good,
            "best": self.best,
            "sd": {"permuted": by_metric(_spread(self.permuted))},
        }


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """One analysis of one collection under one encoder."""

    data: LabelledEmbeddings
    combinations: Combinations
    ridge: Ridge
    choice: PenaltyChoice
    loo: LeaveOneOut
    holdout: Holdout | None
    cca: CanonicalCorrelations
    seed: int
    notes: tuple[str, ...]
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        combinations = self.combinations
        return f"<Report of {len(combinations)} combinations of {len(combinations.sources)} sources, seed {self.seed}>"

    @cached_property
    def contributions(self) -> Floats:
        """W, (n, m): what each source adds, fitted on all combinations."""
        return self.ridge.contributions(self.combinations.means)

    @property
    def headline(self) -> str:
        """The result in one sentence."""
        real, shuffled, overlap = self.loo.real.cosine, self.loo.permuted_mean.cosine, self.loo.overlap.cosine
        return (
            f"Rebuilt from its parts, a scene lands at cosine {real:+.3f}; shuffled parts give {shuffled:+.3f}, "
            f"scenes with overlapping labels {overlap:+.3f}."
        )

    @property
    def verdict(self) -> str:
        """On which metrics the sum of parts beats both baselines, and on which it does not, in one sentence."""
        best = self.loo.best
        better = [SHORT[name] for name in METRICS if best[name]]
        worse = [SHORT[name] for name in METRICS if not best[name]]
        if not worse:
            return "It beats shuffled parts and overlapping labels on all five metrics."
        if not better:
            return "On no metric does it beat both shuffled parts and overlapping labels."
        return (
            f"It beats shuffled parts and overlapping labels on {_listed(better)}, but not both of them on "
            f"{_listed(worse)}."
        )

    def record(self) -> dict[str, Any]:
        """``compose.json``: means, p-values and provenance; NaN is null."""
        return {
            "n_clips": len(self.data.ids),
            "n_combinations": len(self.combinations),
            "n_sources": len(self.combinations.sources),
            "dim": int(self.data.embeddings.shape[1]),
            "lambda": self.choice.penalty,
            "loo": self.loo.record(),
            "holdout": NO_HOLDOUT if self.holdout is None else self.holdout.record(),
            "cca": {"real": self.cca.real.tolist(), "permuted": jsonable(self.cca.permuted)},
            "provenance": dict(self.provenance) | self._parameters(),
        }

    def _parameters(self) -> dict[str, Any]:
        """What the numbers were made with."""
        return {
            "seed": self.seed,
            "permutations": len(self.loo.permuted),
            "splits": 0 if self.holdout is None else len(self.holdout.sizes),
            "lambda_grid": [float(self.choice.grid[0]), float(self.choice.grid[-1]), len(self.choice.grid)],
            "lambda_validation": [";".join(self.combinations.members[row]) for row in self.choice.validation],
            "leverage_max": self.loo.largest_leverage,
            "sources_seen_once": list(self.combinations.seen_once),
            "combinations_of_one_clip": int(np.count_nonzero(self.combinations.counts == 1)),
            "method": "Do Audio Representations Compose Additively? (arXiv 2609.27187), section III",
            "notes": list(self.notes),
        }


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def _spread(table: Floats) -> Floats:
    return table.std(axis=0, ddof=1) if len(table) > 1 else np.zeros(table.shape[1])
