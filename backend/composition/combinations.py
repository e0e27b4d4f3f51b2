"""Clips grouped by their exact label set: the design matrix S and the combination means R (science section 5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from backend.errors import InputError

Floats = NDArray[np.float64]

FEWEST_COMBINATIONS = 3
"""Below this, leaving one out leaves nothing to learn from (own choice)."""
BLOCK_ROWS = 4096
"""Clips converted to float64 at a time, so that memory does not follow the collection's size."""


@dataclass(frozen=True, eq=False)
class LabelledEmbeddings:
    """One embedding and one set of labels for each clip; the input of everything here.

    Any iterables are taken: ids and labels as lists, each clip's labels as a list or a set. They are kept as below.

    Attributes
    ----------
    ids : tuple of str
        N clip names, all different.
    embeddings : np.ndarray, shape (N, D), float32 or float64
        May be a memory map; it is read in blocks and never copied whole.
    labels : tuple of frozenset of str
        The label set of each clip, order-free, none empty.

    Raises
    ------
    InputError
        A bare string where several names belong, something that is no name, embeddings that are no table of
        numbers, or counts that differ.
    """

    ids: tuple[str, ...]
    embeddings: NDArray[np.floating]
    labels: tuple[frozenset[str], ...]

    def __post_init__(self) -> None:
        ids = names_of(self.ids, "The ids")
        embeddings = _table_of_numbers(self.embeddings)
        if isinstance(self.labels, str | bytes) or not isinstance(self.labels, Iterable):
            raise InputError(f"The labels are {shown(self.labels)}; give one list of label names for each clip.")
        labels = tuple(self.labels)
        if not len(ids) == len(embeddings) == len(labels):
            raise InputError(
                f"There are {len(ids):,} ids, {len(embeddings):,} embeddings and {len(labels):,} label sets; "
                "each clip needs one of each."
            )
        # Those that are sets of names already, as every reader here makes them, are not looked through again.
        sets = tuple(
            one if isinstance(one, frozenset) else frozenset(names_of(one, f"The labels of clip {clip!r}"))
            for clip, one in zip(ids, labels, strict=True)
        )
        for field, value in (("ids", ids), ("embeddings", embeddings), ("labels", sets)):
            object.__setattr__(self, field, value)


def names_of(names: object, what: str) -> tuple[str, ...]:
    """Several names as a tuple. A bare string is refused: its letters would be taken for names. Raises InputError."""
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        raise InputError(f"{what} are {shown(names)}; give a list or a set of names, for example ['dog', 'rain'].")
    listed = tuple(names)
    wrong = next((name for name in listed if not isinstance(name, str)), None)
    if wrong is not None:
        raise InputError(f"{what} hold {shown(wrong)}, which is no text; every name is text.")
    return tuple(map(str, listed))


