"""Leave-one-combination-out and CCA at FSD50K's size against scikit-learn: ``python -m tests.bench.bench_composition``.

The slow side of leave-one-out is extrapolated from twenty refits to all refits that the same answer needs;
that of CCA from its first components to all. Times are wall-clock, with processor seconds beside them, for a
busy machine changes the one much more than the other.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from backend.composition import canonical_correlations, evaluate, factorise, label_overlap, p_values, prepare
from backend.composition.baselines import permuted_leave_one_out

COMBINATIONS, SOURCES, DIM, CLIPS = 1289, 200, 512, 40_000
PERMUTATIONS = 100
REFITS = 20
SKLEARN_COMPONENTS = 2
LAMBDA = 1.0


@dataclass(frozen=True)
class Took:
    """Wall-clock and processor seconds."""

    wall: float
    processor: float


def timed(work: Callable[[], object]) -> Took:
    """Run once."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return Took(time.perf_counter() - wall, time.process_time() - processor)


def synthetic(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """S with one to six sources a combination and half-additive R."""
    membership = np.zeros((COMBINATIONS, SOURCES))
    for row in membership:
        row[random.choice(SOURCES, random.integers(1, 7), replace=False)] = 1.0
    parts = 0.05 * random.standard_normal((SOURCES, DIM))
    return membership, membership @ parts + 0.05 * random.standard_normal((COMBINATIONS, DIM))


def ours(membership: np.ndarray, means: np.ndarray) -> None:
    """Leave-one-out, five metrics, 100 permutations of them, the overlap baseline, p-values."""
    ridge, target = factorise(membership).ridge(LAMBDA), prepare(means)
    real = evaluate(target, ridge.leave_one_out(means)).values()
    permuted = permuted_leave_one_out(ridge, target, PERMUTATIONS, np.random.default_rng(0))
    evaluate(target, label_overlap(membership, means))
    p_values(real, permuted)


def refits(membership: np.ndarray, means: np.ndarray, count: int) -> None:
    """scikit-learn's Ridge fitted anew without each of the first ``count`` combinations."""
    from sklearn.linear_model import Ridge

    for row in range(count):
        kept = np.arange(COMBINATIONS) != row
        model = Ridge(alpha=LAMBDA, fit_intercept=False).fit(membership[kept], means[kept])
        model.predict(membership[row : row + 1])


def leave_one_out(repeats: int) -> None:
    """Print the leave-one-out comparison."""
    membership, means = synthetic(np.random.default_rng(0))
    refits(membership, means, 1)
    mine = min((timed(lambda: ours(membership, means)) for _ in range(repeats)), key=lambda took: took.wall)
    theirs = min((timed(lambda: refits(membership, means, REFITS)) for _ in range(repeats)), key=lambda took: took.wall)
    needed = COMBINATIONS * (1 + PERMUTATIONS)
    print(f"q {COMBINATIONS:,}, n {SOURCES}, m {DIM}: leave-one-out with {PERMUTATIONS} permutations and all metrics")
    print(f"  closed form: {mine.wall:.2f} s ({mine.processor:.2f} processor seconds); goal: under 3 s")
    print(
        f"  scikit-learn Ridge: {1e3 * theirs.wall / REFITS:.1f} ms a refit ({1e3 * theirs.processor / REFITS:.1f} "
        f"processor ms), measured on {REFITS}; the same answer needs {needed:,} refits, extrapolated "
        f"{needed * theirs.wall / REFITS:,.0f} s without any metric"
    )
    print(
        f"  ratio: {needed * theirs.wall / REFITS / mine.wall:,.0f} times by the clock, "
        f"{needed * theirs.processor / REFITS / mine.processor:,.0f} by processor time; goal: 1,000"
    )


def correlations() -> None:
    """Print the CCA comparison."""
    from sklearn.cross_decomposition import CCA
    from sklearn.exceptions import ConvergenceWarning

    random = np.random.default_rng(1)
    labels = np.zeros((CLIPS, SOURCES))
    for row in labels:
        row[random.choice(SOURCES, random.integers(1, 7), replace=False)] = 1.0
    embeddings = labels @ random.standard_normal((SOURCES, DIM)) + 5 * random.standard_normal((CLIPS, DIM))
    embeddings = embeddings.astype(np.float32)
    compact = sparse.csr_matrix(labels)
    mine = timed(lambda: canonical_correlations(compact, embeddings))
    shuffled = timed(
        lambda: canonical_correlations(compact, embeddings, permutations=10, random=np.random.default_rng(2))
    )
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        wide = embeddings.astype(np.float64)
        theirs = timed(lambda: CCA(n_components=SKLEARN_COMPONENTS, max_iter=500).fit(labels, wide))
    failed = sum(issubclass(warning.category, ConvergenceWarning) for warning in said)
    whole = theirs.wall * SOURCES / SKLEARN_COMPONENTS
    print(f"CCA, {CLIPS:,} clips, {SOURCES} x {DIM}, all {SOURCES} correlations")
    print(f"  QR and SVD: {mine.wall:.2f} s ({mine.processor:.2f} processor seconds)")
    print(f"  each permutation more: {(shuffled.wall - mine.wall) / 10:.2f} s")
    print(
        f"  scikit-learn CCA: {theirs.wall:.1f} s for its first {SKLEARN_COMPONENTS} components, extrapolated "
        f"{whole:,.0f} s for all; {failed} of {SKLEARN_COMPONENTS} did not converge in 500 iterations"
    )
    print(f"  ratio: {whole / mine.wall:,.0f} times; goal: 50")


def main() -> None:
    """Run both and print the peak memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3, help="the best of so many runs (default: 3)")
    arguments = parser.parse_args()
    leave_one_out(arguments.repeats)
    after_first = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    correlations()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"Peak memory: {after_first:.2f} GiB after leave-one-out, "
        f"{peak:.2f} GiB after scikit-learn's CCA too; goal: 2 GB"
    )


if __name__ == "__main__":
    main()
