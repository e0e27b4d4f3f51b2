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
_CANCELLING = (*_CONCORD[:6], "never")
CONTRASTS = frozenset(("instead of", "rather than", "in place of", "in lieu of", "as opposed to", "but not", "and not"))
_OPINIONS = frozenset("that say said says think thinks believe claim claims mean suppose imagine doubt as".split())
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
    heading: bool = False
    """The open scope is a heading over a list: "absent: rain, wind"."""
    predicate: bool = False
    """The absence was said of a subject by a predicate ("is off", "isn't running"), which a new subject ends."""
    previous: Chunk | None = None
    denied_twice: bool = False


@dataclass
class _Led:
    """What the leads of one chunk have come to so far."""

    polarity: str = "inherit"
    cue: Item | None = None
    denied: bool = False
    """A negation is open, so that a second one cancels or emphasizes it."""
    nothing: bool = False
    everything: bool = False

    def set(self, polarity: str, cue: Item | None = None) -> None:
        """A new polarity; a negation stays open after an absence alone."""
        self.polarity, self.cue, self.denied = polarity, cue, polarity == "absent"


def polarity_of(reading: Reading, chunks: Sequence[Chunk], place: int, chunk: Chunk) -> tuple[str, Item | None]:
    """The polarity the leads give a chunk, and the cue that did it."""
    led = _Led()
    for item in chunk.lead:
        kind = item.kind
        if kind is Kind.REQUEST and led.denied:
            continue  # "does not have drums", "do not include birds": asked for under the negation
        if kind in FRESH:
            _freshened(reading, led, kind)
        elif kind in SEPARATORS:
            _separated(led, item)
        elif kind in (Kind.NEG, Kind.PREP):
            _denied(reading, led, item, first=item is chunk.lead[0])
        elif kind is Kind.EXCEPT:
            bare = led.nothing or led.polarity == "absent"
            led.polarity, led.cue = _excepted(reading, chunks, place, item, bare, led.everything)
        elif kind is Kind.NO_LONGER:
            led.polarity, led.cue = _no_more(reading, chunks, place, item)
        elif kind is Kind.NOTHING and led.denied and led.cue is not None and _OPINIONS & set(led.cue.words.split()):
            led.set("present")  # "it's not as if nobody is talking"
        elif kind is Kind.NOTHING:
            led.nothing, led.polarity, led.cue = True, "absent", item
        elif kind is Kind.EVERYTHING:
            led.everything = True
        elif kind in (Kind.OPTIONAL, Kind.REST):
            led.polarity, led.cue = "optional" if kind is Kind.OPTIONAL else "present", None
    if led.polarity == "inherit":
        return _inherited(reading, chunks, place, chunk)
    return led.polarity, led.cue


def _freshened(reading: Reading, led: _Led, kind: Kind) -> None:
    """A contrast, a clause or a sentence begins: no scope reaches into it."""
    led.set("present")
    if kind in (Kind.END, Kind.WHILE, Kind.REQUEST):
        reading.polarity = ""
        reading.previous = reading.previous if kind is not Kind.END else None


def _separated(led: _Led, item: Item) -> None:
    """A comma, "and", "or" or "nor" among the leads."""
    if led.denied and item.words == "/":
        return  # "piano/without/drums"
    if item.kind is Kind.NOR:
        led.set("absent", item)
    elif led.denied:
        led.set("present")


def _denied(reading: Reading, led: _Led, item: Item, first: bool) -> None:
    """A negation: the first opens a scope, a second cancels it unless it only repeats it."""
    if led.nothing and item.kind is Kind.PREP:
        led.polarity, led.cue, led.nothing = "present", None, False
    elif first and _denied_frame(reading, item):
        led.set("present")
        reading.denied_twice = True
    elif not led.denied:
        led.set("absent", item)
    elif not _emphasizes(led.cue, item):
        led.set("present")


def _emphasizes(cue: Item | None, item: Item) -> bool:
    """Whether a "no" after ``cue`` is concord, "don't want no drums": not in "I don't think there is no rain"."""
    concord = item.kind is Kind.NEG and item.words.split()[0] in _CONCORD
    return concord and cue is not None and cue.words not in _CANCELLING and not _OPINIONS & set(cue.words.split())


def _denied_frame(reading: Reading, item: Item) -> bool:
    """Whether this cue follows an absent phrase directly: "no clip without", "no recording that lacks"."""
    opened = reading.cue is not None and reading.cue.kind is Kind.NEG
    return item.kind is Kind.PREP and item.words not in CONTRASTS and reading.polarity == "absent" and opened


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
    if reading.heading and set(kinds) <= SEPARATORS:
        return "absent", reading.cue
    if Kind.AND in kinds and _two_predicates(reading, chunk):
        return _under_one_not(reading, chunk)
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


def _form(words: Sequence[Token]) -> str:
    """What kind of predicate a chunk is: "raining" and "barking loudly", "windy" and "very loud", or neither."""
    content = [token for token in words if token.word not in DETERMINERS | AUXILIARIES]
    if content and is_gerund(content[0].word) and all(t.word.endswith("ly") for t in content[1:]):
        return "verb"
    return "adjective" if is_predicate(content) else ""


def _two_predicates(reading: Reading, chunk: Chunk) -> bool:
    """Whether "not" stands before two bare predicates: "not raining and windy"."""
    if reading.cue is None or reading.cue.words != "not" or reading.previous is None:
        return False
    bare = chunk.kinds == [Kind.AND] and chunk.closing is None and not chunk.auxiliary
    return bare and bool(_form(reading.previous.words) and _form(chunk.words))


def _under_one_not(reading: Reading, chunk: Chunk) -> tuple[str, Item | None]:
    """Two predicates of one form share the "not" before them; one of another form stands alone.

    "Not loud and fast" denies both, "not raining and windy" says that it is windy: what is
    coordinated under one word is alike. English allows either, so a note says which was taken.
    """
    before = " ".join(token.word for token in reading.previous.words) if reading.previous else ""
    words = " ".join(token.word for token in chunk.words)
    if reading.previous is not None and _form(reading.previous.words) == _form(chunk.words):
        reading.notes.append(f"“Not” was read over “{before}” and over “{words}”; flip one if only the other is meant.")
        return "absent", reading.cue
    reading.notes.append(f"“Not” was read over “{before}” alone; flip “{words}” if it should be absent too.")
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