def shown(value: object) -> str:
    """A value for a message, short."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _table_of_numbers(embeddings: object) -> NDArray[np.floating]:
    try:
        table = embeddings if isinstance(embeddings, np.ndarray) else np.asarray(embeddings)
    except ValueError:  # rows of different lengths
        table = np.empty(0)
    if table.ndim != 2 or table.dtype.kind not in "fiu":
        raise InputError(
            f"The embeddings have the shape {table.shape} and the type {table.dtype}; "
            "they must be a table of numbers, a row for each clip."
        )
    return table if table.dtype.kind == "f" else table.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Combinations:
    """q combinations of n sources, sorted by number of sources, then by name.

    Attributes
    ----------
    sources : tuple of str
        n source names, sorted.
    members : tuple of tuple of str
        The q label sets, each sorted.
    membership : np.ndarray, shape (q, n), float64
        S: 1 where the combination has the source, else 0.
    means : np.ndarray, shape (q, m), float64
        R: the mean of the embeddings of the combination's clips, used as it is.
    clip_combination : np.ndarray, shape (N,), int64
        Which combination each clip belongs to.
    counts : np.ndarray, shape (q,), int64
        Clips of each combination.
    """

    sources: tuple[str, ...]
    members: tuple[tuple[str, ...], ...]
    membership: Floats
    means: Floats
    clip_combination: NDArray[np.int64]
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.members)

    def name(self, index: int) -> str:
        """The combination as people read it: ``dog + rain``."""
        return " + ".join(self.members[index])

    def clips(self, index: int) -> NDArray[np.int64]:
        """Indices of the clips of one combination."""
        return np.flatnonzero(self.clip_combination == index)

    @property
    def source_occurrences(self) -> NDArray[np.int64]:
        """In how many combinations each source occurs, (n,)."""
        return self.membership.sum(axis=0).astype(np.int64)

    @property
    def seen_once(self) -> tuple[str, ...]:
        """Sources of a single combination: left out, nothing is known of them."""
        return tuple(self.sources[j] for j in np.flatnonzero(self.source_occurrences == 1))


def combine(data: LabelledEmbeddings) -> Combinations:
    """Group clips by exact label set and average their embeddings (paper III; means in float64).

    Label sets are order-free and a label written twice counts once; the result does not
    depend on the order of the clips beyond rounding.

    Raises
    ------
    InputError
        A clip without labels, a value that is not finite, fewer than three combinations, or
        a source that occurs in every combination.
    """
    check_finite(data)
    for row, labels in enumerate(data.labels):
        if not labels:
            raise InputError(
                f"Clip {data.ids[row]!r} (row {row + 1}) has no label; every clip needs one. Label it or leave it out.",
                concerns="file",
            )
    members = tuple(sorted({tuple(sorted(labels)) for labels in data.labels}, key=lambda names: (len(names), names)))
    if len(members) < FEWEST_COMBINATIONS:
        raise InputError(
            f"The labels form {len(members)} combination{'s' if len(members) != 1 else ''}; leaving one out needs at "
            f"least {FEWEST_COMBINATIONS} different label sets. Add clips with other combinations of sounds.",
            concerns="file",
        )
    sources = tuple(sorted({name for names in members for name in names}))
    membership = _multi_hot(members, sources)
    _refuse_constant_source(membership, sources)
    position = {names: index for index, names in enumerate(members)}
    clip_combination = np.array([position[tuple(sorted(labels))] for labels in data.labels], dtype=np.int64)
    counts = np.bincount(clip_combination, minlength=len(members))
    means = combination_means(data.embeddings, clip_combination, len(members))
    return Combinations(sources, members, membership, means, clip_combination, counts)


def combination_means(embeddings: NDArray[np.floating], groups: NDArray[np.int64], count: int) -> Floats:
    """Mean embedding of each group, (count, m) float64, summed in blocks of clips."""
    sums = np.zeros((count, embeddings.shape[1]))
    for start in range(0, len(embeddings), BLOCK_ROWS):
        block = np.asarray(embeddings[start : start + BLOCK_ROWS], dtype=np.float64)
        rows = groups[start : start + BLOCK_ROWS]
        chooser = sparse.csr_matrix((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(count, len(rows)))
        sums += chooser @ block
    return sums / np.bincount(groups, minlength=count)[:, None]


def check_finite(data: LabelledEmbeddings) -> None:
    """Refuse NaN and infinity, naming the first clip that has one."""
    for start in range(0, len(data.embeddings), BLOCK_ROWS):
        bad = ~np.isfinite(data.embeddings[start : start + BLOCK_ROWS]).all(axis=1)
        if bad.any():
            row = start + int(np.argmax(bad))
            raise InputError(
                f"The embedding of clip {data.ids[row]!r} (row {row + 1}) holds NaN or infinity; every value must be "
                f"finite. Embed that clip again or leave it out.",
                concerns="file",
            )


def _multi_hot(members: Sequence[tuple[str, ...]], sources: Sequence[str]) -> Floats:
    column = {name: index for index, name in enumerate(sources)}
    membership = np.zeros((len(members), len(sources)))
    for row, names in enumerate(members):
        membership[row, [column[name] for name in names]] = 1.0
    return membership


def _refuse_constant_source(membership: Floats, sources: Sequence[str]) -> None:
    """A source of every combination cannot be told from a constant: it has no contribution of its own."""
    everywhere = np.flatnonzero(membership.all(axis=0))
    if len(everywhere):
        names = ", ".join(repr(sources[j]) for j in everywhere)
        raise InputError(
            f"{names} is a label of every combination, so what it contributes cannot be told from a constant. "
            f"Leave the label out (--without LABEL), drop ancestors (--ancestors drop), or add clips without it.",
            concerns="file",
        )
