"""From calibrated evidence to logic: log-presence and log-absence (science section 4, own choice)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ExclusionParameters:
    """How log-odds of presence become a score; chosen on ESC-10 folds 1-3 (see the benchmark).

    Attributes
    ----------
    slope : float
        Log-odds per standard deviation of calibrated evidence.
    present_from, absent_below : float
        Evidence at which a concept that must be heard, or must not be heard, is as likely as not.
    absence_weight : float
        Weight of the log-absences beside the log-presences.
    """

    slope: float = 2.5
    present_from: float = 0.2
    absent_below: float = 0.2
    absence_weight: float = 3.0


EXCLUSION = ExclusionParameters()


def log_probability(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """``log(1 / (1 + exp(-x)))`` without overflow."""
    return -np.logaddexp(0.0, -log_odds)


def log_presence(evidence: NDArray[np.float64], parameters: ExclusionParameters = EXCLUSION) -> NDArray[np.float64]:
    """Log-probability that a concept is there, from calibrated evidence of any shape."""
    return log_probability(parameters.slope * (evidence - parameters.present_from))


def log_absence(evidence: NDArray[np.float64], parameters: ExclusionParameters = EXCLUSION) -> NDArray[np.float64]:
    """Weighted log-probability that a concept is not there, from calibrated evidence of any shape."""
    return parameters.absence_weight * log_probability(-parameters.slope * (evidence - parameters.absent_below))
