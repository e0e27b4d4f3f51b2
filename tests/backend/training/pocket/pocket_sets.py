"""Tiny made-up clip sets for the tests of the pocket encoder's data and training code."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from backend.training.pocket.captions import caption_bank
from backend.training.pocket.data_sets import write_mels
from backend.training.pocket.data_store import CLASSES, FEATURES, SAMPLE_RATE, ClipSet, ClipWriter, index_of, to_int16

TABLE_HEAD = ("index", "mid", "display_name")


def class_list(folder: Path) -> tuple[str, ...]:
    """Write a class map of the right size from the bank's own AudioSet names, and return the names."""
    bank = caption_bank()
    names = tuple(name for name in bank.phrases if name in bank.audioset)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "yamnet_class_map.csv").open("w", newline="", encoding="utf-8") as table:
        rows = csv.writer(table)
        rows.writerow(TABLE_HEAD)
        rows.writerows((number, f"/m/{number}", name) for number, name in enumerate(names))
    return names


def tone(seconds: float, frequency: float, rng: np.random.Generator) -> np.ndarray:
    """A noisy decaying tone, (samples,) int16."""
    time = np.arange(int(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    signal = np.exp(-time) * np.sin(2 * np.pi * frequency * time) + 0.05 * rng.standard_normal(len(time))
    return to_int16(signal)


def write_real(folder: Path, classes: dict[str, int], seed: int = 0, seconds: float = 1.5) -> ClipSet:
    """A set of 'recordings': ``classes`` maps a class of the label table to its number of source recordings."""
    rng = np.random.default_rng(seed)
    with ClipWriter(folder) as writer:
        for name, sources in classes.items():
            for source in range(sources):
                for cut in range(2):
                    writer.add(
                        tone(seconds, 200 + 50 * len(name) + 10 * source, rng),
                        path=f"clips/{name}{source}-{cut}.ogg",
                        package=f"repository-{source % 2}",
                        licence="CC0-1.0",
                        label=f"{name}: the sound of a {name.replace('_', ' ')}",
                        kind="real",
                        group=f"{name}:{source}",
                        start=float(cut),
                    )
    return ClipSet(folder)


def pretend_taught(clips: ClipSet, names: tuple[str, ...], heard: str = "Bark", score: float = 0.8) -> None:
    """Write mels, and scores and features as a teacher that hears one class everywhere."""
    write_mels(clips)
    counts = [max(1, row.samples // 15_600) for row in clips.rows]
    scores = np.full((sum(counts), CLASSES), 0.01, np.float16)
    scores[:, names.index(heard)] = score
    scores.tofile(clips.directory / "scores.f16")
    np.random.default_rng(1).random((sum(counts), FEATURES)).astype(np.float16).tofile(clips.directory / "features.f16")
    np.save(clips.directory / "patches.npy", index_of(counts))
