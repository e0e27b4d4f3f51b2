"""Diagnose as a named endpoint for programs: the record of the command line."""

from __future__ import annotations

from typing import Any

from backend.checks import DEFAULT_SEED, checked_seed
from backend.encoders.base import load_encoder
from backend.negation import parse_query
from backend.retrieval.diagnosis import diagnose
from backend.retrieval.relatives import relatives_of
from components.frame.endpoints import Endpoint, a_number, a_record, a_text, an_encoder, answers_in_words


@answers_in_words
def diagnose_endpoint(query: str, encoder: str, seed: float) -> dict[str, Any]:
    """What an encoder's text side does with the query's "no": relatives, cosines, figures, steering path."""
    return diagnose(load_encoder(encoder), relatives_of(parse_query(query), checked_seed(seed))).record()


ENDPOINTS = (
    Endpoint(
        "diagnose", diagnose_endpoint, (a_text("query"), an_encoder, a_number("seed", DEFAULT_SEED)),
        (a_record(),),
    ),
)  # fmt: skip
