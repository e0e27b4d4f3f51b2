"""The same three questions the command line answers, as named endpoints for programs.

They answer with the records of ``backend.reports.records``, so page, API and command line agree to the digit.
"""

from __future__ import annotations

from typing import Any

import gradio as gr

from backend.audio import WINDOW_SECONDS, Clip, Span, save_wav
from backend.checks import DEFAULT_SEED, checked_seed
from backend.collections.demo import demo_clip
from backend.encoders.base import encoder_list, load_encoder
from backend.errors import InputError
from backend.evidence.control_cuts import cut_and_compare
from backend.evidence.cut import DEFAULT_DEPTH_DB
from backend.evidence.localization import localize
from backend.negation import parse_query
from backend.reports.records import gate_record, localization_record, provenance, query_record, sought_concepts
from backend.settings import settings
from components.frame.exports import export_file
from components.frame.panel import HEAVY
from components.frame.serving import loaded_clip


def _clip(file: str | None, demo: str) -> Clip:
    return loaded_clip(file) if file else loaded_clip(demo_clip(demo).path)


def localize_endpoint(file: str | None, demo: str, query: str, encoder: str, window: float) -> dict[str, Any]:
    """Where each concept of a query is found in a clip: the object of ``localize --json``."""
    try:
        parsed, loaded = parse_query(query), load_encoder(encoder)
        found = localize(loaded, _clip(file, demo), sought_concepts(parsed), window)
        return {**localization_record(found), **query_record(parsed), "provenance": provenance(loaded, 0)}
    except InputError as error:
        raise gr.Error(str(error), print_exception=False) from None


def gate_endpoint(
    file: str | None,
    demo: str,
    query: str,
    encoder: str,
    window: float,
    start: float,
    end: float,
    depth_db: float,
    seed: float,
) -> tuple[str, dict[str, Any]]:
    """Cut a region by spectral gating and score it again beside random cuts and silence."""
    try:
        clip, loaded = _clip(file, demo), load_encoder(encoder)
        experiment = cut_and_compare(
            loaded, clip, sought_concepts(query), window, Span(start, end), depth_db,
            seed=checked_seed(seed),
        )  # fmt: skip
        path = export_file("cut.wav")
        save_wav(experiment.cut, path)
    except InputError as error:
        raise gr.Error(str(error), print_exception=False) from None
    record = gate_record(clip, experiment.span, experiment.depth_db, experiment.band, experiment)
    return str(path), {**record, "query": query, "provenance": provenance(loaded, experiment.seed)}


def encoders_endpoint() -> list[dict[str, Any]]:
    """Every encoder, whether it is ready here, and what it needs."""
    return [info.__dict__ for info in encoder_list()]


def build() -> None:
    """Add the endpoints; nothing of them is drawn."""
    with gr.Column(visible=False):
        file, demo = gr.File(type="filepath", label="file"), gr.Textbox(label="demo")
        query, encoder = gr.Textbox(label="query"), gr.Textbox(settings().encoder, label="encoder")
        window, start, end = gr.Number(WINDOW_SECONDS, label="window"), gr.Number(label="start"), gr.Number(label="end")
        depth, seed = gr.Number(DEFAULT_DEPTH_DB, label="depth_db"), gr.Number(DEFAULT_SEED, label="seed")
        record, cut, call = gr.JSON(label="record"), gr.File(label="cut"), gr.Button()
        asked = [file, demo, query, encoder, window]
        call.click(localize_endpoint, asked, record, api_name="localize", **HEAVY)
        call.click(gate_endpoint, [*asked, start, end, depth, seed], [cut, record], api_name="gate", **HEAVY)
        call.click(encoders_endpoint, None, record, api_name="encoders")
