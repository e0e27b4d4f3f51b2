"""The five metrics and the baselines against naive twins, and CKA against its published figures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.composition import METRICS, evaluate, factorise, label_overlap, linear_cka, p_values, prepare
from backend.composition.baselines import permuted_leave_one_out
from backend.composition.metrics import alignment, hits, ranks, row_cosines, row_divergences, row_residuals
from tests.reference import composition as slow


def rows(seed: int, q: int | None = None, m: int | None = None):
    random = np.random.default_rng(seed)
    q = q or int(random.integers(3, 30))
    m = m or int(random.integers(2, 30))
    return random.standard_normal((q, m)), random.standard_normal((q, m))


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), distance=st.sampled_from(["cosine", "euclidean"]))
def test_metrics_equal_their_naive_twins(seed, distance):
    actual, noise = rows(seed)
    predicted = actual + noise
    found = evaluate(prepare(actual, distance), predicted).values()
    np.testing.assert_allclose(found, slow.five_metrics(actual, predicted, distance), atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("shape", [(7, 40), (40, 7), (300, 16)])
def test_cka_is_the_same_in_kernel_and_feature_space(shape):
    actual, predicted = rows(1, *shape)
    assert evaluate(prepare(actual), predicted).cka == pytest.approx(slow.cka(actual, predicted), abs=1e-12)
    assert linear_cka(actual, predicted) == pytest.approx(slow.cka(actual, predicted), abs=1e-12)


def test_quick_cka_of_a_large_problem_is_exact_to_seven_digits():
    actual, noise = rows(6, 1289, 512)
    target = prepare(actual)
    for predicted in (noise, actual + 0.3 * noise):
        assert alignment(target, predicted, quick=True) == pytest.approx(alignment(target, predicted), abs=1e-7)


def test_cka_reproduces_the_published_demo():
    """Figures of google-research/representation_similarity/Demo.ipynb."""
    state = np.random.RandomState(1337)
    first = state.randn(100, 10)
    second = state.randn(100, 10) + first
    assert linear_cka(first, second) == pytest.approx(0.55761, abs=5e-6)
    assert linear_cka(first, second, debiased=True) == pytest.approx(0.51346, abs=5e-6)


def test_a_perfect_prediction():
    actual, _ = rows(2, 20, 8)
    found = evaluate(prepare(actual), actual.copy())
    np.testing.assert_allclose(found.values(), [1, 0, 1, 0, 1], atol=1e-12)


def test_predictions_of_nothing_have_no_direction_and_hit_nothing():
    actual, _ = rows(3, 20, 8)
    found = evaluate(prepare(actual), np.zeros_like(actual))
    assert found.cosine == 0 and found.cka == 0 and found.hits_at_5 == 0
    assert found.relative_frobenius == pytest.approx(1)


def test_a_tie_counts_against_the_prediction():
    actual = np.vstack([np.ones((8, 3)), np.eye(3)])
    predicted = actual.copy()
    assert ranks(prepare(actual), predicted).tolist()[:8] == [8] * 8
    assert not hits(prepare(actual), predicted, 5)[:8].any()
    assert hits(prepare(actual), predicted, 5)[8:].all()


def test_cka_of_one_row_is_undefined_and_json_says_null():
    found = evaluate(prepare(np.ones((1, 4)), "euclidean"), np.ones((1, 4)))
    assert np.isnan(found.cka)
    assert found.record()["cka"] is None


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), distance=st.sampled_from(["cosine", "euclidean"]))
def test_early_dropping_of_rows_changes_no_hit(seed, distance):
    random = np.random.default_rng(seed)
    actual = random.standard_normal((400, 6))
    predicted = actual + random.choice([0.1, 1.0, 5.0]) * random.standard_normal((400, 6))
    target = prepare(actual, distance)
    assert np.array_equal(hits(target, predicted, 5), ranks(target, predicted) <= 5)


def test_per_row_values_average_to_the_metrics():
    actual, predicted = rows(4, 15, 9)
    target = prepare(actual)
    found = evaluate(target, predicted)
    assert row_cosines(target, predicted).mean() == pytest.approx(found.cosine)
    assert row_divergences(target, predicted).mean() == pytest.approx(found.kl_bits)
    assert row_residuals(target, predicted)[3] == pytest.approx(
        np.linalg.norm(predicted[3] - actual[3]) / np.linalg.norm(actual[3])
    )


def test_divergence_survives_large_values():
    actual, predicted = rows(5, 6, 4)
    assert np.isfinite(evaluate(prepare(1000 * actual), 1000 * predicted).kl_bits)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), held=st.booleans())
def test_label_overlap_equals_its_twin(seed, held):
    random = np.random.default_rng(seed)
    membership = np.unique((random.random((12, 6)) < 0.3).astype(float), axis=0)
    membership = membership[membership.sum(axis=1) > 0]
    if len(membership) < 3:
        return
    means = random.standard_normal((len(membership), 4))
    members = [set(np.flatnonzero(row)) for row in membership]
    out = np.sort(random.permutation(len(membership))[: len(membership) // 3]) if held else None
    out = None if out is None or not len(out) else out
    expected = slow.label_overlap(members, means, None if out is None else out.tolist())
    np.testing.assert_allclose(label_overlap(membership, means, out), expected, atol=1e-12)


def test_permutations_equal_refits_of_shuffled_means():
    random = np.random.default_rng(8)
    membership = (random.random((20, 5)) < 0.4).astype(float)
    means = membership @ random.standard_normal((5, 7)) + random.standard_normal((20, 7))
    table = permuted_leave_one_out(factorise(membership).ridge(0.5), prepare(means), 6, np.random.default_rng(4))
    again = np.random.default_rng(4)
    for found in table:
        shuffled = means[again.permutation(20)]
        predicted = slow.leave_out(membership, shuffled, 0.5, [[row] for row in range(20)])
        np.testing.assert_allclose(found, slow.five_metrics(shuffled, predicted), atol=1e-8)


def test_threads_change_no_number(monkeypatch):
    random = np.random.default_rng(9)
    membership = (random.random((60, 8)) < 0.3).astype(float)
    membership[membership.sum(axis=1) == 0, 0] = 1
    ridge, target = factorise(membership).ridge(1.0), prepare(random.standard_normal((60, 12)))
    alone = permuted_leave_one_out(ridge, target, 10, np.random.default_rng(1))
    monkeypatch.setattr("backend.composition.baselines.LARGE", 0)
    np.testing.assert_allclose(permuted_leave_one_out(ridge, target, 10, np.random.default_rng(1)), alone, atol=1e-12)


def test_p_values_count_the_real_one_and_follow_each_metric():
    real = np.array([0.5, 0.5, 0.5, 0.5, 0.5])
    permuted = np.tile([[0.5], [0.4], [0.6]], 5)
    p = dict(zip(METRICS, p_values(real, permuted), strict=True))
    assert p == {"cosine": 3 / 4, "relative_frobenius": 3 / 4, "cka": 3 / 4, "kl_bits": 3 / 4, "hits_at_5": 3 / 4}
    p = dict(zip(METRICS, p_values(np.full(5, 0.55), permuted), strict=True))
    assert p["cosine"] == p["cka"] == p["hits_at_5"] == 2 / 4
    assert p["relative_frobenius"] == p["kl_bits"] == 3 / 4
    assert p_values(np.ones(5), np.zeros((100, 5)))[0] == 1 / 101
