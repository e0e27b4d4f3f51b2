"""How panels answer the page: the newest request wins, and nothing a visitor did meanwhile is undone."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr
import pytest

from components.frame.links import view_from_link
from components.frame.turns import Begun, Panel, Turns, answers_in_turn
from components.frame.view_state import ViewState
from components.page import PANELS
from components.panels.listen import cut as listen_cut
from components.panels.listen import handlers as listen_handlers
from components.panels.listen.handlers import ListenHandlers
from components.panels.listen.parts import Parts
from components.panels.listen.state import ListenState
from tests.fakes import BandEncoder, counted_parses, tone_clip

OUTPUTS = ["one", "other"]
NOTHING = [gr.skip(), gr.skip()]


def request(name: str, *, good: bool = True) -> Iterator[list[Any]]:
    yield Begun([f"{name} begins", 0], name) if good else [f"{name} cannot be done", 0]
    yield [f"{name} half", 1]
    yield [f"{name} done", 2]


def test_a_request_alone_is_answered_whole_and_then_changes_nothing() -> None:
    answers = list(answers_in_turn(request, OUTPUTS, ("a", Turns())))
    assert [one for one, _ in answers[:-1]] == ["a begins", "a half", "a done"]
    assert answers[-1] == NOTHING, "Gradio sends the last answer twice; it must not carry anything"


def test_the_newest_request_wins_from_where_it_begins() -> None:
    turns = Turns()
    older = answers_in_turn(request, OUTPUTS, ("older", turns))
    assert next(older)[0] == "older begins"
    newer = answers_in_turn(request, OUTPUTS, ("newer", turns))
    assert next(older)[0] == "older half", "a request that waits has not begun"
    assert next(newer)[0] == "newer begins"
    assert list(older) == [NOTHING]
    assert [one for one, _ in list(newer)[:-1]] == ["newer half", "newer done"]


def test_a_request_that_cannot_be_done_stops_no_other() -> None:
    turns = Turns()
    older = answers_in_turn(request, OUTPUTS, ("older", turns))
    next(older)
    refused = answers_in_turn(lambda name: request(name, good=False), OUTPUTS, ("bad", turns))
    assert next(refused)[0] == "bad cannot be done"
    assert [one for one, _ in list(older)[:-1]] == ["older half", "older done"]


def test_an_outdated_request_stops_its_work() -> None:
    turns, closed = Turns(), []

    def long() -> Iterator[list[Any]]:
        try:
            yield Begun(["begins", 0])
            yield ["never shown", 1]
            yield ["never made", 2]
        finally:
            closed.append(True)

    older = answers_in_turn(long, OUTPUTS, (turns,))
    next(older)
    turns.take()
    assert list(older) == [NOTHING] and closed == [True]


def test_one_output_is_answered_without_a_list() -> None:
    assert list(answers_in_turn(lambda: iter_of("x"), ["one"], (Turns(),))) == ["x", gr.skip()]


def iter_of(value: object) -> Iterator[object]:
    yield value


def test_an_event_reaches_its_handler() -> None:
    def handler(first: str, event: gr.EventData) -> Iterator[list[Any]]:
        yield [first, event._data]

    run = Panel(OUTPUTS, turns=None).handler(handler)  # type: ignore[arg-type]
    assert next(run(SimpleNamespace(_data=7), "x", Turns())) == ["x", 7]
    assert next(iter(inspect.signature(run).parameters)) == "event"


def test_of_two_numbered_edits_the_later_wins_whichever_a_worker_begins_first() -> None:
    turns = Turns()
    run = Panel(OUTPUTS, turns=None).handler(lambda name, event: request(name))  # type: ignore[arg-type]
    later = run(event({"edit": 2}), "later", turns)
    assert next(later)[0] == "later begins"
    assert list(run(event({"edit": 1}), "earlier", turns)) == [NOTHING], "it began too late"
    assert [one for one, _ in list(later)[:-1]] == ["later half", "later done"]
    for data in ({}, {"edit": 3}, None, {"edit": "x"}, {"edit": -1}):
        assert next(run(event(data), "next", turns))[0] == "next begins", data


LIST_GENERATORS = """
import inspect
from components.page import build_page
for function in build_page().fns.values():
    if inspect.isgeneratorfunction(function.fn):
        print(function.fn.__module__, function.fn.__qualname__.split(".<locals>")[0])
"""


def test_every_handler_that_answers_more_than_once_goes_through_the_frame() -> None:
    """A panel that connects a generator by itself would undo what a visitor typed while it ended."""
    # In a process of its own: building the page leaves event loops behind, which are warnings here.
    listed = subprocess.run([sys.executable, "-c", LIST_GENERATORS], capture_output=True, text=True, check=True).stdout
    found = {tuple(line.split()) for line in listed.splitlines()}
    assert ("components.frame.turns", "Panel.handler") in found
    framed = {
        ("components.frame.turns", "Panel.handler"),
        ("components.frame.panel", "Page._while_open"),
        ("components.frame.turns", "Panel.catch_up"),
    }
    assert found <= framed, "connect it with components.frame.turns.Panel"


def test_catching_up_makes_nothing_twice() -> None:
    """The page's opening and its first tab both ask, at the same time and in either order."""
    turns = Turns()
    run, inputs, _ = Panel(OUTPUTS, turns=None).catch_up(request, ["name"], lambda name: name)  # type: ignore[arg-type]
    assert len(inputs) == 2
    first, second = run("a", turns), run("a", turns)
    assert next(first)[0] == "a begins"
    assert list(second) == [NOTHING], "it is being made already"
    assert [one for one, _ in list(first)[:-1]] == ["a half", "a done"], "the second did not stop the first"
    assert list(run("a", turns)) == [NOTHING], "it is there"
    list(answers_in_turn(lambda: request("b"), OUTPUTS, (turns,)))
    assert len(list(run("a", turns))) == 4, "something else is there now"


