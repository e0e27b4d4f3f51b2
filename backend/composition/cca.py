"""Canonical correlations between labels and embeddings, clip by clip, in closed form (paper III-A, step 1).

Each side is centred and given an orthonormal basis by QR and SVD; the canonical correlations are the
singular values of the product of the two bases. Rank-deficient sides keep the directions they have.
Embeddings are read in blocks, so that only blocks are ever held in float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from backend.progress import Progress

Floats = NDArray[np.float64]

BLOCK_ROWS = 8192
PRODUCT_BYTES = 128 * 2**20
"""Bound of the permuted products held at a time."""
REFINE_ABOVE = 1e5
"""Condition number above which a basis is orthonormalised once more."""


@dataclass(frozen=True, eq=False)
class CanonicalCorrelations:
    """Per dimension, strongest first.

    Attributes
    ----------
    real : np.ndarray, shape (d,), float64
        d = min(rank of the labels, rank of the embeddings), both centred.
    permuted : np.ndarray, shape (d,), float64
        Mean over permutations of the clips.
    permuted_spread : np.ndarray, shape (d,), float64
        Standard deviation over permutations (n - 1; 0 for one permutation).
    p : np.ndarray, shape (d,), float64
        (1 + permutations with at least the real correlation) / (N + 1).
    permutations : int
    """

    real: Floats
    permuted: Floats
    permuted_spread: Floats
    p: Floats
    permutations: int


def canonical_correlations(
    first: Floats | sparse.spmatrix,
    second: NDArray[np.floating],
    *,
    permutations: int = 0,
    random: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> CanonicalCorrelations:
    """Canonical correlations of two sets of columns over the same rows.

    Parameters
    ----------
    first : np.ndarray or scipy sparse matrix, shape (N, n)
        The labels of each clip.
    second : np.ndarray, shape (N, m)
        The embeddings; any float dtype, a memory map is read in blocks.
    permutations : int
        How often the rows of ``first`` are shuffled against those of ``second``.
    random : np.random.Generator
        Needed with permutations.

    Raises
    ------
    ValueError
        The sides differ in rows, or permutations come without a generator.
    """
    progress = progress or Progress()
    first = first if sparse.issparse(first) else np.asarray(first, dtype=np.float64)
    second = np.asanyarray(second)
    if first.shape[0] != second.shape[0]:
        raise ValueError(f"{first.shape[0]} rows of labels and {second.shape[0]} of embeddings; they must be the same.")
    rows = first.shape[0]
    orders: list[NDArray[np.int64]] = [np.arange(rows)]
    if permutations:
        if random is None:
            raise ValueError("Permutations need a random generator.")
        orders += [random.permutation(rows) for _ in range(permutations)]
    labels = sparse.csr_matrix(first, dtype=np.float64)
    mean, basis = _basis(second)
    _, label_basis = _basis(labels)
    dimensions = min(basis.shape[1], label_basis.shape[1])
    batch = max(1, PRODUCT_BYTES // (8 * first.shape[1] * second.shape[1]))
    table = np.empty((len(orders), dimensions))
    for start in range(0, len(orders), batch):
        products = _products(labels, second, mean, orders[start : start + batch])
        for index, product in enumerate(products, start):
            values = np.linalg.svd(label_basis.T @ product @ basis, compute_uv=False)
            table[index] = np.clip(values[:dimensions], 0.0, 1.0)
            said = f"Correlating labels and embeddings, {index} of {permutations} shuffles"
            progress.report(said, index, len(orders))
    return _summary(table)


def _summary(table: Floats) -> CanonicalCorrelations:
    real, shuffled = table[0], table[1:]
    if not len(shuffled):
        empty = np.full_like(real, np.nan)
        return CanonicalCorrelations(real, empty, empty, empty, 0)
    spread = shuffled.std(axis=0, ddof=1) if len(shuffled) > 1 else np.zeros_like(real)
    p = (1 + (shuffled >= real).sum(axis=0)) / (len(shuffled) + 1)
    return CanonicalCorrelations(real, shuffled.mean(axis=0), spread, p, len(shuffled))


def _block(source: NDArray[np.floating] | sparse.csr_matrix, start: int) -> Floats:
    part = source[start : start + BLOCK_ROWS]
    if isinstance(part, sparse.csr_matrix):
        return np.asarray(part.toarray())
    return np.asarray(part, dtype=np.float64)


def _basis(source: NDArray[np.floating] | sparse.csr_matrix) -> tuple[Floats, Floats]:
    """Column means, and the matrix that takes the centred columns to an orthonormal basis of their span.

    QR block by block (only the triangular factors are kept), then an SVD of the last factor. Where the
    columns are badly conditioned the result is orthonormalised a second time.
    """
    rows, columns = source.shape
    total = np.zeros(columns)
    scale = 0.0
    for start in range(0, rows, BLOCK_ROWS):
        block = _block(source, start)
        total += block.sum(axis=0)
        scale += float(np.sum(np.square(block)))
    mean = total / rows
    transform = np.eye(columns)
    for attempt in range(2):
        triangle = np.zeros((0, transform.shape[1]))
        for start in range(0, rows, BLOCK_ROWS):
            block = (_block(source, start) - mean) @ transform if attempt else _block(source, start) - mean
            triangle = np.asarray(np.linalg.qr(np.vstack([triangle, block]), mode="r"))
        _, singular, right = np.linalg.svd(triangle, full_matrices=False)
        top = singular[0] if len(singular) else 0.0
        floor = max(rows, columns) * np.finfo(np.float64).eps * max(top, 0.0 if attempt else np.sqrt(scale))
        kept = singular > floor
        if not kept.any():
            return mean, np.zeros((columns, 0))
        transform = transform @ (right[kept].T / singular[kept])
        if top <= REFINE_ABOVE * singular[kept][-1]:
            break
    return mean, transform


def _products(
    labels: sparse.csr_matrix, embeddings: NDArray[np.floating], mean: Floats, orders: Sequence[NDArray[np.int64]]
) -> list[Floats]:
    """labels[order]' (embeddings - mean) for each order; the labels need no centring, for the other side has it."""
    products = [np.zeros((labels.shape[1], embeddings.shape[1])) for _ in orders]
    for start in range(0, len(embeddings), BLOCK_ROWS):
        block = _block(embeddings, start) - mean
        for product, order in zip(products, orders, strict=True):
            product += labels[order[start : start + BLOCK_ROWS]].T @ block
    return products
