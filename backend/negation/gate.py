"""The one gate of query text: what a person, a link or a browser sends, before anything reads it."""

from __future__ import annotations

import unicodedata

from backend.errors import InputError

MAX_CHARACTERS = 500
"""Longest query that is read: about five sentences."""
MAX_PHRASE = 120
"""Longest single concept."""


def checked_text(text: object) -> tuple[str, tuple[str, ...]]:
    """A query's text with control characters replaced one for one by spaces, and notes about that.

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
    notes = () if cleaned == text else ("Control characters in the query were read as spaces.",)
    return cleaned, notes


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


def _harmless(character: str) -> str:
    if character == "\n":
        return character
    if unicodedata.category(character) == "Cs":
        return "�"
    return " " if unicodedata.category(character) in ("Cc", "Cf") and character not in "‌‍" else character


def _shown(text: str) -> str:
    return f"“{text.strip()[:20]}”"
