"""A report as files: compose.json, tables, figures, and one page that holds them all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from backend.composition.report import Report
from backend.errors import InputError
from backend.reports.composition.charts import report_charts
from backend.reports.composition.rows import report_tables
from backend.reports.composition.summary import summary_text
from backend.reports.document import page
from backend.reports.figures import Drawing, drawn
from backend.reports.jsonable import json_text
from backend.reports.tables import Table

TITLE = "Is a scene the sum of its sounds?"


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
        write("compose.json", json_text(report.record()))
        for name, table in report_tables(report).items():
            write(f"{name}.csv", table.csv())
        drawings = report_drawings(report)
        for name, drawing in drawings.items():
            write(f"{name}.svg", drawing.svg)
            write(f"{name}.png", drawing.png)
            write(f"{name}.html", page(drawing.title, f"# {drawing.title}", figures=[drawing.svg]))
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


def report_drawings(report: Report) -> dict[str, Drawing]:
    """Every figure of a report as SVG and PNG, by file stem."""
    return {chart.key: drawn(chart) for chart in report_charts(report)}


def report_page(report: Report, drawings: Mapping[str, Drawing]) -> str:
    """Headline, numbers and every figure as one page that needs nothing else."""
    tables = report_tables(report)
    return page(
        TITLE,
        f"# {TITLE}",
        summary_text(report),
        "## Numbers",
        _readable(tables["metrics"]),
        "## Worst rebuilt",
        _readable(tables["combinations"], most=20),
        "## How this was computed",
        json.dumps(report.record()["provenance"], indent=1),
        "## Figures",
        figures=[drawing.svg for drawing in drawings.values()],
    )


def _readable(table: Table, most: int | None = None) -> Table:
    """The first rows, under heads without underscores, sources of a combination joined by " + "."""
    heads = {name: name.replace("_", " ") for name in table.columns}
    rows = [
        {heads[name]: value.replace(";", " + ") if isinstance(value, str) else value for name, value in row.items()}
        for row in table.rows[:most]
    ]
    return Table(tuple(heads.values()), rows)
