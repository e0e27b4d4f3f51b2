"""Charts as plotly figures: what is in them, and that names stay names."""

from __future__ import annotations

import json
from html import unescape

import numpy as np
import pytest

from backend.reports.charts import Chart, HeatMap
from backend.reports.palette import LIGHT
from components.frame.scripts import page_head
from components.page import launch_options
from components.widgets.figures import figure
from components.widgets.plotly_chart import chart_place, charts_value, plotly_script
from tests.backend.reports.test_figures import HOSTILE, every_kind


def strings(value: object) -> list[str]:
    """Every string of a figure, wherever it is."""
    if isinstance(value, dict):
        return [one for part in value.values() for one in strings(part)]
    if isinstance(value, (list, tuple)):
        return [one for part in value for one in strings(part)]
    return [value] if isinstance(value, str) else []


def sent(*charts: Chart | HeatMap, chosen: int | None = None) -> dict:
    return json.loads(charts_value("", *charts, chosen=chosen), parse_constant=lambda name: pytest.fail(name))[
        "figures"
    ]


def test_every_kind_of_mark_and_no_markup_from_a_name() -> None:
    made = sent(every_kind())["every"]
    assert [trace["type"] for trace in made["data"]] == ["scatter"] * 5 + ["bar"] + ["scatter"] * 3
    assert len(made["layout"]["shapes"]) == 1 and len(made["layout"]["annotations"]) == 1
    for said in strings(made):
        assert "<b>" not in said and "<img" not in said
    assert unescape(made["data"][0]["name"]) == HOSTILE == unescape(made["layout"]["annotations"][0]["text"])
    assert HOSTILE.split()[0] in unescape(made["data"][0]["hovertext"][0])


def test_an_unknown_value_leaves_a_gap() -> None:
    assert sent(every_kind())["every"]["data"][0]["y"] == [0.1, None, 0.4]


def test_the_chosen_mark_is_ringed_and_marks_carry_their_keys() -> None:
    made = sent(every_kind(), chosen=6)["every"]
    assert made["data"][0]["customdata"] == [4, 5, 6]
    assert (made["data"][-1]["x"], made["data"][-1]["y"]) == ([3.0], [0.4])
    assert sent(every_kind(), chosen=99)["every"]["data"][-1]["x"] == [], "the figure keeps its shape"


def test_a_map_says_both_names_and_the_cosine() -> None:
    chart = HeatMap("map", "Map", (HOSTILE, "rain"), np.array([[1.0, -0.25], [-0.25, 1.0]]))
    trace = sent(chart)["map"]["data"][0]
    assert unescape(trace["hovertext"][0][1]).replace("<br>", " ") == f"{HOSTILE} and rain: -0.250"
    assert (trace["zmin"], trace["zmax"]) == (-1, 1)
    assert [colour for _, colour in trace["colorscale"]] == [LIGHT["absent"], LIGHT["wash"], LIGHT["present"]]


def test_colours_are_the_palettes_so_that_the_page_can_exchange_them() -> None:
    colours = {said for said in strings(figure(every_kind()).to_plotly_json()) if said.startswith("#")}
    assert colours and colours <= set(LIGHT.values())


def test_a_place_says_what_the_chart_shows() -> None:
    place = chart_place(every_kind(), '"><img src=x>')
    assert "<img" not in place and 'data-chart="every"' in place


def test_plotly_is_served_from_the_installed_package_and_from_nowhere_else() -> None:
    assert plotly_script().stat().st_size > 1_000_000
    assert str(plotly_script()) in launch_options()["allowed_paths"]
    assert str(plotly_script()) in page_head() and "https:" not in page_head()


def test_a_legend_stands_over_the_marks_and_takes_no_width_from_them() -> None:
    legend = figure(every_kind()).layout.legend
    # Placed on the container, plotly gives a legend a margin of its own beside the axes, on a phone half the chart.
    assert legend.xref in (None, "paper") and (legend.x, legend.y > 1, legend.yanchor) == (0, True, "bottom")
