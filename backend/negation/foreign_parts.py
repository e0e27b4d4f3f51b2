"""Spanish, French and German: a text cut into parts, each with the role its phrase plays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from backend.negation.languages import Language
from backend.negation.lexicon import LONGEST_PHRASE, Kind

_PIECE = re.compile(r"[^\W_]+['’](?=[^\W_])|[^\W_]+(?:-[^\W_]+)*|[^\w\s]|\n")
_AFTER_FINAL = frozenset([",", ".", ";", "!", "?", "\n", "und", "aber", "sondern", "während", "et", "mais"])
_FINAL = frozenset(["nicht", "pas"])
"""Negations that may stand last and then deny what is before them: "es regnet nicht", "le chien aboie pas"."""
_QUOTES = tuple('"“”„«»')
_Piece = tuple[str, int, int]


@dataclass(frozen=True)
class Part:
    """A word, or a phrase with a role; ``text`` as typed, at ``start:end``."""

    kind: Kind
    start: int
    end: int
    text: str

    @property
    def word(self) -> str:
        """Lower case, with a straight apostrophe."""
        return self.text.lower().replace("’", "'")


def parts_of(text: str, language: Language) -> list[Part]:
    """The parts of a text in order; what means nothing for presence is left out."""
    pieces = [(m.group().lower().replace("’", "'"), m.start(), m.end()) for m in _PIECE.finditer(text)]
    parts: list[Part] = []
    halves: set[int] = set()
    weder = any(word == "weder" for word, _, _ in pieces)
    answers = _answers(pieces, language)
    place = 0
    while place < len(pieces):
        word, start, end = pieces[place]
        signed, reached = _signed(text, pieces, place)
        if signed or place in answers:
            parts += signed or [Part(answers[place], start, end, text[start:end])]
            place += reached or 1
            continue
        length, kind = 1, Kind.WORD
        ahead = [piece[0] for piece in pieces[place : place + LONGEST_PHRASE]]
        for words, found in language.phrases.matches(ahead):
            length, kind, end = words, found, pieces[place + words - 1][2]
            break
        if place in halves or (word == "noch" and not weder):
            kind = Kind.DROP
        elif not word[0].isalnum():
            kind = Kind.COMMA if word in (",", "、") else Kind.END if word in ".;:!?\n()–—…" else Kind.DROP
        elif kind is Kind.NEG and word in language.denial_pairs:
            kind = _split_denial(pieces, place, language, halves)
        ends = place + length >= len(pieces) or pieces[place + length][0] in _AFTER_FINAL
        if kind is Kind.NEG and word in _FINAL and length == 1 and ends and parts and parts[-1].kind is Kind.WORD:
            kind = Kind.ABSENT
        if kind is not Kind.DROP:
            parts.append(Part(kind, start, end, text[start:end]))
        place += length
    return parts


def _signed(text: str, pieces: Sequence[_Piece], place: int) -> tuple[list[Part], int]:
    """ "-truenos", -"lauter Donner": the sign of a search engine, over one word or over what is quoted.

    Returns the parts, of which the last ends what is absent, and how many pieces they came from; none and 0
    where the piece is no such sign.
    """
    sign, start, end = pieces[place]
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    if sign not in "-−–!" or before not in ("", " ", "(") or not (after.isalpha() or after in _QUOTES):
        return [], 0
    last = place + 1
    if after in _QUOTES:
        last = next((at for at in range(place + 2, len(pieces)) if pieces[at][0] in _QUOTES), len(pieces) - 1)
    reached = pieces[place + 1 : last + 1]
    words = [Part(Kind.WORD, a, b, text[a:b]) for word, a, b in reached if word[0].isalnum()]
    closed = Part(Kind.END, reached[-1][2], reached[-1][2], "")
    return [Part(Kind.NEG, start, end, text[start:end]), *words, closed], 1 + len(reached)


def _answers(pieces: Sequence[_Piece], language: Language) -> dict[int, Kind]:
    """Places of answers that close what is before them, "lluvia sí, viento no", and of the marks before those.

    Without marks, "lluvia sí viento no", only where a yes and a no stand, and one stands last and none first.
    """
    words = [word for word, _, _ in pieces]
    kinds = {word: Kind.ABSENT for word in language.no} | {word: Kind.PRESENT for word in language.yes}
    both = bool(language.yes & set(words)) and bool(language.no & set(words))
    series = both and words[-1] in kinds and words[0] not in kinds
    found: dict[int, Kind] = {}
    for place, word in enumerate(words):
        if word not in kinds or place == 0:
            continue
        marked = words[place - 1] in ((":", ",") if both else (":",)) and place > 1
        said = marked or words[place - 1][0].isalnum()
        ends = place + 1 == len(words) or words[place + 1] in (",", ".", ";", "!", "?", "\n")
        if said and (ends or series):
            found[place] = kinds[word]
            if marked:
                found[place - 1] = Kind.DROP
    return found


def _split_denial(pieces: Sequence[_Piece], place: int, language: Language, halves: set[int]) -> Kind:
    """French "ne ... pas": the second half means nothing more; "ne ... plus" was heard before."""
    for later in range(place + 1, min(place + 5, len(pieces))):
        if pieces[later][0] in language.second_halves:
            halves.add(later)
            return Kind.NO_LONGER if pieces[later][0] == "plus" else Kind.NEG
    return Kind.DROP
