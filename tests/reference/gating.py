"""The slow twin of ``backend.evidence.cut``: science section 2 sample by sample, and as a framed STFT.

Nothing is shared with the fast code. The first function loops over samples with Python's own
arithmetic; the second is the textbook gate, a mask on the frames of an STFT, whose leakage is why
the fast code is not written that way.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.signal import ShortTimeFFT
from scipy.signal.windows import blackmanharris


def gain_at(index: int, first: int, last: int, frames: int, sample_rate: int, depth_db: float) -> float:
    """The gain of sample ``index`` for a region of the samples first ... last - 1."""
    if not first <= index < last:
        return 1.0
    floor = 10 ** (-depth_db / 20)
    edges = [edge for edge, inner in ((index - first + 1, first > 0), (last - index, last < frames)) if inner]
    ramps = (1 if first > 0 else 0) + (1 if last < frames else 0)
    ramp = min(round(0.05 * sample_rate), (last - first) // max(1, ramps))
    progress = min([edge / ramp if ramp else 1.0 for edge in edges], default=1.0)
    if progress >= 1:
        return floor
    return 1 - (1 - floor) * (0.5 - 0.5 * math.cos(math.pi * progress))


def gate_by_hand(samples: np.ndarray, sample_rate: int, start: float, end: float, depth_db: float) -> np.ndarray:
    """Full-band gate of (frames,) or (frames, channels) samples, one Python multiplication at a time."""
    frames = len(samples)
    inside = [index for index in range(frames) if start - 1e-9 <= index / sample_rate < end - 1e-9]
    if not inside or depth_db == 0:
        return samples.copy()
    first, last = inside[0], inside[-1] + 1
    result = samples.copy()
    for index in range(first, last):
        gain = gain_at(index, first, last, frames, sample_rate, depth_db)
        for channel in np.ndindex(samples.shape[1:]):
            result[(index, *channel)] = float(samples[(index, *channel)]) * gain
    return result


def gate_by_stft(
    signal: np.ndarray, sample_rate: int, start: float, end: float, depth_db: float, band: tuple[float, float]
) -> np.ndarray:
    """The textbook gate of a (frames,) signal: every STFT cell inside region and band is multiplied by the gain."""
    transform = ShortTimeFFT(blackmanharris(2048), hop=128, fs=sample_rate, fft_mode="onesided")
    cells = transform.stft(signal)
    times = transform.t(len(signal))
    rows = (transform.f >= band[0]) & (transform.f <= band[1])
    columns = (times >= start) & (times < end)
    cells[np.ix_(rows, columns)] *= 10 ** (-depth_db / 20)
    return np.asarray(transform.istft(cells, k1=len(signal)))
