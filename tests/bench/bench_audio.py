"""Decoding beside the bare libsndfile, and the cut beside a plain STFT round trip.

The child process costs its start (a tenth of a second: Python, numpy, libsndfile); what is bought
with it is that no file can hang, crash or fill the application. ``python -m tests.bench.bench_audio``
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import scipy.signal
import soundfile

from backend.audio import Span, load_clip, save_wav
from backend.evidence.cut import gate, gated_clip
from tests.bench.timing import in_child, median_seconds, row

RATE = 48_000


def noise(seconds: float, channels: int) -> np.ndarray:
    """Noise as 16-bit integers, (frames, channels)."""
    drawn = np.random.default_rng(0).standard_normal((round(seconds * RATE), channels), dtype=np.float32)
    return (drawn * 3000).astype(np.int16)


def stft_round_trip(samples: np.ndarray) -> np.ndarray:
    """The textbook gate of (frames, channels) samples: STFT, gain on the frames of the region, inverse."""
    _, times, cells = scipy.signal.stft(samples.T, RATE, nperseg=2048, noverlap=1536)
    cells[..., (times >= 4) & (times < 6)] *= 0.01
    return np.asarray(scipy.signal.istft(cells, RATE, nperseg=2048, noverlap=1536)[1].T)


def decoding(folder: Path) -> None:
    """Ten seconds in several formats, each beside soundfile.read of the same file or, for ffmpeg, of the WAV."""
    wav = folder / "ten.wav"
    soundfile.write(wav, noise(10, 2), RATE)
    bare_start = median_seconds(
        lambda: subprocess.run([sys.executable, "-I", "-c", "import numpy, soundfile"], check=True)
    )
    row("floor: starting Python with numpy and soundfile", bare_start)
    for name in ("ten.wav", "ten.flac", "ten.ogg", "ten.mp3"):
        path = folder / name
        soundfile.write(path, noise(10, 2), RATE)
        read = median_seconds(partial(soundfile.read, path, dtype="float32"))
        row(f"floor: bare soundfile.read of {name}, 10 s stereo", read)
        row(f"load_clip of {name}", median_seconds(partial(load_clip, path)), bare_start + read, "start + bare read")
    if shutil.which("ffmpeg"):
        for name, options in (("ten.m4a", ["-c:a", "aac"]), ("ten.webm", ["-c:a", "libopus"])):
            path = folder / name
            subprocess.run(["ffmpeg", "-v", "error", "-i", wav, *options, path], check=True)
            command = ["ffmpeg", "-v", "error", "-i", path, "-f", "f32le", "-y", "/dev/null"]
            bare = median_seconds(partial(subprocess.run, command, check=True))
            row(f"floor: bare ffmpeg of {name}", bare)
            row(f"load_clip of {name}", median_seconds(partial(load_clip, path)), bare_start + bare, "start + bare")


LONG = Path(tempfile.gettempdir()) / "unheard-bench-long.flac"


def write_long() -> None:
    """Ten minutes of stereo; each of these three runs in a child of its own, so that its peak memory is its own."""
    quiet = noise(600, 2)
    quiet //= 100
    soundfile.write(LONG, quiet, RATE)


def load_long() -> None:
    """Load the ten-minute file."""
    load_clip(LONG)


def read_long() -> None:
    """The same file through soundfile alone."""
    soundfile.read(LONG, dtype="float32")


def long_recording() -> None:
    """Ten minutes of 48 kHz stereo: time and peak memory."""
    try:
        in_child(write_long)
        bare, bare_memory = in_child(read_long)
        seconds, memory = in_child(load_long)
    finally:
        LONG.unlink()
    row(f"floor: bare soundfile.read of 10 min stereo FLAC ({bare_memory:,.0f} MB peak)", bare)
    row(f"load_clip of 10 min stereo FLAC ({memory:,.0f} MB peak)", seconds, bare, "bare read")


def cutting(folder: Path) -> None:
    """A two-second cut of ten seconds of stereo, beside the STFT gate that changes what is outside."""
    path = folder / "cut.wav"
    soundfile.write(path, noise(10, 2), RATE)
    clip = load_clip(path)
    span = Span(4, 6)
    plain = median_seconds(lambda: stft_round_trip(clip.channels))
    row("alternative: scipy STFT, mask, inverse STFT, 10 s stereo", plain)
    row("gate, full band", median_seconds(lambda: gate(clip.channels, RATE, span, 40)), plain, "STFT gate")
    banded = median_seconds(lambda: gate(clip.channels, RATE, span, 40, (500, 2000)))
    row("gate, 500 to 2,000 Hz at -40 dB", banded, plain, "STFT gate")
    banded = median_seconds(lambda: gate(clip.channels, RATE, span, 100, (500, 2000)))
    row("gate, 500 to 2,000 Hz at -100 dB", banded, plain, "STFT gate")
    row("gated_clip with its digest and mono", median_seconds(lambda: gated_clip(clip, span, 40)), plain, "STFT gate")
    floats = median_seconds(lambda: soundfile.write(folder / "bare.wav", clip.channels, RATE, subtype="FLOAT"))
    row("save_wav, 16 bits", median_seconds(lambda: save_wav(clip, folder / "saved.wav")), floats, "soundfile.write")


def main() -> None:
    """Print every figure beside its floor or its alternative."""
    with tempfile.TemporaryDirectory() as folder:
        decoding(Path(folder))
        cutting(Path(folder))
    long_recording()


if __name__ == "__main__":
    main()
