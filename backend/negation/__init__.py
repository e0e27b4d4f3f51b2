"""Free text to what must be heard and what must not: ``parse_query("a dog barking, no rain")``.

A deterministic grammar of absence; no model, no download. When a text is unsure it is read as
asking for a sound, and a note says so.
"""

from backend.negation.parser import parse_query
from backend.negation.query import (
    MAX_CONCEPTS,
    Concept,
    Polarity,
    Query,
    as_json,
    chips_from_text,
    chips_to_text,
)

__all__ = [
    "MAX_CONCEPTS",
    "Concept",
    "Polarity",
    "Query",
    "as_json",
    "chips_from_text",
    "chips_to_text",
    "parse_query",
]
