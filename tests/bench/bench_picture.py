"""How long a picture takes: ``python -m tests.bench.bench_picture``.

The floor is the bare Fourier transform of the same frames; the alternative is librosa's mel spectrogram
and its decibels, which is only the spectrogram, neither bounded in size nor with a waveform. What a flat
spectrum looks like in the rows of either is printed beside it.
"""

from __future__ import annotations

import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import scipy.fft
import soundfile
from numpy.typing import NDArray

from backend.audio.band_levels import ROWS, frame_length, mel, mel_rows
from backend.audio.spectrogram import detail, packed, picture_of
from tests.bench.timing import median_seconds, row

RATE = 48_000


def sound(seconds: float) -> NDArray[np.float32]:
    """Noise, (frames, 1)."""
    return (0.1 * np.random.default_rng(0).standard_normal((int(seconds * RATE), 1), dtype=np.float32)).astype(
        np.float32
    )


def bare_transform(channels: NDArray[np.float32]) -> None:
    """The FFT of half-overlapping frames, in blocks, and nothing else."""
    frame = frame_length(RATE)
    frames = np.lib.stride_tricks.sliding_window_view(channels[:, 0], frame)[:: frame // 2]
    for begin in range(0, len(frames), 256):
        scipy.fft.rfft(frames[begin : begin + 256], axis=1)


def librosa_decibels(channels: NDArray[np.float32]) -> NDArray[np.float32]:
    """librosa's mel spectrogram of the same frames, in dB."""
    import librosa

    frame = frame_length(RATE)
    power = librosa.feature.melspectrogram(y=channels[:, 0], sr=RATE, n_fft=frame, hop_length=frame // 2, n_mels=ROWS)
    return np.asarray(librosa.power_to_db(power))


def stripes(weights: NDArray[np.float32], edges: NDArray[np.float64], bin_hertz: float) -> tuple[float, float]:
    """Least and greatest level of a flat spectrum's inner rows in dB, (bins, rows); 0 is what its width deserves."""
    widths = (edges[2:] - edges[:-2]) / 2 / bin_hertz
    with np.errstate(divide="ignore"):
        levels = 10 * np.log10(weights.sum(axis=0) / widths)[1:-1]
    return float(levels.min()), float(levels.max())


def flatness(rate: int) -> None:
    """Print the stripes of librosa's filters and of ours."""
    import librosa

    frame, top = frame_length(rate), float(mel(rate / 2))
    theirs = librosa.filters.mel(sr=rate, n_fft=frame, n_mels=ROWS, htk=True, norm=None).T
    for name, weights, places in (
        ("librosa", theirs, np.linspace(0, top, ROWS + 2)),
        ("ours", mel_rows(frame, rate), (np.arange(ROWS + 2) - 0.5) * top / ROWS),
    ):
        low, high = stripes(weights, 700 * (10 ** (places / 2595) - 1), rate / frame)
        print(f"  a flat spectrum at {rate:,} Hz in the rows of {name}: {low:+.2f} to {high:+.2f} dB")


def added_megabytes(channels: NDArray[np.float32]) -> float:
    """Peak of what drawing allocates beside the clip itself."""
    tracemalloc.start()
    picture_of(channels, RATE)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def measure(seconds: float, repeats: int) -> None:
    """Print one clip length's lines."""
    channels = sound(seconds)
    floor = median_seconds(lambda: bare_transform(channels), repeats)
    print(f"{seconds:.0f} s at 48 kHz")
    row("  bare transform, half-overlapping frames", floor)
    row("  librosa mel spectrogram in dB", median_seconds(lambda: librosa_decibels(channels), repeats), floor, "bare")
    drawn = median_seconds(lambda: picture_of(channels, RATE), repeats)
    row("  picture (waveform and spectrogram)", drawn, floor, "bare")
    levels = picture_of(channels, RATE).spectrogram.levels
    print(f"  spectrogram of {levels.shape} levels, {len(packed(levels)) / 1000:.0f} kB as sent; ", end="")
    print(f"drawing it allocates {added_megabytes(channels):.0f} MB beside the clip's {channels.nbytes / 1e6:.0f} MB")


def main() -> None:
    """Print the table."""
    for rate in (8_000, 16_000, 48_000):
        flatness(rate)
    measure(10, 15)
    measure(600, 3)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.wav"
        soundfile.write(path, sound(600), RATE, subtype="FLOAT")
        like = (-100.0, 0.0, 1.0)
        row("finer picture of 10 s out of 600 s", median_seconds(lambda: detail(path, 300, 310, 1000, like=like), 9))


if __name__ == "__main__":
    main()
