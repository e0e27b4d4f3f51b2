"""Sounds in: folders and lists of sounds, and the demo scenes with its recorded recipes."""

from __future__ import annotations

import numpy as np
import pytest
import soundfile

from backend.audio import clip_from_samples
from backend.collections import demo_scenes as demo
from backend.collections import store
from backend.collections.composition_sources import load_source
from backend.collections.demo import SAMPLE_RATE, demo_clip, demo_clips
from backend.collections.label_options import LabelOptions
from backend.collections.layouts import open_collection
from backend.collections.store import whole_clip_embedding
from backend.composition import LabelledEmbeddings
from backend.errors import InputError
from backend.progress import Progress, Step
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
    source = load_source(tmp_path, [labels], BandEncoder(), progress=Progress(lambda step: seen.append(step.what)))
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
    vector = whole_clip_embedding(BandEncoder(), clip_of_samples(samples))
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6) and np.argmax(vector) == 1


def test_the_demo_scenes_are_many_and_use_only_recordings_of_data():
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


def test_the_demo_scenes_are_embedded_once(tmp_path, monkeypatch):
    scenes = demo.recipes()[:20]
    monkeypatch.setattr(demo, "recipes", lambda: scenes)
    monkeypatch.setattr(demo, "settings", lambda: type("Settings", (), {"cache_dir": tmp_path})())
    encoder, said = BandEncoder(sample_rate=16000), []
    first = demo.embedded_scenes(encoder, Progress(lambda step: said.append((step.what, step.share))))
    assert encoder.audio_passes == 20 and said[-1] == ("Embedding scene 20 of 20", 1.0)
    again = demo.embedded_scenes(encoder)
    assert encoder.audio_passes == 20 and np.array_equal(first.embeddings, again.embeddings)
    expected = np.array(first.embeddings)  # a copy: what it is mapped from is damaged now
    del first, again
    next((tmp_path / "compose").glob("*/clips.f32")).write_bytes(b"half")
    assert np.array_equal(demo.embedded_scenes(encoder).embeddings, expected)
    assert demo.embedded_scenes(BandEncoder("other", sample_rate=16000)).ids == tuple(one.id for one in scenes)
    assert len(list((tmp_path / "compose").glob("*/clips.f32"))) == 2


class CountingBands(BandEncoder):
    """Notes how many windows each call embeds, and may fail at one of them."""

    def __init__(self, fails_at: int = 0) -> None:
        super().__init__(sample_rate=16000)
        self.calls: list[int] = []
        self.fails_at = fails_at

    def embed_audio(self, windows: np.ndarray) -> np.ndarray:
        self.calls.append(len(windows))
        if len(self.calls) == self.fails_at:
            raise Stop
        return super().embed_audio(windows)


def test_scenes_of_one_length_are_embedded_eight_at_a_time_and_the_work_goes_on_where_it_stopped(tmp_path, monkeypatch):
    scenes = demo.recipes()[:20]
    monkeypatch.setattr(demo, "recipes", lambda: scenes)
    monkeypatch.setattr(demo, "settings", lambda: type("Settings", (), {"cache_dir": tmp_path})())
    with pytest.raises(Stop):
        demo.embedded_scenes(CountingBands(fails_at=2))
    said: list[str] = []
    encoder = CountingBands()
    found = demo.embedded_scenes(encoder, Progress(lambda step: said.append(step.what))).embeddings
    assert encoder.calls == [8, 4] and said == ["Embedding scene 8 of 12", "Embedding scene 12 of 12"]
    alone = [store.whole_clip_embedding(encoder, demo.render(scene)) for scene in scenes]
    np.testing.assert_allclose(found, alone, atol=1e-5)


def test_clips_share_a_pass_only_with_neighbours_of_their_length_and_long_ones_never(tmp_path, monkeypatch):
    lengths = [1.0, 1.0, 2.0, 12.0, 12.0, None, 1.0, None]

    def decoded(key: str) -> store.Clip:
        if lengths[int(key)] is None:
            raise InputError("no sound")
        return clip_of_samples(np.full(round(16000 * lengths[int(key)]), 0.1), 16000)

    said: list[str] = []
    encoder = CountingBands()
    place = store.embedding_store(encoder, "mixed", ["m"], None, 1.0, tmp_path)
    keys = [str(number) for number in range(8)]
    arrays, failures = store.embed_keyed(
        place, encoder, keys, decoded, None, progress=Progress(lambda step: said.append(step.what.split()[2]))
    )
    assert encoder.calls == [2, 1, 2, 2, 1] and list(failures) == ["5", "7"] and arrays.clips.shape == (6, 8)
    assert said == ["2", "3", "4", "5", "6", "8"]


