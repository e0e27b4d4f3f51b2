"""A view as a link, and a link as a view.

The address bar carries parameters, never a server snapshot, so a link means the same on every
machine. Whatever a link says is checked; a bad parameter falls back to its default with a notice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

import gradio as gr

from backend.checks import checked_seed
from backend.collections.demo import demo_clips
from backend.files import asset_text
from backend.negation import concepts_from_text, concepts_to_text
from backend.retrieval.steering import checked_lambda
from components.frame.link_fields import LinkField, number, one_of
from components.frame.panel_spec import PanelSpec
from components.frame.view_state import PanelState, ViewState, first_clip

LOST = "lost"
"""Given to the address where the server no longer has the view: the browser opens its link again."""
OWN_SOUND = "The link is of a visitor's own sound, which no link carries; a demo sound is shown instead."


def address() -> gr.HTML:
    """An invisible component: the query string it is given becomes the address bar's."""
    script = asset_text("frame/address.js")
    return gr.HTML("", html_template="<span hidden></span>", js_on_load=script, elem_classes="address")


def _no_own_sound(text: str) -> str:
    raise ValueError(text)


def shared_fields(tabs: Sequence[str] = (), encoders: Sequence[str] = ()) -> tuple[LinkField, ...]:
    """The fields that several panels use; what a link may name is needed only to read one."""
    clips = tuple(record.id for record in demo_clips())
    return (
        LinkField("tab", ("tab",), one_of(tabs), "one of " + ", ".join(tabs)),
        LinkField("upload", ("own",), _no_own_sound, write=lambda _: ("1",), refused=OWN_SOUND),
        LinkField("clip", ("clip",), one_of(clips), "the id of a demo clip"),
        LinkField("query", ("query",), str, "text", always=True),
        LinkField(
            "concepts", ("concepts",), concepts_from_text, longest=None,
            write=lambda concepts: (concepts_to_text(concepts),),
        ),
        LinkField("encoder", ("encoder",), one_of(encoders), "one of " + ", ".join(encoders)),
        LinkField("strength", ("lambda",), number(checked_lambda)),
        LinkField("seed", ("seed",), number(checked_seed)),
    )  # fmt: skip


def link(view: ViewState) -> str:
    """The query string that restores this view, "?clip=...&query=...". Defaults are left out."""
    values: dict[str, str] = {}
    for state, fields in ((view, shared_fields()), *((state, state.link_fields) for state in view.panels)):
        for field in fields:
            values |= field.written(state)
    return "?" + urlencode(values, quote_via=quote)


def view_from_link(
    parameters: Mapping[str, str], panels: Sequence[PanelSpec], encoders: Sequence[str]
) -> tuple[ViewState, list[str]]:
    """The view a link asks for, and a notice for every parameter that could not be used.

    Parameters
    ----------
    parameters : mapping of str to str
        The query parameters as they came.
    panels : sequence of PanelSpec
        The page's panels: their tabs and what their states add to a link.
    encoders : sequence of str
        Ids known to the registry.
    """
    notices: list[str] = []
    tabs = tuple(panel.id for panel in panels)
    values = _read(shared_fields(tabs, encoders), parameters, notices)
    states: list[PanelState] = []
    for panel in panels:
        states.append(panel.state(**_read(panel.link_fields, parameters, notices)))
    return replace(ViewState(clip=first_clip(), panels=tuple(states)), **values), notices


def _read(fields: Sequence[LinkField], parameters: Mapping[str, str], notices: list[str]) -> dict[str, Any]:
    """The fields that a link has and that can be read, by attribute; a notice for each that cannot."""
    values = {}
    for field in fields:
        if not any(name in parameters for name in field.names):
            continue
        texts = [parameters.get(name, "")[: field.longest] for name in field.names]
        try:
            values[field.attribute] = field.read(*texts)
        except ValueError as error:
            notices.append(field.notice(texts, error))
    return values
