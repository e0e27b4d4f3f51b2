"""What a file looks like and what its header claims: pure functions that never raise on any bytes."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.audio.headers import aiff_frames, ogg_pages, wave_header
from backend.audio.sniff import AAC, MP3, MP3_WITHOUT_LENGTH, WAV, look_at, mpeg_frame
from backend.audio.words import shown_name, spoken
from tests.made_files import SPEECH_LIKE, chunk, wave

reuse_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=100)
INTERESTING = st.sampled_from(
    [b"RIFF", b"WAVE", b"ID3", b"\xff\xfb\x90\x64", b"\xff\xf1\x50\x80", b"OggS", b"ftyp", b"<html", b"{", b"\xff\xfe"]
)


@settings(deadline=None)
@given(st.lists(INTERESTING | st.binary(max_size=40), max_size=30).map(b"".join))
def test_any_bytes_look_like_something(content: bytes) -> None:
    kind = look_at(content)
    assert kind.title
    assert all(name == "libsndfile" or name.isalnum() for name in kind.decoders)


@given(st.integers(0, len(wave())), st.lists(st.tuples(st.integers(0, 60), st.integers(0, 255)), max_size=6))
@reuse_folder
def test_any_wave_header_is_read_or_given_up(tmp_path: Path, keep: int, flips: list[tuple[int, int]]) -> None:
    content = bytearray(wave(before=chunk(b"LIST", b"INFO"))[:keep])
    for place, value in flips:
        if place < len(content):
            content[place] = value
    path = tmp_path / "any.wav"
    path.write_bytes(bytes(content))
    header = wave_header(path)
    if header is not None:
        assert 0 <= header.missing_share <= 1
        rebuilt, offset, length = header.rebuilt()
        assert offset + length <= len(content) or length == 0
        assert rebuilt.startswith(b"RIFF") and rebuilt.endswith(length.to_bytes(4, "little"))


@given(st.lists(st.sampled_from([b"OggS"]) | st.binary(min_size=1, max_size=60), min_size=1, max_size=20).map(b"".join))
@reuse_folder
def test_any_ogg_pages_cover_bytes_of_the_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "any.ogg"
    path.write_bytes(content)
    links = ogg_pages(path).links
    assert links
    for (offset, length), following in zip(links, [*links[1:], (len(content), 0)], strict=True):
        assert offset + length == following[0]


def test_millions_of_ogg_pages_cannot_hold_the_server_up(tmp_path: Path) -> None:
    path = tmp_path / "pages.ogg"
    page = b"OggS\0\2" + bytes(21)
    path.write_bytes(page * 1_000_000)
    started = time.process_time()
    assert ogg_pages(path).links == ((0, len(page) * 1_000_000),)
    assert time.process_time() - started < 5


def test_the_data_of_a_wave_are_found(tmp_path: Path) -> None:
    path = tmp_path / "x.wav"
    path.write_bytes(wave(before=chunk(b"LIST", b"INFOx"), after=chunk(b"id3 ", b"abc")))
    header = wave_header(path)
    assert header is not None
    assert path.read_bytes()[header.data_offset :][: header.present_bytes] == SPEECH_LIKE
    assert not header.plain
    path.write_bytes(wave())
    assert wave_header(path).plain  # type: ignore[union-attr]


def test_an_aiff_says_how_long_it_is(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "x", np.zeros(1234), 8000, format="AIFF")
    assert aiff_frames((tmp_path / "x").read_bytes()) == 1234
    assert aiff_frames(b"FORM") is None


@pytest.mark.parametrize(
    ("header", "length", "kind"),
    [
        ("fffb9064", 417, "mp3"),  # MPEG-1 layer III, 128 kbit/s, 44.1 kHz
        ("fffb9264", 418, "mp3"),  # the same with padding
        ("fff36464", 144, "mp3"),  # MPEG-2 layer III, 48 kbit/s, 24 kHz
        ("fffdc400", 768, "mp3"),  # MPEG-1 layer II, 256 kbit/s, 48 kHz
        ("fff15080", 7 * 8 + 1, "aac"),
        ("fffb0064", None, ""),  # free format
        ("ffeb9064", None, ""),  # reserved version
        ("00fb9064", None, ""),
    ],
)
def test_mpeg_frame_lengths(header: str, length: int | None, kind: str) -> None:
    content = bytes.fromhex(header) + (b"\x07\x20\xfc" if kind == "aac" else bytes(3))
    assert mpeg_frame(content, 0) == (None if length is None else (length, kind))


def test_mp3_is_told_from_bytes_that_begin_alike() -> None:
    frame = bytes.fromhex("fffb9064") + bytes(413)
    assert look_at(frame * 3) is MP3_WITHOUT_LENGTH
    assert look_at(frame[:36] + b"Xing" + frame[40:] + frame) is MP3
    assert look_at(b"ID3\x03\0\0\0\0\0\x0a" + bytes(10) + frame * 3) is MP3_WITHOUT_LENGTH
    assert look_at(b"garbage!" + frame * 8).decoders == ("mp3",)
    assert look_at(bytes.fromhex("fff150800720fc") + bytes(50) + bytes.fromhex("fff150800720fc") + bytes(50)) is AAC
    assert not look_at(frame[:4] + b"but then something else" * 40).decoders
    assert look_at(wave(b"ID3" + frame * 3)) is WAV


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_name_can_be_shown(name: str) -> None:
    shown = shown_name(name)
    assert len(shown) <= 80
    assert "\n" not in shown and "\u202e" not in shown and "/" not in shown.rstrip("/")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.25, "0.25 s"),
        (9.984, "9.98 s"),
        (59.99, "60 s"),
        (125, "2 min 5 s"),
        (600, "10 min"),
        (10800, "3 h"),
        (11000, "3 h 3 min"),
    ],
)
def test_durations_are_spoken(seconds: float, words: str) -> None:
    assert spoken(seconds) == words
