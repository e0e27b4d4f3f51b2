"""Band levels the long way: an explicit Fourier sum and triangles integrated on a fine grid."""

from __future__ import annotations

import math

import numpy as np


def column_levels(signal: np.ndarray, sample_rate: int, centre: int, frame: int, rows: int, top: float) -> list[float]:
    """Levels in dB of one Hann frame round sample ``centre``, row by row; 0 dB is a full-scale sine."""
    taken = [
        signal[n] if 0 <= n < len(signal) else 0.0 for n in range(centre - frame // 2, centre - frame // 2 + frame)
    ]
    window = [0.5 - 0.5 * math.cos(2 * math.pi * n / frame) for n in range(frame)]
    weighted = np.array(taken) * np.array(window)
    n = np.arange(frame)
    power = []
    for k in range(frame // 2 + 1):
        value = np.sum(weighted * np.exp(-2j * np.pi * k * n / frame))
        sides = 1 if k in (0, frame // 2) else 2
        power.append(sides * abs(value) ** 2 / (frame * sum(w * w for w in window)))
    edge = 2595 * math.log10(1 + top / 700)
    fine = 400
    totals = [0.0] * rows
    for k in range(frame // 2):
        for step in range(fine):
            share = (step + 0.5) / fine
            hertz = (k + share) * sample_rate / frame
            density = (1 - share) * power[k] + share * power[k + 1]
            _add(totals, 2595 * math.log10(1 + hertz / 700) / edge * rows - 0.5, density / fine)
    # Half a bin beyond either end belongs to the first and the last bin.
    _add(totals, -0.5, power[0] / 2)
    _add(totals, rows - 0.5, power[-1] / 2)
    return [10 * math.log10(max(2 * total, 1e-16)) for total in totals]


def _add(totals: list[float], position: float, power: float) -> None:
    lower = math.floor(position)
    for row, weight in ((lower, 1 - (position - lower)), (lower + 1, position - lower)):
        totals[min(max(row, 0), len(totals) - 1)] += weight * power


def envelope(channels: np.ndarray, bins: int) -> list[tuple[float, float]]:
    """Least and greatest sample of every bin, one sample at a time."""
    frames = len(channels)
    count = min(bins, frames)
    found: list[list[float]] = [[] for _ in range(count)]
    for index in range(count):
        for frame in range(index * frames // count, (index + 1) * frames // count):
            found[index].extend(float(value) for value in channels[frame])
    return [(min(values), max(values)) for values in found]
