"""What is noticed about samples, and how channels become the one signal that is analysed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from backend.audio import clip_from_samples
from backend.audio.levels import mixed, refuse_non_finite
from backend.audio.writing import WAV_FORMATS, write_wav
from backend.errors import InputError

RATE = 16_000
TIME = np.arange(RATE * 2) / RATE
TONE = (0.3 * np.sin(2 * np.pi * 440 * TIME)).astype(np.float32)
NOISE = np.random.default_rng(0).normal(scale=0.1, size=(len(TIME), 2)).astype(np.float32)

unhurried = settings(deadline=None)  # the first example may import and write


def notes_of(samples: np.ndarray) -> tuple[str, ...]:
    return clip_from_samples(np.asarray(samples, dtype=np.float32), RATE).notes


def test_an_ordinary_recording_has_nothing_to_note() -> None:
    assert notes_of(TONE) == ()
    assert notes_of(NOISE) == ()
    assert notes_of(np.sin(2 * np.pi * 440 * TIME)) == ()  # at full scale, but whole


@pytest.mark.parametrize(
    ("samples", "note"),
    [
        (np.zeros(100), "Silent: every sample is zero."),
        (TONE * 1e-4, "Very quiet: the peak is 90 dB below full scale."),
        (TONE * 10, "Louder than full scale: the peak is 3 (+9.5 dB); players will clip it."),
        (TONE + 0.2, "DC offset: the samples lie around +0.200 of full scale instead of zero."),
        (np.stack([TONE, 0 * TONE], 1), "One-sided: channel 2 is silent."),
        (np.stack([0 * TONE, TONE, 0 * TONE], 1), "One-sided: channels 1, 3 are silent."),
        (
            np.stack([TONE, -1.05 * TONE], 1),
            "Antiphase: the channels cancel when mixed, so the louder, channel 2, is analysed.",
        ),
    ],
)
def test_what_is_odd_is_noted(samples: np.ndarray, note: str) -> None:
    assert notes_of(samples) == (note,)


def test_clipping_is_noted_with_its_place() -> None:
    samples = np.concatenate([TONE, np.clip(TONE * 5, -1, 1)])
    (note,) = notes_of(samples)
    assert note.startswith("Clipped: ")
    assert note.endswith("the first at 2.00 s.")
    # By hand: |1.5 sin| exceeds 1 for 53.5 % of the time, and each run lasts about ten samples.
    assert int(note.split()[1].replace(",", "")) == pytest.approx(0.535 * len(TONE), rel=0.05)


def test_uncorrelated_channels_do_not_count_as_cancelling() -> None:
    clip = clip_from_samples(NOISE, RATE)
    assert clip.mono_channel is None
    np.testing.assert_allclose(clip.mono, NOISE.mean(axis=1), atol=1e-7)
    wide = np.random.default_rng(1).normal(scale=0.1, size=(RATE, 16)).astype(np.float32)
    assert clip_from_samples(wide, RATE).mono_channel is None


def test_cancelling_channels_are_not_lost() -> None:
    clip = clip_from_samples(np.stack([TONE, -TONE], 1), RATE)
    assert clip.mono_channel == 0
    np.testing.assert_array_equal(clip.mono, TONE)
    fixed = clip_from_samples(np.stack([TONE, -TONE], 1), RATE, mono_channel=None)
    assert not fixed.mono.any()


@unhurried
@given(arrays.arrays(np.float32, st.tuples(st.integers(1, 50), st.integers(1, 8)), elements=st.floats(-1, 1, width=32)))
def test_the_mix_is_the_mean(channels: np.ndarray) -> None:
    np.testing.assert_allclose(mixed(channels), channels.mean(axis=1, dtype=np.float64), atol=3e-7)


@unhurried
@given(
    arrays.arrays(
        np.float32, (20, 2), elements=st.floats(-1, 1, width=32) | st.sampled_from([np.nan, np.inf, -np.inf, 2.0**99])
    )
)
def test_a_sample_that_is_no_sound_never_gets_through(samples: np.ndarray) -> None:
    if np.all(np.abs(samples) <= 1):
        refuse_non_finite(samples, 10, "x")
    else:
        with pytest.raises(InputError) as caught:
            refuse_non_finite(samples, 10, "x")
        first = int(np.argmax(~(np.abs(samples) <= 1).all(axis=1)))
        assert f"at {first / 10:.3f} s" in str(caught.value)


BITS = {"PCM_U8": 8, "PCM_16": 16, "PCM_24": 24, "PCM_32": 32}


@unhurried
@given(st.sampled_from(list(BITS)), st.data())
def test_integers_come_back_as_the_same_integers(
    tmp_path_factory: pytest.TempPathFactory, kind: str, data: st.DataObject
) -> None:
    full = 2 ** (BITS[kind] - 1)
    edges = [-full, -full + 1, -1, 0, 1, full - 2, full - 1]
    integers = data.draw(st.lists(st.integers(-full, full - 1) | st.sampled_from(edges), min_size=1, max_size=30))
    path = tmp_path_factory.getbasetemp() / f"{kind}.wav"
    exact = np.asarray(integers, dtype=np.float64) / full
    write_wav(path, exact if kind == "PCM_32" else exact.astype(np.float32), 8000, kind)
    stored, rate = soundfile.read(path, dtype="float64")
    assert rate == 8000
    np.testing.assert_array_equal(stored * full, integers)


@unhurried
@given(arrays.arrays(np.float32, st.tuples(st.integers(1, 40), st.integers(1, 3)), elements=st.floats(-4, 4, width=32)))
def test_floats_are_written_bit_for_bit(tmp_path_factory: pytest.TempPathFactory, samples: np.ndarray) -> None:
    path = tmp_path_factory.getbasetemp() / "float.wav"
    write_wav(path, samples, 44100, "FLOAT")
    stored, _ = soundfile.read(path, dtype="float32", always_2d=True)
    np.testing.assert_array_equal(stored.view(np.uint32), samples.view(np.uint32))


def test_a_faint_sound_stays_faint(tmp_path: Path) -> None:
    for depth in (40, 100):
        write_wav(tmp_path / "x.wav", TONE * 10 ** (-depth / 20), RATE, "FLOAT")
        stored, _ = soundfile.read(tmp_path / "x.wav")
        level = 20 * np.log10(np.sqrt(np.mean(stored**2)) / np.sqrt(np.mean(TONE.astype(np.float64) ** 2)))
        assert level == pytest.approx(-depth, abs=1e-3)


@pytest.mark.parametrize("kind", WAV_FORMATS)
def test_equal_samples_give_equal_bytes_and_full_scale_does_not_wrap(tmp_path: Path, kind: str) -> None:
    samples = np.array([-1.5, -1.0, 0.0, 1.0, 1.5])
    for name in ("a.wav", "b.wav"):
        write_wav(tmp_path / name, samples, 8000, kind)
    content = (tmp_path / "a.wav").read_bytes()
    assert content == (tmp_path / "b.wav").read_bytes()
    assert b"PEAK" not in content  # it would hold the time of writing
    stored, _ = soundfile.read(tmp_path / "a.wav")
    assert np.all(np.diff(stored) >= 0)
    assert stored[3] > 0.9 and stored[1] < -0.9


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'MP3'; choose one of PCM_U8"):
        write_wav(tmp_path / "x.wav", TONE, RATE, "MP3")
    with pytest.raises(InputError, match="NaN or infinity"):
        write_wav(tmp_path / "x.wav", np.array([np.nan]), RATE)
    for kind in ("FLOAT", "PCM_16"):
        with pytest.raises(InputError, match=r"cannot be written: No such file or directory"):
            write_wav(tmp_path / "missing" / "x.wav", TONE, RATE, kind)
