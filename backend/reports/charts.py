"""What a chart shows, as plain data: said once, drawn by matplotlib for files and by plotly on the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["points", "line", "band", "bars", "rule", "span", "arrows", "words"]
Dash = Literal["solid", "dash", "dot", "dashdot"]
Mark = Literal["circle", "square", "triangle", "diamond", "cross", "stroke"]
Ticks = tuple[tuple[float, str], ...]
DIVERGING = ("absent", "wash", "present")
"""Roles of -1, 0 and +1 in a map of cosines."""


@dataclass(frozen=True, eq=False)
class Series:
    """One set of marks.

    Attributes
    ----------
    kind : Kind
        ``band`` fills between y and y2; ``bars`` stand at x with height y and width x2; ``rule`` is a vertical line
        at each x; ``span`` is a thick stroke from x to x2 at height y; ``arrows`` go from (x, y) to (x2, y2);
        ``words`` stand at (x2, y2) with a thin line to (x, y).
    name : str
        For the legend; empty for none.
    role : str
        A colour of the palette, by what it means.
    x, y, x2, y2 : float arrays, shape (n,)
    low, high : float arrays, shape (n,)
        Ends of an interval around y.
    text : tuple of str
        What each mark says when pointed at; of ``words``, the words.
    keys : tuple of int
        What a click on each mark opens, where it opens something.
    filled : bool
        False draws points as rings.
    """

    kind: Kind
    name: str
    role: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    x2: NDArray[np.float64] | None = None
    y2: NDArray[np.float64] | None = None
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    text: tuple[str, ...] = ()
    keys: tuple[int, ...] = ()
    mark: Mark = "circle"
    dash: Dash = "solid"
    width: float = 2.5
    filled: bool = True


@dataclass(frozen=True, eq=False)
class Chart:
    """A figure with two axes.

    Attributes
    ----------
    key : str
        Name of its files, and of its place on the page.
    note : str
        The sentence under it.
    x_ticks, y_ticks : tuple of (float, str)
        Marks of an axis with their words; empty leaves them to the drawer.
    x_range, y_range : (float, float) or None
        Ends of an axis; None fits what is drawn.
    equal : bool
        One unit is as long to the right as it is upwards, and the axes themselves are not drawn.
    height : int
        Pixels on the page.
    legend : bool
        False where the page has the legend in its own words; files have it in any case.
    """

    key: str
    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    note: str = ""
    log_x: bool = False
    x_ticks: Ticks = ()
    y_ticks: Ticks = ()
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    equal: bool = False
    height: int = 380
    legend: bool = True


@dataclass(frozen=True, eq=False)
class HeatMap:
    """A square of cosines between -1 and 1, shape (n, n), with a name for each row and column."""

    key: str
    title: str
    names: tuple[str, ...]
    values: NDArray[np.float64]
    note: str = ""


def whole_ticks(first: int, last: int, most: int = 12) -> Ticks:
    """Whole numbers from ``first`` to ``last``: all of them, or every second, fifth, tenth ... where they are many."""
    steps = (1, 2, 5, 10, 20, 50, 100, 200, 500)
    step = next((step for step in steps if (last - first) // step < most), 1000)
    return tuple((float(value), str(value)) for value in range(first, last + 1) if step == 1 or value % step == 0)
