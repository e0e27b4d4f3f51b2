"""Which labels an analysis uses: ancestors kept or dropped, some left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from backend.collections.hierarchy import INFERRED, inferred_hierarchy, read_hierarchy, without_ancestors
from backend.composition.combinations import LabelledEmbeddings, names_of
from backend.errors import InputError


@dataclass(frozen=True)
class LabelOptions:
    """How labels are read.

    Attributes
    ----------
    ancestors : "keep" or "drop"
        Whether a label stays where a descendant of it is present.
    hierarchy : str
        Path of ontology.json or a CSV child,parent; ``inferred`` from co-occurrence; needed to drop.
    without : tuple of str
        Labels left out everywhere.
    subset : bool
        Use only clips that have both an embedding and labels, instead of refusing.
    """

    ancestors: str = "keep"
    hierarchy: str = ""
    without: tuple[str, ...] = ()
    subset: bool = False


def with_options(
    data: LabelledEmbeddings, options: LabelOptions, codes: Mapping[str, str]
) -> tuple[LabelledEmbeddings, tuple[str, ...]]:
    """Drop ancestors and unwanted labels; clips left without a label go, and a sentence says so."""
    if options.ancestors not in ("keep", "drop"):
        raise InputError(f"--ancestors is {options.ancestors!r}; it must be keep or drop.")
    sets: Iterable[frozenset[str]] = data.labels
    if options.ancestors == "drop":
        if not options.hierarchy:
            raise InputError(
                "Dropping ancestor labels needs to know the hierarchy: give --hierarchy ontology.json, a CSV "
                "child,parent, or the word inferred."
            )
        inferred = options.hierarchy == INFERRED
        parents = inferred_hierarchy(sets) if inferred else read_hierarchy(options.hierarchy, codes)
        sets = [without_ancestors(labels, parents) for labels in sets]
    known = {name for labels in data.labels for name in labels}
    without = names_of(options.without, "The labels to leave out")
    for name in without:
        if name not in known:
            raise InputError(f"--without {name!r}: no clip has that label. There are {_some_of(known)}.")
    sets = tuple(frozenset(labels - set(without)) for labels in sets)
    kept = np.array([row for row, labels in enumerate(sets) if labels], dtype=np.int64)
    if not len(kept):
        raise InputError("No label is left after leaving labels out.")
    if len(kept) == len(sets):
        return LabelledEmbeddings(data.ids, data.embeddings, sets), ()
    note = f"{len(sets) - len(kept)} clips lost all their labels and were left out."
    ids, left = tuple(data.ids[row] for row in kept), tuple(sets[row] for row in kept)
    return LabelledEmbeddings(ids, data.embeddings[kept], left), (note,)


def _some_of(names: Iterable[str]) -> str:
    """The first labels, for a message."""
    listed = sorted(names)
    return ", ".join(listed[:8]) + (f" and {len(listed) - 8} more" if len(listed) > 8 else "")
