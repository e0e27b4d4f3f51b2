"""What the Ask panel alone remembers, and how a link says it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar
from urllib.parse import parse_qsl, urlencode

from backend.errors import InputError
from backend.evidence.localization import SoughtConcept
from backend.negation import parse_query
from components.frame.link_fields import LinkField, concepts_from_text, concepts_to_text
from components.frame.view_state import PanelState, ViewState

NO_PIN = "The pinned query in the link, “{text}”, cannot be read; nothing is pinned."


def pinned_query(pin: str) -> tuple[str, tuple[SoughtConcept, ...] | None]:
    """The query in a pin and the visitor's correction of it; raises ValueError where there is none to be asked."""
    values = dict(parse_qsl(pin))
    try:
        parse_query(values["q"])
    except (KeyError, InputError):
        raise ValueError(pin) from None
    return values["q"], concepts_from_text(values["c"]) if "c" in values else None


def _pin(text: str) -> str:
    if text:
        pinned_query(text)
    return text


@dataclass(frozen=True)
class AskState(PanelState):
    """The panel's part of a view.

    Attributes
    ----------
    pin : str
        The query whose result is kept for comparison, with the visitor's correction of it if there is
        one: a text that :func:`pinned_query` reads.
    """

    pin: str = ""

    link_fields: ClassVar[tuple[LinkField, ...]] = (LinkField("pin", ("pin",), _pin, refused=NO_PIN, longest=None),)


def pin_text(view: ViewState) -> str:
    """The view's query and its correction as one text for the link."""
    values = {"q": view.query}
    if view.concepts is not None:
        values["c"] = concepts_to_text(view.concepts)
    return urlencode(values)


def pinned_view(view: ViewState) -> ViewState | None:
    """The view whose query is pinned, or None; a pin that says nothing usable counts as none."""
    try:
        query, concepts = pinned_query(view.panel(AskState).pin)
    except ValueError:
        return None
    return replace(view.with_query(query), concepts=concepts)
