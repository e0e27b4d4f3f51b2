"""The cut on the Listen panel: cut a region, score again beside the controls, cancel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr

from backend.audio import Span
from backend.encoders.base import load_encoder
from backend.errors import InputError
from backend.evidence.control_cuts import CutExperiment, cut_steps
from backend.evidence.localization import localize_progressively
from backend.progress import Step
from components.frame.exports import cut_exports
from components.frame.gradio_repairs import sent_by
from components.frame.links import link
from components.frame.panel import refused_in
from components.frame.view_state import ViewState
from components.panels.listen import view as say
from components.panels.listen.parts import Parts, clip_of, cut_label, first_region, shown_key
from components.panels.listen.stage_value import listen_stage
from components.panels.listen.state import ListenState
from components.stage.checks import selected_region
from components.stage.view import pending_view
from components.widgets.markup import error_box
from components.widgets.queries import query_of


class CutHandlers:
    """The events that cut."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    @refused_in("cut_error")
    def on_cut_request(self, view: ViewState, event: gr.EventData) -> Iterator[list[Any]]:
        """The stage's own cut key: it names its region, which may be newer than the view's."""
        region = selected_region(sent_by(event), clip_of(view).duration)
        yield from self.on_cut(view.with_panel(ListenState, region=region) if region else view)

    def on_cut(self, view: ViewState) -> Iterator[list[Any]]:
        """Cut the region, or the best window where none is chosen, score again, and compare with the controls."""
        try:
            region = view.panel(ListenState).region or self._best_window(view)
        except InputError as error:
            yield self.parts.answer(cut_error=error_box(error), **self._at_rest(view))
            return
        view = view.with_panel(ListenState, region=region, cut=True)
        yield self.parts.begin(
            shown_key(view), view=view, address=link(view), cut_error="", stop=gr.Button(visible=True)
        )
        yield from self.steps(view)

    @staticmethod
    def _best_window(view: ViewState) -> Span:
        encoder = load_encoder(view.encoder)
        window = view.panel(ListenState).window
        *_, found = localize_progressively(encoder, clip_of(view), query_of(view).concepts, window)
        return first_region(found)

    def steps(self, view: ViewState) -> Iterator[list[Any]]:
        """What the cut of a view's region, or of its best window, answers while it is made and when it is."""
        asked = view.panel(ListenState)
        try:
            region = asked.region or self._best_window(view)
            clip, encoder = clip_of(view), load_encoder(view.encoder)
            for step in cut_steps(
                encoder,
                clip,
                query_of(view).concepts,
                asked.window,
                region,
                asked.depth,
                band=asked.band,
                seed=view.seed,
            ):
                if isinstance(step, Step):
                    doing = gr.Button(f"{step.what}…", interactive=False)
                    yield self.parts.answer(cut=doing, stop=gr.Button(visible=True))
                else:
                    yield self._cut_answer(view.with_panel(ListenState, region=region), step)
        except InputError as error:
            yield self.parts.answer(cut_error=error_box(error), **self._at_rest(view))

    def on_cancel(self, view: ViewState) -> list[Any]:
        """The cut was cancelled: what was on screen stays."""
        view = view.with_panel(ListenState, cut=False)
        return self.parts.answer(view=view, address=link(view), **self._at_rest(view))

    def on_over(self, view: ViewState) -> list[Any]:
        """Work is over; what was selected meanwhile is what the next cut takes, and what its button names."""
        region = view.panel(ListenState).region
        return self.parts.answer(**({"cut": gr.Button(cut_label(region))} if region else {}))

    @staticmethod
    def _at_rest(view: ViewState) -> dict[str, Any]:
        """Ready for a cut, with what was on the stage."""
        return {
            "cut": gr.Button(cut_label(view.panel(ListenState).region), interactive=True),
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
