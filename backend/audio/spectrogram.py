"""What the ear hears, as a picture: waveform peaks and a mel spectrogram in dB.

Everything drawn on the sound stage is computed here, once, at a bounded size: a ten-minute clip makes
no larger a picture than a ten-second one, and a zoomed view asks for the part it shows (`detail`).
"""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backend.audio.band_levels import SILENCE_DB, TOP_HZ, band_levels, frame_length
from backend.errors import InputError

MAX_COLUMNS = 2048
"""Most columns of a spectrogram; a finer picture is asked for by `detail`."""
MAX_BINS = 8192
"""Most bins of a waveform."""
COLUMN_SECONDS = 0.010
"""Finest column of a whole clip's spectrogram."""
STEPS = 255
"""Level steps between the floor and the ceiling of a spectrogram."""


@dataclass(frozen=True, eq=False)
class Peaks:
    """The waveform's envelope.

    Attributes
    ----------
    low, high : np.ndarray, shape (bins,), int16
        Least and greatest sample of each bin over all channels, in units of ``scale / 32767``, rounded
        outwards so that no peak is lost. Bin i of n covers the i-th n-th of the duration.
    scale : float
        Amplitude that 32767 stands for: 1.0, or the peak of a clip that goes beyond full scale.
    """

    low: NDArray[np.int16]
    high: NDArray[np.int16]
    scale: float


@dataclass(frozen=True, eq=False)
class Spectrogram:
    """Band levels over time.

    Attributes
    ----------
    levels : np.ndarray, shape (columns, rows), uint8
        0 is ``db_min`` or less, 255 is ``db_max``. Row 0 is the lowest frequency; column i of n covers
        the i-th n-th of the duration.
    db_min, db_max : float
        Range of the levels in dB; 0 dB is a full-scale sine.
    f_hi : float
        Upper end of the frequency axis in Hz; it starts at 0 Hz and its rows are equally wide on the
        mel scale 2595 log10(1 + f / 700).
    """

    levels: NDArray[np.uint8]
    db_min: float
    db_max: float
    f_hi: float
    f_lo: float = 0.0
    scale: str = "mel"


@dataclass(frozen=True, eq=False)
class Picture:
    """Waveform and spectrogram of one signal, from ``start`` to ``end`` seconds of its clip."""

    peaks: Peaks
    spectrogram: Spectrogram
    start: float
    end: float


def peaks_of(channels: NDArray[np.float32], bins: int = MAX_BINS, *, scale: float | None = None) -> Peaks:
    """The envelope of a signal over all its channels.

    Parameters
    ----------
    channels : np.ndarray, shape (frames, channels), float32
        At least one frame.
    bins : int
        Most bins; a signal with fewer frames has one bin a frame.
    scale : float, optional
        Use this amplitude for 32767, so that two envelopes can be compared.
    """
    frames = len(channels)
    count = min(bins, frames)
    edges = np.arange(count) * frames // count
    low = np.minimum.reduceat(channels, edges, axis=0).min(axis=1).astype(np.float64)
    high = np.maximum.reduceat(channels, edges, axis=0).max(axis=1).astype(np.float64)
    if scale is None:
        scale = max(1.0, float(-low.min()), float(high.max()))
    unit = 32767.0 / scale
    return Peaks(
        np.clip(np.floor(low * unit), -32767, 32767).astype(np.int16),
        np.clip(np.ceil(high * unit), -32767, 32767).astype(np.int16),
        scale,
    )


