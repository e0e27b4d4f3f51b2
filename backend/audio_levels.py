"""What is noticed about decoded samples: not finite, silent, quiet, clipped, DC, cancelling channels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.errors import InputError

CANCELLED_DB = -20.0
"""Below this level against the louder channel, the mean of the channels is not analysed (own choice)."""
QUIET_DB = -60.0
"""Below this peak, in dB of full scale, a recording is called very quiet (own choice)."""
CLIPPED_RUN = 4
"""This many equal samples in a row at the peak are a clipped wave top (own choice); a pure tone above
40 Hz at 48 kHz has shorter ones."""
LARGEST = 2.0**31
"""Largest magnitude accepted: integers stored as float without scaling reach it, sound does not."""

_BLOCK = 1 << 18


def refuse_non_finite(samples: NDArray[Any], sample_rate: int, name: str) -> None:
    """Raise InputError when a sample is NaN, infinite or absurdly large, naming the first one's time.

    Parameters
    ----------
    samples : np.ndarray, shape (frames, channels), float32 or float64
    """
    bad, first = 0, -1
    for start in range(0, len(samples), _BLOCK):
        # A NaN fails every comparison, so this one finds all three.
        wrong = ~(np.abs(samples[start : start + _BLOCK]) <= LARGEST)
        if wrong.any():
            bad += int(wrong.sum())
            first = start + int(np.argmax(wrong.any(axis=1))) if first < 0 else first
    if not bad:
        return
    value = samples[first][~(np.abs(samples[first]) <= LARGEST)][0]
    what = (
        "not a number (NaN)" if np.isnan(value) else "infinite" if np.isinf(value) else f"{value:.3g} times full scale"
    )
    many = "one sample" if bad == 1 else f"{bad:,} samples"
    raise InputError(
        f"{name} holds {many} that cannot be sound: at {first / sample_rate:.3f} s the value is {what}. "
        "Export it again from the original.",
        concerns="file",
    )


def mono_signal(
    channels: NDArray[np.float32], channel: int | str | None = "choose"
) -> tuple[NDArray[np.float32], int | None]:
    """The analysis signal, (frames,) float32, and the one channel it is (None: the mean of all).

    Two channels in antiphase cancel to silence when averaged; then the louder one is taken
    (own choice). ``channel`` fixes the choice, so that a cut clip is mixed as its original was.
    """
    if channels.shape[1] == 1:
        return np.ascontiguousarray(channels[:, 0]), None
    if isinstance(channel, int):
        return np.ascontiguousarray(channels[:, channel]), channel
    mean = np.ascontiguousarray(channels.mean(axis=1, dtype=np.float32))
    if channel is None:
        return mean, None
    powers = [_power(channels[:, index]) for index in range(channels.shape[1])]
    loudest = int(np.argmax(powers))
    active = sum(power > 1e-4 * powers[loudest] for power in powers)
    # Uncorrelated channels lose level in the mean too; only what is far below THEIR mean has been cancelled.
    if active > 1 and _power(mean) < 10 ** (CANCELLED_DB / 10) * sum(powers) / channels.shape[1] ** 2:
        return np.ascontiguousarray(channels[:, loudest]), loudest
    return mean, None


def level_notes(
    channels: NDArray[np.float32], sample_rate: int, sample_format: str, mono_channel: int | None
) -> tuple[str, ...]:
    """Whole sentences about the levels of (frames, channels) float32 samples; full scale is 1."""
    peaks = _channel_peaks(channels)
    peak = float(peaks.max())
    if peak == 0.0:
        return ("Silent: every sample is zero.",)
    notes: list[str] = []
    decibels = 20 * np.log10(peak)
    if decibels < QUIET_DB:
        notes.append(f"Very quiet: the peak is {-decibels:.0f} dB below full scale.")
    if peak > 1.001:
        notes.append(f"Louder than full scale: the peak is {peak:.3g} ({decibels:+.1f} dB); players will clip it.")
    silent = [index + 1 for index in range(len(peaks)) if peaks[index] == 0.0]
    if silent:
        which = f"channel {silent[0]} is" if len(silent) == 1 else f"channels {', '.join(map(str, silent))} are"
        notes.append(f"One-sided: {which} silent.")
    clipped, first = _clipped_samples(channels, peak)
    if clipped:
        notes.append(f"Clipped: {clipped:,} samples sit at the peak in runs, the first at {first / sample_rate:.2f} s.")
    offsets = [float(channels[:, index].mean(dtype=np.float64)) for index in range(channels.shape[1])]
    worst = max(range(len(offsets)), key=lambda index: abs(offsets[index]))
    # Five of a thousand is 46 dB below full scale: inaudible itself, but a cut of it clicks. It must also
    # stand out from the sound, or every loud clip would have one; and a tenth of a second is no mean.
    if len(channels) > sample_rate // 10 and abs(offsets[worst]) > max(0.005, 0.1 * _power(channels[:, worst]) ** 0.5):
        notes.append(f"DC offset: the samples lie around {offsets[worst]:+.3f} of full scale instead of zero.")
    if mono_channel is not None:
        notes.append(
            f"Antiphase: the channels cancel when mixed, so the louder, channel {mono_channel + 1}, is analysed."
        )
    return tuple(notes)


def _power(signal: NDArray[np.float32]) -> float:
    return float(np.mean(np.square(signal, dtype=np.float64))) if len(signal) else 0.0


def _channel_peaks(channels: NDArray[np.float32]) -> NDArray[np.float32]:
    blocks = [np.abs(channels[start : start + _BLOCK]).max(axis=0) for start in range(0, len(channels), _BLOCK)]
    return np.max(blocks, axis=0)


def _clipped_samples(channels: NDArray[np.float32], peak: float) -> tuple[int, int]:
    """How many samples sit in runs at the peak, and the first one's frame.

    Only near full scale: a quiet recording was not clipped by the file's format. Runs at block
    borders may be counted short; the count is for people.
    """
    if peak < 0.98:
        return 0, 0
    total, first = 0, len(channels)
    level = np.float32(min(peak, 1.0) * 0.9995)
    for start in range(0, len(channels), _BLOCK):
        block = channels[start : start + _BLOCK]
        if np.abs(block).max() < level:
            continue
        for signal in block.T:
            for at_top in (signal >= level, signal <= -level):
                edges = np.flatnonzero(np.diff(at_top, prepend=False, append=False))
                begins, ends = edges[::2], edges[1::2]
                long = ends - begins >= CLIPPED_RUN
                if long.any():
                    total += int((ends - begins)[long].sum())
                    first = min(first, start + int(begins[long][0]))
    return total, first
