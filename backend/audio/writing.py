"""Samples to a WAV file, exactly: what was an integer in a file comes back as the same integer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.errors import InputError

WAV_FORMATS = ("PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ALAW", "ULAW")
"""Sample formats that can be written without changing samples that came from them."""

_BITS = {"PCM_U8": 8, "PCM_16": 16, "PCM_24": 24, "PCM_32": 32, "ALAW": 16, "ULAW": 16}


def write_wav(path: str | Path, samples: NDArray[Any], sample_rate: int, sample_format: str = "FLOAT") -> None:
    """Write a WAV file. Nothing is dithered or normalised, and equal input gives equal bytes.

    Parameters
    ----------
    path : str or Path
    samples : np.ndarray, shape (frames,) or (frames, channels), float32 or float64
        Full scale is 1.0. Integer formats round to the nearest step and clip at full scale.
    sample_rate : int
        In Hz.
    sample_format : str
        One of WAV_FORMATS (soundfile subtype names).

    Raises
    ------
    InputError
        The format is not one of WAV_FORMATS, a sample is not finite, or the path cannot be written.
    """
    if sample_format not in WAV_FORMATS:
        raise InputError(f"WAV cannot be written as {sample_format!r}; choose one of {', '.join(WAV_FORMATS)}.")
    samples = samples[:, np.newaxis] if samples.ndim == 1 else samples
    if not np.isfinite(samples).all():
        raise InputError("The samples hold NaN or infinity and were not written.")
    try:
        if sample_format in ("FLOAT", "DOUBLE"):
            _write_floats(path, samples, sample_rate, sample_format)
        else:
            _write_integers(path, samples, sample_rate, sample_format)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{path} cannot be written: {reason}. Choose another file name or folder.") from None


def _write_floats(path: str | Path, samples: NDArray[Any], sample_rate: int, sample_format: str) -> None:
    # libsndfile stamps the time into the PEAK chunk of a float WAV: the same samples would give other bytes
    # a second later. scipy writes no such chunk.
    from scipy.io import wavfile

    wavfile.write(str(path), sample_rate, samples.astype(np.float32 if sample_format == "FLOAT" else np.float64))


def _write_integers(path: str | Path, samples: NDArray[Any], sample_rate: int, sample_format: str) -> None:
    import soundfile

    bits = _BITS[sample_format]
    # libsndfile itself scales floats by 2^(bits-1) - 1 when writing but by 2^(bits-1) when reading, which
    # changes loud samples by one; integers pass through it untouched.
    full = 2.0 ** (bits - 1)
    scaled = np.clip(np.rint(samples * np.float64(full)), -full, full - 1)
    if bits <= 16:
        integers = (scaled * 2 ** (16 - bits)).astype(np.int16)
    else:
        integers = (scaled * 2 ** (32 - bits)).astype(np.int32)
    with open(path, "wb") as file:
        soundfile.write(file, integers, sample_rate, format="WAV", subtype=sample_format)
