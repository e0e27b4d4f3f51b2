"""Requests of one panel in turn: the newest wins, and nothing a visitor did meanwhile is undone."""

from __future__ import annotations

import contextlib
import inspect
import threading
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import gradio as gr

from components.frame.gradio_repairs import sent_by, unchanged

Entry = tuple[Callable[..., Any], list[Any], list[Any]]
"""A handler, its inputs and its outputs."""
_LOCK = threading.Lock()


class Begun(list[Any]):
    """First answer of a request that turned out to be good: an older one of the same panel is out of date from here.

    Attributes
    ----------
    key : hashable or None
        What the panel will show; :meth:`Panel.catch_up` does not begin the same again.
    """

    def __init__(self, answer: Sequence[Any], key: Hashable = None) -> None:
        super().__init__(answer)
        self.key = key

    def beside(self, *more: Any) -> Begun:
        """The same with further outputs behind it."""
        return Begun([*self, *more], self.key)


class Turns:
    """Which request of a panel is a visitor's newest; each visitor has their own in a ``gr.State``."""

    def __init__(self) -> None:
        self._newest = 0
        self._key: Hashable = None
        self._edit = 0

    def take(self, key: Hashable = None, edit: int = 0) -> int:
        """Become the newest; ``key`` says what will be shown.

        ``edit`` is the browser's number of the edit, 0 if it has none. Two workers may begin two edits in either
        order: one that is older than the last begun does not become the newest, and the answer is 0.
        """
        with _LOCK:
            if 0 < edit < self._edit:
                return 0
            self._edit = max(self._edit, edit)
            self._newest += 1
            self._key = key
            return self._newest

    def claim(self, key: Hashable) -> bool:
        """Whether nobody shows ``key`` yet; if so, the caller has to."""
        with _LOCK:
            free = self._key != key
            self._key = key
            return free

    def holds(self, turn: int) -> bool:
        """Whether no newer request has begun since."""
        return turn == self._newest


def answers_in_turn(
    function: Callable[..., Generator[Any]], outputs: Sequence[Any], inputs: Sequence[Any], edit: int = 0
) -> Iterator[Any]:
    """What a handler answers, until a newer request of the same panel begins; ``inputs`` end with the Turns.

    The last answer changes nothing: see :func:`components.frame.gradio_repairs.unchanged`.
    """
    *rest, turns = inputs
    turn: int | None = None
    with contextlib.closing(function(*rest)) as answered:
        for answer in answered:
            if isinstance(answer, Begun):
                turn = turns.take(answer.key, edit)
                if not turn:
                    break
            elif turn is not None and not turns.holds(turn):
                break
            yield answer
    yield unchanged(outputs)


def _edit_of(event: gr.EventData) -> int:
    """The number a browser gave an edit, from 1; 0 where it gave none."""
    sent = sent_by(event)
    edit = sent.get("edit") if isinstance(sent, dict) else None
    return edit if isinstance(edit, int) and edit > 0 else 0


@dataclass(frozen=True)
class Panel:
    """Connects a panel's events.

    Attributes
    ----------
    outputs : sequence of components
        What every handler of the panel answers.
    turns : gr.State of Turns
        Shared by the events that show results in the same place.
    """

    outputs: Sequence[Any]
    turns: gr.State = field(default_factory=lambda: gr.State(Turns()))

    def handler(self, function: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
        """``function`` in turn; it is given the panel's inputs and then ``turns``."""

        def run(*inputs: Any) -> Iterator[Any]:
            yield from answers_in_turn(function, self.outputs, inputs)

        def run_with_event(event: gr.EventData, *inputs: Any) -> Iterator[Any]:
            *rest, turns = inputs
            yield from answers_in_turn(
                lambda *given: function(*given, event), self.outputs, (*rest, turns), _edit_of(event)
            )

        return run_with_event if "event" in inspect.signature(function).parameters else run

    def on(self, triggers: Any, function: Callable[..., Any], inputs: Sequence[Any], **options: Any) -> Any:
        """Connect one trigger or several, ``[part.click, other.submit]``."""
        given = self.handler(function), [*inputs, self.turns], list(self.outputs)
        return gr.on(triggers, *given, **options) if isinstance(triggers, list) else triggers(*given, **options)

    def entry(self, function: Callable[..., Any], inputs: Sequence[Any]) -> Entry:
        """The same as (function, inputs, outputs), for the frame's ``keep_up``."""
        return self.handler(function), [*inputs, self.turns], list(self.outputs)

    def catch_up(self, function: Callable[..., Any], inputs: Sequence[Any], key: Callable[[Any], Hashable]) -> Entry:
        """An entry for the frame's ``on_open``, of page and tab, which may both fire: what is there is not made again.

        ``key`` says of the first input, the view, what the panel would show.
        """

        def run(*inputs: Any) -> Iterator[Any]:
            view, turns = inputs[0], inputs[-1]
            if turns.claim(key(view)):
                yield from answers_in_turn(function, self.outputs, inputs)
            else:
                yield unchanged(self.outputs)

        return run, [*inputs, self.turns], list(self.outputs)
