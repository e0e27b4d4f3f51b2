"""The way in: check, language, grammar."""

from __future__ import annotations

from dataclasses import replace

from backend.negation.chinese import parse_chinese
from backend.negation.detect import language_of
from backend.negation.grammar import parse_english
from backend.negation.other import parse_other
from backend.negation.query import MAX_CONCEPTS, Concept, Query, logic_notes
from backend.negation.query_text import checked_text


def parse_query(text: str) -> Query:
    """What a free text asks to hear and not to hear.

    Parameters
    ----------
    text : str
        At most 500 characters, in English, Spanish, French, German or Chinese. A text in
        another language is read as one present concept, and a note says so.

    Raises
    ------
    InputError
        The text is empty, too long, or has no word in it.
    """
    cleaned, notes = checked_text(text)
    code, name = language_of(cleaned)
    if code == "zh":
        query = parse_chinese(cleaned)
    elif code == "en":
        query = parse_english(cleaned)
    elif code == "und":
        query = _as_it_is(cleaned, name)
    else:
        query = parse_other(cleaned, code)
    if len(query.concepts) > MAX_CONCEPTS:
        notes += (f"Only the first {MAX_CONCEPTS} of {len(query.concepts)} concepts are kept.",)
        first = query.concepts[:MAX_CONCEPTS]
        query = replace(
            query,
            positives=tuple(concept for concept, polarity in first if polarity == "present"),
            negatives=tuple(concept for concept, polarity in first if polarity == "absent"),
        )
    return replace(query, notes=notes + query.notes + logic_notes(query))


def _as_it_is(text: str, name: str) -> Query:
    """An unparsed text: one present concept."""
    body = text.strip()
    start = text.index(body)
    note = (
        f"The query looks like {name}; absence is parsed in English, Spanish, French, German and Chinese. "
        "It was read as one sound to be heard. Add or flip concepts by hand."
    )
    phrase = " ".join(body.split())[:120]
    return Query(text, (Concept(phrase, start, start + len(body)),), (), "und", (note,))
