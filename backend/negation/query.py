"""What a query asks for: Concept and Query, and the edits a person makes to them.

Everything here is a value: an edit returns a new Query. A person's edit is never parsed again, so it always wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from backend.errors import InputError
from backend.negation.query_text import MAX_CONCEPTS, checked_phrase

Polarity = Literal["present", "absent"]
Others = Literal["", "absent", "present"]


@dataclass(frozen=True)
class Concept:
    """One sound of a query and whether it should be heard: ``Concept("rain", "absent")``.

    Where it was read in a text, the rest says how; a concept typed in by itself has no place.

    Attributes
    ----------
    text : str
        Clean phrase, what an encoder is given: articles dropped, verbs as "barking".
    polarity : "present" or "absent"
    start, end : int
        Character span in ``Query.text``; equal where the concept was typed in.
    cue : str
        The words that made it absent ("without", "instead of"); empty for a present one.
    cue_start, cue_end : int
        Character span of the cue; equal when there is none.
    scope : tuple of int or None
        Character span the cue reaches over, its own words excluded.
    """

    text: str
    polarity: Polarity = "present"
    start: int = 0
    end: int = 0
    cue: str = ""
    cue_start: int = 0
    cue_end: int = 0
    scope: tuple[int, int] | None = None

    @property
    def has_place(self) -> bool:
        """Whether it was read in the query's text."""
        return self.end > self.start


@dataclass(frozen=True)
class Query:
    """A text and the sounds it asks for. Hashable: it is the key under which results of it are kept.

    Attributes
    ----------
    text : str
        The text as typed; control characters are replaced one for one, so that spans hold.
    concepts : tuple of Concept
        As read: the sounds to be heard in the order of the text, then those that must not be. A person's
        edit leaves each in its place; what they type in comes last.
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
    concepts: tuple[Concept, ...] = ()
    language: str = "en"
    notes: tuple[str, ...] = ()
    others: Others = ""
    edited: bool = False

    @classmethod
    def of(cls, text: str, present: Iterable[str], absent: Iterable[str] = ()) -> Query:
        """A query given as phrases, without parsing ``text``."""
        named = (Concept(phrase, "present") for phrase in present), (Concept(phrase, "absent") for phrase in absent)
        return cls(text, (*named[0], *named[1]))

    @property
    def positives(self) -> tuple[Concept, ...]:
        """The concepts that must be heard at some time."""
        return tuple(concept for concept in self.concepts if concept.polarity == "present")

    @property
    def negatives(self) -> tuple[Concept, ...]:
        """The concepts that must not be heard."""
        return tuple(concept for concept in self.concepts if concept.polarity == "absent")

    @property
    def present(self) -> tuple[str, ...]:
        """The words of the positives."""
        return tuple(concept.text for concept in self.positives)

    @property
    def absent(self) -> tuple[str, ...]:
        """The words of the negatives."""
        return tuple(concept.text for concept in self.negatives)

    def with_flipped(self, index: int) -> Query:
        """The query with concept ``index`` (of ``concepts``) turned from present to absent, or back."""
        chosen = self._chosen(index)
        return self._changed(index, replace(chosen, polarity="absent" if chosen.polarity == "present" else "present"))

    def with_edited(self, index: int, text: str) -> Query:
        """The query with the words of concept ``index`` replaced. Raises InputError for an unusable phrase."""
        return self._changed(index, replace(self._chosen(index), text=checked_phrase(text)))

    def with_deleted(self, index: int) -> Query:
        """The query without concept ``index``."""
        self._chosen(index)
        return self._changed(index)

    def with_added(self, text: str, polarity: Polarity = "present") -> Query:
        """The query with one more concept, which has no place in the text."""
        return self._changed(len(self.concepts), Concept(checked_phrase(text), polarity))

    def record(self) -> dict[str, object]:
        """The object that ``python -m backend parse --json`` prints for the query."""
        return {
            "query": self.text,
            "positives": [{"text": c.text, "start": c.start, "end": c.end} for c in self.positives],
            "negatives": [{"text": c.text, "start": c.start, "end": c.end, "cue": c.cue} for c in self.negatives],
            "language": self.language,
            "notes": list(self.notes),
        }

    def with_concepts(self, concepts: Sequence[Concept]) -> Query:
        """The query with exactly these concepts: what a person, a chip editor or a link makes of it.

        One whose words the query already has keeps its span and cue, so that colours survive.

        Raises
        ------
        InputError
            There are more than ``MAX_CONCEPTS``.
        """
        known = {concept.text: concept for concept in self.concepts}
        edited = replace(
            self,
            concepts=tuple(
                one if one.has_place else replace(known.get(one.text, one), polarity=one.polarity)
                for one in checked_count(concepts)
            ),
            edited=True,
        )
        notes = tuple(note for note in self.notes if note not in logic_notes(self))
        return replace(edited, notes=notes + logic_notes(edited))

    def _chosen(self, index: int) -> Concept:
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(self.concepts):
            raise InputError(f"There is no concept {index!r}; the query has {len(self.concepts)}, counted from 0.")
        return self.concepts[index]

    def _changed(self, index: int, *instead: Concept) -> Query:
        return self.with_concepts([*self.concepts[:index], *instead, *self.concepts[index + 1 :]])


def checked_count(concepts: Sequence[Concept]) -> Sequence[Concept]:
    """The concepts, refused when there are more than ``MAX_CONCEPTS``."""
    if len(concepts) > MAX_CONCEPTS:
        raise InputError(f"The query names {len(concepts)} sounds; it can hold at most {MAX_CONCEPTS}. Remove some.")
    return concepts


def at_least_one(concepts: Sequence[Concept]) -> tuple[Concept, ...]:
    """The concepts, refused when there are none."""
    if not concepts:
        raise InputError("The query names no sound. Type at least one, for example: a dog barking, no rain.")
    return tuple(concepts)


def logic_notes(query: Query) -> tuple[str, ...]:
    """Sentences about what the concepts demand together: a contradiction, or nothing to hear."""
    notes = []
    present = {phrase.lower() for phrase in query.present}
    for phrase in query.absent:
        if phrase.lower() in present:
            notes.append(
                f"“{phrase}” is asked for and excluded at once, so no clip can satisfy the query. "
                "Flip or delete one of the two."
            )
    if query.negatives and not query.positives:
        notes.append("Only what must be absent is named, so clips are ranked by its absence alone.")
    if not query.concepts and query.others != "present":
        notes.append("No sound is named. Add a concept.")
    return tuple(dict.fromkeys(notes))
