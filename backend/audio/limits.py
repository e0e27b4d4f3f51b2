"""What one decoding may cost, and the error of a recording that is too long."""

from __future__ import annotations

from dataclasses import dataclass

from backend.errors import InputError
from backend.settings import settings

MAX_CHANNELS = 64
"""Most channels accepted: seventh-order ambisonics."""
RATES = (1_000, 768_000)
"""Lowest and highest sample rate accepted, in Hz."""
MAX_DECODED_BYTES = 2**30
"""Bound of the decoded samples, so that many channels at a high rate cannot fill the memory."""


class TooLong(InputError):
    """A recording longer than is analysed. Its first ``limit_seconds`` can be taken with ``shorten=True``."""

    def __init__(self, message: str, limit_seconds: float) -> None:
        super().__init__(message, concerns="file")
        self.limit_seconds = limit_seconds


@dataclass(frozen=True)
class Limits:
    """What one decoding may cost."""

    file_mb: float
    """Largest file, in megabytes."""
    seconds: float
    """Longest sound, in seconds."""
    wall_seconds: float
    """Wall-clock time of the child process, in seconds."""
    memory_mb: int
    """Address space of the child process, in megabytes."""


def default_limits() -> Limits:
    """The limits that the settings name."""
    chosen = settings()
    return Limits(chosen.max_file_mb, chosen.max_seconds, chosen.decode_seconds, chosen.decode_memory_mb)
