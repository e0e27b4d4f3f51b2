"""What the Ask panel alone remembers, and how a link says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from backend.negation import Query, query_from_text, query_to_text
from components.frame.link_fields import LinkField
from components.frame.view_state import PanelState

NO_PIN = "The pinned query in the link, “{text}”, cannot be read; nothing is pinned."


@dataclass(frozen=True)
class AskState(PanelState):
    """The panel's part of a view.

    Attributes
    ----------
    pin : Query or None
        The query whose result is kept for comparison, as the visitor corrected it.
    """

    pin: Query | None = None
    link_fields: ClassVar[tuple[LinkField, ...]] = (
        LinkField(
            "pin", ("pin",), lambda text: query_from_text(text) if text else None,
            write=lambda pin: (query_to_text(pin),), refused=NO_PIN, longest=None,
        ),
    )  # fmt: skip
