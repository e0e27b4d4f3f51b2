"""Looking into a report: one combination, sums composed by hand, the map of contributions, the plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from backend.composition.report import Report
from backend.errors import InputError

Floats = NDArray[np.float64]

NEIGHBOURS = 8
SHOWN_NEIGHBOURS = 5
WORST, BEST = 8, 4
"""Combinations shown of each end."""
MOST_TERMS = 12
"""Terms of a sum composed by hand."""


@dataclass(frozen=True)
class Contribution:
    """What one source adds to a prediction that has not seen the combination.

    Attributes
    ----------
    source : str
    length : float
        Length of w_j.
    along : float
        Its component along the actual embedding, as a share of the actual length: the shares of all
        sources add up to how much of the actual the prediction recovers.
    cosine : float
        Cosine between w_j and the actual embedding.
    known : bool
        False for a source that occurs in this combination alone.
    bar : float
        Length of ``along`` as a bar, 0 to 1: of the actual length, or of the largest contribution if that is longer.
    """

    source: str
    length: float
    along: float
    cosine: float
    known: bool
    bar: float = 0.0


@dataclass(frozen=True)
class Neighbour:
    """A combination and its cosine to a prediction; ``rank`` counts from 1."""

    index: int
    cosine: float
    rank: int


@dataclass(frozen=True, eq=False)
class CombinationDetail:
    """One combination, left out.

    Attributes
    ----------
    index : int
    contributions : tuple of Contribution
        From the fit without this combination; their vectors add up to the prediction exactly.
    neighbours : tuple of Neighbour
        Nearest combinations to the prediction, nearest first.
    actual : Neighbour
        The combination itself: its cosine to the prediction and its rank among all.
    clips : np.ndarray of int64
        The combination's own clips.
    others : int
        How many combinations it was rebuilt from.
    residual : float
        What the prediction misses, relative to the actual length.
    """

    index: int
    contributions: tuple[Contribution, ...]
    neighbours: tuple[Neighbour, ...]
    actual: Neighbour
    clips: NDArray[np.int64]
    others: int
    residual: float

    @property
    def nearer(self) -> int:
        """How many other combinations lie nearer to the prediction."""
        return self.actual.rank - 1

    @property
    def recovered(self) -> float:
        """How much of the actual embedding all parts together recover; 1 is all of it."""
        return sum(part.along for part in self.contributions)

    @property
    def nearest_other(self) -> Neighbour | None:
        """The combination nearest to the prediction that is another one."""
        return next((near for near in self.neighbours if near.index != self.index), None)

    @property
    def listed(self) -> tuple[Neighbour, ...]:
        """The nearest five, and the combination itself if it is not one of them."""
        nearest = self.neighbours[:SHOWN_NEIGHBOURS]
        return nearest if any(near.index == self.index for near in nearest) else (*nearest, self.actual)


@dataclass(frozen=True, eq=False)
class Sum:
    """A vector composed by hand.

    Attributes
    ----------
    terms : tuple of (int, str)
        +1 or -1 and the source.
    length : float
    combinations : tuple of Neighbour
        Nearest combinations by cosine to their means.
    clips : tuple of Neighbour
        Nearest clips by cosine.
    exact : Neighbour or None
        The combination of exactly the sources whose signs add up to one each, where there is one.
    """

    terms: tuple[tuple[int, str], ...]
    length: float
    combinations: tuple[Neighbour, ...]
    clips: tuple[Neighbour, ...]
    exact: Neighbour | None


@dataclass(frozen=True, eq=False)
class Plane:
    """Actual and predicted combinations on the two main axes of the actual ones.

    Attributes
    ----------
    actual, predicted : np.ndarray, shape (q, 2), float64
    kept : np.ndarray, shape (2,), float64
        Share of the actual variance along each axis.
    """

    actual: Floats
    predicted: Floats
    kept: Floats


def checked_combination(report: Report, index: object) -> int:
    """A combination's index as a page or a person gave it. Raises InputError."""
    count = len(report.combinations)
    if isinstance(index, bool) or not isinstance(index, int | float) or index != int(index) or not 0 <= index < count:
        raise InputError(f"Combination {index!r} was asked for; there are 0 to {count - 1}.")
    return int(index)


def combination_detail(report: Report, index: int) -> CombinationDetail:
    """Contributions, neighbours and rank of one left-out combination. Raises InputError for a wrong index."""
    index = checked_combination(report, index)
    combinations = report.combinations
    actual, predicted = combinations.means[index], report.loo.predicted[index]
    weights = report.ridge.contributions_without(combinations.means, index)
    size = float(np.linalg.norm(actual))
    contributions = []
    for source in combinations.members[index]:
        column = combinations.sources.index(source)
        vector = weights[column]
        length = float(np.linalg.norm(vector))
        inner = float(vector @ actual)
        contributions.append(
            Contribution(
                source,
                length,
                inner / size**2 if size else 0.0,
                inner / (size * length) if size * length else 0.0,
                bool(combinations.source_occurrences[column] > 1),
            )
        )
    longest = max([1.0, *(abs(part.along) for part in contributions)])
    cosines = _cosines(predicted, combinations.means)
    return CombinationDetail(
        index,
        tuple(replace(part, bar=abs(part.along) / longest) for part in contributions),
        _nearest(cosines, NEIGHBOURS),
        Neighbour(index, float(report.loo.cosines[index]), int(report.loo.ranks[index])),
        combinations.clips(index),
        len(combinations) - 1,
        float(report.loo.residuals[index]),
    )


