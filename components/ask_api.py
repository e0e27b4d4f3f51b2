"""Ask, parse and diagnose as named endpoints for programs: the records of the command line."""

from __future__ import annotations

from typing import Any

import gradio as gr

from backend import __version__
from backend.diagnosis import diagnose, diagnosis_record, relatives_of
from backend.encoders.base import load_encoder
from backend.errors import InputError
from backend.negation import as_json, parse_query
from backend.ranking import rank
from backend.scoring import SCORERS, score_query
from components.ask_collection import demo_collection
from components.frame import HEAVY


def parse_endpoint(query: str) -> dict[str, Any]:
    """What a query asks to hear and not to hear, with character spans and cues."""
    try:
        return as_json(parse_query(query))
    except InputError as error:
        raise gr.Error(str(error), print_exception=False) from None


def ask_endpoint(query: str, encoder: str, lam: float, top: float) -> dict[str, Any]:
    """The demo clips ranked for a query by all three scorers."""
    try:
        loaded = load_encoder(encoder)
        parsed = parse_query(query)
        scores = score_query(demo_collection(loaded), loaded, parsed)
        rankings = [rank(scores, scorer, float(lam)) for scorer in SCORERS]
        hits = [ranking.hits(int(top)) for ranking in rankings]
    except InputError as error:
        raise gr.Error(str(error), print_exception=False) from None
    return {
        "query": as_json(parsed),
        "encoder": {"id": loaded.id, "weights": loaded.weights},
        "version": __version__,
        "lambda": float(lam),
        "rankings": [
            {
                "scorer": ranking.scorer,
                "violations": ranking.violations(int(top)),
                "hits": [
                    {
                        "id": hit.id, "rank": hit.rank, "score": round(hit.score, 6), "violates": hit.violates,
                        "answers": hit.answers,
                    }
                    for hit in found
                ],
            }
            for ranking, found in zip(rankings, hits, strict=True)
        ],
    }  # fmt: skip


def diagnose_endpoint(query: str, encoder: str, seed: float) -> dict[str, Any]:
    """What an encoder's text side does with the query's "no": relatives, cosines, figures, steering path."""
    try:
        return diagnosis_record(diagnose(load_encoder(encoder), relatives_of(parse_query(query), int(seed))))
    except InputError as error:
        raise gr.Error(str(error), print_exception=False) from None


def build() -> None:
    """Add the endpoints; nothing of them is drawn."""
    with gr.Column(visible=False):
        query, encoder = gr.Textbox(label="query"), gr.Textbox("pocket", label="encoder")
        lam, top, seed = gr.Number(0.2, label="lambda"), gr.Number(10, label="top"), gr.Number(0, label="seed")
        record, call = gr.JSON(label="record"), gr.Button()
        call.click(parse_endpoint, query, record, api_name="parse")
        call.click(ask_endpoint, [query, encoder, lam, top], record, api_name="ask", **HEAVY)
        call.click(diagnose_endpoint, [query, encoder, seed], record, api_name="diagnose", **HEAVY)
