"""The Steer panel's pictures, sentences and handlers."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from backend.negation import MAX_CHARACTERS, MAX_PHRASE, parse_query
from backend.reports.figures import drawn
from backend.reports.steering import figures_chart, plane_chart
from backend.retrieval.diagnosis import diagnose
from backend.retrieval.relatives import relatives_of
from backend.retrieval.steering import LARGEST_LAMBDA
from backend.retrieval.variants import PAPER_MEANS
from components.frame.view_state import ViewState
from components.panels.steer import panel as steer
from components.panels.steer import view as steer_view
from components.panels.steer.panel import Parts, SteerHandlers
from tests.fakes import BandEncoder, counted_parses


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch, tmp_path) -> BandEncoder:
    """The panel on an encoder of eight bands, its files in a folder of the test."""
    made = BandEncoder()
    monkeypatch.setattr(steer, "load_encoder", lambda identifier: made)
    monkeypatch.setattr("components.frame.exports.export_file", lambda name: tmp_path / name)
    return made


def found(query: str = "band 1 and band 2, no band 3"):
    return diagnose(BandEncoder(), relatives_of(parse_query(query)))


def view(**more: object) -> ViewState:
    return ViewState(tab="steer", clip="made", query="band 1 and band 2, no band 3", encoder="band", **more)  # type: ignore[arg-type]


def handlers() -> SteerHandlers:
    return SteerHandlers(Parts(*[None] * 15))  # type: ignore[arg-type]


def named(answer: list) -> dict:
    skipped = [isinstance(one, dict) and one.get("__type__") == "update" and len(one) == 1 for one in answer]
    return {name: one for name, one, skip in zip(Parts.__dataclass_fields__, answer, skipped, strict=True) if not skip}


def whole(answers: Iterable[list]) -> dict:
    """What a handler changes from its first answer to its last, by name."""
    return {name: one for answer in answers for name, one in named(answer).items()}


def event(data: object):
    return SimpleNamespace(_data=data)


def test_the_plane_is_a_well_formed_picture_that_names_every_relative() -> None:
    value = json.loads(steer_view.plane(found(), found().plane.at(0.2)))
    layout = value["figures"]["steering"]["layout"]
    said = [words["text"] for words in layout["annotations"]]
    for name in ("query, e_C", "e_neg", "opposite", "paraphrase", "unrelated", "scope 3", "e*, λ 0.20"):
        assert name in said
    heights = sorted(words["ay"] for words in layout["annotations"] if "ay" in words)
    assert len(heights) >= 7
    assert all(b - a > 0.12 for a, b in pairwise(heights)), "labels must not cover each other"
    low, high = layout["yaxis"]["range"]
    assert low < heights[0] and heights[-1] < high
    assert "cosine" in value["html"]


def test_labels_of_one_height_are_pushed_apart_inside_the_picture() -> None:
    plane = replace(found().plane, points=np.tile([0.1, -1.0], (len(found().plane.names), 1)))
    chart = plane_chart(replace(found(), plane=plane), plane.at(8.0))
    heights = sorted(float(one.y2[0]) for one in chart.series if one.kind == "words" and one.x2[0] > 1.2)
    assert all(b - a > 0.12 for a, b in pairwise(heights)) and heights[0] > -1.1 and heights[-1] < 1.1


def test_the_charts_can_be_drawn_for_files_too() -> None:
    for chart in (plane_chart(found(), found().plane.at(0.2)), figures_chart(found())):
        assert ElementTree.fromstring(drawn(chart, dpi=40).svg).get("role") == "img"


def test_figures_show_the_published_means() -> None:
    value = json.loads(steer_view.figures(found()))
    picture, means = value["html"], value["figures"]["figures"]["data"][0]
    assert picture.count("<tr>") == len(PAPER_MEANS) and means["x"] == list(PAPER_MEANS.values())
    for mean in PAPER_MEANS.values():
        assert f"papers {mean:.2f}" in picture
    assert "–" in steer_view.figures(found("no band 1")), "a figure that cannot be computed is a dash"


def test_words_of_a_query_cannot_become_markup() -> None:
    hostile = found("band 1, no <img src=x>")
    assert "<img" not in steer_view.headline(hostile) + steer_view.steering_sentence(hostile, hostile.plane.at(0.2))


def test_a_result(encoder: BandEncoder) -> None:
    shown = whole(handlers().show(view()))
    assert [line["name"] for line in shown["editor"]["lines"]][:3] == ["query", "affirmative", "paraphrase"]
    assert shown["editor"]["lines"][0]["cosine"] == 1.0
    assert "tab=steer" in shown["address"]
    assert "λ = 0.20" in shown["steering"]


def test_steer_parses_a_text_once(encoder: BandEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = counted_parses(monkeypatch)
    assert whole(handlers().on_query(view(), "band 1, no band 4"))["figures"]
    assert parsed == ["band 1, no band 4"]


def test_a_line_may_be_as_long_as_a_query(encoder: BandEncoder) -> None:
    long = " and ".join(f"sound {number}" for number in range(30))
    assert MAX_PHRASE < len(long) < MAX_CHARACTERS
    on = handlers()
    shown = whole(on.show(view()))
    assert shown["editor"]["longest"] == MAX_CHARACTERS
    changed = whole(on.on_line(view(), shown["lines"], event({"lines": {"bag": long}})))
    assert changed["lines"].bag == long
    beyond = whole(on.on_line(view(), shown["lines"], event({"lines": {"bag": "x" * (MAX_CHARACTERS + 1)}})))
    assert set(beyond) == {"line_error"}


def test_the_strength_moves_only_the_path(encoder: BandEncoder) -> None:
    on = handlers()
    lines = whole(on.show(view()))["lines"]
    passes = encoder.text_passes
    moved = named(on.on_strength(view(), lines, 1.37))
    assert encoder.text_passes == passes
    assert set(moved) == {"view", "address", "plane", "steering"}
    assert "lambda=1.37" in moved["address"] and "1.37" in moved["steering"]
    assert named(on.on_strength(view(), lines, 99))["view"].strength == LARGEST_LAMBDA


def test_a_line_can_be_edited_and_nothing_else(encoder: BandEncoder) -> None:
    on = handlers()
    lines = whole(on.show(view()))["lines"]
    changed = whole(on.on_line(view(), lines, event({"lines": {"bag": "band 7"}})))
    assert changed["lines"].bag == "band 7"
    begun = named(next(on.on_line(view(), lines, event({"lines": {"bag": "band 7"}}))))
    assert begun["lines"].bag == "band 7", "an edit made meanwhile builds on this one"
    both = whole(on.on_line(view(), lines, event({"lines": {"bag": "band 7", "swap": "band 6"}})))
    assert (both["lines"].bag, both["lines"].swap) == ("band 7", "band 6")
    for wrong in ({"negated": "x"}, {"bag": " "}, {}, None, {"bag": 7}, {"bag": "band 7", "negated": "x"}):
        answer = whole(on.on_line(view(), lines, event({"lines": wrong})))
        assert set(answer) == {"line_error"}, "a bad line leaves everything as it was"


def test_a_query_without_a_no_is_said(encoder: BandEncoder) -> None:
    shown = whole(handlers().on_query(view(), "band 1"))
    assert "nothing that must be absent" in shown["error"]


def test_opening_the_tab_catches_up_and_leaves_the_view_alone(encoder: BandEncoder) -> None:
    first = whole(handlers().on_open(view()))
    assert first["query"] and first["figures"] and "view" not in first and "address" not in first
