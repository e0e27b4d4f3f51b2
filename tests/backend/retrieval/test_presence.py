"""Calibrated evidence against its slow twin, and what must not change it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.retrieval import presence
from backend.retrieval.steering import unit
from tests.reference.exclusion import best_mean, evidence_of_window

seeds = st.integers(0, 10**6)
PRESENCE = presence.PRESENCE


def compared(
    windows: np.ndarray, texts: np.ndarray, parameters: presence.PresenceParameters = PRESENCE
) -> presence.Background:
    """The background of windows that are one clip."""
    return presence.background_of(windows, np.array([0, len(windows)]), texts, parameters)


def vectors(seed: int, count: int, dim: int = 16) -> np.ndarray:
    return unit(np.random.default_rng(seed).normal(size=(count, dim))).astype(np.float32)


@given(seeds, st.floats(0.5, 4))
@settings(max_examples=25, deadline=None)
def test_window_evidence_equals_its_twin(seed: int, sharpness: float):
    windows, concepts, texts = vectors(seed, 4), vectors(seed + 1, 3), vectors(seed + 2, 20)
    concepts[0] = texts[5]
    parameters = replace(PRESENCE, sharpness=sharpness)
    found = presence.window_evidence(windows, concepts, compared(windows, texts, parameters), parameters)
    for row, window in enumerate(windows):
        for column, concept in enumerate(concepts):
            slow = evidence_of_window(window, concept, texts, sharpness, parameters.synonym_cosine)
            assert found[row, column] == pytest.approx(slow, abs=2e-4)


def test_the_vocabulary_is_compared_in_blocks_without_a_seam(monkeypatch: pytest.MonkeyPatch):
    windows, texts = vectors(0, 17), vectors(1, 12)
    offsets = np.array([0, 1, 5, 6, 12, 17])
    whole = presence.background_of(windows, offsets, texts)
    for chunk in (1, 3, 7):
        monkeypatch.setattr(presence, "CHUNK", chunk)
        parts = presence.background_of(windows, offsets, texts)
        np.testing.assert_allclose(parts.competition, whole.competition, rtol=1e-6)
        np.testing.assert_allclose(parts.mean, whole.mean, atol=1e-7)
        np.testing.assert_allclose(parts.own, whole.own, atol=1e-6)
        assert parts.typical == pytest.approx(whole.typical, abs=1e-6)


def test_the_typical_level_is_the_texts_own_evidence_averaged():
    windows, texts = vectors(5, 12), vectors(6, 9)
    offsets = np.array([0, 3, 4, 9, 12])
    background = presence.background_of(windows, offsets, texts)
    evidence = presence.clip_evidence(windows, offsets, texts, background)
    assert background.typical == pytest.approx(float(np.median(evidence, axis=0).mean()), abs=1e-4)


def test_a_clip_with_clearer_sounds_of_its_own_asks_for_more():
    windows, texts, concepts = vectors(7, 4), vectors(8, 30), vectors(9, 2)
    offsets = np.array([0, 2, 4])
    parameters = replace(PRESENCE, own_share=0.0)
    background = presence.background_of(windows, offsets, texts)
    plain = presence.clip_evidence(windows, offsets, concepts, background, parameters)
    scaled = presence.clip_evidence(windows, offsets, concepts, background, PRESENCE)
    taken = PRESENCE.own_share * (background.own - PRESENCE.own_level)
    np.testing.assert_allclose(plain - scaled, np.stack([taken, taken], axis=1), atol=1e-9)


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
            presence.window_evidence(one.astype(np.float32), concepts, compared(one.astype(np.float32), texts))
            for one in (window, moved)
        ]
        np.testing.assert_allclose(both[0], both[1], atol=1e-3)


def test_calibration_takes_readiness_away_and_one_clip_keeps_the_assumption():
    evidence = np.random.default_rng(0).normal([3.0, -1.0], 0.5, size=(4001, 2))
    usual = presence.calibrate(evidence, typical=0.5)
    assert usual[0].shift == pytest.approx(2.5, abs=0.05) and usual[1].shift == pytest.approx(-1.5, abs=0.05)
    np.testing.assert_allclose(np.median(presence.calibrated(evidence, usual), axis=0), 0.5, atol=0.02)
    assert presence.calibrate(np.array([[9.0]]), 0.0)[0].shift == 0.0
    assert presence.calibrate(np.empty((0, 2)), 0.0) == (presence.Calibration(0.0),) * 2


def test_a_sound_in_a_third_of_the_clips_is_not_taken_for_readiness():
    evidence = np.concatenate([np.full((30, 1), 4.0), np.zeros((60, 1))])
    left = presence.calibrated(evidence, presence.calibrate(evidence, 0.0))
    assert left[0, 0] == 4.0 and left[-1, 0] == 0.0


def test_a_concept_far_from_every_everyday_sound_is_unknown():
    texts = vectors(4, 30, dim=6)
    texts[:, 5] = 0
    texts = unit(texts).astype(np.float32)
    beyond = np.eye(6, dtype=np.float32)[5]
    known = presence.known_concepts(np.stack([texts[3], beyond]), texts)
    np.testing.assert_array_equal(known, [True, False])
