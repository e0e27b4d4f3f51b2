"""Calibrated evidence against its slow twin, and what must not change it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend import presence
from backend.steering import unit
from tests.reference.exclusion import best_mean, evidence_of_window

seeds = st.integers(0, 10**6)
FORM = presence.FORM


def vectors(seed: int, count: int, dim: int = 16) -> np.ndarray:
    return unit(np.random.default_rng(seed).normal(size=(count, dim))).astype(np.float32)


@given(seeds, st.floats(0.5, 4))
@settings(max_examples=25, deadline=None)
def test_window_evidence_equals_its_twin(seed: int, sharpness: float):
    windows, concepts, texts = vectors(seed, 4), vectors(seed + 1, 3), vectors(seed + 2, 20)
    concepts[0] = texts[5]
    form = replace(FORM, sharpness=sharpness)
    found = presence.window_evidence(windows, concepts, presence.background_of(windows, texts, form), form)
    for row, window in enumerate(windows):
        for column, concept in enumerate(concepts):
            slow = evidence_of_window(window, concept, texts, sharpness, form.synonym_cosine)
            assert found[row, column] == pytest.approx(slow, abs=2e-4)


def test_the_vocabulary_is_compared_in_blocks_without_a_seam(monkeypatch: pytest.MonkeyPatch):
    windows, texts = vectors(0, 10), vectors(1, 12)
    whole = presence.background_of(windows, texts)
    monkeypatch.setattr(presence, "CHUNK", 3)
    parts = presence.background_of(windows, texts)
    np.testing.assert_allclose(parts.competition, whole.competition, rtol=1e-6)
    np.testing.assert_allclose(parts.mean, whole.mean, atol=1e-7)


@given(seeds, st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_pooling_equals_its_twin_for_ragged_clips(seed: int, counts: list[int], best: int):
    values = np.random.default_rng(seed).normal(size=(sum(counts), 2))
    offsets = np.cumsum([0, *counts])
    found = presence.pooled(values, offsets, best)
    for clip in range(len(counts)):
        for column in range(2):
            slow = best_mean(values[offsets[clip] : offsets[clip + 1], column], best)
            assert found[clip, column] == pytest.approx(slow)


@given(seeds)
@settings(max_examples=25, deadline=None)
def test_the_order_of_windows_does_not_matter_and_a_silent_addition_does_not_dilute(seed: int):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(7, 1))
    clip = presence.pooled(values, np.array([0, 7]))
    assert presence.pooled(rng.permutation(values), np.array([0, 7])) == pytest.approx(clip)
    longer = np.concatenate([values, np.full((90, 1), values.min() - 1)])
    assert presence.pooled(longer, np.array([0, 97])) == pytest.approx(clip)


def test_evidence_does_not_change_when_all_cosines_are_shifted_or_scaled():
    texts, concepts = vectors(1, 15, dim=20), vectors(2, 2, dim=20)
    window = vectors(3, 1, dim=20).astype(np.float64)
    # A direction with the same cosine for every text and concept: moving along it shifts all scores alike.
    shift = np.linalg.lstsq(np.vstack([texts, concepts]), np.ones(17), rcond=None)[0]
    np.testing.assert_allclose(np.vstack([texts, concepts]) @ shift, 1, atol=1e-5)
    for moved in (window * 0.3, window + 0.5 * shift):
        both = [
            presence.window_evidence(
                one.astype(np.float32), concepts, presence.background_of(one.astype(np.float32), texts)
            )
            for one in (window, moved)
        ]
        np.testing.assert_allclose(both[0], both[1], atol=1e-3)


def test_calibration_takes_the_usual_level_away_and_one_clip_keeps_the_assumption():
    evidence = np.random.default_rng(0).normal(3.0, 0.5, size=(4000, 2))
    usual = presence.calibrate(evidence)
    assert usual[0].mean == pytest.approx(3.0, abs=0.05) and usual[0].sd == pytest.approx(0.5, abs=0.1)
    assert np.abs(presence.calibrated(evidence, usual).mean(axis=0)).max() < 0.05
    (alone,) = presence.calibrate(np.array([[9.0]]))
    assert FORM.usual_mean < alone.mean < 2.0
    (none,) = presence.calibrate(np.empty((0, 1)))
    assert none.mean == pytest.approx(FORM.usual_mean) and none.sd == pytest.approx(FORM.usual_sd)


def test_a_concept_far_from_every_everyday_sound_is_unknown():
    texts = vectors(4, 30, dim=6)
    texts[:, 5] = 0
    texts = unit(texts).astype(np.float32)
    beyond = np.eye(6, dtype=np.float32)[5]
    known = presence.known_concepts(np.stack([texts[3], beyond]), texts)
    np.testing.assert_array_equal(known, [True, False])
