"""The picture shows what is there: every sample, at its time, its frequency and its level."""

from __future__ import annotations

import base64
import zlib

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.audio.band_levels import ROWS, SILENCE_DB, band_levels, frame_length, mel, mel_rows
from backend.audio.spectrogram import (
    MAX_BINS,
    MAX_COLUMNS,
    changed_columns,
    colours,
    detail,
    level_range,
    packed,
    packed_peaks,
    peaks_of,
    picture_of,
    quantised,
)
from backend.errors import InputError
from tests.reference import picture as reference

RATE = 16_000


def noise(seconds: float, rate: int = RATE, channels: int = 1, seed: int = 3) -> np.ndarray:
    return (0.1 * np.random.default_rng(seed).standard_normal((int(seconds * rate), channels))).astype(np.float32)


def tone(hertz: float, seconds: float = 1.0, rate: int = RATE, level_db: float = 0.0) -> np.ndarray:
    time = np.arange(int(seconds * rate)) / rate
    return (10 ** (level_db / 20) * np.sin(2 * np.pi * hertz * time)).astype(np.float32)[:, None]


def total_db(levels: np.ndarray) -> np.ndarray:
    return 10 * np.log10((10 ** (levels.astype(np.float64) / 10)).sum(axis=1))


@pytest.mark.parametrize("rate", [8_000, 16_000, 22_050, 44_100, 48_000])
def test_rows_share_out_every_bin_and_none_is_empty(rate):
    shares = mel_rows(frame_length(rate), rate)
    assert shares.shape == (frame_length(rate) // 2 + 1, ROWS)
    assert np.all(shares >= 0)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-6)
    assert shares.sum(axis=0).min() > 0.2


def test_the_mel_scale_is_torchaudio_s_and_so_the_pocket_encoder_s():
    from torchaudio.functional.functional import _hz_to_mel

    for hertz in (0.0, 50.0, 700.0, 12_345.0):
        assert mel(hertz) == pytest.approx(_hz_to_mel(hertz, mel_scale="htk"), abs=1e-9)


@pytest.mark.parametrize("rate", [8_000, 16_000, 48_000])
def test_a_flat_spectrum_is_flat_in_every_row(rate):
    """The figure that stands in the docstring of ``mel_rows``; the outermost rows are half triangles."""
    frame = frame_length(rate)
    row = mel(rate / 2) / ROWS
    edges = 700 * (10 ** ((np.arange(ROWS + 2) - 0.5) * row / 2595) - 1)
    widths = (edges[2:] - edges[:-2]) / 2 / (rate / frame)
    found = mel_rows(frame, rate).sum(axis=0) / widths
    assert np.abs(10 * np.log10(found[1:-1])).max() < 0.02


def test_levels_equal_the_slow_twin():
    rate, rows = 2_000, 12
    signal = noise(0.2, rate)[:, 0] + tone(300, 0.2, rate)[:, 0]
    frame = frame_length(rate)
    columns = 6
    levels = band_levels(signal[:, None].astype(np.float32), rate, columns, rows=rows)
    each = int(np.ceil(len(signal) / columns / (frame / 2)))
    for column in range(columns):
        centres = [round((column * each + part + 0.5) * len(signal) / (columns * each)) for part in range(each)]
        twins = [reference.column_levels(signal, rate, centre, frame, rows, rate / 2) for centre in centres]
        expected = 10 * np.log10(np.mean(10 ** (np.array(twins) / 10), axis=0))
        # float32 against float64, and triangles integrated on grids of 16 and of 400 points a bin.
        np.testing.assert_allclose(levels[column], expected, atol=0.15)


@pytest.mark.parametrize("rate", [8_000, 16_000, 44_100, 48_000])
def test_the_rows_powers_add_up_to_the_signal_s_power(rate):
    signal = noise(3, rate)
    exact = 10 * np.log10(2 * np.mean(signal.astype(np.float64) ** 2))
    levels = band_levels(signal, rate, 300)
    assert 10 * np.log10(np.mean(10 ** (total_db(levels) / 10))) == pytest.approx(exact, abs=0.1)


