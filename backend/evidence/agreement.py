"""Two encoders on the same clip and query: do they hear the same thing in the same place?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from backend.audio import Clip
from backend.encoders.base import Encoder, FloatArray
from backend.errors import InputError
from backend.evidence.localization import Evidence, Localization, localize, temporal_iou
from backend.negation import Concept, Query
from backend.reports.jsonable import DIGITS, jsonable

SAME_PLACE = 0.5
"""Temporal IoU of the best windows from which they count as one place (own choice)."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """One concept under two encoders.

    Attributes
    ----------
    iou : float
        Temporal IoU of the two best windows.
    rank_correlation : float
        Spearman's correlation of the two curves over the windows; NaN for fewer than three
        windows or a flat curve. Cosines of two encoders have different scales; ranks do not.
    """

    concept: Concept
    first: Evidence
    second: Evidence
    iou: float
    rank_correlation: float

    @property
    def same_place(self) -> bool:
        """Whether the best windows overlap by at least SAME_PLACE."""
        return self.iou >= SAME_PLACE

    def record(self) -> dict[str, Any]:
        """How far both agree about the concept."""
        return {
            "text": self.concept.text,
            "polarity": self.concept.polarity,
            "iou": jsonable(self.iou, DIGITS),
            "rank_correlation": jsonable(self.rank_correlation, DIGITS),
            "same_place": self.same_place,
        }


@dataclass(frozen=True, eq=False)
class Comparison:
    """Both localizations, and how far they agree."""

    first: Localization
    second: Localization
    agreements: tuple[Agreement, ...]

    def record(self, query: Query | None = None, **parameters: Any) -> dict[str, Any]:
        """Both localizations as their own records, and how far they agree about each concept."""
        sides = (self.first.record(query, **parameters), self.second.record(query, **parameters))
        return {"first": sides[0], "second": sides[1], "agreements": [one.record() for one in self.agreements]}


def rank_correlation(first: FloatArray, second: FloatArray) -> float:
    """Spearman's rank correlation of two curves of n values; NaN where it is not defined."""
    if len(first) < 3 or not (np.ptp(first) and np.ptp(second)):
        return float("nan")
    return float(spearmanr(first, second).statistic)


def compare_encoders(
    first: Encoder, second: Encoder, clip: Clip, concepts: Sequence[Concept], window: float
) -> Comparison:
    """Localise the same concepts in the same clip with two encoders.

    Parameters
    ----------
    first, second : Encoder
        Both with a text side.
    clip : Clip
    concepts : sequence of Concept
    window : float
        Seconds.

    Raises
    ------
    InputError
        The encoders are one, one of them has no text side, or there is no concept.
    """
    if (first.id, first.weights) == (second.id, second.weights):
        raise InputError(f"Both sides are {first.id}. Choose another encoder to compare it with.")
    found = [localize(encoder, clip, concepts, window) for encoder in (first, second)]
    agreements = tuple(
        Agreement(
            one.concept, one, other, temporal_iou(one.best, other.best), rank_correlation(one.scores, other.scores)
        )
        for one, other in zip(found[0].evidence, found[1].evidence, strict=True)
    )
    return Comparison(found[0], found[1], agreements)
