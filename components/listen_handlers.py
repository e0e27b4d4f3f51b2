"""What the Listen panel does: each event takes a view, returns a new one, and shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from backend import __version__
from backend.audio import Clip, Span, resampling_note
from backend.controls import CutExperiment, CutStep, cut_steps
from backend.decoding import TooLong
from backend.demo import demo_clip, demo_clips
from backend.encoders.base import load_encoder
from backend.errors import InputError
from backend.localization import Localization, SoughtConcept, localize_progressively
from backend.results import sought_concepts
from components import listen_view as say
from components.chips import checked_chips, chips_value
from components.exports import cut_exports, localization_exports
from components.frame import PanelParts
from components.listen_stage import fitted, listen_stage
from components.serving import loaded_clip
from components.stage import checked_band, checked_region
from components.stage_view import pending_view
from components.state import DEEPEST_CUT, ViewState, link

USUAL_DEPTHS, OTHER_DEPTH = (40.0, 100.0), -1.0
"""Depths of the papers in dB, and the choice that shows a slider instead."""
PRIVATE: dict[str, Any] = {"api_visibility": "private"}

ShownKey = tuple[Any, ...]


def shown_key(view: ViewState) -> ShownKey:
    """What of a view decides the evidence on screen."""
    return (view.clip, view.upload, view.shorten, view.query, view.concepts, view.encoder, view.window)


def wanted(view: ViewState) -> ShownKey | None:
    """The same while this panel is open, else None."""
    return shown_key(view) if view.tab == "listen" else None


@dataclass
class Parts(PanelParts):
    """The panel's components, in the order its handlers answer."""

    view: gr.State
    address: gr.HTML
    query: gr.Textbox
    chips: gr.HTML
    query_error: gr.HTML
    clip: gr.Dropdown
    clip_error: gr.HTML
    stage: gr.HTML
    headline: gr.HTML
    table: gr.HTML
    how: gr.HTML
    window: gr.Radio
    depth: gr.Radio
    other: gr.Slider
    cut: gr.Button
    stop: gr.Button
    shorten: gr.Button
    cut_error: gr.HTML
    wav: gr.DownloadButton
    csv: gr.DownloadButton
    json: gr.DownloadButton


def clip_of(view: ViewState) -> Clip:
    """The sound a view shows; raises InputError when it cannot be decoded."""
    if view.upload:
        return loaded_clip(view.upload, shorten=view.shorten)
    return loaded_clip(demo_clip(view.clip).path)


def concepts_of(view: ViewState) -> tuple[SoughtConcept, ...]:
    """The visitor's correction if there is one, else the parsed query."""
    return view.concepts if view.concepts is not None else sought_concepts(view.query)


def clip_choices() -> list[tuple[str, str]]:
    """Demo clips for the picker, scenes first."""
    return [(record.caption, record.id) for record in demo_clips()]


def cut_label(region: Span | None) -> str:
    """The cut button says what it will do."""
    return f"Cut {region.start:.2f}–{region.end:.2f} s" if region else "Cut the best window"


def first_region(found: Localization) -> Span:
    """The region a new result offers for cutting: the best window of its first concept."""
    return found.evidence[0].best


