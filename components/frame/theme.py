"""How the page looks: Gradio's theme in our colours, and the style sheets of the frame."""

from __future__ import annotations

import gradio as gr

from backend.files import ASSETS
from backend.reports.palette import LIGHT, PRESENT_TINTS

FOLDER = ASSETS / "frame"
STYLES = [FOLDER / "page.css", FOLDER / "encoders.css", FOLDER / "charts.css"]


def theme() -> gr.themes.Base:
    """System fonts only: the page must look the same without a network."""
    fonts = ["ui-sans-serif", "system-ui", "Segoe UI", "Roboto", "Helvetica Neue", "Arial", "sans-serif"]
    mono = ["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace"]
    return gr.themes.Base(
        primary_hue=gr.themes.Color(**PRESENT_TINTS),
        neutral_hue="slate",
        font=fonts,
        font_mono=mono,
        text_size=gr.themes.sizes.text_lg,
        radius_size=gr.themes.sizes.radius_sm,
    ).set(
        button_primary_background_fill=PRESENT_TINTS["c500"],
        button_primary_background_fill_hover=PRESENT_TINTS["c700"],
        button_primary_text_color=LIGHT["paper"],
    )
