"""Sound files made of bytes: what recorders, editors and attackers write."""

from __future__ import annotations

import struct

import numpy as np

SPEECH_LIKE = (np.sin(np.arange(16000) * 0.2) * 8000).astype("<i2").tobytes()
"""Two seconds of a tone at 8 kHz, 16 bits."""


def chunk(name: bytes, content: bytes, size: int | None = None, pad: bool = True) -> bytes:
    """One RIFF chunk; ``size`` may lie."""
    padding = b"\0" * (len(content) & 1) if pad else b""
    return name + struct.pack("<I", len(content) if size is None else size) + content + padding


def wave(
    data: bytes = SPEECH_LIKE,
    *,
    tag: int = 1,
    channels: int = 1,
    rate: int = 8000,
    bits: int = 16,
    data_size: int | None = None,
    before: bytes = b"",
    after: bytes = b"",
) -> bytes:
    """A RIFF/WAVE file; every field may lie."""
    align = channels * bits // 8
    fields = struct.pack("<HHIIHH", tag, channels, rate, (rate * align) % 2**32, align % 2**16, bits)
    body = b"WAVE" + chunk(b"fmt ", fields) + before + chunk(b"data", data, data_size) + after
    return b"RIFF" + struct.pack("<I", len(body) % 2**32) + body


def hanging_wave() -> bytes:
    """128 bytes of good WAV whose LIST entry claims -8 bytes: libsndfile 1.2.2 steps back for ever (its #1118)."""
    return wave(SPEECH_LIKE[:64], before=chunk(b"LIST", b"INFOXXXX" + struct.pack("<I", 0xFFFFFFF8)))


def rf64(data: bytes = SPEECH_LIKE, frames: int = 2**36) -> bytes:
    """An RF64 file whose 64-bit header claims 2^36 frames."""
    sizes = struct.pack("<QQQI", frames * 2 + 72, frames * 2, frames, 0)
    fields = struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16)
    body = b"WAVE" + chunk(b"ds64", sizes) + chunk(b"fmt ", fields) + chunk(b"data", data, 0xFFFFFFFF)
    return b"RF64\xff\xff\xff\xff" + body


def lying_flac(flac: bytes) -> bytes:
    """A FLAC file whose STREAMINFO claims 2^36 - 1 samples."""
    changed = bytearray(flac)
    changed[21] |= 0x0F
    changed[22:26] = b"\xff" * 4
    return bytes(changed)
