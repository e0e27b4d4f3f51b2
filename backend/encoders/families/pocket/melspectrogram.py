"""The front end: 16 kHz samples to log-mel frames, exactly as the audio tower was trained on."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch

SAMPLE_RATE = 16000
"""Hz."""
HOP_SAMPLES = 160
"""10 ms between frames; frame j is centred on sample 160 j."""
FRAME_SAMPLES = 400
"""25 ms Hann window (periodic)."""
FFT_SIZE = 512
MEL_BANDS = 64
LOWEST_HZ, HIGHEST_HZ = 50.0, 7900.0
POWER_FLOOR = 1e-6
"""Added to the band power before the logarithm, so that digital silence is log(1e-6)."""
FRAMES_AT_ONCE = 6000
"""Frames transformed together: bounds the memory of long signals."""


def hz_to_mel(frequency: float | np.ndarray) -> float | np.ndarray:
    """HTK mel scale."""
    return 2595.0 * np.log10(1.0 + np.asarray(frequency) / 700.0)


def mel_to_hz(mel: float | np.ndarray) -> float | np.ndarray:
    """Inverse of :func:`hz_to_mel`."""
    return 700.0 * (10.0 ** (np.asarray(mel) / 2595.0) - 1.0)


def mel_filters() -> np.ndarray:
    """Triangular filters of unit area, (MEL_BANDS, FFT_SIZE // 2 + 1) float32.

    A band too narrow to hold an FFT bin takes the bin nearest to its centre (own choice), so
    that no band is constantly silent.
    """
    edges = np.asarray(mel_to_hz(np.linspace(hz_to_mel(LOWEST_HZ), hz_to_mel(HIGHEST_HZ), MEL_BANDS + 2)))
    bins = np.arange(FFT_SIZE // 2 + 1) * SAMPLE_RATE / FFT_SIZE
    filters = np.zeros((MEL_BANDS, len(bins)), np.float32)
    for band in range(MEL_BANDS):
        low, centre, high = edges[band : band + 3]
        filters[band] = np.maximum(0.0, np.minimum((bins - low) / (centre - low), (high - bins) / (high - centre)))
        if not filters[band].any():
            filters[band, round(centre * FFT_SIZE / SAMPLE_RATE)] = 1.0
    return filters / filters.sum(axis=1, keepdims=True)


@lru_cache(maxsize=1)
def _constants() -> tuple[torch.Tensor, torch.Tensor]:
    """The analysis window (FRAME_SAMPLES,) and the filters, transposed for one matrix product."""
    window = np.hanning(FRAME_SAMPLES + 1)[:-1].astype(np.float32)
    return torch.from_numpy(window), torch.from_numpy(np.ascontiguousarray(mel_filters().T))


def frame_count(samples: int) -> int:
    """Frames of a signal: one per started hop, at least one."""
    return max(1, -(-samples // HOP_SAMPLES))


def log_mel(signals: torch.Tensor) -> torch.Tensor:
    """Natural logarithm of the mel-band power.

    Parameters
    ----------
    signals : torch.Tensor, shape (n, samples), float32
        Full scale is 1.0, rate SAMPLE_RATE. Silence surrounds each signal.

    Returns
    -------
    torch.Tensor, shape (n, frames, MEL_BANDS), float32
        ``frames = frame_count(samples)``.
    """
    window, filters = _constants()
    samples = signals.shape[1]
    frames = frame_count(samples)
    half = FRAME_SAMPLES // 2
    padded = torch.nn.functional.pad(signals, (half, half + frames * HOP_SAMPLES - samples))
    strided = padded.unfold(1, FRAME_SAMPLES, HOP_SAMPLES)[:, :frames]
    result = torch.empty((len(signals), frames, MEL_BANDS), dtype=torch.float32)
    step = max(1, FRAMES_AT_ONCE // len(signals))
    for first in range(0, frames, step):
        spectrum = torch.fft.rfft(strided[:, first : first + step] * window, FFT_SIZE)
        power = spectrum.real.square() + spectrum.imag.square()
        result[:, first : first + step] = torch.log(power @ filters + POWER_FLOOR)
    return result
