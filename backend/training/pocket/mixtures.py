"""Mixtures rendered as waveforms, so that the teacher can be run on what two sounds together really are.

Three kinds: an event over a quieter or equally loud background, two equally loud events at once, and two in turn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backend.training.pocket.captions import caption_bank, joined
from backend.training.pocket.data_labels import EVERYDAY, concepts_of
from backend.training.pocket.data_split import is_held
from backend.training.pocket.data_store import SAMPLE_RATE, ClipSet, ClipWriter, to_int16

SECONDS = 4.0
LONGEST_EVENT = 3.0
SHORTEST_BACKGROUND = 3.0
LEVELS = (-5.0, 10.0)
"""Event over background, in dB."""
KINDS = ("background", "together", "in turn")


@dataclass(frozen=True)
class Part:
    """One named clip that may enter a mixture."""

    owner: int
    index: int
    concept: str
    seconds: float


def event_mask(signal: NDArray[np.float32], frame: int = 800, below: float = 1e-3) -> NDArray[np.bool_]:
    """Which samples belong to the event: smoothed power above a thousandth of its peak (-30 dB).

    (samples,) float32 -> (samples,) bool, one run from the first to the last such sample; at least one sample.
    """
    power = np.convolve(signal.astype(np.float64) ** 2, np.ones(frame) / frame, "same")
    active = np.flatnonzero(power > below * power.max(initial=0.0))
    mask = np.zeros(len(signal), bool)
    if len(active):
        mask[active[0] : active[-1] + 1] = True
    else:
        mask[:1] = True
    return mask


def at_level(signal: NDArray[np.float32], level: float) -> NDArray[np.float32]:
    """Scale a signal to ``level`` dB (root mean square relative to 1)."""
    rms = float(np.sqrt(np.mean(signal.astype(np.float64) ** 2)))
    return signal * np.float32(10 ** (level / 20) / max(rms, 1e-6))


def mix(
    first: NDArray[np.float32], second: NDArray[np.float32], kind: str, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Four seconds of two signals in one of KINDS; the first is the event where there is a background."""
    total = int(SECONDS * SAMPLE_RATE)
    if kind == "background":
        bed = np.resize(second, total)
        event = first[event_mask(first)][: int(LONGEST_EVENT * SAMPLE_RATE)]
        mixed = at_level(bed, -30.0)
        place = int(rng.integers(total - len(event) + 1))
        mixed[place : place + len(event)] += at_level(event, -30.0 + float(rng.uniform(*LEVELS)))
        return mixed
    mixed = np.zeros(total, np.float32)
    half = total // 2
    spans = ((0, half), (half, total)) if kind == "in turn" else ((0, total), (0, total))
    for signal, (begin, end) in zip((first, second), spans, strict=True):
        event = at_level(signal[event_mask(signal)][: end - begin], -25.0 + float(rng.uniform(-3, 3)))
        place = begin + int(rng.integers(end - begin - len(event) + 1))
        mixed[place : place + len(event)] += event
    return mixed


def render_mixtures(
    sets: Sequence[ClipSet], held: Collection[str], count: int, target: Path, seed: int, everyday: float = 1.0
) -> None:
    """Write a set of ``count`` mixtures of clips that say what they are; labels are 'concept ; concept ; caption'.

    Concepts are drawn alike, except that EVERYDAY ones come ``everyday`` times as often.
    """
    rng = np.random.default_rng(seed)
    parts = named_parts(sets, held)
    audio = [clips.audio() for clips in sets]
    phrases = caption_bank().phrases
    concepts = sorted(parts)
    rates = np.array([everyday if concept in EVERYDAY else 1.0 for concept in concepts])
    with ClipWriter(target) as writer:
        while writer.count < count:
            kind = KINDS[int(rng.choice(3, p=(0.5, 0.25, 0.25)))]
            first, second = (_draw(parts[concepts[int(k)]], rng) for k in _two(rates, rng))
            if kind == "background" and second.seconds < SHORTEST_BACKGROUND:
                continue
            signals = []
            for part in (first, second):
                row = sets[part.owner].rows[part.index]
                signals.append(audio[part.owner][row.offset : row.offset + row.samples].astype(np.float32) / 32768)
            texts = [phrases[part.concept][int(rng.integers(len(phrases[part.concept])))] for part in (first, second)]
            caption = joined(texts[0], texts[1], kind == "in turn", rng)
            rows = [sets[part.owner].rows[part.index] for part in (first, second)]
            writer.add(
                to_int16(mix(signals[0], signals[1], kind, rng)),
                path=" + ".join(row.path for row in rows), package=" + ".join(row.package for row in rows),
                licence=" + ".join(row.licence for row in rows), kind="mixture",
                label=f"{first.concept} ; {second.concept} ; {caption}",
                group=" + ".join(row.group for row in rows), start=0.0,
            )  # fmt: skip


def named_parts(sets: Sequence[ClipSet], held: Collection[str]) -> dict[str, list[Part]]:
    """Clips by the concept their name states; recordings, effects and instruments only, nothing held out."""
    parts: dict[str, list[Part]] = defaultdict(list)
    for owner, clips in enumerate(sets):
        for index, row in enumerate(clips.rows):
            named = concepts_of(row)
            if named.concepts and row.kind in ("real", "effect", "instrument") and not is_held(row, held):
                parts[named.concepts[0]].append(Part(owner, index, named.concepts[0], row.samples / SAMPLE_RATE))
    return dict(parts)


def _two(rates: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Two different concepts, drawn by rate."""
    return rng.choice(len(rates), 2, replace=False, p=rates / rates.sum())


def _draw(parts: list[Part], rng: np.random.Generator) -> Part:
    return parts[int(rng.integers(len(parts)))]
