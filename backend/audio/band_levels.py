"""Band levels over time: the numbers behind the spectrogram."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy.fft
from numpy.typing import NDArray

ROWS = 128
"""Mel rows of a spectrogram."""
FRAME_SECONDS = 0.043
"""Length of a spectrogram frame (2,048 samples at 48 kHz)."""
TOP_HZ = 24_000.0
"""The frequency axis ends at the Nyquist frequency, or here."""
SILENCE_DB = -160.0
"""Level given to digital silence."""


def mel(hertz: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Frequency in Hz on HTK's mel scale (2595 log10(1 + f / 700)), the one scale of the house.

    The axis of ``assets/stage/format.js`` and the filters of the pocket encoder have it too.
    """
    return np.asarray(2595.0 * np.log10(1.0 + np.asarray(hertz, dtype=np.float64) / 700.0))


@lru_cache(maxsize=8)
def mel_rows(frame: int, sample_rate: int, rows: int = ROWS) -> NDArray[np.float32]:
    """Weights that share the power of FFT bins out among mel rows.

    Triangles on the mel scale whose sum is one at every frequency up to the axis' end, integrated
    against a power density that is linear between bins. So the rows' powers add up to the signal's
    power, and rows narrower than a bin are not empty. Own choice: librosa's bank samples its triangles at
    the bins, so a flat spectrum shows stripes of -0.3 to +0.3 dB at 48 kHz, -1.3 to +1.2 dB at 16 kHz and -6.6 to
    +2.7 dB at 8 kHz, where these rows stay within 0.02 dB (``python -m tests.bench.bench_picture``).

    Returns
    -------
    np.ndarray, shape (frame // 2 + 1, rows), float32
    """
    bins, per_bin = frame // 2 + 1, 16
    step = sample_rate / frame
    fine = (np.arange(bins * per_bin) + 0.5) / per_bin - 0.5
    hertz = np.clip(fine, 0, bins - 1) * step
    top = min(sample_rate / 2, TOP_HZ)
    position = mel(hertz) / mel(top) * rows - 0.5
    inside = hertz <= top
    lower_row = np.floor(position).astype(int)
    upper_share = position - lower_row
    lower_bin = np.clip(np.floor(fine).astype(int), 0, bins - 2)
    upper_weight = np.clip(fine - lower_bin, 0.0, 1.0)
    weights = np.zeros((bins, rows))
    for row, share in ((lower_row, 1 - upper_share), (lower_row + 1, upper_share)):
        for index, weight in ((lower_bin, 1 - upper_weight), (lower_bin + 1, upper_weight)):
            np.add.at(weights, (index[inside], np.clip(row[inside], 0, rows - 1)), (share * weight)[inside] / per_bin)
    return np.asarray(weights, dtype=np.float32)


def frame_length(sample_rate: int) -> int:
    """Samples of a spectrogram frame: even, about 43 ms, and quick to transform."""
    return max(16, 2 * int(scipy.fft.next_fast_len(int(FRAME_SECONDS * sample_rate / 2), real=True)))


def band_levels(
    channels: NDArray[np.float32], sample_rate: int, columns: int, *, rows: int = ROWS, first: int = 0, last: int = 0
) -> NDArray[np.float32]:
    """Level of every mel row in every column.

    A column is the mean power of Hann frames spread over it (at most half a frame apart), averaged over
    channels: short sounds keep their energy in a long clip's coarse columns, and channels in antiphase
    are not invisible. Beyond the signal is silence.

    Parameters
    ----------
    channels : np.ndarray, shape (frames, channels), float32
    sample_rate : int
        Hz.
    columns, rows : int
    first, last : int
        Frames at either end that are context only, outside the columns.

    Returns
    -------
    np.ndarray, shape (columns, rows), float32
        dB; 0 is the power of a full-scale sine. The rows' powers add up to the signal's.
    """
    frame = frame_length(sample_rate)
    window = np.hanning(frame + 1)[:-1].astype(np.float32)
    share = mel_rows(frame, sample_rate, rows)
    span = len(channels) - first - last
    each = max(1, int(np.ceil(span / columns / (frame / 2))))
    centres = first + (np.arange(columns * each) + 0.5) * span / (columns * each)
    starts = np.round(centres).astype(np.int64)
    steps = np.arange(frame)
    # Twice for the two sides of the spectrum, twice more so that a full-scale sine is 0 dB.
    norm = 4.0 / (frame * float(np.sum(np.square(window, dtype=np.float64))))
    power = np.zeros((columns, rows), dtype=np.float32)
    block = max(1, 256 // each)
    for begin in range(0, columns, block):
        end = min(columns, begin + block)
        centre = starts[begin * each : end * each, None]
        # Only this block is copied: padding a whole ten-minute clip would double what it takes.
        around = _padded(channels, int(centre[0, 0]) - frame // 2, int(centre[-1, 0]) + frame)
        index = centre - centre[0, 0] + steps
        for channel in around.T:
            spectrum = scipy.fft.rfft(channel[index] * window, axis=1)
            density = np.square(spectrum.real) + np.square(spectrum.imag)
            density[:, 0] *= 0.5
            density[:, -1] *= 0.5
            power[begin:end] += (density @ share).reshape(end - begin, each, rows).mean(axis=1)
    power *= norm / channels.shape[1]
    levels = 10.0 * np.log10(np.maximum(power, 10.0 ** (SILENCE_DB / 10)))
    return np.asarray(np.maximum(levels, SILENCE_DB), dtype=np.float32)


def _padded(channels: NDArray[np.float32], start: int, stop: int) -> NDArray[np.float32]:
    """Frames ``start`` to ``stop``, with silence where the signal has none."""
    inside = channels[max(0, start) : max(0, stop)]
    return np.pad(inside, ((max(0, -start), max(0, stop - start - max(0, -start) - len(inside))), (0, 0)))
