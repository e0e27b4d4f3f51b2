"""The one check of query text: what a person, a link or a browser sends, before anything reads it."""

from __future__ import annotations

import unicodedata

from backend.errors import InputError

MAX_CHARACTERS = 500
"""Longest query that is read: about five sentences."""
MAX_PHRASE = 120
"""Longest single concept, in characters."""
MAX_CONCEPTS = 24
"""Most concepts that a query holds: of a longer text the first are kept, a longer list is refused."""


def checked_text(text: object) -> tuple[str, tuple[str, ...]]:
    """A query's text with what is no character of a text replaced one for one, and notes about that.

    Control characters become spaces, bytes that are not UTF-8 the replacement character.

    Offsets into the result are offsets into what was typed. Newlines stay: they end a sentence.

    Raises
    ------
    InputError
        Not text, empty, longer than ``MAX_CHARACTERS``, or without one letter or digit.
    """
    if not isinstance(text, str):
        raise InputError(f"The query is {type(text).__name__}, not text. Type what you want to hear.")
    if len(text) > MAX_CHARACTERS:
        raise InputError(
            f"The query has {len(text):,} characters; at most {MAX_CHARACTERS} are read. "
            "Shorten it to the sounds you want, and those you do not."
        )
    cleaned = "".join(_harmless(character) for character in text)
    if not cleaned.strip():
        raise InputError("The query is empty. Type what you want to hear, for example: a dog barking, no rain.")
    if not any(character.isalnum() for character in cleaned):
        raise InputError(f"The query {_shown(cleaned)} has no word in it. Type what you want to hear.")
    return cleaned, _what_was_replaced(text)


def checked_phrase(text: object) -> str:
    """One concept's words, trimmed, with single spaces. Raises InputError as ``checked_text`` does."""
    if not isinstance(text, str):
        raise InputError(f"A concept is {type(text).__name__}, not text.")
    phrase = " ".join("".join(_harmless(character) for character in text[: 4 * MAX_PHRASE]).split())
    if not any(character.isalnum() for character in phrase):
        raise InputError("The concept is empty. Type a sound, or delete the concept.")
    if len(phrase) > MAX_PHRASE:
        raise InputError(f"The concept has {len(phrase)} characters; at most {MAX_PHRASE} are read. Shorten it.")
    return phrase


def fitted_phrase(text: str) -> str:
    """Words read in a query as one concept's: with single spaces, and not longer than a concept may be."""
    phrase = " ".join(text.split())
    if len(phrase) <= MAX_PHRASE:
        return phrase
    whole_words = phrase[: MAX_PHRASE + 1].rpartition(" ")[0]
    return whole_words or phrase[:MAX_PHRASE]


def _what_was_replaced(text: str) -> tuple[str, ...]:
    """Sentences about what ``_harmless`` changed."""
    notes = []
    if any(unicodedata.category(character) == "Cs" for character in text):
        notes.append("The query holds bytes that are not UTF-8 text; they were left out. Save the text as UTF-8.")
    if any(_is_control(character) for character in text):
        notes.append("Control characters in the query were read as spaces.")
    return tuple(notes)


def _is_control(character: str) -> bool:
    """Whether a character has no width or meaning of its own here; the joiners inside words have."""
    return character not in "\n\t\r\u200c\u200d" and unicodedata.category(character) in ("Cc", "Cf")


def _harmless(character: str) -> str:
    if "\uff10" <= character <= "\uff5a" and character.isalnum():
        return unicodedata.normalize("NFKC", character)  # the wide letters and digits of East Asian keyboards
    if unicodedata.category(character) == "Cs":
        return "\ufffd"
    return " " if _is_control(character) or character in "\t\r" else character


def _shown(text: str) -> str:
    return f"“{text.strip()[:20]}”"
