"""English: the polarity of one chunk. Where a scope of absence begins, how far it reaches, what ends it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from backend.negation.chunks import FRESH, SEPARATORS, Chunk, is_predicate
from backend.negation.lexicon import Kind
from backend.negation.parts import AUXILIARIES, DETERMINERS, Item
from backend.negation.query import Concept, Others
from backend.negation.tokens import Token
from backend.negation.words import SOUND_NOUNS, VERBS, is_gerund

_CONCORD = ("no", "nothing", "nobody", "none", "neither", "no one", "never", "nowhere")
_CONTRASTS = frozenset(
    ("instead of", "rather than", "in place of", "in lieu of", "as opposed to", "but not", "and not")
)
_OPINIONS = frozenset("that say think believe claim mean suppose imagine doubt".split())
"""Words of a cue that denies a whole clause: a second "no" in it is no emphasis but cancels the first."""
_SILENCES = frozenset("silence quiet silent stillness quietness".split())


@dataclass
class Reading:
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
    predicate: bool = False
    """The absence was said of a subject by a predicate ("is off", "isn't running"), which a new subject ends."""
    previous: Chunk | None = None
    denied_twice: bool = False


def polarity_of(reading: Reading, chunks: Sequence[Chunk], place: int, chunk: Chunk) -> tuple[str, Item | None]:
    """The polarity the leads give a chunk, and the cue that did it."""
    polarity, cue = "inherit", None
    denied = False
    nothing = everything = False
    for item in chunk.lead:
        kind = item.kind
        if kind is Kind.REQUEST and denied:
            continue  # "does not have drums", "do not include birds": asked for under the negation
        if kind in FRESH:
            polarity, cue, denied = "present", None, False
            if kind in (Kind.END, Kind.WHILE, Kind.REQUEST):
                reading.polarity = ""
                reading.previous = reading.previous if kind is not Kind.END else None
        elif kind in SEPARATORS:
            if denied and item.words == "/":
                continue  # "piano/without/drums"
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
                and cue.words not in (*_CONCORD[:6], "never")
                and not _OPINIONS & set(cue.words.split())
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


def _denied_frame(reading: Reading, item: Item) -> bool:
    """Whether this cue follows an absent phrase directly: "no clip without", "no recording that lacks"."""
    opened = reading.cue is not None and reading.cue.kind is Kind.NEG
    return item.kind is Kind.PREP and item.words not in _CONTRASTS and reading.polarity == "absent" and opened


def _no_more(reading: Reading, chunks: Sequence[Chunk], place: int, item: Item) -> tuple[str, Item | None]:
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


def _said_of(reading: Reading, chunks: Sequence[Chunk], place: int) -> bool:
    return not chunks[place].words


def _excepted(
    reading: Reading, chunks: Sequence[Chunk], place: int, item: Item, nothing: bool, everything: bool
) -> tuple[str, Item | None]:
    """What an exception leaves: the opposite of what it is taken from."""
    if nothing:
        reading.others = "absent"
        return "present", None
    if everything or item.words.startswith(("everything", "anything", "all")):
        reading.others = "present"
        return "absent", item
    if item.words == "besides" and _adds(reading, chunks, place):
        return "present", None
    if reading.polarity == "absent" and reading.cue is not None and reading.cue.kind is Kind.EXCEPT:
        return "absent", item  # "minus wind, minus thunder"
    before = chunks[place - 1] if place > 0 and reading.previous is chunks[place - 1] else None
    if before is None:
        later = chunks[place + 1] if place + 1 < len(chunks) else None
        none_later = later is not None and (
            any(kind in (Kind.NEG, Kind.NOTHING, Kind.PREP) for kind in later.kinds) or is_silence(later.words)
        )
        return ("present", None) if none_later else ("absent", item)
    if reading.polarity == "absent" or is_silence(before.words):
        reading.others = "absent"
        return "present", None
    return "absent", item


def _adds(reading: Reading, chunks: Sequence[Chunk], place: int) -> bool:
    """Whether "besides" means "in addition to": nothing and everything are not what it is taken from."""
    universal = any(kind in (Kind.EVERYTHING, Kind.NOTHING) for chunk in chunks[place:] for kind in chunk.kinds)
    before = reading.previous
    return not universal and reading.polarity != "absent" and (before is None or not is_silence(before.words))


def is_silence(words: Sequence[Token]) -> bool:
    content = [t.word for t in words if t.word not in DETERMINERS | AUXILIARIES]
    return bool(content) and content[-1] in _SILENCES and len(content) <= 3


def _inherited(reading: Reading, chunks: Sequence[Chunk], place: int, chunk: Chunk) -> tuple[str, Item | None]:
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
    if Kind.AND in kinds and reading.predicate:
        return ("absent", reading.cue) if _same_predicate(chunk) else ("present", None)
    if Kind.AND in kinds:
        return ("absent", reading.cue) if _runs_on(reading, chunk) else ("present", None)
    if bare and (Kind.AND in closing or reading.preposition):
        return "absent", reading.cue
    reading.notes.append("A comma ended the absence; flip the concept after it if it should be absent too.")
    return "present", None


def _same_predicate(chunk: Chunk) -> bool:
    """Whether the words go on with the predicate before them: "not barking and growling", "not loud and fast"."""
    words = [token.word for token in chunk.words]
    if is_predicate(chunk.words):
        return True
    if chunk.is_clause or not words or chunk.has_article:
        return False
    describes = is_gerund(words[0]) or words[0] in VERBS - SOUND_NOUNS
    return describes and not (len(words) > 1 and words[-1] in SOUND_NOUNS and is_gerund(words[0]))


def _runs_on(reading: Reading, chunk: Chunk) -> bool:
    return not chunk.is_clause and chunk.closing is None and not (chunk.has_article and not reading.article)
