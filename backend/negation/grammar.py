"""English: a text to its Query, chunk by chunk from left to right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from backend.negation.chunks import Chunk, chunked, is_predicate
from backend.negation.fronted import split_fronted
from backend.negation.items import COMPOUND_HEADS, itemize
from backend.negation.lexicon import Kind
from backend.negation.marks import separating_dash, subtracted
from backend.negation.parts import DETERMINERS, Item
from backend.negation.phrases import CONTAINERS, PEOPLE, Phrase, cleaned
from backend.negation.polarity import CONTRASTS, Reading, is_silence, polarity_of
from backend.negation.predicates import negated_attribute
from backend.negation.query import Concept, Query
from backend.negation.tokens import Token, tokenize
from backend.negation.words import SOUND_NOUNS, THIRD_PERSONS, VERBS, gerund, is_gerund, past_base

_PLACES = frozenset("in on at near behind over under inside outside from by beside above below".split())
_UNNAMED = frozenset(
    "sound sounds audio one ones thing things other others else clip clips recording recordings".split()
)

_NOT_BOTH = re.compile(r"\b(?:not|never) both\b", re.IGNORECASE)
_NOBODY = ("nobody", "no one", "no-one")


def parse_english(text: str) -> Query:
    """The Query of an English text. ``text`` is checked."""
    tokens, notes = subtracted(text, tokenize(text))
    chunks = chunked(itemize(tokens))
    reading = Reading(notes=list(notes))
    for place, chunk in enumerate(chunks):
        _read(reading, chunks, place, chunk)
    if not reading.present and not reading.absent and reading.silences:
        reading.present += reading.silences
    elif reading.silences:
        reading.notes.append("Silence between or around the sounds is not ranked, only the sounds are.")
    _set_scene_aside(reading, text, tokens, chunks)
    _split_contrast(reading, text)
    if _NOT_BOTH.search(text):
        reading.notes.append("“Not both” cannot be ranked: both sounds are asked for. Flip one if only one is meant.")
    if not reading.absent and separating_dash(text, tokens):
        reading.notes.append("The dash was read as a break between sounds; write “no …” or -… to leave a sound out.")
    for token in tokens:
        if token.fixed:
            reading.notes.append(f"“{text[token.start : token.end]}” was read as “{token.word}”.")
    concepts = _unique(reading.present) + _unique(reading.absent)
    return Query(text, concepts, "en", tuple(dict.fromkeys(reading.notes)), reading.others)


def _set_scene_aside(reading: Reading, text: str, tokens: Sequence[Token], chunks: Sequence[Chunk]) -> None:
    """ "a farm in the morning: hens, no rooster": the scene stands before the colon, the sounds after it."""
    headings = {item.end - 1 for chunk in chunks for item in chunk.lead if item.words.endswith(" :")}
    colon = next((token.start for token in tokens if token.word == ":" and token.start not in headings), None)
    if colon is None or not any(concept.start > colon for concept in reading.present):
        return
    scene = [concept for concept in reading.present if concept.end <= colon]
    if len(scene) == 1 and not any(concept.end <= colon for concept in reading.absent):
        reading.present.remove(scene[0])
        said = text[scene[0].start : scene[0].end]
        reading.notes.append(
            f"“{said}” before the colon was read as the setting; add it as a concept if it should be heard."
        )


def _split_contrast(reading: Reading, text: str) -> None:
    """ "instead of music rain": two sounds side by side, the second in the place of the first."""
    if reading.present or len(reading.absent) != 1 or reading.absent[0].cue not in CONTRASTS:
        return
    *_, before, last = ["", "", *reading.absent[0].text.split()]
    two = {before, last} <= SOUND_NOUNS and last not in COMPOUND_HEADS
    found = split_fronted(text, reading.absent[0], len(reading.absent[0].text.split()) - 1) if two else None
    if found is not None:
        reading.absent, reading.present = [found[0]], [found[1]]
        reading.notes.append(found[2])


def _unique(concepts: Sequence[Concept]) -> tuple[Concept, ...]:
    seen: dict[str, Concept] = {}
    for concept in sorted(concepts, key=lambda c: (c.start, c.end)):
        seen.setdefault(concept.text, concept)
    return tuple(seen.values())


def _read(reading: Reading, chunks: Sequence[Chunk], place: int, chunk: Chunk) -> None:
    """Decide one chunk's polarity and add its concepts."""
    if any(kind in (Kind.REST,) for kind in chunk.kinds) or Kind.ONLY in chunk.kinds:
        reading.others = "absent"
    polarity, cue = polarity_of(reading, chunks, place, chunk)
    for word, token in chunk.hidden:
        span = (token.start, token.end)
        if polarity == "absent" and not chunk.words:  # "not traffic-free"
            reading.present.append(Concept(word, "present", *span))
        else:
            reading.absent.append(Concept(word, "absent", *span, token.word, *span, span))
    if chunk.closing is Kind.ABSENT:
        polarity, cue = (
            ("present", None) if polarity == "absent" and cue is not None else ("absent", chunk.closing_item)
        )
    elif chunk.closing is Kind.PRESENT:
        polarity, cue = ("absent", cue) if polarity == "absent" and cue is not None else ("present", None)
    if not chunk.words:
        _without_words(reading, chunk, polarity, cue)
        return
    if polarity == "absent" and _as_attribute(reading, chunk, cue):
        return
    _add(reading, chunk, polarity, cue)
    reading.predicate = chunk.closing is Kind.ABSENT and polarity == "absent"
    reading.previous = chunk


