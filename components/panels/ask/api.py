"""Ask and parse as named endpoints for programs: the records of the command line."""

from __future__ import annotations

from typing import Any

from backend.encoders.base import load_encoder
from backend.negation import parse_query
from backend.retrieval.ranking import DEFAULT_HITS, checked_top
from backend.retrieval.scoring import check_scorer, score_query
from backend.retrieval.search import DEFAULT_SCORER, SearchResult
from backend.retrieval.steering import DEFAULT_LAMBDA, checked_lambda
from components.frame.endpoints import Endpoint, a_number, a_record, a_text, an_encoder, answers_in_words
from components.panels.ask.collection import demo_collection


@answers_in_words
def parse_endpoint(query: str) -> dict[str, Any]:
    """What a query asks to hear and not to hear, with character spans and cues."""
    return parse_query(query).record()


@answers_in_words
def ask_endpoint(query: str, encoder: str, strength: float, top: float, scorer: str = DEFAULT_SCORER) -> dict[str, Any]:
    """The demo clips ranked for a query by all three scorers: the object of ``rank demo QUERY --json``."""
    chosen, strength, count = check_scorer(scorer), checked_lambda(strength), checked_top(top)
    loaded = load_encoder(encoder)
    scores = score_query(demo_collection(loaded), loaded, parse_query(query))
    return SearchResult(scores, strength).record(chosen, count)


ENDPOINTS = (
    Endpoint("parse", parse_endpoint, (a_text("query"),), (a_record(),), heavy=False),
    Endpoint(
        "ask",
        ask_endpoint,
        (
            a_text("query"), an_encoder, a_number("lambda", DEFAULT_LAMBDA), a_number("top", DEFAULT_HITS),
            a_text("scorer", DEFAULT_SCORER),
        ),
        (a_record(),),
    ),
)  # fmt: skip
