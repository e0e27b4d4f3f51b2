"""What a panel tells the page about itself. A new panel is one folder with one PANEL, and one line in page.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from components.frame.endpoints import Endpoint
from components.frame.link_fields import LinkField
from components.frame.panel import Page
from components.frame.view_state import PanelState


@dataclass(frozen=True)
class PanelSpec:
    """A panel of the page.

    Attributes
    ----------
    id : str
        Of its tab, in links and in the page.
    title : str
        What its tab says.
    build : callable
        Lays the panel out inside its tab and connects it; it may use what :class:`Page` offers.
    state : type of PanelState
        What the panel alone remembers in the view, with its defaults and its fields of a link.
    endpoints : tuple of Endpoint
        The questions it answers to programs.
    """

    id: str
    title: str
    build: Callable[[Page], None]
    state: type[PanelState] = PanelState
    endpoints: tuple[Endpoint, ...] = ()

    @property
    def link_fields(self) -> tuple[LinkField, ...]:
        """What the panel adds to a link."""
        return self.state.link_fields
