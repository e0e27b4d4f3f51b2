"""Instruments rendered from two General MIDI sound fonts: melodies, chords and single drums."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backend.training.pocket.data_store import SAMPLE_RATE, ClipWriter, to_int16

SOUND_FONTS = {
    "fluid-soundfont-gm": ("usr/share/sounds/sf2/FluidR3_GM.sf2", "MIT"),
    "timgm6mb-soundfont": ("usr/share/sounds/sf2/TimGM6mb.sf2", "GPL-2"),
}
TAKES = 3
SECONDS = 4.0
PROGRAMS: dict[str, tuple[int, ...]] = {
    "Piano": (0, 1, 2, 3), "Electric piano": (4, 5), "Harpsichord": (6, 7), "Glockenspiel": (8, 9), "Music box": (10,),
    "Vibraphone": (11,), "Marimba, xylophone": (12, 13), "Tubular bells": (14,), "Zither": (15, 107),
    "Hammond organ": (16, 17, 18), "Organ": (19, 20), "Accordion": (21, 23), "Harmonica": (22,),
    "Acoustic guitar": (24, 25), "Electric guitar": (26, 27, 28, 29, 30), "Double bass": (32, 43),
    "Bass guitar": (33, 34, 35, 36, 37), "Violin, fiddle": (40, 41, 110), "Cello": (42,),
    "String section": (44, 48, 49),
    "Pizzicato": (45,), "Harp": (46,), "Timpani": (47,), "Choir": (52, 53), "Trumpet": (56, 59), "Trombone": (57,),
    "Tuba": (58,), "French horn": (60,), "Brass instrument": (61,), "Saxophone": (64, 65, 66, 67), "Oboe": (68, 69, 70),
    "Clarinet": (71,), "Flute": (72, 73, 74, 75), "Whistling": (78,), "Synthesizer": (80, 81, 88, 89, 90, 95),
    "Sitar": (104,), "Banjo": (105,), "Kalimba": (108,), "Bagpipes": (109,), "Steelpan": (114,), "Wood block": (115,),
}  # fmt: skip
"""General MIDI programs that sound like what they are named for, by concept."""
DRUMS: dict[str, tuple[int, ...]] = {
    "Bass drum": (35, 36), "Rimshot": (37,), "Snare drum": (38, 40), "Clapping": (39,),
    "Drum": (41, 43, 45, 47, 48, 50),
    "Hi-hat": (42, 44, 46), "Cymbal": (49, 51, 52, 55, 57, 59), "Tambourine": (54,), "Cowbell": (56, 67, 68),
    "Conga": (60, 61, 62, 63, 64), "Maraca": (69, 70), "Whistle": (71, 72), "Wood block": (75, 76, 77),
    "Ding": (80, 81),
}  # fmt: skip
SCALE = (0, 2, 4, 5, 7, 9, 11, 12)


def render_instruments(root: Path, target: Path, seed: int) -> None:
    """Write a set of rendered instruments from the sound fonts unpacked below ``root``."""
    import tinysoundfont

    rng = np.random.default_rng(seed)
    with ClipWriter(target) as writer:
        for package, (name, licence) in SOUND_FONTS.items():
            synth = tinysoundfont.Synth(samplerate=SAMPLE_RATE)
            font = synth.sfload(str(root / package / name))
            for concept, programs in PROGRAMS.items():
                for program in programs:
                    for take in range(TAKES):
                        synth.program_select(0, font, 0, program)
                        signal = _render(synth, *_melody(rng, concept), channel=0)
                        _add(writer, signal, concept, f"{package}/{program}-{take}", package, licence)
            for concept, keys in DRUMS.items():
                for key in keys:
                    synth.program_select(9, font, 128, 0, True)
                    signal = _render(synth, *_beats(rng, key), channel=9)
                    _add(writer, signal, concept, f"{package}/drum-{key}", package, licence)


def _melody(rng: np.random.Generator, concept: str) -> tuple[list[tuple[float, int, int, float]], float]:
    """Notes as (start in s, key, velocity, length in s) and the length of the whole: a melody or a row of chords."""
    low = 28 if concept in ("Double bass", "Bass guitar", "Tuba") else 50
    root = int(rng.integers(low, low + 22))
    step = float(rng.choice((0.18, 0.4, 0.9)))
    chords = bool(rng.random() < 0.3)
    notes = []
    for start in np.arange(0.02, SECONDS - 0.8, step):
        keys = (root, root + 4, root + 7) if chords else (root + int(rng.choice(SCALE)),)
        notes += [(float(start), key, int(rng.integers(70, 120)), 0.9 * step) for key in keys]
        root += int(rng.choice((-5, -2, 0, 2, 5))) if chords else 0
    return notes, SECONDS


def _beats(rng: np.random.Generator, key: int) -> tuple[list[tuple[float, int, int, float]], float]:
    """One to five strokes of one drum."""
    step = float(rng.choice((0.25, 0.5, 0.8)))
    count = int(rng.integers(1, 6))
    return [(0.02 + k * step, key, int(rng.integers(70, 127)), 0.1) for k in range(count)], count * step + 0.8


def _render(
    synth: object, notes: list[tuple[float, int, int, float]], seconds: float, channel: int
) -> NDArray[np.float32]:
    """Play notes on a synthesiser: (samples,) float32 mono; a second of silence lets the last note die away."""
    events: list[tuple[float, Callable[..., None], tuple[int, ...]]] = []
    for start, key, velocity, length in notes:
        events.append((start, synth.noteon, (channel, key, velocity)))  # type: ignore[attr-defined]
        events.append((start + length, synth.noteoff, (channel, key)))  # type: ignore[attr-defined]
    pieces, done = [], 0
    for time, action, arguments in [*sorted(events, key=lambda event: event[0]), (seconds, _nothing, ())]:
        samples = int(time * SAMPLE_RATE) - done
        if samples > 0:
            block = np.frombuffer(bytes(synth.generate(samples)), np.float32)  # type: ignore[attr-defined]
            pieces.append(block.reshape(-1, 2).mean(1))
            done += samples
        action(*arguments)
    synth.generate(SAMPLE_RATE)  # type: ignore[attr-defined]
    return np.concatenate(pieces)


def _add(writer: ClipWriter, signal: NDArray[np.float32], concept: str, path: str, package: str, licence: str) -> None:
    if np.isfinite(signal).all() and np.abs(signal).max(initial=0.0) > 1e-4:
        writer.add(
            to_int16(signal), path=path, package=package, licence=licence, label=concept, kind="instrument",
            group=path, start=0.0,
        )  # fmt: skip


def _nothing() -> None:
    """The end of a rendering."""
