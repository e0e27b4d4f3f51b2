"""The Listen path on pocket beside its floors: the bare forward pass and the bare decode.

Goals (two cores): a 10 s clip at 48 kHz, decode + 17 windows + two concepts + picture under 0.5 s; a
new query on a known clip under 50 ms; a 10-minute clip (1,197 windows) under 15 s and 1.5 GB.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import soundfile

from backend.audio import Span, load_clip, resampled, sliding_windows
from backend.audio.spectrogram import picture_of
from backend.encoders.base import load_encoder
from backend.encoders.cached import EmbeddingCache, text_embeddings
from backend.encoders.prompts import background_vocabulary, concept_prompt
from backend.evidence.control_cuts import cut_and_compare
from backend.evidence.localization import localize
from backend.negation import Concept
from tests.bench.timing import in_child, median_seconds, row

CONCEPTS = (Concept("dog barking", "present"), Concept("rain", "absent"))


def _noise_file(folder: Path, seconds: float) -> Path:
    # Ten minutes of WAV would be refused as too large.
    path = folder / f"noise-{seconds:g}.{'wav' if seconds < 60 else 'flac'}"
    rng = np.random.default_rng(0)
    soundfile.write(
        path, rng.normal(scale=0.1, size=round(seconds * 48_000)).astype(np.float32), 48_000, subtype="PCM_16"
    )
    return path


def _memory() -> EmbeddingCache:
    return EmbeddingCache(None, memory_bytes=1 << 28, disk_bytes=0)


def ten_minutes() -> None:
    """Decode and localise a 10-minute clip; run in a child so that its peak memory is its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = _noise_file(Path(folder), 600.0)
        start = time.perf_counter()
        found = localize(load_encoder("pocket"), load_clip(path), CONCEPTS, 2.0, cache=_memory())
        print(f"  {len(found.windows)} windows, decode and localise alone: {time.perf_counter() - start:.2f} s")


def main() -> None:
    """Print every figure with its floor."""
    encoder = load_encoder("pocket")
    warm = _memory()
    text_embeddings(encoder, [concept_prompt(sound) for sound in background_vocabulary()], cache=warm)
    with tempfile.TemporaryDirectory() as folder:
        path = _noise_file(Path(folder), 10.0)
        clip = load_clip(path)
        windows = sliding_windows(clip.duration, 2.0)
        signal = resampled(clip, encoder.sample_rate)
        read = median_seconds(lambda: soundfile.read(path, dtype="float32"))
        forward = median_seconds(lambda: encoder.embed_spans(signal, windows.starts, windows.length))
        row("floor: bare soundfile.read of 10 s at 48 kHz", read)
        row("floor: bare forward pass, 17 windows", forward)
        decode = median_seconds(lambda: load_clip(path))
        row("decode in a child process, with every check", decode, read, "bare read")

        def whole() -> None:
            # Only the background's texts are kept: audio is embedded anew each time.
            cache = _memory()
            for key, vector in warm._memory._values.items():
                cache._memory.put(key, vector)
            fresh = load_clip(path)
            localize(encoder, fresh, CONCEPTS, 2.0, cache=cache)
            picture_of(fresh.channels, fresh.sample_rate)

        row(
            "decode + 17 windows + 2 concepts + picture (goal 500)",
            median_seconds(whole),
            decode + forward,
            "decode + forward",
        )
        known = _memory()
        localize(encoder, clip, CONCEPTS, 2.0, cache=known)
        numbers = iter(range(10_000))
        query = median_seconds(
            lambda: localize(encoder, clip, (Concept(f"sound number {next(numbers)}", "present"),), 2.0, cache=known)
        )
        row(
            "a new query on a known clip (goal 50)",
            query,
            median_seconds(lambda: encoder.embed_text(["a dog"])),
            "bare text",
        )
        cut = median_seconds(
            lambda: cut_and_compare(encoder, clip, CONCEPTS, 2.0, Span(3.0, 5.0), 40.0, cache=known), repeats=3
        )
        row("cut + 20 random cuts + blank", cut, 22 * forward, "22 forward passes")
    seconds, peak = in_child(ten_minutes)
    row("10-minute clip in a fresh process, imports included (goal 15 s)", seconds)
    print(f"peak memory of that process: {peak:.0f} MB (goal 1500)")


if __name__ == "__main__":
    main()
