"""Compose as a named endpoint for programs: the record of the command line."""

from __future__ import annotations

from typing import Any

from backend.checks import DEFAULT_SEED, checked_seed
from components.frame.endpoints import Endpoint, a_file, a_number, a_record, an_encoder, answers_in_words
from components.panels.compose.reports import demo_report, own_report


@answers_in_words
def compose_endpoint(embeddings: str | None, labels: str | None, encoder: str, seed: float) -> dict[str, Any]:
    """compose.json of your embeddings (.npz, .parquet) and labels (CSV id,labels); of the demo scenes without files."""
    if embeddings or labels:
        return own_report(embeddings, labels, checked_seed(seed)).record()
    return demo_report(encoder, checked_seed(seed))[0].record()


ENDPOINTS = (
    Endpoint(
        "compose",
        compose_endpoint,
        (a_file("embeddings"), a_file("labels"), an_encoder, a_number("seed", DEFAULT_SEED)),
        (a_record(),),
    ),
)
