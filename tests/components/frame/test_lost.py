"""A view that the server has lost is opened again from the link, and answered for by no event."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from components.frame.links import LOST
from components.frame.lost import _unless_lost
from components.frame.view_state import ViewState, first_clip

ASK_EVERY_EVENT = """
import inspect
from components.page import build_page
from components.frame.view_state import ViewState
for event in build_page().fns.values():
    views = [isinstance(part.value, ViewState) for part in event.inputs]
    addresses = [n for n, part in enumerate(event.outputs) if "address" in (part.elem_classes or [])]
    if any(views) and addresses:
        answer = event.fn(*(ViewState() if one else None for one in views))
        first = next(iter(answer)) if inspect.isgenerator(answer) else answer
        print(event.name, first[addresses[0]])
    elif addresses and event.fn:
        print(event.name, "blind")
"""
BLIND = {"on_files", "on_stop"}
"""They write downloads and hide a button: nothing is answered for a view. Every other event is given it."""


def test_no_event_of_the_page_answers_for_a_view_that_is_gone() -> None:
    # In a process of its own: building the page leaves event loops behind, which are warnings here.
    command = [sys.executable, "-c", ASK_EVERY_EVENT]
    asked = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(asked) > 20
    answers = {
        (name, said) for name, said in map(str.split, asked) if (name, said) not in {(n, "blind") for n in BLIND}
    }
    assert {said for _, said in answers} == {LOST}, answers


def test_a_view_that_is_there_is_answered_as_before() -> None:
    view = replace(ViewState(), clip=first_clip())
    plain = _unless_lost(lambda view, number: [view, number], [LOST, LOST])
    assert plain(view, 3) == [view, 3]
    assert plain(ViewState(), 3) == [LOST, LOST]
    assert _unless_lost(lambda event, view: view, [LOST])("event", ViewState()) == [LOST], "an event's data comes first"

    def steps(view: ViewState) -> Iterator[Any]:
        yield view
        yield "done"

    assert list(_unless_lost(steps, [LOST])(view)) == [view, "done"]
    assert next(_unless_lost(steps, [LOST])(ViewState())) == [LOST]
