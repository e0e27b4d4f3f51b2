"""What container headers claim, read in pure Python and held against the bytes that are there.

libsndfile silently shortens a truncated WAV and stops after the first link of a chained Ogg;
only the header tells that something is missing.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

WAVE_CODECS = {
    0x0000: "unknown", 0x0001: "PCM", 0x0002: "Microsoft ADPCM", 0x0003: "float PCM", 0x0005: "IBM CVSD",
    0x0006: "A-law", 0x0007: "u-law", 0x000A: "Windows Media Voice", 0x0011: "IMA ADPCM", 0x0016: "G.723 ADPCM",
    0x0022: "DSP Group TrueSpeech", 0x0031: "GSM 6.10", 0x0040: "G.721 ADPCM", 0x0042: "G.723.1", 0x0045: "G.726",
    0x0050: "MPEG audio", 0x0055: "MP3", 0x0083: "G.729", 0x0092: "AC-3 over S/PDIF", 0x00FF: "AAC",
    0x0130: "Sipro ACELP", 0x0160: "Windows Media Audio 1", 0x0161: "Windows Media Audio 2",
    0x0162: "Windows Media Audio Professional", 0x0270: "Sony ATRAC3", 0x1610: "AAC", 0x2000: "AC-3", 0x2001: "DTS",
    0x674F: "Ogg Vorbis", 0xF1AC: "FLAC",
}  # fmt: skip
"""WAVE format tags and the names people know them by."""

STREAMED_SIZES = (0xFFFFFFFF, 0x7FFFFFFF, 0x80000000)
"""Sizes that recorders and pipes write when they do not know the length."""


@dataclass(frozen=True)
class WaveHeader:
    """The fields of a WAV's fmt and data chunks; None where a chunk is missing.

    Attributes
    ----------
    codec : int
        WAVE format tag, that of the sub-format for WAVE_FORMAT_EXTENSIBLE.
    channels, sample_rate, frame_bytes : int
        As claimed.
    data_bytes : int or None
        Claimed size of the data chunk; None when there is no data chunk.
    present_bytes : int
        Bytes of the file behind the data chunk's header.
    """

    codec: int
    channels: int
    sample_rate: int
    frame_bytes: int
    data_bytes: int | None
    present_bytes: int

    @property
    def codec_name(self) -> str:
        """The codec as people know it."""
        return WAVE_CODECS.get(self.codec, f"number 0x{self.codec:04X}")

    @property
    def missing_share(self) -> float:
        """The share of the claimed data that the file does not hold; 0 when the size is not known."""
        if not self.data_bytes or self.data_bytes in STREAMED_SIZES:
            return 0.0
        return max(0.0, 1.0 - self.present_bytes / self.data_bytes)


@dataclass(frozen=True)
class OggPages:
    """The chain of an Ogg file.

    Attributes
    ----------
    links : tuple of (int, int)
        Offset and length in bytes of each link: recordings written one behind the other.
    complete : bool
        Whether the last page says that the stream ends there.
    """

    links: tuple[tuple[int, int], ...]
    complete: bool


def wave_header(path: Path) -> WaveHeader | None:
    """The header of a WAV file (RIFF or RF64); None when its chunks make no sense. Walks at most 1,000 chunks."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if file.read(4) not in (b"RIFF", b"RF64"):
            return None
        file.seek(12)
        fmt, data_in_ds64 = b"", None
        for _ in range(1000):
            start = file.read(8)
            if len(start) < 8:
                break
            name, length = start[:4], struct.unpack("<I", start[4:])[0]
            if name == b"fmt ":
                fmt = file.read(min(length, 40))
                file.seek(length - len(fmt) + (length & 1), 1)
            elif name == b"ds64":
                sizes = file.read(min(length, 28))
                data_in_ds64 = struct.unpack_from("<Q", sizes, 8)[0] if len(sizes) >= 16 else None
                file.seek(length - len(sizes), 1)
            elif name == b"data":
                claimed = data_in_ds64 if length == 0xFFFFFFFF and data_in_ds64 is not None else length
                return _wave_header(fmt, claimed, size - file.tell())
            else:
                file.seek(length + (length & 1), 1)
        return _wave_header(fmt, None, 0)


def _wave_header(fmt: bytes, data_bytes: int | None, present: int) -> WaveHeader | None:
    if len(fmt) < 16:
        return None
    codec, channels, rate, _, frame_bytes, _ = struct.unpack_from("<HHIIHH", fmt)
    if codec == 0xFFFE and len(fmt) >= 26:
        codec = struct.unpack_from("<H", fmt, 24)[0]
    return WaveHeader(codec, channels, rate, frame_bytes, data_bytes, max(0, present))


def aiff_frames(head: bytes) -> int | None:
    """Frames that an AIFF's COMM chunk claims; None when there is no such chunk in the file's first bytes."""
    at = head.find(b"COMM", 12)
    return struct.unpack_from(">I", head, at + 10)[0] if 0 <= at <= len(head) - 14 else None


def ogg_pages(path: Path) -> OggPages:
    """Walk the pages of an Ogg file and find where a new link begins and whether the last page ends the stream.

    A link begins with a beginning-of-stream page that follows other pages; several such pages
    at once are streams side by side (a video), not a chain. Bytes that are no page are skipped.
    """
    starts: list[int] = []
    ended, in_header = False, False
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        size, at = len(data), 0
        while (at := data.find(b"OggS", at)) >= 0 and at + 27 <= size:
            flags, segments = data[at + 5], data[at + 26]
            if flags & 2 and not in_header:
                starts.append(at)
            in_header = bool(flags & 2)
            end = at + 27 + segments + sum(data[at + 27 : at + 27 + segments])
            ended = bool(flags & 4) and end <= size
            at = min(end, size)
    ends = [*starts[1:], size]
    return OggPages(tuple((start, end - start) for start, end in zip(starts, ends, strict=True)), ended)
