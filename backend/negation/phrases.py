"""The words of one stretch to a clean concept: "a man speaks" to man speaking, "the rain is heavy" to heavy rain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from backend.negation.parts import AUXILIARIES, DETERMINERS, PRONOUNS, RELATIVES
from backend.negation.tokens import Token
from backend.negation.words import (
    GERUNDS,
    IRREGULAR_PAST,
    PLURALS,
    SOUND_NOUNS,
    THIRD_PERSONS,
    VERBS,
    gerund,
    is_adjective,
    is_gerund,
)

CONTAINERS = frozenset(
    "clip clips recording recordings audio track tracks file files sample samples example examples one ones thing "
    "things "
    "version part parts moment moments day days morning time times minute minutes second seconds something anything "
    "place scene scenes bit stuff kind sort result results sound sounds".split()
)
PEOPLE = frozenset("anyone anybody someone somebody something anything everyone everybody".split())
_QUANTITIES = (
    ("lots", "of"), ("a", "lot", "of"), ("plenty", "of"), ("tons", "of"), ("loads", "of"), ("a", "bit", "of"),
    ("a", "couple", "of"), ("a", "number", "of"), ("a", "few"), ("the", "sound", "of"), ("sound", "of"),
    ("sounds", "of"),
    ("a", "sound", "of"), ("noise", "of"), ("noises", "of"), ("the", "noise", "of"), ("a", "recording", "of"),
    ("a", "clip", "of"), ("recording", "of"), ("recordings", "of"), ("clips", "of"), ("clip", "of"), ("audio", "of"),
    ("the", "sounds", "of"), ("a", "kind", "of"), ("some", "kind", "of"), ("many",), ("several",), ("much",), ("some",),
    ("a", "clip", "where"), ("something", "like"), ("clips", "where"), ("both",), ("either",), ("not",),
    ("other", "than"),
)  # fmt: skip
_EDGE_PREPOSITIONS = frozenset(
    "of over under in on at from by to for during behind into amid above with through across".split()
)
_TRAILING = AUXILIARIES | RELATIVES | DETERMINERS | _EDGE_PREPOSITIONS | {"also", "just", "very", "so", "not", "around"}
_SILENT_VERBS = frozenset(
    "answer fall move come run go leave arrive open wait land turn sit close cut end break burn rush "
    "pick look wait notice wake appear remember understand agree decide hang give take step hand".split()
)
_PUT = frozenset("taken put given brought left thrown moved carried set laid".split())
_NUMERALS = frozenset("two three four five six seven eight nine ten twelve many several few".split())
_ASPECTS = frozenset(
    "start starts started starting begin begins began beginning keep keeps kept keeping continue continues continued "
    "continuing resume resumes going goes come comes try tries trying used".split()
)


@dataclass(frozen=True)
class Phrase:
    """A cleaned concept with the tokens it came from."""

    text: str
    start: int
    end: int


def cleaned(
    tokens: Sequence[Token], clause: bool = False, base_verb: bool = False, subject_before: bool = False
) -> Phrase | None:
    """The concept of a stretch of words, or None when nothing in it can be heard.

    Parameters
    ----------
    tokens : sequence of Token
        Words only, in order.
    clause : bool
        The stretch is known to be a clause, so that a verb in -s is one even without an article.
    base_verb : bool
        A verb at the end may have its bare form: "doesn't a dog bark", "I hear a dog bark".
    subject_before : bool
        The subject was the cue itself, so the first word may be the verb: "nobody speaks".
    """
    words = _trimmed(list(tokens))
    words = _without_relative(words)
    has_article = any(token.word in DETERMINERS or token.word in PEOPLE for token in tokens)
    words = _predicate_first(words)
    words = _aspect_dropped(words)
    named = subject_before or (bool(tokens) and tokens[0].word in RELATIVES | PRONOUNS | PEOPLE)
    text = _with_gerund(words, clause or has_article, named)
    if base_verb and len(text) > 1 and text[-1][1] in VERBS and text[-1][1] not in SOUND_NOUNS - {"bark"}:
        text[-1] = (text[-1][0], gerund(text[-1][1]))
    kept = [(token, word) for token, word in text if word not in DETERMINERS or word in ("one", "single", "another")]
    kept = [pair for pair in kept if pair[1]]
    while kept and kept[-1][1] in _TRAILING:
        kept.pop()
    if all(token.word in _ASPECTS for token, _ in kept):
        return None  # "stops and starts"
    if not kept or all(word in PRONOUNS | PEOPLE | AUXILIARIES | RELATIVES for _, word in kept):
        return None
    kept = _without_subject(kept)
    if not kept or (kept[0][1] in _PUT and len(kept) > 1):
        return None
    places = [token for token, _ in kept]
    return Phrase(" ".join(word for _, word in kept), min(t.start for t in places), max(t.end for t in places))


def _trimmed(words: list[Token]) -> list[Token]:
    """Without articles, quantities, prepositions and auxiliaries at the edges."""
    changed = True
    while changed and words:
        changed = False
        for quantity in _QUANTITIES:
            if len(words) > len(quantity) and tuple(t.word for t in words[: len(quantity)]) == quantity:
                words, changed = words[len(quantity) :], True
        first = words[0].word
        if (len(words) > 1 and (first in DETERMINERS or first in _EDGE_PREPOSITIONS or first in RELATIVES)) or (
            len(words) > 1 and first in AUXILIARIES
        ):
            words, changed = words[1:], True
        if words and words[-1].word in _TRAILING and len(words) > 1:
            words, changed = words[:-1], True
    return words


def _without_relative(words: list[Token]) -> list[Token]:
    """ "a dog that is barking" -> dog is barking; "the engine that starts" -> engine starts."""
    return [t for place, t in enumerate(words) if not (place > 0 and t.word in RELATIVES and place + 1 < len(words))]


def _predicate_first(words: list[Token]) -> list[Token]:
    """ "rain is very heavy" -> heavy rain; "dogs are barking" -> dogs barking."""
    for place, token in enumerate(words):
        if place == 0 or token.word not in AUXILIARIES:
            continue
        rest = words[place + 1 :]
        while rest and rest[0].word in AUXILIARIES | {"very", "so", "too", "really", "quite", "still", "now", "also"}:
            rest = rest[1:]
        subject = [t for t in words[:place] if t.word not in AUXILIARIES | PRONOUNS - {"one", "this", "these", "those"}]
        if rest and all(is_adjective(t.word) for t in rest):
            articles = [t for t in subject if t.word in DETERMINERS]
            return [*articles, *rest, *(t for t in subject if t.word not in DETERMINERS)]
        passive = token.word in ("being",) and rest and not is_gerund(rest[0].word)
        return [*subject, token, *rest] if passive else [*subject, *rest]
    return words


def _aspect_dropped(words: list[Token]) -> list[Token]:
    """ "birds start to sing" -> birds sing; "a dog keeps barking" -> dog barking."""
    for place, token in enumerate(words):
        if token.word not in _ASPECTS or place + 1 >= len(words):
            continue
        following = place + 1 + (words[place + 1].word in ("to", "on"))
        verb = words[following].word if following < len(words) else ""
        if is_gerund(verb) or verb in VERBS:
            if place == 0 and words[1].word == "to":  # "starts to laugh"
                return [replace(words[following], word=gerund(verb)), *words[following + 1 :]]
            return words[:place] + words[following:]
    return words


def _with_gerund(words: Sequence[Token], clause: bool, named: bool = False) -> list[tuple[Token, str]]:
    """The words, the first finite verb turned into -ing: "man speaks" in a clause, "birds sing" anywhere.

    ``named``: a pronoun or relative stood before, so the first word may be the verb.
    """
    pairs = [(token, token.word) for token in words]
    if any(is_gerund(token.word) for token in words[1:]):
        return pairs
    for place, token in enumerate(words):
        before = words[place - 1].word if place else ""
        if place == 0:
            if named and token.word in THIRD_PERSONS and token.word not in SOUND_NOUNS:
                pairs[0] = (token, gerund(THIRD_PERSONS[token.word]))
            continue
        if before in _NUMERALS:
            continue  # "ten beeps"
        if clause and token.word in THIRD_PERSONS and not _plural(before) and before not in DETERMINERS:
            pairs[place] = (token, gerund(THIRD_PERSONS[token.word]))
            return pairs
        plural_subject = _plural(before) or before in ("and",)
        noun_follows = place + 1 < len(words) and words[place + 1].word in SOUND_NOUNS
        if plural_subject and token.word in VERBS and token.word not in ("fire", "water", "saw") and not noun_follows:
            pairs[place] = (token, gerund(token.word))
            return pairs
    return pairs


def _plural(word: str) -> bool:
    return word in PLURALS or (
        word.endswith("s") and not word.endswith("ss") and word not in DETERMINERS and len(word) > 3
    )


def _without_subject(kept: list[tuple[Token, str]]) -> list[tuple[Token, str]]:
    """ "someone walking" -> walking; "it falls asleep" -> nothing, since no sound is named."""
    if kept[0][1] in PEOPLE and len(kept) > 1:
        base = THIRD_PERSONS.get(kept[1][0].word, kept[1][0].word.removesuffix("s"))
        return [] if base in _SILENT_VERBS else kept[1:]
    if kept[0][1] in PRONOUNS - {"one", "this", "these", "those"} and len(kept) > 1:
        token, verb = kept[1]
        base = THIRD_PERSONS.get(token.word) or GERUNDS.get(verb, "")
        finite = token.word in THIRD_PERSONS
        if (not is_gerund(verb) and not finite) or (finite and base in _SILENT_VERBS):
            return []
        return [(token, gerund(base) if finite else verb), *kept[2:]]
    return kept


def subject_of(tokens: Sequence[Token]) -> list[Token]:
    """The noun phrase before the first verb, relative or preposition: what a negated predicate is said of."""
    subject: list[Token] = []
    for token in _trimmed(list(tokens)):
        word = token.word
        finite = bool(subject) and (word in THIRD_PERSONS or (word in VERBS and _plural(subject[-1].word)))
        if subject and (is_gerund(word) or finite or word in IRREGULAR_PAST):
            break
        if word in AUXILIARIES | RELATIVES | _EDGE_PREPOSITIONS | {"passing", "near", "against", "around"}:
            break
        if word not in DETERMINERS and not is_gerund(word):
            subject.append(token)
    return subject
