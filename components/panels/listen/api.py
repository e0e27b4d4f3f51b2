"""The same three questions the command line answers, as named endpoints for programs.

They answer with the records of ``backend.reports.records``, so page, API and command line agree to the digit.
"""

from __future__ import annotations

from typing import Any

import gradio as gr

from backend.audio import WINDOW_CHOICES, Clip, Span, save_wav
from backend.collections.demo import demo_clip
from backend.encoders.base import encoder_list, load_encoder
from backend.errors import InputError
from backend.evidence.control_cuts import cut_and_compare
from backend.evidence.localization import localize
from backend.negation import parse_query
from backend.reports.records import gate_record, localization_record, provenance, query_record, sought_concepts
from components.frame.exports import export_file
from components.frame.panel import HEAVY
from components.frame.serving import loaded_clip


def _clip(file: str | None, demo: str) -> Clip:
    return loaded_clip(file) if file else loaded_clip(demo_clip(demo).path)


def _window(window: float) -> float:
    if float(window) not in WINDOW_CHOICES:
        raise InputError(f"The window is {window:g} s; it must be 2 or 4.")
    return float(window)


def localize_endpoint(file: str | None, demo: str, query: str, encoder: str, window: float) -> dict[str, Any]:
    """Where each concept of a query is found in a clip: the object of ``localize --json``."""
    try:
        parsed, loaded = parse_query(query), load_encoder(encoder)
        found = localize(loaded, _clip(file, demo), sought_concepts(parsed), _window(window))
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
    """Cut a region by spectral gating and score it again beside 20 random cuts and silence."""
    try:
        clip, loaded = _clip(file, demo), load_encoder(encoder)
        experiment = cut_and_compare(
            loaded, clip, sought_concepts(query), _window(window), Span(float(start), float(end)),
            float(depth_db), seed=int(seed),
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
        query, encoder = gr.Textbox(label="query"), gr.Textbox("pocket", label="encoder")
        window, start, end = gr.Number(2, label="window"), gr.Number(label="start"), gr.Number(label="end")
        depth, seed = gr.Number(40, label="depth_db"), gr.Number(0, label="seed")
        record, cut, call = gr.JSON(label="record"), gr.File(label="cut"), gr.Button()
        asked = [file, demo, query, encoder, window]
        call.click(localize_endpoint, asked, record, api_name="localize", **HEAVY)
        call.click(gate_endpoint, [*asked, start, end, depth, seed], [cut, record], api_name="gate", **HEAVY)
        call.click(encoders_endpoint, None, record, api_name="encoders")
