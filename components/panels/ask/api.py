"""Ask, parse and diagnose as named endpoints for programs: the records of the command line."""

from __future__ import annotations

from typing import Any

import gradio as gr

from backend.checks import DEFAULT_SEED, checked_seed
from backend.encoders.base import load_encoder
from backend.errors import InputError
from backend.negation import as_json, parse_query
from backend.reports.records import DEFAULT_SCORER, provenance, ranking_record
from backend.retrieval.diagnosis import diagnose, relatives_of
from backend.retrieval.ranking import DEFAULT_HITS, checked_top, rank
from backend.retrieval.scoring import SCORERS, check_scorer, score_query
from backend.retrieval.steering import DEFAULT_LAMBDA, checked_lambda
from backend.settings import settings
from components.frame.panel import HEAVY
from components.panels.ask.collection import demo_collection


def parse_endpoint(query: str) -> dict[str, Any]:
    """What a query asks to hear and not to hear, with character spans and cues."""
    try:
        return as_json(parse_query(query))
    except InputError as error:
        raise gr.Error(str(error), print_exception=False) from None


def ask_endpoint(query: str, encoder: str, strength: float, top: float, scorer: str = DEFAULT_SCORER) -> dict[str, Any]:
    """The demo clips ranked for a query by all three scorers: the object of ``rank demo QUERY --json``."""
    try:
        chosen, strength, count = check_scorer(scorer), checked_lambda(strength), checked_top(top)
        loaded = load_encoder(encoder)
        parsed = parse_query(query)
        scores = score_query(demo_collection(loaded), loaded, parsed)
        rankings = [rank(scores, name, strength) for name in SCORERS]
        return ranking_record(parsed, rankings, chosen, count, provenance(loaded, 0))
    except InputError as error:
        raise gr.Error(str(error), print_exception=False) from None


def diagnose_endpoint(query: str, encoder: str, seed: float) -> dict[str, Any]:
    """What an encoder's text side does with the query's "no": relatives, cosines, figures, steering path."""
    try:
        return diagnose(load_encoder(encoder), relatives_of(parse_query(query), checked_seed(seed))).record()
    except InputError as error:
        raise gr.Error(str(error), print_exception=False) from None


def build() -> None:
    """Add the endpoints; nothing of them is drawn."""
    with gr.Column(visible=False):
        query, encoder = gr.Textbox(label="query"), gr.Textbox(settings().encoder, label="encoder")
        strength, top = gr.Number(DEFAULT_LAMBDA, label="lambda"), gr.Number(DEFAULT_HITS, label="top")
        seed = gr.Number(DEFAULT_SEED, label="seed")
        scorer = gr.Textbox(DEFAULT_SCORER, label="scorer")
        record, call = gr.JSON(label="record"), gr.Button()
        call.click(parse_endpoint, query, record, api_name="parse")
        call.click(ask_endpoint, [query, encoder, strength, top, scorer], record, api_name="ask", **HEAVY)
        call.click(diagnose_endpoint, [query, encoder, seed], record, api_name="diagnose", **HEAVY)
