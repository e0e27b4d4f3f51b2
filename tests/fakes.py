"""Small stand-ins used by many tests: encoders whose answers are known, and clips made of numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import pytest

from backend.audio import Clip
from backend.negation import detect, parser


def counted_parses(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list that grows by every text that is parsed from now on; none is known from before."""
    parsed: list[str] = []

    def language_of(text: str) -> tuple[str, str]:
        parsed.append(text)
        return detect.language_of(text)

    parser._read.cache_clear()
    monkeypatch.setattr(parser, "language_of", language_of)
    return parsed


class BandEncoder:
    """A window-by-window encoder that hears tones: its vector is the window's energy in D bands.

    The text "a sound of band 3" is the unit vector of band 3, so every cosine can be computed by hand.
    ``audio_passes`` counts the windows embedded.
    """

    def __init__(self, identifier: str = "band", dim: int = 8, sample_rate: int = 8000) -> None:
        self.id, self.weights, self.dim, self.sample_rate, self.has_text = identifier, "0" * 12, dim, sample_rate, True
        self.audio_passes, self.text_passes = 0, 0

    def embed_audio(self, windows: np.ndarray) -> np.ndarray:
        self.audio_passes += len(windows)
        power = np.abs(np.fft.rfft(windows.astype(np.float64), axis=1)) ** 2
        # The floor makes it deaf to what is faint, as ears are: a gated tone no longer fills its vector.
        bands = np.stack([band.sum(axis=1) for band in np.array_split(power, self.dim, axis=1)], axis=1) + 1e6
        return (bands / np.linalg.norm(bands, axis=1, keepdims=True)).astype(np.float32)

    def embed_text(self, texts: Sequence[str]) -> np.ndarray:
        self.text_passes += len(texts)
        vectors = np.empty((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            words = text.rsplit("band ", 1)
            if len(words) == 2 and words[1].isdigit():
                vectors[row] = np.eye(self.dim, dtype=np.float32)[int(words[1])]
            else:
                seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
                drawn = np.random.default_rng(seed).normal(size=self.dim)
                vectors[row] = drawn / np.linalg.norm(drawn)
        return vectors


class OnePassBandEncoder(BandEncoder):
    """The same, embedding all windows of a signal in one call; ``passes`` counts the calls."""

    context_seconds = 0.0

    def __init__(self, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self.passes = 0

    def embed_spans(self, signal: np.ndarray, starts: np.ndarray, length: float) -> np.ndarray:
        self.passes += 1
        samples = min(round(length * self.sample_rate), len(signal))
        first = np.minimum(np.round(starts * self.sample_rate).astype(int), len(signal) - samples)
        return self.embed_audio(np.stack([signal[at : at + samples] for at in first]))


def clip_of_samples(samples: np.ndarray, sample_rate: int = 8000, name: str = "made.wav") -> Clip:
    """A Clip of (frames,) or (frames, channels) samples, as if decoded."""
    channels = np.ascontiguousarray(np.atleast_2d(np.asarray(samples, dtype=np.float32).T).T)
    mono = np.ascontiguousarray(channels.mean(axis=1))
    return Clip(name, channels, sample_rate, mono, hashlib.sha256(channels.tobytes()).hexdigest()[:16])


def tone_clip(
    band: int, start: float, end: float, duration: float = 10.0, sample_rate: int = 8000, dim: int = 8
) -> Clip:
    """Faint noise with one tone in the middle of ``band`` between two times, in seconds."""
    time = np.arange(round(duration * sample_rate)) / sample_rate
    noise = np.random.default_rng(0).normal(scale=0.01, size=len(time))
    frequency = (band + 0.5) * sample_rate / 2 / dim
    inside = (time >= start) & (time < end)
    return clip_of_samples(noise + 0.5 * np.sin(2 * np.pi * frequency * time) * inside, sample_rate)
