"""The page's own scripts: what every component shares stands once in the page's head.

Gradio runs the script of each gr.HTML by itself, where nothing is shared. What several of them need, or what must be
there before Gradio's own code, is a file of ``assets/frame/`` named here.
"""

from __future__ import annotations

from backend.files import asset_text
from backend.reports.palette import css_variables
from components.widgets.plotly_chart import chart_settings

SHARED = ("order", "edits", "player", "charts")


def page_head() -> str:
    """What every page of ours needs in its head: the palette and the shared scripts."""
    scripts = [chart_settings(), *(asset_text(f"frame/{name}.js") for name in SHARED)]
    return f"<style>{css_variables()}</style>" + "".join(f"<script>{script}</script>" for script in scripts)
