"""Items to chunks: stretches of words, each with the connectives that lead into it and the mark that closes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from backend.negation.lexicon import Kind
from backend.negation.parts import AUXILIARIES, DETERMINERS, PRONOUNS, RELATIVES, Item
from backend.negation.tokens import Token
from backend.negation.words import PLURALS, THIRD_PERSONS, VERBS, is_adjective, is_gerund

LEADS = frozenset(
    {
        Kind.NEG, Kind.PREP, Kind.EXCEPT, Kind.NOTHING, Kind.EVERYTHING, Kind.ONLY, Kind.BUT, Kind.WHILE, Kind.WITH,
        Kind.REQUEST, Kind.AND, Kind.OR, Kind.NOR, Kind.COMMA, Kind.END, Kind.OPTIONAL, Kind.REST,
    }
)  # fmt: skip
FRESH = frozenset({Kind.END, Kind.WHILE, Kind.REQUEST, Kind.WITH, Kind.BUT, Kind.ONLY})
"""Leads after which no earlier scope reaches on."""
SEPARATORS = frozenset({Kind.COMMA, Kind.AND, Kind.OR, Kind.NOR})
_MASS = frozenset("rain snow hail wind thunder water music traffic speech laughter applause static fire".split())
_HAPPENS = frozenset("falls plays blows pours passes flows runs comes goes begins starts continues rolls".split())
"""Verbs that make a clause of a noun without an article, "rain falls"; "thunder claps" may be two nouns."""
_REMOVING = frozenset("remove cut strip filter take get leave keep exclude omit".split())
_ANSWERS = ("no thanks", "no thank you", "yes please")
_EMPTY = AUXILIARIES | PRONOUNS | RELATIVES | {"to"}


@dataclass
class Chunk:
    """A stretch of words between connectives."""

    lead: list[Item] = field(default_factory=list)
    words: list[Token] = field(default_factory=list)
    hidden: list[tuple[str, Token]] = field(default_factory=list)
    """Concepts that compounds in it make absent: traffic-free."""
    closing: Kind | None = None
    """ABSENT, PRESENT or NO_LONGER when such a mark follows."""
    closing_item: Item | None = None
    auxiliary: str = ""
    """The auxiliary that stood before a negation that leads in: "is" of "is not barking"."""
    opened: bool = False
    """A colon or a bracket followed its cue: "no: rain, wind", "not (thunder or wind)"."""
    ended: bool = False
    """A word of ending ("stops") stood in it, so it was heard."""

    @property
    def kinds(self) -> list[Kind]:
        """The kinds of its leads."""
        return [item.kind for item in self.lead]

    @property
    def is_heading(self) -> bool:
        """Whether its cue stands over a list: "absent: rain, wind", "(no thunder, wind)"."""
        if self.opened or any(item.kind is Kind.NEG and item.words.endswith(":") for item in self.lead):
            return True
        return any(a.words in ("(", "[") and b.kind in (Kind.NEG, Kind.PREP) for a, b in pairwise(self.lead))

    @property
    def has_article(self) -> bool:
        """Whether it begins with an article or a quantity, as a fresh noun phrase does."""
        first = self.words[0].word if self.words else ""
        return first in DETERMINERS - {"any", "such", "this", "that"} or first in (
            "many", "several", "lots", "plenty", "loud", "both", "tons", "much", "two", "three", "distant",
        )  # fmt: skip

    @property
    def is_clause(self) -> bool:
        """Whether it has a finite verb or an auxiliary."""
        words = [token.word for token in self.words]
        finite = any(w in AUXILIARIES for w in words)
        verbs = words[1:2]
        finite = finite or (words[:1] in (["it"], ["he"], ["she"]) and bool(THIRD_PERSONS.keys() & verbs))
        finite = finite or (bool(_MASS & set(words[:1])) and bool(_HAPPENS & set(verbs)))
        plural_verb = any(
            b in VERBS and (a in PLURALS or (a.endswith("s") and not a.endswith("ss"))) for a, b in pairwise(words)
        )
        return finite or plural_verb or (self.has_article and any(w in THIRD_PERSONS for w in words[1:]))


def chunked(items: Sequence[Item]) -> list[Chunk]:
    """The chunks of a query, in order; every word is in exactly one."""
    chunks: list[Chunk] = []
    current = Chunk()
    for place, item in enumerate(items):
        opens = item.words in (":", "(", "[") and bool(current.lead) and not current.words
        if opens and current.lead[-1].kind in (Kind.NEG, Kind.PREP):
            current.opened = True
            continue  # "no: rain", "not (thunder or wind)"
        if item.words == "over" and current.words and any(lead.words.endswith("hear") for lead in current.lead):
            item = Item(Kind.WITH, item.tokens)  # "I can't hear birds over the traffic"
        if item.words == "from" and current.words and any(_removes(lead) for lead in current.lead):
            item = Item(Kind.WITH, item.tokens)  # "cut out the wind noise from the interview"
        if item.kind in LEADS:
            current = _led(chunks, current, _as_exception(item, current, chunks))
        elif item.kind in (Kind.ABSENT, Kind.PRESENT, Kind.NO_LONGER):
            current = _closed(chunks, current, item)
        elif item.kind is Kind.STOP:
            current.ended = bool(current.words) or current.ended
            following = items[place + 1] if place + 1 < len(items) else None
            verb_follows = following is not None and following.kind is Kind.WORD and is_gerund(following.words)
            if current.words and not verb_follows:
                chunks.append(current)
                current = Chunk()
        elif item.kind in (Kind.WORD, Kind.KEEP):
            if item.hidden:
                current.hidden.append((item.hidden, item.tokens[0]))
            else:
                current.words += [token for token in item.tokens if not token.mark]
    if current.words or current.lead or current.hidden:
        chunks.append(current)
    return chunks


def _removes(lead: Item) -> bool:
    """Whether a cue takes something out of something else."""
    return lead.kind is Kind.NEG and lead.words.split()[0] in _REMOVING


def _as_exception(item: Item, current: Chunk, chunks: Sequence[Chunk]) -> Item:
    """ "everything but", "nobody but", "any bird but": here "but" excepts, it does not contrast."""
    if not (item.kind is Kind.BUT and item.words == "but"):
        return item
    universal = current.lead and current.lead[-1].kind in (Kind.EVERYTHING, Kind.NOTHING) and not current.is_clause
    quantified = current.words and current.words[0].word in ("any", "all", "every", "each") and not current.is_clause
    return Item(Kind.EXCEPT, item.tokens) if universal or quantified else item


def _led(chunks: list[Chunk], current: Chunk, item: Item) -> Chunk:
    """The chunk after a connective: a new one when the current one has content."""
    only_empty = all(token.word in _EMPTY for token in current.words)
    degree_only = item.kind is Kind.NEG and current.words and all(t.word in DETERMINERS for t in current.words)
    if current.words and (only_empty or degree_only) and not current.hidden:
        verbal = item.kind in (Kind.NEG, Kind.PREP, Kind.NO_LONGER)
        current.auxiliary = " ".join(t.word for t in current.words) if verbal else current.auxiliary
        if verbal or item.kind is Kind.REQUEST or not _leaves_verb(current):
            current.words = []
    if not (current.words or current.hidden):
        current.lead.append(item)
        return current
    auxiliary = _trailing_auxiliary(current) if item.kind in (Kind.NEG, Kind.PREP, Kind.NO_LONGER) else ""
    chunks.append(current)
    return Chunk(lead=[item], auxiliary=auxiliary)


def _leaves_verb(chunk: Chunk) -> bool:
    return any(token.word not in _EMPTY for token in chunk.words)


def _trailing_auxiliary(chunk: Chunk) -> str:
    """Take "that is" off the end of a chunk, and say what it was."""
    taken: list[str] = []
    while len(chunk.words) > 1 and chunk.words[-1].word in AUXILIARIES | RELATIVES | {"it", "they"}:
        taken.insert(0, chunk.words.pop().word)
    return " ".join(taken)


def _closed(chunks: list[Chunk], current: Chunk, item: Item) -> Chunk:
    """Attach "absent", "audible" ... to what stands before it; "not absent" is present."""
    kind = item.kind
    if kind is Kind.NO_LONGER:
        if not any(token.word not in _EMPTY for token in current.words):
            return _led(chunks, current, item)
        current.ended = True
        return current
    if not current.words and current.lead and current.lead[-1].kind is Kind.NEG:
        if not chunks:
            current.lead.pop()  # "not silent: a dog barks" names no sound before the colon
            return current
        negation = current.lead.pop()
        kind = Kind.PRESENT if kind is Kind.ABSENT else Kind.ABSENT
        item = Item(kind, negation.tokens + item.tokens)
    if current.words:
        current.closing, current.closing_item = kind, item
        chunks.append(current)
        return Chunk()
    if item.words in _ANSWERS and current.kinds == [Kind.COMMA]:
        current.lead.pop()  # "organ, no thanks"
    if chunks and not current.lead:
        chunks[-1].closing, chunks[-1].closing_item = kind, item
    return current


def is_predicate(words: Sequence[Token]) -> bool:
    """Whether words can only describe: "very loud", "fast", "too close"."""
    content = [
        t.word for t in words if t.word not in ("very", "too", "so", "really", "particularly", "that", "quite", "all")
    ]
    return bool(content) and all(is_adjective(word) or word.endswith("ly") for word in content)
