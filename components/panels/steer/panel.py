"""What the text encoder did with "no": a query and its relatives, and the path of steering."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from backend.encoders.base import load_encoder
from backend.errors import InputError
from backend.reports.jsonable import json_text
from backend.retrieval.diagnosis import Diagnosis, diagnose
from backend.retrieval.relatives import Relatives, edited, relatives_of
from backend.retrieval.steering import DEFAULT_LAMBDA, LARGEST_LAMBDA, PAPER_LAMBDAS
from components.frame.exports import download, download_row
from components.frame.gradio_repairs import EVERY_EVENT, ForgivingSlider, sent_by
from components.frame.links import link
from components.frame.panel import HEAVY, PRIVATE, Page, PanelParts, refused_in, result_line
from components.frame.panel_spec import PanelSpec
from components.frame.turns import Panel
from components.frame.view_state import DEFAULT_QUERY, ViewState
from components.panels.steer import view as say
from components.panels.steer.api import ENDPOINTS
from components.widgets.chips import checked_chips, chip_editor, chips_value
from components.widgets.inputs import query_box
from components.widgets.markup import error_box
from components.widgets.plotly_chart import plotly_chart
from components.widgets.queries import asked_key, query_of
from components.widgets.scripted import scripted, style


@dataclass
class Parts(PanelParts):
    """The panel's components, in the order its handlers answer."""

    view: gr.State
    lines: gr.State
    address: gr.HTML
    query: gr.Textbox
    chips: gr.HTML
    error: gr.HTML
    headline: gr.HTML
    editor: gr.HTML
    line_error: gr.HTML
    plane: gr.HTML
    steering: gr.HTML
    strength: gr.Slider
    figures: gr.HTML
    how: gr.HTML
    json: gr.DownloadButton


class SteerHandlers:
    """The panel's events: each takes a view, returns a new one, and shows it."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    @refused_in("error")
    def show(
        self, view: ViewState, lines: Relatives | None = None, *, typed: bool = False, here: bool = True
    ) -> Iterator[list[Any]]:
        """Diagnose the view's query.

        Parameters
        ----------
        lines : Relatives or None
            A person's own lines instead of the generated ones.
        typed : bool
            The visitor wrote the query here: its box is theirs.
        here : bool
            The request changes the view; False where it only catches up with it.
        """
        answer = self.parts.answer
        box = {} if typed else {"query": view.query}
        try:
            query = query_of(view)
            generated = relatives_of(query, view.seed)
        except InputError as error:
            yield answer(error=error_box(error), **box)
            return
        relatives = lines or generated
        place = {"view": view, "address": link(view)} if here else {"strength": view.strength}
        yield self.parts.begin(
            asked_key(view), lines=relatives, chips=chips_value(query), error="", line_error="", **place, **box
        )
        found = self._diagnosis(view, relatives)
        yield answer(
            headline=say.headline(found),
            editor=say.lines_value(found, generated.query),
            figures=say.figures(found),
            how=say.how_computed(found),
            json=_file(found, view),
            **self._steered(found, view.strength),
        )

    def _diagnosis(self, view: ViewState, relatives: Relatives) -> Diagnosis:
        lambdas = sorted({*PAPER_LAMBDAS, view.strength})
        return diagnose(load_encoder(view.encoder), relatives, lambdas)

    def _steered(self, found: Diagnosis, strength: float) -> dict[str, Any]:
        steered = found.plane.at(strength)
        return {"plane": say.plane(found, steered), "steering": say.steering_sentence(found, steered)}

    def on_open(self, view: ViewState) -> Iterator[list[Any]]:
        """The tab was opened: catch up with the other panels if the query changed there."""
        yield from self.show(view, here=False)

    def on_query(self, view: ViewState, text: str) -> Iterator[list[Any]]:
        """A typed query."""
        yield from self.show(view.with_query(text), typed=True)

    @refused_in("error")
    def on_chips(self, view: ViewState, event: gr.EventData) -> Iterator[list[Any]]:
        """The visitor's correction of the split; it always wins."""
        yield from self.show(replace(view, concepts=checked_chips(sent_by(event))), typed=True)

    @refused_in("line_error")
    def on_line(self, view: ViewState, lines: Relatives | None, event: gr.EventData) -> Iterator[list[Any]]:
        """Lines were edited."""
        sent = sent_by(event) if isinstance(sent_by(event), dict) else {}
        changed = sent.get("lines")
        if not isinstance(changed, dict) or not changed:
            raise InputError("The browser sent no line that was edited.")
        relatives = lines or relatives_of(query_of(view), view.seed)
        for name, text in changed.items():
            relatives = edited(relatives, str(name), text)
        yield from self.show(view, relatives, typed=True)

    @refused_in("error")
    def on_strength(self, view: ViewState, lines: Relatives | None, strength: float) -> list[Any]:
        """The slider moved: the texts are known, only the path's point changes."""
        view = replace(view, strength=round(min(max(float(strength), 0.0), LARGEST_LAMBDA), 3))
        if lines is None:
            return self.parts.answer(view=view, address=link(view))
        box = {} if abs(view.strength - strength) < 1e-3 else {"strength": view.strength}
        found = self._diagnosis(view, lines)
        return self.parts.answer(view=view, address=link(view), **box, **self._steered(found, view.strength))


