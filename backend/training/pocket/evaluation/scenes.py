"""Scenes with known truth: events placed in backgrounds, and the controlled pairs of paper N, appendix A."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from backend.audio import Span
from backend.encoders.base import FloatArray
from backend.encoders.families.pocket.melspectrogram import SAMPLE_RATE
from backend.training.pocket.evaluation.recordings import Recording

SCENE_SECONDS = 10.0
BACKGROUND_RMS = 0.03
LONGEST_EVENT_SECONDS = 3.5
LONGEST_OF_TWO_SECONDS = 2.5
SHORTEST_EVENT_SECONDS = 0.1
TWO_EVENTS_DECIBELS = 10.0
"""Level of both events over the background where the text picks one of two."""
HALF_SECONDS = 5.0
PEAK = 0.9


@dataclass(frozen=True, eq=False)
class EventScene:
    """A scene in which one event is asked for.

    Attributes
    ----------
    signal : np.ndarray, shape (160000,), float32
    label : str
        Class of the event that is asked for.
    span : Span
        Where it is.
    """

    signal: FloatArray
    label: str
    span: Span


@dataclass(frozen=True, eq=False)
class ControlledPair:
    """Two positives joined; over them the forbidden class (distractor) or a filler (target)."""

    positives: tuple[str, str]
    forbidden: str
    distractor: FloatArray
    target: FloatArray


def active_part(signal: FloatArray) -> FloatArray:
    """From the first to the last sample whose 50 ms energy is within 30 dB of the loudest."""
    half = 400
    total = np.concatenate([np.zeros(half + 1), np.cumsum(np.square(signal, dtype=np.float64))])
    total = np.pad(total, (0, half), mode="edge")
    energy = total[2 * half :][: len(signal)] - total[: len(signal)]
    loud = np.flatnonzero(energy > energy.max() * 1e-3)
    return signal[loud[0] : loud[-1] + 1] if len(loud) else signal


def rms(signal: FloatArray) -> float:
    """Root mean square, never zero."""
    return float(np.sqrt(np.mean(np.square(signal, dtype=np.float64)) + 1e-12))


class SceneMaker:
    """Draws scenes from recordings by class; the same seed draws the same scenes.

    Parameters
    ----------
    recordings : sequence of Recording
    events, backgrounds : sequence of str
        Classes that can be placed, and classes that can fill a scene.
    kinds : mapping of str to str, optional
        Coarse kind of a class. In controlled pairs the filler is then of the forbidden class's kind, and classes
        without one are positives only.

    Raises
    ------
    ValueError
        No kind has two classes among the recordings.
    """

    def __init__(
        self,
        recordings: Sequence[Recording],
        events: Sequence[str],
        backgrounds: Sequence[str],
        kinds: Mapping[str, str] | None = None,
    ) -> None:
        by_class: dict[str, list[FloatArray]] = {}
        for recording in recordings:
            by_class.setdefault(recording.label, []).append(recording.signal)
        self._signals: Mapping[str, list[FloatArray]] = by_class
        self._events = [name for name in events if name in by_class]
        self._backgrounds = [name for name in backgrounds if name in by_class]
        self._alike = {} if kinds is None else _alike({name: kinds[name] for name in by_class if name in kinds})
        if kinds is not None and not self._alike:
            raise ValueError("A filler of the forbidden sound's kind needs two classes of one kind.")

    def single_event(self, generator: np.random.Generator, decibels: float) -> EventScene:
        """One event at ``decibels`` over a background, anywhere in ten seconds."""
        label, event = self._event(generator, LONGEST_EVENT_SECONDS)
        scene = self._background(generator)
        start = int(generator.integers(0, len(scene) - len(event)))
        _add(scene, event, start, decibels)
        return _finished(scene, label, start, len(event))

    def two_events(self, generator: np.random.Generator) -> EventScene:
        """Two events of different classes at one level, one in each half; the first drawn is asked for."""
        label, event = self._event(generator, LONGEST_OF_TWO_SECONDS)
        other = label
        while other == label:
            other, distractor = self._event(generator, LONGEST_OF_TWO_SECONDS)
        scene = self._background(generator)
        gap = int(0.125 * SAMPLE_RATE)
        half = len(scene) // 2
        early = int(generator.integers(0, half - gap - len(event)))
        late = half + gap + int(generator.integers(0, half - gap - len(event)))
        other_early = int(generator.integers(0, half - gap - len(distractor)))
        other_late = half + gap + int(generator.integers(0, half - gap - len(distractor)))
        first = bool(generator.random() < 0.5)
        _add(scene, event, early if first else late, TWO_EVENTS_DECIBELS)
        _add(scene, distractor, other_late if first else other_early, TWO_EVENTS_DECIBELS)
        return _finished(scene, label, early if first else late, len(event))

    def controlled_pair(self, generator: np.random.Generator) -> ControlledPair:
        """Four classes drawn: two positives joined, then the forbidden one or a filler over them."""
        one, two, forbidden, filler = self._four(generator)
        chosen = [self._half(name, generator) for name in (one, two, forbidden, filler)]
        base = np.concatenate(chosen[:2])
        onset = int(generator.integers(0, len(base) - len(chosen[2]) + 1))
        overlaid = []
        for over in chosen[2:]:
            mixed = base.copy()
            mixed[onset : onset + len(over)] += over
            overlaid.append(_limited(mixed))
        return ControlledPair((one, two), forbidden, overlaid[0], overlaid[1])

    def _four(self, generator: np.random.Generator) -> tuple[str, str, str, str]:
        """Two positives, the forbidden class and its filler, all different."""
        names = list(self._signals)
        if not self._alike:
            one, two, forbidden, filler = (names[index] for index in generator.choice(len(names), 4, replace=False))
            return one, two, forbidden, filler
        candidates = list(self._alike)
        forbidden = candidates[int(generator.integers(len(candidates)))]
        filler = self._alike[forbidden][int(generator.integers(len(self._alike[forbidden])))]
        others = [name for name in names if name not in (forbidden, filler)]
        one, two = (others[index] for index in generator.choice(len(others), 2, replace=False))
        return one, two, forbidden, filler

    def _event(self, generator: np.random.Generator, longest: float) -> tuple[str, FloatArray]:
        while True:
            label = self._events[int(generator.integers(len(self._events)))]
            signals = self._signals[label]
            event = active_part(signals[int(generator.integers(len(signals)))])[: int(longest * SAMPLE_RATE)]
            if len(event) >= SHORTEST_EVENT_SECONDS * SAMPLE_RATE:
                return label, event

    def _background(self, generator: np.random.Generator) -> FloatArray:
        label = self._backgrounds[int(generator.integers(len(self._backgrounds)))]
        signals = self._signals[label]
        signal = signals[int(generator.integers(len(signals)))]
        length = int(SCENE_SECONDS * SAMPLE_RATE)
        tiled = np.tile(signal, -(-length // len(signal)))[:length]
        return (tiled / rms(tiled) * BACKGROUND_RMS).astype(np.float32)

    def _half(self, label: str, generator: np.random.Generator) -> FloatArray:
        """Five seconds of a class at a common level of its active part."""
        signals = self._signals[label]
        signal = signals[int(generator.integers(len(signals)))][: int(HALF_SECONDS * SAMPLE_RATE)]
        signal = signal / rms(active_part(signal)) * BACKGROUND_RMS * 2
        return np.pad(signal, (0, int(HALF_SECONDS * SAMPLE_RATE) - len(signal))).astype(np.float32)


def _alike(kinds: Mapping[str, str]) -> dict[str, list[str]]:
    """Class -> the other classes of its kind; classes that are alone are left out."""
    found = {name: [other for other in kinds if other != name and kinds[other] == kinds[name]] for name in kinds}
    return {name: others for name, others in found.items() if others}


def _add(scene: FloatArray, event: FloatArray, start: int, decibels: float) -> None:
    """Add an event in place, its RMS ``decibels`` over the background's."""
    scene[start : start + len(event)] += event / rms(event) * BACKGROUND_RMS * 10 ** (decibels / 20)


def _limited(signal: FloatArray) -> FloatArray:
    return signal / max(1.0, float(np.abs(signal).max()) / PEAK)


def _finished(scene: FloatArray, label: str, start: int, length: int) -> EventScene:
    return EventScene(_limited(scene), label, Span(start / SAMPLE_RATE, (start + length) / SAMPLE_RATE))
