"""Charts as plotly figures: a description from backend.reports goes in, a Figure comes out.

Colours are those of the palette on a light ground; the page's script exchanges them for the ones of its theme.
Names are shown as they are: plotly would take ``<b>`` in a label for markup.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from backend.reports.charts import DIVERGING, Chart, HeatMap, Series
from backend.reports.palette import LIGHT

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

SYMBOLS = {
    "circle": "circle",
    "square": "square",
    "triangle": "triangle-up",
    "diamond": "diamond",
    "cross": "cross",
    "stroke": "line-ns",
}
FONT = "ui-sans-serif, system-ui, 'Segoe UI', Roboto, Arial, sans-serif"
WORDS_A_LINE = 44
LONGEST_NAME = 24
FEW_NAMES, MOST_NUMBERS = 25, 14
"""Up to how many names a map of cosines is lettered in full size, and its cells hold their numbers."""
CLEAR = "rgba(0,0,0,0)"
Trace = dict[str, Any]


def figure(chart: Chart | HeatMap, chosen: int | None = None) -> Figure:
    """The figure of a chart; the mark whose key is ``chosen`` is ringed.

    Marks that open something carry their key as ``customdata``. ``layout.meta`` holds what the page's script and
    a downloaded picture need besides: title, note, and the ratio of height to width where that is given.
    """
    # Not at the top: it takes a while, and the first screen has no chart.
    from plotly import graph_objects

    traces, layout = _heat_map(chart) if isinstance(chart, HeatMap) else _chart(chart, chosen)
    layout |= {
        "template": graph_objects.layout.Template(),
        "font": {"family": FONT, "size": 13, "color": LIGHT["ink"]},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "hoverlabel": {"bgcolor": LIGHT["paper"], "bordercolor": LIGHT["edge"], "font": {"color": LIGHT["ink"]}},
        "hovermode": "closest",
        "barmode": "overlay",
        # The same chart with other numbers keeps the visitor's zoom.
        "uirevision": chart.key,
        "meta": {"key": chart.key, "title": plain(chart.title), "note": plain(chart.note)} | layout.get("meta", {}),
    }
    return graph_objects.Figure(traces, layout)


def plain(text: str) -> str:
    """Words that plotly shows as they are."""
    return escape(text, quote=False)


def pointed(text: str) -> str:
    """What a mark says when pointed at, in lines that fit a phone."""
    return "<br>".join(plain(line) for line in textwrap.wrap(text, WORDS_A_LINE, break_long_words=True))


def _chart(chart: Chart, chosen: int | None) -> tuple[list[Trace], dict[str, Any]]:
    traces: list[Trace] = []
    layout: dict[str, Any] = {"shapes": [], "annotations": []}
    for series in chart.series:
        if series.kind == "rule":
            layout["shapes"] += _rules(series)
        elif series.kind == "words":
            layout["annotations"] += _words(series)
        else:
            traces.append(_DRAWERS[series.kind](series))
    if any(series.keys for series in chart.series):
        traces.append(_ring(chart, chosen))
    layout["xaxis"] = _axis(chart.x_label, chart.x_ticks, chart.x_range, showline=not chart.equal)
    layout["xaxis"]["ticks"] = "outside"
    layout["yaxis"] = _axis(chart.y_label, chart.y_ticks, chart.y_range, showgrid=not chart.equal)
    if chart.log_x:
        layout["xaxis"] |= {"type": "log", "exponentformat": "power"}
    layout["showlegend"] = chart.legend and any(series.name for series in chart.series)
    layout["legend"] = {
        "orientation": "h",
        "x": 0,
        "y": 1.02,
        "yanchor": "bottom",
        "bgcolor": CLEAR,
    }
    layout["margin"] = {"l": 56, "r": 12, "t": 36 if chart.legend else 8, "b": 48}
    layout["height"] = chart.height
    if chart.equal:
        layout["xaxis"] |= {"visible": False}
        layout["yaxis"] |= {"visible": False, "scaleanchor": "x"}
        layout["margin"] = {"l": 4, "r": 4, "t": 28, "b": 4}
        if chart.x_range and chart.y_range:
            (left, right), (low, high) = chart.x_range, chart.y_range
            layout["meta"] = {"ratio": (high - low) / (right - left)}
    return traces, layout


def _axis(words: str, ticks: Sequence[tuple[float, str]], ends: tuple[float, float] | None, **look: Any) -> Trace:
    axis: Trace = {
        "title": {"text": plain(words), "standoff": 8, "font": {"size": 13}},
        "showgrid": False,
        "zeroline": False,
        "gridcolor": LIGHT["line"],
        "linecolor": LIGHT["ink"],
        "tickcolor": LIGHT["ink"],
        "automargin": True,
        **look,
    }
    if ticks:
        axis |= {"tickvals": [value for value, _ in ticks], "ticktext": [plain(said) for _, said in ticks]}
    if ends:
        axis["range"] = list(ends)
    return axis


def _base(series: Series, **look: Any) -> Trace:
    trace: Trace = {
        "type": "scatter",
        "name": plain(series.name),
        "showlegend": bool(series.name),
        "x": series.x.tolist(),
        "y": series.y.tolist(),
        **look,
    }
    if series.text:
        trace |= {"hovertext": [pointed(said) for said in series.text], "hoverinfo": "text"}
    elif series.kind == "line":
        trace["hoverinfo"] = "skip"
    else:
        trace["hovertemplate"] = "%{x:.4~g}, %{y:.4~g}<extra></extra>"
    if series.keys:
        trace["customdata"] = list(series.keys)
    return trace


def _points(series: Series) -> Trace:
    colour = LIGHT[series.role]
    marker: Trace = {"symbol": SYMBOLS[series.mark], "size": 10, "color": colour, "opacity": 0.85}
    marker["line"] = {"color": LIGHT["paper"], "width": 1}
    if not series.filled:
        marker |= {"color": LIGHT["paper"], "line": {"color": colour, "width": 2.5}, "opacity": 1}
    if series.mark == "stroke":
        marker |= {"size": 22, "line": {"color": colour, "width": 4}}
    return _base(series, mode="markers", marker=marker)


def _line(series: Series) -> Trace:
    line = {"color": LIGHT[series.role], "width": series.width, "dash": series.dash}
    mode = "lines+markers" if series.text else "lines"
    return _base(series, mode=mode, line=line, marker={"size": 6, "color": LIGHT[series.role]}, connectgaps=True)


def _band(series: Series) -> Trace:
    along, low, high = series.x.tolist(), series.y.tolist(), series.y2.tolist() if series.y2 is not None else []
    known = [place for place in range(len(along)) if low[place] == low[place] and high[place] == high[place]]
    there, back = known, known[::-1]
    return {
        "type": "scatter",
        "x": [along[place] for place in [*there, *back]],
        "y": [high[place] for place in there] + [low[place] for place in back],
        "mode": "lines",
        "line": {"width": 0, "color": LIGHT[series.role]},
        "fill": "toself",
        "fillcolor": LIGHT[series.role],
        "opacity": 0.25,
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _bars(series: Series) -> Trace:
    widths = series.x2.tolist() if series.x2 is not None else None
    trace = _base(series, type="bar", marker={"color": LIGHT[series.role]}, width=widths)
    if series.low is not None and series.high is not None:
        trace["error_y"] = {
            "type": "data",
            "array": (series.high - series.y).tolist(),
            "arrayminus": (series.y - series.low).tolist(),
            "color": LIGHT["ink"],
            "thickness": 1,
            "width": 3,
        }
    return trace


def _pieces(series: Series, ends: tuple[list[float], list[float]], line: Trace) -> Trace:
    """Separate strokes as one trace: points in pairs, with a gap behind each."""
    (along, up), gap = (series.x.tolist(), series.y.tolist()), None
    return {
        "type": "scatter",
        "x": [one for pair in zip(along, ends[0], strict=True) for one in (*pair, gap)],
        "y": [one for pair in zip(up, ends[1], strict=True) for one in (*pair, gap)],
        "mode": "lines",
        "line": {"color": LIGHT[series.role], **line},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _span(series: Series) -> Trace:
    ends = series.x2.tolist() if series.x2 is not None else []
    return _pieces(series, (ends, series.y.tolist()), {"width": 5})


def _arrows(series: Series) -> Trace:
    right, up = (one.tolist() if one is not None else [] for one in (series.x2, series.y2))
    return _pieces(series, (right, up), {"width": 0.5 * series.width, "dash": series.dash})


_DRAWERS: dict[str, Callable[[Series], Trace]] = {
    "points": _points,
    "line": _line,
    "band": _band,
    "bars": _bars,
    "span": _span,
    "arrows": _arrows,
}


def _rules(series: Series) -> list[Trace]:
    line = {"color": LIGHT[series.role], "width": 2.5, "dash": series.dash}
    return [
        {"type": "line", "x0": x, "x1": x, "yref": "paper", "y0": 0, "y1": 1, "line": line}
        | {"name": plain(series.name), "showlegend": bool(series.name) and place == 0}
        for place, x in enumerate(series.x.tolist())
    ]


def _words(series: Series) -> list[Trace]:
    right, up = (one.tolist() if one is not None else [] for one in (series.x2, series.y2))
    places = zip(series.text, series.x.tolist(), series.y.tolist(), right, up, strict=True)
    leader = {"axref": "x", "ayref": "y", "xanchor": "left", "arrowhead": 0, "arrowwidth": 1, "standoff": 6}
    look = {"font": {"color": LIGHT[series.role]}, "arrowcolor": LIGHT["line"]}
    return [
        {"text": plain(words), "x": x, "y": y, **look}
        | ({"showarrow": False} if (x, y) == (at_x, at_y) else {"ax": at_x, "ay": at_y, **leader})
        for words, x, y, at_x, at_y in places
    ]


def _ring(chart: Chart, chosen: int | None) -> Trace:
    """A ring around the chosen mark; empty where there is none, so that the figure keeps its shape."""
    at = [
        (series.x.tolist()[place], series.y.tolist()[place])
        for series in chart.series
        if series.kind == "points" and chosen in series.keys
        for place in [series.keys.index(chosen)]
    ]
    line = {"color": LIGHT["ink"], "width": 3}
    return {
        "type": "scatter",
        "x": [x for x, _ in at],
        "y": [y for _, y in at],
        "mode": "markers",
        "marker": {"symbol": "circle-open", "size": 22, "color": LIGHT["ink"], "line": line},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _heat_map(chart: HeatMap) -> tuple[list[Trace], dict[str, Any]]:
    places = list(range(len(chart.names)))
    values = chart.values.tolist()
    short = [name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…" for name in chart.names]
    trace: Trace = {
        "type": "heatmap",
        "x": places,
        "y": places,
        "z": values,
        "zmin": -1,
        "zmax": 1,
        "colorscale": [[share, LIGHT[role]] for share, role in zip((0, 0.5, 1), DIVERGING, strict=True)],
        "xgap": 1,
        "ygap": 1,
        "hoverinfo": "text",
        "hovertext": [
            [pointed(f"{one} and {other}: {value:+.3f}") for other, value in zip(chart.names, row, strict=True)]
            for one, row in zip(chart.names, values, strict=True)
        ],
        "colorbar": {
            "title": {"text": "cosine", "side": "top"},
            "orientation": "h",
            "thickness": 10,
            "len": 0.5,
            "x": 0,
            "xanchor": "left",
            "y": 1,
            "yanchor": "bottom",
            "tickvals": [-1, 0, 1],
        },
    }
    if len(chart.names) <= MOST_NUMBERS:
        trace |= {"texttemplate": "%{z:+.2f}", "textfont": {"size": 11}}
    axis = {
        "tickvals": places,
        "ticktext": [plain(name) for name in short],
        "tickfont": {"size": 12 if len(places) <= FEW_NAMES else 8},
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
        "constrain": "domain",
    }
    layout = {
        "xaxis": axis | {"tickangle": -50},
        "yaxis": axis | {"autorange": "reversed", "scaleanchor": "x"},
        "margin": {"l": 4, "r": 4, "t": 56, "b": 4},
        "height": 520,
        "meta": {"ratio": 1},
    }
    return [trace], layout
