"""What the Ask panel does: each event takes a view, returns a new one, and shows it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import gradio as gr

from backend.encoders.base import load_encoder
from backend.errors import InputError
from backend.negation import Query
from backend.retrieval.scoring import score_query
from backend.retrieval.search import SearchResult
from backend.retrieval.steering import checked_lambda
from components.frame.gradio_repairs import sent_by
from components.frame.links import link
from components.frame.panel import PanelParts, refused_in
from components.frame.view_state import ViewState
from components.panels.ask import view as say
from components.panels.ask.collection import check_own, demo_collection, embedding_steps, is_own, with_own
from components.panels.ask.state import AskState
from components.widgets.chips import checked_chips, chips_value
from components.widgets.markup import error_box
from components.widgets.queries import asked_key, query_of

EXAMPLES = (
    "birds singing without rain",
    "thunder, no rain",
    "a dog barking, no birds",
    "people talking but no laughter",
)


@dataclass
class Parts(PanelParts):
    """The panel's components, in the order its handlers answer."""

    view: gr.State
    own: gr.State
    address: gr.HTML
    query: gr.Textbox
    chips: gr.HTML
    error: gr.HTML
    headline: gr.HTML
    board: gr.HTML
    own_said: gr.HTML
    how: gr.HTML


@lru_cache(maxsize=32)
def _asked(query: Query, encoder_id: str, weights: str, own: tuple[str, ...], strength: float) -> SearchResult:
    """Score one query; kept, so that moving the slider embeds and scores nothing again."""
    return replace(_scored(query, encoder_id, weights, own), strength=strength)


@lru_cache(maxsize=32)
def _scored(query: Query, encoder_id: str, weights: str, own: tuple[str, ...]) -> SearchResult:
    encoder = load_encoder(encoder_id)
    demo = demo_collection(encoder)
    labelled = score_query(demo, encoder, query)
    scores = score_query(with_own(demo, encoder, own), encoder, query) if own else labelled
    return SearchResult(scores, labelled=labelled)


def ask(view: ViewState, own: tuple[str, ...] = ()) -> SearchResult:
    """The rankings of a view's query over the demo clips and a visitor's own. Raises InputError."""
    encoder = load_encoder(view.encoder)
    return _asked(query_of(view), encoder.id, encoder.weights, own, view.strength)


class AskHandlers:
    """The panel's events."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    @refused_in("error")
    def show(
        self, view: ViewState, own: tuple[str, ...], *, typed: bool = False, here: bool = True, **more: Any
    ) -> Iterator[list[Any]]:
        """Rank the view's query; the first time with an encoder the clips are embedded, which is said.

        Parameters
        ----------
        typed : bool
            The visitor wrote the query here: its box is theirs.
        here : bool
            The request changes the view; False where it only catches up with it.
        more : outputs to be answered with the result
        """
        answer = self.parts.answer
        box = {} if typed else {"query": view.query}
        try:
            query = query_of(view)
            encoder = load_encoder(view.encoder)
        except InputError as error:
            yield answer(error=error_box(error), **box)
            return
        place = {"view": view, "own": own, "address": link(view)} if here else {}
        yield self.parts.begin(asked_key(view), chips=chips_value(query), error="", **place, **box)
        for said in embedding_steps(encoder):
            yield answer(headline=f'<p class="headline pending">{said} …</p>')
        asked = ask(view, own)
        board = say.board_value(asked, self._pinned(view, own))
        yield answer(headline=say.headline(asked), board=board, how=say.how_computed(asked), **more)

    def _pinned(self, view: ViewState, own: tuple[str, ...]) -> SearchResult | None:
        kept = view.panel(AskState).pin
        try:
            return ask(view.asking(kept), own) if kept else None
        except InputError:
            return None

    def on_open(self, view: ViewState, own: tuple[str, ...]) -> Iterator[list[Any]]:
        """The tab was opened: catch up with what another panel asked."""
        yield from self.show(view, own, here=False)

    def on_query(self, view: ViewState, own: tuple[str, ...], text: str) -> Iterator[list[Any]]:
        """A typed query."""
        yield from self.show(view.with_query(text), own, typed=True)

    def on_example(self, view: ViewState, own: tuple[str, ...], text: str) -> Iterator[list[Any]]:
        """A picked query."""
        yield from self.show(view.with_query(text), own)

    @refused_in("error")
    def on_chips(self, view: ViewState, own: tuple[str, ...], event: gr.EventData) -> Iterator[list[Any]]:
        """The visitor's correction of the split; it always wins."""
        yield from self.show(replace(view, concepts=checked_chips(sent_by(event))), own, typed=True)

    @refused_in("error")
    def on_strength(self, view: ViewState, own: tuple[str, ...], event: gr.EventData) -> list[Any]:
        """The slider moved: nothing is embedded, three dot products per clip are combined anew."""
        view = replace(view, strength=_strength(sent_by(event)))
        asked = ask(view, own)
        board = say.board_value(asked, self._pinned(view, own))
        return self.parts.answer(view=view, address=link(view), error="", board=board, headline=say.headline(asked))

    @refused_in("error")
    def on_pin(self, view: ViewState, own: tuple[str, ...]) -> Iterator[list[Any]]:
        """Keep this query's counts beside the next one's."""
        yield from self.show(view.with_panel(AskState, pin=query_of(view)), own, typed=True)

    def on_unpin(self, view: ViewState, own: tuple[str, ...]) -> Iterator[list[Any]]:
        """Forget the kept result."""
        yield from self.show(view.with_panel(AskState, pin=None), own, typed=True)

    def on_swap(self, view: ViewState, own: tuple[str, ...]) -> Iterator[list[Any]]:
        """Back to the pinned query, with the present one pinned."""
        kept, present = view.panel(AskState).pin, None
        if kept is None:
            yield self.parts.answer()
            return
        with contextlib.suppress(InputError):  # a link may bring a text that nobody can ask: nothing is pinned then
            present = query_of(view)
        yield from self.show(view.asking(kept).with_panel(AskState, pin=present), own)

    @refused_in("own_said")
    def on_upload(self, view: ViewState, own: tuple[str, ...], path: str | None) -> Iterator[list[Any]]:
        """One more own sound; a bad file leaves everything as it was."""
        if not path:
            yield self.parts.answer()
            return
        own = check_own(own, path)
        count = "Your sound is" if len(own) == 1 else f"Your {len(own)} sounds are"
        said = f'<p class="note">{count} ranked with the others, on this page only: the link does not carry them.</p>'
        yield from self.show(view, own, typed=True, own_said=said)

    def on_forget(self, view: ViewState, own: tuple[str, ...]) -> Iterator[list[Any]]:
        """Rank the demo clips alone again."""
        yield from self.show(view, (), typed=True, own_said="")

    def chosen(self, view: ViewState, own: tuple[str, ...], sent: Any) -> ViewState | None:
        """The view that shows a clicked hit in Listen, or None when the browser names no clip."""
        index = sent.get("index") if isinstance(sent, dict) else None
        try:
            collection = ask(view, own).scores.collection
        except InputError:
            return None
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(collection):
            return None
        view = replace(view, tab="listen")
        path = collection.paths[index]
        if is_own(collection.ids[index]) and path is not None:
            return view.with_clip(upload=str(path))
        return view.with_clip(clip=collection.ids[index])


def _strength(sent: Any) -> float:
    """The steering strength that the browser sent. Raises InputError."""
    return round(checked_lambda(sent.get("lambda") if isinstance(sent, dict) else None), 3)
