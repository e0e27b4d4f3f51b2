"""What a panel may use of the page around it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

import gradio as gr

from backend.errors import InputError
from components.frame.gradio_repairs import unchanged
from components.frame.turns import Begun, Entry, Panel
from components.frame.view_state import ViewState, is_open
from components.widgets.markup import error_box

HEAVY: dict[str, Any] = {"concurrency_id": "embedding", "concurrency_limit": 2}
"""Events that run an encoder share two workers; two cores gain nothing from more."""
PRIVATE: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
"""Events of the page itself: no part of the API, and without Gradio's own veil over what is still shown."""


def result_line(elem_id: str, min_height: int = 64) -> gr.HTML:
    """The sentences a panel's result opens with; a screen reader says them when they change."""
    spoken = "element.setAttribute('role', 'status'); element.setAttribute('aria-live', 'polite');"
    return gr.HTML("", js_on_load=spoken, elem_id=elem_id, elem_classes="result", min_height=min_height)


class PanelParts:
    """Base of a panel's dataclass of components, in the order its handlers answer."""

    def all(self) -> list[Any]:
        """Every output, in order."""
        return list(self.__dict__.values())

    def answer(self, **changes: Any) -> list[Any]:
        """One answer to the page: what is named changes, everything else stays."""
        return [changes.get(name, gr.skip()) for name in self.__dict__]

    def begin(self, key: Hashable = None, **changes: Any) -> Begun:
        """The answer that accepts a request, before its work: the new view belongs here and in no later answer.

        A visitor may change the view while the work goes on; a view answered late would undo that. ``key`` says
        what of the view decides what will be shown.
        """
        return Begun(self.answer(**changes), key)


def refused_in(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let a panel's handler say in the part of this name why it refuses what a visitor gave."""

    def decorated(handler: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isgeneratorfunction(handler):

            @functools.wraps(handler)
            def steps(self: Any, *given: Any, **named: Any) -> Iterator[list[Any]]:
                try:
                    yield from handler(self, *given, **named)
                except InputError as error:
                    yield self.parts.answer(**{name: error_box(error)})

            return steps

        @functools.wraps(handler)
        def answer(self: Any, *given: Any, **named: Any) -> list[Any]:
            try:
                return handler(self, *given, **named)
            except InputError as error:
                return self.parts.answer(**{name: error_box(error)})

        return answer

    return decorated


@dataclass
class Page:
    """The shared parts of the page.

    Attributes
    ----------
    view : gr.State of ViewState
        What the page shows. A handler takes it, returns a new one and its link.
    address : gr.HTML
        Give it ``link(view)`` and the address bar follows.
    encoder : gr.Dropdown
        The picked encoder's id; handlers read ``view.encoder``, which follows it.
    tabs : gr.Tabs
        ``gr.Tabs(selected="listen")`` switches.
    building : str
        Id of the panel that is being built.
    open_listen : callable or None
        Set by the Listen panel: (view) -> iterator of its outputs; others use it with ``listen_panel``
        to open a sound there with the same query.
    on_open : dict of str to Entry
        By panel, what is called when its tab is opened, or the page with that tab. See :meth:`keep_up`.
    on_encoder : list of Entry
        What is called when the encoder changes. See :meth:`follow_encoder`.
    """

    view: gr.State
    address: gr.HTML
    encoder: gr.Dropdown
    tabs: gr.Tabs
    building: str = ""
    open_listen: Callable[[ViewState], Iterator[list[Any]]] | None = None
    listen_panel: Panel | None = None
    on_open: dict[str, Entry] = field(default_factory=dict)
    on_encoder: list[Entry] = field(default_factory=list)

    def keep_up(self, opened: Entry, encoder: Entry | None = None) -> None:
        """Let the panel that is being built follow what happens elsewhere; its handler's first input is the view.

        ``encoder`` is called instead of ``opened`` where the encoder changes.
        """
        self.on_open[self.building] = self._while_open(opened)
        self.follow_encoder(encoder or opened)

    def follow_encoder(self, entry: Entry) -> None:
        """Call this part of the panel that is being built when the encoder changes."""
        self.on_encoder.append(self._while_open(entry))

    def _while_open(self, entry: Entry) -> Entry:
        """The same, only while the panel is open; it catches up when its tab is opened."""
        identifier, (function, inputs, outputs) = self.building, entry

        def run(view: ViewState, *rest: Any) -> Iterator[Any]:
            if view.tab == identifier and is_open(view):
                yield from function(view, *rest)
            else:
                yield unchanged(outputs)

        return run, inputs, outputs
