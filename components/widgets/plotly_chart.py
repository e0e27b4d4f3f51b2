"""The widget that shows plotly figures: clicks, keys, zoom, downloads, both themes, and no network.

Its script is ``assets/frame/charts.js``; plotly's own comes from the installed package when the first chart is seen.
"""

from __future__ import annotations

import json
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import gradio as gr

from backend.reports.charts import Chart, HeatMap
from backend.reports.palette import LIGHT
from components.widgets.figures import figure

CONNECT = "window.unheardCharts.connect(element, props, watch, trigger);"


def plotly_script() -> Path:
    """Plotly's script inside the installed package; the server must be allowed to serve it."""
    package = find_spec("plotly")
    folder = Path(package.origin).parent if package and package.origin else Path("plotly")
    return folder / "package_data" / "plotly.min.js"


def chart_settings() -> str:
    """What ``charts.js`` must know, as a script for the page's head: where plotly is, and what each colour means."""
    known = {"address": "gradio_api/file=" + quote(str(plotly_script())), "palette": LIGHT}
    return f"window.unheardChartSettings = {json.dumps(known)};"


def plotly_chart(words: str = "", **options: Any) -> gr.HTML:
    """A place for charts and the words around them, with the ``words`` that stand there first.

    A click, or Enter on a focused mark, fires ``select`` with ``{"key": ...}``, as does a button with ``data-key``.
    """
    template = '<div class="charts"></div>'
    return gr.HTML(charts_value(words), html_template=template, js_on_load=CONNECT, apply_default_css=False, **options)


def chart_place(chart: Chart | HeatMap, said: str = "") -> str:
    """Where a chart stands in the words around it; ``said`` is what it shows, for those who cannot see it."""
    height = "min(420px, 80vw)" if isinstance(chart, HeatMap) or chart.equal else f"{chart.height}px"
    return (
        f'<div class="chart" data-chart="{escape(chart.key)}" style="min-height:{height}" '
        f'data-said="{escape(said or chart.title)}"></div>'
    )


def charts_value(markup: str, *charts: Chart | HeatMap, chosen: int | None = None) -> str:
    """What the widget shows, as JSON: words with a :func:`chart_place` for each chart, and the figures themselves.

    JSON and not a dict: while a gr.HTML is in an accordion that was never opened, Gradio takes the next "no change"
    for its value if that is a dict.
    """
    if not charts:  # as on the first screen, which must not wait for plotly
        return json.dumps({"html": markup, "figures": {}}, ensure_ascii=False)
    from plotly.utils import PlotlyJSONEncoder

    figures = {chart.key: figure(chart, chosen) for chart in charts}
    return json.dumps({"html": markup, "figures": figures}, cls=PlotlyJSONEncoder, ensure_ascii=False)
