"""The evidence of one encoder over time, as a chart to stand beside another encoder's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from backend.evidence.localization import Localization
from backend.reports.charts import Chart, Dash, Series

DASHES: tuple[Dash, ...] = ("solid", "dot", "dashdot")
"""Of the first, second and third wanted concept; a forbidden one is dashed."""
MARGIN = 0.08
"""How far above and below the curves the best windows are marked, as a share of the curves' height."""


def evidence_chart(side: Localization, key: str) -> Chart:
    """A curve for each concept, between the lowest and highest cosine of all; best windows are thick strokes.

    Wanted concepts have their best window marked above the curves, forbidden ones below.
    """
    return Chart(
        key,
        f"Evidence over time by {side.encoder_id}",
        "seconds",
        "cosine",
        tuple(_marks(side)),
        x_range=(0.0, side.clip.duration),
        height=220,
        legend=False,
    )


def _marks(side: Localization) -> Iterator[Series]:
    scores = np.concatenate([evidence.scores for evidence in side.evidence])
    low, high = float(scores.min()), float(scores.max())
    margin = MARGIN * ((high - low) or 1.0)
    starts = np.asarray(side.windows.starts, dtype=np.float64)
    seen: Counter[str] = Counter()
    for evidence in side.evidence:
        polarity, best, name = evidence.concept.polarity, evidence.best, evidence.concept.text
        dash: Dash = "dash" if polarity == "absent" else DASHES[seen[polarity] % len(DASHES)]
        seen[polarity] += 1
        said = tuple(
            f"{name}, {start:.2f}–{start + side.windows.length:.2f} s: cosine {score:+.3f}"
            for start, score in zip(starts, evidence.scores, strict=True)
        )
        middles, values = starts + side.windows.length / 2, np.asarray(evidence.scores, dtype=np.float64)
        yield Series("line", name, polarity, middles, values, text=said, dash=dash)
        edge = high + margin if polarity == "present" else low - margin
        yield Series("span", "", polarity, np.array([best.start]), np.array([edge]), x2=np.array([best.end]))
