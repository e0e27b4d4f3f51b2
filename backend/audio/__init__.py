"""Untrusted bytes to a :class:`Clip`; spans of time, sliding windows, the spectrogram, and writing sounds exactly."""

from backend.audio.clip import (
    HOP_SECONDS,
    WINDOW_CHOICES,
    WINDOW_SECONDS,
    Clip,
    Span,
    Windows,
    checked_window,
    checked_window_choice,
    clip_from_samples,
    load_clip,
    resampled,
    resampling_note,
    save_wav,
    sliding_windows,
    wav_format,
)
from backend.audio.limits import Limits, TooLong
from backend.audio.words import shown_name
from backend.audio.writing import WAV_FORMATS, write_wav

__all__ = [
    "HOP_SECONDS",
    "WAV_FORMATS",
    "WINDOW_CHOICES",
    "WINDOW_SECONDS",
    "Clip",
    "Limits",
    "Span",
    "TooLong",
    "Windows",
    "checked_window",
    "checked_window_choice",
    "clip_from_samples",
    "load_clip",
    "resampled",
    "resampling_note",
    "save_wav",
    "shown_name",
    "sliding_windows",
    "wav_format",
    "write_wav",
]
