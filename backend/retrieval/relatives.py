"""Relatives of a query that says "no": texts that an encoder should put near it or far from it (paper, appendix A).

For a query "P, with no Y" the relatives say the opposite (affirmative), the same in other words (paraphrase), the same
of other sounds (swap), something else (unrelated), nothing about absence (bag), or negate each concept in turn (scope
variants).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from backend.checks import DEFAULT_SEED
from backend.encoders.prompts import background_vocabulary
from backend.errors import InputError
from backend.negation import Query
from backend.negation.query_text import checked_text
from backend.retrieval.variants import VARIANTS


@dataclass(frozen=True)
class Relatives:
    """A query and its relatives, every one a text a person may edit.

    Attributes
    ----------
    query : str
        The negated query itself: as typed, or "P, with no Y" once a person has corrected its concepts.
        Its embedding is e_C.
    affirmative, paraphrase, swap, unrelated, bag : str
        See the module's first lines.
    scopes : tuple of str
        One concept negated in each, in the order positives, negatives; fewer than two when the
        query names only one sound.
    negated : tuple of str
        The absent concepts, whose mean embedding is e_neg.
    seed : int
        Of the sounds that were drawn for ``swap`` and ``unrelated``.
    """

    query: str
    affirmative: str
    paraphrase: str
    swap: str
    unrelated: str
    bag: str
    scopes: tuple[str, ...]
    negated: tuple[str, ...]
    seed: int = DEFAULT_SEED

    def lines(self) -> tuple[tuple[str, str], ...]:
        """(name, text) of every line."""
        named = [(name, getattr(self, name)) for name in _RELATIVES]
        return (*named, *((f"scope {i + 1}", text) for i, text in enumerate(self.scopes)))


_RELATIVES = tuple(variant.name for variant in VARIANTS)


def relatives_of(query: Query, seed: int = DEFAULT_SEED) -> Relatives:
    """The relatives of a parsed query.

    The swapped-in sound and the unrelated query come from the background vocabulary, drawn with
    ``seed``, never sharing a word with the query (own choice; the paper draws them from its items).

    Raises
    ------
    InputError
        The query has no absent concept, so there is no "no" to look at.
    """
    present, absent = query.present, query.absent
    if not absent:
        raise InputError("The query names nothing that must be absent. Flip a concept, or add “no …”.")
    swapped, first, second, third = _other_sounds((*present, *absent), seed)
    everything = (*present, *absent)
    swap = _negated([swapped, *present[1:]], absent) if present else _negated([], [swapped, *absent[1:]])
    asked = _negated(present, absent) if query.edited else " ".join(query.text.split())
    paraphrase = f"{_listed(present[::-1])} without {_listed(absent, 'or')}".strip()
    scopes = tuple(_negated([c for c in everything if c != one], [one]) for one in dict.fromkeys(everything))
    return Relatives(
        query=asked,
        affirmative=f"{_listed(present)}, with {_listed(absent)}" if present else _listed(absent),
        paraphrase=paraphrase if paraphrase.lower() != asked.lower() else _negated(present[::-1], absent),
        swap=swap,
        unrelated=_negated([first, second], [third]),
        bag=", ".join(everything),
        scopes=scopes if len(scopes) > 1 else (),
        negated=absent,
        seed=seed,
    )


def _listed(concepts: Sequence[str], word: str = "and") -> str:
    if len(concepts) < 2:
        return "".join(concepts)
    return f"{', '.join(concepts[:-1])} {word} {concepts[-1]}"


def _negated(present: Sequence[str], absent: Sequence[str]) -> str:
    """The paper's form: "P, with no Y"; several negatives are joined by "or" (own choice)."""
    return f"{_listed(present)}, with no {_listed(absent, 'or')}" if present else f"no {_listed(absent, 'or')}"


def _other_sounds(named: Sequence[str], seed: int) -> list[str]:
    """Four sounds of the background vocabulary that share no word with those named."""
    used = {word for phrase in named for word in phrase.lower().split()}
    bare = [sound.removeprefix("a ").removeprefix("an ").removeprefix("the ") for sound in background_vocabulary()]
    free = [sound for sound in bare if not used & set(sound.lower().split())]
    picked = np.random.default_rng(seed).choice(len(free), size=4, replace=False)
    return [free[int(place)] for place in picked]


def edited(relatives: Relatives, name: str, text: str) -> Relatives:
    """``relatives`` with one line replaced by a person's own words.

    Raises
    ------
    InputError
        There is no such line, or the text is empty or too long.
    """
    words = " ".join(checked_text(text)[0].split())
    if name in _RELATIVES:
        return replace(relatives, **{name: words})  # type: ignore[arg-type]
    if name.startswith("scope ") and name[6:].isdigit() and 1 <= int(name[6:]) <= len(relatives.scopes):
        scopes = list(relatives.scopes)
        scopes[int(name[6:]) - 1] = words
        return replace(relatives, scopes=tuple(scopes))
    known = ", ".join(line for line, _ in relatives.lines())
    raise InputError(f"There is no line {name[:40]!r}. The lines are: {known}.")
