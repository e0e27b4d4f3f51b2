"""The front end once more, frame by frame in float64 with a plain Fourier sum."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RATE, HOP, FRAME, SIZE, BANDS = 16000, 160, 400, 512, 64


def reference_log_mel(signal: NDArray[np.float32]) -> NDArray[np.float64]:
    """(samples,) at 16 kHz -> (frames, 64): log(mel power + 1e-6), frame j centred on sample 160 j."""
    frames = max(1, -(-len(signal) // HOP))
    padded = np.concatenate([np.zeros(FRAME // 2), signal.astype(np.float64), np.zeros(FRAME + HOP)])
    position = np.arange(FRAME)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * position / FRAME)
    bins = np.arange(SIZE // 2 + 1)
    fourier = np.exp(-2j * np.pi * np.outer(position, bins) / SIZE)
    filters = _filters(bins * RATE / SIZE)
    result = np.empty((frames, BANDS))
    for index in range(frames):
        spectrum = (padded[index * HOP : index * HOP + FRAME] * window) @ fourier
        result[index] = np.log(filters @ np.abs(spectrum) ** 2 + 1e-6)
    return result


def _filters(frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
    """(64, bins): triangles of unit area, evenly spaced on the HTK mel scale from 50 to 7900 Hz."""
    low, high = (2595 * np.log10(1 + hertz / 700) for hertz in (50, 7900))
    edges = 700 * (10 ** (np.linspace(low, high, BANDS + 2) / 2595) - 1)
    rows = []
    for left, centre, right in zip(edges, edges[1:], edges[2:], strict=False):
        row = np.interp(frequencies, [left, centre, right], [0.0, 1.0, 0.0])
        if not row.any():
            row[np.argmin(np.abs(frequencies - centre))] = 1.0
        rows.append(row / row.sum())
    return np.array(rows)
