"""Charts drawn for files: every kind of mark, words as they are, nothing fetched, the same bytes every time."""

from __future__ import annotations

import xml.etree.ElementTree as xml

import numpy as np
import pytest

from backend.reports.charts import DIVERGING, Chart, HeatMap, Series, whole_ticks
from backend.reports.figures import drawn
from backend.reports.palette import LIGHT

HOSTILE = "<b>rain</b> & $\\frac{x_{$ “$2”"
X, Y = np.array([1.0, 2.0, 3.0]), np.array([0.1, np.nan, 0.4])


def every_kind() -> Chart:
    return Chart(
        "every",
        HOSTILE,
        HOSTILE,
        "y",
        (
            Series("points", HOSTILE, "present", X, Y, text=(HOSTILE,) * 3, keys=(4, 5, 6)),
            Series("points", "rings", "absent", X, Y, filled=False),
            Series("points", "strokes", "control", X, Y, mark="stroke"),
            Series("line", "line", "ok", X, Y, dash="dot"),
            Series("band", "", "control", X, Y, y2=Y + 1),
            Series("bars", "bars", "amber", X, Y, x2=np.ones(3), low=Y - 0.1, high=Y + 0.2),
            Series("rule", "rule", "pink", X[:1], Y[:1]),
            Series("span", "", "present", X, Y, x2=X + 1),
            Series("arrows", "", "control", X, Y, x2=X + 1, y2=Y + 1),
            Series("words", "", "ink", X[:1], Y[:1], x2=X[:1] + 1, y2=Y[:1], text=(HOSTILE,)),
        ),
        note=HOSTILE,
        x_ticks=((1.0, HOSTILE), (2.0, "two")),
        y_range=(0.0, 1.0),
    )


def test_every_kind_of_mark_is_drawn_and_words_stay_words():
    drawing = drawn(every_kind(), dpi=40)
    root = xml.fromstring(drawing.svg)
    assert root.get("role") == "img" and root.get("aria-label") == HOSTILE
    assert "".join(root.itertext()).count(HOSTILE) >= 4
    assert not root.findall(".//{*}b") and not root.findall(".//{*}metadata")
    assert "http" not in drawing.svg.replace("http://www.w3.org/", "")
    for role in ("present", "absent", "ok", "amber", "pink"):
        assert LIGHT[role].lower() in drawing.svg
    assert drawing.png.startswith(b"\x89PNG")


def test_the_same_charts_give_the_same_bytes():
    first, second = (drawn(every_kind(), every_kind(), columns=2, title="two", dpi=40) for _ in range(2))
    assert first == second and first.title == "two"


def test_a_map_of_cosines_goes_from_absent_to_present():
    chart = HeatMap("map", "Map", (HOSTILE, "rain"), np.array([[1.0, -1.0], [-1.0, 1.0]]))
    drawing = drawn(chart, dpi=40)
    assert HOSTILE in "".join(xml.fromstring(drawing.svg).itertext())
    assert DIVERGING == ("absent", "wash", "present")


@pytest.mark.parametrize(("ends", "said"), [((1, 3), "1 2 3"), ((1, 48), "5 10 15 20 25 30 35 40 45"), ((2, 2), "2")])
def test_whole_ticks(ends, said):
    assert " ".join(words for _, words in whole_ticks(*ends)) == said
