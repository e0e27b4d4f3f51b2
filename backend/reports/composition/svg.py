"""Charts as SVG text: styled by the page's colours where it has any, readable alone where not."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from backend.reports.composition.charts import Chart, HeatMap, Series
from backend.reports.composition.heat import draw_heat_map
from backend.reports.composition.svg_frame import opening, wrapped


def draw(chart: Chart | HeatMap, width: int = 640, *, alone: bool = True, chosen: int | None = None) -> str:
    """One chart as an ``<svg>`` element of a given width in pixels.

    ``alone`` brings its own style and title; without it the page's ``.uh-chart`` rules apply. Marks of a
    combination carry ``data-key`` with its index; those of the ``chosen`` one are ringed.
    """
    if isinstance(chart, HeatMap):
        return draw_heat_map(chart, width, alone=alone)
    return _draw_chart(chart, width, alone, chosen)


class _Axes:
    """The plotting rectangle and the two scales."""

    def __init__(self, chart: Chart, width: float, top: float, height: float) -> None:
        self.right, self.top, self.bottom = width - 14.0, top, top + height
        xs, ys = _extent(chart.series, "x"), _extent(chart.series, "y")
        self.log = chart.log_x
        if any(series.kind == "bars" for series in chart.series):
            ys = (0.0, ys[1])
        self.x0, self.x1 = _padded(np.log10(xs[0]), np.log10(xs[1])) if self.log else _padded(*xs)
        self.y0, self.y1 = (0.0, ys[1] * 1.08 or 1.0) if ys[0] == 0.0 else _padded(*ys)
        self.left = max(58.0, 28.0 + 7.2 * max(len(_short(value)) for value in _ticks(self.y0, self.y1, 5)))
        if chart.whole_x:
            self.x0, self.x1 = np.floor(xs[0] + 0.35) - 0.6, np.ceil(xs[1] - 0.35) + 0.6

    def x(self, value: float) -> float:
        """Pixels from the left."""
        value = np.log10(value) if self.log else value
        return self.left + (self.right - self.left) * (value - self.x0) / (self.x1 - self.x0)

    def y(self, value: float) -> float:
        """Pixels from the top."""
        return self.bottom - (self.bottom - self.top) * (value - self.y0) / (self.y1 - self.y0)


def _draw_chart(chart: Chart, width: int, alone: bool, chosen: int | None) -> str:
    legend = [series for series in chart.series if series.name]
    rows = _legend_rows(legend, width - 72.0)
    top = (34.0 if alone else 8.0) + 20.0 * len(rows)
    plot = min(0.5 * width, 320.0) if width >= 480 else 0.72 * width
    axes = _Axes(chart, float(width), top, plot)
    lines = wrapped(chart.note, width - 24) if alone else []
    height = axes.bottom + 46 + 18 * len(lines)
    parts = [opening(chart.title, width, height, alone), _legend(rows, top - 20.0 * len(rows) + 14)]
    parts += [_grid(chart, axes, whole=chart.whole_x)]
    parts += [_marks(series, axes) for series in chart.series]
    parts += [_ring(series, axes, chosen) for series in chart.series if chosen is not None and chosen in series.keys]
    parts += [f'<text x="12" y="{axes.bottom + 58 + 18 * i:.0f}">{escape(line)}</text>' for i, line in enumerate(lines)]
    return "".join(parts) + "</svg>"


def _grid(chart: Chart, axes: _Axes, *, whole: bool) -> str:
    parts = []
    for value in _ticks(axes.y0, axes.y1, 5):
        y = axes.y(value)
        parts.append(f'<line class="grid" x1="{axes.left}" x2="{axes.right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{axes.left - 6}" y="{y + 4.5:.1f}" text-anchor="end">{_short(value)}</text>')
    last = -1e9
    for value in _ticks(axes.x0, axes.x1, 7 if axes.right - axes.left > 400 else 4, whole=whole or axes.log):
        shown = 10**value if axes.log else value
        x, label = axes.x(shown), _short(shown)
        if x - last < 8 + 7.5 * len(label):
            continue
        last = x
        parts.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{axes.bottom}" y2="{axes.bottom + 4}"/>')
        parts.append(f'<text x="{x:.1f}" y="{axes.bottom + 19}" text-anchor="middle">{label}</text>')
    middle = (axes.left + axes.right) / 2
    parts.append(f'<line class="axis" x1="{axes.left}" x2="{axes.right}" y1="{axes.bottom}" y2="{axes.bottom}"/>')
    parts.append(f'<text x="{middle:.1f}" y="{axes.bottom + 38}" text-anchor="middle">{escape(chart.x_label)}</text>')
    centre = (axes.top + axes.bottom) / 2
    parts.append(
        f'<text transform="translate(13 {centre:.1f}) rotate(-90)" text-anchor="middle">{escape(chart.y_label)}</text>'
    )
    return "".join(parts)


def _marks(series: Series, axes: _Axes) -> str:
    if series.kind in ("line", "dashed"):
        return _line(series, axes)
    if series.kind == "band" and series.y2 is not None:
        known = np.isfinite(series.y) & np.isfinite(series.y2)
        upper = [f"{axes.x(x):.1f},{axes.y(y):.1f}" for x, y in zip(series.x[known], series.y2[known], strict=True)]
        lower = [f"{axes.x(x):.1f},{axes.y(y):.1f}" for x, y in zip(series.x[known], series.y[known], strict=True)]
        return f'<polygon points="{" ".join(upper + lower[::-1])}" fill="{series.color}" fill-opacity=".25"/>'
    parts = []
    for index in range(len(series.x)):
        said = f"<title>{escape(series.text[index])}</title>" if series.text else ""
        key = f' data-key="{series.keys[index]}"' if series.keys else ""
        parts.append(_one_mark(series, index, axes, key, said))
    return "".join(parts)


def _one_mark(series: Series, index: int, axes: _Axes, key: str, said: str) -> str:
    x, y, color = axes.x(series.x[index]), axes.y(series.y[index]), series.color
    if series.kind == "points":
        look = f'fill="{color}" fill-opacity=".8" stroke="var(--paper)"'
        return f'<path class="mark"{key} d="{shape(series.mark, x, y)}" {look}>{said}</path>'
    if series.kind == "rule":
        return (
            f'<g{key}><line x1="{x:.1f}" x2="{x:.1f}" y1="{axes.top}" y2="{axes.bottom}" stroke="{color}" '
            f'stroke-width="2.5"/>{said}</g>'
        )
    if series.kind == "bars" and series.x2 is not None:
        half = series.x2[index] / 2
        left, right = axes.x(series.x[index] - half), axes.x(series.x[index] + half)
        return (
            f'<rect x="{left:.1f}" y="{y:.1f}" width="{max(right - left - 1, 0.5):.1f}" '
            f'height="{max(axes.bottom - y, 0):.1f}" fill="{color}"><title>{series.y[index]:g}</title></rect>'
        )
    if series.kind == "arrows" and series.x2 is not None and series.y2 is not None:
        x2, y2 = axes.x(series.x2[index]), axes.y(series.y2[index])
        return f'<line{key} x1="{x:.1f}" y1="{y:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}">{said}</line>'
    return ""


def _ring(series: Series, axes: _Axes, chosen: int) -> str:
    at = series.keys.index(chosen)
    x, y = axes.x(series.x[at]), axes.y(series.y[at])
    if series.kind != "points":
        return ""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="10" fill="none" stroke="var(--ink)" stroke-width="2.5"/>'


def _line(series: Series, axes: _Axes) -> str:
    known = np.flatnonzero(np.isfinite(series.y))
    points = " ".join(f"{axes.x(series.x[i]):.1f},{axes.y(series.y[i]):.1f}" for i in known)
    dash = ' stroke-dasharray="6 4"' if series.kind == "dashed" else ""
    line = f'<polyline points="{points}" fill="none" stroke="{series.color}" stroke-width="2.5"{dash}/>'
    if not series.text:
        return line
    dots = "".join(
        f'<circle cx="{axes.x(series.x[i]):.1f}" cy="{axes.y(series.y[i]):.1f}" r="3" fill="{series.color}">'
        f"<title>{escape(series.text[i])}</title></circle>"
        for i in known
    )
    return line + dots


def shape(mark: str, x: float, y: float, r: float = 5.0) -> str:
    """The path of a mark around a point."""
    if mark == "square":
        return f"M{x - r:.1f} {y - r:.1f}h{2 * r}v{2 * r}h{-2 * r}z"
    if mark == "triangle":
        return f"M{x:.1f} {y - 1.2 * r:.1f}l{1.1 * r} {2 * r}h{-2.2 * r}z"
    if mark == "diamond":
        return f"M{x:.1f} {y - 1.3 * r:.1f}l{1.3 * r} {1.3 * r}l{-1.3 * r} {1.3 * r}l{-1.3 * r} {-1.3 * r}z"
    if mark == "cross":
        a = 0.45 * r
        return (
            f"M{x - a:.1f} {y - r:.1f}h{2 * a}v{r - a}h{r - a}v{2 * a}h{a - r}v{r - a}h{-2 * a}v{a - r}h{a - r}"
            f"v{-2 * a}h{r - a}z"
        )
    return f"M{x - r:.1f} {y:.1f}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0z"


def _legend_rows(legend: Sequence[Series], width: float) -> list[list[tuple[float, Series]]]:
    rows: list[list[tuple[float, Series]]] = []
    at = width + 1.0
    for series in legend:
        needed = 34 + 7.2 * len(series.name)
        if at + needed > width or not rows:
            rows.append([])
            at = 0.0
        rows[-1].append((at, series))
        at += needed
    return rows


def _legend(rows: Sequence[Sequence[tuple[float, Series]]], y: float) -> str:
    parts = []
    for row, items in enumerate(rows):
        for at, series in items:
            x, line = 58 + at, y + 20 * row
            if series.kind == "points":
                sign = f'<path d="{shape(series.mark, x + 6, line - 5)}" fill="{series.color}"/>'
            elif series.kind == "bars":
                sign = f'<rect x="{x}" y="{line - 10}" width="12" height="11" fill="{series.color}"/>'
            else:
                dash = ' stroke-dasharray="5 3"' if series.kind == "dashed" else ""
                ends = f'x1="{x - 2}" x2="{x + 14}" y1="{line - 5}" y2="{line - 5}"'
                sign = f'<line {ends} stroke="{series.color}" stroke-width="2.5"{dash}/>'
            parts.append(f'{sign}<text x="{x + 20:.1f}" y="{line:.1f}">{escape(series.name)}</text>')
    return "".join(parts)


def _extent(series: Sequence[Series], axis: str) -> tuple[float, float]:
    arrays: list[NDArray[np.float64]] = []
    for one in series:
        if axis == "y" and one.kind == "rule":
            continue
        arrays += [values for values in (getattr(one, axis), getattr(one, axis + "2")) if values is not None]
        if one.kind == "bars" and axis == "x" and one.x2 is not None:
            arrays = [*arrays[:-1], one.x - one.x2 / 2, one.x + one.x2 / 2]
    values = np.concatenate(arrays) if arrays else np.zeros(1)
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)


def _padded(low: float, high: float) -> tuple[float, float]:
    room = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    return low - room, high + room


def _ticks(low: float, high: float, most: int, *, whole: bool = False) -> list[float]:
    """Round numbers between two ends."""
    raw = (high - low) / most
    step = 10.0 ** np.floor(np.log10(raw))
    step *= next(factor for factor in (1.0, 2.0, 5.0, 10.0) if factor * step >= raw)
    step = max(1.0, np.ceil(step)) if whole else step
    first = np.ceil(low / step - 1e-9) * step
    return [float(first + step * i) for i in range(int((high - first) / step + 1e-9) + 1)]


def _short(value: float) -> str:
    if value != 0 and not 1e-3 <= abs(value) < 1e5:
        mantissa, exponent = f"{value:.0e}".split("e")
        return f"{mantissa}e{int(exponent)}".replace("-", "−")
    return f"{round(value, 6):g}".replace("-", "−")
