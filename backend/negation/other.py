"""Spanish, French and German by one small engine over their tables: the basic forms, not a full grammar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from backend.negation.foreign_parts import Part, parts_of
from backend.negation.fronted import split_fronted
from backend.negation.languages import TABLES, Language
from backend.negation.lexicon import Kind
from backend.negation.query import Concept, Others, Query

_CLOSED_BY = frozenset({Kind.BUT, Kind.WHILE, Kind.WITH, Kind.ONLY, Kind.END, Kind.REQUEST})
_PRONOUNS = frozenset("il elle ils elles on ça es er sie ich wir ella ellos ellas él yo".split())
"""Subjects that begin a clause of their own, out of reach of the absence before."""

_DEGREES = frozenset("zu sehr besonders allzu so ganz".split())
"""Of German, before an adjective."""


@dataclass
class _Reading:
    """What is known while the parts are read from left to right."""

    text: str
    language: Language
    present: list[Concept] = field(default_factory=list)
    absent: list[Concept] = field(default_factory=list)
    others: Others = ""
    notes: list[str] = field(default_factory=list)
    polarity: str = "present"
    cue: Part | None = None
    article: bool = False
    """The first absent noun of the open scope had an article, so that later ones may."""
    heading: bool = False
    """The open scope is a heading over a list: "ausente: lluvia, viento"."""
    clause: bool = False
    """The absence was said of a clause, "el perro no ladra", which an "and" ends."""
    subject: list[Part] = field(default_factory=list)
    """The words of the stretch before, when it was read as present: what a denied verb may be said of."""

    def close(self) -> None:
        """Nothing reaches on from here."""
        self.polarity, self.cue, self.clause, self.subject = "present", None, False, []


def parse_other(text: str, code: str) -> Query:
    """The Query of a text in a language of ``TABLES``."""
    reading = _Reading(text, TABLES[code])
    parts = parts_of(text, reading.language)
    lead: list[Part] = []
    words: list[Part] = []
    relative = False
    for place, part in enumerate([*parts, Part(Kind.END, len(text), len(text), "")]):
        if part.kind is Kind.WORD:
            words.append(part)
        if part.kind in (Kind.WORD, Kind.DROP):
            continue
        closes = part.kind in (Kind.ABSENT, Kind.PRESENT) or (
            part.kind is Kind.NO_LONGER and not _verb_follows(reading, parts, place)
        )
        if closes and words:
            _place(reading, words, "absent" if part.kind is Kind.ABSENT else "present", part)
            reading.close()
            words, lead = [], []
            continue
        if _content(reading.language, words):
            _read(reading, lead, words, parts[place:], relative)
            words, lead, relative = [], [], False
        elif words:
            relative = [p.kind for p in lead] == [Kind.COMMA] and words[-1].word in reading.language.relatives
            if part.kind in (Kind.END, Kind.COMMA) and [p.kind for p in lead] == [Kind.NEG]:
                _deny_subject(reading, lead.pop())
            words = []
        lead.append(part)
    if any(part.kind is Kind.ONLY for part in parts):
        reading.others = "absent"
    _split_fronted(reading)
    return Query(text, (*reading.present, *reading.absent), code, tuple(reading.notes), reading.others)


def _verb_follows(reading: _Reading, parts: Sequence[Part], place: int) -> bool:
    """Whether "no longer" at ``place`` has its verb behind it: "el perro ya no | ladra", not "la lluvia cesa"."""
    following = parts[place + 1] if place + 1 < len(parts) else None
    return following is not None and following.kind is Kind.WORD and following.word not in reading.language.articles


def _content(language: Language, words: Sequence[Part]) -> list[Part]:
    """The words that can name something: neither articles nor edges."""
    return [part for part in words if part.word not in language.articles | language.edges]


def _read(reading: _Reading, lead: list[Part], words: list[Part], ahead: Sequence[Part], relative: bool) -> None:
    """One stretch of words under its leads."""
    if _prenominal(reading, lead, words):
        return
    denial = _denied_verb(reading, lead, words, relative)
    if denial is not None:
        _place_clause(reading, words, denial, relative or _keeps_subject(reading, denial, words))
        return
    bare = words[0].word not in reading.language.articles
    runs_on = (bare or reading.article) and words[0].word not in _PRONOUNS and not reading.clause
    _decide(reading, lead, runs_on, _list_closed(ahead))
    if any(part.kind in (Kind.NEG, Kind.PREP) for part in lead):
        reading.article, reading.clause = not bare, False
        reading.heading = any(part.kind is Kind.NEG and part.text.endswith(":") for part in lead)
    _place(reading, words, reading.polarity, reading.cue)
    reading.subject = words if reading.polarity == "present" else []


def _prenominal(reading: _Reading, lead: Sequence[Part], words: list[Part]) -> bool:
    """ "nicht zu lauter Regen": German denies how loud it is, and the rain is asked for."""
    described = len(words) > 2 and words[0].word in _DEGREES and words[-1].text[0].isupper()
    if reading.language.code != "de" or not described or not lead or lead[-1].word != "nicht" or reading.subject:
        return False
    _place(reading, words[-1:], "present", None)
    _place(reading, words[1:], "absent", lead[-1])
    return True


def _denied_verb(reading: _Reading, lead: Sequence[Part], words: Sequence[Part], relative: bool) -> Part | None:
    """The negation of a verb said of the words before, "el perro | no | ladra", or None where it denies a noun."""
    language = reading.language
    kinds = [part.kind for part in lead]
    if not reading.subject or kinds not in ([Kind.NEG], [Kind.NO_LONGER], [Kind.COMMA, Kind.NEG]):
        return None
    if (kinds[0] is Kind.COMMA and not relative) or not _trimmed(reading, reading.subject):
        return None
    cue, last = lead[-1], reading.subject[-1].word
    if cue.kind is Kind.NO_LONGER or cue.word in language.denial_pairs or relative:
        return cue
    if last in language.auxiliaries | language.copulas or cue.word.split()[-1] in language.copulas:
        return cue  # "der Hund hat nicht gebellt", "la lluvia no es fuerte"
    is_verb = words[0].word in language.verbs or _agrees(reading.subject, words[0].word)
    return cue if cue.word in ("no", "nunca", "jamás") and is_verb else None


def _agrees(subject: Sequence[Part], word: str) -> bool:
    """Whether a Spanish word has a verb's ending in the number of a definite subject: "las puertas | crujen"."""
    article = subject[0].word
    return (article in ("el", "la") and word.endswith(("a", "e"))) or (
        article in ("los", "las") and word.endswith(("an", "en"))
    )


