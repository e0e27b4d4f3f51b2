"""What is decoded: every format at sampled rates and channel counts, and samples exact where the format is."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import soundfile

from backend.audio import Clip, load_clip, resampled, resampling_note, save_wav, wav_format
from tests import made_files

needs_ffmpeg = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="FFmpeg is not installed")
SECONDS = 0.5
EXACT = ("PCM_U8", "PCM_S8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE")


def tones(rate: int, channels: int, seconds: float = SECONDS) -> np.ndarray:
    """One tone per channel, each at its own frequency and level."""
    time = np.arange(round(rate * seconds)) / rate
    return np.stack(
        [np.sin(2 * np.pi * 300 * (1 + index) * time) * 0.5 / (1 + index) for index in range(channels)], axis=1
    )


def strongest_hertz(signal: np.ndarray, rate: int) -> float:
    return float(np.argmax(np.abs(np.fft.rfft(signal * np.hanning(len(signal))))) * rate / len(signal))


def assert_tones(clip: Clip, rate: int, channels: int, tolerance: float = 0.03) -> None:
    """The channels in order, each with its tone at its level."""
    assert (clip.sample_rate, clip.channels.shape[1]) == (rate, channels)
    for index in range(channels):
        signal = clip.channels[:, index].astype(np.float64)
        assert strongest_hertz(signal, rate) == pytest.approx(300 * (1 + index), abs=6)
        middle = signal[len(signal) // 4 : -len(signal) // 4]
        assert np.sqrt(2 * np.mean(middle**2)) == pytest.approx(0.5 / (1 + index), rel=tolerance, abs=0.012)


LIBSNDFILE_CASES = [
    ("WAV", "PCM_U8", 8000, 1),
    ("WAV", "PCM_16", 11025, 2),
    ("WAV", "PCM_24", 192000, 1),
    ("WAV", "PCM_32", 44100, 2),
    ("WAV", "FLOAT", 96000, 6),
    ("WAV", "DOUBLE", 16000, 1),
    ("WAVEX", "PCM_24", 48000, 6),
    ("WAV", "ALAW", 8000, 1),
    ("WAV", "ULAW", 8000, 2),
    ("WAV", "IMA_ADPCM", 22050, 2),
    ("WAV", "MS_ADPCM", 22050, 1),
    ("WAV", "GSM610", 8000, 1),
    ("RF64", "PCM_16", 44100, 1),
    ("W64", "PCM_24", 44100, 2),
    ("FLAC", "PCM_S8", 16000, 1),
    ("FLAC", "PCM_16", 44100, 6),
    ("FLAC", "PCM_24", 96000, 2),
    ("OGG", "VORBIS", 44100, 2),
    ("OGG", "VORBIS", 16000, 6),
    ("OGG", "OPUS", 48000, 1),
    ("MP3", "MPEG_LAYER_III", 44100, 2),
    ("MP3", "MPEG_LAYER_III", 16000, 1),
    ("AIFF", "PCM_16", 44100, 2),
    ("AIFF", "PCM_24", 22050, 1),
    ("AU", "PCM_16", 8000, 1),
    ("CAF", "FLOAT", 44100, 2),
]


@pytest.mark.parametrize(("container", "subtype", "rate", "channels"), LIBSNDFILE_CASES)
def test_what_libsndfile_writes_is_read(tmp_path: Path, container: str, subtype: str, rate: int, channels: int) -> None:
    path = tmp_path / "sound.bin"  # the name does not matter: the content tells what it is
    soundfile.write(path, tones(rate, channels), rate, format=container, subtype=subtype)
    clip = load_clip(path)
    # Channels 4 to 6 of a lossy 6-channel file are mixed with psychoacoustics we do not judge here.
    assert_tones(clip, rate, channels, tolerance=0.06 if subtype not in EXACT else 0.03)
    assert clip.sample_format == subtype
    padding = 1300 if subtype not in EXACT else 0  # codecs pad to whole blocks
    assert 0 <= len(clip.channels) - round(rate * SECONDS) <= padding
    assert clip.duration == pytest.approx(SECONDS, abs=0.13)
    assert clip.notes == ()
    if subtype in EXACT:
        stored, _ = soundfile.read(path, dtype="float64", always_2d=True)
        np.testing.assert_array_equal(clip.native, stored)
        np.testing.assert_array_equal(clip.channels, stored.astype(np.float32))
        assert (clip.precise is not None) == (subtype in ("PCM_32", "DOUBLE"))


FFMPEG_CASES = [
    ("aac.m4a", ["-c:a", "aac"], 44100, 2, "aac", "mov"),
    ("alac.m4a", ["-c:a", "alac"], 48000, 1, "alac", "mov"),
    ("aac.aac", ["-c:a", "aac"], 48000, 2, "aac", "aac"),
    ("opus.webm", ["-c:a", "libopus"], 48000, 1, "opus", "matroska"),
    ("recorded.webm", ["-c:a", "libopus", "-live", "1"], 48000, 2, "opus", "matroska"),
    ("vorbis.mkv", ["-c:a", "libvorbis"], 44100, 2, "vorbis", "matroska"),
    ("pcm.mov", ["-c:a", "pcm_s16le"], 44100, 2, "PCM_16", "mov"),
    ("no-xing.mp3", ["-c:a", "libmp3lame", "-q:a", "4", "-write_xing", "0"], 44100, 2, "mp3", "mp3"),
    ("mp3.wav", ["-c:a", "libmp3lame"], 44100, 1, "MPEG_LAYER_III", "WAV"),
]


@needs_ffmpeg
@pytest.mark.parametrize(("name", "options", "rate", "channels", "codec", "container"), FFMPEG_CASES)
def test_what_browsers_and_phones_write_is_read(
    tmp_path: Path, name: str, options: list[str], rate: int, channels: int, codec: str, container: str
) -> None:
    source, path = tmp_path / "source.wav", tmp_path / name
    soundfile.write(source, tones(rate, channels, 2.0), rate, subtype="PCM_16")
    subprocess.run(["ffmpeg", "-v", "error", "-i", source, *options, path], check=True)
    clip = load_clip(path)
    assert_tones(clip, rate, channels, tolerance=0.06)
    assert (clip.sample_format, clip.container) == (codec, container)
    assert clip.duration == pytest.approx(2.0, abs=0.08)
    assert not [note for note in clip.notes if "Truncated" in note or "Damaged" in note]


@needs_ffmpeg
def test_the_sound_track_of_a_video_is_read_and_its_pictures_are_not(tmp_path: Path) -> None:
    path, mute = tmp_path / "film.mp4", tmp_path / "mute.mp4"
    picture = ["-f", "lavfi", "-i", "testsrc=duration=1:size=64x64:rate=5"]
    tone = ["-f", "lavfi", "-i", "sine=frequency=440:duration=1:sample_rate=44100"]
    subprocess.run(["ffmpeg", "-v", "error", *picture, *tone, "-c:a", "aac", path], check=True)
    clip = load_clip(path)
    assert strongest_hertz(clip.mono, clip.sample_rate) == pytest.approx(440, abs=3)
    subprocess.run(["ffmpeg", "-v", "error", *picture, mute], check=True)
    with pytest.raises(ValueError, match="video without a sound track"):
        load_clip(mute)


@needs_ffmpeg
def test_a_variable_rate_mp3_without_a_length_header_is_read_to_its_end(tmp_path: Path) -> None:
    # Noise makes large frames, so libsndfile's guess from the first ones is a third of the true length.
    samples = np.random.default_rng(0).normal(scale=0.1, size=(44100 * 5, 2))
    soundfile.write(tmp_path / "noise.wav", samples, 44100)
    path = tmp_path / "noise.mp3"
    encode = ["ffmpeg", "-v", "error", "-i", tmp_path / "noise.wav", "-q:a", "5", "-write_xing", "0", path]
    subprocess.run(encode, check=True)
    assert len(soundfile.read(path)[0]) < 44100 * 4
    assert load_clip(path).duration == pytest.approx(5.0, abs=0.1)


@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ALAW", "ULAW"])
def test_a_wav_comes_back_from_loading_and_saving_with_the_same_samples(tmp_path: Path, subtype: str) -> None:
    source, saved = tmp_path / "source.wav", tmp_path / "saved.wav"
    loud = np.random.default_rng(1).uniform(-1, 1, size=(3000, 2))
    loud[:2] = [[-1, 1], [1, -1]]
    soundfile.write(source, loud, 22050, subtype=subtype)
    clip = load_clip(source)
    save_wav(clip, saved)
    info = soundfile.info(saved)
    assert (info.subtype, info.samplerate, info.channels) == (subtype, 22050, 2)
    np.testing.assert_array_equal(*(soundfile.read(path, dtype="float64")[0] for path in (source, saved)))


@pytest.mark.parametrize(("subtype", "written"), [("IMA_ADPCM", "PCM_16"), ("GSM610", "PCM_16"), ("PCM_16", "PCM_16")])
def test_what_changes_when_coded_anew_is_saved_as_16_bits(tmp_path: Path, subtype: str, written: str) -> None:
    path, saved = tmp_path / "source.wav", tmp_path / "saved.wav"
    soundfile.write(path, tones(8000, 1), 8000, subtype=subtype)
    clip = load_clip(path)
    assert wav_format(clip) == written
    save_wav(clip, saved)
    np.testing.assert_array_equal(soundfile.read(saved, dtype="float32")[0], clip.mono)


def test_chained_ogg_is_read_to_its_end(tmp_path: Path) -> None:
    first, second, chain = tmp_path / "1.ogg", tmp_path / "2.ogg", tmp_path / "chain.ogg"
    soundfile.write(first, tones(44100, 1), 44100, format="OGG", subtype="VORBIS")
    soundfile.write(second, np.zeros(44100), 44100, format="OGG", subtype="VORBIS")
    chain.write_bytes(first.read_bytes() + second.read_bytes())
    clip = load_clip(chain)
    assert clip.duration == pytest.approx(SECONDS + 1, abs=0.01)
    assert np.abs(clip.mono[:22050]).max() > 0.4 > 0.01 > np.abs(clip.mono[-40000:]).max()
    assert clip.notes == ("Joined: the file holds 2 recordings one behind the other; all were loaded.",)
    chain.write_bytes(first.read_bytes() + second.read_bytes()[:60] + bytes(3000))
    assert load_clip(chain).duration == pytest.approx(SECONDS, abs=0.01)
    assert load_clip(chain).notes[0].startswith("Truncated: ")
    soundfile.write(second, np.zeros((48000, 2)), 48000, format="OGG", subtype="OPUS")
    chain.write_bytes(first.read_bytes() + second.read_bytes())
    assert load_clip(chain).duration == pytest.approx(SECONDS, abs=0.01)
    assert "Only the first part was loaded" in load_clip(chain).notes[0]


@pytest.mark.parametrize(
    "before",
    [
        made_files.chunk(b"LIST", b"INFOx"),
        made_files.chunk(b"LIST", b"INFOx", pad=False),
        made_files.chunk(b"PEAK", b"abc"),
        made_files.chunk(b"bext", b"\0" * 602),
        made_files.chunk(b"junk", bytes(range(256)) * 40),
    ],
    ids=["LIST", "LIST without its padding", "short PEAK", "bext", "junk"],
)
def test_other_chunks_of_recorders_do_not_matter(tmp_path: Path, before: bytes) -> None:
    path = tmp_path / "recorder.wav"
    path.write_bytes(made_files.wave(before=before, after=made_files.chunk(b"LIST", b"INFOIART\xff\xff\xff\xff")))
    clip = load_clip(path)
    stored = np.frombuffer(made_files.SPEECH_LIKE, "<i2") / np.float32(32768)
    np.testing.assert_array_equal(clip.mono, stored)
    assert clip.notes == ()


def test_equal_sounds_have_one_digest_and_others_another(tmp_path: Path) -> None:
    samples = (tones(16000, 2) * 20000).astype(np.int16)
    digests = {}
    for name, content, rate in itertools.product(("a.wav", "b.flac"), (samples, samples[:, ::-1]), (16000, 22050)):
        soundfile.write(tmp_path / name, content, rate, subtype="PCM_16")
        digests[name, content is samples, rate] = load_clip(tmp_path / name).digest
    assert len(set(digests.values())) == 4
    assert digests["a.wav", True, 16000] == digests["b.flac", True, 16000]


def test_resampling_keeps_the_tone_and_says_what_is_lost(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "tone.wav", tones(44100, 1), 44100)
    clip = load_clip(tmp_path / "tone.wav")
    signal = resampled(clip, 16000)
    assert signal.dtype == np.float32
    assert len(signal) == 8000
    assert strongest_hertz(signal, 16000) == pytest.approx(300, abs=3)
    assert resampled(clip, 44100) is clip.mono
    assert resampling_note(clip, 44100) == ""
    assert "above 8,000 Hz is not heard" in resampling_note(clip, 16000)
    assert "nothing above 22,050 Hz" in resampling_note(clip, 48000)
