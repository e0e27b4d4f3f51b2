"""The benchmark's figures: one PNG, and the same with the tables as one HTML page that needs no network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.reports.charts import Chart, Dash, Series
from backend.reports.document import Block, page
from backend.reports.figures import drawn

ROLES = {"raw": "absent", "steered": "amber", "exclusion": "present", "standard": "control"}
"""Vermilion what obeys the least, blue what is meant; grey the affirmative query."""
SCORERS = ("raw", "steered", "exclusion")
CHANCE = 25.0
"""Per cent right of a question with four answers."""
PERCENT = (0.0, 100.0)
Measure = Mapping[str, float]


def write_figures(record: Mapping[str, Any], blocks: Sequence[Block], folder: Path) -> list[Path]:
    """Write negeval.png and negeval.html."""
    png, whole = folder / "negeval.png", folder / "negeval.html"
    charts, encoder = list(_charts(record)), record["encoder"]
    title = f"NegEval: {record['collection']['name']}, {encoder['id']} {encoder['weights']}"
    png.write_bytes(drawn(*charts, columns=3, title=title, dpi=80).png)
    whole.write_text(page(title, *blocks, figures=[drawn(chart).svg for chart in charts]), encoding="utf-8")
    return [png, whole]


def _charts(record: Mapping[str, Any]) -> Iterator[Chart]:
    """Three of each set that was measured; one without axes' numbers where a task was not run."""
    for name in ("mixtures", "clips"):
        if section := record.get(name):
            yield _choice(name, section.get("multiple choice"))
            yield _retrieval(name, section.get("retrieval"))
            yield _sweep(name, section, record.get("controlled pairs") if name == "mixtures" else None)


def _choice(name: str, table: Mapping[str, Any] | None) -> Chart:
    kinds = ("affirmation", "negation", "hybrid", "average")
    bars = {scorer: [table[scorer][kind] for kind in kinds] for scorer in SCORERS} if table else {}
    ends = np.array([-0.5, len(kinds) - 0.5])
    chance = Series("line", "chance", "ink", ends, np.full(2, CHANCE), dash="dash")
    return _grouped(f"choice-{name}", f"MCQ-Neg over {name}", kinds, bars, chance)


def _retrieval(name: str, table: Mapping[str, Any] | None) -> Chart:
    keys = ("R@1", "R@5", "R@10")
    found = ({"standard": table["standard"]["raw"]} | {one: table["fluent"][one] for one in SCORERS}) if table else {}
    bars = {scorer: [measures[key] for key in keys] for scorer, measures in found.items()}
    return _grouped(f"retrieval-{name}", f"Retrieval-Neg (fluent) over {name}", keys, bars)


def _grouped(key: str, title: str, groups: tuple[str, ...], bars: Mapping[str, list[Measure]], *more: Series) -> Chart:
    """Bars side by side in each group, one a scorer, with their intervals."""
    width = 0.8 / max(1, len(bars))
    places, widths = np.arange(float(len(groups))), np.full(len(groups), width)
    series = [
        Series(
            "bars", scorer, ROLES[scorer], places + (place - (len(bars) - 1) / 2) * width, _percent(measures),
            x2=widths, low=_percent(measures, "low"), high=_percent(measures, "high"),
        )
        for place, (scorer, measures) in enumerate(bars.items())
    ]  # fmt: skip
    ticks = tuple((float(place), group) for place, group in enumerate(groups))
    return Chart(key, title, "", "%", (*series, *more), x_ticks=ticks, y_range=PERCENT)


def _percent(measures: list[Measure], field: str = "value") -> NDArray[np.float64]:
    return np.array([100 * measure[field] for measure in measures])


def _sweep(name: str, section: Mapping[str, Any], pairs: Mapping[str, Any] | None) -> Chart:
    """What steers how much: one line a task, over the strengths of the paper at equal distances."""
    curves: dict[str, tuple[Mapping[str, Measure], Dash]] = {}
    if "retrieval" in section:
        curves["R@5, fluent"] = section["retrieval"]["fluent"]["sweep R@5"], "solid"
    if "multiple choice" in section:
        curves["MCQ average"] = section["multiple choice"]["sweep average"], "dash"
    if pairs:
        curves["target preferred"] = pairs["sweep target preferred"], "dot"
    series = tuple(
        Series("line", label, ROLES["steered"], np.arange(float(len(sweep))), _percent(list(sweep.values())), dash=dash)
        for label, (sweep, dash) in curves.items()
    )
    strengths = next(iter(curves.values()))[0] if curves else {}
    ticks = tuple((float(place), strength) for place, strength in enumerate(strengths))
    title = f"Steering strength over {name}"
    return Chart(f"sweep-{name}", title, "lambda", "%", series, x_ticks=ticks, y_range=PERCENT)
