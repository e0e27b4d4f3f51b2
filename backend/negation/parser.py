"""The way in: check, language, grammar."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from backend.negation.chinese import parse_chinese
from backend.negation.detect import language_of
from backend.negation.grammar import parse_english
from backend.negation.other import parse_other
from backend.negation.query import Concept, Query, logic_notes
from backend.negation.query_text import MAX_CONCEPTS, MAX_PHRASE, checked_text, fitted_phrase


def parse_query(text: str) -> Query:
    """What a free text asks to hear and not to hear.

    Parameters
    ----------
    text : str
        At most ``MAX_CHARACTERS``, in English, Spanish, French, German or Chinese. A text in
        another language is read as one present concept, and a note says so.

    Raises
    ------
    InputError
        The text is empty, too long, or has no word in it.
    """
    cleaned, notes = checked_text(text)
    query = _read(cleaned)
    return replace(query, notes=notes + query.notes) if notes else query


@lru_cache(maxsize=1024)
def _read(cleaned: str) -> Query:
    """A checked text, read once however many ask: the page, its handlers and the API all begin with the text."""
    query = _within_limits(_by_language(cleaned))
    return replace(query, notes=query.notes + logic_notes(query))


def _by_language(cleaned: str) -> Query:
    code, name = language_of(cleaned)
    if code == "zh":
        return parse_chinese(cleaned)
    if code == "en":
        return parse_english(cleaned)
    return _as_it_is(cleaned, name) if code == "und" else parse_other(cleaned, code)


def _within_limits(query: Query) -> Query:
    """The query with no more and no longer concepts than one may hold, and sentences about what was left out."""
    notes: tuple[str, ...] = ()
    kept = query.concepts
    if len(kept) > MAX_CONCEPTS:
        notes += (f"Only the first {MAX_CONCEPTS} of {len(kept)} concepts are kept.",)
        first = sorted(kept, key=lambda concept: (concept.start, concept.end))[:MAX_CONCEPTS]
        kept = tuple(concept for concept in kept if concept in first)
    fitted = tuple(replace(concept, text=fitted_phrase(concept.text)) for concept in kept)
    for whole, shorter in zip(kept, fitted, strict=True):
        if len(shorter.text) < len(whole.text) > MAX_PHRASE:
            notes += (
                f"The sound that begins “{shorter.text[:40]}…” has {len(whole.text)} characters; "
                f"its first {len(shorter.text)} are kept.",
            )
    return replace(query, concepts=fitted, notes=notes + query.notes)


def _as_it_is(text: str, name: str) -> Query:
    """An unparsed text: one present concept."""
    body = text.strip()
    start = text.index(body)
    note = (
        f"The query looks like {name}; absence is parsed in English, Spanish, French, German and Chinese. "
        "It was read as one sound to be heard. Add or flip concepts by hand."
    )
    return Query(text, (Concept(body, "present", start, start + len(body)),), "und", (note,))