def test_the_demo_scenes_take_no_labels_and_name_no_unknown_scene(tmp_path):
    with pytest.raises(InputError, match="own labels"):
        load_source("demo", [tmp_path / "x.csv"], BandEncoder())
    with pytest.raises(InputError, match="no demo scene"):
        demo.recipe("scene-999")


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Three sounds of 1, 2 and 23 s with labels, and a cache of their own."""
    monkeypatch.setattr(store, "settings", lambda: type("Settings", (), {"cache_dir": tmp_path / "cache"})())
    monkeypatch.setattr(store, "load_clip", lambda path, **_: clip_from_samples(*soundfile.read(path), name=path.name))
    for name, band, seconds in (("one", 1, 1.0), ("two", 2, 2.0), ("three", 3, 23.0)):
        tone(tmp_path / "sounds" / f"{name}.wav", band, seconds)
    labels = tmp_path / "labels.csv"
    labels.write_text("id,labels\none,low\ntwo,mid\nthree,high\n")
    return tmp_path / "sounds", labels


class Stop(Exception):
    """Raised by a progress callback: the person gives up."""


def test_a_folder_is_embedded_once_and_a_second_run_embeds_nothing(stored):
    folder, labels = stored
    encoder, said = BandEncoder(), []
    first = load_source(folder, [labels], encoder, progress=Progress(lambda step: said.append((step.what, step.share))))
    assert said == [("Embedding sound 1 of 3", 1 / 3), ("Embedding sound 2 of 3", 2 / 3), ("Embedding sound 3 of 3", 1)]
    assert encoder.audio_passes == 5  # no window but the whole clip, the longest in three
    again = load_source(
        folder, [labels], encoder, progress=Progress(lambda _: pytest.fail("there is nothing to embed"))
    )
    assert encoder.audio_passes == 5
    np.testing.assert_array_equal(first.data.embeddings, again.data.embeddings)
    labels.write_text("id,labels\nthree,loud\none,low\n")
    fewer = load_source(folder, [labels], encoder)
    assert encoder.audio_passes == 5 and fewer.data.labels == (frozenset({"loud"}), frozenset({"low"}))
    np.testing.assert_array_equal(fewer.data.embeddings, first.data.embeddings[[2, 0]])


def test_a_folder_goes_on_where_it_was_stopped(stored):
    def give_up(step: Step) -> None:
        if step.share > 0.5:
            raise Stop

    folder, labels = stored
    encoder = BandEncoder()
    with pytest.raises(Stop):
        load_source(folder, [labels], encoder, progress=Progress(give_up))
    assert encoder.audio_passes == 2
    (index,) = (folder.parent / "cache").rglob("index.jsonl")
    index.write_bytes(index.read_bytes()[:-3])  # and the process was killed in the middle of a line
    said = []
    resumed = load_source(folder, [labels], encoder, progress=Progress(lambda step: said.append(step.what)))
    assert encoder.audio_passes == 6 and said == ["Embedding sound 1 of 2", "Embedding sound 2 of 2"]
    assert np.argmax(resumed.data.embeddings, axis=1).tolist() == [1, 2, 3]


def test_a_sound_that_cannot_be_decoded_is_named_and_may_be_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "settings", lambda: type("Settings", (), {"cache_dir": tmp_path / "cache"})())
    tone(tmp_path / "one.wav", 1)
    (tmp_path / "two.wav").write_bytes(b"<html>not found</html>")
    labels = tmp_path / "labels.csv"
    labels.write_text("id,labels\none,low\ntwo,mid\n")
    encoder = BandEncoder()
    with pytest.raises(InputError, match="The sound of 'two' cannot be used"):
        load_source(tmp_path, [labels], encoder)
    source = load_source(tmp_path, [labels], encoder, options=LabelOptions(subset=True))
    assert source.data.ids == ("one",) and "1 sounds cannot be decoded" in source.notes[0]
    assert encoder.audio_passes == 1


def test_a_whole_clip_has_one_embedding_whoever_asks(stored):
    """A ranking, an analysis and the demo scenes mean the same vector by it."""
    folder, labels = stored
    analysed = load_source(folder, [labels], BandEncoder())
    ranked = store.embed_collection(open_collection(folder), BandEncoder())
    for place, clip in enumerate(analysed.data.ids):
        row = ranked.ids.index(f"{clip}.wav")
        np.testing.assert_array_equal(analysed.data.embeddings[place], ranked.clips[row])
        direct = store.whole_clip_embedding(BandEncoder(), store.load_clip(folder / f"{clip}.wav"))
        np.testing.assert_array_equal(analysed.data.embeddings[place], direct)


def test_demo_names_one_set_and_demo_scenes_the_other(monkeypatch, capsys):
    monkeypatch.setattr(demo, "embedded_scenes", lambda *_: LabelledEmbeddings(("s",), np.eye(1), (["dog"],)))
    for name in ("demo-scenes", "demo"):
        assert load_source(name, [], BandEncoder()).provenance["collection"] == "demo-scenes"
    assert len(open_collection("demo")) == len(demo_clips())
    with pytest.raises(InputError, match="compose demo-scenes"):
        open_collection("demo-scenes")
