"""Untrusted bytes to a Clip; spans of time; sliding windows."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from backend.audio.decoding import decode
from backend.audio.levels import cancelled_channel, level_notes, measured, mixed, refuse_non_finite
from backend.audio.limits import Limits
from backend.audio.words import shown_name
from backend.audio.writing import WAV_FORMATS, write_wav
from backend.checks import checked_choice, checked_number
from backend.errors import InputError
from backend.reports.jsonable import DIGITS, jsonable

HOP_SECONDS = 0.5
"""Hop between window starts (science section 1)."""
WINDOW_SECONDS = 2.0
"""Window length where none is chosen."""
WINDOW_CHOICES = (WINDOW_SECONDS, 4.0)
"""Window lengths offered, in seconds (science section 1)."""
WINDOW_RANGE = (0.1, 10.0)
"""Shortest and longest window, in seconds (own choice: LAION-CLAP hears ten seconds at once)."""


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
    precise: NDArray[np.float64] | None = None
    """The samples in float64 where the file stores more than float32 holds (PCM_32, DOUBLE), else None."""
    mono_channel: int | None = None
    """The one channel that ``mono`` is, where the channels cancel; None: their mean."""

    @property
    def native(self) -> NDArray[np.float32] | NDArray[np.float64]:
        """The samples as exactly as the file stores them: ``precise`` where there is one, else ``channels``."""
        return self.channels if self.precise is None else self.precise

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

    def record(self) -> dict[str, Any]:
        """Duration in seconds, rate in Hz, digest, peak and RMS (full scale 1), notes."""
        return {
            "name": self.name,
            "duration": jsonable(self.duration, DIGITS),
            "sample_rate": self.sample_rate,
            "channels": self.channels.shape[1],
            "digest": self.digest,
            "peak": jsonable(self.peak, DIGITS),
            "rms": jsonable(self.rms, DIGITS),
            "notes": list(self.notes),
        }


def checked_window(seconds: object) -> float:
    """A window's length in seconds, within ``WINDOW_RANGE``. Raises InputError for anything else."""
    usual = " and ".join(f"{choice:g}" for choice in WINDOW_CHOICES)
    return checked_number("The window", seconds, *WINDOW_RANGE, unit="s", advice=f"{usual} are usual.")


def checked_window_choice(seconds: object) -> float:
    """One of ``WINDOW_CHOICES``: what visitors, links and the HTTP API may ask a shared server for.

    Raises InputError for anything else.
    """
    return checked_choice("The window", seconds, WINDOW_CHOICES, unit="s")


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


def load_clip(
    path: str | Path, *, name: str | None = None, shorten: bool = False, limits: Limits | None = None
) -> Clip:
    """Decode an untrusted audio file in a child process and look at what it holds.

    Parameters
    ----------
    path : str or Path
        WAV, FLAC, Ogg Vorbis or Opus, MP3, M4A, AIFF, WebM ...; told by its content, not by its name.
    name : str, optional
        What to call it, by default the file's name.
    shorten : bool
        Of a recording that is too long, take the first part and say so in a note.
    limits : Limits, optional
        By default those of the settings (50 MB, 10 minutes, 20 s of decoding).

    Raises
    ------
    TooLong
        Longer than the limit and not ``shorten``; carries ``limit_seconds``.
    InputError
        Anything else wrong with the file, in its own sentence; ``concerns`` is "file".
    """
    shown = shown_name(name or path)
    decoded = decode(path, limits, shorten=shorten, name=shown)
    refuse_non_finite(decoded.samples, decoded.sample_rate, shown)
    return clip_from_samples(
        decoded.samples, decoded.sample_rate, name=shown,
        sample_format=decoded.sample_format, container=decoded.container, notes=decoded.notes,
    )  # fmt: skip


def clip_from_samples(
    samples: NDArray[Any], sample_rate: int, *, name: str = "clip", sample_format: str = "FLOAT",
    container: str = "WAV", notes: tuple[str, ...] = (), mono_channel: int | Literal["choose"] | None = "choose",
) -> Clip:  # fmt: skip
    """A Clip of samples that are already decoded, (frames,) or (frames, channels), float32 or float64.

    ``mono_channel`` says which channel is analysed (None: the mean of all); by default the mean
    is taken unless the channels cancel. The samples must be finite.
    """
    samples = samples[:, np.newaxis] if samples.ndim == 1 else samples
    channels = np.ascontiguousarray(samples, dtype=np.float32)
    precise = np.ascontiguousarray(samples) if samples.dtype == np.float64 else None
    mono = mixed(channels)
    if mono_channel == "choose":
        levels = measured(channels, mono)
        mono_channel = cancelled_channel(levels)
        notes = (*notes, *level_notes(channels, levels, sample_rate, mono_channel))
    if mono_channel is not None:
        mono = channels[:, mono_channel].copy()
    digest = hashlib.sha256(channels.data.cast("B"))
    digest.update(f"{sample_rate}/{channels.shape[1]}".encode())
    return Clip(
        name,
        channels,
        sample_rate,
        mono,
        digest.hexdigest()[:16],
        sample_format,
        container,
        notes,
        precise,
        mono_channel,
    )


def resampled(clip: Clip, sample_rate: int) -> NDArray[np.float32]:
    """The analysis signal at another rate, (samples,) float32; soxr's high quality, which is librosa's default."""
    if sample_rate == clip.sample_rate:
        return clip.mono
    import soxr

    return np.asarray(soxr.resample(clip.mono, clip.sample_rate, sample_rate, quality="HQ"), dtype=np.float32)


def resampling_note(clip: Clip, sample_rate: int) -> str:
    """One sentence about what resampling to an encoder's rate means for this clip; empty at the same rate."""
    if clip.sample_rate == sample_rate:
        return ""
    said = f"Resampled: the encoder hears this {clip.sample_rate:,} Hz recording at {sample_rate:,} Hz"
    if clip.sample_rate < sample_rate:
        return f"{said}; it holds nothing above {clip.sample_rate // 2:,} Hz."
    return f"{said}; what lies above {sample_rate // 2:,} Hz is not heard."


def wav_format(clip: Clip) -> str:
    """The WAV sample format that holds this clip's samples exactly.

    That of the file where WAV has it and writing it again changes nothing (8 to 32 bits, float,
    A-law, u-law); PCM_16 for ADPCM and GSM, which decode to 16 bits but would change when coded
    anew; FLOAT for MP3, Vorbis, Opus and AAC, which decode to fractions.
    """
    if clip.sample_format in WAV_FORMATS:
        return clip.sample_format
    if clip.sample_format == "PCM_S8":
        return "PCM_U8"
    return "PCM_16" if "ADPCM" in clip.sample_format or clip.sample_format == "GSM610" else "FLOAT"


def save_wav(clip: Clip, path: str | Path, sample_format: str | None = None) -> None:
    """Write the clip's samples as WAV at its own rate, in ``sample_format`` (by default ``wav_format(clip)``)."""
    write_wav(path, clip.native, clip.sample_rate, sample_format or wav_format(clip))
