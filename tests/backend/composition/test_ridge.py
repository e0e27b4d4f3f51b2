"""Closed-form reconstructions against refitting, on problems of every awkward kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from backend.composition import LAMBDA_GRID, choose_penalty, draw_split, factorise
from tests.reference import composition as slow

KINDS = ("random", "rank-deficient", "one source", "duplicate column", "fewer rows than sources", "real-valued")


def problem(kind: str, seed: int):
    """S (q, n) and R (q, m) of one kind."""
    random = np.random.default_rng(seed)
    q, n, m = int(random.integers(4, 25)), int(random.integers(2, 9)), int(random.integers(1, 12))
    if kind == "one source":
        n = 1
    if kind == "fewer rows than sources":
        q, n = int(random.integers(3, 8)), int(random.integers(9, 16))
    membership = (random.random((q, n)) < 0.4).astype(float)
    if kind == "real-valued":
        membership = random.standard_normal((q, n))
    if kind == "rank-deficient":
        membership = np.column_stack([membership, membership[:, :1] + membership[:, 1:2]])
    if kind == "duplicate column":
        membership = np.column_stack([membership, membership[:, 0]])
    return membership, random.standard_normal((q, m))


cases = given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 2**32 - 1),
    penalty=st.sampled_from([1e-6, 1e-3, 0.1, 1.0, 1e3, 1e8]),
)


@settings(max_examples=120, deadline=None)
@cases
def test_leave_one_out_equals_refitting(kind, seed, penalty):
    membership, means = problem(kind, seed)
    predicted = factorise(membership).ridge(penalty).leave_one_out(means)
    refitted = slow.leave_out(membership, means, penalty, [[row] for row in range(len(means))])
    np.testing.assert_allclose(predicted, refitted, atol=1e-8, rtol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_leave_one_out_equals_scikit_learn_s_ridge(kind):
    membership, means = problem(kind, seed=5)
    predicted = factorise(membership).ridge(0.1).leave_one_out(means)
    for row in range(len(means)):
        others = np.arange(len(means)) != row
        twin = Ridge(alpha=0.1, fit_intercept=False, solver="svd").fit(membership[others], means[others])
        np.testing.assert_allclose(predicted[row], np.ravel(twin.predict(membership[[row]])), atol=1e-8)


@settings(max_examples=80, deadline=None)
@cases
def test_leave_block_out_equals_refitting(kind, seed, penalty):
    membership, means = problem(kind, seed)
    rows = np.sort(np.random.default_rng(seed).permutation(len(means))[: max(1, len(means) // 4)])
    ridge = factorise(membership).ridge(penalty)
    refitted = slow.leave_out(membership, means, penalty, [rows.tolist()])[rows]
    np.testing.assert_allclose(ridge.leave_block_out(means, rows), refitted, atol=1e-8, rtol=1e-8)


@settings(max_examples=60, deadline=None)
@cases
def test_shuffled_leave_one_out_is_leave_one_out_of_shuffled_means(kind, seed, penalty):
    membership, means = problem(kind, seed)
    order = np.random.default_rng(seed + 1).permutation(len(means))
    ridge = factorise(membership).ridge(penalty)
    refitted = slow.leave_out(membership, means[order], penalty, [[row] for row in range(len(means))])
    put_back = np.empty_like(refitted)
    put_back[order] = refitted
    np.testing.assert_allclose(ridge.leave_one_out_shuffled(means, order), put_back, atol=1e-8, rtol=1e-8)


@settings(max_examples=60, deadline=None)
@cases
def test_contributions_without_a_combination_add_up_to_its_prediction(kind, seed, penalty):
    membership, means = problem(kind, seed)
    row = seed % len(means)
    ridge = factorise(membership).ridge(penalty)
    added = membership[row] @ ridge.contributions_without(means, row)
    np.testing.assert_allclose(added, ridge.leave_one_out(means)[row], atol=1e-8, rtol=1e-8)


def test_contributions_and_fit_equal_the_refit_on_all_rows():
    membership, means = problem("random", 5)
    ridge = factorise(membership).ridge(0.3)
    weights = slow.refit(membership, means, 0.3, list(range(len(means))))
    np.testing.assert_allclose(ridge.contributions(means), weights, atol=1e-10)
    np.testing.assert_allclose(ridge.fitted(means), membership @ weights, atol=1e-10)


def test_leverage_is_the_diagonal_of_the_hat_matrix():
    membership, _ = problem("random", 7)
    hat = membership @ np.linalg.inv(membership.T @ membership + 0.2 * np.eye(membership.shape[1])) @ membership.T
    np.testing.assert_allclose(factorise(membership).ridge(0.2).leverage, np.diag(hat), atol=1e-12)


def test_a_combination_of_sources_of_its_own_is_predicted_as_exactly_nothing():
    membership = np.array([[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1], [0, 0, 0, 1.0]])
    predicted = factorise(membership).ridge(1e-6).leave_one_out(np.random.default_rng(0).standard_normal((4, 5)))
    assert np.all(predicted[0] == 0)
    assert np.all(np.abs(predicted[1:]).sum(axis=1) > 0)


@pytest.mark.parametrize("penalty", [0.0, -1.0, float("nan")])
def test_lambda_must_be_positive(penalty):
    with pytest.raises(ValueError, match="positive"):
        factorise(np.eye(3)).ridge(penalty)


def test_the_grid_is_the_papers():
    assert len(LAMBDA_GRID) == 50
    assert LAMBDA_GRID[0] == pytest.approx(1e-6) and LAMBDA_GRID[-1] == pytest.approx(1e8)
    np.testing.assert_allclose(np.diff(np.log10(LAMBDA_GRID)), 14 / 49)


def test_lambda_is_the_value_that_predicts_the_validation_rows_best():
    random = np.random.default_rng(3)
    membership = (random.random((40, 8)) < 0.4).astype(float)
    means = membership @ random.standard_normal((8, 6)) + random.standard_normal((40, 6))
    validation = draw_split(membership, random)
    choice = choose_penalty(membership, means, validation)
    training = [row for row in range(40) if row not in set(validation.tolist())]
    for penalty, error in zip(choice.grid, choice.errors, strict=True):
        weights = slow.refit(membership, means, penalty, training)
        assert error == pytest.approx(np.mean((membership[validation] @ weights - means[validation]) ** 2), rel=1e-9)
    assert choice.penalty == choice.grid[np.argmin(choice.errors)]


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_every_held_out_source_stays_in_training(seed):
    random = np.random.default_rng(seed)
    membership = (random.random((int(random.integers(3, 40)), int(random.integers(1, 12)))) < 0.3).astype(float)
    held = draw_split(membership, random)
    training = np.setdiff1d(np.arange(len(membership)), held)
    assert len(held) <= max(1, round(0.2 * len(membership)))
    assert np.all(membership[training].sum(axis=0)[membership[held].sum(axis=0) > 0] > 0)


def test_a_split_holds_out_a_fifth_where_it_can():
    membership = np.ones((100, 2))
    assert len(draw_split(membership, np.random.default_rng(0))) == 20
