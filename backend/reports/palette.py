"""The one palette: what each colour means, on a light and on a dark ground.

Okabe and Ito's colours, which stay apart for every kind of colour blindness; on a dark ground their lighter
relatives. matplotlib and plotly read them here; the page gets them as CSS custom properties.
"""

from __future__ import annotations

LIGHT = {
    "present": "#0072B2",
    "absent": "#D55E00",
    "ok": "#009E73",
    "amber": "#E69F00",
    "pink": "#CC79A7",
    "control": "#6B7280",
    "ink": "#16202B",
    "soft": "#56616F",
    "line": "#D5DBE2",
    "paper": "#FFFFFF",
    "wash": "#F5F7F9",
    "absent-ink": "#B24E00",
    "ok-ink": "#007D5B",
    "edge": "#7D8896",
}
"""Role to colour. ``present`` and ``absent`` are sounds that a query wants and forbids, ``control`` what a control
gave; ``ok``, ``amber`` and ``pink`` are further series. ``absent-ink`` and ``ok-ink`` are for words, 4.5:1 on paper
and on a tint; ``edge`` is for frames that alone show a control, 3:1."""

DARK = {
    "present": "#56B4E9",
    "absent": "#F0894A",
    "ok": "#35C79C",
    "amber": "#F0B93A",
    "pink": "#E0A3C6",
    "control": "#A3ADBA",
    "ink": "#E8EDF3",
    "soft": "#A9B4C2",
    "line": "#364152",
    "paper": "#10161D",
    "wash": "#18212B",
    "absent-ink": "#F0894A",
    "ok-ink": "#35C79C",
    "edge": "#6B7A90",
}
"""The same roles on a dark ground."""

PRESENT_TINTS = {
    "c50": "#EAF4FB",
    "c100": "#CFE6F5",
    "c200": "#A3CFEC",
    "c300": "#6FB3DF",
    "c400": "#3593CD",
    "c500": LIGHT["present"],
    "c600": "#0064A0",
    "c700": "#00548A",
    "c800": "#00446F",
    "c900": "#003555",
    "c950": "#00233A",
}
"""``present`` from nearly white to nearly black, for buttons and fields."""


def css_variables() -> str:
    """The palette as CSS: ``--present`` and so on, on the root and under ``.dark``."""
    return "".join(
        f"{selector}{{{';'.join(f'--{role}:{colour}' for role, colour in roles.items())}}}"
        for selector, roles in ((":root", LIGHT), (".dark", DARK))
    )
