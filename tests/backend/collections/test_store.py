"""Embedding a collection: resumed, cached, mapped; files that change, fail, or were cut off."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
import soundfile

from backend.audio import clip_from_samples, load_clip
from backend.collections import store as collection_store
from backend.collections.collection import Collection, Item
from backend.collections.embedding_store import INDEX, WINDOWS, ClipEmbeddings, EmbeddingStore
from backend.collections.layouts import open_collection
from backend.collections.ready import ready_collection
from backend.collections.store import embed_clip, embed_collection
from backend.errors import InputError
from backend.progress import Progress, Step
from tests.fakes import BandEncoder, tone_clip


class Stop(Exception):
    """Raised by a progress callback: the person gives up."""


@pytest.fixture
def encoder() -> BandEncoder:
    return BandEncoder()


@pytest.fixture
def sounds(tmp_path: Path) -> Path:
    folder = tmp_path / "sounds"
    for band in range(5):
        (folder / f"band {band}").mkdir(parents=True)
        clip = tone_clip(band, 0, 2, duration=2.0 + band)
        soundfile.write(folder / f"band {band}" / "a.wav", clip.mono, clip.sample_rate, subtype="FLOAT")
    return folder


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decode in this process: what a child process does is tested with the decoder."""

    def read(path: Path, **options: object):
        samples, rate = soundfile.read(path, dtype="float32")
        return clip_from_samples(samples, rate, name=Path(path).name)

    monkeypatch.setattr(collection_store, "load_clip", read)


def embed(sounds: Path, encoder: BandEncoder, **options):
    return embed_collection(open_collection(sounds), encoder, folder=sounds.parent / "store", **options)


def test_windows_and_wholes_are_those_of_each_clip_and_come_back_mapped(sounds, encoder):
    first = embed(sounds, encoder)
    passes = encoder.audio_passes
    again = embed(sounds, encoder)
    assert encoder.audio_passes == passes
    assert isinstance(again.windows, np.memmap) and isinstance(again.clips, np.memmap)
    for place, path in enumerate(again.paths):
        direct = embed_clip(encoder, load_clip(path))
        np.testing.assert_array_equal(again.windows_of(place), direct.windows)
        np.testing.assert_array_equal(again.clips[place], direct.whole)
    np.testing.assert_array_equal(first.offsets, again.offsets)
    assert again.labels[3] == ("band 3",) and again.weights == encoder.weights


def test_stopping_keeps_what_is_done(sounds, encoder, quickly):
    def stop_at_the_third(step: Step) -> None:
        if step.share >= 0.4:
            raise Stop

    with pytest.raises(Stop):
        embed(sounds, encoder, progress=Progress(stop_at_the_third))
    half = encoder.audio_passes
    seen: list[float] = []
    resumed = embed(sounds, encoder, progress=Progress(lambda step: seen.append(step.share)))
    assert len(seen) == 3 and len(resumed) == 5
    fresh = BandEncoder()
    embed_collection(open_collection(sounds), fresh, folder=sounds.parent / "other")
    assert encoder.audio_passes == fresh.audio_passes and half < encoder.audio_passes


def test_a_changed_and_an_added_file_are_embedded_and_nothing_else(sounds, encoder, quickly):
    before = embed(sounds, encoder)
    kept = [np.array(before.windows_of(place)) for place in range(5)]
    clip = tone_clip(7, 0, 2, duration=2.0)
    target = sounds / "band 2" / "a.wav"
    soundfile.write(target, clip.mono, clip.sample_rate, subtype="FLOAT")
    os.utime(target, ns=(1, 1))
    soundfile.write(sounds / "band 0" / "new.wav", clip.mono, clip.sample_rate, subtype="FLOAT")
    count: list[str] = []
    after = embed(sounds, encoder, progress=Progress(lambda step: count.append(step.what)))
    assert len(count) == 2 and after.ids[1] == "band 0/new.wav"
    np.testing.assert_array_equal(after.windows_of(2), kept[1])
    assert not np.allclose(after.windows_of(3)[0], kept[2][0])


def test_a_bad_file_is_listed_and_the_rest_goes_on(sounds, encoder):
    (sounds / "band 1" / "a.wav").write_bytes(b"<html>not found</html>")
    (sounds / "band 4" / "empty.wav").write_bytes(b"")
    found = embed(sounds, encoder)
    assert len(found) == 4
    assert {one.row for one in found.skipped} == {"band 1/a.wav", "band 4/empty.wav"}
    assert all(one.reason for one in found.skipped)
    again = embed(sounds, encoder)
    assert again.ids == found.ids and len(again.skipped) == 2


def test_no_usable_clip_is_a_sentence(tmp_path, encoder):
    (tmp_path / "bad.wav").write_bytes(b"nothing")
    with pytest.raises(InputError, match="no clip can be decoded"):
        embed_collection(open_collection(tmp_path), encoder, folder=tmp_path / "store")