def checked_terms(report: Report, terms: object) -> tuple[tuple[int, str], ...]:
    """Terms of a sum as the browser sent them: pairs of a sign (+1, -1) and a source. Raises InputError."""
    if not isinstance(terms, list | tuple) or not 1 <= len(terms) <= MOST_TERMS:
        raise InputError(f"A sum has 1 to {MOST_TERMS} sounds; choose some.")
    checked = []
    for term in terms:
        if not isinstance(term, list | tuple) or len(term) != 2 or term[0] not in (1, -1):
            raise InputError("Each term of a sum is +1 or -1 and a sound.")
        if term[1] not in report.combinations.sources:
            raise InputError(f"{str(term[1])[:80]!r} is no sound of this collection.")
        checked.append((int(term[0]), str(term[1])))
    return tuple(checked)


def sound_arithmetic(report: Report, terms: Sequence[tuple[int, str]], *, nearest: int = NEIGHBOURS) -> Sum:
    """Add and subtract contributions (W fitted on all combinations) and look for what is there.

    Raises
    ------
    InputError
        No terms, too many, an unknown source, or everything cancels.
    """
    terms = checked_terms(report, terms)
    combinations = report.combinations
    counts = {source: 0 for _, source in terms}
    for sign, source in terms:
        counts[source] += sign
    if not any(counts.values()):
        raise InputError("These sounds cancel to nothing. Add one that is not subtracted again.")
    vector = sum(
        count * report.contributions[combinations.sources.index(source)] for source, count in counts.items() if count
    )
    cosines = _cosines(vector, combinations.means)
    exact = None
    if all(count in (0, 1) for count in counts.values()):
        wanted = tuple(sorted(source for source, count in counts.items() if count))
        if wanted in combinations.members:
            at = combinations.members.index(wanted)
            exact = Neighbour(at, float(cosines[at]), int(1 + np.count_nonzero(cosines > cosines[at])))
    clips = _cosines(vector, report.data.embeddings)
    return Sum(terms, float(np.linalg.norm(vector)), _nearest(cosines, nearest), _nearest(clips, nearest), exact)


def worst_first(report: Report) -> NDArray[np.int64]:
    """Combinations by cosine between prediction and actual, the worst first."""
    return np.argsort(report.loo.cosines, kind="stable")


def best_and_worst(report: Report) -> tuple[int, int]:
    """The combination that adds up best and the one that does so worst, among those of several sources if any."""
    order = worst_first(report)
    several = [int(index) for index in order if len(report.combinations.members[index]) > 1]
    candidates = several if len(several) > 1 else [int(index) for index in order]
    return candidates[-1], candidates[0]


def ends(report: Report) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The worst rebuilt combinations and the best, the worst first; all of them where there are few."""
    order = tuple(int(index) for index in worst_first(report))
    return order[:WORST], order[max(WORST, len(order) - BEST) :]


def combination_named(report: Report, name: str) -> int | None:
    """Index of the combination of these labels, written ``dog;rain`` in any order; None where there is none."""
    wanted = tuple(sorted({part.strip() for part in name.split(";") if part.strip()}))
    return report.combinations.members.index(wanted) if wanted in report.combinations.members else None


def contribution_cosines(report: Report) -> Floats:
    """Cosines between the sources' contributions, (n, n); 0 for a source without one."""
    vectors = report.contributions
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return np.clip(unit @ unit.T, -1.0, 1.0)


def plane(report: Report) -> Plane:
    """Principal axes of the actual combinations, with the predictions projected onto them.

    The sign of each axis is fixed so that its largest loading is positive. Where there are fewer than two axes,
    the coordinates on those that are missing are zero.
    """
    from sklearn.decomposition import PCA

    means = report.combinations.means
    missing = max(0, 2 - min(means.shape))
    with np.errstate(invalid="ignore", divide="ignore"):  # one combination, or several that are equal
        axes = PCA(2 - missing, svd_solver="full").fit(means)
    kept = np.nan_to_num(np.pad(axes.explained_variance_ratio_, (0, missing)))
    actual, predicted = (np.pad(axes.transform(rows), ((0, 0), (0, missing))) for rows in (means, report.loo.predicted))
    return Plane(actual, predicted, kept)


def _cosines(vector: Floats, rows: NDArray[np.floating]) -> Floats:
    inner = np.empty(len(rows))
    lengths = np.empty(len(rows))
    for start in range(0, len(rows), 8192):
        block = np.asarray(rows[start : start + 8192], dtype=np.float64)
        inner[start : start + 8192] = block @ vector
        lengths[start : start + 8192] = np.linalg.norm(block, axis=1)
    scale = lengths * np.linalg.norm(vector)
    return np.divide(inner, scale, out=np.zeros_like(inner), where=scale > 0)


def _nearest(cosines: Floats, count: int) -> tuple[Neighbour, ...]:
    order = np.argsort(-cosines, kind="stable")[:count]
    return tuple(Neighbour(int(at), float(cosines[at]), rank) for rank, at in enumerate(order, start=1))
