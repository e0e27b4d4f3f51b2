"""The same charts as PNG, drawn by matplotlib."""

from __future__ import annotations

import io

import numpy as np

from backend.reports.composition.charts import Chart, HeatMap, Series
from backend.reports.composition.heat import diverging

MARKERS = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D", "cross": "P"}


def png(chart: Chart | HeatMap, *, dpi: int = 160) -> bytes:
    """One chart as the bytes of a PNG file."""
    # The object interface: pyplot's global state would be shared by every session of a server.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 6.5 if isinstance(chart, HeatMap) else 4.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set_title(chart.title, loc="left", fontsize=11)
    if isinstance(chart, HeatMap):
        _heat(axes, chart)
    else:
        _chart(axes, chart)
    if chart.note:
        figure.supxlabel(chart.note, fontsize=8, wrap=True)
    buffer = io.BytesIO()
    # No date in the metadata: the same report gives the same bytes.
    figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
    return buffer.getvalue()


def _chart(axes, chart: Chart) -> None:  # type: ignore[no-untyped-def]
    for series in chart.series:
        _series(axes, series)
    axes.set_xlabel(chart.x_label)
    axes.set_ylabel(chart.y_label)
    if chart.log_x:
        axes.set_xscale("log")
    if chart.whole_x:
        from matplotlib.ticker import MaxNLocator

        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if any(series.name for series in chart.series):
        # Above the axes: looking for the best place among many points is slow and warns.
        axes.figure.legend(loc="outside upper right", ncols=5, frameon=False, fontsize=9)


def _series(axes, series: Series) -> None:  # type: ignore[no-untyped-def]
    x, y, color, name = series.x, series.y, series.color, series.name or None
    if series.kind == "points":
        axes.scatter(
            x, y, s=26, marker=MARKERS[series.mark], color=color, alpha=0.8, linewidths=0, label=name, zorder=3
        )
    elif series.kind in ("line", "dashed"):
        axes.plot(x, y, color=color, linestyle="--" if series.kind == "dashed" else "-", linewidth=2, label=name)
    elif series.kind == "band":
        axes.fill_between(x, y, series.y2, color=color, alpha=0.25, linewidth=0)
    elif series.kind == "bars":
        axes.bar(x, y, width=0.95 * np.asarray(series.x2), color=color, label=name)
    elif series.kind == "arrows" and series.x2 is not None and series.y2 is not None:
        axes.plot(np.vstack([x, series.x2]), np.vstack([y, series.y2]), color=color, linewidth=0.8, alpha=0.7)
    elif series.kind == "rule" and len(x):
        axes.axvline(x[0], color=color, linewidth=2, label=name)


def _heat(axes, chart: HeatMap) -> None:  # type: ignore[no-untyped-def]
    from matplotlib.colors import ListedColormap

    colors = ListedColormap([diverging(value) for value in np.linspace(-1, 1, 255)])
    image = axes.imshow(chart.values, vmin=-1, vmax=1, cmap=colors)
    size = 9 if len(chart.names) <= 25 else 5
    axes.set_xticks(
        range(len(chart.names)), chart.names, rotation=50, ha="right", rotation_mode="anchor", fontsize=size
    )
    axes.set_yticks(range(len(chart.names)), chart.names, fontsize=size)
    axes.figure.colorbar(image, ax=axes, shrink=0.8, label="cosine")
