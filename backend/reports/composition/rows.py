"""A report as tables: the rows behind every figure, for CSV and for the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from backend.composition.explore import contribution_cosines, worst_first
from backend.composition.metrics import METRICS
from backend.composition.report import Report
from backend.reports.tables import Table

TITLES = {
    "cosine": "Cosine",
    "relative_frobenius": "Relative Frobenius error",
    "cka": "CKA",
    "kl_bits": "KL divergence, bits",
    "hits_at_5": "Hits@5",
}
"""The metrics as people read them."""


def report_tables(report: Report) -> dict[str, Table]:
    """Every table of a report by file stem."""
    return {
        "metrics": metrics_table(report),
        "combinations": combinations_table(report),
        "sources": sources_table(report),
        "contribution_cosines": _contributions_table(report),
        "permutations": _plain(METRICS, report.loo.permuted, "permutation"),
        "holdout_splits": _holdout_table(report),
        "lambda": Table(
            ("lambda", "validation_mse"),
            [
                {"lambda": penalty, "validation_mse": error}
                for penalty, error in zip(report.choice.grid, report.choice.errors, strict=True)
            ],
        ),
        "cca": _cca_table(report),
    }


def metrics_table(report: Report) -> Table:
    """Both protocols in the form of the paper's table I: real, permuted, label overlap, p."""
    record = report.record()
    rows = []
    for protocol in ("loo", "holdout"):
        part = record[protocol]
        for name in METRICS:
            spread = part["sd"]
            rows.append(
                {
                    "protocol": protocol,
                    "metric": name,
                    "real": part["real"][name],
                    "real_sd": spread.get("real", {}).get(name),
                    "permuted": part["permuted"][name],
                    "permuted_sd": spread["permuted"][name],
                    "overlap": part["overlap"][name],
                    "overlap_sd": spread.get("overlap", {}).get(name),
                    "p": part["p"][name],
                    "in_sample": getattr(report.loo.in_sample, name) if protocol == "loo" else None,
                }
            )
    return Table(tuple(rows[0]), [{key: _blank(value) for key, value in row.items()} for row in rows])


def combinations_table(report: Report) -> Table:
    """One row a combination, the worst reconstructed first."""
    loo, combinations = report.loo, report.combinations
    rows = [
        {
            "combination": ";".join(combinations.members[i]),
            "sources": len(combinations.members[i]),
            "clips": int(combinations.counts[i]),
            "cosine": float(loo.cosines[i]),
            "overlap_cosine": float(loo.overlap_cosines[i]),
            "relative_residual": float(loo.residuals[i]),
            "kl_bits": float(loo.divergences[i]),
            "rank": int(loo.ranks[i]),
            "leverage": float(loo.leverage[i]),
        }
        for i in worst_first(report)
    ]
    return Table(tuple(rows[0]), rows)


def sources_table(report: Report) -> Table:
    """One row a source: in how many combinations and clips it occurs, and how long its contribution is."""
    combinations = report.combinations
    clips = combinations.membership.T @ combinations.counts
    lengths = np.linalg.norm(report.contributions, axis=1)
    rows = [
        {
            "source": name,
            "combinations": int(combinations.source_occurrences[j]),
            "clips": int(clips[j]),
            "contribution_length": float(lengths[j]),
            "seen_once": bool(combinations.source_occurrences[j] == 1),
        }
        for j, name in enumerate(combinations.sources)
    ]
    return Table(tuple(rows[0]), rows)


def _contributions_table(report: Report) -> Table:
    sources = report.combinations.sources
    cosines = contribution_cosines(report)
    rows = [
        {"source": name, **dict(zip(sources, map(float, row), strict=True))}
        for name, row in zip(sources, cosines, strict=True)
    ]
    return Table(("source", *sources), rows)


def _holdout_table(report: Report) -> Table:
    columns = ("split", "held_out", *(f"{kind}_{name}" for kind in ("real", "overlap") for name in METRICS))
    if report.holdout is None:
        return Table(columns, [])
    rows = []
    for split, size in enumerate(report.holdout.sizes):
        row: dict[str, Any] = {"split": split + 1, "held_out": int(size)}
        for kind in ("real", "overlap"):
            values = getattr(report.holdout, kind)[split]
            row |= {f"{kind}_{name}": _blank(float(value)) for name, value in zip(METRICS, values, strict=True)}
        rows.append(row)
    return Table(columns, rows)


def _cca_table(report: Report) -> Table:
    found = report.cca
    rows = [
        {
            "dimension": index + 1,
            "real": float(found.real[index]),
            "permuted": _blank(float(found.permuted[index])),
            "permuted_sd": _blank(float(found.permuted_spread[index])),
            "p": _blank(float(found.p[index])),
        }
        for index in range(len(found.real))
    ]
    return Table(("dimension", "real", "permuted", "permuted_sd", "p"), rows)


def _plain(names: Sequence[str], values: np.ndarray, counter: str) -> Table:
    rows = [
        {counter: index + 1, **{name: _blank(float(value)) for name, value in zip(names, row, strict=True)}}
        for index, row in enumerate(values)
    ]
    return Table((counter, *names), rows)


def _blank(value: Any) -> Any:
    return "" if value is None or (isinstance(value, float) and np.isnan(value)) else value
