"""How the page looks: Gradio's theme in our colours, and the style sheets of the frame."""

from __future__ import annotations

from pathlib import Path

import gradio as gr

ASSETS = Path(__file__).resolve().parents[2] / "assets" / "frame"
STYLES = [ASSETS / "page.css", ASSETS / "encoders.css"]


def theme() -> gr.themes.Base:
    """System fonts only: the page must look the same without a network."""
    fonts = ["ui-sans-serif", "system-ui", "Segoe UI", "Roboto", "Helvetica Neue", "Arial", "sans-serif"]
    mono = ["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace"]
    return gr.themes.Base(
        primary_hue=gr.themes.Color(
            c50="#eaf4fb",
            c100="#cfe6f5",
            c200="#a3cfec",
            c300="#6fb3df",
            c400="#3593cd",
            c500="#0072b2",
            c600="#0064a0",
            c700="#00548a",
            c800="#00446f",
            c900="#003555",
            c950="#00233a",
        ),
        neutral_hue="slate",
        font=fonts,
        font_mono=mono,
        text_size=gr.themes.sizes.text_lg,
        radius_size=gr.themes.sizes.radius_sm,
    ).set(
        button_primary_background_fill="#0072b2",
        button_primary_background_fill_hover="#00548a",
        button_primary_text_color="#ffffff",
    )
