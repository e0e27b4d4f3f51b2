"""What every figure's SVG begins with: size, style, title, lines of text."""

from __future__ import annotations

from html import escape

STYLE = (
    "<style>.uh-chart{{--ink:{ink};--faint:{faint};--paper:{paper};background:{background}}}"
    ".uh-chart text{{font:13px ui-sans-serif,system-ui,'Segoe UI',Roboto,Arial,sans-serif;fill:var(--ink);"
    "font-variant-numeric:tabular-nums}}.uh-chart .title{{font-weight:600;font-size:15px}}"
    ".uh-chart .grid{{stroke:var(--faint);stroke-width:1}}.uh-chart .axis{{stroke:var(--ink);stroke-width:1}}</style>"
)
ALONE = STYLE.format(ink="#1c2733", faint="#dfe4ea", paper="#ffffff", background="#ffffff")
"""For a file of its own."""


def opening(title: str, width: float, height: float, alone: bool) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="uh-chart" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img" aria-label="{escape(title, quote=True)}">'
    )
    if not alone:
        return head
    return (
        f'{head}{ALONE}<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>'
        f'<text class="title" x="12" y="22">{escape(title)}</text>'
    )


def wrapped(text: str, width: float) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        if lines and 6.6 * (len(lines[-1]) + len(word) + 1) <= width:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines
