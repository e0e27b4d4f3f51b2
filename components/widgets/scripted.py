"""Components of our own: a gr.HTML whose value a script of the assets draws."""

from __future__ import annotations

import gradio as gr

from backend.files import asset_text


def scripted(place: str, host: str, elem_id: str) -> gr.HTML:
    """An element of class ``host``, drawn by a script and a style sheet of the assets that are both named ``place``."""
    return gr.HTML(
        {},
        html_template=f'<div class="{host}"></div>',
        css_template=asset_text(f"{place}.css"),
        js_on_load=asset_text(f"{place}.js"),
        elem_id=elem_id,
        apply_default_css=False,
    )


def style(place: str) -> str:
    """A style sheet of the assets, as HTML."""
    return f"<style>{asset_text(place)}</style>"
