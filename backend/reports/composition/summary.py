"""A report in words and one small table, as the command line prints it."""

from __future__ import annotations

from typing import Any

from backend.composition.explore import worst_first
from backend.composition.metrics import METRICS
from backend.composition.report import Report
from backend.reports.composition.rows import TITLES

DIGITS = {"cosine": 3, "relative_frobenius": 3, "cka": 3, "kl_bits": 4, "hits_at_5": 2}
"""Decimals, as the paper's table has them."""


def formatted(metric: str, value: float | None) -> str:
    """One number of one metric; a dash where it has no meaning."""
    if value is None:
        return "–"
    return f"{value:{'+' if metric == 'cosine' else ''}.{DIGITS[metric]}f}"


def spread_text(metric: str, spread: float) -> str:
    """A standard deviation of one metric; one too small for its decimals is said to be below them."""
    smallest = 10.0 ** -DIGITS[metric]
    return f"<{smallest:.{DIGITS[metric]}f}" if 0 < spread < smallest / 2 else f"{spread:.{DIGITS[metric]}f}"


def summary_text(report: Report) -> str:
    """Headline, sizes, both protocols, the best and worst combination, remarks."""
    record = report.record()
    lines = [
        report.headline,
        f"{record['n_clips']:,} clips, {record['n_combinations']:,} combinations of {record['n_sources']} sources, "
        f"{record['dim']} dimensions; lambda {record['lambda']:.4g}, seed {report.seed}.",
        "",
        f"{'':28}{'real':>18}{'permuted':>18}{'overlap':>18}{'p':>8}",
    ]
    for title, protocol in (("Leave-one-combination-out", "loo"), ("Repeated holdout", "holdout")):
        lines.append(title)
        lines += [_metric_line(name, record[protocol]) for name in METRICS]
    order = worst_first(report)
    lines += [
        "",
        f"Adds up best:  {_combination_line(report, int(order[-1]))}",
        f"Adds up worst: {_combination_line(report, int(order[0]))}",
        f"Canonical correlations, first of {len(report.cca.real)}: {report.cca.real[0]:.3f} real, "
        f"{report.cca.permuted[0]:.3f} shuffled."
        if len(report.cca.real)
        else "No canonical correlation: one side does not vary.",
    ]
    return "\n".join(lines + [f"Note: {note}" for note in report.notes])


def _metric_line(name: str, part: dict[str, Any]) -> str:
    cells = []
    for kind in ("real", "permuted", "overlap"):
        spread = part["sd"].get(kind, {}).get(name)
        cell = formatted(name, part[kind][name])
        cells.append(cell if spread is None else f"{cell} ±{spread_text(name, spread)}")
    p = part["p"][name]
    return f"  {TITLES[name]:26}" + "".join(f"{cell:>18}" for cell in cells) + f"{'–' if p is None else f'{p:.3f}':>8}"


def _combination_line(report: Report, index: int) -> str:
    return (
        f"{report.combinations.name(index)} (cosine {report.loo.cosines[index]:+.3f}, "
        f"rank {report.loo.ranks[index]} of {len(report.combinations)})"
    )
