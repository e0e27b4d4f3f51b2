"""The pocket encoder on its shipped weights: a map to unit vectors that nothing but the sound can change."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.audio import sliding_windows
from backend.encoders.base import SpanEncoder, load_encoder
from backend.encoders.families.pocket import FAMILY, FOLDER, SENTENCE_PARTS, SHIPPED_FILES, TOWERS_FILE
from backend.encoders.families.pocket.encoder import READING, load_pocket
from backend.errors import InputError
from backend.training.pocket.evaluation.recordings import read_signal
from tests.reference.pocket_golden import CLIPS, GOLDEN, ROOT, TEXTS, embeddings

RATE = 16000
TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def encoder() -> SpanEncoder:
    loaded = load_encoder("pocket")
    assert isinstance(loaded, SpanEncoder)
    return loaded


@pytest.fixture(scope="module")
def scene() -> np.ndarray:
    """Fourteen seconds of birds, a dog and rain."""
    return read_signal(ROOT / "data" / "scenes" / "scene-dog-then-rain.flac")


def noise(samples: int, seed: int = 0) -> np.ndarray:
    return (0.1 * np.random.default_rng(seed).standard_normal(samples)).astype(np.float32)


def check_units(vectors: np.ndarray, rows: int) -> None:
    assert vectors.shape == (rows, 384) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_the_registry_lists_it_as_ready_and_its_hash_is_that_of_its_files(encoder: SpanEncoder) -> None:
    (info,) = FAMILY.listed()
    assert (info.id, info.ready, info.needs, info.dim, info.sample_rate) == ("pocket", True, "", 384, RATE)
    digest = hashlib.sha256(b"".join((FOLDER / name).read_bytes() for name in SHIPPED_FILES) + READING).hexdigest()
    assert encoder.weights == digest[:12]
    assert sum((FOLDER / name).stat().st_size for name in SHIPPED_FILES) <= 40e6


def test_the_card_is_that_of_these_weights(encoder: SpanEncoder) -> None:
    assert f"Weights `{encoder.weights}`" in (FOLDER / "CARD.md").read_text(encoding="utf-8")


def test_golden_embeddings_of_five_clips_and_ten_texts(encoder: SpanEncoder) -> None:
    golden = np.load(GOLDEN)
    assert str(golden["weights"]) == encoder.weights, "run python -m tests.reference.pocket_golden after an export"
    now = embeddings(encoder)
    assert len(now["clips"]) == len(CLIPS) and len(now["texts"]) == len(TEXTS)
    for kind in ("clips", "texts"):
        assert np.abs(now[kind] - golden[kind]).max() < 1e-4


def test_the_same_input_gives_the_same_bits_and_a_second_loading_the_same_encoder(encoder: SpanEncoder) -> None:
    windows = noise(3 * 2 * RATE).reshape(3, -1)
    again = load_pocket(FOLDER)
    assert np.array_equal(encoder.embed_audio(windows), encoder.embed_audio(windows))
    assert np.array_equal(encoder.embed_audio(windows), again.embed_audio(windows))
    assert np.array_equal(encoder.embed_text(["rain"]), again.embed_text(["rain"]))


def test_the_number_of_threads_changes_nothing(encoder: SpanEncoder, scene: np.ndarray) -> None:
    before = torch.get_num_threads()
    results = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            results.append((encoder.embed_audio(scene[None]), encoder.embed_text(["a dog", "wind and a river"])))
    finally:
        torch.set_num_threads(before)
    for one, two in zip(*results, strict=True):
        assert np.abs(one - two).max() < TOLERANCE


@settings(deadline=None, max_examples=12)
@given(count=st.integers(1, 9), samples=st.sampled_from((1, 160, 15999, 16000, 24001, 48000)), seed=st.integers(0, 99))
def test_audio_vectors_do_not_depend_on_their_batch(count: int, samples: int, seed: int) -> None:
    encoder = load_encoder("pocket")
    generator = np.random.default_rng(seed)
    windows = noise(count * samples, seed).reshape(count, samples) * generator.uniform(0, 3, (count, 1)).astype("f4")
    order = generator.permutation(count)
    together = encoder.embed_audio(windows[order])
    check_units(together, count)
    alone = np.concatenate([encoder.embed_audio(windows[index : index + 1]) for index in order])
    assert np.abs(together - alone).max() < TOLERANCE


@settings(deadline=None, max_examples=12)
@given(st.lists(st.text(min_size=1).filter(lambda text: text.strip()), min_size=1, max_size=6), st.randoms())
def test_text_vectors_do_not_depend_on_their_batch(texts: list[str], random: object) -> None:
    encoder = load_encoder("pocket")
    together = encoder.embed_text(texts)
    check_units(together, len(texts))
    alone = np.concatenate([encoder.embed_text([text]) for text in texts])
    assert np.abs(together - alone).max() < TOLERANCE


def test_a_text_of_a_thousand_words_is_read_as_far_as_the_sentence_encoder_reads(encoder: SpanEncoder) -> None:
    check_units(encoder.embed_text(["rain " * 1000]), 1)
    assert np.abs(encoder.embed_text(["rain " * 1000]) - encoder.embed_text(["rain " * 2000])).max() < TOLERANCE


def test_case_does_not_matter_and_nothing_is_added_to_a_text(encoder: SpanEncoder) -> None:
    plain, shouted, prompted = encoder.embed_text(["a dog barking", "A DOG BARKING", "the sound of a dog barking"])
    assert np.abs(plain - shouted).max() < TOLERANCE
    assert plain @ prompted < 0.999


def test_a_long_window_is_the_mean_of_its_four_second_parts(encoder: SpanEncoder, scene: np.ndarray) -> None:
    signal = scene[: 10 * RATE]
    parts = encoder.embed_spans(signal, np.array([0.0, 2.0, 4.0, 6.0]), 4.0)
    mean = parts.mean(axis=0) / np.linalg.norm(parts.mean(axis=0))
    assert np.abs(encoder.embed_spans(signal, np.zeros(1), 10.0)[0] - mean).max() < TOLERANCE
    assert np.abs(encoder.embed_audio(signal[None])[0] - mean).max() < TOLERANCE
    five = encoder.embed_spans(signal, np.array([0.0, 1.04]), 4.0).mean(axis=0)
    assert np.abs(encoder.embed_spans(signal, np.zeros(1), 5.0)[0] - five / np.linalg.norm(five)).max() < TOLERANCE


@pytest.mark.parametrize("samples", [1, 160, 3200, 16000, 160000])
@pytest.mark.parametrize("kind", ["silence", "faint", "noise", "constant", "clipped", "impulse", "loud"])
def test_every_finite_signal_has_a_unit_vector(encoder: SpanEncoder, kind: str, samples: int) -> None:
    signal = {
        "silence": np.zeros(samples, np.float32),
        "faint": 1e-30 * noise(samples),
        "noise": noise(samples),
        "constant": np.full(samples, 0.5, np.float32),
        "clipped": np.sign(noise(samples)),
        "impulse": np.eye(1, samples, samples // 2, dtype=np.float32)[0],
        "loud": 1e4 * noise(samples),
    }[kind]
    check_units(encoder.embed_audio(signal[None]), 1)


def test_ten_milliseconds_are_a_sound(encoder: SpanEncoder) -> None:
    signal = noise(160)
    check_units(encoder.embed_audio(signal[None]), 1)
    spans = encoder.embed_spans(signal, np.zeros(1), 0.01)
    assert np.abs(spans - encoder.embed_audio(signal[None])).max() < TOLERANCE


def test_nothing_in_nothing_out(encoder: SpanEncoder) -> None:
    check_units(encoder.embed_text([]), 0)
    check_units(encoder.embed_spans(noise(RATE * 3), np.zeros(0), 2.0), 0)
    check_units(encoder.embed_spans(noise(RATE * 3), np.zeros(0), 0.5), 0)
    check_units(encoder.embed_audio(np.zeros((0, RATE), np.float32)), 0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_no_number_is_refused(encoder: SpanEncoder, bad: float) -> None:
    signal = noise(3 * RATE)
    signal[1234] = bad
    with pytest.raises(InputError, match="not finite"):
        encoder.embed_audio(signal[None])
    with pytest.raises(InputError, match="not finite"):
        encoder.embed_spans(signal, np.zeros(1), 2.0)


@pytest.mark.parametrize("shape", [(0,), (3,), (2, 0), (1, 2, 3)])
def test_an_array_of_another_shape_is_refused(encoder: SpanEncoder, shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="shape"):
        encoder.embed_audio(np.zeros(shape, np.float32))
    if shape != (3,):
        with pytest.raises(InputError, match="shape"):
            encoder.embed_spans(np.zeros(shape, np.float32), np.zeros(1), 1.0)


@pytest.mark.parametrize(
    ("starts", "length"),
    [([-0.1], 2.0), ([1.5], 2.0), ([0.0], 3.5), ([np.nan], 2.0), ([0.0], 0.0), ([0.0], -1.0), ([0.0], np.inf)],
)
def test_windows_outside_the_signal_are_refused(encoder: SpanEncoder, starts: list[float], length: float) -> None:
    with pytest.raises(InputError):
        encoder.embed_spans(noise(3 * RATE), np.array(starts), length)


@pytest.mark.parametrize("text", ["", "   ", "\n", None, 3])
def test_a_text_without_a_word_is_refused(encoder: SpanEncoder, text: object) -> None:
    with pytest.raises(InputError, match="at least one word"):
        encoder.embed_text(["rain", text])  # type: ignore[list-item]


def test_there_are_no_variants() -> None:
    with pytest.raises(InputError, match="no variants"):
        FAMILY.load("pocket:large")


@pytest.mark.parametrize("damaged", [TOWERS_FILE, SENTENCE_PARTS[0], SENTENCE_PARTS[-1]])
@pytest.mark.parametrize("damage", ["missing", "truncated", "not weights"])
def test_damaged_weights_are_named(tmp_path, damage: str, damaged: str) -> None:
    for name in SHIPPED_FILES:
        (tmp_path / name).symlink_to(FOLDER / name)
    file = tmp_path / damaged
    file.unlink()
    if damage == "truncated":
        file.write_bytes((FOLDER / damaged).read_bytes()[:1000])
    elif damage == "not weights":
        file.write_text("version https://git-lfs.github.com/spec/v1")
    with pytest.raises(InputError, match="cannot be read") as caught:
        load_pocket(tmp_path)
    assert caught.value.concerns == "file"


class TestSpans:
    """All windows of a signal from one pass of convolutions."""

    @pytest.mark.parametrize("length", [0.3, 1.0, 2.0, 4.0, 14.0])
    def test_they_have_the_shape_of_their_starts_in_any_order(
        self, encoder: SpanEncoder, scene: np.ndarray, length: float
    ) -> None:
        starts = sliding_windows(14.0, length).starts
        shuffled = np.random.default_rng(3).permutation(len(starts))
        vectors = encoder.embed_spans(scene, starts, length)
        check_units(vectors, len(starts))
        assert np.abs(encoder.embed_spans(scene, starts[shuffled], length) - vectors[shuffled]).max() < TOLERANCE

    def test_one_window_over_everything_is_that_window(self, encoder: SpanEncoder, scene: np.ndarray) -> None:
        whole = encoder.embed_spans(scene, np.zeros(1), len(scene) / RATE)
        assert np.abs(whole - encoder.embed_audio(scene[None])).max() < TOLERANCE

    def test_what_is_further_than_its_reach_changes_nothing(self, encoder: SpanEncoder, scene: np.ndarray) -> None:
        """A window hears 0.43 s, a frame and half an analysis window beyond its edges, and no further."""
        start, length, reach = 5.0, 2.0, encoder.context_seconds
        changed = noise(len(scene), seed=5)
        kept = slice(int((start - reach) * RATE), int((start + length + reach) * RATE))
        changed[kept] = scene[kept]
        before, after = (encoder.embed_spans(signal, np.array([start]), length) for signal in (scene, changed))
        assert np.abs(before - after).max() < TOLERANCE

    def test_the_edges_hear_little_of_their_neighbourhood(self, encoder: SpanEncoder) -> None:
        """The card's tolerance: windows in their clip against the same windows cut out."""
        cosines = []
        for path in sorted((ROOT / "data" / "scenes").glob("*.flac")):
            signal = read_signal(path)
            starts = np.arange(0, len(signal) / RATE - 2, 0.5)
            cut = np.stack([signal[int(start * RATE) : int(start * RATE) + 2 * RATE] for start in starts])
            cosines.append(np.sum(encoder.embed_spans(signal, starts, 2.0) * encoder.embed_audio(cut), axis=1))
        together = np.concatenate(cosines)
        assert np.median(together) > 0.95 and np.quantile(together, 0.05) > 0.85

    @pytest.mark.slow
    def test_ten_minutes_are_the_same_as_their_parts(self, encoder: SpanEncoder, scene: np.ndarray) -> None:
        long = np.resize(scene, 600 * RATE)
        windows = sliding_windows(600.0, 2.0)
        check_units(encoder.embed_spans(long, windows.starts, windows.length), 1197)
        # The convolutions are cut at every minute; a part across a cut, from a whole frame on, has no seam.
        starts = np.concatenate([60.0 * minute - 3.2 + 0.4 * np.arange(12) for minute in range(1, 10)])
        whole = encoder.embed_spans(long, starts, 2.0).reshape(9, 12, -1)
        for minute in range(1, 10):
            begin = round((60 * minute - 5.6) * RATE)
            part = long[begin : begin + 12 * RATE]
            apart = encoder.embed_spans(part, 2.4 + 0.4 * np.arange(12), 2.0)
            assert np.abs(apart - whole[minute - 1]).max() < TOLERANCE


@pytest.mark.slow
def test_loading_is_quick_and_ten_minutes_take_little_memory() -> None:
    """In a process of its own: under 2 s of work to load, under 400 MB more for ten minutes."""
    program = """
import resource, time
import numpy as np, torch
from backend.encoders.families.pocket import FOLDER
from backend.encoders.families.pocket.encoder import load_pocket
torch.set_num_threads(1)
began = time.process_time()
encoder = load_pocket(FOLDER)
loading = time.process_time() - began
signal = np.random.default_rng(0).standard_normal(600 * 16000, dtype=np.float32)
encoder.embed_audio(signal[None, :32000])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
encoder.embed_spans(signal, np.arange(1197) * 0.5, 2.0)
print(loading, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True, timeout=120
    )
    loading, megabytes = map(float, done.stdout.split())
    assert loading < 2.0
    assert megabytes < 400
