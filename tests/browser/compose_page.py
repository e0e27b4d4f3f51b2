"""The Compose panel alone, under an encoder that hears bands: ``python -m tests.browser.compose_page PORT``."""

from __future__ import annotations

import sys

import gradio as gr

from backend.collections import demo_scenes as demo
from components.frame.links import address
from components.frame.panel import Page
from components.frame.view_state import ViewState, first_clip
from components.page import launch_options
from components.panels.compose import panel as compose
from components.panels.compose import reports as compose_reports
from tests.fakes import BandEncoder

SCENES = 275
"""Ten sounds alone and all their pairs: enough to look at, quick to embed."""


def main() -> None:
    """Serve until stopped."""
    scenes = demo.recipes()[:SCENES]
    demo.recipes = lambda: scenes  # type: ignore[assignment]
    compose_reports.load_encoder = lambda name: BandEncoder(name, dim=24, sample_rate=16000)  # type: ignore[assignment]
    with gr.Blocks(title="Compose", analytics_enabled=False) as page:
        view = gr.State(ViewState(tab="compose", clip=first_clip()))
        encoder, tabs = gr.Dropdown(["pocket"], value="pocket", label="Encoder"), gr.Tabs()
        frame = Page(view, address(), encoder, tabs, building="compose")
        with tabs, gr.Tab("Compose"):
            compose.build(frame)
        for function, inputs, outputs in frame.on_open.values():
            page.load(function, inputs, outputs, api_visibility="private", show_progress="hidden")
    page.queue(default_concurrency_limit=4)
    page.launch(**{**launch_options(), "server_port": int(sys.argv[1])})


if __name__ == "__main__":
    main()
