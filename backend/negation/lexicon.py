"""What the phrases of absence do, and the reader of the tables in ``cues/`` that list them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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


@dataclass
class Phrases:
    """All phrases of a language as a tree of words."""

    after: dict[str, Phrases] = field(default_factory=dict)
    kinds: list[Kind] = field(default_factory=list)
    """What a phrase that ends here does; several where it depends on the neighbours, later kinds first."""

    def __contains__(self, word: str) -> bool:
        return word in self.after

    def matches(self, words: Sequence[str]) -> Iterator[tuple[int, Kind]]:
        """Phrases that ``words`` begin with, as (length, kind), longest first."""
        found: list[tuple[int, Phrases]] = []
        node = self
        for length, word in enumerate(words, start=1):
            if word not in node.after:
                break
            node = node.after[word]
            if node.kinds:
                found.append((length, node))
        for length, end in reversed(found):
            yield from ((length, kind) for kind in end.kinds)

    def add(self, words: Sequence[str], kind: Kind) -> None:
        """One more phrase."""
        node = self
        for word in words:
            node = node.after.setdefault(word, Phrases())
        if kind not in node.kinds:
            node.kinds = sorted([*node.kinds, kind], key=_RANK.__getitem__, reverse=True)


_RANK = {kind: rank for rank, kind in enumerate(Kind)}
LONGEST_PHRASE = 12
"""No phrase of the tables has more words."""

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
    phrases = Phrases()
    for mark in _ENDS:
        phrases.add((mark,), Kind.END)
    for name, patterns in sections.items():
        for pattern in patterns if name in Kind.__members__ else ():
            for words in expanded(pattern.replace("'", "' ") if elided else pattern):
                if words:
                    phrases.add(words, Kind[name])
    return phrases


ENGLISH_PHRASES = phrase_index(read_sections("english"))
