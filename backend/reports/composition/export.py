"""A report as files: compose.json, tables, figures, and one page that holds them all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from html import escape
from pathlib import Path

import numpy as np

from backend.composition.report import Report
from backend.errors import InputError
from backend.reports.composition.charts import report_charts
from backend.reports.composition.rows import Table, report_tables
from backend.reports.composition.summary import summary_text
from backend.reports.figures import Drawing, drawn

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>body{{font:16px/1.5 ui-sans-serif,system-ui,"Segoe UI",Roboto,Arial,sans-serif;
max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1c2733;background:#fff}}table{{border-collapse:collapse;
font-variant-numeric:tabular-nums}}td,th{{padding:.2rem .8rem;text-align:right;border-bottom:1px solid #dfe4ea}}
td:first-child,th:first-child,td:nth-child(2),th:nth-child(2){{text-align:left}}svg{{max-width:100%;height:auto}}
pre{{white-space:pre-wrap;background:#f4f6f8;padding:1rem}}figure{{margin:1.5rem 0;overflow:auto}}</style>
<h1>{title}</h1>{body}</html>
"""


def checked_folder(path: str | Path) -> Path:
    """A folder that can be written to, made if it is not there. Raises InputError."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise InputError(f"{folder} is a file; --out must name a folder. Choose another name.") from None
    except OSError as error:
        raise InputError(f"The folder {folder} cannot be made: {error.strerror}. Choose another --out.") from None
    if not os.access(folder, os.W_OK):
        raise InputError(f"The folder {folder} cannot be written to. Choose another --out.")
    return folder


def write_report(report: Report, folder: Path) -> list[Path]:
    """Write everything into a folder and return the files.

    ``compose.json``; a CSV for each table; a PNG, SVG and HTML for each figure; ``report.html`` with all of
    it; ``reconstruction.npz`` with actual, predicted and contributions for further work.
    """
    folder = checked_folder(folder)
    written = []

    def write(name: str, content: str | bytes) -> None:
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        written.append(path)

    try:
        write("compose.json", json_text(report))
        for name, table in report_tables(report).items():
            write(f"{name}.csv", table_csv(table))
        drawings = report_drawings(report)
        for name, drawing in drawings.items():
            write(f"{name}.svg", drawing.svg)
            write(f"{name}.png", drawing.png)
            write(f"{name}.html", PAGE.format(title=escape(drawing.title), body=f"<figure>{drawing.svg}</figure>"))
        write("report.html", report_page(report, drawings))
        path = folder / "reconstruction.npz"
        np.savez_compressed(
            path,
            combinations=np.array([";".join(names) for names in report.combinations.members]),
            sources=np.array(report.combinations.sources),
            actual=report.combinations.means,
            predicted=report.loo.predicted,
            contributions=report.contributions,
        )
        written.append(path)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}. Choose another --out.") from None
    return written


def json_text(report: Report) -> str:
    """The text of compose.json."""
    return json.dumps(report.record(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def table_csv(table: Table) -> str:
    """A table as CSV."""
    return table.csv()


def report_drawings(report: Report) -> dict[str, Drawing]:
    """Every figure of a report as SVG and PNG, by file stem."""
    return {chart.key: drawn(chart) for chart in report_charts(report)}


def report_page(report: Report, drawings: Mapping[str, Drawing]) -> str:
    """Headline, numbers and every figure as one page that needs nothing else."""
    tables = report_tables(report)
    figures = "".join(f"<figure>{drawing.svg}</figure>" for drawing in drawings.values())
    body = (
        f"<pre>{escape(summary_text(report))}</pre>"
        f"<h2>Numbers</h2>{_html_table(tables['metrics'])}<h2>Figures</h2>{figures}"
        f"<h2>Worst rebuilt</h2>{_html_table(tables['combinations'], most=20)}"
        f"<h2>How this was computed</h2><pre>{escape(json.dumps(report.record()['provenance'], indent=1))}</pre>"
    )
    return PAGE.format(title="Is a scene the sum of its sounds?", body=body)


def _html_table(table: Table, most: int = 100) -> str:
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in table.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(_cell(row[name]))}</td>" for name in table.columns) + "</tr>"
        for row in list(table.rows)[:most]
    )
    return f"<table><tr>{head}</tr>{rows}</table>"


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value).replace(";", " + ")
