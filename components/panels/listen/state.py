"""What the Listen panel alone remembers, and how a link says it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from backend.audio import WINDOW_SECONDS, Span, checked_window_choice
from backend.evidence.cut import DEFAULT_DEPTH_DB, checked_depth, checked_region
from backend.evidence.frequency_band import checked_band
from components.frame.link_fields import LinkField, number, spelled, switch
from components.frame.view_state import PanelState


def _region(start: str, end: str) -> Span:
    return checked_region(spelled(start), spelled(end))


def _band(text: str) -> tuple[float, float] | None:
    low, high = map(spelled, text.split("-"))
    return checked_band((low, high))


@dataclass(frozen=True)
class ListenState(PanelState):
    """The panel's part of a view.

    Attributes
    ----------
    window : float
        Length of a window in seconds.
    depth : float
        Positive dB of a cut, as in science section 2.
    region : Span or None
        What is selected; None: the best window.
    band : (float, float) or None
        Selected frequencies in Hz; None: all.
    cut : bool
        Whether the region's cut is shown.
    """

    window: float = WINDOW_SECONDS
    depth: float = DEFAULT_DEPTH_DB
    region: Span | None = None
    band: tuple[float, float] | None = None
    cut: bool = False

    link_fields: ClassVar[tuple[LinkField, ...]] = (
        LinkField("window", ("window",), number(checked_window_choice)),
        LinkField("depth", ("depth",), number(checked_depth)),
        LinkField("cut", ("cut",), switch, "0 or 1", write=lambda _: ("1",)),
        LinkField(
            "region", ("start", "end"), _region, refused="{error} The link's region is left out.",
            write=lambda region: (f"{region.start:.3f}", f"{region.end:.3f}"),
        ),
        LinkField("band", ("band",), _band, "like 300-3000 (Hz)", write=lambda band: (f"{band[0]:g}-{band[1]:g}",)),
    )  # fmt: skip

    def for_another_query(self) -> Self:
        """A region and its cut belong to the query that they were chosen for."""
        return replace(self, region=None, cut=False)

    def for_another_sound(self) -> Self:
        """A region of the old sound means nothing in the new one."""
        return replace(self, region=None, cut=False)
