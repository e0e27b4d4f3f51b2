"""What the phrases of absence do, and the reader of the tables in ``cues/`` that list them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from enum import Enum
from pathlib import Path


class Kind(Enum):
    """What an item of the query does."""

    WORD = "word"
    NEG = "opens a scope of absence"
    PREP = "opens a scope of absence, as a preposition does: lists run on under it"
    EXCEPT = "turns the polarity of what went before"
    NOTHING = "no other sound"
    EVERYTHING = "every sound"
    ABSENT = "what went before is absent"
    PRESENT = "what went before is present"
    STOP = "what went before ends, so it was heard"
    REST = "nothing else"
    ONLY = "only"
    BUT = "ends a scope"
    WHILE = "begins another clause"
    WITH = "adds something present"
    REQUEST = "the person asks for something"
    AND = "and"
    OR = "or"
    NOR = "nor"
    COMMA = ","
    END = "ends a sentence"
    OPTIONAL = "may be there or not"
    DROP = "means nothing for presence"
    KEEP = "looks like a cue and is none"
    NO_LONGER = "was heard before"


Phrases = Mapping[str, list[tuple[tuple[str, ...], Kind]]]
"""First word -> the phrases that begin with it, longest first."""

_FOLDER = Path(__file__).parent / "cues"
_ENDS = (*".:;!?()[]{}|>=\n", "—", "–", "-", "--", "...", "…", "→", "·", "•")


def read_sections(name: str) -> dict[str, list[str]]:
    """The sections of one table: name -> its patterns."""
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for raw in (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        line = raw.partition("#")[0].strip()
        if line.startswith("["):
            current = sections.setdefault(line[1 : line.index("]")], [])
        else:
            current += [pattern.strip() for pattern in line.split(";") if pattern.strip()]
    return sections


def expanded(pattern: str) -> list[tuple[str, ...]]:
    """Every phrase of a pattern: ``(a|b (c|d)|) e`` -> a e, b c e, b d e, e."""
    if "|" not in pattern:
        return [tuple(pattern.replace("(", " ").replace(")", " ").split())]
    start = pattern.index("(")
    depth, cuts, end = 0, [start], start
    for place in range(start, len(pattern)):
        depth += {"(": 1, ")": -1}.get(pattern[place], 0)
        if pattern[place] == "|" and depth == 1:
            cuts.append(place)
        if depth == 0:
            end = place
            break
    options = [pattern[a + 1 : b] for a, b in itertools.pairwise([*cuts, end])]
    return [phrase for option in options for phrase in expanded(f"{pattern[:start]} {option} {pattern[end + 1 :]}")]


def phrase_index(sections: Mapping[str, list[str]], elided: bool = False) -> Phrases:
    """The phrases of all sections that name a Kind; ``elided`` splits "n'y" into "n'" and "y", as French is read."""
    phrases: set[tuple[tuple[str, ...], Kind]] = {((mark,), Kind.END) for mark in _ENDS}
    for name, patterns in sections.items():
        if name in Kind.__members__:
            spaced = [pattern.replace("'", "' ") if elided else pattern for pattern in patterns]
            phrases |= {(words, Kind[name]) for pattern in spaced for words in expanded(pattern) if words}
    index: dict[str, list[tuple[tuple[str, ...], Kind]]] = {}
    for words, kind in phrases:
        index.setdefault(words[0], []).append((words, kind))
    order = list(Kind)
    for options in index.values():
        options.sort(key=lambda option: (-len(option[0]), -order.index(option[1]), option[0]))
    return index


ENGLISH_PHRASES = phrase_index(read_sections("english"))
