"""Untrusted bytes to a Clip; spans of time; sliding windows."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backend.errors import InputError

HOP_SECONDS = 0.5
"""Hop between window starts (science section 1)."""
WINDOW_CHOICES = (2.0, 4.0)
"""Window lengths offered, in seconds (science section 1)."""


@dataclass(frozen=True, order=True)
class Span:
    """A stretch of time, in seconds; ``start < end``."""

    start: float
    end: float

    @property
    def length(self) -> float:
        """Duration in seconds."""
        return self.end - self.start


@dataclass(frozen=True, eq=False)
class Windows:
    """Equal-length windows over a clip.

    Attributes
    ----------
    starts : np.ndarray, shape (n,), float64
        Window starts in seconds.
    length : float
        Window length in seconds (the clip's duration when that is shorter).
    hop : float
        Hop in seconds.
    """

    starts: NDArray[np.float64]
    length: float
    hop: float

    def __len__(self) -> int:
        return len(self.starts)

    def span(self, index: int) -> Span:
        """Window ``index`` as a Span."""
        start = float(self.starts[index])
        return Span(start, start + self.length)


@dataclass(frozen=True, eq=False)
class Clip:
    """A decoded sound: what is analysed, and what is gated and listened to.

    Attributes
    ----------
    name : str
        File name, for people.
    channels : np.ndarray, shape (frames, channels), float32
        The original samples at the original rate; full scale is 1.0, nothing is normalised.
    sample_rate : int
        The original rate in Hz.
    mono : np.ndarray, shape (frames,), float32
        The analysis signal at the original rate: the mean of the channels, or the
        louder channel where they cancel (a note says so).
    digest : str
        SHA-256 (first 16 hex digits) of the decoded samples, rate and channel count.
    sample_format : str
        How the file stored its samples, as soundfile subtype names: "PCM_16", "FLOAT" ...
    container : str
        soundfile major format or ffmpeg demuxer: "WAV", "FLAC", "matroska" ...
    notes : tuple of str
        Sentences about what was noticed: clipped, silent, DC, antiphase, truncated, shortened ...
    """

    name: str
    channels: NDArray[np.float32]
    sample_rate: int
    mono: NDArray[np.float32]
    digest: str
    sample_format: str = "PCM_16"
    container: str = "WAV"
    notes: tuple[str, ...] = field(default=())

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return len(self.mono) / self.sample_rate

    @property
    def peak(self) -> float:
        """Largest absolute sample over all channels, full scale = 1."""
        return float(np.max(np.abs(self.channels))) if self.channels.size else 0.0

    @property
    def rms(self) -> float:
        """Root mean square over all channels, full scale = 1."""
        return float(np.sqrt(np.mean(np.square(self.channels, dtype=np.float64)))) if self.channels.size else 0.0


def sliding_windows(duration: float, length: float, hop: float = HOP_SECONDS) -> Windows:
    """Windows of a clip: science section 1, with this project's last-window rule.

    Starts 0, hop, 2 hop ... while start + length <= duration; if the last window does not
    reach the end, one more window ends exactly there (own choice). A clip no longer than
    one window is one window.

    Parameters
    ----------
    duration, length, hop : float
        Seconds, all positive.

    Raises
    ------
    InputError
        A value is not a positive finite number.
    """
    for name, value in (("duration", duration), ("window", length), ("hop", hop)):
        if not (np.isfinite(value) and value > 0):
            raise InputError(f"The {name} is {value} s; it must be a positive number of seconds.")
    if duration <= length:
        return Windows(np.zeros(1), float(duration), hop)
    count = int(np.floor((duration - length) / hop + 1e-9)) + 1
    starts = np.arange(count) * hop
    last = duration - length
    if last - starts[-1] > 1e-6:
        starts = np.append(starts, last)
    return Windows(starts, float(length), hop)


def load_clip(path: str | Path) -> Clip:
    """Decode an audio file. (Written in full by the decoding work that follows.)"""
    import soundfile

    channels, rate = soundfile.read(str(path), dtype="float32", always_2d=True)
    import hashlib

    mono = np.ascontiguousarray(channels.mean(axis=1, dtype=np.float32))
    digest = hashlib.sha256(channels.tobytes() + f"{rate}/{channels.shape[1]}".encode()).hexdigest()[:16]
    return Clip(Path(path).name, channels, rate, mono, digest)


def resampled(clip: Clip, sample_rate: int) -> NDArray[np.float32]:
    """The analysis signal at another rate, (samples,) float32; soxr's high quality."""
    if sample_rate == clip.sample_rate:
        return clip.mono
    import soxr

    return np.asarray(soxr.resample(clip.mono, clip.sample_rate, sample_rate, quality="HQ"), dtype=np.float32)
