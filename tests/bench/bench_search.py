"""Exact search and ranking over large collections, beside the obvious ways to do the same.

``python -m tests.bench.bench_search [rows]``, by default 100,000 rows of 512 numbers. The floor is
the bare matrix product; the alternatives are a full sort and a loop over rows (timed on a
hundredth of them). The memory-mapped matrix is read through once before, as a running page has it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from backend.collections.collection import nearest
from backend.retrieval.presence import background_of, calibrate, calibrated, clip_evidence
from backend.retrieval.steering import PAPER_LAMBDAS, dot_products, steered_scores, unit
from tests.bench.timing import median_seconds, row

DIM, TOP, VOCABULARY, WINDOWS = 512, 50, 242, 3


def main(rows: int = 100_000) -> None:
    """Print the table."""
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((rows, DIM), dtype=np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    query = unit(rng.normal(size=(1, DIM))).astype(np.float32)
    print(f"{rows:,} clips x {DIM}, top {TOP}, {matrix.nbytes / 2**20:.0f} MiB")
    floor = median_seconds(lambda: query @ matrix.T)
    row("floor: the bare matrix product", floor)
    row("nearest", median_seconds(lambda: nearest(matrix, query, TOP)), floor, "floor")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.npy"
        np.save(path, matrix)
        mapped = np.load(path, mmap_mode="r")
        row("nearest, mapped from disk", median_seconds(lambda: nearest(mapped, query, TOP)), floor, "floor")
    row("alternative: product and full sort", median_seconds(lambda: np.argsort(-(query @ matrix.T))), floor, "floor")
    part = matrix[: rows // 100]
    loop = 100 * median_seconds(lambda: sorted(-float(one @ query[0]) for one in part)[:TOP], repeats=3)
    row("alternative: a loop over rows (extrapolated)", loop, floor, "floor")
    _rank(matrix, query[0], rng, floor)


def _rank(matrix: np.ndarray, query: np.ndarray, rng: np.random.Generator, floor: float) -> None:
    negative = unit(rng.normal(size=(1, DIM))).astype(np.float32)
    raw, forbidden, cosine = dot_products(query, negative, matrix)
    row("steering sweep, 12 lambdas from dot products", median_seconds(lambda: steered_scores(raw, forbidden, cosine)))
    moved = [unit(query - strength * negative[0]).astype(np.float32) for strength in PAPER_LAMBDAS]
    again = median_seconds(lambda: [matrix @ one for one in moved])
    row("alternative: a matrix product per lambda", again, floor, "floor")
    few = matrix[: len(matrix) // WINDOWS * WINDOWS]
    offsets = np.arange(0, len(few) + 1, WINDOWS)
    texts = unit(rng.normal(size=(VOCABULARY, DIM))).astype(np.float32)
    once = median_seconds(lambda: background_of(few, offsets, texts), repeats=1)
    row("exclusion, once per collection: the background", once, floor, "floor")
    background = background_of(few, offsets, texts)

    def evidence() -> np.ndarray:
        found = clip_evidence(few, offsets, np.stack([query, negative[0]]), background)
        return calibrated(found, calibrate(found, background.typical))

    row(
        f"exclusion, per query: 2 concepts over {len(few):,} windows",
        median_seconds(evidence, repeats=3),
        floor,
        "floor",
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
