"""Files that are wrong: each gets its own sentence, in time, and nothing is left behind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.audio import Limits, TooLong, decoding, load_clip
from backend.audio.sniff import Kind
from backend.errors import InputError
from tests import made_files
from tests.made_files import chunk, rf64, wave

needs_ffmpeg = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="FFmpeg is not installed")
LIMITS = Limits(file_mb=50, seconds=600, wall_seconds=20, memory_mb=3072)
NOT_SOUND = "is not audio: it looks like "


def sentence_for(path: Path, limits: Limits = LIMITS) -> str:
    """The sentence a file is refused with, which must name it, end properly and concern the file."""
    with pytest.raises(InputError) as caught:
        load_clip(path, limits=limits)
    message = str(caught.value)
    assert caught.value.concerns == "file"
    assert path.name[:40] in message
    assert message.endswith(".")
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty (0 bytes)"),
        (b"R", NOT_SOUND + "plain text"),
        (b"RIFF", NOT_SOUND + "a WAV file that breaks off"),
        (wave()[:12], "ends inside its header"),
        (wave()[:36], "ends inside its header"),
        (wave(b""), "holds no sound"),
        (wave()[:44], "holds no sound"),
        (wave(channels=0), "claims 0 channels"),
        (wave(channels=65535), "claims 65,535 channels; 1 to 64 are accepted"),
        (wave(rate=0), "claims a sample rate of 0 Hz"),
        (wave(rate=2**32 - 1), "claims a sample rate of 4,294,967,295 Hz"),
        (wave(tag=0x0270), "is coded as Sony ATRAC3, which cannot be decoded here"),
        (wave(tag=0x1234), "is coded as codec number 0x1234"),
        (b"<!DOCTYPE html><html><body>404</body></html>", NOT_SOUND + "an HTML page"),
        (b"\n\n  <HTML>moved</HTML>", NOT_SOUND + "an HTML page"),
        (b'<?xml version="1.0"?><Error/>', NOT_SOUND + "an XML document"),
        (b"<svg xmlns='x'/>", NOT_SOUND + "an SVG image"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "git lfs pull"),
        (b'{"error": "not found"}', NOT_SOUND + "JSON text"),
        ("Это не звук, а письмо.".encode(), NOT_SOUND + "plain text"),
        ("not sound".encode("utf-16"), NOT_SOUND + "plain text"),
        (b"id,label\n1,dog\n", NOT_SOUND + "plain text"),
        (b"#EXTM3U\n/etc/passwd\n", NOT_SOUND + "a playlist"),
        (b"ffconcat version 1.0\nfile /etc/passwd\n", NOT_SOUND + "a playlist"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), NOT_SOUND + "a PNG image"),
        (b"\xff\xd8\xff\xe0" + bytes(50), NOT_SOUND + "a JPEG image"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", NOT_SOUND + "a WebP image"),
        (b"\0\0\0\x18ftypheic" + bytes(30), NOT_SOUND + "an HEIF"),
        (b"%PDF-1.7\n", NOT_SOUND + "a PDF document"),
        (b"PK\x03\x04" + bytes(50), "Unpack it"),
        (b"\x1f\x8b\x08" + bytes(50), "Unpack it"),
        (b"MThd\0\0\0\x06", "notes, not sound"),
        (b"\x93NUMPY\x01\0", NOT_SOUND + "a NumPy array"),
        (b"\x7fELF" + bytes(50), NOT_SOUND + "a program"),
        (bytes(5000), NOT_SOUND + "nothing but zero bytes"),
        (b"\x9c\x01\x80" * 999, NOT_SOUND + "binary data of an unknown kind"),
        (b"fLaC" + bytes(200), "looks like a FLAC file, but it is damaged"),
        (b"OggS" + bytes(200), "looks like an Ogg file, but it is damaged"),
        (b"FORM\0\0\0\x04AIFF", "looks like an AIFF file, but it is damaged"),
        (b"\x1aE\xdf\xa3" + bytes(200), "looks like a WebM or Matroska file, but it is damaged"),
        (b"\0\0\0\x18ftypM4A " + bytes(200), "looks like an MP4 file, but it is damaged"),
    ],
)
def test_what_is_not_sound_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "recording.wav"
    path.write_bytes(content)
    assert said in sentence_for(path)


def test_what_is_no_file_is_said(tmp_path: Path) -> None:
    assert "There is no file nothing.wav" in sentence_for(tmp_path / "nothing.wav")
    assert "is a folder" in sentence_for(tmp_path)
    assert "cannot be opened" in sentence_for(tmp_path / ("a" * 400))
    os.mkfifo(tmp_path / "pipe.wav")
    assert "is a device or a pipe" in sentence_for(tmp_path / "pipe.wav")
    with pytest.raises(InputError, match="cannot be opened"):
        load_clip("nul\0byte.wav")


@pytest.mark.parametrize(
    ("value", "said"),
    [(np.nan, "not a number (NaN)"), (np.inf, "infinite"), (-np.inf, "infinite"), (1e300, "1e+300 times full scale")],
)
def test_a_sample_that_is_no_number_is_located(tmp_path: Path, value: float, said: str) -> None:
    samples = np.zeros((200_000, 2))
    samples[150_000, 1] = value
    soundfile.write(tmp_path / "x.wav", samples, 100_000, subtype="DOUBLE")
    message = sentence_for(tmp_path / "x.wav")
    assert "one sample that cannot be sound: at 1.500 s the value is " + said in message


@pytest.mark.parametrize(
    ("container", "subtype"),
    [("WAV", "PCM_16"), ("WAV", "IMA_ADPCM"), ("AIFF", "PCM_24"), ("FLAC", "PCM_16"), ("OGG", "VORBIS"),
     ("OGG", "OPUS"), ("MP3", "MPEG_LAYER_III")],
)  # fmt: skip
def test_of_a_truncated_file_what_exists_is_loaded(tmp_path: Path, container: str, subtype: str) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    samples = np.random.default_rng(0).normal(scale=0.1, size=48000 * 4)
    soundfile.write(whole, samples, 48000, format=container, subtype=subtype)
    content = whole.read_bytes()
    cut.write_bytes(content[: len(content) // 2])
    clip = load_clip(cut)
    # Ogg loses the page that breaks off, a second for Opus.
    assert (0.9 if container == "OGG" else 1.7) < clip.duration < 2.3
    assert clip.notes[0].startswith("Truncated: ")
    if container != "OGG":
        assert "announces 4" in clip.notes[0]
    original = load_clip(whole).mono[: len(clip.mono)]
    middle = slice(0, len(clip.mono) // 2)
    np.testing.assert_array_equal(clip.mono[middle], original[middle])


@needs_ffmpeg
@pytest.mark.parametrize("name", ["cut.webm", "cut.m4a"])
def test_a_recording_that_a_browser_did_not_finish_is_loaded(tmp_path: Path, name: str) -> None:
    whole = tmp_path / f"whole{name[3:]}"
    noise = ["-f", "lavfi", "-i", "anoisesrc=duration=4:amplitude=0.1:sample_rate=48000"]
    finish = ["-movflags", "faststart"] if name.endswith("m4a") else ["-live", "1"]
    subprocess.run(["ffmpeg", "-v", "error", *noise, *finish, whole], check=True)
    (tmp_path / name).write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    clip = load_clip(tmp_path / name)
    assert 1.4 < clip.duration < 2.6
    assert clip.notes[0].startswith(("Truncated: ", "Damaged: "))


def test_headers_that_lie_about_the_length_are_read_to_the_real_end(tmp_path: Path) -> None:
    path = tmp_path / "lying"
    flac = tmp_path / "true.flac"
    soundfile.write(flac, np.zeros(8000), 8000)
    for content, seconds, said in [
        (rf64(), 2, "announces 2,386 h"),
        (made_files.lying_flac(flac.read_bytes()), 1, "announces 2,386 h"),
        (wave(data_size=2**31 - 2), 2, "announces 37 h 16 min"),
        (wave(data_size=0xFFFFFFFF), 2, "Unfinished header"),
        (wave(data_size=0), 2, "Unfinished header"),
    ]:
        path.write_bytes(content)
        clip = load_clip(path)
        assert clip.duration == pytest.approx(seconds, abs=0.01)
        assert said in clip.notes[0]


def test_a_damaged_middle_loses_only_itself(tmp_path: Path) -> None:
    if shutil.which("ffmpeg") is None:
        pytest.skip("FFmpeg is not installed")
    path = tmp_path / "x.flac"
    soundfile.write(path, np.random.default_rng(0).normal(scale=0.1, size=48000 * 4), 48000)
    content = bytearray(path.read_bytes())
    content[len(content) // 4 : len(content) // 4 + 2000] = bytes(2000)
    path.write_bytes(bytes(content))
    clip = load_clip(path)
    assert clip.duration > 3.7
    assert clip.notes[0].startswith(("Damaged: ", "Truncated: "))


def test_a_recording_that_is_too_long_is_offered_in_part(tmp_path: Path) -> None:
    limits = Limits(file_mb=50, seconds=3, wall_seconds=20, memory_mb=3072)
    bomb = tmp_path / "three-hours.flac"
    soundfile.write(bomb, np.zeros(8000 * 3600 * 3, np.int16), 8000)
    assert bomb.stat().st_size < 300_000
    with pytest.raises(TooLong, match=r"is 3 h long; at most 3 s are analysed. Take its first 3 s") as caught:
        load_clip(bomb, limits=limits)
    assert caught.value.limit_seconds == 3
    clip = load_clip(bomb, limits=limits, shorten=True)
    assert clip.duration == 3
    assert clip.notes[0] == "Shortened: the recording is 3 h long; only its first 3 s were loaded."
    exact = tmp_path / "exact.wav"
    soundfile.write(exact, np.ones(24000) * 0.1, 8000)
    assert load_clip(exact, limits=limits).duration == 3


@needs_ffmpeg
def test_a_long_phone_recording_is_offered_in_part(tmp_path: Path) -> None:
    path = tmp_path / "memo.m4a"
    tone = ["-f", "lavfi", "-i", "sine=frequency=440:duration=9:sample_rate=44100"]
    subprocess.run(["ffmpeg", "-v", "error", *tone, path], check=True)
    limits = Limits(file_mb=50, seconds=3, wall_seconds=20, memory_mb=3072)
    with pytest.raises(TooLong, match="is 9 s long"):
        load_clip(path, limits=limits)
    assert load_clip(path, limits=limits, shorten=True).duration == 3


def test_a_file_that_is_too_large_is_not_even_opened(tmp_path: Path) -> None:
    path = tmp_path / "huge.wav"
    with path.open("wb") as file:
        file.truncate(2**31)
    started = time.perf_counter()
    assert "is 2,048.0 MB large; at most 50 MB are accepted" in sentence_for(path)
    assert time.perf_counter() - started < 2


def test_many_channels_at_a_high_rate_cannot_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "MAX_DECODED_BYTES", 8 * 192_000 * 4)
    path = tmp_path / "wide.flac"
    soundfile.write(path, np.zeros((192_000 * 2, 8), np.int16), 192_000)
    with pytest.raises(TooLong, match=r"at most 1 s are analysed with 8 channels at 192,000 Hz"):
        load_clip(path, limits=LIMITS)
    assert load_clip(path, limits=LIMITS, shorten=True).duration == 1


def test_a_file_that_hangs_libsndfile_is_read_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "hang.wav"
    path.write_bytes(made_files.hanging_wave())
    clip = load_clip(path)
    np.testing.assert_array_equal(clip.mono, np.frombuffer(made_files.SPEECH_LIKE[:64], "<i2") / np.float32(32768))


def test_a_decoder_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The same file as it is, without the guard above: the next such bug will be one we do not know.
    monkeypatch.setattr(decoding, "_parts", lambda wave, pages: [])
    path = tmp_path / "hang.wav"
    path.write_bytes(made_files.hanging_wave())
    started = time.perf_counter()
    limits = Limits(file_mb=50, seconds=600, wall_seconds=1.0, memory_mb=3072)
    assert "could not be decoded within 1 s" in sentence_for(path, limits)
    assert time.perf_counter() - started < 15


def test_ffmpeg_ends_with_the_child_that_started_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools, alive = tmp_path / "tools", tmp_path / "alive"
    tools.mkdir()
    fake = tools / "ffmpeg"
    fake.write_text(f"#!/bin/sh\nwhile true; do date > {alive}; sleep 0.05; done\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    path = tmp_path / "x.webm"
    path.write_bytes(b"\x1aE\xdf\xa3" + bytes(200))
    limits = Limits(file_mb=50, seconds=600, wall_seconds=4, memory_mb=3072)
    assert "could not be decoded within 4 s" in sentence_for(path, limits)
    assert alive.exists()
    time.sleep(0.2)
    alive.unlink()
    time.sleep(0.4)
    assert not alive.exists()


def test_memory_is_limited(tmp_path: Path) -> None:
    path = tmp_path / "x.flac"
    soundfile.write(path, np.zeros(8000), 8000)
    limits = Limits(file_mb=50, seconds=600, wall_seconds=20, memory_mb=40)
    message = sentence_for(path, limits)
    assert "memory" in message or "broke down" in message


def test_without_ffmpeg_the_formats_that_need_it_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    path = tmp_path / "x.webm"
    path.write_bytes(b"\x1aE\xdf\xa3" + bytes(200))
    assert "is a WebM or Matroska file, which needs ffmpeg, and ffmpeg is not installed here" in sentence_for(path)
    soundfile.write(tmp_path / "x.wav", np.ones(800) * 0.1, 8000)
    assert load_clip(tmp_path / "x.wav").duration == pytest.approx(0.1)
    (tmp_path / "x.wav").write_bytes(wave(tag=0x0270))
    assert "Sony ATRAC3" in sentence_for(tmp_path / "x.wav")


@needs_ffmpeg
@pytest.mark.parametrize("demuxer", ["wav", "mov", "matroska", "ogg", "mp3", "aac", "flac", "aiff"])
def test_no_playlist_is_followed_whatever_the_demuxer(tmp_path: Path, demuxer: str) -> None:
    secret = tmp_path / "secret.wav"
    soundfile.write(secret, np.ones(8000) * 0.5, 8000)
    playlist = tmp_path / "x.bin"
    playlist.write_text(f"#EXTM3U\n#EXTINF:1,\n{secret}\nffconcat version 1.0\nfile {secret}\n")
    (tmp_path / "work").mkdir()
    report = decoding._run_worker(playlist, tmp_path / "work", Kind("a test", (demuxer,)), [], LIMITS)
    assert not report["ok"] or not report["frames"]


ODD_NAMES = [
    "собака лает.wav",
    "👩‍👧 дождь 雨.wav",
    "تسجيل صوتي.wav",
    "..%2f..%2fetc%2fpasswd.wav",
    "-i.wav",
    "--help",
    "concat:a|b.wav",
    "file:x.wav",
    "%d.wav",
    "a b'c\"d;$(x)`y`.wav",
    "CON",
    "=cmd|' C calc'!A0.wav",
    "l" * 250 + ".wav",
]


@needs_ffmpeg
@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_are_read_by_both_decoders(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(wave())
    clip = load_clip(path)
    assert clip.duration == 2
    assert clip.name == name if len(name) <= 80 else len(clip.name) == 80 and "…" in clip.name
    (tmp_path / "work").mkdir()
    report = decoding._run_worker(path, tmp_path / "work", Kind("a test", ("wav",)), [], LIMITS)
    assert (report["ok"], report["frames"]) == (True, 16000)


def test_names_that_are_not_text_are_shown_without_harm(tmp_path: Path) -> None:
    path = Path(os.fsdecode(bytes(tmp_path) + b"/\xff\xfe" + "evil\u202egpj.\n.wav".encode()))
    path.write_bytes(wave())
    clip = load_clip(path)
    assert clip.name == "\ufffd\ufffdevil\ufffdgpj.\ufffd.wav"
    assert load_clip(path, name="given.wav").name == "given.wav"
    clip.name.encode("utf-8")


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    source = tmp_path / "x.wav"
    source.write_bytes(wave())
    load_clip(source)
    source.write_bytes(b"fLaC" + bytes(99))
    sentence_for(source)
    assert os.listdir(tmp_path) == ["x.wav"]


def test_the_child_sees_no_secret_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_confidential")
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "ffmpeg").write_text(f"#!/bin/sh\nenv > {tmp_path}/seen\nexit 1\n")
    (tools / "ffmpeg").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    (tmp_path / "x.webm").write_bytes(b"\x1aE\xdf\xa3" + bytes(200))
    sentence_for(tmp_path / "x.webm")
    assert "hf_confidential" not in (tmp_path / "seen").read_text()


def test_many_at_once_give_each_their_own(tmp_path: Path) -> None:
    for index in range(6):
        soundfile.write(tmp_path / f"{index}.wav", np.full(800, index / 10), 8000)
    found: dict[int, float] = {}

    def load(index: int) -> None:
        found[index] = load_clip(tmp_path / f"{index}.wav").peak

    threads = [threading.Thread(target=load, args=(index,)) for index in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == pytest.approx({index: index / 10 for index in range(6)}, abs=1e-4)


def test_the_child_starts_without_heavy_imports() -> None:
    script = "import json, runpy, sys; runpy.run_path(sys.argv[1]); import soundfile; print(json.dumps([*sys.modules]))"
    worker = Path(decoding.__file__).with_name("worker.py")
    done = subprocess.run([sys.executable, "-I", "-c", script, worker], capture_output=True, check=True)
    assert not {"torch", "gradio", "scipy", "backend"} & set(json.loads(done.stdout))


SEEDS = {
    "wav": wave(before=chunk(b"LIST", b"INFOIART\x04\0\0\0abc\0")),
}


@pytest.fixture(scope="session")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Small valid files to be damaged."""
    folder = tmp_path_factory.mktemp("seeds")
    samples = np.random.default_rng(0).normal(scale=0.1, size=8000)
    for name, container, subtype in [("flac", "FLAC", "PCM_16"), ("ogg", "OGG", "VORBIS"), ("mp3", "MP3", None)]:
        soundfile.write(folder / name, samples, 8000, format=container, subtype=subtype)
    return SEEDS | {path.name: path.read_bytes() for path in folder.iterdir()}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(["wav", "flac", "ogg", "mp3"]),
    keep=st.floats(0, 1),
    flips=st.lists(st.tuples(st.floats(0, 0.999), st.integers(0, 255)), max_size=4),
)
def test_damaged_files_load_or_are_refused_in_a_sentence(
    tmp_path: Path, seeds: dict[str, bytes], kind: str, keep: float, flips: list[tuple[float, int]]
) -> None:
    content = bytearray(seeds[kind][: int(keep * len(seeds[kind]))])
    for place, value in flips:
        if content:
            content[int(place * len(content))] = value
    path = tmp_path / "damaged"
    path.write_bytes(bytes(content))
    try:
        clip = load_clip(path, limits=Limits(file_mb=1, seconds=10, wall_seconds=20, memory_mb=2048))
    except InputError as error:
        assert error.concerns == "file" and str(error).endswith(".")
    else:
        assert np.isfinite(clip.channels).all()
        assert len(clip.channels) == len(clip.mono) > 0
