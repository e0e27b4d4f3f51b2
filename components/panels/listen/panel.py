"""One clip: windows, evidence, the cut, its controls, and the ear."""

from __future__ import annotations

from functools import partial
from typing import Any

import gradio as gr

from backend.audio import WINDOW_SECONDS
from backend.evidence.cut import DEFAULT_DEPTH_DB, MAX_DEPTH_DB, USUAL_DEPTHS_DB
from components.frame.exports import download_row
from components.frame.gradio_repairs import EVERY_EVENT, ForgivingSlider
from components.frame.panel import HEAVY, PRIVATE, Page, result_line
from components.frame.panel_spec import PanelSpec
from components.frame.turns import Panel
from components.frame.view_state import DEFAULT_QUERY
from components.panels.listen import compare
from components.panels.listen.api import ENDPOINTS
from components.panels.listen.handlers import OTHER_DEPTH, ListenHandlers
from components.panels.listen.parts import Parts, clip_choices, cut_label, shown_key, window_choices
from components.panels.listen.state import ListenState
from components.stage.stage import Stage
from components.widgets.chips import chip_editor
from components.widgets.inputs import ASKED, own_sound, query_box

DOWNLOADS = {"wav": "Cut as WAV", "csv": "Numbers as CSV", "json": "Numbers as JSON"}


def build(page: Page) -> None:
    """Lay the panel out and connect it."""
    with gr.Column(elem_classes="panel"):
        with gr.Row(elem_classes="ask-row"):
            query, find = query_box("listen", "Find", ASKED, DEFAULT_QUERY, min_width=96, elem_id="listen-find")
            clip = gr.Dropdown(clip_choices(), label="Sound", scale=5, elem_id="listen-clip", filterable=True)
        chips = chip_editor(elem_id="listen-chips")
        query_error = gr.HTML("", elem_classes="message")
        with gr.Accordion("Use your own sound", open=False, elem_id="listen-own"):
            own = own_sound("listen", "Upload or record")
            shorten = gr.Button("Use the first 10 minutes", visible=False, elem_id="listen-shorten")
        clip_error = gr.HTML("", elem_classes="message")
        headline = result_line("listen-headline", min_height=64)
        stage = Stage(elem_id="listen-stage")
        with gr.Row(elem_classes="knobs"):
            window = gr.Radio(window_choices(), value=WINDOW_SECONDS, label="Window", elem_id="listen-window")
            depths = [*((f"−{decibels:g} dB", decibels) for decibels in USUAL_DEPTHS_DB), ("other", OTHER_DEPTH)]
            depth = gr.Radio(depths, value=DEFAULT_DEPTH_DB, label="Depth of the cut", elem_id="listen-depth")
            other = ForgivingSlider(
                minimum=0, maximum=MAX_DEPTH_DB, value=DEFAULT_DEPTH_DB, step=1, label="Depth, dB down", visible=False,
                elem_id="listen-depth-other",
            )  # fmt: skip
            cut = gr.Button(cut_label(None), variant="primary", elem_id="listen-cut")
            stop = gr.Button("Cancel", visible=False, elem_id="listen-cancel")
        cut_error = gr.HTML("", elem_classes="message")
        table = gr.HTML("", elem_classes="result", elem_id="listen-table", min_height=120)
        buttons = download_row("listen", DOWNLOADS)
        how = gr.HTML("", elem_id="listen-how")
        compare.build(page)

    parts = Parts(
        view=page.view, address=page.address, query=query, chips=chips, query_error=query_error,
        clip=clip, clip_error=clip_error, stage=stage, headline=headline, table=table, how=how, window=window,
        depth=depth, other=other, cut=cut, stop=stop, shorten=shorten, cut_error=cut_error, **buttons,
    )  # fmt: skip
    _connect(page, parts, ListenHandlers(parts), find=find, own=own)


def _connect(page: Page, parts: Parts, on: ListenHandlers, *, find: gr.Button, own: gr.Audio) -> None:
    outputs, view, panel, cuts = parts.all(), page.view, Panel(parts.all()), on.cutting
    quiet: dict[str, Any] = {**PRIVATE, "trigger_mode": "always_last"}
    heavy: dict[str, Any] = {**quiet, **HEAVY}
    every: dict[str, Any] = {**quiet, **EVERY_EVENT}
    # One at a time and in order: an older selection must not overtake a newer one.
    selecting: dict[str, Any] = {**every, "concurrency_id": "selecting", "concurrency_limit": 1}
    searching = [
        panel.on([parts.query.submit, find.click], on.on_query, [view, parts.query], **heavy),
        panel.on(parts.chips.input, on.on_chips, [view], **every, **HEAVY),
        panel.on(parts.clip.input, on.on_clip, [view, parts.clip], **heavy),
        panel.on([own.upload, own.stop_recording], on.on_upload, [view, own], **heavy),
        panel.on(parts.shorten.click, on.on_shorten, [view, own], **heavy),
        panel.on(parts.window.input, on.on_window, [view, parts.window], **heavy),
    ]
    parts.depth.input(on.on_depth, [view, parts.depth], outputs, **quiet)
    # Not its release, which keys never fire.
    parts.other.input(on.on_other_depth, [view, parts.other], outputs, **quiet)
    parts.stage.region_change(on.on_region, view, outputs, **selecting)
    parts.stage.band_change(on.on_band, view, outputs, **selecting)
    cutting = [
        panel.on(trigger, handler, [view], **{**heavy, "trigger_mode": "once"})
        for trigger, handler in ((parts.cut.click, cuts.on_cut), (parts.stage.cut_request, cuts.on_cut_request))
    ]
    for event in (*searching, *cutting):
        event.then(cuts.on_over, view, outputs, **PRIVATE)
    parts.stop.click(cuts.on_cancel, view, outputs, cancels=cutting, **PRIVATE)
    page.open_listen, page.listen_panel = on.show, panel
    page.keep_up(panel.catch_up(on.show, [view], shown_key), panel.entry(partial(on.show, typed=True), [view]))


PANEL = PanelSpec("listen", "Listen", build, ListenState, ENDPOINTS)
