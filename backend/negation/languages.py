"""Spanish, French and German: their tables in ``cues/``, and words that betray a language that has none."""

from __future__ import annotations

from dataclasses import dataclass

from backend.negation.lexicon import Phrases, phrase_index, read_sections


@dataclass(frozen=True)
class Language:
    """One language's cue phrases and the small words its concepts shed at the edges."""

    code: str
    phrases: Phrases
    articles: frozenset[str]
    """A noun with one does not continue a list of absent bare nouns."""
    edges: frozenset[str]
    """Prepositions, relatives and forms of "be" that are dropped at either end of a concept."""
    evidence: frozenset[str]
    """Words of sound queries in this language and not in English ones."""
    denial_pairs: frozenset[str]
    """French "ne": the first half of a split negation."""
    second_halves: frozenset[str]
    """Its second halves, which then mean nothing more."""
    relatives: frozenset[str]
    """Words that begin a relative clause: what it denies keeps its noun."""
    verbs: frozenset[str]
    """Finite verbs of sounding, where a negation before a verb looks like one before a noun."""
    auxiliaries: frozenset[str]
    """Verbs that a negated participle or infinitive follows."""
    copulas: frozenset[str]
    """Verbs that a negated adjective follows."""
    yes: frozenset[str]
    no: frozenset[str]
    """Answers that may stand behind a sound: "lluvia sí, viento no"."""
    fronting: frozenset[str]
    """Cues that may stand first, with what should be heard behind what they exclude."""


def _language(code: str, name: str) -> Language:
    sections = read_sections(name)
    words = {key: frozenset(" ".join(patterns).split()) for key, patterns in sections.items() if key.islower()}

    def listed(key: str) -> frozenset[str]:
        return words.get(key, frozenset())

    return Language(
        code,
        phrase_index(sections, elided=True),
        articles=listed("articles"),
        edges=listed("edges"),
        evidence=listed("evidence"),
        denial_pairs=listed("denial_pairs"),
        second_halves=listed("second_halves"),
        relatives=listed("relatives"),
        verbs=listed("verbs"),
        auxiliaries=listed("auxiliaries"),
        copulas=listed("copulas"),
        yes=listed("yes"),
        no=listed("no"),
        fronting=frozenset(sections.get("fronting", ())),
    )


TABLES = {code: _language(code, name) for code, name in (("es", "spanish"), ("fr", "french"), ("de", "german"))}

FOREIGN_HINTS = frozenset(
    """
    senza pioggia uccelli cani vento ma della però niente invece né sem não chuva pássaros mas apenas exceto
    zonder geen niet vogels hond maar alleen behalve utan inte inga regn och fåglar uten ikke ingen fugler uden bez nie
    deszcz ptaki yok yağmur olmadan kuş ilman ei sadetta lintuja nélkül eső fără ploaie tanpa hujan tidak không mưa
    nincs sade fugle hunder hundar tuoni tuono trovão trovões donder burung angin
    """.split()
)
"""Words that show a text is in a Latin-script language whose absence is not parsed here."""
