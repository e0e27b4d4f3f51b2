"""The demo manifest against the files it names, and the scenes against their recipes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from backend.collections import demo
from backend.errors import InputError
from backend.files import DATA

CLIPS = demo.demo_clips()
RECORDINGS = {clip.id: clip for clip in CLIPS if not clip.is_scene}
SCENES = [clip for clip in CLIPS if clip.is_scene]


def test_the_collection_is_as_large_as_promised_and_small_enough_to_ship():
    assert len(RECORDINGS) >= 40 and len(SCENES) >= 8
    assert len({label for clip in RECORDINGS.values() for label in clip.labels}) >= 20
    assert sum(file.stat().st_size for file in DATA.rglob("*") if file.is_file()) < 12e6


def test_ids_and_files_are_unique_and_no_file_is_left_over():
    assert len({clip.id for clip in CLIPS}) == len(CLIPS)
    files = {clip.path for clip in CLIPS}
    assert len(files) == len(CLIPS)
    assert files == set(DATA.rglob("*.flac"))


@pytest.mark.parametrize("clip", CLIPS, ids=lambda clip: clip.id)
def test_every_entry_agrees_with_its_file(clip):
    info = soundfile.info(clip.path)
    assert (info.samplerate, info.channels) == (demo.SAMPLE_RATE, 1)
    low, high = (10, 30) if clip.is_scene else (2, 8)
    assert low <= info.duration <= high
    assert clip.caption and clip.source and clip.author
    assert set(clip.licence.split(" AND ")) <= set(demo.LICENCES)
    assert {event.label for event in clip.events} == set(clip.labels)
    for event in clip.events:
        assert 0 <= event.span.start < event.span.end <= info.duration + 1e-9


@pytest.mark.parametrize("clip", RECORDINGS.values(), ids=lambda clip: clip.id)
def test_a_recording_is_clear_and_sounds_where_its_event_says(clip):
    samples, rate = soundfile.read(clip.path)
    span = clip.events[0].span
    inside = samples[round(span.start * rate) : round(span.end * rate)]
    outside = np.concatenate([samples[: round(span.start * rate)], samples[round(span.end * rate) :]])
    assert 0.05 < np.max(np.abs(samples)) < 1.0
    assert np.sum(inside**2) > 100 * np.sum(outside**2)


@pytest.mark.parametrize("scene", SCENES, ids=lambda clip: clip.id)
def test_a_scene_is_its_recipe_sample_for_sample(scene):
    stored, _ = soundfile.read(scene.path, dtype="int16")
    np.testing.assert_array_equal(stored, demo.render_scene(scene.recipe, RECORDINGS))
    assert scene.events == demo.scene_events(scene.recipe, RECORDINGS)
    assert 2 <= len(scene.recipe.layers) <= 4
    parts = {RECORDINGS[name].licence for name in [scene.recipe.bed, *(layer.clip for layer in scene.recipe.layers)]}
    assert set(scene.licence.split(" AND ")) == parts


def test_the_first_clip_has_a_dog_and_later_the_rain_that_the_example_query_forbids():
    events = {event.label: event.span for event in CLIPS[0].events}
    assert events["dog barking"].end < events["rain"].start


def test_credits_name_every_clip_and_its_author():
    credits = (DATA / "CREDITS.md").read_text(encoding="utf-8")
    for clip in RECORDINGS.values():
        line = next(line for line in credits.splitlines() if line.startswith(f"| {clip.id} |"))
        assert clip.author.replace("|", "/") in line and clip.source in line
    for scene in SCENES:
        assert f"| {scene.id} |" in credits


def test_a_layer_outside_the_scene_and_a_clipping_sum_are_refused():
    recipe = SCENES[0].recipe
    late = replace(recipe, layers=(replace(recipe.layers[0], onset=recipe.duration),))
    with pytest.raises(InputError, match="does not fit"):
        demo.render_scene(late, RECORDINGS)
    loud = replace(recipe, bed_gain_db=60.0)
    with pytest.raises(InputError, match="clips"):
        demo.render_scene(loud, RECORDINGS)


def test_a_name_is_a_demo_clip_or_a_file():
    clip = demo.demo_or_file("scene-night")
    assert clip.duration == pytest.approx(demo.demo_clip("scene-night").recipe.duration)
    assert demo.demo_or_file(DATA / "clips" / "owl-1.flac").digest != clip.digest
    with pytest.raises(InputError, match="neither a file nor a demo clip"):
        demo.demo_or_file("no-such.wav")


def test_another_seed_gives_another_bed_and_the_same_events():
    recipe = SCENES[0].recipe
    other = replace(recipe, seed=recipe.seed + 1)
    assert np.any(demo.render_scene(recipe, RECORDINGS) != demo.render_scene(other, RECORDINGS))
    assert demo.scene_events(recipe, RECORDINGS) == demo.scene_events(other, RECORDINGS)


def test_an_unknown_clip_and_a_broken_manifest_are_said(tmp_path: Path):
    with pytest.raises(InputError, match=r"no demo clip 'nope'.*scene-"):
        demo.demo_clip("nope")
    with pytest.raises(InputError, match="missing"):
        demo.read_manifest(tmp_path / "manifest.json")
    broken = tmp_path / "broken.json"
    for text in ("not json", json.dumps({"clips": [{"id": "x"}]}), "[]"):
        broken.write_text(text)
        with pytest.raises(InputError, match="not a manifest"):
            demo.read_manifest(broken)
