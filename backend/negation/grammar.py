"""English: chunks to polarities. Where a scope of absence begins, how far it reaches, what ends it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from backend.negation.chunks import FRESH, SEPARATORS, Chunk, chunked
from backend.negation.items import AUXILIARIES, DETERMINERS, Item, itemize
from backend.negation.lexicon import Kind
from backend.negation.phrases import CONTAINERS, Phrase, cleaned
from backend.negation.predicates import negated_attribute
from backend.negation.query import Concept, Others, Query
from backend.negation.tokens import Token, tokenize
from backend.negation.words import SOUND_NOUNS

_CONCORD = ("no", "nothing", "nobody", "none", "neither", "no one", "never", "nowhere")
_CONTRASTS = frozenset(
    ("instead of", "rather than", "in place of", "in lieu of", "as opposed to", "but not", "and not")
)
_SILENCES = frozenset("silence quiet silent stillness quietness".split())
_UNNAMED = frozenset(
    "sound sounds audio one ones thing things other others else clip clips recording recordings".split()
)


@dataclass
class _Reading:
    """What is known while the chunks are read from left to right."""

    present: list[Concept] = field(default_factory=list)
    absent: list[Concept] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    others: Others = ""
    silences: list[Concept] = field(default_factory=list)
    polarity: str = ""
    """Of the chunk before: "present", "absent" or "" after a fresh start."""
    cue: Item | None = None
    preposition: bool = False
    """The open scope was opened by a preposition after something present: lists run on under it."""
    article: bool = False
    previous: Chunk | None = None
    denied_twice: bool = False


def parse_english(text: str) -> Query:
    """The Query of an English text. ``text`` has passed the gate."""
    tokens = tokenize(text)
    chunks = chunked(itemize(tokens))
    reading = _Reading()
    for place, chunk in enumerate(chunks):
        _read(reading, chunks, place, chunk)
    if not reading.present and not reading.absent and reading.silences:
        reading.present += reading.silences
    elif reading.silences:
        reading.notes.append("Silence between or around the sounds is not ranked, only the sounds are.")
    _set_scene_aside(reading, text, tokens)
    for token in tokens:
        if token.fixed:
            reading.notes.append(f"“{text[token.start : token.end]}” was read as “{token.word}”.")
    positives, negatives = _unique(reading.present), _unique(reading.absent)
    return Query(text, positives, negatives, "en", tuple(dict.fromkeys(reading.notes)), reading.others)


def _set_scene_aside(reading: _Reading, text: str, tokens: Sequence[Token]) -> None:
    """ "a farm in the morning: hens, no rooster": the scene stands before the colon, the sounds after it."""
    colon = next((token.start for token in tokens if token.word == ":"), None)
    if colon is None or not any(concept.start > colon for concept in reading.present):
        return
    scene = [concept for concept in reading.present if concept.end <= colon]
    if len(scene) == 1 and not any(concept.end <= colon for concept in reading.absent):
        reading.present.remove(scene[0])
        said = text[scene[0].start : scene[0].end]
        reading.notes.append(
            f"“{said}” before the colon was read as the setting; add it as a concept if it should be heard."
        )


def _unique(concepts: Sequence[Concept]) -> tuple[Concept, ...]:
    seen: dict[str, Concept] = {}
    for concept in sorted(concepts, key=lambda c: (c.start, c.end)):
        seen.setdefault(concept.text, concept)
    return tuple(seen.values())


def _read(reading: _Reading, chunks: Sequence[Chunk], place: int, chunk: Chunk) -> None:
    """Decide one chunk's polarity and add its concepts."""
    if any(kind in (Kind.REST,) for kind in chunk.kinds) or Kind.ONLY in chunk.kinds:
        reading.others = "absent"
    polarity, cue = _polarity(reading, chunks, place, chunk)
    for word, token in chunk.hidden:
        span = (token.start, token.end)
        if polarity == "absent" and not chunk.words:  # "not traffic-free"
            reading.present.append(Concept(word, *span))
        else:
            reading.absent.append(Concept(word, *span, token.word, *span, span))
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
    reading.previous = chunk


def _without_words(reading: _Reading, chunk: Chunk, polarity: str, cue: Item | None) -> None:
    """Leads at the end with nothing after them: "insects are not", "nobody", "rain only"."""
    last = chunk.lead[-1] if chunk.lead else None
    if last is None:
        return
    if last.kind is Kind.NEG and last.words in ("not", "never") and reading.previous is not None and chunk.auxiliary:
        _turn_absent(reading, last)
    elif last.kind is Kind.NOTHING:
        if last.words.startswith(("nobody", "no one", "no-one")) and not last.words.endswith("else"):
            reading.absent.append(Concept("people", last.start, last.end, last.words, last.start, last.end))
        else:
            reading.others = "absent"


