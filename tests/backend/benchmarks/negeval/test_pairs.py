"""Controlled pairs: target and distractor differ in one overlaid sound of the same kind, place and loudness."""

from __future__ import annotations

import numpy as np
import pytest

from backend.benchmarks.negeval.concepts import category
from backend.benchmarks.negeval.pairs import (
    LEVEL,
    PART_SECONDS,
    RATE,
    PairRenderer,
    active_rms,
    controlled_pairs,
    part_of,
    single_sources,
)
from backend.collections.layouts import open_collection
from backend.errors import InputError
from tests.fakes import clip_of_samples, tone_clip

SOURCES = {
    "dog bark": ["d1", "d2"],
    "rooster": ["r1"],
    "rain": ["n1"],
    "sea waves": ["w1"],
    "baby cry": ["b1"],
    "clock tick": ["c1"],
}
BANDS = {"d1": 0, "d2": 1, "r1": 2, "n1": 3, "w1": 4, "b1": 5, "c1": 6}


def made(count: int = 60, filler: str = "matched"):
    return controlled_pairs(SOURCES, count, np.random.default_rng(0), filler)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def renderer() -> PairRenderer:
    return PairRenderer(lambda name: tone_clip(BANDS[name], 0, 5, duration=5, sample_rate=RATE))


@pytest.mark.parametrize("filler", ["matched", "any"])
def test_all_four_sounds_differ_and_come_from_clips_that_have_them(filler):
    for pair in made(filler=filler):
        sounds = [*pair.positives, pair.negative, pair.filler]
        assert len(set(sounds)) == 4
        ids = [*pair.positive_ids, pair.negative_id, pair.filler_id]
        assert all(name in SOURCES[sound] for sound, name in zip(sounds, ids, strict=True))
        assert 0 <= pair.onset <= PART_SECONDS
        if filler == "matched":
            assert category(pair.filler) == category(pair.negative)
        assert pair.negative in pair.sounds("distractor") and pair.negative not in pair.sounds("target")


def test_a_sound_without_a_companion_of_its_kind_is_never_negated():
    assert "clock tick" not in {pair.negative for pair in made()}
    assert "clock tick" in {pair.negative for pair in made(filler="any")}


def test_the_seed_decides_and_numbers_count():
    assert made() == made()
    assert made() != controlled_pairs(SOURCES, 60, np.random.default_rng(1))
    assert [pair.number for pair in made()] == list(range(60))


def test_target_and_distractor_differ_only_where_the_sound_is_laid_over(renderer):
    for pair in made(8):
        target, distractor = renderer.samples(pair, "target"), renderer.samples(pair, "distractor")
        assert len(target) == len(distractor) == 2 * PART_SECONDS * RATE
        start, length = round(pair.onset * RATE), round(PART_SECONDS * RATE)
        outside = np.ones(len(target), bool)
        outside[start : start + length] = False
        np.testing.assert_array_equal(target[outside], distractor[outside])
        base = np.concatenate([renderer._part(name) for name in pair.positive_ids])
        levels = [active_rms(mix[~outside] - base[~outside], RATE) for mix in (target, distractor)]
        assert levels[0] == pytest.approx(levels[1], rel=1e-3)
        assert levels[0] == pytest.approx(LEVEL, rel=1e-3)


def test_rendering_is_deterministic_and_a_clip_is_its_samples(renderer):
    (pair, *_) = made(1)
    np.testing.assert_array_equal(renderer.samples(pair, "target"), renderer.samples(pair, "target"))
    clip = renderer.clip(pair, "target")
    np.testing.assert_array_equal(clip.mono, renderer.samples(pair, "target"))
    assert clip.sample_rate == RATE and clip.duration == 10


def test_keys_tell_recipes_sides_and_sources_apart():
    first, second = made(2)
    keys = {first.key("target", "a"), first.key("distractor", "a"), first.key("target", "b"), second.key("target", "a")}
    assert len(keys) == 4


def test_loudness_is_that_of_the_active_part():
    quiet_then_loud = np.concatenate([np.zeros(RATE), 0.3 * np.ones(RATE)])
    assert active_rms(quiet_then_loud, RATE) == pytest.approx(0.3)
    assert active_rms(np.zeros(100), RATE) == 0 and active_rms(np.full(10, 0.2), RATE) > 0
    part = part_of(clip_of_samples(quiet_then_loud.astype(np.float32), RATE))
    assert len(part) == PART_SECONDS * RATE and active_rms(part, RATE) == pytest.approx(LEVEL, rel=1e-4)
    assert not part_of(clip_of_samples(np.zeros(50, np.float32), RATE)).any()


def test_the_demo_collection_has_enough_single_sounds():
    items = open_collection("demo").items
    sources = single_sources(items)
    assert all(len(item.labels) == 1 for item in items if item.id in sources.get(item.labels[0], []))
    assert len(controlled_pairs(sources, 50, np.random.default_rng(0))) == 50


@pytest.mark.parametrize("sources", [{}, {"rain": ["a"]}, {"rain": ["a"], "wind": ["b"], "dog bark": ["c"]}])
def test_too_few_sounds_are_said(sources):
    with pytest.raises(InputError, match="controlled pair is mixed"):
        controlled_pairs(sources, 1, np.random.default_rng(0))
