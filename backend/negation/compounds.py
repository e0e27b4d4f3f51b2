"""Words that hide an absence inside: traffic-free, wordless, non-vocal."""

from __future__ import annotations

from backend.negation.words import NOT_FREE, NOT_LESS, NOT_NO, NOT_NON, SOUND_NOUNS, STEMS


def hidden_absence(word: str) -> str:
    """The concept a compound makes absent, or "": traffic-free -> traffic, wordless -> words, non-vocal -> vocals."""
    if word == "unaccompanied":
        return "accompaniment"
    stem, _, ending = word.rpartition("-")
    if ending == "free" and stem and stem not in NOT_FREE:
        return stem.replace("-", " ")
    if ending == "less" and stem:
        return STEMS.get(stem, stem)
    head, _, tail = word.partition("-")
    if head == "non" and tail and tail not in NOT_NON:
        return STEMS.get(tail, tail.replace("-", " "))
    if head == "no" and tail and tail not in NOT_NO and "-" not in tail:
        return tail
    bare = word[:-4]
    if word.endswith("less") and word not in NOT_LESS and (len(bare) >= 3 or bare in SOUND_NOUNS):
        return STEMS.get(bare, bare)
    if word.startswith("non") and (word[3:] in STEMS or word[3:] in SOUND_NOUNS):
        return STEMS.get(word[3:], word[3:])
    return ""
