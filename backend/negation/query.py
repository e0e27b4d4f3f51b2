"""What a query asks for: Concept and Query, the edits a person makes to them, and their compact form for a link.

Everything here is a value: an edit returns a new Query. A person's edit is never parsed again, so it always wins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from backend.errors import InputError
from backend.negation.query_text import checked_phrase

Polarity = Literal["present", "absent"]
Others = Literal["", "absent", "present"]

MAX_CONCEPTS = 24
"""Most concepts one query may hold; a link or a browser that sends more is refused."""


@dataclass(frozen=True)
class Concept:
    """One sound of a query.

    Attributes
    ----------
    text : str
        Clean phrase, what an encoder is given: articles dropped, verbs as "barking".
    start, end : int
        Character span in ``Query.text``; equal when a person typed the concept in.
    cue : str
        The words that made it absent ("without", "instead of"); empty for a present one.
    cue_start, cue_end : int
        Character span of the cue; equal when there is none.
    scope : tuple of int or None
        Character span the cue reaches over, its own words excluded.
    """

    text: str
    start: int
    end: int
    cue: str = ""
    cue_start: int = 0
    cue_end: int = 0
    scope: tuple[int, int] | None = None


@dataclass(frozen=True)
class Query:
    """A parsed query.

    Attributes
    ----------
    text : str
        The text as typed; control characters are replaced one for one, so that spans hold.
    positives, negatives : tuple of Concept
        Sounds that must be heard at some time, and sounds that must not, each in the order of the text.
    language : str
        "en", "es", "fr", "de", "zh", or "und" when the language is not one of these.
    notes : tuple of str
        Sentences for the person: what was corrected, what was ambiguous, what contradicts.
    others : "", "absent" or "present"
        What the text says of every sound it does not name: "only rain" wants the others absent,
        "everything but the drums" wants them present.
    edited : bool
        True once a person has changed the concepts.
    """

    text: str
    positives: tuple[Concept, ...] = ()
    negatives: tuple[Concept, ...] = ()
    language: str = "en"
    notes: tuple[str, ...] = ()
    others: Others = ""
    edited: bool = False

    @property
    def concepts(self) -> tuple[tuple[Concept, Polarity], ...]:
        """Every concept with its polarity, in the order of the text; typed-in ones come last."""
        both: list[tuple[Concept, Polarity]] = [(concept, "present") for concept in self.positives]
        both += [(concept, "absent") for concept in self.negatives]
        return tuple(sorted(both, key=lambda pair: (pair[0].end <= pair[0].start, pair[0].start, pair[0].end)))

    def with_flipped(self, index: int) -> Query:
        """The query with concept ``index`` (of ``concepts``) turned from present to absent, or back."""
        pairs = self._pairs(index)
        concept, polarity = pairs[index]
        pairs[index] = (concept, "absent" if polarity == "present" else "present")
        return self._with(pairs)

    def with_edited(self, index: int, text: str) -> Query:
        """The query with the words of concept ``index`` replaced. Raises InputError for an unusable phrase."""
        pairs = self._pairs(index)
        pairs[index] = (replace(pairs[index][0], text=checked_phrase(text)), pairs[index][1])
        return self._with(pairs)

    def with_deleted(self, index: int) -> Query:
        """The query without concept ``index``."""
        pairs = self._pairs(index)
        del pairs[index]
        return self._with(pairs)

    def with_added(self, text: str, polarity: Polarity = "present") -> Query:
        """The query with one more concept, which has no place in the text."""
        return self._with([*self.concepts, (Concept(checked_phrase(text), 0, 0), polarity)])

    def with_concepts(self, pairs: list[tuple[Concept, Polarity]]) -> Query:
        """The query with exactly these concepts: what a chip editor hands back."""
        return self._with(pairs)

    def _pairs(self, index: int) -> list[tuple[Concept, Polarity]]:
        pairs = list(self.concepts)
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(pairs):
            raise InputError(f"There is no concept {index!r}; the query has {len(pairs)}, counted from 0.")
        return pairs

    def _with(self, pairs: list[tuple[Concept, Polarity]]) -> Query:
        if len(pairs) > MAX_CONCEPTS:
            raise InputError(f"The query has {len(pairs)} concepts; at most {MAX_CONCEPTS} are ranked. Delete some.")
        edited = replace(
            self,
            positives=tuple(concept for concept, polarity in pairs if polarity == "present"),
            negatives=tuple(concept for concept, polarity in pairs if polarity == "absent"),
            edited=True,
        )
        kept = tuple(note for note in self.notes if note not in logic_notes(self))
        return replace(edited, notes=kept + logic_notes(edited))


def logic_notes(query: Query) -> tuple[str, ...]:
    """Sentences about what the concepts demand together: a contradiction, or nothing to hear."""
    notes = []
    present = {concept.text.lower() for concept in query.positives}
    for concept in query.negatives:
        if concept.text.lower() in present:
            notes.append(
                f"“{concept.text}” is asked for and excluded at once, so no clip can satisfy the query. "
                "Flip or delete one of the two."
            )
    if query.negatives and not query.positives:
        notes.append("Only what must be absent is named, so clips are ranked by its absence alone.")
    if not query.negatives and not query.positives and query.others != "present":
        notes.append("No sound is named. Add a concept.")
    return tuple(dict.fromkeys(notes))


def as_json(query: Query) -> dict[str, object]:
    """The object that ``python -m backend parse --json`` prints for one query."""
    return {
        "query": query.text,
        "positives": [{"text": c.text, "start": c.start, "end": c.end} for c in query.positives],
        "negatives": [{"text": c.text, "start": c.start, "end": c.end, "cue": c.cue} for c in query.negatives],
        "language": query.language,
        "notes": list(query.notes),
    }


def chips_to_text(query: Query) -> str:
    """The concepts in one line for a link: ``+dog barking;-rain``. A backslash escapes ``;`` and itself."""
    signs = {"present": "+", "absent": "-"}
    escaped = ((signs[p], c.text.replace("\\", "\\\\").replace(";", "\\;")) for c, p in query.concepts)
    return ";".join(sign + text for sign, text in escaped)


def chips_from_text(query: Query, chips: str) -> Query:
    """``query`` with the concepts of a link instead of its own.

    A concept of the link that the query already has keeps its span and cue, so colours survive.

    Raises
    ------
    InputError
        The line is not one that ``chips_to_text`` writes.
    """
    if len(chips) > 4000:
        raise InputError(f"The link's concepts have {len(chips):,} characters; at most 4,000 are read.")
    known = {concept.text: concept for concept, _ in query.concepts}
    pairs: list[tuple[Concept, Polarity]] = []
    for part in _split_escaped(chips):
        if part[:1] not in ("+", "-"):
            raise InputError(f"The link has the concept {part[:40]!r}; each begins with + (present) or - (absent).")
        text = checked_phrase(part[1:])
        pairs.append((known.get(text, Concept(text, 0, 0)), "present" if part[0] == "+" else "absent"))
    return query.with_concepts(pairs)


def _split_escaped(line: str) -> list[str]:
    parts: list[str] = []
    current, escaped = "", False
    for character in line:
        if escaped:
            current, escaped = current + character, False
        elif character == "\\":
            escaped = True
        elif character == ";":
            parts, current = [*parts, current], ""
        else:
            current += character
    return [part for part in [*parts, current] if part]