def test_a_closed_tab_catches_up_with_nothing() -> None:
    run, _, _ = Panel(OUTPUTS, turns=None).catch_up(request, ["name"], lambda name: None)  # type: ignore[arg-type]
    assert list(run("a", Turns())) == [NOTHING]


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch, tmp_path) -> ListenHandlers:
    """The Listen panel's handlers on an encoder of eight bands, whatever clip is asked for."""
    clip = tone_clip(1, 2.0, 4.0, duration=6.0)
    for module in (listen_handlers, listen_cut):
        monkeypatch.setattr(module, "load_encoder", lambda identifier: BandEncoder())
        monkeypatch.setattr(module, "clip_of", lambda view: clip)
    monkeypatch.setattr(listen_handlers, "localization_exports", lambda found, view: {})
    monkeypatch.setattr(listen_cut, "cut_exports", lambda experiment, view: {})
    return ListenHandlers(Parts(**dict.fromkeys(Parts.__dataclass_fields__)))  # type: ignore[arg-type]


def named(answer: list[Any]) -> dict[str, Any]:
    """What an answer changes, by name."""
    return {name: one for name, one in zip(Parts.__dataclass_fields__, answer, strict=True) if one != gr.skip()}


def event(data: object) -> Any:
    return SimpleNamespace(_data=data)


VIEW = ViewState(clip="x", query="band 1, no band 2", encoder="band")
CHIPS = {"chips": [{"text": "band 3", "polarity": "present"}]}


@pytest.mark.parametrize(
    "act",
    [
        lambda on: on.on_query(VIEW, "band 3"),
        lambda on: on.on_chips(VIEW, event(CHIPS)),
        lambda on: on.on_clip(VIEW, "y"),
        lambda on: on.on_window(VIEW, 4.0),
        lambda on: on.cutting.on_cut(VIEW),
        lambda on: on.show(VIEW),
    ],
    ids=["query", "chips", "clip", "window", "cut", "link"],
)
def test_what_a_visitor_may_change_is_answered_first_or_not_at_all(on: ListenHandlers, act: Any) -> None:
    first, *later = act(on)
    assert isinstance(first, Begun) and {"view", "address"} <= set(named(first))
    assert later, "the result comes after the acceptance"
    for answer in later:
        changed = set(named(answer))
        assert not changed & {"view", "address", "query", "clip", "window", "depth", "other"}, changed


@pytest.mark.parametrize(
    "act",
    [
        lambda on: on.on_query(VIEW, "band 3, no band 5"),
        lambda on: on.on_chips(VIEW, event(CHIPS)),
        lambda on: on.cutting.on_cut(VIEW),
        lambda on: on.show(VIEW.with_panel(ListenState, cut=True)),
    ],
    ids=["query", "chips", "cut", "link"],
)
def test_listen_parses_a_text_once(on: ListenHandlers, monkeypatch: pytest.MonkeyPatch, act: Any) -> None:
    parsed = counted_parses(monkeypatch)
    assert "headline" in named(list(act(on))[-1])
    assert len(parsed) == 1


def test_a_link_restores_the_cut(on: ListenHandlers) -> None:
    cut = named(next(iter(on.cutting.on_cut(VIEW))))
    assert "cut=1" in cut["address"] and cut["view"].panel(ListenState).cut
    restored, _ = view_from_link(dict(parse_qsl(cut["address"][1:])), PANELS, ("band",))
    listen = restored.panel(ListenState)
    assert listen.cut and listen.region == cut["view"].panel(ListenState).region
    headlines = [named(answer)["headline"] for answer in on.show(restored) if "headline" in named(answer)]
    assert "is found" in headlines[0] and headlines[-1].count("random cut") == 2


def test_another_query_clip_window_region_or_depth_is_not_the_cut_on_screen(on: ListenHandlers) -> None:
    view = VIEW.with_panel(ListenState, cut=True)
    answers = (
        on.on_query(view, "band 3"), on.on_chips(view, event(CHIPS)), on.on_clip(view, "y"), on.on_window(view, 4.0),
        [on.on_region(view, event({"start": 1.0, "end": 2.0}))], [on.on_depth(view, 100.0)],
        [on.cutting.on_cancel(view)],
    )  # fmt: skip
    for answer in answers:
        changed = named(next(iter(answer)))
        assert not changed["view"].panel(ListenState).cut and "cut=" not in changed["address"]


def test_what_was_said_of_a_clip_stays_with_it(on: ListenHandlers) -> None:
    for same, answers in ((True, on.on_query(VIEW, "band 3")), (False, on.on_clip(VIEW, "y"))):
        assert same != ({"clip_error", "shorten"} <= set(named(next(iter(answers)))))


def test_the_query_is_written_only_where_nobody_typed_it(on: ListenHandlers) -> None:
    assert named(next(iter(on.show(VIEW))))["query"] == VIEW.query
    for answers in (on.on_query(VIEW, "band 3"), on.on_chips(VIEW, event(CHIPS)), on.on_clip(VIEW, "y")):
        assert "query" not in named(next(iter(answers)))


def test_a_bad_query_is_a_sentence_and_changes_no_view(on: ListenHandlers) -> None:
    (answer,) = on.on_query(VIEW, "")
    assert set(named(answer)) == {"query_error", "stage"} and named(answer)["stage"] == {"waiting": ""}
