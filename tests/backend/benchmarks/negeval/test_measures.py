"""Recall against its twin, intervals against what is known of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.benchmarks.negeval.measures import first_relevant, measured, recalls
from tests.reference.exclusion import rank_of_first_relevant


@given(st.integers(0, 10**6), st.integers(1, 30))
@settings(max_examples=60, deadline=None)
def test_ranks_equal_their_twin_also_with_ties(seed: int, count: int):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, size=(3, count)).astype(float)
    relevant = [sorted(set(rng.integers(0, count, size=2).tolist())) for _ in range(3)]
    slow = [rank_of_first_relevant(row, right) for row, right in zip(scores, relevant, strict=True)]
    assert first_relevant(scores, relevant).tolist() == slow


def test_a_scorer_that_cannot_tell_is_not_credited():
    assert first_relevant(np.zeros((1, 10)), [[4]]).tolist() == [10]


def test_recall_counts_ranks():
    found = recalls(np.array([1, 3, 6, 11]), seed=0)
    assert [found[key].value for key in ("R@1", "R@5", "R@10")] == [0.25, 0.5, 0.75]


def test_intervals_are_seeded_hold_the_mean_and_have_the_known_width():
    values = np.random.default_rng(0).random(400) < 0.3
    first, again, other = measured(values, 1), measured(values, 1), measured(values, 2)
    assert first == again and first != other and first.items == 400
    assert first.low <= first.value <= first.high
    known = 1.96 * np.sqrt(first.value * (1 - first.value) / 400)
    assert (first.high - first.low) / 2 == pytest.approx(known, rel=0.12)


def test_the_interval_covers_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(5)
    covered = [m.low <= 0.4 <= m.high for m in (measured(rng.random(80) < 0.4, n, 400) for n in range(150))]
    assert 0.88 <= np.mean(covered) <= 1.0


def test_no_items_have_no_mean():
    assert np.isnan(measured([], 0).value) and measured([], 0).items == 0
    assert measured([1, 1], 0).record() == {"value": 1.0, "low": 1.0, "high": 1.0, "items": 2}
