"""Sounds in: folders and lists of sounds, and the demo set with its recorded recipes."""

from __future__ import annotations

import numpy as np
import pytest
import soundfile

from backend.collections import demo_scenes as demo
from backend.collections.composition_sources import LabelOptions, clip_embedding, load_source
from backend.collections.demo import SAMPLE_RATE, demo_clip, demo_clips
from backend.errors import InputError
from tests.fakes import BandEncoder, clip_of_samples


def tone(path, band: int, seconds: float = 1.0) -> None:
    time = np.arange(round(8000 * seconds)) / 8000
    path.parent.mkdir(exist_ok=True)
    soundfile.write(path, 0.3 * np.sin(2 * np.pi * (band + 0.5) * 500 * time), 8000)


def test_a_folder_of_sounds_with_labels(tmp_path):
    for name, band in (("a/one", 1), ("two", 2), ("three", 3)):
        tone(tmp_path / f"{name}.wav", band)
    labels = tmp_path / "labels.csv"
    labels.write_text("id,labels\na/one.wav,low\ntwo,mid\nthree.wav,mid;high\n")
    seen = []
    source = load_source(tmp_path, [labels], BandEncoder(), progress=lambda sentence, share: seen.append(sentence))
    assert source.data.ids == ("a/one", "two", "three")
    assert np.argmax(source.data.embeddings, axis=1).tolist() == [1, 2, 3]
    assert source.sound("two").duration == pytest.approx(1.0)
    assert source.provenance["encoder"] == "band" and seen[-1] == "Embedding sound 3 of 3"


def test_a_csv_that_lists_sounds_needs_no_other_labels(tmp_path):
    tone(tmp_path / "sub" / "x.wav", 4)
    listed = tmp_path / "sounds.csv"
    listed.write_text("file,labels\nsub/x.wav,dog\n")
    assert load_source(listed, [], BandEncoder()).data.labels == (frozenset({"dog"}),)
    listed.write_text("file,labels\nx.wav,dog\n")
    assert load_source(listed, [], BandEncoder()).data.ids == ("x",)


def test_sounds_that_are_not_there(tmp_path):
    tone(tmp_path / "x.wav", 4)
    labels = tmp_path / "l.csv"
    labels.write_text("id,labels\nx,dog\ny,rain\n")
    with pytest.raises(InputError, match=r"l.csv row 3: there is no sound file for 'y'"):
        load_source(tmp_path, [labels], BandEncoder())
    with pytest.raises(InputError, match="no file or folder"):
        load_source(tmp_path / "none", [labels], BandEncoder())
    with pytest.raises(InputError, match="need an encoder"):
        load_source(tmp_path, [labels])
    labels.write_text("id,labels\nscene-1,dog\n")
    for subset in (False, True):
        with pytest.raises(InputError, match="for example, 'scene-1', the folder 'x'"):
            load_source(tmp_path, [labels], BandEncoder(), options=LabelOptions(subset=subset))
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match="no audio file"):
        load_source(empty, [labels], BandEncoder())


def test_a_long_sound_is_the_mean_of_its_ten_second_windows():
    samples = np.concatenate([np.sin(2 * np.pi * 750 * np.arange(80000) / 8000)] * 2)
    vector = clip_embedding(BandEncoder(), clip_of_samples(samples))
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6) and np.argmax(vector) == 1


def test_the_demo_set_is_large_enough_and_uses_only_recordings_of_data():
    scenes = demo.recipes()
    combinations = {scene.labels for scene in scenes}
    assert len(combinations) >= 120
    assert 8 <= len({label for scene in scenes for label in scene.labels}) <= 12
    assert all(sum(scene.labels == names for scene in scenes) >= 3 for names in combinations)
    known = {clip.id: clip for clip in demo_clips()}
    for scene in scenes:
        assert [known[layer.clip].labels for layer in scene.layers] == [(label,) for label in scene.labels]


def test_a_scene_is_the_sum_of_its_layers():
    scene = next(scene for scene in demo.recipes() if len(scene.layers) == 2)
    clip = demo.render(scene)
    assert clip.sample_rate == SAMPLE_RATE and clip.duration == demo.SCENE_SECONDS and clip.peak <= 0.98
    expected = np.zeros(len(clip.mono))
    for layer in scene.layers:
        samples, _ = soundfile.read(demo_clip(layer.clip).path)
        start = round(layer.onset * SAMPLE_RATE)
        part = 10 ** (layer.gain_db / 20) * samples[: len(expected) - start]
        expected[start : start + len(part)] += part
    whole = len(expected) - round(0.02 * SAMPLE_RATE)
    np.testing.assert_allclose(clip.mono[:whole], expected[:whole], atol=1 / 32768)
    assert demo.render(scene).digest == clip.digest


def test_the_demo_set_is_embedded_once(tmp_path, monkeypatch):
    scenes = demo.recipes()[:20]
    monkeypatch.setattr(demo, "recipes", lambda: scenes)
    monkeypatch.setattr(demo, "settings", lambda: type("Settings", (), {"cache_dir": tmp_path})())
    encoder, said = BandEncoder(sample_rate=16000), []
    first = demo.embedded_demo(encoder, lambda sentence, share: said.append((sentence, share)))
    assert encoder.audio_passes == 20 and said[-1] == ("Embedding scene 20 of 20", 1.0)
    again = demo.embedded_demo(encoder)
    assert encoder.audio_passes == 20 and np.array_equal(first.embeddings, again.embeddings)
    next((tmp_path / "compose").glob("*.npy")).write_bytes(b"half")
    assert np.array_equal(demo.embedded_demo(encoder).embeddings, first.embeddings)
    assert demo.embedded_demo(BandEncoder("other", sample_rate=16000)).ids == first.ids
    assert len(list((tmp_path / "compose").glob("*.npy"))) == 2


def test_the_demo_set_takes_no_labels_and_names_no_unknown_scene(tmp_path):
    with pytest.raises(InputError, match="own labels"):
        load_source("demo", [tmp_path / "x.csv"], BandEncoder())
    with pytest.raises(InputError, match="no demo scene"):
        demo.recipe("scene-999")
