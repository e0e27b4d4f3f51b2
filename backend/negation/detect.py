"""Which language a query is in: by script, then by the small words it holds."""

from __future__ import annotations

import re
import unicodedata

from backend.negation.languages import FOREIGN_HINTS, TABLES
from backend.negation.parts import AUXILIARIES, DETERMINERS, PRONOUNS
from backend.negation.words import ADJECTIVES, GERUNDS, SOUND_NOUNS

_ENGLISH = (
    AUXILIARIES | DETERMINERS | PRONOUNS | SOUND_NOUNS | ADJECTIVES | GERUNDS.keys()
    | set("not without and with the of nothing only just except instead rather to for from while nor neither".split())
) - set("wind man die has am her hat solo an in no a on or but son audio do".split())  # fmt: skip
_SCRIPTS = {
    "CYRILLIC": "Cyrillic", "ARABIC": "Arabic", "HEBREW": "Hebrew", "GREEK": "Greek", "HANGUL": "Korean",
    "DEVANAGARI": "Devanagari", "THAI": "Thai", "BENGALI": "Bengali", "TAMIL": "Tamil",
    "GEORGIAN": "Georgian", "ARMENIAN": "Armenian",
}  # fmt: skip


def language_of(text: str) -> tuple[str, str]:
    """(code, name): the code is "en", "es", "fr", "de", "zh" or "und"; the name says what "und" looks like."""
    counts: dict[str, int] = {}
    for character in text:
        if character.isalpha():
            script = unicodedata.name(character, "UNKNOWN").split()[0]
            counts[script] = counts.get(script, 0) + 1
    letters = sum(counts.values())
    latin = counts.get("LATIN", 0)
    if counts.get("HIRAGANA", 0) + counts.get("KATAKANA", 0):
        return "und", "Japanese script"
    if counts.get("CJK", 0) and counts["CJK"] * 2 >= letters - latin:
        return "zh", "Chinese"
    if letters and latin * 2 < letters:
        script = max(counts, key=lambda name: counts[name])
        return "und", f"{_SCRIPTS.get(script, script.capitalize())} script"
    return _latin(text)


def _latin(text: str) -> tuple[str, str]:
    words = [piece.lower().replace("’", "'") for piece in re.findall(r"[^\W\d_]+['’](?=[^\W_])|[^\W\d_]+", text)]
    scores = {code: sum(word in evidence for word in words) for code, evidence in _EVIDENCE.items()}
    english = sum(word in _ENGLISH for word in words)
    best = max(scores, key=lambda code: scores[code])
    foreign = sum(word in FOREIGN_HINTS for word in words)
    if foreign > max(english, scores[best]) or (
        foreign and foreign == scores[best] and english == 0 and not _strong(words)
    ):
        return "und", "a language whose absence it does not parse"
    return (best, best) if scores[best] > english else ("en", "English")


def _strong(words: list[str]) -> bool:
    """Whether a cue of a parsed language is there that no other listed language has."""
    return bool(set(words) & set("sin sans ohne kein keine nicht pas pero lluvia pluie".split()))


_EVIDENCE = {code: language.evidence for code, language in TABLES.items()}
