"""What container headers claim, read in pure Python and held against the bytes that are there.

libsndfile silently shortens a truncated WAV and stops after the first link of a chained Ogg;
only the header tells that something is missing.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

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

MOST_PAGES = 200_000
"""An Ogg file of more pages than this is not looked through: ten minutes have at most 30,000."""

STREAMED_SIZES = (0xFFFFFFFF, 0x7FFFFFFF, 0x80000000)
"""Sizes that recorders and pipes write when they do not know the length."""


@dataclass(frozen=True)
class WaveHeader:
    """The fields of a WAV's fmt, fact and data chunks.

    Attributes
    ----------
    codec : int
        WAVE format tag, that of the sub-format for WAVE_FORMAT_EXTENSIBLE.
    channels, sample_rate, frame_bytes : int
        As claimed.
    data_bytes : int or None
        Claimed size of the data chunk; None when there is no data chunk.
    data_offset, present_bytes : int
        Where the data begin, and how many bytes of the file follow (at most data_bytes, when that is known).
    chunks : bytes
        The fmt and fact chunks as they are.
    plain : bool
        Whether the file has no other chunks than these.
    """

    codec: int
    channels: int
    sample_rate: int
    frame_bytes: int
    data_bytes: int | None
    data_offset: int
    present_bytes: int
    chunks: bytes
    plain: bool

    @property
    def codec_name(self) -> str:
        """The codec as people know it."""
        return WAVE_CODECS.get(self.codec, f"codec number 0x{self.codec:04X}")

    @property
    def length_known(self) -> bool:
        """Whether the header says how long the data are."""
        return bool(self.data_bytes) and self.data_bytes not in STREAMED_SIZES

    @property
    def missing_share(self) -> float:
        """The share of the claimed data that the file does not hold; 0 when the size is not known."""
        if not self.data_bytes or not self.length_known:
            return 0.0
        return max(0.0, 1.0 - self.present_bytes / self.data_bytes)

    def rebuilt(self) -> tuple[bytes, int, int]:
        """A header of fmt, fact and data only, and the offset and length of the data that follow it.

        Recorders and editors write other chunks that libsndfile refuses (LIST, PEAK, odd sizes) or
        hangs on; none of them is sound.
        """
        body = 4 + len(self.chunks) + 8 + self.present_bytes
        riff = b"RIFF" + struct.pack("<I", body) + b"WAVE" + self.chunks
        return riff + b"data" + struct.pack("<I", self.present_bytes), self.data_offset, self.present_bytes


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
    """The header of a WAV file (RIFF or RF64); None without a fmt chunk. Walks at most 1,000 chunks."""
    size = path.stat().st_size
    chunks: dict[bytes, bytes] = {}
    others, long_size = False, None
    with path.open("rb") as file:
        file.seek(12)
        for _ in range(1000):
            name, length = _next_chunk(file)
            if name in (b"", b"data"):
                break
            content = file.read(min(length, 4096)) if name in (b"fmt ", b"fact", b"ds64") else b""
            if name == b"ds64":
                long_size = struct.unpack_from("<Q", content, 8)[0] if len(content) >= 16 else None
            elif name in (b"fmt ", b"fact"):
                chunks[name] = name + struct.pack("<I", len(content)) + content + b"\0" * (len(content) & 1)
            else:
                others = True
            file.seek(length - len(content) + (length & 1), 1)
        offset = file.tell()
    fmt = chunks.get(b"fmt ", b"")[8:]
    if len(fmt) < 16:
        return None
    codec, channels, rate, _, frame_bytes, _ = struct.unpack_from("<HHIIHH", fmt)
    if codec == 0xFFFE and len(fmt) >= 26:
        codec = struct.unpack_from("<H", fmt, 24)[0]
    claimed = None if name != b"data" else long_size if length == 0xFFFFFFFF and long_size is not None else length
    present = max(0, size - offset) if claimed is not None else 0
    if claimed and claimed not in STREAMED_SIZES:
        others = others or claimed + 1 < present
        present = min(present, claimed)
    kept = chunks[b"fmt "] + chunks.get(b"fact", b"")
    return WaveHeader(codec, channels, rate, frame_bytes, claimed, offset, present, kept, not others)


def _next_chunk(file: BinaryIO) -> tuple[bytes, int]:
    """Name and length of the chunk that begins here; an empty name at the end of the file.

    Chunks of odd length must be followed by a zero byte. Some recorders forget it; then the next
    chunk's name begins one byte early.
    """
    start = file.read(8)
    if len(start) == 8 and not _is_name(start[:4]) and file.tell() > 21:
        file.seek(-9, 1)
        early = file.read(8)
        if _is_name(early[:4]):
            start = early
        else:
            file.seek(1, 1)
    return (start[:4], struct.unpack("<I", start[4:])[0]) if len(start) == 8 else (b"", 0)


def _is_name(name: bytes) -> bool:
    return all(32 <= letter < 127 for letter in name)


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
    ended, in_header, pages = False, False, 0
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        size, at = len(data), 0
        while (at := data.find(b"OggS", at)) >= 0 and at + 27 <= size:
            pages += 1
            if pages > MOST_PAGES:
                return OggPages(((0, size),), complete=True)
            flags, segments = data[at + 5], data[at + 26]
            if flags & 2 and not in_header:
                starts.append(at)
            in_header = bool(flags & 2)
            end = at + 27 + segments + sum(data[at + 27 : at + 27 + segments])
            ended = bool(flags & 4) and end <= size
            at = min(end, size)
    starts = starts or [0]
    ends = [*starts[1:], size]
    return OggPages(tuple((start, end - start) for start, end in zip(starts, ends, strict=True)), ended)