class ListenHandlers:
    """The panel's events: each takes a view, returns a new one, and shows it."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    def show(self, view: ViewState, *, typed: bool = False) -> Iterator[list[Any]]:
        """Localise the view's query in its clip; curves appear as windows become ready.

        The query's box is written only where the visitor did not type: what they typed since would be lost.
        """
        answer = self.parts.answer
        box = {} if typed else {"query": view.query}
        try:
            clip = clip_of(view)
        except InputError as error:
            yield answer(clip_error=say.error_box(str(error)), stage=pending_view(), **box)
            return
        try:
            concepts = concepts_of(view)
            chips = chips_value(view.query, view.concepts)
            encoder = load_encoder(view.encoder)
        except InputError as error:
            yield answer(query_error=say.error_box(str(error)), stage=pending_view(), **box)
            return
        view, said = fitted(view, clip)
        yield self._begun(view, clip, chips, cut_error=say.error_box(said), **box)
        try:
            for found in localize_progressively(encoder, clip, concepts, view.window):
                yield self._found_answer(view, clip, found, view.region or first_region(found), encoder.sample_rate)
        except InputError as error:
            yield answer(query_error=say.error_box(str(error)), stage=pending_view())

    def _begun(self, view: ViewState, clip: Clip, chips: dict[str, Any], **more: Any) -> list[Any]:
        """Everything that a view decides before anything is embedded."""
        return self.parts.begin(
            shown_key(view),
            view=view,
            address=link(view),
            chips=chips,
            query_error="",
            clip=None if view.upload else view.clip,
            clip_error=say.clip_notes(clip.notes),
            shorten=gr.Button(visible=False),
            window=view.window,
            depth=view.depth if view.depth in USUAL_DEPTHS else OTHER_DEPTH,
            other=gr.Slider(value=view.depth, visible=view.depth not in USUAL_DEPTHS),
            cut=gr.Button(cut_label(view.region), interactive=False),
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
                found, region=region, band=view.band, pending=None if found.complete else "Embedding windows"
            ),
            headline=say.found_sentence(found),
            table=say.evidence_table(found),
            how=say.how_computed(found, view.seed, __version__, resampling_note(clip, encoder_rate)),
            cut=gr.Button(cut_label(region), interactive=found.complete),
            **localization_exports(found, view),
        )

    def on_query(self, view: ViewState, text: str) -> Iterator[list[Any]]:
        """A typed query."""
        yield from self.show(view.with_query(text), typed=True)

    def on_chips(self, view: ViewState, event: gr.EventData) -> Iterator[list[Any]]:
        """The visitor's correction of the split; it always wins."""
        try:
            concepts = checked_chips(event._data)
        except InputError as error:
            yield self.parts.answer(query_error=say.error_box(str(error)))
            return
        yield from self.show(replace(view, concepts=concepts, region=None), typed=True)

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
                clip_error=say.error_box(str(error)),
                shorten=gr.Button(f"Use the first {error.limit_seconds / 60:g} minutes", visible=True),
            )
            return
        except InputError as error:
            refused = say.error_box(str(error))
            yield self.parts.answer(stage=pending_view(), clip_error=refused, shorten=gr.Button(visible=False))
            return
        yield from self.show(view.with_clip(upload=path), typed=True)

    def on_shorten(self, view: ViewState, path: str | None) -> Iterator[list[Any]]:
        """The first part of a sound that is too long."""
        if path:
            yield from self.show(view.with_clip(upload=path, shorten=True), typed=True)

    def on_window(self, view: ViewState, window: float) -> Iterator[list[Any]]:
        """Another window length."""
        yield from self.show(replace(view, window=float(window), region=None), typed=True)

    def on_depth(self, view: ViewState, chosen: float) -> list[Any]:
        """One of the usual depths, or the slider for another; used by the next cut."""
        if chosen == OTHER_DEPTH:
            return self.parts.answer(other=gr.Slider(value=view.depth, visible=True))
        return self.on_other_depth(view, chosen, visible=False)

    def on_other_depth(self, view: ViewState, depth: float, visible: bool = True) -> list[Any]:
        """A depth in dB; whatever came is brought into range."""
        view = replace(view, depth=min(max(float(depth), 0.0), DEEPEST_CUT))
        other = gr.Slider(visible=visible) if view.depth == depth else gr.Slider(value=view.depth, visible=visible)
        return self.parts.answer(view=view, address=link(view), other=other)

    def on_region(self, view: ViewState, event: gr.EventData) -> list[Any]:
        """A region dragged on the stage."""
        try:
            view = replace(view, region=checked_region(event._data, clip_of(view).duration))
        except InputError as error:
            return self.parts.answer(cut_error=say.error_box(str(error)))
        return self.parts.answer(view=view, address=link(view), cut=gr.Button(cut_label(view.region)), cut_error="")

    def on_band(self, view: ViewState, event: gr.EventData) -> list[Any]:
        """A frequency band chosen on the stage."""
        try:
            view = replace(view, band=checked_band(event._data, clip_of(view).sample_rate))
        except InputError as error:
            return self.parts.answer(cut_error=say.error_box(str(error)))
        return self.parts.answer(view=view, address=link(view), cut_error="")

    def on_cut_request(self, view: ViewState, event: gr.EventData) -> Iterator[list[Any]]:
        """The stage's own cut key: it names its region, which may be newer than the view's."""
        try:
            region = checked_region(event._data, clip_of(view).duration)
        except InputError as error:
            yield self.parts.answer(cut_error=say.error_box(str(error)))
            return
        yield from self.on_cut(replace(view, region=region or view.region))

    def on_cut(self, view: ViewState) -> Iterator[list[Any]]:
        """Cut the region, score again, and compare with the matched controls."""
        answer = self.parts.answer
        try:
            clip, concepts, encoder = clip_of(view), concepts_of(view), load_encoder(view.encoder)
            region = view.region
            if region is None:
                *_, found = localize_progressively(encoder, clip, concepts, view.window)
                region = first_region(found)
            view = replace(view, region=region)
            steps = cut_steps(encoder, clip, concepts, view.window, region, view.depth, band=view.band, seed=view.seed)
            yield self.parts.begin(
                shown_key(view), view=view, address=link(view), cut_error="", stop=gr.Button(visible=True)
            )
            for step in steps:
                if isinstance(step, CutStep):
                    yield answer(cut=gr.Button(f"{step.what}…", interactive=False), stop=gr.Button(visible=True))
                else:
                    yield self._cut_answer(view, step)
        except InputError as error:
            yield answer(cut_error=say.error_box(str(error)), **self._at_rest(view))

    def on_cancel(self, view: ViewState) -> list[Any]:
        """The cut was cancelled: what was on screen stays."""
        return self.parts.answer(**self._at_rest(view))

    def on_over(self, view: ViewState) -> list[Any]:
        """Work is over; what was selected meanwhile is what the next cut takes, and what its button names."""
        return self.parts.answer(**({"cut": gr.Button(cut_label(view.region))} if view.region else {}))

    @staticmethod
    def _at_rest(view: ViewState) -> dict[str, Any]:
        """Ready for a cut, with what was on the stage."""
        return {
            "cut": gr.Button(cut_label(view.region), interactive=True),
            "stop": gr.Button(visible=False),
            "stage": pending_view(),
        }

    def _cut_answer(self, view: ViewState, experiment: CutExperiment) -> list[Any]:
        after = listen_stage(experiment.before, region=experiment.span, band=experiment.band, experiment=experiment)
        return self.parts.answer(
            headline=say.cut_sentences(experiment),
            table=say.cut_table(experiment),
            cut_error="",
            **{**self._at_rest(view), "stage": after},
            **cut_exports(experiment, view),
        )
