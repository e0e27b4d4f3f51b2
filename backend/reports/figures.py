"""Charts as files, drawn by matplotlib: for the command line, for downloads and for pages that need no network."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from backend.reports.charts import DIVERGING, Chart, HeatMap, Series
from backend.reports.palette import LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKS = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D", "cross": "P", "stroke": "|"}
DASHES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}
WIDTH, HEIGHT = 7.0, 4.4
"""Inches of one chart."""
# Words stay words in an SVG, and the same chart gives the same bytes.
STYLE: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "unheard"}
_STYLE_LOCK = threading.Lock()
"""matplotlib's style is one for the whole process."""


@dataclass(frozen=True)
class Drawing:
    """A figure as an ``<svg>`` element and as the bytes of a PNG file."""

    title: str
    svg: str
    png: bytes


def drawn(*charts: Chart | HeatMap, columns: int = 1, title: str = "", dpi: int = 160) -> Drawing:
    """Charts as one figure, ``columns`` side by side; ``title`` stands over all of them.

    Pixels of the PNG are inches (7 x 4.4 a chart) times ``dpi``.
    """
    import matplotlib

    with _STYLE_LOCK, matplotlib.rc_context(STYLE):
        figure = _figure(charts, columns, title)
        svg, png = io.StringIO(), io.BytesIO()
        figure.savefig(svg, format="svg", metadata={"Date": None})
        figure.savefig(png, format="png", dpi=dpi, metadata={"Software": None})
    said = title or charts[0].title
    return Drawing(said, _element(svg.getvalue(), said), png.getvalue())


def _figure(charts: tuple[Chart | HeatMap, ...], columns: int, title: str) -> Figure:
    # The object interface: pyplot's global state would be shared by every session of a server.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = -(-len(charts) // columns)
    height = 6.5 if len(charts) == 1 and (isinstance(charts[0], HeatMap) or charts[0].equal) else HEIGHT * rows
    figure = Figure(figsize=(WIDTH * columns, height), layout="constrained")
    FigureCanvasAgg(figure)
    for place, chart in enumerate(charts, start=1):
        axes = figure.add_subplot(rows, columns, place)
        axes.set_title(_plain(chart.title), loc="left", fontsize=11)
        if isinstance(chart, HeatMap):
            _heat_map(axes, chart)
        else:
            _chart(axes, chart)
    if title:
        figure.suptitle(_plain(title))
    if len(charts) == 1 and charts[0].note:
        figure.supxlabel(_plain(charts[0].note), fontsize=8, wrap=True)
    return figure


def _plain(text: str) -> str:
    """Words as they are: a dollar sign begins no formula."""
    return text.replace("$", r"\$")


def _element(document: str, said: str) -> str:
    """The ``<svg>`` element of an SVG document, without its prolog and its links to vocabularies."""
    document = re.sub(r"<metadata>.*?</metadata>", "", document[document.index("<svg") :], flags=re.DOTALL)
    return document.replace("<svg", f'<svg role="img" aria-label="{escape(said, quote=True)}"', 1).strip()


