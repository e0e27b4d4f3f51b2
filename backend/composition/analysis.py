"""The whole analysis, from labelled embeddings to a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from backend.checks import DEFAULT_SEED, checked_seed, checked_whole
from backend.composition import cca
from backend.composition.baselines import label_overlap, p_values, permuted_leave_one_out
from backend.composition.combinations import Combinations, LabelledEmbeddings, combine
from backend.composition.holdout import HELD_OUT_SHARE, SPLITS, Holdout, draw_split, repeated_holdout
from backend.composition.memory import bytes_needed, out_of_memory, require_memory
from backend.composition.metrics import (
    HITS_K,
    evaluate,
    prepare,
    ranks,
    row_cosines,
    row_divergences,
    row_residuals,
)
from backend.composition.report import LeaveOneOut, Report
from backend.composition.ridge import PenaltyChoice, Ridge, choose_penalty, factorise
from backend.errors import InputError
from backend.progress import Progress

PERMUTATIONS = 100
"""Shuffles of leave-one-out and of CCA (science section 5)."""
MOST_PERMUTATIONS, MOST_SPLITS = 100_000, 10_000
"""More would take days and make no p-value more believable."""
SMALL = 30
"""Fewer combinations than this are called few (own choice)."""


def compose(
    data: LabelledEmbeddings,
    *,
    seed: int = DEFAULT_SEED,
    permutations: int = PERMUTATIONS,
    splits: int = SPLITS,
    penalty: float | None = None,
    provenance: Mapping[str, Any] | None = None,
    notes: tuple[str, ...] = (),
    memory: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Ask whether the embedding of a combination of sounds is the sum of what its sounds contribute elsewhere.

    Science section 5, paper III. The seed's four streams serve the choice of lambda, the
    shuffles, the splits and the shuffles of CCA, so that none depends on how long another is.

    Parameters
    ----------
    data : LabelledEmbeddings
        N clips, (N, D).
    seed : int
        Not negative.
    permutations, splits : int
        Shuffles of leave-one-out and of CCA; repeated holdouts.
    penalty : float, optional
        Lambda, if it is not to be chosen from the grid.
    provenance, notes
        Carried into the report: encoder, weights, files; sentences about the input.
    memory : int, optional
        Bytes that may be used; by default 80 % of what is free.
    progress : Progress, optional

    Raises
    ------
    InputError
        What ``combine`` refuses, a number out of range, or an analysis that does not fit into memory.
    """
    seed = checked_seed(seed)
    permutations = checked_whole("The number of permutations", permutations, 1, MOST_PERMUTATIONS)
    splits = checked_whole("The number of splits", splits, 1, MOST_SPLITS)
    needed, what = _needed(data)
    require_memory(needed, what, memory)
    try:
        return _analysed(
            data, seed, permutations, splits, penalty, dict(provenance or {}), notes, progress or Progress()
        )
    except MemoryError:
        raise out_of_memory(needed, what) from None


def _analysed(
    data: LabelledEmbeddings,
    seed: int,
    permutations: int,
    splits: int,
    penalty: float | None,
    provenance: Mapping[str, Any],
    notes: tuple[str, ...],
    progress: Progress,
) -> Report:
    streams = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(4)]
    progress.report("Grouping clips by their labels", 0, 1)
    combinations = combine(data)
    choice = _choose(combinations, penalty, streams[0])
    ridge = factorise(combinations.membership).ridge(choice.penalty)
    loo = _leave_one_out(combinations, ridge, permutations, streams[1], progress.part(0.05, 0.45))
    holdout = repeated_holdout(ridge, combinations.means, streams[2], splits=splits, progress=progress.part(0.45, 0.65))
    correlations = cca.canonical_correlations(
        sparse.csr_matrix(combinations.membership)[combinations.clip_combination],
        data.embeddings,
        permutations=permutations,
        random=streams[3],
        progress=progress.part(0.65, 1.0),
    )
    notes = notes + _remarks(combinations, choice, holdout, chosen=penalty is None) + _clip_remarks(data)
    return Report(data, combinations, ridge, choice, loo, holdout, correlations, seed, notes, provenance)


