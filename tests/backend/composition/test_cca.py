"""Canonical correlations against Hotelling's eigenproblem, and the laws they obey."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from backend.composition import canonical_correlations, cca
from tests.reference import composition as slow


def sides(seed: int, kind: str = "random"):
    random = np.random.default_rng(seed)
    rows, n, m = int(random.integers(30, 80)), int(random.integers(1, 6)), int(random.integers(1, 8))
    labels = (random.random((rows, n)) < 0.4).astype(float)
    embeddings = labels @ random.standard_normal((n, m)) + random.standard_normal((rows, m))
    if kind == "rank-deficient":
        embeddings = np.column_stack([embeddings, embeddings @ random.standard_normal((m, 2))])
    if kind == "duplicate column":
        labels = np.column_stack([labels, labels[:, 0]])
    if kind == "constant column":
        labels = np.column_stack([labels, np.ones(rows)])
    return labels, embeddings


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(["random", "rank-deficient", "duplicate column", "constant column"]),
)
def test_equals_the_textbook_eigenproblem(seed, kind):
    labels, embeddings = sides(seed, kind)
    found = canonical_correlations(labels, embeddings).real
    np.testing.assert_allclose(found**2, slow.canonical_correlations(labels, embeddings) ** 2, atol=1e-8)


def test_one_dimension_is_the_absolute_pearson_correlation():
    random = np.random.default_rng(0)
    x, y = random.standard_normal((50, 1)), random.standard_normal((50, 1))
    y = y - 0.7 * x
    expected = abs(np.corrcoef(x[:, 0], y[:, 0])[0, 1])
    assert canonical_correlations(x, y).real == pytest.approx([expected], abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_column_order_and_invertible_maps_change_nothing(seed):
    labels, embeddings = sides(seed)
    random = np.random.default_rng(seed)
    expected = canonical_correlations(labels, embeddings).real
    shuffled = embeddings[:, random.permutation(embeddings.shape[1])]
    np.testing.assert_allclose(canonical_correlations(labels, shuffled).real, expected, atol=1e-9)
    orthogonal, _ = np.linalg.qr(random.standard_normal((embeddings.shape[1],) * 2))
    mapped = embeddings @ orthogonal @ np.diag(np.geomspace(0.01, 100, embeddings.shape[1])) + 3.0
    np.testing.assert_allclose(canonical_correlations(labels, mapped).real, expected, atol=1e-8)


def test_badly_conditioned_embeddings_keep_their_correlations():
    labels, embeddings = sides(11)
    expected = canonical_correlations(labels, embeddings).real
    stretched = embeddings * np.geomspace(1e-7, 1e3, embeddings.shape[1]) + 5.0
    np.testing.assert_allclose(canonical_correlations(labels, stretched).real, expected, atol=1e-6)


def test_blocks_and_sparse_labels_change_nothing(monkeypatch):
    labels, embeddings = sides(5)
    expected = canonical_correlations(labels, embeddings, permutations=3, random=np.random.default_rng(2))
    monkeypatch.setattr(cca, "BLOCK_ROWS", 7)
    monkeypatch.setattr(cca, "PRODUCT_BYTES", 1)
    sparse_labels = sparse.csr_matrix(labels)
    found = canonical_correlations(sparse_labels, embeddings, permutations=3, random=np.random.default_rng(2))
    np.testing.assert_allclose(found.real, expected.real, atol=1e-12)
    np.testing.assert_allclose(found.permuted, expected.permuted, atol=1e-12)


def test_permutations_shuffle_clips_and_keep_no_alignment():
    labels, embeddings = sides(6)
    found = canonical_correlations(labels, embeddings, permutations=5, random=np.random.default_rng(3))
    random = np.random.default_rng(3)
    tables = [canonical_correlations(labels[random.permutation(len(labels))], embeddings).real for _ in range(5)]
    np.testing.assert_allclose(found.permuted, np.mean(tables, axis=0), atol=1e-10)
    assert found.p[0] == (1 + sum(table[0] >= found.real[0] for table in tables)) / 6


def test_perfectly_aligned_sides_correlate_fully():
    labels, _ = sides(7)
    assert canonical_correlations(labels, labels @ np.diag(np.arange(1.0, labels.shape[1] + 1))).real == pytest.approx(
        1
    )


def test_wrong_calls_are_refused():
    with pytest.raises(ValueError, match="rows"):
        canonical_correlations(np.zeros((3, 1)), np.zeros((4, 1)))
    with pytest.raises(ValueError, match="generator"):
        canonical_correlations(np.zeros((3, 1)), np.zeros((3, 1)), permutations=1)
