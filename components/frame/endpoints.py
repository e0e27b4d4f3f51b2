"""Named endpoints for programs: declared by the panels, added to the page by the frame."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import gradio as gr

from backend.errors import InputError
from backend.settings import settings
from components.frame.panel import HEAVY

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Endpoint:
    """One question that the page answers to programs.

    Attributes
    ----------
    name : str
        Its name in the API.
    function : callable
        Answers it; see :func:`answers_in_words`.
    inputs, outputs : tuple of callables
        Each makes a component, whose label and value are the parameter's name and default.
    heavy : bool
        It runs an encoder, and shares the page's workers for that.
    """

    name: str
    function: Callable[..., Any]
    inputs: tuple[Callable[[], gr.components.Component], ...]
    outputs: tuple[Callable[[], gr.components.Component], ...]
    heavy: bool = True


def answers_in_words(function: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """Let an endpoint answer a wrong argument with the sentence of its InputError."""

    @functools.wraps(function)
    def answer(*arguments: Arguments.args, **named: Arguments.kwargs) -> Answer:
        try:
            return function(*arguments, **named)
        except InputError as error:
            raise gr.Error(str(error), print_exception=False) from None

    return answer


def a_text(label: str, value: str | None = None) -> Callable[[], gr.components.Component]:
    """A parameter that is a text."""
    return functools.partial(gr.Textbox, value, label=label)


def an_encoder() -> gr.components.Component:
    """The parameter that names an encoder."""
    return gr.Textbox(settings().encoder, label="encoder")


def a_number(label: str, value: float | None = None) -> Callable[[], gr.components.Component]:
    """A parameter that is a number."""
    return functools.partial(gr.Number, value, label=label)


def a_file(label: str) -> Callable[[], gr.components.Component]:
    """A parameter or an answer that is a file."""
    return functools.partial(gr.File, type="filepath", label=label)


def a_record(label: str = "record") -> Callable[[], gr.components.Component]:
    """An answer that is a JSON object."""
    return functools.partial(gr.JSON, label=label)


def add_endpoints(endpoints: Iterable[Endpoint]) -> None:
    """Add them to the page that is being built; nothing of them is drawn."""
    with gr.Column(visible=False):
        call = gr.Button()
        for endpoint in endpoints:
            inputs = [make() for make in endpoint.inputs]
            outputs = [make() for make in endpoint.outputs]
            more = HEAVY if endpoint.heavy else {}
            call.click(endpoint.function, inputs, outputs, api_name=endpoint.name, **more)
