"""A report to take away: one JSON, tables, figures, and a page that needs nothing else."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from backend.composition import Report
from backend.reports.composition.charts import report_charts
from backend.reports.composition.export import json_text, report_page, table_csv
from backend.reports.composition.raster import png
from backend.reports.composition.rows import report_tables
from backend.reports.composition.svg import draw
from components.frame.exports import export_file


def report_files(report: Report) -> dict[str, Path]:
    """``json``, ``csv`` (a ZIP of tables), ``figures`` (a ZIP of PNG and SVG) and ``page`` (HTML)."""
    tables = {f"{name}.csv": table_csv(table).encode() for name, table in report_tables(report).items()}
    figures: dict[str, bytes] = {}
    for chart in report_charts(report):
        figures[f"{chart.key}.svg"] = draw(chart).encode()
        figures[f"{chart.key}.png"] = png(chart)
    contents = {
        "json": ("compose.json", json_text(report).encode()),
        "csv": ("unheard-compose-tables.zip", _zipped(tables)),
        "figures": ("unheard-compose-figures.zip", _zipped(figures)),
        "page": ("unheard-compose-report.html", report_page(report).encode()),
    }
    paths = {}
    for kind, (name, content) in contents.items():
        paths[kind] = export_file(name)
        paths[kind].write_bytes(content)
    return paths


def _zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            # A fixed date: the same report gives the same bytes.
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
