"""What the page shows, as one frozen value: what several panels use, and a state of each panel's own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeVar

from backend.checks import DEFAULT_SEED
from backend.collections.demo import demo_clips
from backend.negation import Concept, Query
from backend.retrieval.steering import DEFAULT_LAMBDA
from backend.settings import Settings
from components.frame.link_fields import LinkField

DEFAULT_QUERY = "a dog barking, no rain"


@dataclass(frozen=True)
class PanelState:
    """Base of what one panel alone has to remember: a frozen dataclass in which every field has its default.

    Attributes
    ----------
    link_fields : tuple of LinkField
        Which of its fields a link carries, and how.
    """

    link_fields: ClassVar[tuple[LinkField, ...]] = ()

    def for_another_query(self) -> Self:
        """What of it still means something once the query is another one."""
        return self

    def for_another_sound(self) -> Self:
        """What of it still means something once the sound is another one."""
        return self


State = TypeVar("State", bound=PanelState)


@dataclass(frozen=True)
class ViewState:
    """Everything that restores a view. Uploaded sounds are named, not linked: they stay on the visitor's side.

    Attributes
    ----------
    tab : str
        Id of the open panel.
    clip : str
        Id of a demo clip.
    upload : str
        Server path of the visitor's own sound, or empty; never part of a link.
    shorten : bool
        Take the first part of an upload that is too long.
    concepts : tuple of Concept or None
        The visitor's correction of the parsed query; None means: as parsed.
    strength : float
        Steering strength on Ask and Steer.
    panels : tuple of PanelState
        The panels' own states, those with nothing but defaults left out; see :meth:`panel`.
    """

    tab: str = "listen"
    clip: str = ""
    upload: str = ""
    shorten: bool = False
    query: str = DEFAULT_QUERY
    concepts: tuple[Concept, ...] | None = None
    encoder: str = Settings.encoder
    seed: int = DEFAULT_SEED
    strength: float = DEFAULT_LAMBDA
    panels: tuple[PanelState, ...] = ()

    def __post_init__(self) -> None:
        # One form for one view, so that equal views are equal whichever panel was used first.
        told = [state for state in self.panels if state != type(state)()]
        told.sort(key=lambda state: (type(state).__module__, type(state).__qualname__))
        object.__setattr__(self, "panels", tuple(told))

    def panel(self, kind: type[State]) -> State:
        """The state of one panel: ``view.panel(ListenState).region``."""
        return next((state for state in self.panels if type(state) is kind), kind())

    def with_panel(self, kind: type[PanelState], **changes: Any) -> ViewState:
        """The same view with some fields of one panel's state changed."""
        others = (state for state in self.panels if type(state) is not kind)
        return replace(self, panels=(*others, replace(self.panel(kind), **changes)))

    def with_query(self, query: str) -> ViewState:
        """The same view for another query; corrections of the old one do not carry over."""
        panels = tuple(state.for_another_query() for state in self.panels)
        return replace(self, query=query, concepts=None, panels=panels)

    def asking(self, query: Query) -> ViewState:
        """The same view of another query, with the visitor's correction of it if there is one."""
        return replace(self.with_query(query.text), concepts=query.concepts if query.edited else None)

    def with_clip(self, clip: str = "", upload: str = "", *, shorten: bool = False) -> ViewState:
        """The same view of another sound."""
        panels = tuple(state.for_another_sound() for state in self.panels)
        return replace(self, clip=clip, upload=upload, shorten=shorten, panels=panels)


def is_open(view: ViewState) -> bool:
    """Whether a link was read into it; not before the page is loaded, nor when the server has lost it."""
    return bool(view.clip or view.upload)


def first_clip() -> str:
    """Id of the demo clip a visitor meets first."""
    return demo_clips()[0].id
