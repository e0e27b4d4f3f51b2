"""Pictures of the Steer panel as SVG: the plane of steering, and the figures beside the papers' means.

Colours come from the page's variables, so that light and dark both work. Numbers come from
backend.retrieval.diagnosis; here they are only placed on paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from backend.retrieval.diagnosis import Diagnosis, Plane, Steered
from backend.retrieval.variants import FIGURES, variant
from components.widgets.numbers import signed

WIDTH, HEIGHT = 660, 480
LEFT, MIDDLE, RADIUS = 220.0, 240.0, 212.0
"""Where the origin lies, and how long a unit vector is, in picture units."""
LABEL_GAP = 27.0
MARKS = {"affirmative": "absent", "paraphrase": "present", "query": "present"}


@dataclass(frozen=True)
class _Label:
    text: str
    x: float
    y: float
    kind: str


def plane_picture(diagnosis: Diagnosis, steered: Steered) -> str:
    """The plane of e_C (to the right) and e_neg (up), the steering path, and every relative's projection."""
    plane = diagnosis.plane
    parts = [_frame(), _vector(1.0, 0.0, "present"), _vector(*plane.negative, "absent"), _path(plane)]
    star = steered.x, steered.y
    parts.append(_star(*star))
    labels = [_Label("query, e_C", *_place(1.0, 0.0), "present"), _Label("e_neg", *_place(*plane.negative), "absent")]
    for name, (x, y) in zip(plane.names, plane.points, strict=True):
        if name == "query":
            continue
        at = _place(float(x), float(y))
        parts.append(f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="5" class="relative {MARKS.get(name, "")}"/>')
        labels.append(_Label(variant(name).title.lower(), *at, MARKS.get(name, "plain")))
    labels.append(_Label(f"e*, λ {steered.strength:.2f}", *_place(*star), "star"))
    parts += _labelled(labels)
    said = (
        f"Plane of the query and what it negates: cosine {signed(plane.cosine)}. "
        f"At lambda {steered.strength:.2f} the steered query lies at {signed(star[0], 2)}, {signed(star[1], 2)}."
    )
    opening = f'<svg class="plane" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(said)}">'
    return f"{opening}{''.join(parts)}</svg>"


def _place(x: float, y: float) -> tuple[float, float]:
    return LEFT + RADIUS * x, MIDDLE - RADIUS * y


def _frame() -> str:
    """The unit circle and the two axes."""
    zero, one = _place(0, 0), _place(1, 0)
    return (
        f'<circle cx="{zero[0]}" cy="{zero[1]}" r="{RADIUS}" class="circle"/>'
        f'<line x1="{zero[0]}" y1="{zero[1]}" x2="{one[0]}" y2="{one[1]}" class="axis"/>'
        f'<line x1="{zero[0]}" y1="{MIDDLE - RADIUS}" x2="{zero[0]}" y2="{MIDDLE + RADIUS}" class="axis"/>'
        f'<circle cx="{zero[0]}" cy="{zero[1]}" r="3" class="origin"/>'
    )


def _vector(x: float, y: float, kind: str) -> str:
    zero, tip = _place(0, 0), _place(x, y)
    return f'<line x1="{zero[0]}" y1="{zero[1]}" x2="{tip[0]:.1f}" y2="{tip[1]:.1f}" class="vector {kind}"/>'


def _path(plane: Plane) -> str:
    """The steering path, an arc of the unit circle from e_C towards -e_neg, with a tick at some strengths."""
    points = [_place(float(x), float(y)) for x, y in plane.path]
    start, end = points[0], points[-1]
    line = f"M {start[0]:.1f} {start[1]:.1f} A {RADIUS} {RADIUS} 0 0 1 {end[0]:.1f} {end[1]:.1f}"
    ticks = []
    for strength, (x, y) in zip(plane.lambdas, points, strict=True):
        if strength in (0.5, 1.0, 2.0, 8.0):
            inner = LEFT + 0.88 * (x - LEFT), MIDDLE + 0.88 * (y - MIDDLE)
            ticks.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" class="tick"/>')
            ticks.append(f'<text x="{inner[0]:.1f}" y="{inner[1] + 5:.1f}" class="lambda">{strength:g}</text>')
    return f'<path d="{line}" class="path"/>{"".join(ticks)}'


def _star(x: float, y: float) -> str:
    zero, tip = _place(0, 0), _place(x, y)
    return (
        f'<line x1="{zero[0]}" y1="{zero[1]}" x2="{tip[0]:.1f}" y2="{tip[1]:.1f}" class="steered"/>'
        f'<rect x="{tip[0] - 6:.1f}" y="{tip[1] - 6:.1f}" width="12" height="12" class="star"/>'
    )


def _labelled(labels: Sequence[_Label]) -> list[str]:
    """Labels in a column at the right, pushed apart, each with a line to its point."""
    column, parts = LEFT + RADIUS + 64, []
    ordered = sorted(labels, key=lambda label: label.y)
    heights: list[float] = []
    for label in ordered:
        heights.append(max(label.y, heights[-1] + LABEL_GAP if heights else 16.0))
    excess = max(0.0, heights[-1] - (HEIGHT - 8)) if heights else 0.0
    for place in range(len(heights) - 1, -1, -1):
        roof = HEIGHT - 8 if place == len(heights) - 1 else heights[place + 1] - LABEL_GAP
        heights[place] = min(heights[place], roof) if excess else heights[place]
    for label, y in zip(ordered, heights, strict=True):
        parts.append(f'<line x1="{label.x + 6:.1f}" y1="{label.y:.1f}" x2="{column - 6}" y2="{y:.1f}" class="leader"/>')
        parts.append(f'<text x="{column}" y="{y + 5:.1f}" class="label {label.kind}">{escape(label.text)}</text>')
    return parts


def figures_picture(diagnosis: Diagnosis) -> str:
    """Each figure as a dot on its scale, the published mean as a grey bar."""
    rows = []
    for figure in FIGURES:
        value = diagnosis.figures[figure.name]
        shown = "–" if value is None else signed(value) if figure.largest == 1.0 else f"{value:.2f}"
        dot = "" if value is None else f'<i class="dot" style="left:{figure.on_scale(value):.1%}"></i>'
        rows.append(
            f'<div class="figure"><div class="name">{escape(figure.title)}<small>{escape(figure.meaning)}</small></div>'
            f'<div class="scale"><i class="mean" style="left:{figure.on_scale(figure.published):.1%}"></i>{dot}'
            f'<span class="from">0</span><span class="to">{figure.largest:g}</span></div>'
            f'<div class="value"><b>{shown}</b><small>papers {figure.published:.2f}</small></div></div>'
        )
    key_line = (
        '<p class="key"><span><i class="dot"></i> this query, this encoder</span>'
        '<span><i class="mean"></i> mean of five LAION-CLAP checkpoints (published)</span></p>'
    )
    return f'<div class="figures">{"".join(rows)}{key_line}</div>'