def level_range(levels: NDArray[np.float32]) -> tuple[float, float]:
    """The dB range worth showing: from the background's level to the loudest cell.

    The ceiling is the loudest cell, rounded up to 5 dB; the floor is the 5th percentile of what is not
    digital silence, 60 to 100 dB below it (own choice: a sound 40 dB down stays in plain sight).

    Parameters
    ----------
    levels : np.ndarray, float32
        dB, from `band_levels`.
    """
    heard = levels[levels > SILENCE_DB]
    if not heard.size:
        return -100.0, 0.0
    ceiling = 5.0 * float(np.ceil(float(heard.max()) / 5))
    floor = 5.0 * float(np.floor(float(np.percentile(heard[:: max(1, heard.size // 50_000)], 5)) / 5))
    return min(max(floor, ceiling - 100.0), ceiling - 60.0), ceiling


def quantised(levels: NDArray[np.float32], db_min: float, db_max: float) -> NDArray[np.uint8]:
    """Levels in dB as 0 (the floor or below) to 255 (the ceiling), uint8 of the same shape."""
    steps = np.rint((levels - db_min) * (STEPS / (db_max - db_min)))
    return np.clip(steps, 0, STEPS).astype(np.uint8)


def picture_of(channels: NDArray[np.float32], sample_rate: int, *, like: Picture | None = None) -> Picture:
    """Waveform and spectrogram of a signal, at a size bounded whatever its length.

    Parameters
    ----------
    channels : np.ndarray, shape (frames, channels), float32
    sample_rate : int
        Hz.
    like : Picture, optional
        Take the amplitude scale and the dB range from this picture: a cut is drawn on the scales of
        the original, so that what is quieter looks quieter.

    Raises
    ------
    InputError
        There are no samples.
    """
    if not channels.size:
        raise InputError("The clip holds no samples, so there is nothing to draw; choose another.", concerns="file")
    columns = int(np.clip(np.ceil(len(channels) / sample_rate / COLUMN_SECONDS), 1, MAX_COLUMNS))
    levels = band_levels(channels, sample_rate, columns)
    if like is None:
        db_min, db_max = level_range(levels)
        scale = None
    else:
        db_min, db_max, scale = like.spectrogram.db_min, like.spectrogram.db_max, like.peaks.scale
    top = min(sample_rate / 2, TOP_HZ)
    shown = Spectrogram(quantised(levels, db_min, db_max), db_min, db_max, top)
    return Picture(peaks_of(channels, scale=scale), shown, 0.0, len(channels) / sample_rate)


def detail(path: str | Path, start: float, end: float, columns: int, *, like: tuple[float, float, float]) -> Picture:
    """A finer picture of one part of an audio file, read from disk without loading the rest.

    Parameters
    ----------
    path : str or Path
        A file that libsndfile reads, one this program wrote itself.
    start, end : float
        Seconds; the part is clipped to the file.
    columns : int
        Columns of the spectrogram, and a quarter of the waveform's bins.
    like : tuple of float
        ``(db_min, db_max, amplitude scale)`` of the whole clip's picture.

    Raises
    ------
    InputError
        The part lies outside the file.
    """
    import soundfile

    with soundfile.SoundFile(str(path)) as file:
        rate, frames = file.samplerate, file.frames
        begin, stop = max(0, int(start * rate)), min(frames, int(np.ceil(end * rate)))
        if begin >= stop:
            raise InputError(
                f"The part {start:.2f}-{end:.2f} s lies outside the clip of {frames / rate:.2f} s; choose one inside."
            )
        margin = frame_length(rate) // 2
        first, last = min(margin, begin), min(margin, frames - stop)
        file.seek(begin - first)
        channels = file.read(stop - begin + first + last, dtype="float32", always_2d=True)
    db_min, db_max, scale = like
    levels = band_levels(channels, rate, columns, first=first, last=last)
    top = min(rate / 2, TOP_HZ)
    peaks = peaks_of(channels[first : len(channels) - last], 4 * columns, scale=scale)
    shown = Spectrogram(quantised(levels, db_min, db_max), db_min, db_max, top)
    return Picture(peaks, shown, begin / rate, stop / rate)


def changed_columns(original: Picture, cut: Picture) -> tuple[int, int]:
    """First and one-past-last spectrogram column in which two pictures of equal shape differ.

    ``(0, 0)`` when none does: then only this range of a cut's picture has to travel.
    """
    differs = np.flatnonzero((original.spectrogram.levels != cut.spectrogram.levels).any(axis=1))
    return (int(differs[0]), int(differs[-1]) + 1) if differs.size else (0, 0)


def colours() -> NDArray[np.uint8]:
    """matplotlib's magma, shape (256, 3), uint8: even steps of level look even, also to the colour-blind."""
    from matplotlib import colormaps

    table = colormaps["magma"](np.arange(256))[:, :3]
    return np.asarray(np.rint(table * 255), dtype=np.uint8)


def packed_peaks(peaks: Peaks) -> str:
    """An envelope as `packed` pairs of least and greatest sample."""
    return packed(np.stack([peaks.low, peaks.high], axis=1))


def packed(array: NDArray[np.uint8] | NDArray[np.int16]) -> str:
    """An array's little-endian bytes, deflated (zlib), as base64 text."""
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return base64.b64encode(zlib.compress(little.tobytes(), 6)).decode("ascii")
