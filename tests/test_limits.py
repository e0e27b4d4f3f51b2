"""A number means the same, and is refused in the same sentence, wherever it comes in."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any

import gradio as gr
import pytest

from backend import checks
from backend.__main__ import build_parser
from backend.audio import WINDOW_CHOICES, WINDOW_SECONDS, checked_window, checked_window_choice
from backend.collections.demo import demo_clips
from backend.errors import InputError
from backend.evidence.control_cuts import CONTROL_COUNT, MOST_CONTROLS
from backend.evidence.cut import DEFAULT_DEPTH_DB, checked_depth, checked_region
from backend.evidence.frequency_band import checked_band
from backend.retrieval.ranking import DEFAULT_HITS
from backend.retrieval.steering import DEFAULT_LAMBDA, LARGEST_LAMBDA, PAPER_LAMBDAS, checked_lambda
from components.frame.links import view_from_link
from components.frame.view_state import ViewState
from components.page import PANELS
from components.panels.ask.api import ask_endpoint
from components.panels.compose.api import compose_endpoint
from components.panels.listen.api import gate_endpoint, localize_endpoint
from components.panels.listen.parts import window_choices
from components.panels.listen.state import ListenState
from components.panels.steer.api import diagnose_endpoint
from components.stage.checks import selected_band, selected_region

QUERY = "a dog barking, no rain"
SCENE = demo_clips()[0].id


def sentence(call: Callable[[], object]) -> str:
    """The error that a call ends with."""
    with pytest.raises((InputError, gr.Error)) as caught:
        call()
    return str(getattr(caught.value, "message", caught.value))


def of_the_command_line(arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit):
        build_parser().parse_args(arguments.split())
    return capsys.readouterr().err


def listening(parameters: dict[str, str]) -> ListenState:
    """What a link without a mistake asks of Listen."""
    view, notices = view_from_link(parameters, PANELS, ("pocket",))
    assert notices == []
    return view.panel(ListenState)


def of_a_link(**parameters: str) -> str:
    view, notices = view_from_link(parameters, PANELS, ("pocket",))
    assert len(notices) == 1
    assert view == view_from_link({}, PANELS, ("pocket",))[0]
    return notices[0]


@pytest.mark.parametrize("window", [0.05, 11.0, -2.0])
def test_a_window_is_refused_alike_by_library_and_command_line(
    window: float, capsys: pytest.CaptureFixture[str]
) -> None:
    said = sentence(lambda: checked_window(window))
    assert "between 0.1 and 10 s" in said
    assert said.rstrip(".") in of_the_command_line(f"localize {SCENE} rain --window {window}", capsys)


@pytest.mark.parametrize("window", [0.05, 3, 11.0, -2.0])
def test_links_and_programs_choose_among_the_windows_the_page_offers(window: float) -> None:
    said = sentence(lambda: checked_window_choice(window))
    assert said == f"The window is {window:g} s; it must be 2 or 4."
    assert sentence(lambda: localize_endpoint(None, SCENE, QUERY, "pocket", window)) == said
    assert said in of_a_link(window=str(window))


def test_a_window_between_those_offered_is_let_in_where_nobody_else_waits() -> None:
    assert build_parser().parse_args(["localize", SCENE, "rain", "--window", "3"]).window == 3.0
    assert [seconds for _, seconds in window_choices()] == list(WINDOW_CHOICES)


@pytest.mark.parametrize("strength", [8.5, 50.0, -1.0])
def test_a_strength_is_refused_alike_everywhere(strength: float, capsys: pytest.CaptureFixture[str]) -> None:
    said = sentence(lambda: checked_lambda(strength))
    assert "between 0 and 8" in said
    assert sentence(lambda: ask_endpoint(QUERY, "pocket", strength, 3)) == said
    assert said in of_a_link(**{"lambda": str(strength)})
    assert said.rstrip(".") in of_the_command_line(f"rank demo rain --lambda {strength}", capsys)


def test_the_largest_strength_is_the_end_of_the_papers_sweep_and_more_would_change_nothing() -> None:
    assert checked_lambda(LARGEST_LAMBDA) == PAPER_LAMBDAS[-1] == 8.0
    furthest = math.sqrt(1 - 1 / LARGEST_LAMBDA**2)
    assert furthest > 0.99, "the least cosine of e* with -e_neg over all queries"


@pytest.mark.parametrize("seed", [-1, 2**32, 2**63])
def test_a_seed_is_refused_alike_everywhere(seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    said = sentence(lambda: checks.checked_seed(seed))
    doors: list[Callable[[], Any]] = [
        lambda: gate_endpoint(None, SCENE, QUERY, "pocket", 2, 2.0, 4.0, 40, seed),
        lambda: diagnose_endpoint(QUERY, "pocket", seed),
        lambda: compose_endpoint(None, None, "pocket", seed),
    ]
    assert {sentence(door) for door in doors} == {said}
    assert "a whole number, at least 0 and at most 4,294,967,295" in of_a_link(seed=str(seed))
    assert said.rstrip(".") in of_the_command_line(f"rank demo rain --seed {seed}", capsys)


def test_half_a_seed_is_none() -> None:
    assert "whole number" in sentence(lambda: compose_endpoint(None, None, "pocket", 1.5))
    assert "whole number" in of_a_link(seed="1.5")


@pytest.mark.parametrize("depth", [121.0, -121.0, 300.0])
def test_a_depth_is_refused_alike_everywhere(depth: float) -> None:
    said = sentence(lambda: checked_depth(depth))
    assert "between 0 and 120 dB" in said
    assert sentence(lambda: gate_endpoint(None, SCENE, QUERY, "pocket", 2, 2.0, 4.0, depth, 0)) == said
    assert said in of_a_link(depth=str(depth))


def test_forty_decibels_down_may_be_written_either_way_everywhere() -> None:
    assert checked_depth(-40) == checked_depth(40) == listening({"depth": "-40"}).depth == 40.0


@pytest.mark.parametrize(("start", "end"), [(3.0, 1.0), (-1.0, 2.0), (50.0, 60.0)])
def test_a_region_is_refused_alike_everywhere(start: float, end: float) -> None:
    duration = 10.0
    said = sentence(lambda: checked_region(start, end, duration))
    assert sentence(lambda: selected_region({"start": start, "end": end}, duration)) == said
    answered = sentence(lambda: gate_endpoint(None, SCENE, QUERY, "pocket", 2, start, end, 40, 0))
    assert answered.split(";")[0].split(", which is")[0] == said.split(";")[0].split(", which is")[0]


@pytest.mark.parametrize(("low", "high"), [(900.0, 100.0), (-5.0, 100.0), (9000.0, 9500.0), (10.0, 11.0)])
def test_a_band_is_refused_alike_on_stage_and_in_the_library(low: float, high: float) -> None:
    said = sentence(lambda: checked_band((low, high), 16000))
    assert sentence(lambda: selected_band({"low": low, "high": high}, 16000)) == said


def test_controls_are_counted_by_one_rule(capsys: pytest.CaptureFixture[str]) -> None:
    for count in (0, MOST_CONTROLS + 1):
        arguments = f"gate {SCENE} --start 1 --end 2 -o x.wav --controls {count}"
        assert f"at least 1 and at most {MOST_CONTROLS:,}" in of_the_command_line(arguments, capsys)


def test_the_command_line_begins_where_the_page_begins() -> None:
    parse, view, listen = build_parser().parse_args, ViewState(), ListenState()
    cut = parse(f"gate {SCENE} --start 1 --end 2 -o x.wav".split())
    found, ranked = parse(["localize", SCENE, "rain"]), parse(["rank", "demo", "rain"])
    assert found.window == cut.window == listen.window == WINDOW_SECONDS
    assert cut.depth == listen.depth == DEFAULT_DEPTH_DB
    assert cut.seed == ranked.seed == view.seed == checks.DEFAULT_SEED
    assert ranked.strength == view.strength == DEFAULT_LAMBDA
    assert (cut.controls, ranked.top) == (CONTROL_COUNT, DEFAULT_HITS)
    assert isinstance(found, argparse.Namespace)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "None"), (True, "True"), ("2", "'2'"), (math.nan, "nan dB"), (math.inf, "inf dB"), (10**400, "10000"),
        (1.5, "1.5 dB"), ([1], "[1]"),
    ],
)  # fmt: skip
def test_whatever_is_no_number_of_the_range_is_named(value: object, said: str) -> None:
    with pytest.raises(InputError) as caught:
        checks.checked_number("The thing", value, 0, 1, unit="dB", advice="1 is usual.")
    assert str(caught.value).startswith(f"The thing is {said}")
    assert str(caught.value).endswith("it must lie between 0 and 1 dB. 1 is usual.") and len(str(caught.value)) < 120


@pytest.mark.parametrize("value", [None, True, "3", 2.5, math.nan, math.inf, -1, 6, 10**400])
def test_whatever_is_no_whole_number_of_the_range_is_named(value: object) -> None:
    with pytest.raises(InputError, match="must be a whole number, at least 0 and at most 5"):
        checks.checked_whole("The thing", value, 0, 5)
    assert checks.checked_whole("The thing", 3.0, 0, 5) == 3
