"""Spanish, French and German by one small engine over their tables: the basic forms, not a full grammar."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from backend.negation.languages import TABLES, Language
from backend.negation.lexicon import LONGEST_PHRASE, Kind
from backend.negation.query import Concept, Others, Query

_PIECE = re.compile(r"[^\W_]+['’](?=[^\W_])|[^\W_]+(?:-[^\W_]+)*|[^\w\s]|\n")
_CLOSED_BY = frozenset({Kind.BUT, Kind.WHILE, Kind.WITH, Kind.ONLY, Kind.END, Kind.REQUEST})

_PRONOUNS = frozenset("il elle ils elles on ça es er sie ich wir ella ellos ellas él yo".split())
"""Subjects that begin a clause of their own, out of reach of the absence before."""
_AFTER_FINAL = frozenset([",", ".", ";", "!", "?", "\n", "und", "aber", "sondern", "während"])


@dataclass(frozen=True)
class _Part:
    kind: Kind
    start: int
    end: int
    text: str


def parse_other(text: str, code: str) -> Query:
    """The Query of a text in a language of ``TABLES``."""
    language = TABLES[code]
    present: list[Concept] = []
    absent: list[Concept] = []
    others: Others = ""
    parts = _parts(text, language)
    shed = language.articles | language.edges
    polarity, cue = "present", None
    lead: list[_Part] = []
    words: list[_Part] = []
    article = False
    for place, part in enumerate([*parts, _Part(Kind.END, len(text), len(text), "")]):
        if part.kind is Kind.WORD:
            words.append(part)
            continue
        closing = part.kind if part.kind in (Kind.ABSENT, Kind.NO_LONGER) else None
        if closing and words:
            _place(text, language, words, "absent" if closing is Kind.ABSENT else "present", part, present, absent)
            words, lead, polarity, cue = [], [], "present", None
            continue
        content = [word for word in words if word.text.lower() not in shed]
        if content:
            bare = not _has_article(language, words)
            polarity, cue, others = _decided(
                lead,
                polarity,
                cue,
                (bare or article) and words[0].text.lower() not in _PRONOUNS,
                _list_closed(parts[place:]),
                others,
            )
            if any(p.kind in (Kind.NEG, Kind.PREP) for p in lead):
                article = not bare
            _place(text, language, words, polarity, cue, present, absent)
            words, lead = [], []
        elif words:
            words = []
        lead.append(part)
    if any(part.kind is Kind.ONLY for part in parts):
        others = "absent"
    return Query(text, tuple(present), tuple(absent), code, (), others)


def _decided(
    lead: Sequence[_Part], polarity: str, cue: _Part | None, runs_on: bool, or_ahead: bool, others: Others
) -> tuple[str, _Part | None, Others]:
    """The polarity that a lead gives, after the chunk before had ``polarity``."""
    before, mode, by = polarity, "inherit", cue
    denied = nothing = everything = False
    for part in lead:
        if part.kind in _CLOSED_BY:
            mode, by, denied = "present", None, False
        elif part.kind is Kind.NO_LONGER:
            mode, by = "present", None
        elif part.kind is Kind.NOR:
            mode, by, denied = "absent", part, True
        elif part.kind is Kind.PREP and denied:
            mode, by, denied = "present", None, False
        elif part.kind in (Kind.NEG, Kind.PREP):
            mode, by, denied = "absent", by if denied else part, True
        elif part.kind is Kind.NOTHING:
            nothing = True
        elif part.kind is Kind.EVERYTHING:
            everything = True
        elif part.kind is Kind.EXCEPT:
            if nothing or (before == "absent" and not everything and len(lead) == 1):
                mode, by, others = "present", None, "absent"
            else:
                mode, by, others = "absent", part, "present" if everything else others
    if mode != "inherit":
        return mode, by if mode == "absent" else None, others
    kinds = {part.kind for part in lead}
    reaches = before == "absent" and (
        Kind.OR in kinds or (Kind.AND in kinds and runs_on) or (Kind.COMMA in kinds and or_ahead)
    )
    return ("absent", cue, others) if reaches else ("present", None, others)


def _list_closed(ahead: Sequence[_Part]) -> bool:
    """Whether a list of bare words ahead ends in "or" or "nor"."""
    for part in ahead:
        if part.kind in (Kind.OR, Kind.NOR):
            return True
        if part.kind not in (Kind.WORD, Kind.COMMA):
            return False
    return False


def _has_article(language: Language, words: Sequence[_Part]) -> bool:
    return words[0].text.lower() in language.articles


def _place(
    text: str, language: Language, words: Sequence[_Part], polarity: str, cue: _Part | None,
    present: list[Concept], absent: list[Concept],
) -> None:  # fmt: skip
    shed = language.articles | language.edges
    kept = list(words)
    while kept and kept[0].text.lower().replace("’", "'") in shed:
        kept = kept[1:]
    while kept and kept[-1].text.lower() in shed:
        kept = kept[:-1]
    if not kept:
        return
    start, end = kept[0].start, kept[-1].end
    phrase = " ".join(text[start:end].split())
    if polarity == "absent" and cue is not None:
        absent.append(Concept(phrase, start, end, cue.text.lower(), cue.start, cue.end, (start, end)))
    else:
        present.append(Concept(phrase, start, end))


def _parts(text: str, language: Language) -> list[_Part]:
    pieces = [(m.group().lower().replace("’", "'"), m.start(), m.end()) for m in _PIECE.finditer(text)]
    parts: list[_Part] = []
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
        if kind is Kind.NEG and word == "nicht" and length == 1 and ends and parts and parts[-1].kind is Kind.WORD:
            kind = Kind.ABSENT  # German negates a clause at its end: "es regnet nicht"
        if kind is not Kind.DROP:
            parts.append(_Part(kind, start, end, text[start:end]))
        place += length
    return parts


def _split_denial(pieces: Sequence[tuple[str, int, int]], place: int, language: Language, halves: set[int]) -> Kind:
    """French "ne ... pas": the second half means nothing more; "ne ... plus" was heard before."""
    for later in range(place + 1, min(place + 5, len(pieces))):
        if pieces[later][0] in language.second_halves:
            halves.add(later)
            return Kind.NO_LONGER if pieces[later][0] == "plus" else Kind.NEG
    return Kind.DROP