def test_other_weights_and_other_windows_have_their_own_store(sounds, encoder, quickly):
    embed(sounds, encoder)
    other = BandEncoder()
    other.weights = "f" * 12
    embed(sounds, other)
    embed(sounds, encoder, window=1.0)
    assert len(list((sounds.parent / "store").iterdir())) == 3 and other.audio_passes > 0


def test_the_same_file_under_two_ids_is_two_clips(sounds, encoder, quickly):
    path = sounds / "band 0" / "a.wav"
    twice = Collection("twice", "csv", (Item("x", path), Item("y", path)))
    found = embed_collection(twice, encoder, folder=sounds.parent / "store")
    assert found.ids == ("x", "y")
    np.testing.assert_array_equal(found.windows_of(0), found.windows_of(1))


@pytest.mark.parametrize("damage", ["cut windows", "garbage index", "half a line", "foreign"])
def test_a_damaged_store_is_repaired(sounds, encoder, quickly, damage):
    whole = embed(sounds, encoder)
    expected = np.array(whole.windows)
    del whole
    (folder,) = (sounds.parent / "store").iterdir()
    windows, index = folder / WINDOWS, folder / INDEX
    if damage == "cut windows":
        windows.write_bytes(windows.read_bytes()[:-100])
    elif damage == "garbage index":
        index.write_bytes(b"\x00\xff" * 50)
    elif damage == "half a line":
        index.write_bytes(index.read_bytes()[:-7])
    else:
        index.write_text(json.dumps({"keys": 3}) + "\n")
    np.testing.assert_array_equal(embed(sounds, encoder).windows, expected)


def test_rearranging_keeps_every_vector(tmp_path):
    rng = np.random.default_rng(0)
    store = EmbeddingStore(tmp_path, 4)
    made = {
        f"k{n}": ClipEmbeddings(rng.normal(size=(n + 1, 4)).astype(np.float32), rng.normal(size=4).astype(np.float32))
        for n in range(5)
    }
    with store.writing() as writer:
        for key, one in made.items():
            writer.add(key, one)
    store.arrange(["k3", "k0", "k3"])
    held = store.arrays()
    for place, key in enumerate(["k3", "k0", "k3"]):
        np.testing.assert_array_equal(held.windows[held.offsets[place] : held.offsets[place + 1]], made[key].windows)
        np.testing.assert_array_equal(held.clips[place], made[key].whole)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "clips.f32", "index.jsonl", "windows.f32"]


def test_ready_embeddings(tmp_path, encoder):
    path = tmp_path / "ready.npz"
    vectors = np.random.default_rng(0).normal(size=(3, 8)).astype(np.float32)
    np.savez(path, ids=["a", "b", "c"], embeddings=vectors, labels=["rain;wind", "", "dog"])
    found = ready_collection(path, encoder)
    assert found.labels == (("rain", "wind"), (), ("dog",)) and found.captions[0] == "rain and wind"
    np.testing.assert_allclose(np.linalg.norm(found.clips, axis=1), 1, atol=1e-6)
    assert found.windows_of(1).shape == (1, 8)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"ids": ["a"], "embeddings": np.ones((1, 5))}, "8"),
        ({"ids": ["a", "a"], "embeddings": np.ones((2, 8))}, "already"),
        ({"ids": ["a"], "embeddings": np.full((1, 8), np.nan)}, "not a number"),
        ({"ids": ["a"], "embeddings": np.ones((1, 8)), "labels": ["x", "y"]}, "one a row"),
        ({"names": ["a"]}, "ids and embeddings"),
    ],
)
def test_unusable_ready_embeddings_are_said(tmp_path, encoder, content, says):
    path = tmp_path / "ready.npz"
    np.savez(path, **content)
    with pytest.raises(InputError, match=says):
        ready_collection(path, encoder)


def test_ready_embeddings_in_parquet(tmp_path, encoder):
    arrow = pytest.importorskip("pyarrow", reason="Pyarrow is not installed", exc_type=ImportError)
    from pyarrow import parquet

    vectors = np.random.default_rng(0).normal(size=(3, 8)).astype(np.float32)
    column = arrow.array(vectors.tolist(), arrow.list_(arrow.float32()))
    table = arrow.table({"id": ["a", "b", "c"], "embedding": column})
    parquet.write_table(table, tmp_path / "ready.parquet")
    found = ready_collection(tmp_path / "ready.parquet", encoder)
    assert found.ids == ("a", "b", "c") and not found.is_labelled and found.paths == (None, None, None)


def test_a_cache_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="Set UNHEARD_CACHE_DIR"), EmbeddingStore(tmp_path / "file" / "x", 4).writing():
        pass
