"""A report to take away: one JSON, tables, figures, and a page that needs nothing else."""

from __future__ import annotations

import io
import zipfile

import gradio as gr

from backend.composition import Report
from backend.kept import Kept
from backend.reports.composition.export import report_drawings, report_page
from backend.reports.composition.rows import report_tables
from backend.reports.figures import Drawing
from backend.reports.jsonable import json_text
from components.frame.exports import download
from components.panels.compose.reports import KEPT_REPORTS

_drawings: Kept[int, tuple[Report, dict[str, Drawing]]] = Kept(KEPT_REPORTS)
"""Figures by the identity of their report, which is kept with them so that no other can have it meanwhile."""


def report_files(report: Report) -> dict[str, gr.DownloadButton]:
    """``json``, ``csv`` (a ZIP of tables), ``figures`` (a ZIP of PNG and SVG) and ``page`` (HTML)."""
    tables = {f"{name}.csv": table.csv().encode() for name, table in report_tables(report).items()}
    # Seconds of drawing, which every visitor of a shared report would wait for anew.
    _, drawings = _drawings.get(id(report), lambda: (report, report_drawings(report)))
    figures: dict[str, bytes] = {}
    for name, drawing in drawings.items():
        figures[f"{name}.svg"] = drawing.svg.encode()
        figures[f"{name}.png"] = drawing.png
    return {
        "json": download("compose.json", json_text(report.record())),
        "csv": download("unheard-compose-tables.zip", _zipped(tables)),
        "figures": download("unheard-compose-figures.zip", _zipped(figures)),
        "page": download("unheard-compose-report.html", report_page(report, drawings)),
    }


def _zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            # A fixed date: the same report gives the same bytes.
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
