"""The mask of a gate over frequency: one band, cut out sharply enough to be lowered by 100 dB."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.checks import is_number, shown
from backend.errors import InputError

FRAME_SECONDS = 0.0427
"""The STFT frame whose bins the band's ramps are measured in: 2,048 samples at 48 kHz (own choice)."""
NARROWEST_BINS = 3
"""A band has a ramp at either end and something between them."""

Band = tuple[float, float]


def bin_hertz(sample_rate: int) -> float:
    """Width of one STFT bin in Hz, for the power-of-two frame nearest to 43 ms (23.4 Hz at 48 kHz)."""
    return float(sample_rate / 2 ** round(np.log2(FRAME_SECONDS * sample_rate)))


def checked_band(band: tuple[object, object] | None, sample_rate: int | None = None) -> Band | None:
    """The band as (low, high) in Hz within 0 and the Nyquist frequency; None when it is all there is.

    Parameters
    ----------
    band : tuple of 2, or None
        An upper end above the Nyquist frequency means the Nyquist frequency.
    sample_rate : int, optional
        Without it, as in a link whose sound is not opened yet, only low and high are compared.

    Raises
    ------
    InputError
        Not two finite numbers, not low < high, outside the spectrum, or narrower than three bins.
    """
    if band is None:
        return None
    low, high = band
    if not (is_number(low) and is_number(high) and 0 <= low < high):
        raise InputError(f"The band {shown(low)} to {shown(high)} Hz is not one; it needs 0 <= low < high.")
    low, high = float(low), float(high)
    if sample_rate is None:
        return low, high
    nyquist = sample_rate / 2
    if low >= nyquist:
        raise InputError(
            f"The band begins at {low:g} Hz, but a clip of {sample_rate:,} Hz holds nothing above {nyquist:g} Hz. "
            "Choose a lower one."
        )
    high = min(high, nyquist)
    if low == 0 and high == nyquist:
        return None
    narrowest = NARROWEST_BINS * bin_hertz(sample_rate)
    if high - low < narrowest:
        raise InputError(f"The band {low:g} to {high:g} Hz is too narrow; make it at least {narrowest:.0f} Hz wide.")
    return low, high


@lru_cache(maxsize=8)
def band_filter(band: Band, sample_rate: int, depth_db: float) -> NDArray[np.float64]:
    """The mask over frequency as a symmetric filter of odd length, (taps,) float64, delay (taps - 1) / 2.

    Its response is 1 from one bin above ``band[0]`` to one bin below ``band[1]``, 0 outside the band,
    and rises smoothly between; both hold to 40 dB below the depth (at least to -120 dB), so that what
    remains in the band IS the depth. A ramp of one bin and such an accuracy need about nine frames of
    filter (Kaiser's formula), 0.4 s: its far taps are as small as that accuracy.
    """
    from scipy.signal import firwin, kaiser_beta

    accuracy_db = max(120.0, depth_db + 40.0)
    width = bin_hertz(sample_rate)
    taps = int(np.ceil((accuracy_db - 7.95) / (2.285 * 2 * np.pi * width / sample_rate))) // 2 * 2 + 1
    low, high = band
    edges = [low + width / 2] * (low > 0) + [high - width / 2] * (high < sample_rate / 2)
    coefficients: NDArray[np.float64] = firwin(
        taps, edges, window=("kaiser", kaiser_beta(accuracy_db)), pass_zero=low == 0, fs=sample_rate, scale=False
    )
    coefficients.flags.writeable = False
    return coefficients


def band_component(
    samples: NDArray[Any], sample_range: tuple[int, int], coefficients: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What the filter passes of a region, float64 of the region's shape; it listens beyond the region's edges."""
    from scipy.signal import oaconvolve

    first, last = sample_range
    reach = len(coefficients) // 2
    before, after = max(0, first - reach), min(len(samples), last + reach)
    padding = [(reach - (first - before), reach - (after - last))] + [(0, 0)] * (samples.ndim - 1)
    heard = np.pad(samples[before:after].astype(np.float64), padding)
    shaped = coefficients.reshape(-1, *[1] * (samples.ndim - 1))
    return np.asarray(oaconvolve(heard, shaped, mode="valid", axes=0))
