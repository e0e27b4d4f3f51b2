"""What each figure of a composition report shows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from backend.composition.explore import contribution_cosines, plane
from backend.composition.metrics import METRICS
from backend.composition.report import Report
from backend.reports.charts import Chart, HeatMap, Mark, Series, whole_ticks
from backend.reports.composition.rows import TITLES
from backend.reports.composition.summary import formatted

BY_COUNT = ("present", "amber", "ok", "pink", "absent")
"""Colours for one, two, three, four, and five or more sources."""
MARKS: tuple[Mark, ...] = ("circle", "square", "triangle", "diamond", "cross")
"""Shapes beside the colours, so that nothing is told by colour alone."""
MOST_ARROWS = 150
MOST_HEAT = 60
BINS = 20


def report_charts(report: Report) -> tuple[Chart | HeatMap, ...]:
    """Every figure of a report."""
    return (
        combinations_chart(report),
        contributions_map(report),
        plane_chart(report),
        cca_chart(report),
        *(permutation_chart(report, name) for name in METRICS),
        penalty_chart(report),
    )


def combinations_chart(report: Report) -> Chart:
    """Every combination a point: how well it is predicted, against its clips (or sources, if clips are equal)."""
    combinations, loo = report.combinations, report.loo
    sizes = combinations.membership.sum(axis=1).astype(int)
    by_clips = len(set(combinations.counts.tolist())) > 1
    base = combinations.counts.astype(float) if by_clips else sizes.astype(float)
    spread = np.zeros(len(base)) if by_clips else _side_by_side(sizes, loo.cosines)
    series = []
    for size in sorted(set(np.minimum(sizes, 5).tolist())):
        rows = np.flatnonzero(np.minimum(sizes, 5) == size)
        series.append(
            Series(
                "points",
                f"{size}{' or more' if size == 5 else ''} source{'s' if size > 1 else ''}",
                BY_COUNT[size - 1],
                base[rows] + spread[rows],
                loo.cosines[rows],
                text=tuple(
                    f"{combinations.name(i)}: cosine {loo.cosines[i]:+.3f}, rank {loo.ranks[i]}, "
                    f"{combinations.counts[i]} clip{'s' if combinations.counts[i] > 1 else ''}"
                    for i in rows
                ),
                keys=tuple(int(i) for i in rows),
                mark=MARKS[size - 1],
            )
        )
    return Chart(
        "combinations",
        "How well each combination is rebuilt without having been seen",
        "clips of the combination" if by_clips else "sources of the combination",
        "cosine, predicted to actual",
        tuple(series),
        "Each point is one combination, predicted from a fit on all the others.",
        log_x=bool(by_clips and base.max() > 20 * base.min()),
        x_ticks=whole_ticks(int(base.min()), int(base.max())) if base.max() <= 12 else (),
    )


def _side_by_side(groups: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Offsets within +-0.3 that keep points of one group apart: neighbours in value go to different places."""
    offsets = np.zeros(len(groups))
    for group in set(groups.tolist()):
        rows = np.flatnonzero(groups == group)
        order = rows[np.argsort(values[rows])]
        golden = (np.arange(len(order)) * 0.618034) % 1.0 - 0.5
        offsets[order] = 0.6 * golden * min(1.0, len(order) / 20)
    return offsets


def contributions_map(report: Report) -> HeatMap:
    """Cosines between what the sources contribute; the most frequent ones where there are many."""
    sources = report.combinations.sources
    cosines = contribution_cosines(report)
    shown = np.arange(len(sources))
    note = "Cosine between the contributions of two sources."
    if len(sources) > MOST_HEAT:
        frequent = np.argsort(-report.combinations.source_occurrences, kind="stable")[:MOST_HEAT]
        shown = np.sort(frequent)
        note += f" The {MOST_HEAT} most frequent of {len(sources)} sources are shown; the table has all."
    return HeatMap(
        "contributions",
        "Which sounds contribute alike",
        tuple(sources[j] for j in shown),
        cosines[np.ix_(shown, shown)],
        note,
    )


def plane_chart(report: Report) -> Chart:
    """Arrows from actual to predicted on the two main axes of the actual combinations."""
    found = plane(report)
    count = len(found.actual)
    rows = np.arange(count)
    note = (
        f"Projection: the first two principal components of the actual combination means; they keep "
        f"{100 * found.kept.sum():.0f} % of their variance."
    )
    if count > MOST_ARROWS:
        rows = np.sort(np.argsort(report.loo.cosines, kind="stable")[:MOST_ARROWS])
        note += f" The {MOST_ARROWS} worst rebuilt of {count} are shown."
    text = tuple(f"{report.combinations.name(i)}: cosine {report.loo.cosines[i]:+.3f}" for i in rows)
    keys = tuple(int(i) for i in rows)
    actual, predicted = found.actual[rows], found.predicted[rows]
    return Chart(
        "plane",
        "Where each combination is, and where its parts put it",
        f"component 1 ({100 * found.kept[0]:.0f} % of variance)",
        f"component 2 ({100 * found.kept[1]:.0f} %)",
        (
            Series("arrows", "", "control", actual[:, 0], actual[:, 1], predicted[:, 0], predicted[:, 1]),
            Series("points", "actual", "present", actual[:, 0], actual[:, 1], text=text, keys=keys),
            Series(
                "points", "predicted", "amber", predicted[:, 0], predicted[:, 1], text=text, keys=keys, mark="square"
            ),
        ),
        note,
    )


