"""Controlled target and distractor clips (negation paper, appendix A-A).

Two positive sounds are joined to a 10 s base clip. At one onset and one gain either Y (distractor)
or a filler F of the same coarse kind and loudness (target) is laid over it: the two clips differ in
nothing else, and what is in them is known by construction.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from backend.audio import Clip, clip_from_samples, resampled
from backend.benchmarks.negeval.concepts import category, certainly_absent
from backend.collections.collection import Item
from backend.errors import InputError

Side = Literal["target", "distractor"]
Filler = Literal["matched", "any"]
RATE = 16000
"""Rate at which pairs are rendered, in Hz."""
PART_SECONDS = 5.0
"""Length of each positive sound and of the overlaid one."""
ACTIVE_DB = 30.0
"""A frame is active if it lies at most this far below the loudest."""
LEVEL = 0.05
"""RMS over the active part that every sound is brought to."""


@dataclass(frozen=True)
class ControlledPair:
    """How one pair is made: sounds, source clips, onset in seconds, gain of the overlaid sound in dB."""

    number: int
    positives: tuple[str, str]
    negative: str
    filler: str
    positive_ids: tuple[str, str]
    negative_id: str
    filler_id: str
    onset: float
    gain_db: float

    def sounds(self, side: Side) -> tuple[str, str, str]:
        """What can be heard in the target or the distractor."""
        return (*self.positives, self.filler if side == "target" else self.negative)

    def key(self, side: Side, digest: str) -> str:
        """Identity of the rendered clip, for stores: recipe, side and the digest of the sources."""
        return hashlib.sha256(repr((asdict(self), side, digest)).encode()).hexdigest()[:24]


def controlled_pairs(
    sources: Mapping[str, Sequence[str]], count: int, rng: np.random.Generator, filler: Filler = "matched"
) -> tuple[ControlledPair, ...]:
    """Draw recipes.

    Parameters
    ----------
    sources : mapping of label to clip ids
        Clips in which that sound, and only that sound, can be heard.
    count : int
    rng : np.random.Generator
    filler : "matched" or "any"
        Whether F has the coarse kind of Y (the paper) or is any other sound.

    Raises
    ------
    InputError
        There are not enough different sounds.
    """
    labels = sorted(label for label, ids in sources.items() if ids)
    fillers = {
        negative: [
            label
            for label in labels
            if certainly_absent(negative, [label]) and (filler == "any" or category(label) == category(negative))
        ]
        for negative in labels
    }
    negatives = [label for label in labels if fillers[label]]
    made: list[ControlledPair] = []
    for _ in range(50 * count):
        if len(made) == count or not negatives:
            break
        negative = str(rng.choice(negatives))
        other = str(rng.choice(fillers[negative]))
        rest = [label for label in labels if certainly_absent(negative, [label]) and certainly_absent(other, [label])]
        if len(rest) < 2:
            continue
        first, second = (str(label) for label in rng.choice(rest, 2, replace=False))
        ids = [str(rng.choice(list(sources[label]))) for label in (first, second, negative, other)]
        onset = round(float(rng.uniform(0.0, PART_SECONDS)), 3)
        made.append(
            ControlledPair(len(made), (first, second), negative, other, (ids[0], ids[1]), ids[2], ids[3], onset, 0.0)
        )
    if len(made) < count:
        raise InputError(too_few_sounds(labels, filler), concerns="file")
    return tuple(made)


def too_few_sounds(labels: Sequence[str], filler: Filler) -> str:
    """What controlled pairs need, what the collection has, and what to do."""
    kind = ", of which two are of the same kind," if filler == "matched" else ""
    needed = f"A controlled pair is mixed from four different sounds{kind} each alone in some clip"
    if not labels:
        return f"{needed}, but no clip here has exactly one label. Give a CSV with the columns path, caption, labels."
    named = ", ".join(labels[:8]) + (" and more" if len(labels) > 8 else "")
    also = ", or pass --filler any" if filler == "matched" and len(labels) >= 4 else ""
    return f"{needed}, and here only {named} {'is' if len(labels) == 1 else 'are'}. Add single sounds{also}."


def single_sources(items: Sequence[Item]) -> dict[str, list[str]]:
    """Clips of which exactly one sound is known, by that sound."""
    sources: dict[str, list[str]] = {}
    for item in items:
        if len(item.labels) == 1:
            sources.setdefault(item.labels[0], []).append(item.id)
    return sources


def active_rms(samples: NDArray[np.floating], rate: int) -> float:
    """RMS over the frames (25 ms) at most ``ACTIVE_DB`` below the loudest; 0 for silence."""
    frame = max(1, rate // 40)
    usable = (
        samples[: len(samples) // frame * frame]
        if len(samples) >= frame
        else np.pad(samples, (0, frame - len(samples)))
    )
    power = np.square(usable.reshape(-1, frame), dtype=np.float64).mean(axis=1)
    active = power >= power.max() * 10 ** (-ACTIVE_DB / 10)
    return float(np.sqrt(power[active].mean()))


def part_of(clip: Clip) -> NDArray[np.float32]:
    """A source brought to ``PART_SECONDS`` (cut, or followed by silence) and to the common loudness."""
    length = round(PART_SECONDS * RATE)
    samples = resampled(clip, RATE)[:length]
    level = active_rms(samples, RATE)
    scaled = samples * (LEVEL / level) if level > 0 else samples
    return np.pad(scaled, (0, length - len(scaled))).astype(np.float32)


class PairRenderer:
    """Renders pairs; keeps the most recently used sources decoded."""

    def __init__(self, decoded: Callable[[str], Clip], kept: int = 512) -> None:
        self._part = lru_cache(maxsize=kept)(lambda clip_id: part_of(decoded(clip_id)))

    def samples(self, pair: ControlledPair, side: Side) -> NDArray[np.float32]:
        """The mixture, (160000,) float32 at ``RATE``."""
        mix = np.concatenate([self._part(clip_id) for clip_id in pair.positive_ids])
        overlaid = self._part(pair.filler_id if side == "target" else pair.negative_id)
        start = round(pair.onset * RATE)
        mix[start : start + len(overlaid)] += overlaid[: len(mix) - start] * np.float32(10 ** (pair.gain_db / 20))
        return mix

    def clip(self, pair: ControlledPair, side: Side) -> Clip:
        """The mixture as a Clip."""
        return clip_from_samples(self.samples(pair, side), RATE, name=f"pair {pair.number} {side}")