@given(hertz=st.floats(60, 7_500), level=st.floats(-60, 0))
@settings(max_examples=25, deadline=None)
def test_a_tone_is_drawn_at_its_frequency_with_its_level(hertz, level):
    levels = band_levels(tone(hertz, 0.5, level_db=level), RATE, 10)[4]
    row = float(mel(hertz) / mel(RATE / 2) * ROWS - 0.5)
    assert abs(int(np.argmax(levels)) - row) <= 1.5
    assert total_db(levels[None])[0] == pytest.approx(level, abs=0.2)


@given(share=st.floats(0, 1, exclude_max=True))
@settings(max_examples=25, deadline=None)
def test_a_click_is_drawn_at_its_time_even_the_last_sample(share):
    signal = np.zeros((RATE, 1), dtype=np.float32)
    index = int(share * RATE)
    signal[index] = 1.0
    loudest = band_levels(signal, RATE, 100).max(axis=1)
    assert abs(int(np.argmax(loudest)) - index * 100 // RATE) <= 1
    assert loudest[index * 100 // RATE] > loudest.max() - 3


def test_a_short_sound_keeps_its_energy_in_coarse_columns():
    signal = np.zeros((60 * RATE, 1), dtype=np.float32)
    signal[30 * RATE : 30 * RATE + RATE // 50] = tone(1000, 0.02)
    energy = [float((10 ** (band_levels(signal, RATE, columns) / 10)).sum()) / columns for columns in (60, 6000)]
    assert 10 * np.log10(energy[0] / energy[1]) == pytest.approx(0, abs=0.5)


def test_channels_in_antiphase_are_not_invisible():
    one = tone(1000)
    both = np.hstack([one, -one])
    np.testing.assert_allclose(band_levels(both, RATE, 20), band_levels(one, RATE, 20), atol=1e-3)
    peaks = peaks_of(both, 50)
    assert peaks.high.max() == 32767 and peaks.low.min() == -32767


@given(frames=st.integers(1, 400), bins=st.integers(1, 60), channels=st.integers(1, 3), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_the_envelope_equals_its_slow_twin_and_loses_no_peak(frames, bins, channels, seed):
    signal = np.random.default_rng(seed).uniform(-1.5, 1.5, (frames, channels)).astype(np.float32)
    peaks = peaks_of(signal, bins)
    expected = reference.envelope(signal, bins)
    assert len(peaks.low) == len(expected)
    unit = peaks.scale / 32767
    for low, high, (least, most) in zip(peaks.low * unit, peaks.high * unit, expected, strict=True):
        # One step outwards at most; the margin is that of dividing by the scale and multiplying again.
        assert least - 1.00001 * unit <= low <= least + 1e-9 and most - 1e-9 <= high <= most + 1.00001 * unit


def test_pictures_are_bounded_whatever_the_length():
    for seconds in (0.0001, 0.01, 3.0, 120.0):
        picture = picture_of(noise(seconds), RATE)
        columns, rows = picture.spectrogram.levels.shape
        assert 1 <= columns <= MAX_COLUMNS and rows == ROWS
        assert 1 <= len(picture.peaks.low) <= MAX_BINS
    assert picture.spectrogram.f_hi == RATE / 2


def test_faint_sounds_stay_above_the_floor_and_silence_is_the_floor():
    signal = np.vstack([tone(500), np.zeros((RATE, 1), np.float32), tone(2000, level_db=-50)])
    shown = picture_of(signal, RATE).spectrogram
    levels = shown.levels.reshape(3, -1, ROWS)[:, 10:-10]
    faint = levels[2].max(axis=1).astype(float) / 255 * (shown.db_max - shown.db_min) + shown.db_min
    assert faint.min() > shown.db_min + 10
    assert levels[1][5:-5].max() == 0
    silence = picture_of(np.zeros((RATE, 1), np.float32), RATE)
    assert (silence.spectrogram.db_min, silence.spectrogram.db_max) == (-100.0, 0.0)
    assert silence.spectrogram.levels.max() == 0


@given(ceiling=st.floats(-90, 20), spread=st.floats(0, 150))
@settings(max_examples=30, deadline=None)
def test_the_range_covers_the_loudest_cell_and_60_to_100_db_below(ceiling, spread):
    levels = np.linspace(ceiling - spread, ceiling, 500, dtype=np.float32)
    floor, top = level_range(levels)
    assert ceiling - 0.01 <= top < ceiling + 5.01
    assert 60 <= top - floor <= 100
    np.testing.assert_array_equal(quantised(np.array([floor - 9, top + 9], np.float32), floor, top), [0, 255])


def test_a_cut_is_drawn_on_the_original_s_scales_and_only_where_it_changed():
    signal = noise(4.0)
    cut_signal = signal.copy()
    cut_signal[RATE : 2 * RATE] *= 0.01
    original = picture_of(signal, RATE)
    cut = picture_of(cut_signal, RATE, like=original)
    assert (cut.peaks.scale, cut.spectrogram.db_min) == (original.peaks.scale, original.spectrogram.db_min)
    first, last = changed_columns(original, cut)
    columns = len(original.spectrogram.levels)
    assert columns / 4 - 4 <= first and last <= columns / 2 + 4
    rebuilt = original.spectrogram.levels.copy()
    rebuilt[first:last] = cut.spectrogram.levels[first:last]
    np.testing.assert_array_equal(rebuilt, cut.spectrogram.levels)
    assert changed_columns(original, original) == (0, 0)
    steps = original.spectrogram.levels[130:170].astype(float) - cut.spectrogram.levels[130:170]
    drop = steps[cut.spectrogram.levels[130:170] > 0] / 255 * (cut.spectrogram.db_max - cut.spectrogram.db_min)
    assert drop == pytest.approx(40.0, abs=0.5)


def test_a_detail_of_everything_is_the_picture_and_a_part_is_that_part(tmp_path):
    signal = noise(4.0, channels=2)
    path = tmp_path / "clip.wav"
    soundfile.write(path, signal, RATE, subtype="FLOAT")
    whole = picture_of(signal, RATE)
    like = (whole.spectrogram.db_min, whole.spectrogram.db_max, whole.peaks.scale)
    again = detail(path, 0.0, 4.0, len(whole.spectrogram.levels), like=like)
    np.testing.assert_array_equal(again.spectrogram.levels, whole.spectrogram.levels)
    part = detail(path, 1.0, 2.0, 100, like=like)
    np.testing.assert_array_equal(part.spectrogram.levels, whole.spectrogram.levels[100:200])
    assert (part.start, part.end) == (1.0, 2.0)
    with pytest.raises(InputError, match=r"4\.00 s"):
        detail(path, 5.0, 6.0, 10, like=like)


def test_nothing_to_draw_is_said():
    with pytest.raises(InputError, match="no samples") as caught:
        picture_of(np.zeros((0, 1), np.float32), RATE)
    assert caught.value.concerns == "file"


def test_packed_arrays_unpack_to_themselves():
    picture = picture_of(noise(0.5), RATE)
    levels = picture.spectrogram.levels
    restored = np.frombuffer(zlib.decompress(base64.b64decode(packed(levels))), np.uint8)
    np.testing.assert_array_equal(restored.reshape(levels.shape), levels)
    pairs = np.frombuffer(zlib.decompress(base64.b64decode(packed_peaks(picture.peaks))), "<i2").reshape(-1, 2)
    np.testing.assert_array_equal(pairs[:, 0], picture.peaks.low)
    np.testing.assert_array_equal(pairs[:, 1], picture.peaks.high)


def test_colours_grow_steadily_lighter():
    light = colours().astype(float) @ [0.2126, 0.7152, 0.0722]
    assert colours().shape == (256, 3)
    assert np.all(np.diff(light) > -1.5) and light[-1] - light[0] > 200


def test_digital_silence_has_its_own_level():
    assert np.all(band_levels(np.zeros((RATE, 1), np.float32), RATE, 5) == SILENCE_DB)