def _choose(combinations: Combinations, penalty: float | None, random: np.random.Generator) -> PenaltyChoice:
    """Lambda once, on a fifth of the combinations, split as the holdouts are (own choice in detail)."""
    validation = draw_split(combinations.membership, random)
    if not len(validation):
        count = len(combinations)
        validation = np.sort(random.permutation(count)[: max(1, round(HELD_OUT_SHARE * count))])
    choice = choose_penalty(combinations.membership, combinations.means, validation)
    if penalty is None:
        return choice
    if not (np.isfinite(penalty) and penalty > 0):
        raise InputError(f"Lambda is {penalty}; it must be a positive number, for example 0.1.")
    return PenaltyChoice(float(penalty), choice.grid, choice.errors, choice.validation)


def _leave_one_out(
    combinations: Combinations, ridge: Ridge, permutations: int, random: np.random.Generator, progress: Progress
) -> LeaveOneOut:
    target = prepare(combinations.means)
    predicted = ridge.leave_one_out(combinations.means)
    real = evaluate(target, predicted)
    overlap = label_overlap(combinations.membership, combinations.means)
    permuted = permuted_leave_one_out(ridge, target, permutations, random, progress)
    return LeaveOneOut(
        predicted=predicted,
        real=real,
        overlap=evaluate(target, overlap),
        in_sample=evaluate(target, ridge.fitted(combinations.means)),
        permuted=permuted,
        p=p_values(real.values(), permuted),
        cosines=row_cosines(target, predicted),
        overlap_cosines=row_cosines(target, overlap),
        divergences=row_divergences(target, predicted),
        residuals=row_residuals(target, predicted),
        leverage=ridge.leverage,
        ranks=ranks(target, predicted),
    )


def _remarks(
    combinations: Combinations, choice: PenaltyChoice, holdout: Holdout | None, *, chosen: bool
) -> tuple[str, ...]:
    """Sentences about what a reader must know before believing the numbers."""
    count, notes = len(combinations), []
    if count < SMALL:
        notes.append(
            f"{count} combinations are few: the metrics vary much between samples of this size, and Hits@{HITS_K} "
            f"by chance alone is {min(1.0, HITS_K / count):.2f}."
        )
    seen_once = combinations.seen_once
    if seen_once:
        shown = ", ".join(seen_once[:5]) + (" …" if len(seen_once) > 5 else "")
        notes.append(
            f"{len(seen_once)} of {len(combinations.sources)} sources occur in one combination only ({shown}): "
            f"left out, nothing is known of them."
        )
    single = int(np.count_nonzero(combinations.counts == 1))
    if single:
        notes.append(f"{single} of {count} combinations are a single clip, so their mean is that clip's embedding.")
    if chosen and choice.at_edge:
        notes.append(f"Lambda {choice.penalty:g} is at the edge of the grid.")
    if not chosen:
        notes.append(f"Lambda {choice.penalty:g} was given, not chosen.")
    if holdout is None:
        notes.append("No combination can be held out with all its sources kept in training, so there is no holdout.")
    elif holdout.sizes.min() <= HITS_K:
        notes.append(f"Some splits hold out no more than {HITS_K} combinations, where any guess is a hit.")
    return tuple(notes)


def _clip_remarks(data: LabelledEmbeddings) -> tuple[str, ...]:
    clips, dim = data.embeddings.shape
    if clips >= 5 * dim:
        return ()
    return (
        f"{clips:,} clips are few for {dim:,} dimensions: canonical correlations are high by chance alone, "
        f"so read them against the shuffled ones.",
    )


def _needed(data: LabelledEmbeddings) -> tuple[int, str]:
    """Bytes an analysis takes beyond the embeddings, which are there already, and what it is of."""
    clips, dim = data.embeddings.shape
    sources, combinations = len({name for labels in data.labels for name in labels}), len(set(data.labels))
    needed = bytes_needed(clips, dim, data.embeddings.itemsize, sources, combinations, mapped=True)
    return needed, f"{clips:,} clips x {dim:,} {data.embeddings.dtype.name} numbers"