def _without_words(reading: Reading, chunk: Chunk, polarity: str, cue: Item | None) -> None:
    """Leads at the end with nothing after them: "insects are not", "nobody", "rain only"."""
    last = chunk.lead[-1] if chunk.lead else None
    if last is None:
        return
    alone = bool(chunk.auxiliary) or chunk.kinds == [Kind.NEG]
    if last.kind is Kind.NEG and last.words in ("not", "never") and reading.previous is not None and alone:
        _turn_absent(reading, last)
    elif last.kind is Kind.NOTHING:
        if last.words.startswith(_NOBODY) and not last.words.endswith("else"):
            reading.absent.append(Concept("people", "absent", last.start, last.end, last.words, last.start, last.end))
        else:
            reading.others = "absent"


def _turn_absent(reading: Reading, cue: Item) -> None:
    """ "insects are not": the last thing said to be there is not."""
    previous = reading.previous
    if previous is None:
        return
    moved = [c for c in reading.present if previous.words and c.start >= previous.words[0].start]
    for concept in moved:
        reading.present.remove(concept)
        span = (concept.start, concept.end)
        reading.absent.append(Concept(concept.text, "absent", *span, cue.words, cue.start, cue.end, span))


def _as_attribute(reading: Reading, chunk: Chunk, cue: Item | None) -> bool:
    """Add a negated predicate's concepts; False when the chunk is no predicate."""
    if cue is not None and cue.words == "not" and chunk.words[0].word in _PLACES and reading.previous is not None:
        reading.notes.append("What “not” says of a place or a manner is not ranked; add a concept if it matters.")
        return True
    attribute = negated_attribute(reading.previous, chunk)
    if attribute is None or cue is None:
        return False
    if not attribute.keeps_head and reading.previous is not None:
        first = reading.previous.words[0].start
        reading.present = [c for c in reading.present if not c.start >= first]
    if attribute.head is not None:
        reading.present.append(Concept(attribute.head.text, "present", attribute.head.start, attribute.head.end))
    reading.absent.append(_concept(attribute.absent, cue, (chunk.words[0].start, chunk.words[-1].end)))
    reading.polarity, reading.cue, reading.preposition = "absent", cue, False
    reading.article = False
    last = chunk.words[-1].word  # a predicate with an object lists objects: "isn't playing guitar and piano"
    reading.predicate = is_gerund(last) or is_predicate(chunk.words[-1:]) or last in VERBS - SOUND_NOUNS
    reading.predicate = reading.predicate or bool(past_base(last))
    return True


def _concept(phrase: Phrase, cue: Item | None, scope: tuple[int, int] | None = None) -> Concept:
    if cue is None:
        return Concept(phrase.text, "present", phrase.start, phrase.end)
    return Concept(phrase.text, "absent", phrase.start, phrase.end, cue.words, cue.start, cue.end, scope)