def _file(found: Diagnosis, view: ViewState) -> gr.DownloadButton:
    made_here = {"query": view.query, "seed": view.seed, "link": link(view)}
    return download("unheard-steer.json", json_text({**found.record(link=made_here["link"]), **made_here}))


def build(page: Page) -> None:
    """Lay the panel out and connect it."""
    with gr.Column(elem_classes="panel"):
        with gr.Row(elem_classes="ask-row"):
            label = "A query that says what should not be heard"
            query, look = query_box("steer", "Compare", label, DEFAULT_QUERY, variant="primary", elem_id="steer-go")
        chips = chip_editor(elem_id="steer-chips")
        error = gr.HTML("", elem_classes="message", elem_id="steer-error")
        headline = result_line("steer-headline", min_height=64)
        with gr.Row(elem_classes="steer-row"):
            with gr.Column(min_width=320):
                editor = scripted("panels/steer/lines", "steer-lines", elem_id="steer-lines")
                line_error = gr.HTML("", elem_classes="message", elem_id="steer-line-error")
            with gr.Column(min_width=320):
                plane = plotly_chart(elem_id="steer-plane", min_height=320)
                strength = ForgivingSlider(
                    minimum=0, maximum=LARGEST_LAMBDA, value=DEFAULT_LAMBDA, step=0.05, label="Steering strength λ",
                    elem_id="steer-lambda",
                )  # fmt: skip
                steering = gr.HTML("", elem_classes="result", elem_id="steer-sentence", min_height=72)
        figures = plotly_chart(elem_id="steer-figures", min_height=300)
        buttons = download_row("steer", {"json": "Numbers as JSON"}, scale=0)
        how = gr.HTML("", elem_id="steer-how")
        gr.HTML(style("panels/steer/pictures.css"), padding=False)

    parts = Parts(
        page.view, gr.State(None), page.address, query, chips, error, headline, editor, line_error,
        plane, steering, strength, figures, how, **buttons,
    )  # fmt: skip
    _connect(page, parts, SteerHandlers(parts), look)


def _connect(page: Page, parts: Parts, on: SteerHandlers, look: gr.Button) -> None:
    view, panel = page.view, Panel(parts.all())
    heavy: dict[str, Any] = {**PRIVATE, **HEAVY, "trigger_mode": "always_last"}
    panel.on([parts.query.submit, look.click], on.on_query, [view, parts.query], **heavy)
    each: dict[str, Any] = {**PRIVATE, **HEAVY, **EVERY_EVENT}
    panel.on(parts.chips.input, on.on_chips, [view], **each)
    panel.on(parts.editor.input, on.on_line, [view, parts.lines], **each)
    parts.strength.input(
        on.on_strength, [view, parts.lines, parts.strength], parts.all(), **{**PRIVATE, "trigger_mode": "always_last"}
    )

    page.keep_up(panel.catch_up(on.on_open, [view], asked_key))


PANEL = PanelSpec("steer", "Steer", build, endpoints=ENDPOINTS)