def _keeps_subject(reading: _Reading, cue: Part, words: Sequence[Part]) -> bool:
    """Whether the denial says how a sound is, or which one is meant: "la lluvia no es fuerte", "un chien qui ...".

    A continuous form is no attribute: "el perro no está ladrando" denies the barking.
    """
    language, last = reading.language, reading.subject[-1].word
    if last in language.relatives:
        return True
    described = bool({last, words[0].word, cue.word.split()[-1]} & language.copulas)
    goes_on = words[-1].word.endswith("ndo") or "en train" in reading.text[cue.start : words[-1].end].lower()
    return described and not goes_on


def _place_clause(reading: _Reading, verb: list[Part], cue: Part, keeps: bool) -> None:
    """A subject with its denied verb. As in English, "a dog that does not bark" keeps the dog, "the dog ..." not."""
    subject, doing = _trimmed(reading, reading.subject), _trimmed(reading, verb)
    words = " ".join(part.text for part in [*subject, *doing])
    start, end = doing[0].start, doing[-1].end
    if not keeps:
        reading.present = [concept for concept in reading.present if concept.start < subject[0].start]
    if cue.kind is Kind.NO_LONGER:
        reading.present.append(Concept(words, "present", start, end))
        reading.close()
        return
    reading.absent.append(Concept(words, "absent", start, end, cue.word, cue.start, cue.end, (start, end)))
    reading.polarity, reading.cue, reading.clause, reading.subject = "absent", cue, True, []


def _deny_subject(reading: _Reading, cue: Part) -> None:
    """ "el perro no está": what was said to be there is not."""
    subject = _trimmed(reading, reading.subject)
    if not subject:
        return
    reading.present = [concept for concept in reading.present if concept.start < subject[0].start]
    _place(reading, subject, "absent", cue)
    reading.close()


def _decide(reading: _Reading, lead: Sequence[Part], runs_on: bool, or_ahead: bool) -> None:
    """Set the polarity that a lead gives."""
    before, mode, by = reading.polarity, "inherit", reading.cue
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
                mode, by, reading.others = "present", None, "absent"
            else:
                mode, by, reading.others = "absent", part, "present" if everything else reading.others
    if mode == "inherit":
        kinds = {part.kind for part in lead}
        listed = (
            Kind.OR in kinds
            or (Kind.AND in kinds and runs_on)
            or (Kind.COMMA in kinds and (or_ahead or reading.heading))
        )
        mode = "absent" if before == "absent" and listed else "present"
    reading.polarity, reading.cue = mode, by if mode == "absent" else None


def _list_closed(ahead: Sequence[Part]) -> bool:
    """Whether a list of bare words ahead ends in "or" or "nor"."""
    for part in ahead:
        if part.kind in (Kind.OR, Kind.NOR):
            return True
        if part.kind not in (Kind.WORD, Kind.COMMA):
            return False
    return False


def _trimmed(reading: _Reading, words: Sequence[Part]) -> list[Part]:
    """Without articles and edges at either end."""
    shed = reading.language.articles | reading.language.edges
    kept = list(words)
    while kept and kept[0].word in shed:
        kept = kept[1:]
    while kept and kept[-1].word in shed:
        kept = kept[:-1]
    return kept


def _place(reading: _Reading, words: Sequence[Part], polarity: str, cue: Part | None) -> None:
    kept = _trimmed(reading, words)
    if not kept:
        return
    start, end = kept[0].start, kept[-1].end
    phrase = " ".join(reading.text[start:end].split())
    if polarity == "absent" and cue is not None:
        reading.absent.append(Concept(phrase, "absent", start, end, cue.word, cue.start, cue.end, (start, end)))
    else:
        reading.present.append(Concept(phrase, "present", start, end))


def _split_fronted(reading: _Reading) -> None:
    """ "statt Musik Regen", "en vez de música lluvia": what stands for the absent sound follows it without a mark."""
    if reading.present or len(reading.absent) != 1 or reading.absent[0].cue not in reading.language.fronting:
        return
    words = reading.absent[0].text.split()
    # German writes nouns with a capital, so the first one ends what is absent; elsewhere the last word is the rest.
    nouns = [place for place, word in enumerate(words) if word[0].isupper()]
    found = split_fronted(
        reading.text,
        reading.absent[0],
        nouns[0] + 1 if reading.language.code == "de" and nouns else len(words) - 1,
    )
    if found is not None:
        reading.absent, reading.present, note = [found[0]], [found[1]], found[2]
        reading.notes.append(note)
