"""What is noticed about decoded samples: not finite, silent, quiet, clipped, DC, cancelling channels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.errors import InputError

CANCELLED_DB = -20.0
"""Below this level against uncorrelated channels, the mean of the channels is not analysed (own choice)."""
QUIET_DB = -60.0
"""Below this peak, in dB of full scale, a recording is called very quiet (own choice)."""
CLIPPED_RUN = 4
"""This many equal samples in a row at the peak are a clipped wave top (own choice); a pure tone above
40 Hz at 48 kHz has shorter ones."""
LARGEST = 2.0**31
"""Largest magnitude accepted: integers stored as float without scaling reach it, sound does not."""

_BLOCK = 1 << 16


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


@dataclass(frozen=True, eq=False)
class Levels:
    """Of each channel, (channels,) float64: largest magnitude, mean, and mean square; of their mix, its mean square."""

    peaks: NDArray[np.float64]
    means: NDArray[np.float64]
    powers: NDArray[np.float64]
    mix_power: float


def mixed(channels: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean of the channels, (frames,) float32."""
    mix = channels[:, 0].copy()
    # Column by column: numpy's mean over a short last axis takes ten times as long.
    for index in range(1, channels.shape[1]):
        mix += channels[:, index]
    if channels.shape[1] > 1:
        mix /= np.float32(channels.shape[1])
    return mix


def measured(channels: NDArray[np.float32], mix: NDArray[np.float32]) -> Levels:
    """Levels of (frames, channels) samples and their (frames,) mix, in one pass over blocks that fit the cache."""
    count = channels.shape[1]
    peaks, sums, squares, mix_square = np.zeros(count), np.zeros(count), np.zeros(count), 0.0
    for start in range(0, len(channels), _BLOCK):
        for index in range(count):
            signal = channels[start : start + _BLOCK, index].astype(np.float64)
            peaks[index] = max(peaks[index], signal.max(), -signal.min())
            sums[index] += signal.sum()
            squares[index] += signal @ signal
        signal = mix[start : start + _BLOCK].astype(np.float64)
        mix_square += float(signal @ signal)
    frames = max(1, len(channels))
    return Levels(peaks, sums / frames, squares / frames, mix_square / frames)


def cancelled_channel(levels: Levels) -> int | None:
    """The loudest channel where the channels cancel each other in the mix, else None.

    Uncorrelated channels lose level in the mix too; only what lies far below THEIR mix has been cancelled.
    """
    count, loudest = len(levels.powers), int(np.argmax(levels.powers))
    active = np.count_nonzero(levels.powers > 1e-4 * levels.powers[loudest])
    uncorrelated = levels.powers.sum() / count**2
    return loudest if active > 1 and levels.mix_power < 10 ** (CANCELLED_DB / 10) * uncorrelated else None


def level_notes(
    channels: NDArray[np.float32], levels: Levels, sample_rate: int, mono_channel: int | None
) -> tuple[str, ...]:
    """Whole sentences about the levels of (frames, channels) float32 samples; full scale is 1."""
    peak = float(levels.peaks.max())
    if peak == 0.0:
        return ("Silent: every sample is zero.",)
    notes: list[str] = []
    decibels = 20 * np.log10(peak)
    if decibels < QUIET_DB:
        notes.append(f"Very quiet: the peak is {-decibels:.0f} dB below full scale.")
    if peak > 1.001:
        notes.append(f"Louder than full scale: the peak is {peak:.3g} ({decibels:+.1f} dB); players will clip it.")
    silent = [str(index + 1) for index in np.flatnonzero(levels.peaks == 0.0)]
    if silent:
        which = f"channel {silent[0]} is" if len(silent) == 1 else f"channels {', '.join(silent)} are"
        notes.append(f"One-sided: {which} silent.")
    clipped, first = clipped_samples(channels, peak)
    if clipped:
        notes.append(f"Clipped: {clipped:,} samples sit at the peak in runs, the first at {first / sample_rate:.2f} s.")
    worst = int(np.argmax(np.abs(levels.means)))
    offset = float(levels.means[worst])
    # Five of a thousand is 46 dB below full scale: inaudible itself, but a cut of it clicks. It must also
    # stand out from the sound, or every loud clip would have one; and a tenth of a second is no mean.
    if len(channels) > sample_rate // 10 and abs(offset) > max(0.005, 0.1 * levels.powers[worst] ** 0.5):
        notes.append(f"DC offset: the samples lie around {offset:+.3f} of full scale instead of zero.")
    if mono_channel is not None:
        notes.append(
            f"Antiphase: the channels cancel when mixed, so the louder, channel {mono_channel + 1}, is analysed."
        )
    return tuple(notes)


def clipped_samples(channels: NDArray[np.float32], peak: float) -> tuple[int, int]:
    """How many samples sit in runs at the peak, and the first one's frame.

    Only near full scale: a quiet recording was not clipped by the file's format. Runs at block
    borders may be counted short; the count is for people.
    """
    if peak < 0.98:
        return 0, 0
    total, first = 0, len(channels)
    # Two steps of 16 bits below the peak: a clipped top is flat.
    level = np.float32(peak * (1 - 2 / 32768))
    for start in range(0, len(channels), _BLOCK):
        for index in range(channels.shape[1]):
            signal = channels[start : start + _BLOCK, index]
            for at_top in (signal >= level, signal <= -level):
                if not at_top.any():
                    continue
                edges = np.flatnonzero(np.diff(at_top, prepend=False, append=False))
                begins, ends = edges[::2], edges[1::2]
                long = ends - begins >= CLIPPED_RUN
                if long.any():
                    total += int((ends - begins)[long].sum())
                    first = min(first, start + int(begins[long][0]))
    return total, first
