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
    place = 0
    while place < len(pieces):
        word, start, end = pieces[place]
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


def _split_denial(pieces: Sequence[_Piece], place: int, language: Language, halves: set[int]) -> Kind:
    """French "ne ... pas": the second half means nothing more; "ne ... plus" was heard before."""
    for later in range(place + 1, min(place + 5, len(pieces))):
        if pieces[later][0] in language.second_halves:
            halves.add(later)
            return Kind.NO_LONGER if pieces[later][0] == "plus" else Kind.NEG
    return Kind.DROP
