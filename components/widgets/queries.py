"""The query a view asks: parsed, or as the visitor corrected it."""

from __future__ import annotations

from backend.negation import Query, parse_query
from components.frame.view_state import ViewState


def query_of(view: ViewState) -> Query:
    """The view's query; a correction of its concepts always wins, and keeps the spans of those it kept.

    Raises
    ------
    InputError
        The text cannot be parsed.
    """
    parsed = parse_query(view.query)
    return parsed if view.concepts is None else parsed.with_concepts(view.concepts)


def asked_key(view: ViewState) -> tuple[object, ...]:
    """What of a view decides the rankings and the diagnosis."""
    return (view.query, view.concepts, view.encoder, view.seed)
