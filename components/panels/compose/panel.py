"""Is a scene the sum of its sounds? Combinations rebuilt without having been seen, to look at and to hear."""

from __future__ import annotations

from typing import Any

import gradio as gr

from backend.files import asset_text
from components.frame.exports import download_row
from components.frame.gradio_repairs import EVERY_EVENT
from components.frame.panel import HEAVY, PRIVATE, Page, result_line
from components.frame.panel_spec import PanelSpec
from components.frame.turns import Panel
from components.panels.compose.api import ENDPOINTS
from components.panels.compose.handlers import NO_SECOND, ComposeHandlers, Parts
from components.panels.compose.state import ComposeState
from components.widgets.plotly_chart import plotly_chart
from components.widgets.scripted import style

NARROW: dict[str, Any] = {"scale": 0, "min_width": 260}
DOWNLOADS = {
    "json": "All as JSON",
    "csv": "Tables as CSV",
    "figures": "Figures as PNG and SVG",
    "page": "Report as HTML",
}
PICTURES = "More pictures: contributions, plane, canonical correlations, shuffles"
FILES = (
    ("embeddings", "Embeddings", [".npz", ".parquet"]),
    ("labels", "Labels", [".csv", ".tsv"]),
    ("beside", "Second embeddings", [".npz", ".parquet"]),
    ("hierarchy", "Hierarchy", [".json", ".csv"]),
)
FILES_SAID = """<p class="note">Embeddings: .npz with ids and embeddings, or .parquet. Labels: CSV with id,labels and ;
between labels, or FSD50K's or CHiME-Home's own table. Optional: a second encoder's embeddings, to compare; a hierarchy
(ontology.json, or a CSV child,parent), to drop labels above another label of the same clip.</p>"""


def _live(elem_id: str, **options: Any) -> gr.HTML:
    """An HTML part whose clicks play sounds, open combinations or change the sum."""
    script = asset_text("panels/compose/compose.js")
    return gr.HTML("", js_on_load=script, elem_id=elem_id, apply_default_css=False, **options)


def _own() -> tuple[gr.Dropdown, list[gr.File], gr.Button, gr.Button]:
    """The folded part: a second encoder, and the visitor's own files."""
    with gr.Accordion("Another encoder, or your own embeddings", open=False, elem_id="compose-own"):
        second = gr.Dropdown([NO_SECOND], value=NO_SECOND, label="Compare with", elem_id="compose-second")
        gr.HTML(FILES_SAID)
        with gr.Row():
            files = [
                gr.File(label=label, type="filepath", file_types=kinds, elem_id=f"compose-{name}", height=180)
                for name, label, kinds in FILES
            ]
        with gr.Row(elem_classes="downloads"):
            analyse = gr.Button("Rebuild my combinations", elem_id="compose-analyse", **NARROW)
            demo = gr.Button("Back to the demo scenes", elem_id="compose-demo", **NARROW)
    return second, files, analyse, demo


def build(page: Page) -> None:
    """Lay the panel out and connect it."""
    with gr.Column(elem_classes="panel"):
        gr.HTML(style("panels/compose/compose.css"), elem_classes="message")
        opened, wanted, files_wanted = gr.State(None, time_to_live=7200), gr.State(""), gr.State("")
        headline = result_line("compose-headline", min_height=96)
        table = gr.HTML("", elem_id="compose-table", elem_classes="result", min_height=240)
        with gr.Row(elem_classes="knobs"):
            adds_up = gr.Button("Show one that adds up", variant="primary", elem_id="compose-best", **NARROW)
            does_not = gr.Button("Show one that does not", elem_id="compose-worst", **NARROW)
            pick = gr.Dropdown([], label="Any combination", elem_id="compose-pick", filterable=True)
        with gr.Row(elem_classes="compose-pending"):
            status = gr.HTML("", elem_id="compose-status")
            stop = gr.Button("Cancel", size="sm", scale=0, min_width=96, elem_id="compose-stop", visible=False)
        error = gr.HTML("", elem_classes="message", elem_id="compose-error")
        with gr.Row(elem_classes="compose-main"):
            scatter = plotly_chart(elem_id="compose-scatter", min_height=420)
            drawer = _live("compose-drawer", min_height=420)
        arithmetic = _live("compose-arithmetic")
        comparison = plotly_chart(elem_id="compose-comparison")
        buttons = download_row("compose", DOWNLOADS)
        with gr.Accordion(PICTURES, open=False, elem_id="compose-more"):
            pictures = plotly_chart(elem_id="compose-pictures")
        second, files, analyse, demo = _own()
        how = gr.HTML("", elem_id="compose-how")
    parts = Parts(
        view=page.view,
        address=page.address,
        opened=opened,
        files_wanted=files_wanted,
        status=status,
        stop=stop,
        error=error,
        headline=headline,
        table=table,
        scatter=scatter,
        pick=pick,
        drawer=drawer,
        arithmetic=arithmetic,
        second=second,
        comparison=comparison,
        pictures=pictures,
        how=how,
        **buttons,
    )
    on, controls = ComposeHandlers(parts), (adds_up, does_not, analyse, demo)
    _connect(page, parts, on, controls, files, wanted)


def _connect(
    page: Page,
    parts: Parts,
    on: ComposeHandlers,
    controls: tuple[gr.Button, ...],
    files: list[gr.File],
    wanted: gr.State,
) -> None:
    adds_up, does_not, analyse, demo = controls
    outputs, view, opened, panel = parts.all(), page.view, parts.opened, Panel(parts.all())
    heavy: dict[str, Any] = {**PRIVATE, **HEAVY, "trigger_mode": "once"}
    # Every one and in order: an older click must not overtake a newer one, nor be answered in its place.
    light: dict[str, Any] = {
        **PRIVATE, **EVERY_EVENT, "concurrency_id": "choosing", "concurrency_limit": 1,
    }  # fmt: skip
    # The frame's events only ask; the work is an event of this panel, which its Cancel can stop.
    page.keep_up(Panel([wanted]).entry(on.asked, [view]))
    long: list[Any] = [
        # Another encoder picked meanwhile is the one that counts.
        panel.on(wanted.change, on.on_open, [view, opened], **{**heavy, "trigger_mode": "always_last"}),
        panel.on(analyse.click, on.on_own, [view, *files], **heavy),
        panel.on(demo.click, on.on_demo, [view], **heavy),
        panel.on(parts.second.input, on.on_second, [view, opened, parts.second], **heavy),
    ]
    parts.stop.click(on.on_stop, None, outputs, cancels=long, **PRIVATE)
    parts.files_wanted.change(on.on_files, opened, outputs, **PRIVATE)
    for part in (parts.scatter, parts.drawer, parts.comparison):
        part.select(on.on_mark, [view, opened], outputs, **light)
    parts.pick.input(on.choose, [view, opened, parts.pick], outputs, **light)
    adds_up.click(on.choose_end(0), [view, opened], outputs, **light)
    does_not.click(on.choose_end(1), [view, opened], outputs, **light)
    parts.arithmetic.input(on.on_terms, [view, opened], outputs, **light)


PANEL = PanelSpec("compose", "Compose", build, ComposeState, ENDPOINTS)
