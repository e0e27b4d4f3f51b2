"""Results as files to take away: WAV, CSV and JSON, each with what made it."""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gradio as gr

from backend.audio import save_wav
from backend.evidence.control_cuts import CutExperiment
from backend.evidence.localization import Localization
from backend.reports.jsonable import json_text
from backend.reports.tables import Table, window_table
from backend.settings import settings
from components.frame.links import link
from components.frame.view_state import ViewState
from components.widgets.queries import query_of

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


def download_row(panel: str, titles: Mapping[str, str], **options: Any) -> dict[str, gr.DownloadButton]:
    """A row of buttons, by kind of file, that give nothing yet."""
    with gr.Row(elem_classes="downloads"):
        return {
            kind: gr.DownloadButton(title, interactive=False, size="sm", elem_id=f"{panel}-{kind}", **options)
            for kind, title in titles.items()
        }


def ready(path: Path) -> gr.DownloadButton:
    """A button that gives this file."""
    return gr.DownloadButton(value=str(path), interactive=True)


def download(name: str, content: str | bytes) -> gr.DownloadButton:
    """A button that gives a fresh file of this name and content."""
    path = export_file(name)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return ready(path)


def _numbers(stem: str, record: dict[str, Any], table: Table) -> dict[str, gr.DownloadButton]:
    return {"json": download(f"{stem}.json", json_text(record)), "csv": download(f"{stem}.csv", table.csv())}


def localization_exports(found: Localization, view: ViewState) -> dict[str, Any]:
    """CSV and JSON buttons of a localisation; none before every window is embedded."""
    if not found.complete:
        return {}
    record = found.record(query_of(view), view.seed, link=link(view))
    return _numbers("unheard-evidence", record, window_table(found, view.seed))


def cut_exports(experiment: CutExperiment, view: ViewState) -> dict[str, Any]:
    """WAV, CSV and JSON buttons of a cut."""
    wav = export_file(f"{Path(experiment.before.clip.name).stem[:80]}-cut.wav")
    save_wav(experiment.cut, wav)
    record = experiment.record(query_of(view), link=link(view))
    table = window_table(experiment.before, experiment.seed, experiment.after)
    return {"wav": ready(wav), **_numbers("unheard-cut", record, table)}
