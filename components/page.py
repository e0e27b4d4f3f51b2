"""The frame: header, encoder picker, tabs, the view in the address bar. One line a panel."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import gradio as gr

from backend.encoders.base import encoder_list, load_encoder
from backend.encoders.cached import text_embeddings
from backend.encoders.prompts import background_vocabulary, concept_prompt
from backend.errors import InputError
from backend.settings import settings
from components.frame.encoder_picker import ENDPOINT as ENCODERS
from components.frame.encoder_picker import EncoderPicker, build_status, encoder_choice, usable
from components.frame.encoder_picker import choices as encoder_choices
from components.frame.endpoints import add_endpoints
from components.frame.gradio_repairs import send_whole_answers
from components.frame.links import address, link, view_from_link
from components.frame.lost import open_again_when_lost
from components.frame.panel import HEAVY, PRIVATE, Page
from components.frame.panel_spec import PanelSpec
from components.frame.scripts import page_head
from components.frame.theme import STYLES, theme
from components.frame.turns import Entry
from components.frame.view_state import ViewState, is_open
from components.panels import ask, compose, listen, steer
from components.widgets.plotly_chart import plotly_script

PANELS = (
    listen.PANEL,
    ask.PANEL,
    steer.PANEL,
    compose.PANEL,
)
"""One line a panel, in the order of their tabs."""

HEADER = """<header class="masthead"><h1>Unheard</h1>
<p>What do audio-language models fail to hear? Ask, cut, and check by ear.</p></header>"""


def build_page(panels: Sequence[PanelSpec] = PANELS) -> gr.Blocks:
    """The whole page, not yet listening."""
    send_whole_answers()
    with gr.Blocks(title="Unheard", fill_width=True, delete_cache=(3600, 86_400), analytics_enabled=False) as page:
        view = gr.State(ViewState(), time_to_live=7200)
        bar = address()
        with gr.Row(elem_classes="top"):
            gr.HTML(HEADER, elem_classes="masthead-box")
            encoder = encoder_choice()
        picker = build_status(encoder)
        notices = gr.HTML("", elem_classes="notices")
        tabs = gr.Tabs(selected=panels[0].id, elem_id="tabs")
        frame = Page(view=view, address=bar, encoder=encoder, tabs=tabs)
        with tabs:
            for panel in panels:
                frame.building = panel.id
                with gr.Tab(panel.title, id=panel.id, elem_id=f"tab-{panel.id}") as tab:
                    panel.build(frame)
                _open_with(tab, panel.id, frame)
        _connect(page, frame, notices, picker, panels)
        add_endpoints([ENCODERS, *(endpoint for panel in panels for endpoint in panel.endpoints)])
    open_again_when_lost(page, view, bar)
    return page


def _open_with(tab: gr.Tab, identifier: str, frame: Page) -> None:
    def opened(view: ViewState) -> tuple[ViewState, str]:
        # Gradio selects the first tab before the link has been read; that must not overwrite the link.
        if not is_open(view):
            return gr.skip(), gr.skip()
        view = replace(view, tab=identifier)
        return view, link(view)

    event = tab.select(opened, frame.view, [frame.view, frame.address], **PRIVATE)
    _keep_up(event, [entry for panel, entry in frame.on_open.items() if panel == identifier])


def _connect(
    page: gr.Blocks, frame: Page, notices: gr.HTML, picker: EncoderPicker, panels: Sequence[PanelSpec]
) -> None:
    def opened(request: gr.Request) -> tuple[Any, ...]:
        known = tuple(info.id for info in encoder_list())
        view, said = view_from_link(dict(request.query_params), panels, known)
        encoder, missing = usable(view.encoder)
        view = replace(view, encoder=encoder)
        return (
            view,
            "".join(f'<p class="note" role="status">{escape(text)}</p>' for text in (*said, missing) if text),
            gr.Dropdown(encoder_choices(), value=encoder),
            encoder,
            gr.Tabs(selected=view.tab),
        )

    start = page.load(opened, None, [frame.view, notices, frame.encoder, picker.active, frame.tabs], **PRIVATE)
    _keep_up(start, frame.on_open.values())

    def picked(view: ViewState, encoder: str) -> tuple[ViewState, str]:
        view = replace(view, encoder=encoder)
        return view, link(view)

    change = picker.active.change(picked, [frame.view, picker.active], [frame.view, frame.address], **PRIVATE)
    _keep_up(change, frame.on_encoder)


def _keep_up(event: Any, entries: Iterable[Entry]) -> None:
    """After an event, let each panel that asked for it catch up."""
    for function, inputs, outputs in entries:
        event.then(function, inputs, outputs, **PRIVATE, **HEAVY)


def warm_up(encoder_id: str) -> None:
    """Load the first encoder and its reference texts while the server starts: the first visitor must not wait."""
    with contextlib.suppress(InputError):  # the page says it where the encoder is picked
        encoder = load_encoder(encoder_id)
        if encoder.has_text:
            text_embeddings(encoder, [concept_prompt(sound) for sound in background_vocabulary()])


def launch_options() -> dict[str, Any]:
    """How the server is started: bounded queue, bounded uploads, one served folder, no share link."""
    from components.frame.serving import served_folder

    chosen = settings()
    return {
        "server_name": chosen.host,
        "server_port": chosen.port,
        # Above the limit, so that a file somewhat too large is answered in a sentence and not by a broken upload.
        "max_file_size": f"{4 * chosen.max_file_mb:g}mb",
        "allowed_paths": [str(served_folder()), str(plotly_script())],
        "share": False,
        "show_error": False,
        "footer_links": ["api"],
        "theme": theme(),
        "css_paths": STYLES,
        "head": page_head(),
        "ssr_mode": False,
        "quiet": True,
    }
