"""Pieces of HTML that several panels show; whatever is not markup already is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


class Markup(str):
    """HTML that this package wrote: its words are escaped already."""


def safe(text: str) -> Markup:
    """Markup as it is, any other text escaped."""
    return text if isinstance(text, Markup) else Markup(escape(text))


def concept(text: str, polarity: str) -> Markup:
    """A sound of the query, in the colour of being wanted or forbidden."""
    return Markup(f'<span class="concept {polarity}">{escape(text)}</span>')


def explained(text: str, tip: str) -> Markup:
    """Words with what they mean, shown when pointed at."""
    return Markup(f'<abbr title="{escape(tip)}">{safe(text)}</abbr>')


def error_box(said: object) -> str:
    """A persistent error beside the control that caused it; empty text clears it."""
    return f'<p class="error" role="alert">{escape(str(said))}</p>' if str(said) else ""


def how_list(lines: Sequence[str], more: str = "") -> str:
    """What made a result, folded away under it: one line each, and ``more`` HTML under them."""
    items = "".join(f"<li>{safe(line)}</li>" for line in lines)
    return f'<details class="how"><summary>How this was computed</summary><ul>{items}</ul>{more}</details>'
