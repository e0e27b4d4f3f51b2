"""A page whose view the server no longer has: after a restart, or hours later, it opens again from its link.

The server keeps a view for two hours at most, and none over a restart; the page stays open longer. An event of
such a page would be answered for the default query, under chips and a query box that say another one.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr

from components.frame.gradio_repairs import unchanged, wrap_handlers
from components.frame.links import LOST
from components.frame.view_state import ViewState, is_open


def open_again_when_lost(page: gr.Blocks, view: gr.State, address: gr.HTML) -> None:
    """Let every event that reads the view and writes the address ask for a fresh page when the view is gone.

    Call it when all events are connected. Events before the page's link was read meet the same empty view; the
    browser ignores what they ask, since it was given no address yet.
    """

    def unless_lost(event: Any) -> Callable[..., Any] | None:
        if event.fn is None or view not in event.inputs or address not in event.outputs:
            return None
        return _unless_lost(event.fn, [LOST if part is address else gr.skip() for part in event.outputs])

    wrap_handlers(page, unless_lost)


def _unless_lost(function: Callable[..., Any], lost: list[Any]) -> Callable[..., Any]:
    """``function``, or the answer ``lost`` where the view it is given was never opened."""

    def is_lost(inputs: tuple[Any, ...]) -> bool:
        # Found by its type: Gradio puts an event's data before the inputs.
        return any(isinstance(given, ViewState) and not is_open(given) for given in inputs)

    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def steps(*inputs: Any, **special: Any) -> Iterator[Any]:
            if is_lost(inputs):
                yield lost
                yield unchanged(lost)
            else:
                yield from function(*inputs, **special)

        return steps

    @functools.wraps(function)
    def answer(*inputs: Any, **special: Any) -> Any:
        return lost if is_lost(inputs) else function(*inputs, **special)

    return answer
