"""Free text to what must be heard and what must not: ``parse_query("a dog barking, no rain")``.

A deterministic grammar of absence; no model, no download. When a text is unsure it is read as
asking for a sound, and a note says so.
"""

from backend.negation.link_text import (
    concepts_from_text,
    concepts_to_text,
    query_from_text,
    query_to_text,
)
from backend.negation.parser import parse_query
from backend.negation.query import Concept, Polarity, Query, at_least_one, checked_count
from backend.negation.query_text import MAX_CHARACTERS, MAX_CONCEPTS, MAX_PHRASE, checked_phrase

__all__ = [
    "MAX_CHARACTERS",
    "MAX_CONCEPTS",
    "MAX_PHRASE",
    "Concept",
    "Polarity",
    "Query",
    "at_least_one",
    "checked_count",
    "checked_phrase",
    "concepts_from_text",
    "concepts_to_text",
    "parse_query",
    "query_from_text",
    "query_to_text",
]
