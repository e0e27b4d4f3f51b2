"""What steering does to a query, as charts: the plane it happens in, and the papers' figures on their scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backend.reports.charts import Chart, Mark, Series
from backend.retrieval.diagnosis import Diagnosis, Plane, Steered
from backend.retrieval.variants import FIGURES, variant

MARKED_STRENGTHS = (0.5, 1.0, 2.0, 8.0)
COLUMN, GAP = 1.3, 0.145
"""Where the labels of the plane stand, and how far apart, as shares of a unit vector."""
CEILING = 1.1
ROLES = {"affirmative": "absent", "paraphrase": "present", "query": "present"}


@dataclass(frozen=True)
class _Label:
    words: str
    x: float
    y: float
    role: str


def plane_chart(diagnosis: Diagnosis, steered: Steered) -> Chart:
    """The plane of e_C (to the right) and e_neg (up), the steering path, and every relative's projection."""
    plane = diagnosis.plane
    labels = [_Label("query, e_C", 1.0, 0.0, "present"), _Label("e_neg", *plane.negative, "absent-ink")]
    relatives = []
    for name, (x, y) in zip(plane.names, plane.points, strict=True):
        if name == "query":
            continue
        role, words = ROLES.get(name, "control"), variant(name).title.lower()
        relatives.append(_point(x, y, role, words, filled=role == "present"))
        labels.append(_Label(words, float(x), float(y), {"control": "ink", "absent": "absent-ink"}.get(role, role)))
    star = f"e*, λ {steered.strength:.2f}"
    labels.append(_Label(star, steered.x, steered.y, "ink"))
    return Chart(
        "steering",
        "The plane of the query and what it negates",
        "",
        "",
        (
            *_ground(),
            _vector(1.0, 0.0, "present"),
            _vector(*plane.negative, "absent", dash=True),
            *_path(plane),
            Series("arrows", "", "control", *_columns((0, 0)), *_columns((steered.x, steered.y)), width=4, dash="dot"),
            *relatives,
            _point(steered.x, steered.y, "ink", star, mark="square"),
            *_beside(labels),
        ),
        x_range=(-1.04, 2.2),
        y_range=(-CEILING, CEILING),
        equal=True,
        height=400,
    )


def _columns(*points: tuple[float, float]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    x, y = np.array(points, dtype=float).reshape(-1, 2).T
    return x, y


def _point(x: float, y: float, role: str, words: str, *, filled: bool = True, mark: Mark = "circle") -> Series:
    return Series("points", "", role, *_columns((x, y)), text=(words,), filled=filled, mark=mark)


def _vector(x: float, y: float, role: str, *, dash: bool = False) -> Series:
    ends = *_columns((0, 0)), *_columns((x, y))
    return Series("arrows", "", role, *ends, width=6, dash="dash" if dash else "solid")


def _ground() -> tuple[Series, ...]:
    """The unit circle and the two axes."""
    around = np.linspace(0, 2 * np.pi, 97)
    return (
        Series("line", "", "line", np.cos(around), np.sin(around), width=1.5),
        Series("arrows", "", "line", *_columns((0, 0), (0, -1)), *_columns((1, 0), (0, 1)), width=2),
    )


def _path(plane: Plane) -> tuple[Series, ...]:
    """An arc of the unit circle from e_C towards -e_neg, with a tick and its lambda at some strengths."""
    end = np.arctan2(plane.path[-1, 1], plane.path[-1, 0])
    along = np.linspace(0, end, 60)
    rows = [row for row, strength in enumerate(plane.lambdas) if strength in MARKED_STRENGTHS]
    ticks, names = plane.path[rows], tuple(f"{plane.lambdas[row]:g}" for row in rows)
    inner = _columns(*(0.86 * ticks))
    said = tuple(f"λ {name}" for name in names)
    return (
        Series("line", "", "control", np.cos(along), np.sin(along), width=3),
        Series("points", "", "control", *_columns(*ticks), text=said),
        Series("words", "", "soft", *inner, *inner, text=names),
    )


def _beside(labels: list[_Label]) -> tuple[Series, ...]:
    """Labels in a column at the right, pushed apart, each with a line to its point."""
    ordered = sorted(labels, key=lambda label: -label.y)
    heights: list[float] = []
    for label in ordered:
        heights.append(min(label.y, heights[-1] - GAP if heights else CEILING - GAP / 2))
    for place in range(len(heights) - 1, -1, -1):
        above = len(heights) - 1 - place
        heights[place] = max(heights[place], GAP / 2 - CEILING + GAP * above)
    return tuple(
        Series("words", "", one.role, *_columns((one.x, one.y)), *_columns((COLUMN, height)), text=(one.words,))
        for one, height in zip(ordered, heights, strict=True)
    )


def shown_figure(value: float | None, largest: float) -> str:
    """A figure as people read it: a cosine with its sign, a ratio without; a dash where it has no meaning."""
    if value is None:
        return "–"
    return f"{value:+.3f}".replace("-", "−") if largest == 1.0 else f"{value:.2f}"


def figures_chart(diagnosis: Diagnosis) -> Chart:
    """Each figure as a dot on one scale, the published mean as a grey stroke."""
    rows = -np.arange(float(len(FIGURES)))
    said = tuple(
        f"{one.title}: {shown_figure(diagnosis.figures[one.name], one.largest)}, papers {one.published:.2f}"
        for one in FIGURES
    )
    values = np.array([diagnosis.figures[one.name] for one in FIGURES], dtype=float)
    known = np.isfinite(values)
    words = tuple(one for one, there in zip(said, known, strict=True) if there)
    return Chart(
        "figures",
        "The papers' figures",
        "",
        "",
        (
            Series(
                "points", "mean of five LAION-CLAP checkpoints (published)", "control",
                np.array([one.published for one in FIGURES]), rows, text=said, mark="stroke",
            ),
            Series("points", "this query, this encoder", "present", values[known], rows[known], text=words),
        ),
        x_range=(min(0.0, float(np.nanmin(values))) - 0.03, max(1.5, float(np.nanmax(values))) + 0.03),
        y_range=(-len(FIGURES) + 0.4, 0.6),
        y_ticks=tuple((float(row), one.title) for row, one in zip(rows, FIGURES, strict=True)),
        height=240,
        legend=False,
    )  # fmt: skip
