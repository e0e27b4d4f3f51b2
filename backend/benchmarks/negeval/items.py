"""Retrieval-Neg queries and MCQ-Neg questions (negation paper, III-D and III-E), true by construction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from backend.benchmarks.negeval.wording import fluent_query, statement, template_query
from backend.negation import Query

Kind = Literal["affirmation", "negation", "hybrid"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class ClipConcepts:
    """One clip: its place among the candidates, its caption, P (heard) and N (certainly not heard, plausible first)."""

    index: int
    id: str
    caption: str
    present: tuple[str, ...]
    absent: tuple[str, ...]


@dataclass(frozen=True)
class RetrievalItem:
    """A query for one clip, affirmative and in two negated forms.

    Attributes
    ----------
    clip : int
        Index of the clip the query was made from.
    relevant : tuple of int
        Candidates that count as found: those with exactly the same sounds (the clip itself among them).
    """

    clip: int
    clip_id: str
    affirmative: str
    template: str
    fluent: str
    positives: tuple[str, ...]
    negative: str
    relevant: tuple[int, ...]


def option(affirmed: Sequence[str], negated: Sequence[str]) -> Query:
    """An option of a question: what it says of a clip, as a sentence fragment and as concepts."""
    return Query.of(statement(affirmed, negated), affirmed, negated)


def holds(said: Query, present: Sequence[str], absent: Sequence[str]) -> bool | None:
    """Whether an option is true of a clip; None if P and N do not settle it."""
    affirmed, negated = set(said.present), set(said.absent)
    if affirmed & set(absent) or negated & set(present):
        return False
    return True if affirmed <= set(present) and negated <= set(absent) else None


@dataclass(frozen=True)
class Question:
    """Four options of which one is true of the clip."""

    clip: int
    clip_id: str
    kind: Kind
    options: tuple[Query, Query, Query, Query]
    answer: int


def retrieval_items(clips: Sequence[ClipConcepts], rng: np.random.Generator) -> tuple[RetrievalItem, ...]:
    """One item for every clip that has P and N; the absent sound is drawn from the four most plausible.

    Clips whose labels are known and equal cannot be told apart by any text, so each counts as found
    for the other (own choice; where all label sets differ this is the paper's protocol).
    """
    same: dict[frozenset[str], list[int]] = {}
    for clip in clips:
        same.setdefault(frozenset(clip.present), []).append(clip.index)
    items = []
    for clip in clips:
        if not clip.present or not clip.absent:
            continue
        negative = clip.absent[int(rng.integers(min(4, len(clip.absent))))]
        items.append(
            RetrievalItem(
                clip=clip.index,
                clip_id=clip.id,
                affirmative=clip.caption,
                template=template_query(clip.caption, negative),
                fluent=fluent_query(clip.caption, negative),
                positives=clip.present,
                negative=negative,
                relevant=tuple(same[frozenset(clip.present)]),
            )
        )
    return tuple(items)


def questions(clips: Sequence[ClipConcepts], rng: np.random.Generator) -> tuple[Question, ...]:
    """One question of each kind for every clip with at least one present and three absent sounds."""
    made = []
    for clip in clips:
        if not clip.present or len(clip.absent) < 3:
            continue
        heard = [clip.present[place] for place in rng.permutation(len(clip.present))]
        plausible = list(clip.absent[: max(3, min(6, len(clip.absent)))])
        unheard = [plausible[place] for place in rng.permutation(len(plausible))]
        for kind, build in _BUILDERS.items():
            options = build(heard, unheard)
            order = rng.permutation(4)
            shuffled = tuple(options[place] for place in order)
            made.append(Question(clip.index, clip.id, kind, shuffled, int(np.flatnonzero(order == 0)[0])))
    return tuple(made)


# Each builder gives the right option first; a wrong one always says something false of the clip.


def _affirmation(heard: Sequence[str], unheard: Sequence[str]) -> tuple[Query, ...]:
    """Right: P only. Wrong: a sound of N comes in, or takes the place of one of P."""
    first, *rest = heard
    if rest:
        return (
            option((first, rest[0]), ()),
            option((first, unheard[0]), ()),
            option((unheard[1], rest[0]), ()),
            option((unheard[0], unheard[2]), ()),
        )
    return (
        option((first,), ()),
        option((unheard[0],), ()),
        option((unheard[1],), ()),
        option((first, unheard[2]), ()),
    )


def _negation(heard: Sequence[str], unheard: Sequence[str]) -> tuple[Query, ...]:
    """Right: one of N is negated. Wrong: the logic inverted, on N or on P."""
    first, *rest = heard
    inverted = option((), (rest[0],)) if rest else option((unheard[1],), (first,))
    return (
        option((), (unheard[0],)),
        option((), (first,)),
        inverted,
        option((unheard[0],), ()),
    )


def _hybrid(heard: Sequence[str], unheard: Sequence[str]) -> tuple[Query, ...]:
    """Right: P affirmed and one of N negated. Wrong: polarity swapped or flipped."""
    first, *rest = heard
    both = (first, rest[0]) if rest else (first,)
    swapped = option((first, unheard[0]), (rest[0],)) if rest else option((unheard[1],), (unheard[0],))
    return (
        option(both, (unheard[0],)),
        swapped,
        option((*both, unheard[0]), ()),
        option((unheard[0],), (first,)),
    )


Builder = Callable[[Sequence[str], Sequence[str]], tuple[Query, ...]]
_BUILDERS: Mapping[Kind, Builder] = {"affirmation": _affirmation, "negation": _negation, "hybrid": _hybrid}
