"""When two concept phrases mean the same, for tables of queries: loose about words, strict about polarity."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SMALL = frozenset("a an the of any in at on".split())


def words_of(phrase: str) -> frozenset[str]:
    """Lower-case words without articles and plural s."""
    return frozenset(re.sub(r"s$", "", word) for word in re.findall(r"\w+", phrase.lower()) if word not in _SMALL)


def same_sound(one: str, other: str) -> bool:
    """One holds the other, or they share half their words."""
    a, b = words_of(one), words_of(other)
    return a == b or (bool(a and b) and (a <= b or b <= a or len(a & b) * 2 >= len(a | b)))


def same_sounds(gold: Sequence[str], read: Sequence[str]) -> bool:
    """Every gold phrase is read, and every phrase read is gold."""
    gold = [phrase for phrase in gold if phrase != "OTHER"]
    return all(any(same_sound(g, r) for r in read) for g in gold) and all(
        any(same_sound(g, r) for g in gold) for r in read
    )


def polarity_error(
    present: Sequence[str], absent: Sequence[str], read_present: Sequence[str], read_absent: Sequence[str]
) -> bool:
    """Whether a sound that must be heard was read as absent, or the reverse. The worst mistake of a parser."""
    wrongly_absent = any(
        words_of(read) <= words_of(gold) and not any(same_sound(read, other) for other in absent)
        for gold in present
        if gold != "OTHER"
        for read in read_absent
    )
    wrongly_present = any(
        words_of(gold) <= words_of(read) and words_of(read) not in [words_of(other) for other in present]
        for gold in absent
        for read in read_present
    )
    return wrongly_absent or wrongly_present
