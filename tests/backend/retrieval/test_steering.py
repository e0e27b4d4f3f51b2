"""Laws of embedding arithmetic: sweeps from three dot products, closed forms, projection."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.errors import InputError
from backend.retrieval import steering
from tests.reference.exclusion import steered_by_embedding

seeds = st.integers(0, 10**6)
lambdas = st.floats(0, steering.LARGEST_LAMBDA, allow_nan=False)


def units(seed: int, count: int, dim: int = 12) -> np.ndarray:
    return steering.unit(np.random.default_rng(seed).normal(size=(count, dim)))


@given(seeds, st.lists(lambdas, min_size=1, max_size=5))
@settings(max_examples=60, deadline=None)
def test_a_sweep_equals_embedding_again(seed: int, strengths: list[float]):
    query, negative, *clips = units(seed, 7)
    clips = np.array(clips)
    swept = steering.steered_scores(clips @ query, clips @ negative, float(query @ negative), strengths)
    for column, strength in enumerate(strengths):
        direct = clips @ steering.steered_embedding(query, negative, strength)
        np.testing.assert_allclose(swept[:, column], direct, atol=1e-9)
        assert swept[0, column] == pytest.approx(steered_by_embedding(query, negative, strength, clips[0]), abs=1e-9)


@given(seeds, lambdas)
@settings(max_examples=60, deadline=None)
def test_the_closed_forms_hold(seed: int, strength: float):
    query, negative = units(seed, 2)
    c = float(query @ negative)
    moved = steering.steered_embedding(query, negative, strength)
    assert steering.cosine_with_negative(c, strength) == pytest.approx(float(moved @ negative), abs=1e-9)
    assert steering.cosine_with_query(c, strength) == pytest.approx(float(moved @ query), abs=1e-9)
    across = negative - c * query
    across /= np.linalg.norm(across)
    np.testing.assert_allclose(steering.steering_path(c, [strength])[0], [moved @ query, moved @ across], atol=1e-9)


def test_the_closed_form_is_the_published_one():
    c, strength = 0.62, 0.5
    assert steering.cosine_with_negative(c, strength) == pytest.approx(
        (c - strength) / np.sqrt(1 - 2 * strength * c + strength**2)
    )


def test_steering_falls_from_c_to_minus_one():
    values = steering.cosine_with_negative(0.7, np.linspace(0, 100, 400))
    assert values[0] == pytest.approx(0.7) and np.all(np.diff(values) < 0) and values[-1] < -0.999
    assert steering.cosine_with_negative(0.7, 0.7) == pytest.approx(0, abs=1e-12)


def test_where_nothing_is_left_everything_scores_zero():
    query = units(0, 1)[0]
    assert not steering.steered_embedding(query, query, 1.0).any()
    np.testing.assert_array_equal(steering.steered_scores([0.3, 0.9], [0.3, 0.9], 1.0, [1.0]), [[0.0], [0.0]])


def test_several_negatives_pull_in_their_mean_direction():
    first, second = np.eye(3)[:2]
    np.testing.assert_allclose(steering.combined_negative([first, second]), [np.sqrt(0.5), np.sqrt(0.5), 0])
    np.testing.assert_allclose(steering.combined_negative(first), first)


@pytest.mark.parametrize("strength", [-0.1, float("nan"), float("inf"), 101])
def test_a_strength_out_of_range_is_said(strength: float):
    with pytest.raises(InputError, match="lambda is"):
        steering.steered_scores([0.1], [0.2], 0.3, [strength])


def test_dot_products_are_three():
    query, negative, *clips = units(3, 6).astype(np.float32)
    raw, forbidden, c = steering.dot_products(query, negative[None], np.array(clips))
    np.testing.assert_allclose(raw, np.array(clips) @ query, atol=1e-6)
    np.testing.assert_allclose(forbidden, np.array(clips) @ negative, atol=1e-6)
    assert c == pytest.approx(float(query @ negative), abs=1e-6)