def _turn_absent(reading: _Reading, cue: Item) -> None:
    """ "insects are not": the last thing said to be there is not."""
    previous = reading.previous
    if previous is None:
        return
    moved = [c for c in reading.present if previous.words and c.start >= previous.words[0].start]
    for concept in moved:
        reading.present.remove(concept)
        reading.absent.append(
            Concept(
                concept.text, concept.start, concept.end, cue.words, cue.start, cue.end, (concept.start, concept.end)
            )
        )


def _polarity(reading: _Reading, chunks: Sequence[Chunk], place: int, chunk: Chunk) -> tuple[str, Item | None]:
    """The polarity the leads give a chunk, and the cue that did it."""
    polarity, cue = "inherit", None
    denied = False
    nothing = everything = False
    for item in chunk.lead:
        kind = item.kind
        if kind in FRESH:
            polarity, cue, denied = "present", None, False
            if kind in (Kind.END, Kind.WHILE, Kind.REQUEST):
                reading.polarity = ""
                reading.previous = reading.previous if kind is not Kind.END else None
        elif kind in SEPARATORS:
            if denied:
                polarity, cue, denied = "present", None, False
            if kind is Kind.NOR:
                polarity, cue, denied = "absent", item, True
        elif kind in (Kind.NEG, Kind.PREP):
            if nothing and kind is Kind.PREP:
                polarity, cue, nothing = "present", None, False
            elif item is chunk.lead[0] and _denied_frame(reading, item):
                polarity, cue, denied = "present", None, False
                reading.denied_twice = True
            elif denied and not (
                kind is Kind.NEG
                and item.words.split()[0] in _CONCORD
                and cue is not None
                and cue.words not in _CONCORD[:6]
            ):
                polarity, cue, denied = "present", None, False
            elif not denied:
                polarity, cue, denied = "absent", item, True
        elif kind is Kind.NO_LONGER:
            polarity, cue = _no_more(reading, chunks, place, item)
        elif kind is Kind.NOTHING:
            nothing, polarity, cue = True, "absent", item
        elif kind is Kind.EVERYTHING:
            everything = True
        elif kind is Kind.OPTIONAL:
            polarity, cue = "optional", None
        elif kind is Kind.REST:
            polarity, cue = "present", None
        elif kind is Kind.EXCEPT:
            polarity, cue = _excepted(reading, chunks, place, item, nothing or polarity == "absent", everything)
    if polarity == "inherit":
        polarity, cue = _inherited(reading, chunks, place, chunk)
    return polarity, cue


def _denied_frame(reading: _Reading, item: Item) -> bool:
    """Whether this cue follows an absent phrase directly: "no clip without", "no recording that lacks"."""
    opened = reading.cue is not None and reading.cue.kind is Kind.NEG
    return item.kind is Kind.PREP and item.words not in _CONTRASTS and reading.polarity == "absent" and opened


def _no_more(reading: _Reading, chunks: Sequence[Chunk], place: int, item: Item) -> tuple[str, Item | None]:
    """ "no more talking after the bell" was talking; "no more talking" alone asks for none."""
    ends_later = any(
        lead.kind is Kind.WHILE and lead.words.split()[0] in ("after", "once", "when", "since", "because", "as")
        for later in chunks[place + 1 :]
        for lead in later.lead
    )
    if (
        item.words == "no more"
        and not ends_later
        and not chunks[place].auxiliary
        and not _said_of(reading, chunks, place)
    ):
        return "absent", item
    reading.notes.append(f"“{item.words}” says it was heard before, so it counts as present.")
    return "present", None


def _said_of(reading: _Reading, chunks: Sequence[Chunk], place: int) -> bool:
    return not chunks[place].words


def _excepted(
    reading: _Reading, chunks: Sequence[Chunk], place: int, item: Item, nothing: bool, everything: bool
) -> tuple[str, Item | None]:
    """What an exception leaves: the opposite of what it is taken from."""
    if nothing:
        reading.others = "absent"
        return "present", None
    if everything or item.words.startswith(("everything", "anything", "all")):
        reading.others = "present"
        return "absent", item
    before = chunks[place - 1] if place > 0 and reading.previous is chunks[place - 1] else None
    if before is None:
        later = chunks[place + 1] if place + 1 < len(chunks) else None
        none_later = later is not None and (
            any(kind in (Kind.NEG, Kind.NOTHING, Kind.PREP) for kind in later.kinds) or _is_silence(later.words)
        )
        return ("present", None) if none_later else ("absent", item)
    if reading.polarity == "absent" or _is_silence(before.words):
        reading.others = "absent"
        return "present", None
    return "absent", item


