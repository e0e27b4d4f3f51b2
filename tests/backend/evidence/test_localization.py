"""Evidence: a tone is found where it is, ties go to the earliest, and nothing is embedded twice."""

import numpy as np
import pytest

from backend.audio import sliding_windows
from backend.encoders.cached import EmbeddingCache, text_embeddings, window_batches, window_embeddings
from backend.encoders.prompts import background_vocabulary, concept_prompt
from backend.errors import InputError
from backend.evidence.localization import best_window, localize, localize_progressively
from backend.negation import Concept
from tests.fakes import BandEncoder, OnePassBandEncoder, tone_clip

BAND = (Concept("band 3", "present"),)


def memory_cache() -> EmbeddingCache:
    return EmbeddingCache(None, memory_bytes=1 << 24, disk_bytes=0)


@pytest.mark.parametrize("kind", [BandEncoder, OnePassBandEncoder])
def test_a_tone_is_found_where_it_sounds(kind: type) -> None:
    found = localize(kind(), tone_clip(3, 4.0, 6.0), BAND, 2.0, cache=memory_cache())
    (evidence,) = found.evidence
    assert (evidence.best.start, evidence.best.end) == (4.0, 6.0)
    assert evidence.score > 0.95
    assert len(evidence.scores) == 17
    assert found.complete


def test_ties_go_to_the_earliest() -> None:
    assert best_window(np.array([0.1, 0.7, 0.7])) == 1
    assert best_window(np.array([np.nan, 0.2, 0.3])) == 2


def test_z_is_against_the_background_in_the_same_window() -> None:
    encoder, cache = BandEncoder(), memory_cache()
    (evidence,) = localize(encoder, tone_clip(3, 4.0, 6.0), BAND, 2.0, cache=cache).evidence
    window = window_embeddings(encoder, tone_clip(3, 4.0, 6.0), sliding_windows(10, 2), cache=cache)[
        evidence.best_index
    ]
    background = encoder.embed_text([concept_prompt(sound) for sound in background_vocabulary()]) @ window
    assert evidence.z == pytest.approx((evidence.score - background.mean()) / background.std(), rel=1e-4)


@pytest.mark.parametrize("kind", [BandEncoder, OnePassBandEncoder])
def test_a_second_query_does_no_audio_pass(kind: type) -> None:
    encoder, cache, clip = kind(), memory_cache(), tone_clip(3, 4.0, 6.0)
    localize(encoder, clip, BAND, 2.0, cache=cache)
    passes, texts = encoder.audio_passes, encoder.text_passes
    localize(encoder, clip, (Concept("band 5", "absent"),), 2.0, cache=cache)
    assert passes == 17
    assert encoder.audio_passes == passes
    assert encoder.text_passes == texts + 1, "only the new concept's text is embedded"


def test_embeddings_outlive_the_process_on_disk(tmp_path) -> None:
    clip, windows = tone_clip(2, 1.0, 3.0), sliding_windows(10, 2)
    first, second = BandEncoder(), BandEncoder()
    folder = {"memory_bytes": 1 << 24, "disk_bytes": 1 << 24}
    before = window_embeddings(first, clip, windows, cache=EmbeddingCache(tmp_path, **folder))
    after = window_embeddings(second, clip, windows, cache=EmbeddingCache(tmp_path, **folder))
    assert second.audio_passes == 0
    np.testing.assert_array_equal(before, after)


def test_other_weights_are_another_key() -> None:
    cache, clip = memory_cache(), tone_clip(2, 1.0, 3.0)
    old, new = BandEncoder(), BandEncoder()
    new.weights = "f" * 12
    localize(old, clip, BAND, 2.0, cache=cache)
    localize(new, clip, BAND, 2.0, cache=cache)
    assert new.audio_passes == 17


def test_both_stores_are_bounded(tmp_path) -> None:
    cache = EmbeddingCache(tmp_path, memory_bytes=4000, disk_bytes=20_000)
    for number in range(40):
        cache.put(f"group {number}", {f"key {row}": np.ones(100, np.float32) for row in range(5)})
    assert sum(vector.nbytes for vector in cache._memory._values.values()) <= 4000
    assert sum(file.stat().st_size for file in tmp_path.glob("*.npz")) <= 20_000
    newest = cache.get("group 39", "key 0")
    assert newest is not None and newest.shape == (100,)


def test_a_broken_cache_file_is_computed_again(tmp_path) -> None:
    cache = EmbeddingCache(tmp_path, memory_bytes=1 << 20, disk_bytes=1 << 20)
    cache.put("group", {"key": np.ones(4, np.float32)})
    (file,) = tmp_path.glob("*.npz")
    file.write_bytes(b"not an archive")
    fresh = EmbeddingCache(tmp_path, memory_bytes=1 << 20, disk_bytes=1 << 20)
    assert fresh.get("group", "key") is None


def test_a_read_only_disk_costs_speed_not_results(tmp_path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("a file where the folder should be")
    cache = EmbeddingCache(blocked / "cache", memory_bytes=1 << 20, disk_bytes=1 << 20)
    cache.put("group", {"key": np.ones(4, np.float32)})
    assert cache.get("group", "key") is not None


def test_slow_encoders_show_curves_before_they_are_done() -> None:
    states = list(localize_progressively(BandEncoder(), tone_clip(3, 4.0, 6.0), BAND, 2.0, cache=memory_cache()))
    finite = [int(np.isfinite(state.evidence[0].scores).sum()) for state in states]
    assert finite == [4, 8, 12, 16, 17]
    assert [state.complete for state in states] == [False] * 4 + [True]


def test_closing_early_keeps_what_was_embedded() -> None:
    encoder, cache, clip, windows = BandEncoder(), memory_cache(), tone_clip(3, 4.0, 6.0), sliding_windows(10, 2)
    batches = window_batches(encoder, clip, windows, cache=cache)
    next(batches)
    batches.close()
    assert encoder.audio_passes == 4
    window_embeddings(encoder, clip, windows, cache=cache)
    assert encoder.audio_passes == 17


def test_texts_are_embedded_once() -> None:
    encoder, cache = BandEncoder(), memory_cache()
    text_embeddings(encoder, ["band 1", "band 2"], cache=cache)
    again = text_embeddings(encoder, ["band 2", "band 1", "band 2"], cache=cache)
    assert encoder.text_passes == 2
    np.testing.assert_array_equal(again[0], again[2])


def test_no_concept_and_no_text_side_are_sentences() -> None:
    encoder = BandEncoder()
    with pytest.raises(InputError, match="names no sound"):
        localize(encoder, tone_clip(3, 4.0, 6.0), (), 2.0, cache=memory_cache())
    encoder.has_text = False
    with pytest.raises(InputError, match="no text side"):
        localize(encoder, tone_clip(3, 4.0, 6.0), BAND, 2.0, cache=memory_cache())
