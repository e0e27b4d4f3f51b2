"""The benchmark's figures: one PNG, and the same with the tables as one HTML page that needs no network."""

from __future__ import annotations

import html
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from backend.reports.palette import LIGHT

COLOURS = {
    "raw": LIGHT["absent"],
    "steered": LIGHT["amber"],
    "exclusion": LIGHT["present"],
    "standard": LIGHT["control"],
}
"""Okabe-Ito: vermilion what obeys the least, blue what is meant; grey the affirmative query."""


def write_figures(record: Mapping[str, Any], tables: str, folder: Path) -> list[Path]:
    """Write negeval.png and negeval.html."""
    png, page = folder / "negeval.png", folder / "negeval.html"
    _draw(record, png)
    page.write_text(_page(record, tables), encoding="utf-8")
    return [png, page]


def _sets(record: Mapping[str, Any]) -> list[str]:
    return [name for name in ("mixtures", "clips") if record.get(name)]


def _draw(record: Mapping[str, Any], path: Path) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names = _sets(record)
    figure = Figure(figsize=(13, 4.2 * max(1, len(names))), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(max(1, len(names)), 3, squeeze=False)
    for row, name in zip(axes, names, strict=False):
        _draw_choice(row[0], name, record[name].get("multiple choice"))
        _draw_retrieval(row[1], name, record[name].get("retrieval"))
        _draw_sweep(row[2], name, record[name], record.get("controlled pairs") if name == "mixtures" else None)
    encoder = record["encoder"]
    figure.suptitle(f"NegEval: {record['collection']['name']}, {encoder['id']} {encoder['weights']}")
    figure.savefig(path, dpi=120)


def _legend(axis: Any) -> None:
    """Below the picture: above it would hide the bars that reach 100 %."""
    axis.legend(frameon=False, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=4)


def _bars(axis: Any, groups: list[str], series: Mapping[str, list[Mapping[str, float]]]) -> None:
    width = 0.8 / len(series)
    for place, (name, measures) in enumerate(series.items()):
        x = [group + (place - (len(series) - 1) / 2) * width for group in range(len(groups))]
        values = [100 * measure["value"] for measure in measures]
        low = [100 * (measure["value"] - measure["low"]) for measure in measures]
        high = [100 * (measure["high"] - measure["value"]) for measure in measures]
        axis.bar(x, values, width * 0.92, label=name, color=COLOURS[name])
        axis.errorbar(x, values, yerr=[low, high], fmt="none", ecolor="#333333", elinewidth=1, capsize=2)
    axis.set_xticks(range(len(groups)), groups)
    axis.set_ylim(0, 100)
    axis.set_ylabel("%")
    _legend(axis)


def _draw_choice(axis: Any, name: str, table: Mapping[str, Any] | None) -> None:
    axis.set_title(f"MCQ-Neg over {name} (dashed: chance)")
    if table:
        kinds = ["affirmation", "negation", "hybrid", "average"]
        _bars(
            axis, kinds, {scorer: [table[scorer][kind] for kind in kinds] for scorer in ("raw", "steered", "exclusion")}
        )
        axis.axhline(25, color="#333333", linestyle="--", linewidth=1)


def _draw_retrieval(axis: Any, name: str, table: Mapping[str, Any] | None) -> None:
    axis.set_title(f"Retrieval-Neg (fluent) over {name}")
    if table:
        keys = ["R@1", "R@5", "R@10"]
        series = {"standard": [table["standard"]["raw"][key] for key in keys]}
        series |= {scorer: [table["fluent"][scorer][key] for key in keys] for scorer in ("raw", "steered", "exclusion")}
        _bars(axis, keys, series)


def _draw_sweep(axis: Any, name: str, section: Mapping[str, Any], pairs: Mapping[str, Any] | None) -> None:
    axis.set_title(f"Steering strength over {name}")
    curves = {}
    if "retrieval" in section:
        curves["R@5, fluent"] = section["retrieval"]["fluent"]["sweep R@5"]
    if "multiple choice" in section:
        curves["MCQ average"] = section["multiple choice"]["sweep average"]
    if pairs:
        curves["target preferred"] = pairs["sweep target preferred"]
    for (label, sweep), style in zip(curves.items(), ("-", "--", ":"), strict=False):
        axis.plot(
            range(len(sweep)), [100 * m["value"] for m in sweep.values()], style, color=COLOURS["steered"], label=label
        )
        axis.set_xticks(range(len(sweep)), list(sweep), fontsize=8)
    axis.set_xlabel("lambda")
    axis.set_ylim(0, 100)
    if curves:
        _legend(axis)


def _page(record: Mapping[str, Any], tables: str) -> str:
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    names = _sets(record)
    titles = [title for name in names for title in (f"MCQ-Neg over {name}", f"Retrieval-Neg over {name}")]
    figure = make_subplots(rows=max(1, len(names)), cols=2, subplot_titles=titles or None)
    for row, name in enumerate(names, start=1):
        section = record[name]
        for scorer in ("raw", "steered", "exclusion"):
            for column, measures in (
                (1, section.get("multiple choice", {}).get(scorer, {})),
                (2, section.get("retrieval", {}).get("fluent", {}).get(scorer, {})),
            ):
                figure.add_trace(_plotly_bar(go, scorer, measures, show=row == 1 and column == 1), row=row, col=column)
    figure.update_layout(barmode="group", height=420 * max(1, len(names)), template="plotly_white", font_size=16)
    figure.update_yaxes(range=[0, 100], ticksuffix=" %")
    chart = figure.to_html(full_html=False, include_plotlyjs=True)
    title = html.escape(f"NegEval: {record['collection']['name']}, {record['encoder']['id']}")
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        "<style>body{font:16px/1.5 system-ui,sans-serif;max-width:1100px;margin:2rem auto;padding:0 1rem}"
        "table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}"
        "td,th{border-bottom:1px solid #ccc;padding:.3rem .7rem;text-align:left}</style>"
        f"{_markdown_to_html(tables)}{chart}</html>"
    )


def _plotly_bar(go: Any, scorer: str, measures: Mapping[str, Mapping[str, float]], *, show: bool) -> Any:
    values = [100 * measure["value"] for measure in measures.values()]
    return go.Bar(
        name=scorer,
        x=list(measures),
        y=values,
        marker_color=COLOURS[scorer],
        showlegend=show,
        error_y={
            "type": "data",
            "array": [100 * measure["high"] - value for measure, value in zip(measures.values(), values, strict=True)],
            "arrayminus": [
                value - 100 * measure["low"] for measure, value in zip(measures.values(), values, strict=True)
            ],
        },
    )


def _markdown_to_html(text: str) -> str:
    """The report's own Markdown: headings, tables and paragraphs; everything in it is escaped."""
    blocks = []
    for block in text.strip().split("\n\n"):
        if block.startswith("#"):
            level = len(block) - len(block.lstrip("#"))
            blocks.append(f"<h{level}>{html.escape(block.lstrip('# '))}</h{level}>")
        elif block.startswith("|"):
            rows = [[html.escape(cell.strip()) for cell in line.strip("|").split("|")] for line in block.split("\n")]
            cells = ["".join(f"<td>{cell}</td>" for cell in row) for row in rows[2:]]
            head = "".join(f"<th>{cell}</th>" for cell in rows[0])
            blocks.append(f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>")
        else:
            blocks.append(f"<p>{html.escape(block)}</p>")
    return "".join(blocks)