def _add(reading: Reading, chunk: Chunk, polarity: str, cue: Item | None) -> None:
    """Add a chunk's own concept."""
    clause = any(kind in (Kind.WHILE, Kind.BUT) for kind in chunk.kinds) or chunk.ended
    joined = Kind.AND in chunk.kinds or Kind.COMMA in chunk.kinds
    clause = clause or (joined and (reading.predicate or chunk.is_clause))
    clause = clause or any(item.kind is Kind.NEG and item.words.endswith(" that") for item in chunk.lead)
    asked = " ".join(item.words for item in chunk.lead if item.kind is Kind.REQUEST).split()
    base_verb = any(word in asked for word in ("hear", "does", "do", "did", "can")) and chunk.words[0].word not in (
        "no",
    )
    nobody = cue is not None and cue.kind is Kind.NOTHING and cue.words.startswith(_NOBODY)
    neither = cue is not None and cue.words in ("neither", "nor") and len(chunk.words) == 1
    named = _infinitive_named(chunk)
    phrase = _shared_subject(reading, chunk) or cleaned(named, clause, base_verb, nobody or neither)
    before, opened = reading.polarity, any(kind in (Kind.NEG, Kind.PREP, Kind.EXCEPT) for kind in chunk.kinds)
    reading.polarity = polarity if polarity in ("present", "absent") else ""
    if polarity == "absent" and (opened or reading.cue is not cue):
        prepositional = cue is not None and cue.kind in (Kind.PREP, Kind.EXCEPT)
        reading.preposition = prepositional and before == "present" and Kind.COMMA not in chunk.kinds[:1]
        reading.article = chunk.has_article
        reading.heading = chunk.is_heading
    reading.cue = cue
    if phrase is None:
        if nobody and cue is not None:
            reading.absent.append(_concept(Phrase("people", cue.start, cue.end), cue, (cue.start, cue.end)))
        return
    if _sets_scene(chunk) and chunk.words[0].word in ("on", "in", "at", "near", "by", "under") and len(chunk.words) > 1:
        reading.notes.append(f"“{phrase.text}” was read as the setting, not as a sound.")
        return
    if polarity == "optional":
        reading.notes.append(f"“{phrase.text}” may or may not be there, so it is not ranked.")
        return
    if is_silence(chunk.words) and polarity == "present":
        reading.silences.append(_concept(phrase, None))
        return
    words = phrase.text.split()
    if all(word in _UNNAMED | CONTAINERS for word in words) and not chunk.hidden:
        _unnamed(reading, chunk, polarity, phrase)
        return
    scope = (chunk.words[0].start, chunk.words[-1].end) if cue is not None else None
    if polarity == "absent":
        reading.absent.append(_concept(phrase, cue, scope))
    else:
        _withdraw_denied_frame(reading, chunk)
        reading.present.append(_concept(phrase, None))


def _infinitive_named(chunk: Chunk) -> list[Token]:
    """ "it doesn't rain": a lone verb behind "does not" is what does not happen, raining."""
    first, asked = chunk.words[0], {"does", "do", "did"} & set(chunk.auxiliary.split())
    denied = bool(chunk.lead) and chunk.lead[-1].words == "not"
    if not (asked and denied) or first.word not in VERBS or len(chunk.words) > 1:
        return chunk.words
    return [replace(first, word=gerund(first.word))]


def _sets_scene(chunk: Chunk) -> bool:
    """Led by a comma or a closing bracket alone."""
    return len(chunk.lead) == 1 and chunk.lead[0].words in (",", ")", "]")


def _shared_subject(reading: Reading, chunk: Chunk) -> Phrase | None:
    """ "a dog barks and growls": the second verb has the first one's subject."""
    if chunk.kinds != [Kind.AND] or len(chunk.words) != 1 or reading.previous is None:
        return None
    before, verb = [token.word for token in reading.previous.words], chunk.words[0]
    is_clause = any(word in THIRD_PERSONS for word in before[1:]) and (before[0] in DETERMINERS or before[0] in PEOPLE)
    if not is_clause or verb.word not in THIRD_PERSONS:
        return None
    return Phrase(gerund(THIRD_PERSONS[verb.word]), verb.start, verb.end)


def _unnamed(reading: Reading, chunk: Chunk, polarity: str, phrase: Phrase) -> None:
    """ "a clip", "sounds", "no other sounds": words for the recording, not for what is in it."""
    if polarity == "absent" and ("other" in phrase.text or chunk.words[-1].word in ("sound", "sounds")):
        reading.others = "absent"


def _withdraw_denied_frame(reading: Reading, chunk: Chunk) -> None:
    """ "never a morning without birdsong": the frame that was denied twice is neither absent nor asked for."""
    twice = reading.previous is not None and reading.denied_twice and bool(reading.absent)
    if not twice or reading.previous is None:
        return
    reading.denied_twice = False
    first = reading.previous.words[0].start
    framed = [c for c in reading.absent if c.start >= first]
    for concept in framed:
        reading.absent.remove(concept)
        if any(word in SOUND_NOUNS for word in concept.text.split()):
            reading.present.append(Concept(concept.text, "present", concept.start, concept.end))