def _chart(axes: Axes, chart: Chart) -> None:
    for series in chart.series:
        _DRAWERS[series.kind](axes, series, LIGHT[series.role])
    axes.set_xlabel(_plain(chart.x_label))
    axes.set_ylabel(_plain(chart.y_label))
    if chart.log_x:
        axes.set_xscale("log")
    for ticks, put in ((chart.x_ticks, axes.set_xticks), (chart.y_ticks, axes.set_yticks)):
        if ticks:
            put([value for value, _ in ticks], [_plain(words) for _, words in ticks])
    axes.set(xlim=chart.x_range, ylim=chart.y_range)
    if chart.equal:
        axes.set_aspect("equal")
        axes.set_axis_off()
    else:
        axes.set_axisbelow(True)
        axes.grid(axis="y", alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    if any(series.name for series in chart.series):
        # Under the axes: looking for the best place among many points is slow and warns.
        axes.legend(loc="upper left", bbox_to_anchor=(0.0, -0.14), ncols=4, frameon=False, fontsize=9)


def _points(axes: Axes, series: Series, colour: str) -> None:
    thick = series.mark == "stroke" or not series.filled
    size = 260 if series.mark == "stroke" else 26
    face = {"facecolors": colour} if series.filled else {"facecolors": LIGHT["paper"], "edgecolors": colour}
    look: dict[str, Any] = {"color": colour} if series.mark == "stroke" else face
    axes.scatter(
        series.x, series.y, s=size, marker=MARKS[series.mark], alpha=0.9, linewidths=2 if thick else 0,
        label=_plain(series.name) or None, zorder=3, **look,
    )  # fmt: skip


def _line(axes: Axes, series: Series, colour: str) -> None:
    axes.plot(
        series.x, series.y, color=colour, linestyle=DASHES[series.dash], linewidth=0.8 * series.width,
        label=_plain(series.name) or None,
    )  # fmt: skip


def _band(axes: Axes, series: Series, colour: str) -> None:
    axes.fill_between(series.x, series.y, np.asarray(series.y2), color=colour, alpha=0.25, linewidth=0)


def _bars(axes: Axes, series: Series, colour: str) -> None:
    axes.bar(series.x, series.y, width=0.95 * np.asarray(series.x2), color=colour, label=_plain(series.name) or None)
    if series.low is not None and series.high is not None:
        ends = np.stack([series.y - series.low, series.high - series.y])
        axes.errorbar(series.x, series.y, yerr=ends, fmt="none", ecolor=LIGHT["ink"], elinewidth=1, capsize=2)


def _rule(axes: Axes, series: Series, colour: str) -> None:
    for place, x in enumerate(series.x):
        axes.axvline(
            x, color=colour, linestyle=DASHES[series.dash], linewidth=2, label=None if place else _plain(series.name)
        )


def _span(axes: Axes, series: Series, colour: str) -> None:
    axes.hlines(series.y, series.x, np.asarray(series.x2), color=colour, linewidth=4)


def _arrows(axes: Axes, series: Series, colour: str) -> None:
    ends = np.asarray(series.x2), np.asarray(series.y2)
    axes.plot(
        np.vstack([series.x, ends[0]]), np.vstack([series.y, ends[1]]), color=colour,
        linestyle=DASHES[series.dash], linewidth=0.4 * series.width, alpha=0.7,
    )  # fmt: skip


def _words(axes: Axes, series: Series, colour: str) -> None:
    places = zip(series.text, series.x, series.y, np.asarray(series.x2), np.asarray(series.y2), strict=True)
    for words, x, y, at_x, at_y in places:
        axes.annotate(
            _plain(words), (x, y), (at_x, at_y), color=colour, va="center", annotation_clip=False,
            ha="center" if (x, y) == (at_x, at_y) else "left",
            arrowprops=None if (x, y) == (at_x, at_y) else {"arrowstyle": "-", "color": LIGHT["line"]},
        )  # fmt: skip


_DRAWERS: dict[str, Callable[[Axes, Series, str], None]] = {
    "points": _points,
    "line": _line,
    "band": _band,
    "bars": _bars,
    "rule": _rule,
    "span": _span,
    "arrows": _arrows,
    "words": _words,
}


def _heat_map(axes: Axes, chart: HeatMap) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("cosine", [LIGHT[role] for role in DIVERGING])
    image = axes.imshow(chart.values, vmin=-1, vmax=1, cmap=colours)
    names, size = [_plain(name) for name in chart.names], 9 if len(chart.names) <= 25 else 5
    axes.set_xticks(range(len(names)), names, rotation=50, ha="right", rotation_mode="anchor", fontsize=size)
    axes.set_yticks(range(len(names)), names, fontsize=size)
    axes.figure.colorbar(image, ax=axes, shrink=0.8, label="cosine")
