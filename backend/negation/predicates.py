"""Negation of a predicate: "a dog that is not barking loudly" keeps the dog and makes LOUD BARKING absent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.negation.chunks import Chunk, is_predicate
from backend.negation.lexicon import Kind
from backend.negation.parts import AUXILIARIES, DETERMINERS
from backend.negation.phrases import CONTAINERS, PEOPLE, Phrase, subject_of
from backend.negation.tokens import Token
from backend.negation.words import (
    IRREGULAR_PAST,
    SOUND_NOUNS,
    THIRD_PERSONS,
    VERBS,
    adjective_of,
    gerund,
    is_adjective,
    is_gerund,
    past_base,
)

_DEGREES = frozenset(
    "very too so really particularly especially that quite all overly even ever exactly entirely fully always".split()
)
_WEATHER = frozenset("raining snowing hailing thundering storming drizzling pouring".split())
_VERBAL_CUES = frozenset(
    ("not", "never", "fails to", "fail to", "failing to", "failed to", "refuses to", "refuse to", "unable to")
)


@dataclass(frozen=True)
class Attribute:
    """What a negated predicate comes to."""

    absent: Phrase
    keeps_head: bool
    """Whether what it is said of is still asked for."""
    head: Phrase | None = None
    """A head that stands after the predicate: "a not very loud drill"."""


def negated_attribute(before: Chunk | None, chunk: Chunk) -> Attribute | None:
    """The reading of a chunk led by "not" as a predicate, or None when it names a sound of its own.

    Parameters
    ----------
    before : Chunk or None
        The chunk of the same clause that it can be said of.
    chunk : Chunk
        Led by a negation.
    """
    cue = next((item for item in chunk.lead if item.kind is Kind.NEG), None)
    if cue is None or not chunk.words:
        return None
    words = list(chunk.words)
    if cue.words in ("not", "not a", "not any") and len(words) > 1 and words[-1].word in ("one", "ones"):
        words = words[:-1]  # "a stream, not a very fast one"
        if not is_predicate(words):
            return None
    elif cue.words not in _VERBAL_CUES:
        return None
    while len(words) > 1 and words[0].word in _DEGREES | AUXILIARIES - {"being"}:
        words = words[1:]
    subject = subject_of(before.words) if before is not None else []
    if not subject and before is not None and {"is", "are", "was", "were"} & set(chunk.auxiliary.split()):
        subject = [t for t in before.words if is_gerund(t.word)]  # "snoring that is not noisy"
    degree = not chunk.auxiliary and chunk.words[0].word in _DEGREES - {"all", "even", "ever", "that", "only"}
    if not subject and (chunk.auxiliary in DETERMINERS or degree) and len(words) > 1 and is_adjective(words[0].word):
        return _prenominal(chunk, words)
    if not subject:
        return None
    separated = any(kind in (Kind.COMMA, Kind.BUT, Kind.AND) for kind in chunk.kinds)
    relative = any(word in chunk.auxiliary.split() for word in ("that", "which", "who"))
    first = words[0].word
    bare_verb = first in VERBS and any(
        aux in chunk.auxiliary.split() for aux in ("does", "do", "did", "can", "will", "would", "could")
    )
    finite = first.endswith("s") and first not in SOUND_NOUNS
    never_verb = cue.words != "not" and (first in VERBS or finite)
    if is_predicate(words) and not bare_verb:
        return Attribute(_described(before, subject, words), keeps_head=True)
    if is_gerund(first) or bare_verb or never_verb:
        said_of = cue.words == "never" and not is_gerund(first)  # "the bell never rings" denies the whole clause
        keeps = relative or separated or not (chunk.auxiliary or said_of)
        return Attribute(_doing(subject, words), keeps_head=keeps)
    if first in ("started", "begun") and len(words) > 1 and is_gerund(words[1].word):
        return Attribute(_doing(subject, words[1:]), keeps_head=True)
    perfect = {"has", "have", "had"} & set(chunk.auxiliary.split()) and past_base(first)
    if perfect:
        return Attribute(_doing(subject, words, past_base(first)), keeps_head=relative or separated)
    if first in IRREGULAR_PAST or first.endswith("ed"):
        return Attribute(_span(subject, words, f"{_text(subject)} {_text(words)}"), keeps_head=True)
    return None


def _prenominal(chunk: Chunk, words: list[Token]) -> Attribute:
    place = 0
    while place < len(words) - 1 and is_adjective(words[place].word):
        place += 1
    head = words[place:]
    degree = [t for t in chunk.words if t.word == "very"]
    absent = _span([], [*degree, *words], _text([*degree, *words]))
    return Attribute(absent, keeps_head=True, head=_span([], head, _text(head)))


def _described(before: Chunk | None, subject: list[Token], words: Sequence[Token]) -> Phrase:
    """ "rain ... not heavy" -> heavy rain; "talking ... not loudly" -> loud talking."""
    described: list[str] = []
    adverbial = False
    for token in words:
        if token.word in _DEGREES:
            continue
        adjective = None if is_adjective(token.word) and not token.word.endswith("ly") else adjective_of(token.word)
        adverbial = adverbial or (adjective is not None)
        described.append(adjective or token.word)
    verbs = [t for t in (before.words if before else []) if is_gerund(t.word)]
    of = _text(verbs[-1:]) if adverbial and verbs else _text(subject)
    return _span([], words, f"{' '.join(described)} {of}")


def _doing(subject: list[Token], words: Sequence[Token], base: str = "") -> Phrase:
    """ "not barking loudly" -> loud barking; "does not ring" -> phone ringing."""
    verb = words[0].word
    base = base or (
        verb
        if verb in VERBS
        else THIRD_PERSONS.get(verb, verb[: -2 if verb.endswith(("shes", "ches", "sses")) else -1])
    )
    doing = verb if is_gerund(verb) else gerund(base)
    rest = [t for t in words[1:] if t.word not in DETERMINERS | _DEGREES]
    adverbs = [adjective_of(t.word) for t in rest]
    if rest and all(adverbs):
        return _span([], words, f"{' '.join(a for a in adverbs if a)} {doing}")
    if doing in _WEATHER:
        subject = []  # "birds sing though it is not raining": the weather has no subject
    tail = f" {_text(rest)}" if rest else ""
    if all(t.word in CONTAINERS | PEOPLE for t in subject):
        return _span([], words, doing + tail)
    return _span([], words, f"{_text(subject)} {doing}{tail}")


def _text(tokens: Sequence[Token]) -> str:
    return " ".join(token.word for token in tokens)


def _span(_: Sequence[Token], words: Sequence[Token], text: str) -> Phrase:
    return Phrase(text, words[0].start, words[-1].end)
