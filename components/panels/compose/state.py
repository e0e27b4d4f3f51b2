"""What the Compose panel alone remembers, and how a link says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from components.frame.link_fields import LinkField
from components.frame.view_state import PanelState


@dataclass(frozen=True)
class ComposeState(PanelState):
    """The panel's part of a view.

    Attributes
    ----------
    selection : str
        The sounds of the opened combination, ";" between them.
    """

    selection: str = ""

    link_fields: ClassVar[tuple[LinkField, ...]] = (LinkField("selection", ("selection",), str, "text"),)
