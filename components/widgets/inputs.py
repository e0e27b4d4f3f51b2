"""What several panels ask a visitor for in the same way."""

from __future__ import annotations

from typing import Any

import gradio as gr

from backend.negation import MAX_CHARACTERS

ASKED = "What should be heard, and what should not?"


def query_box(
    panel: str, button: str, label: str, example: str, min_width: int = 120, **look: Any
) -> tuple[gr.Textbox, gr.Button]:
    """A box for a query and the button that asks it; place them in a row."""
    box = gr.Textbox(
        placeholder=example, label=label, scale=6, max_length=MAX_CHARACTERS, elem_id=f"{panel}-query", lines=1
    )
    return box, gr.Button(button, scale=0, min_width=min_width, **look)


def own_sound(panel: str, label: str) -> gr.Audio:
    """A visitor's own sound, as a file."""
    return gr.Audio(
        type="filepath", sources=["upload", "microphone"], label=label, elem_id=f"{panel}-upload", editable=False,
        buttons=[],
    )  # fmt: skip
