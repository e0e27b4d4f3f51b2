"""Ask: one query, three rankings of the same clips, and what every steering strength does to them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import gradio as gr

from components.frame.gradio_repairs import EVERY_EVENT, sent_by
from components.frame.panel import HEAVY, PRIVATE, Page, result_line
from components.frame.panel_spec import PanelSpec
from components.frame.turns import Begun, Panel
from components.frame.view_state import ViewState
from components.panels.ask.api import ENDPOINTS
from components.panels.ask.handlers import EXAMPLES, AskHandlers, Parts
from components.panels.ask.state import AskState
from components.widgets.chips import chip_editor
from components.widgets.inputs import ASKED, own_sound, query_box
from components.widgets.queries import asked_key
from components.widgets.scripted import scripted, style


def build(page: Page) -> None:
    """Lay the panel out and connect it."""
    with gr.Column(elem_classes="panel"):
        with gr.Row(elem_classes="ask-row"):
            query, go = query_box("ask", "Ask", ASKED, "rain without thunder", variant="primary", elem_id="ask-go")
        with gr.Row(elem_classes="ask-examples"):
            gr.HTML('<span class="ask-try">Try</span>', padding=False)
            examples = [gr.Button(text, size="sm", scale=0, elem_classes="ask-example") for text in EXAMPLES]
        chips = chip_editor(elem_id="ask-chips")
        error = gr.HTML("", elem_classes="message", elem_id="ask-error")
        headline = result_line("ask-headline", min_height=64)
        board = scripted("panels/ask/board", "ask-board", elem_id="ask-board")
        with gr.Accordion("Rank your own sounds beside these", open=False, elem_id="ask-own"):
            upload = own_sound("ask", "Upload or record; it joins the ranking")
            forget = gr.Button("Remove my sounds", size="sm", elem_id="ask-forget", scale=0)
            own_said = gr.HTML("", elem_classes="message", elem_id="ask-own-said")
        how = gr.HTML("", elem_id="ask-how")
        gr.HTML(style("panels/ask/page.css"), padding=False)
    parts = Parts(page.view, gr.State(()), page.address, query, chips, error, headline, board, own_said, how)
    _connect(page, parts, AskHandlers(parts), go=go, upload=upload, examples=examples, forget=forget)


def _connect(
    page: Page, parts: Parts, on: AskHandlers, *, go: gr.Button, upload: gr.Audio, examples: list[gr.Button],
    forget: gr.Button,
) -> None:  # fmt: skip
    asked, panel = [page.view, parts.own], Panel(parts.all())
    heavy: dict[str, Any] = {**PRIVATE, **HEAVY, "trigger_mode": "always_last"}
    panel.on([parts.query.submit, go.click], on.on_query, [*asked, parts.query], **heavy)
    for text, example in zip(EXAMPLES, examples, strict=True):
        panel.on(example.click, partial(on.on_example, text=text), asked, **heavy)
    each: dict[str, Any] = {**PRIVATE, **EVERY_EVENT}
    panel.on(parts.chips.input, on.on_chips, asked, **each, **HEAVY)
    parts.board.strength(on.on_strength, asked, parts.all(), **each)
    panel.on(parts.board.pin, on.on_pin, asked, **heavy)
    panel.on(parts.board.unpin, on.on_unpin, asked, **heavy)
    panel.on(parts.board.swap, on.on_swap, asked, **heavy)
    panel.on([upload.upload, upload.stop_recording], on.on_upload, [*asked, upload], **heavy)
    panel.on(forget.click, on.on_forget, asked, **heavy)
    page.keep_up(panel.catch_up(on.on_open, asked, asked_key))
    _open_in_listen(page, parts, on, asked)


def _open_in_listen(page: Page, parts: Parts, on: AskHandlers, asked: list[Any]) -> None:
    """A hit opens in Listen with the same query."""
    open_listen, listen = page.open_listen, page.listen_panel
    if open_listen is None or listen is None:
        return

    def opened(view: ViewState, own: tuple[str, ...], event: gr.EventData) -> Iterator[list[Any]]:
        chosen = on.chosen(view, own, sent_by(event))
        for answer in open_listen(chosen) if chosen else ():
            if isinstance(answer, Begun):
                yield answer.beside(gr.Tabs(selected="listen"))
            else:
                yield [*answer, gr.skip()]

    both = Panel([*listen.outputs, page.tabs], listen.turns)
    both.on(parts.board.open, opened, asked, **PRIVATE, **HEAVY)


PANEL = PanelSpec("ask", "Ask", build, AskState, ENDPOINTS)
