"""What the Listen panel does: each event takes a view, returns a new one, and shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import gradio as gr

from backend import __version__
from backend.audio import Clip, Span, resampling_note
from backend.audio.decoding import TooLong
from backend.encoders.base import load_encoder
from backend.errors import InputError
from backend.evidence.cut import MAX_DEPTH_DB, USUAL_DEPTHS_DB
from backend.evidence.localization import Localization, localize_progressively
from components.frame.exports import localization_exports
from components.frame.gradio_repairs import sent_by
from components.frame.links import link
from components.frame.panel import refused_in
from components.frame.serving import loaded_clip
from components.frame.view_state import ViewState
from components.panels.listen import view as say
from components.panels.listen.cut import CutHandlers
from components.panels.listen.parts import (
    Parts,
    clip_of,
    cut_label,
    first_region,
    shown_key,
)
from components.panels.listen.stage_value import fitted, listen_stage
from components.panels.listen.state import ListenState
from components.stage.checks import selected_band, selected_region
from components.stage.view import pending_view
from components.widgets.chips import checked_chips, chips_value
from components.widgets.markup import error_box
from components.widgets.queries import query_of

OTHER_DEPTH = -1.0
"""The choice of a depth that shows a slider instead."""


class ListenHandlers:
    """The panel's events: each takes a view, returns a new one, and shows it."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.cutting = CutHandlers(parts)

    def show(self, view: ViewState, *, typed: bool = False, same_clip: bool = False) -> Iterator[list[Any]]:
        """Localise the view's query in its clip; curves appear as windows become ready, then its cut if it has one.

        Parameters
        ----------
        typed : bool
            The query's box is the visitor's; writing to it would lose what they typed since.
        same_clip : bool
            What was said about the clip stays.
        """
        answer = self.parts.answer
        box = {} if typed else {"query": view.query}
        refused = {} if typed else {**box, "cut": gr.Button(cut_label(None), interactive=False)}
        try:
            clip = clip_of(view)
        except InputError as error:
            yield answer(clip_error=error_box(error), stage=pending_view(), **refused)
            return
        try:
            query = query_of(view)
            encoder = load_encoder(view.encoder)
        except InputError as error:
            yield answer(query_error=error_box(error), stage=pending_view(), **refused)
            return
        view, said = fitted(view, clip)
        asked = view.panel(ListenState)
        notes = {} if same_clip else {"clip_error": say.clip_notes(clip.notes), "shorten": gr.Button(visible=False)}
        yield self._begun(view, chips_value(query), cut_error=error_box(said), **notes, **box)
        try:
            for found in localize_progressively(encoder, clip, query.concepts, asked.window):
                yield self._found_answer(view, clip, found, asked.region or first_region(found), encoder.sample_rate)
            if asked.cut:
                yield from self.cutting.steps(view)
        except InputError as error:
            yield answer(query_error=error_box(error), stage=pending_view())

    def _begun(self, view: ViewState, chips: dict[str, Any], **more: Any) -> list[Any]:
        """Everything that a view decides before anything is embedded."""
        asked = view.panel(ListenState)
        return self.parts.begin(
            shown_key(view),
            view=view,
            address=link(view),
            chips=chips,
            query_error="",
            clip=None if view.upload else view.clip,
            window=asked.window,
            depth=asked.depth if asked.depth in USUAL_DEPTHS_DB else OTHER_DEPTH,
            other=gr.Slider(value=asked.depth, visible=asked.depth not in USUAL_DEPTHS_DB),
            cut=gr.Button(cut_label(asked.region), interactive=False),
            stop=gr.Button(visible=False),
            wav=gr.DownloadButton(value=None, interactive=False),
            stage=pending_view("Embedding windows"),
            **more,
        )

    def _found_answer(
        self, view: ViewState, clip: Clip, found: Localization, region: Span, encoder_rate: int
    ) -> list[Any]:
        return self.parts.answer(
            stage=listen_stage(
                found,
                region=region,
                band=view.panel(ListenState).band,
                pending=None if found.complete else "Embedding windows",
            ),
            headline=say.found_sentence(found),
            table=say.evidence_table(found),
            how=say.how_computed(found, view.seed, __version__, resampling_note(clip, encoder_rate)),
            cut=gr.Button(cut_label(region), interactive=found.complete),
            **localization_exports(found, view),
        )

    def on_query(self, view: ViewState, text: str) -> Iterator[list[Any]]:
        """A typed query."""
        yield from self.show(view.with_query(text), typed=True, same_clip=True)

    @refused_in("query_error")
    def on_chips(self, view: ViewState, event: gr.EventData) -> Iterator[list[Any]]:
        """The visitor's correction of the split; it always wins."""
        view = replace(view.with_query(view.query), concepts=checked_chips(sent_by(event)))
        yield from self.show(view, typed=True, same_clip=True)

    def on_clip(self, view: ViewState, clip: str | None) -> Iterator[list[Any]]:
        """Another demo clip."""
        if clip:
            yield from self.show(view.with_clip(clip=clip), typed=True)

    def on_upload(self, view: ViewState, path: str | None) -> Iterator[list[Any]]:
        """The visitor's own sound; a bad file leaves everything as it was."""
        if not path:
            return
        yield self.parts.answer(stage=pending_view("Reading the sound"))
        try:
            loaded_clip(path)
        except TooLong as error:
            yield self.parts.answer(
                stage=pending_view(),
                clip_error=error_box(error),
                shorten=gr.Button(f"Use the first {error.limit_seconds / 60:g} minutes", visible=True),
            )
            return
        except InputError as error:
            hidden = gr.Button(visible=False)
            yield self.parts.answer(stage=pending_view(), clip_error=error_box(error), shorten=hidden)
            return
        yield from self.show(view.with_clip(upload=path), typed=True)

    def on_shorten(self, view: ViewState, path: str | None) -> Iterator[list[Any]]:
        """The first part of a sound that is too long."""
        if path:
            yield from self.show(view.with_clip(upload=path, shorten=True), typed=True)

    def on_window(self, view: ViewState, window: float) -> Iterator[list[Any]]:
        """Another window length."""
        view = view.with_panel(ListenState, window=float(window), region=None, cut=False)
        yield from self.show(view, typed=True, same_clip=True)

    def on_depth(self, view: ViewState, chosen: float) -> list[Any]:
        """One of the usual depths, or the slider for another; used by the next cut."""
        if chosen == OTHER_DEPTH:
            return self.parts.answer(other=gr.Slider(value=view.panel(ListenState).depth, visible=True))
        return self.on_other_depth(view, chosen, visible=False)

    def on_other_depth(self, view: ViewState, depth: float, visible: bool = True) -> list[Any]:
        """A depth in dB; whatever came is brought into range."""
        kept = min(max(float(depth), 0.0), MAX_DEPTH_DB)
        view = view.with_panel(ListenState, depth=kept, cut=False)
        other = gr.Slider(visible=visible) if kept == depth else gr.Slider(value=kept, visible=visible)
        return self.parts.answer(view=view, address=link(view), other=other)

    @refused_in("cut_error")
    def on_region(self, view: ViewState, event: gr.EventData) -> list[Any]:
        """A region dragged on the stage."""
        region = selected_region(sent_by(event), clip_of(view).duration)
        view = view.with_panel(ListenState, region=region, cut=False)
        return self.parts.answer(view=view, address=link(view), cut=gr.Button(cut_label(region)), cut_error="")

    @refused_in("cut_error")
    def on_band(self, view: ViewState, event: gr.EventData) -> list[Any]:
        """A frequency band chosen on the stage."""
        band = selected_band(sent_by(event), clip_of(view).sample_rate)
        view = view.with_panel(ListenState, band=band, cut=False)
        return self.parts.answer(view=view, address=link(view), cut_error="")
