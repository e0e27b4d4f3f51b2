"""A query as text for a link: the one grammar, written and read here alone.

Concepts are ``+dog barking|-rain``; a bar inside a name is written %7C, a percent sign %25. A whole query is
``q=its text``, with ``&c=its concepts`` where a person has corrected them.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qsl, urlencode

from backend.errors import InputError
from backend.negation.parser import parse_query
from backend.negation.query import Concept, Polarity, Query, at_least_one, checked_count
from backend.negation.query_text import checked_phrase

SIGNS: dict[Polarity, str] = {"present": "+", "absent": "-"}


def concepts_to_text(concepts: Sequence[Concept]) -> str:
    """``+dog barking|-rain``."""
    return "|".join(SIGNS[one.polarity] + one.text.replace("%", "%25").replace("|", "%7C") for one in concepts)


def concepts_from_text(text: str) -> tuple[Concept, ...]:
    """What :func:`concepts_to_text` wrote.

    Raises
    ------
    InputError
        It is anything else, names no sound, or more or longer ones than a query holds.
    """
    polarities: dict[str, Polarity] = {sign: polarity for polarity, sign in SIGNS.items()}
    concepts = []
    for part in text.split("|") if text else ():
        if part[:1] not in polarities:
            raise InputError(f"The link has the concept {part[:40]!r}; each begins with + (present) or - (absent).")
        phrase = checked_phrase(part[1:].replace("%7C", "|").replace("%25", "%"))
        concepts.append(Concept(phrase, polarities[part[0]]))
    return at_least_one(checked_count(concepts))


def query_to_text(query: Query) -> str:
    """``q=a dog, no rain``, and its concepts where a person has corrected them."""
    corrected = {"c": concepts_to_text(query.concepts)} if query.edited else {}
    return urlencode({"q": query.text, **corrected})


def query_from_text(text: str) -> Query:
    """What :func:`query_to_text` wrote. Raises InputError where it is no query that can be asked."""
    values = dict(parse_qsl(text))
    query = parse_query(values.get("q", ""))
    return query.with_concepts(concepts_from_text(values["c"])) if "c" in values else query
