"""The laws of the cut: science section 2, against a slow twin, and down to -100 dB."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from backend.audio import Clip, Span, clip_from_samples, load_clip, save_wav
from backend.errors import InputError
from backend.evidence import cut as gating
from backend.evidence.control_cuts import random_window_spans
from backend.evidence.cut import blank, clip_segment, gate, gated_clip
from backend.evidence.frequency_band import bin_hertz
from tests.reference.gating import gate_by_hand, gate_by_stft

RATE = 48_000
laws = settings(deadline=None, max_examples=60)


def level(samples: np.ndarray) -> float:
    """RMS in dB of full scale."""
    return float(10 * np.log10(np.mean(np.square(samples.astype(np.float64)))))


def tone(hertz: float, seconds: float = 4.0, rate: int = RATE, dtype: type = np.float64) -> np.ndarray:
    return (0.5 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)).astype(dtype)


def noise(seconds: float = 4.0, channels: int = 2, rate: int = RATE, seed: int = 0) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(scale=0.1, size=(round(seconds * rate), channels))
    return drawn.astype(np.float32)


@st.composite
def cuts(draw: st.DrawFn) -> tuple[np.ndarray, int, Span, float]:
    """Samples of any shape and type, and a region that holds at least one of them."""
    rate = draw(st.sampled_from([1000, 8000, 11025]))
    shape = draw(st.tuples(st.integers(1, 600)) | st.tuples(st.integers(1, 300), st.integers(1, 3)))
    dtype = draw(st.sampled_from([np.float32, np.float64, np.int16]))
    elements = st.integers(-(2**15), 2**15 - 1) if dtype == np.int16 else st.floats(-1, 1, width=32)
    samples = draw(arrays.arrays(dtype, shape, elements=elements))
    first = draw(st.integers(0, shape[0] - 1))
    last = draw(st.integers(first + 1, shape[0]))
    return samples, rate, Span(first / rate, last / rate), draw(st.floats(0, 120))


@laws
@given(cuts())
def test_outside_keeps_its_bits_and_shape_type_and_input_are_kept(cut: tuple[np.ndarray, int, Span, float]) -> None:
    samples, rate, span, depth = cut
    before = samples.tobytes()
    result = gate(samples, rate, span, depth)
    assert (result.shape, result.dtype) == (samples.shape, samples.dtype)
    assert samples.tobytes() == before
    first, last = round(span.start * rate), round(span.end * rate)
    assert result[:first].tobytes() == samples[:first].tobytes()
    assert result[last:].tobytes() == samples[last:].tobytes()
    assert np.all(np.abs(result) <= np.abs(samples.astype(np.float64)))


@laws
@given(cuts())
def test_the_slow_twin_agrees(cut: tuple[np.ndarray, int, Span, float]) -> None:
    samples, rate, span, depth = cut
    assume(samples.dtype != np.int16)
    # They may differ by a rounding of the result's own type, and by the order of the ramp's arithmetic.
    np.testing.assert_allclose(
        gate(samples, rate, span, depth),
        gate_by_hand(samples, rate, span.start, span.end, depth),
        rtol=max(1e-12, 4 * np.finfo(samples.dtype).eps),
        atol=1e-45,
    )


@laws
@given(cuts())
def test_gain_one_is_the_identity_and_the_sign_of_the_depth_does_not_matter(
    cut: tuple[np.ndarray, int, Span, float],
) -> None:
    samples, rate, span, depth = cut
    assert gate(samples, rate, span, 0).tobytes() == samples.tobytes()
    assert gate(samples, rate, span, 0, (0, rate / 2)).tobytes() == samples.tobytes()
    assert gate(samples, rate, span, -depth).tobytes() == gate(samples, rate, span, depth).tobytes()


@pytest.mark.parametrize("depth", [6, 40, 60, 100, 120])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("span", [Span(1, 3), Span(0, 2), Span(2.5, 4), Span(0, 4), Span(1.23456, 1.98765)])
def test_the_depth_measures_what_it_says(depth: float, dtype: type, span: Span) -> None:
    samples = noise().astype(dtype)
    result = gate(samples, RATE, span, depth)
    inner = slice(round((span.start + 0.05) * RATE) + 1, round((span.end - 0.05) * RATE) - 1)
    for channel in range(2):
        drop = level(samples[inner, channel]) - level(result[inner, channel])
        assert drop == pytest.approx(depth, abs=1e-3)


@pytest.mark.parametrize("seconds", [0.1, 0.099, 0.05, 0.011, 0.001, 3 / RATE, 2 / RATE, 1 / RATE])
@pytest.mark.parametrize("depth", [40, 100])
def test_the_middle_of_a_short_region_reaches_the_depth(seconds: float, depth: float) -> None:
    samples = np.ones(RATE)
    result = gate(samples, RATE, Span(0.5, 0.5 + seconds), depth)
    changed = np.flatnonzero(result != 1)
    assert len(changed) == max(1, round(seconds * RATE))
    middle = result[(changed[0] + changed[-1]) // 2]
    assert -20 * np.log10(middle) == pytest.approx(depth, abs=1e-6)


def test_ramps_are_raised_cosines_inside_the_edges() -> None:
    result = gate(np.ones(RATE * 2), RATE, Span(0.5, 1.5), 40)
    ramp = 2400
    assert result[RATE // 2 - 1] == 1 and result[RATE * 3 // 2] == 1
    assert result[RATE // 2 + ramp // 2 - 1] == pytest.approx(0.505, abs=1e-6)  # half way between 1 and 0.01
    assert result[RATE // 2 + ramp - 1] == result[RATE] == 0.01
    assert np.all(np.diff(result[: RATE // 2 + ramp]) <= 0)
    np.testing.assert_allclose(result[RATE // 2 : RATE * 3 // 2], result[RATE // 2 : RATE * 3 // 2][::-1], atol=1e-12)
    assert np.abs(np.diff(result)).max() < 1e-3  # no step that could click


def test_an_edge_that_is_the_clips_own_end_leaves_nothing_audible() -> None:
    samples = np.ones(RATE)
    assert np.all(gate(samples, RATE, Span(0, 1), 100) == 1e-5)
    start = gate(samples, RATE, Span(0, 0.5), 100)
    assert start[0] == 1e-5 and start[RATE // 2 - 1] > 0.99


def test_stereo_keeps_its_phase() -> None:
    left = noise(channels=1)
    samples = np.concatenate([left, -0.5 * left], axis=1)
    for band in (None, (500.0, 2000.0)):
        result = gate(samples, RATE, Span(1, 2), 40, band)
        np.testing.assert_allclose(result[:, 1], -0.5 * result[:, 0], atol=1e-8)


@pytest.mark.parametrize("rate", [8000, 44100, 48000, 96000])
@pytest.mark.parametrize("depth", [40, 100])
def test_a_band_is_lowered_by_the_depth_and_its_neighbours_not_at_all(rate: int, depth: float) -> None:
    low, high, step = 1000.0, 2000.0, bin_hertz(rate)
    span, centre = Span(1, 3), slice(2 * rate - rate // 2, 2 * rate + rate // 2)
    for hertz in (low + step, 1500, high - step):
        samples = tone(hertz, rate=rate)
        drop = level(samples[centre]) - level(gate(samples, rate, span, depth, (low, high))[centre])
        # At the very end of the ramp the filter's ripple is 40 dB below the depth: 0.1 dB; allow the law's 0.5.
        assert drop == pytest.approx(depth, abs=0.5)
    for hertz in (100, low - 1, high + 1, rate / 2 - 100):
        samples = tone(hertz, rate=rate)
        result = gate(samples, rate, span, depth, (low, high))
        assert level((result - samples)[centre]) < level(samples) - 99.5
        assert level(result[centre]) == pytest.approx(level(samples[centre]), abs=1e-3)


@pytest.mark.parametrize("band", [None, (500.0, 2000.0)])
def test_a_long_region_is_the_same_in_pieces(monkeypatch: pytest.MonkeyPatch, band: tuple[float, float] | None) -> None:
    samples = noise().astype(np.float64)
    whole = gate(samples, RATE, Span(0.5, 3.5), 40, band)
    monkeypatch.setattr(gating, "PIECE_FRAMES", 10_007)
    np.testing.assert_allclose(gate(samples, RATE, Span(0.5, 3.5), 40, band), whole, atol=1e-14)


@pytest.mark.parametrize(("band", "gone", "kept"), [((0, 1000), 300, 3000), ((1000, 24000), 3000, 300)])
def test_a_band_may_reach_the_ends_of_the_spectrum(band: tuple[float, float], gone: float, kept: float) -> None:
    centre = slice(RATE * 3 // 2, RATE * 5 // 2)
    for hertz, drop in ((gone, 100), (kept, 0)):
        samples = tone(hertz)
        result = gate(samples, RATE, Span(1, 3), 100, band)
        assert level(samples[centre]) - level(result[centre]) == pytest.approx(drop, abs=0.1)
    constant = gate(np.ones(4 * RATE), RATE, Span(1, 3), 40, band)
    assert constant[2 * RATE] == pytest.approx(0.01 if band[0] == 0 else 1, abs=1e-4)


@laws
@given(
    st.floats(0, 3.5), st.floats(0.02, 4), st.floats(0, 100), st.floats(50, 5000), st.floats(200, 15000),
    st.sampled_from([np.float32, np.float64]),
)  # fmt: skip
def test_outside_a_banded_region_keeps_its_bits(
    start: float, length: float, depth: float, low: float, width: float, dtype: type
) -> None:
    samples = noise(channels=1).astype(dtype)
    end = min(4.0, start + length)
    result = gate(samples, RATE, Span(start, end), depth, (low, low + width))
    first, last = int(np.ceil(start * RATE - 1e-4)), int(np.ceil(end * RATE - 1e-4))
    assert result[:first].tobytes() == samples[:first].tobytes()
    assert result[last:].tobytes() == samples[last:].tobytes()
    assert result.dtype == dtype
    assert np.isfinite(result).all()


def test_the_whole_spectrum_as_a_band_is_the_plain_gate() -> None:
    samples = noise()
    plain = gate(samples, RATE, Span(1, 2), 40)
    np.testing.assert_array_equal(gate(samples, RATE, Span(1, 2), 40, (0, RATE)), plain)


def test_the_textbook_stft_gate_is_what_this_computes_where_it_is_exact() -> None:
    # Far from region and band edges (in units of the STFT's window and main lobe) the framed mask has no leakage.
    span, band, depth = Span(1, 3), (1000.0, 3000.0), 40.0
    samples = sum(tone(hertz) * 0.2 for hertz in (440, 1500, 1777, 2500, 5000))
    inner = slice(RATE * 3 // 2, RATE * 5 // 2)
    framed = gate_by_stft(samples, RATE, span.start, span.end, depth, band)
    np.testing.assert_allclose(gate(samples, RATE, span, depth, band)[inner], framed[inner], atol=1e-5)
    # And what the framed mask does outside the region is why it is not used: it changes samples there.
    outside = slice(RATE - 900, RATE)
    assert np.abs(framed[outside] - samples[outside]).max() > 1e-3
    assert gate(samples, RATE, span, depth, band)[outside].tobytes() == samples[outside].tobytes()


def test_several_regions_are_one_cut_and_overlaps_are_not_cut_twice() -> None:
    samples = np.ones(RATE)
    both = gate(samples, RATE, [Span(0.1, 0.4), Span(0.3, 0.6)], 40)
    np.testing.assert_array_equal(both, gate(samples, RATE, Span(0.1, 0.6), 40))
    apart = gate(samples, RATE, [Span(0.7, 0.9), Span(0.1, 0.3)], 40)
    once = gate(gate(samples, RATE, Span(0.1, 0.3), 40), RATE, Span(0.7, 0.9), 40)
    np.testing.assert_array_equal(apart, once)


@pytest.mark.parametrize(
    ("span", "depth", "band", "said"),
    [
        (Span(1, 1), 40, None, "not a stretch of time"),
        (Span(2, 1), 40, None, "not a stretch of time"),
        (Span(float("nan"), 1), 40, None, "not a stretch of time"),
        (Span(0, float("inf")), 40, None, "not a stretch of time"),
        (Span(-0.1, 1), 40, None, "choose one between 0 and 4 s"),
        (Span(3, 4.1), 40, None, "choose one between 0 and 4 s"),
        (Span(1.000001, 1.000002), 40, None, "holds no sample"),
        (Span(1, 2), float("nan"), None, "between 0 and 120 dB"),
        (Span(1, 2), 121, None, "between 0 and 120 dB"),
        (Span(1, 2), "deep", None, "depth is 'deep'"),
        (Span(1, 2), True, None, "depth is True"),
        (Span(1, 2), 40, (2000, 1000), "0 <= low < high"),
        (Span(1, 2), 40, (-5, 1000), "0 <= low < high"),
        (Span(1, 2), 40, (float("nan"), 1000), "0 <= low < high"),
        (Span(1, 2), 40, (30000, 40000), "holds nothing above 24000 Hz"),
        (Span(1, 2), 40, (1000, 1001), "make it at least 70 Hz wide"),
    ],
)
def test_what_cannot_be_cut_is_said(span: Span, depth: float, band: tuple[float, float] | None, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        gate(noise(), RATE, span, depth, band)
    assert caught.value.concerns == "argument"


def a_clip(channels: int = 2) -> Clip:
    return clip_from_samples(noise(channels=channels), RATE, name="made.wav", sample_format="PCM_16")


def test_a_gated_clip_is_a_new_clip() -> None:
    clip = a_clip()
    cut = gated_clip(clip, Span(1, 2), 40, (500, 2000))
    assert cut.digest != clip.digest
    assert (cut.name, cut.sample_rate, cut.sample_format) == (clip.name, clip.sample_rate, clip.sample_format)
    assert cut.notes == ("Cut: 1.00–2.00 s lowered by 40 dB between 500 and 2,000 Hz.",)
    np.testing.assert_array_equal(cut.channels, gate(clip.channels, RATE, Span(1, 2), 40, (500, 2000)))
    assert cut.mono[:RATE].tobytes() == clip.mono[:RATE].tobytes()
    assert cut.mono[2 * RATE :].tobytes() == clip.mono[2 * RATE :].tobytes()
    assert gated_clip(clip, Span(1, 2), 40, (500, 2000)).digest == cut.digest


def test_a_cut_is_mixed_as_its_original_was() -> None:
    left = noise(channels=1)
    right = np.concatenate([-left[: 3 * RATE], left[3 * RATE :] * 0.1])
    clip = clip_from_samples(np.concatenate([left, right], axis=1), RATE)
    assert clip.mono_channel is None  # the last second does not cancel
    cut = gated_clip(clip, Span(3, 4), 100)  # now nothing is left that does not
    assert cut.mono_channel is None
    assert cut.mono[: 3 * RATE].tobytes() == clip.mono[: 3 * RATE].tobytes()
    opposed = clip_from_samples(np.concatenate([left, -left], axis=1), RATE)
    assert gated_clip(opposed, Span(1, 2), 40).mono_channel == opposed.mono_channel == 0


@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ULAW", "ALAW"])
def test_a_cut_saved_as_wav_keeps_every_stored_sample_outside(tmp_path: Path, subtype: str) -> None:
    source, saved = tmp_path / "source.wav", tmp_path / "cut.wav"
    rng = np.random.default_rng(3)
    soundfile.write(source, rng.uniform(-1, 1, size=(RATE // 2, 2)), RATE, subtype=subtype)
    save_wav(gated_clip(load_clip(source), Span(0.1, 0.3), 100), saved)
    before, after = (soundfile.read(path, dtype="float64")[0] for path in (source, saved))
    assert soundfile.info(saved).subtype == subtype
    np.testing.assert_array_equal(after[: RATE // 10], before[: RATE // 10])
    np.testing.assert_array_equal(after[RATE * 3 // 10 :], before[RATE * 3 // 10 :])
    middle = slice(RATE * 3 // 20, RATE // 4)
    drop = level(before[middle]) - level(after[middle] + 1e-12)
    # Integers have a floor; what remains below a 24-bit step is none of the cut's doing.
    assert drop == pytest.approx(100, abs=0.5) if subtype in ("PCM_32", "FLOAT", "DOUBLE") else drop > 60


def test_blank_and_segment() -> None:
    clip = a_clip()
    empty = blank(clip)
    assert not empty.channels.any() and not empty.mono.any()
    assert (empty.channels.shape, empty.sample_rate) == (clip.channels.shape, clip.sample_rate)
    part = clip_segment(clip, Span(1, 2.5))
    np.testing.assert_array_equal(part.channels, clip.channels[RATE : RATE * 5 // 2])
    np.testing.assert_array_equal(part.mono, clip.mono[RATE : RATE * 5 // 2])


@pytest.mark.parametrize("band", [None, (500.0, 3000.0)])
def test_cutting_a_segment_is_cutting_the_clip(band: tuple[float, float] | None) -> None:
    clip = a_clip()
    segment = gated_clip(clip_segment(clip, Span(0.5, 3.5)), Span(1, 2), 40, band)
    whole = gated_clip(clip, Span(1.5, 2.5), 40, band)
    np.testing.assert_allclose(segment.channels, whole.channels[RATE // 2 : RATE * 7 // 2], atol=1e-7)


@laws
@given(st.floats(0.1, 600), st.floats(0.05, 20), st.integers(1, 50), st.integers(0, 2**31))
def test_random_windows_lie_inside_and_come_from_their_seed(
    duration: float, length: float, count: int, seed: int
) -> None:
    spans = random_window_spans(duration, length, count, seed)
    assert len(spans) == count
    for span in spans:
        assert span.start >= 0
        assert span.end <= duration + 1e-9
        assert span.length == pytest.approx(min(length, duration), abs=1e-9)
    assert spans == random_window_spans(duration, length, count, seed)
    if length < duration / 2 and count > 2:
        assert spans != random_window_spans(duration, length, count, seed + 1)


def test_random_windows_are_uniform() -> None:
    starts = np.array([span.start for span in random_window_spans(10, 2, 20_000, 5)])
    # Kolmogorov-Smirnov by hand: 1.63 / sqrt(n) is exceeded once in a hundred seeds; the seed is fixed.
    distance = np.abs(np.sort(starts) / 8 - (np.arange(20_000) + 0.5) / 20_000).max()
    assert distance < 1.63 / np.sqrt(20_000)


@pytest.mark.parametrize(("duration", "length", "count"), [(0, 1, 1), (1, -1, 1), (1, float("nan"), 1), (1, 1, 0)])
def test_windows_that_cannot_be_drawn_are_refused(duration: float, length: float, count: int) -> None:
    with pytest.raises(InputError):
        random_window_spans(duration, length, count)
