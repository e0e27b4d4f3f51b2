"""One measured number with its bootstrap interval, and the table they are printed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from backend.benchmarks.negeval.measures import bootstrap_interval


@dataclass(frozen=True)
class Measure:
    """A number, its 95 % interval, what it was counted on and what it should reach.

    Attributes
    ----------
    key : str
        Stable name for programs, such as ``esc10_10way_top1``.
    name : str
        What people read.
    value, low, high : float
        The figure and its percentile bootstrap interval; equal where there is no sample.
    count : int
        Items resampled (clips, queries, scenes); 0 where nothing was sampled.
    goal : float or None
    higher_is_better : bool
        How the goal is to be read.
    unit : str
        "" for plain numbers, "%" for shares (stored as fractions), "ms", "MB".
    """

    key: str
    name: str
    value: float
    low: float
    high: float
    count: int
    goal: float | None = None
    higher_is_better: bool = True
    unit: str = ""

    @property
    def reached(self) -> bool | None:
        """Whether the goal is met; None without a goal."""
        if self.goal is None:
            return None
        return self.value >= self.goal if self.higher_is_better else self.value <= self.goal


def mean_measure(
    key: str,
    name: str,
    values: ArrayLike,
    *,
    groups: Sequence[str] | None = None,
    goal: float | None = None,
    higher_is_better: bool = True,
    unit: str = "",
    seed: int = 0,
) -> Measure:
    """The mean of one value an item, with a bootstrap interval over items or over groups of items.

    Parameters
    ----------
    values : array_like, shape (n,)
        One number an item; booleans count as 0 and 1.
    groups : sequence of str, optional
        Items cut from one recording share a group and are drawn together.
    """
    array = np.asarray(values, dtype=np.float64)
    low, high = bootstrap_interval(array, groups, seed)
    return Measure(key, name, float(array.mean()), low, high, len(array), goal, higher_is_better, unit)


def plain(key: str, name: str, value: float, *, goal: float | None = None, unit: str = "") -> Measure:
    """A figure that is not a mean of a sample, such as a size; smaller is better."""
    return Measure(key, name, value, value, value, 0, goal, False, unit)


def table(measures: Sequence[Measure]) -> str:
    """The measures as an aligned text table."""
    header = ("measure", "value", "95 % interval", "n", "goal", "")
    rows = [header, *(_row(measure) for measure in measures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _row(measure: Measure) -> tuple[str, ...]:
    interval = (
        "" if not measure.count else f"{_number(measure.low, measure.unit)} .. {_number(measure.high, measure.unit)}"
    )
    goal = ""
    if measure.goal is not None:
        goal = f"{'>=' if measure.higher_is_better else '<='} {_number(measure.goal, measure.unit)}"
    verdict = {None: "", True: "reached", False: "missed"}[measure.reached]
    return (
        measure.name,
        _number(measure.value, measure.unit),
        interval,
        str(measure.count or ""),
        goal,
        verdict,
    )


def _number(value: float, unit: str) -> str:
    if unit == "%":
        return f"{100 * value:.1f} %"
    return f"{value:.1f} {unit}" if unit else f"{value:.3f}"