def cca_chart(report: Report) -> Chart:
    """Canonical correlations per dimension, with the mean and spread of the shuffles."""
    found = report.cca
    dimension = np.arange(1.0, len(found.real) + 1)
    low, high = found.permuted - found.permuted_spread, found.permuted + found.permuted_spread
    return Chart(
        "cca",
        "How linearly labels and embeddings go together, clip by clip",
        "canonical dimension",
        "correlation",
        (
            Series("band", "", "control", dimension, low, y2=high),
            Series("line", "real", "present", dimension, found.real, text=tuple(f"{v:.3f}" for v in found.real)),
            Series(
                "line",
                f"mean of {found.permutations} shuffles, ± 1 SD",
                "control",
                dimension,
                found.permuted,
                text=tuple(f"{v:.3f}" for v in found.permuted),
                dash="dash",
            ),
        ),
        "Linear alignment says nothing yet about combinations that were not seen.",
        x_ticks=whole_ticks(1, len(found.real)) if len(found.real) else (),
    )


def permutation_chart(report: Report, metric: str) -> Chart:
    """Histogram of one metric over the shuffles, with the real value and the overlap baseline marked."""
    column = METRICS.index(metric)
    values = report.loo.permuted[:, column]
    values = values[np.isfinite(values)]
    real, overlap = getattr(report.loo.real, metric), getattr(report.loo.overlap, metric)
    p = report.loo.p[column]
    counts, edges = np.histogram(values, bins=BINS) if len(values) else (np.zeros(1), np.array([0.0, 1.0]))
    ends = np.array([edges[0], edges[-1], real, overlap])
    low, high = float(np.nanmin(ends)), float(np.nanmax(ends))
    room = 0.04 * (high - low) or 0.5
    return Chart(
        f"permutations_{metric}",
        f"{TITLES[metric]}: real against shuffled",
        TITLES[metric],
        "shuffles",
        (
            Series(
                "bars",
                f"{len(values)} shuffles",
                "control",
                (edges[:-1] + edges[1:]) / 2,
                counts.astype(float),
                x2=np.diff(edges),
            ),
            _rule(f"overlap {formatted(metric, overlap)}", "ok", overlap),
            _rule(f"real {formatted(metric, real)}", "present", real),
        ),
        "" if np.isnan(p) else f"p = {p:.3f} (shuffles at least as good as the real value, both counted plus one).",
        x_range=(low - room, high + room),
    )


def _rule(name: str, role: str, value: float) -> Series:
    at = np.array([value]) if np.isfinite(value) else np.zeros(0)
    return Series("rule", name, role, at, np.zeros(len(at)), text=(name,) * len(at))


def comparison_chart(first: Report, second: Report, names: tuple[str, str]) -> Chart:
    """Each combination under two encoders: cosine of one against cosine of the other.

    Only combinations that both reports have are drawn; a point above the line is rebuilt better by the second.
    """
    position = {members: index for index, members in enumerate(second.combinations.members)}
    pairs = [(i, position[members]) for i, members in enumerate(first.combinations.members) if members in position]
    x = np.array([first.loo.cosines[i] for i, _ in pairs])
    y = np.array([second.loo.cosines[j] for _, j in pairs])
    both = np.concatenate([x, y]) if pairs else np.array([0.0, 1.0])
    ends = np.array([both.min(), both.max()])
    text = tuple(
        f"{first.combinations.name(i)}: {a:+.3f} and {b:+.3f}" for (i, _), a, b in zip(pairs, x, y, strict=True)
    )
    return Chart(
        "comparison",
        "The same combinations under two encoders",
        f"cosine, {names[0]}",
        f"cosine, {names[1]}",
        (
            Series("line", "equal", "control", ends, ends, dash="dash"),
            Series("points", "", "present", x, y, text=text, keys=tuple(i for i, _ in pairs)),
        ),
        f"{int(np.count_nonzero(y > x))} of {len(pairs)} points lie above the line, where {names[1]} does better.",
    )


def penalty_chart(report: Report) -> Chart:
    """Validation error over the grid of lambda."""
    choice = report.choice
    return Chart(
        "lambda",
        "How lambda was chosen",
        "lambda",
        "validation error (MSE)",
        (
            Series("line", "", "present", choice.grid, choice.errors),
            _rule(f"chosen: {choice.penalty:.3g}", "amber", choice.penalty),
        ),
        f"{len(choice.validation)} of {len(report.combinations)} combinations were held out to choose it, once.",
        log_x=True,
    )
