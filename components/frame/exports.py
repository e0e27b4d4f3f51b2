"""Results as files to take away: WAV, CSV and JSON, each with what made it."""

from __future__ import annotations

import json
import secrets
import shutil
import time
from pathlib import Path
from typing import Any

import gradio as gr

from backend import __version__
from backend.audio import save_wav
from backend.evidence.control_cuts import CutExperiment
from backend.evidence.localization import Localization
from backend.reports.csv_rows import csv_text
from backend.reports.records import cut_record, localization_record, window_rows
from backend.settings import settings
from components.frame.links import link
from components.frame.view_state import ViewState

WINDOW_COLUMNS = (
    "concept",
    "polarity",
    "start_s",
    "end_s",
    "cosine",
    "cosine_after_cut",
    "encoder",
    "weights",
    "clip",
    "seed",
    "version",
)


KEPT_SECONDS = 7200
"""Exports older than this are removed when the next one is made."""


def export_file(name: str) -> Path:
    """A fresh file of this name in a folder nobody can guess."""
    exports = settings().cache_dir.resolve() / "exports"
    exports.mkdir(parents=True, exist_ok=True)
    for old in exports.iterdir():
        if time.time() - old.stat().st_mtime > KEPT_SECONDS:
            shutil.rmtree(old, ignore_errors=True)
    folder = exports / secrets.token_hex(8)
    folder.mkdir()
    return folder / name


def _files(stem: str, record: dict[str, Any], rows: list[dict[str, Any]], view: ViewState) -> dict[str, Any]:
    made_by = {"version": __version__, "encoder": view.encoder, "seed": view.seed, "link": link(view)}
    stamp = {"clip": record["clip"]["digest"], "seed": view.seed, "version": __version__}
    as_json, as_csv = export_file(f"{stem}.json"), export_file(f"{stem}.csv")
    as_json.write_text(json.dumps({**record, "query": view.query, "provenance": made_by}, ensure_ascii=False, indent=1))
    as_csv.write_text(csv_text(WINDOW_COLUMNS, [{**row, **stamp} for row in rows]))
    return {
        "json": gr.DownloadButton(value=str(as_json), interactive=True),
        "csv": gr.DownloadButton(value=str(as_csv), interactive=True),
    }


def localization_exports(found: Localization, view: ViewState) -> dict[str, Any]:
    """CSV and JSON buttons of a localisation; none before every window is embedded."""
    if not found.complete:
        return {}
    return _files("unheard-evidence", localization_record(found), window_rows(found), view)


def cut_exports(experiment: CutExperiment, view: ViewState) -> dict[str, Any]:
    """WAV, CSV and JSON buttons of a cut."""
    wav = export_file(f"{Path(experiment.before.clip.name).stem[:80]}-cut.wav")
    save_wav(experiment.cut, wav)
    record = {"clip": localization_record(experiment.before)["clip"], **cut_record(experiment)}
    rows = window_rows(experiment.before, experiment.after)
    return {"wav": gr.DownloadButton(value=str(wav), interactive=True), **_files("unheard-cut", record, rows, view)}
