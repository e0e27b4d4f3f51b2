"""What an analysis found: everything the page shows and ``compose.json`` holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.composition.cca import CanonicalCorrelations
from backend.composition.combinations import Combinations, LabelledEmbeddings
from backend.composition.holdout import Holdout
from backend.composition.metrics import HIGHER_IS_BETTER, METRICS, SHORT, Metrics, metrics_from
from backend.composition.ridge import PenaltyChoice, Ridge

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
        shuffled, overlap = self.loo.permuted_mean, self.loo.overlap
        better: list[str] = []
        worse: list[str] = []
        for name in METRICS:
            sign = 1.0 if HIGHER_IS_BETTER[name] else -1.0
            real, others = getattr(self.loo.real, name), (getattr(shuffled, name), getattr(overlap, name))
            (better if all(sign * real > sign * other for other in others) else worse).append(SHORT[name])
        if not worse:
            return "It beats shuffled parts and overlapping labels on all five metrics."
        if not better:
            return "On no metric does it beat both shuffled parts and overlapping labels."
        return (
            f"It beats shuffled parts and overlapping labels on {_listed(better)}, but not both of them on "
            f"{_listed(worse)}."
        )

    def to_json(self) -> dict[str, Any]:
        """``compose.json``: means, p-values and provenance; NaN is null."""
        loo = {
            "real": self.loo.real.as_dict(),
            "permuted": self.loo.permuted_mean.as_dict(),
            "overlap": self.loo.overlap.as_dict(),
            "p": _by_metric(self.loo.p),
            "sd": {"permuted": _by_metric(_spread(self.loo.permuted))},
        }
        return {
            "n_clips": len(self.data.ids),
            "n_combinations": len(self.combinations),
            "n_sources": len(self.combinations.sources),
            "dim": int(self.data.embeddings.shape[1]),
            "lambda": self.choice.penalty,
            "loo": loo,
            "holdout": _holdout_json(self.holdout),
            "cca": {"real": self.cca.real.tolist(), "permuted": [_number(value) for value in self.cca.permuted]},
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
            "leverage_max": float(self.loo.leverage.max()),
            "sources_seen_once": list(self.combinations.seen_once),
            "combinations_of_one_clip": int(np.count_nonzero(self.combinations.counts == 1)),
            "method": "Do Audio Representations Compose Additively? (arXiv 2609.27187), section III",
            "notes": list(self.notes),
        }


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _by_metric(values: Floats) -> dict[str, float | None]:
    return {name: _number(value) for name, value in zip(METRICS, values, strict=True)}


def _spread(table: Floats) -> Floats:
    return table.std(axis=0, ddof=1) if len(table) > 1 else np.zeros(table.shape[1])


def _holdout_json(holdout: Holdout | None) -> dict[str, Any]:
    empty = np.full(len(METRICS), np.nan)
    kinds = ("real", "permuted", "overlap")
    return {
        **{kind: _by_metric(empty if holdout is None else holdout.mean(kind)) for kind in kinds},
        "p": _by_metric(empty if holdout is None else holdout.p),
        "sd": {kind: _by_metric(empty if holdout is None else holdout.spread(kind)) for kind in kinds},
        "splits": 0 if holdout is None else len(holdout.sizes),
        "held_out": [] if holdout is None else holdout.sizes.tolist(),
    }
