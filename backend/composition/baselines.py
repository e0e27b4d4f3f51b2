"""What the reconstruction must beat: shuffled embeddings, and the average of combinations with overlapping labels."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from backend.composition.metrics import HIGHER_IS_BETTER, METRICS, Target, evaluate
from backend.composition.ridge import Ridge
from backend.progress import Progress

Floats = NDArray[np.float64]

LARGE = 100_000
"""Elements of R above which permutations run on all cores and take CKA quickly; below it neither pays."""
OVERLAP_BLOCK = 1024
"""Rows whose overlaps with all combinations are held at a time."""


def permuted_leave_one_out(
    ridge: Ridge, target: Target, permutations: int, random: np.random.Generator, progress: Progress | None = None
) -> Floats:
    """Leave-one-out metrics with the rows of R shuffled against S, (permutations, 5) (paper III-A).

    H does not change, so the one factorisation serves all; lambda stays as it was chosen on the real data.
    """
    progress = progress or Progress()
    orders = [random.permutation(len(target.rows)) for _ in range(permutations)]

    large = target.rows.size > LARGE

    def one(order: NDArray[np.int64]) -> Floats:
        return evaluate(target, ridge.leave_one_out_shuffled(target.rows, order), quick=large).values()

    table = np.empty((permutations, len(METRICS)))
    for index, values in enumerate(_mapped(one, orders, threaded=large)):
        table[index] = values
        progress.report(f"Shuffling {index + 1} of {permutations}", index + 1, permutations)
    return table


def _mapped(
    one: Callable[[NDArray[np.int64]], Floats], orders: list[NDArray[np.int64]], *, threaded: bool
) -> Iterator[Floats]:
    workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    if not threaded or workers < 2:
        yield from map(one, orders)
        return
    # One permutation per core, each with a single-threaded BLAS: the element-wise steps run in parallel too.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(min(workers, 8)) as pool:
        yield from pool.map(one, orders)


def p_values(real: Floats, permuted: Floats) -> Floats:
    """(1 + permutations at least as good as the real value) / (N + 1), for each metric, (5,).

    "As good" is >= where higher is better and <= where lower is better. NaN where the real value is NaN.
    """
    counted = (1 + as_good(real, permuted)) / (len(permuted) + 1)
    return np.where(np.isnan(real), np.nan, counted)


def as_good(real: Floats, permuted: Floats) -> NDArray[np.int64]:
    """How many permutations, (N, 5), are at least as good as the real value, for each metric, (5,)."""
    higher = np.array([HIGHER_IS_BETTER[name] for name in METRICS])
    return np.where(higher, permuted >= real, permuted <= real).sum(axis=0)


def label_overlap(membership: Floats, means: Floats, held_out: NDArray[np.int64] | None = None) -> Floats:
    """Jaccard-weighted mean of the training combinations' means (own choice in detail).

    Without ``held_out`` each combination is predicted from all the others, (q, m); with it those
    rows are predicted from all the rest, (len(held_out), m). Where no training combination shares
    a source, the prediction is the training mean.
    """
    membership, means = np.asarray(membership, dtype=np.float64), np.asarray(means, dtype=np.float64)
    if held_out is None:
        wanted = np.arange(len(membership))
        training_sum, training_count = means.sum(axis=0) - means, len(membership) - 1
    else:
        wanted = np.asarray(held_out)
        training_sum = means.sum(axis=0) - means[wanted].sum(axis=0) + np.zeros((len(wanted), 1))
        training_count = len(membership) - len(wanted)
    sizes = membership.sum(axis=1)
    predicted = training_sum / training_count
    for start in range(0, len(wanted), OVERLAP_BLOCK):
        block = wanted[start : start + OVERLAP_BLOCK]
        shared = membership[block] @ membership.T
        weights = shared / (sizes[block][:, None] + sizes - shared)
        if held_out is None:
            weights[np.arange(len(block)), block] = 0.0
        else:
            weights[:, wanted] = 0.0
        totals = weights.sum(axis=1)
        some = totals > 0
        rows = start + np.flatnonzero(some)
        predicted[rows] = (weights[some] @ means) / totals[some, None]
    return predicted