def _is_silence(words: Sequence[Token]) -> bool:
    content = [t.word for t in words if t.word not in DETERMINERS | AUXILIARIES]
    return bool(content) and content[-1] in _SILENCES and len(content) <= 3


def _inherited(reading: _Reading, chunks: Sequence[Chunk], place: int, chunk: Chunk) -> tuple[str, Item | None]:
    """Whether an open scope reaches over a comma, an "and" or an "or"."""
    if reading.polarity != "absent" or not chunk.lead:
        return "present", None
    kinds = chunk.kinds
    if Kind.OR in kinds or Kind.NOR in kinds:
        return "absent", reading.cue
    list_ahead = [chunk]
    for later in chunks[place + 1 :]:
        if not later.lead or any(kind not in SEPARATORS for kind in later.kinds):
            break
        list_ahead.append(later)
    closing = {kind for member in list_ahead for kind in member.kinds}
    bare = all(_runs_on(reading, member) for member in list_ahead)
    if Kind.OR in closing or Kind.NOR in closing:
        return "absent", reading.cue
    if Kind.AND in kinds:
        return ("absent", reading.cue) if _runs_on(reading, chunk) else ("present", None)
    if bare and (Kind.AND in closing or reading.preposition):
        return "absent", reading.cue
    reading.notes.append("A comma ended the absence; flip the concept after it if it should be absent too.")
    return "present", None


def _runs_on(reading: _Reading, chunk: Chunk) -> bool:
    return not chunk.is_clause and chunk.closing is None and not (chunk.has_article and not reading.article)


def _as_attribute(reading: _Reading, chunk: Chunk, cue: Item | None) -> bool:
    """Add a negated predicate's concepts; False when the chunk is no predicate."""
    attribute = negated_attribute(reading.previous, chunk)
    if attribute is None or cue is None:
        return False
    if not attribute.keeps_head and reading.previous is not None:
        first = reading.previous.words[0].start
        reading.present = [c for c in reading.present if not c.start >= first]
    if attribute.head is not None:
        reading.present.append(Concept(attribute.head.text, attribute.head.start, attribute.head.end))
    reading.absent.append(_concept(attribute.absent, cue, (chunk.words[0].start, chunk.words[-1].end)))
    reading.polarity, reading.cue, reading.preposition = "absent", cue, False
    reading.article = False
    return True


def _concept(phrase: Phrase, cue: Item | None, scope: tuple[int, int] | None = None) -> Concept:
    if cue is None:
        return Concept(phrase.text, phrase.start, phrase.end)
    return Concept(phrase.text, phrase.start, phrase.end, cue.words, cue.start, cue.end, scope)


def _add(reading: _Reading, chunk: Chunk, polarity: str, cue: Item | None) -> None:
    """Add a chunk's own concept."""
    clause = any(kind in (Kind.WHILE, Kind.BUT) for kind in chunk.kinds) or chunk.ended
    asked = " ".join(item.words for item in chunk.lead if item.kind is Kind.REQUEST).split()
    base_verb = any(word in asked for word in ("hear", "does", "do", "did", "can")) and chunk.words[0].word not in (
        "no",
    )
    phrase = cleaned(chunk.words, clause, base_verb)
    before, opened = reading.polarity, any(kind in (Kind.NEG, Kind.PREP, Kind.EXCEPT) for kind in chunk.kinds)
    reading.polarity = polarity if polarity in ("present", "absent") else ""
    if polarity == "absent" and (opened or reading.cue is not cue):
        prepositional = cue is not None and cue.kind in (Kind.PREP, Kind.EXCEPT)
        reading.preposition = prepositional and before == "present" and Kind.COMMA not in chunk.kinds[:1]
        reading.article = chunk.has_article
    reading.cue = cue
    if phrase is None:
        return
    if (
        chunk.kinds == [Kind.COMMA]
        and chunk.words[0].word in ("on", "in", "at", "near", "by", "under")
        and len(chunk.words) > 1
    ):
        reading.notes.append(f"“{phrase.text}” was read as the setting, not as a sound.")
        return
    if polarity == "optional":
        reading.notes.append(f"“{phrase.text}” may or may not be there, so it is not ranked.")
        return
    if _is_silence(chunk.words) and polarity == "present":
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


def _unnamed(reading: _Reading, chunk: Chunk, polarity: str, phrase: Phrase) -> None:
    """ "a clip", "sounds", "no other sounds": words for the recording, not for what is in it."""
    if polarity == "absent" and ("other" in phrase.text or chunk.words[-1].word in ("sound", "sounds")):
        reading.others = "absent"


def _withdraw_denied_frame(reading: _Reading, chunk: Chunk) -> None:
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
            reading.present.append(Concept(concept.text, concept.start, concept.end))
