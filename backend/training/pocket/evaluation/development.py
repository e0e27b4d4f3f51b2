"""Scenes of development sounds, by which choices are made: what ESC-10 reports, without looking at it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from backend.audio import sliding_windows
from backend.encoders.base import SpanEncoder
from backend.training.pocket.captions import caption_bank
from backend.training.pocket.evaluation.listening import localisation_measures, pair_measures
from backend.training.pocket.evaluation.measures import Measure, mean_measure
from backend.training.pocket.evaluation.recordings import Recording
from backend.training.pocket.evaluation.scenes import SCENE_SECONDS, SceneMaker
from backend.training.pocket.train_families import FAMILIES

BACKGROUNDS = (
    "Rain", "Wind", "Waves, surf", "Engine", "Fire", "Train", "Stream", "Waterfall", "Traffic noise, roadway noise",
    "Jet engine", "Thunderstorm", "Cheering", "Applause", "Water", "Forest", "Helicopter", "Bus",
)  # fmt: skip
"""Classes whose sounds go on and can fill a scene."""
FEWEST = 2
"""Recordings of a class from which it is placed in scenes and pairs."""


def development_measures(
    encoder: SpanEncoder, recordings: Sequence[Recording], *, seed: int = 0, scenes: int = 400
) -> list[Measure]:
    """Localisation and controlled pairs on development sounds; pairs with any filler and with a confusable one.

    Parameters
    ----------
    encoder : SpanEncoder
    recordings : sequence of Recording
        Development sounds, labelled with concepts of the caption bank (``read_pool(folder, column="class")``).
    seed : int
        Draws scenes, pairs and bootstrap resamples.
    scenes : int
        Of each kind.
    """
    phrases = caption_bank().phrases
    sizes = Counter(recording.label for recording in recordings)
    captions = {name: phrases[name][0] for name in sizes}
    events = [name for name in sizes if sizes[name] >= FEWEST and name not in BACKGROUNDS]
    draw = np.random.default_rng
    maker = SceneMaker(recordings, events, BACKGROUNDS)
    two = (maker.two_events(generator) for generator in draw(seed + 20).spawn(scenes))
    one = (maker.single_event(generator, 0.0) for generator in draw(seed + 21).spawn(scenes))
    measures = localisation_measures(encoder, two, one, captions, seed)
    known = [recording for recording in recordings if sizes[recording.label] >= FEWEST]
    for name, kinds in (("any filler", None), ("confusable filler", families_of(captions))):
        pairing = SceneMaker(known, (), (), kinds)
        pairs = (pairing.controlled_pair(generator) for generator in draw(seed + 22).spawn(scenes))
        found = pair_measures(encoder, pairs, captions, seed)
        measures += [
            replace(measure, key=f"{measure.key}_{name.split()[0]}", name=f"presence {measure.name.strip()}, {name}")
            for measure in found
            if measure.key.startswith("pairs_presence_")
        ]
    measures += window_agreement(encoder, maker, seed, max(1, scenes // 8))
    return [
        replace(measure, key=f"development_{measure.key}", name=f"development: {measure.name.strip()}", goal=None)
        for measure in measures
        if not measure.key.endswith(("loudest_iou", "best_iou"))
    ]


def families_of(classes: Mapping[str, str]) -> dict[str, str]:
    """Class -> the first family of confusable classes that it belongs to; classes without one are left out."""
    found: dict[str, str] = {}
    for family, members in FAMILIES.items():
        found |= {name: family for name in members if name in classes and name not in found}
    return found


def window_agreement(encoder: SpanEncoder, maker: SceneMaker, seed: int, scenes: int) -> list[Measure]:
    """Two-second windows of scenes and the same cut out: the mean cosine of both, and how many stay below .9."""
    windows = sliding_windows(SCENE_SECONDS, 2.0)
    begins = np.round(windows.starts * encoder.sample_rate).astype(int)
    samples = int(windows.length * encoder.sample_rate)
    agreement = []
    for generator in np.random.default_rng(seed + 20).spawn(scenes):
        signal = maker.two_events(generator).signal
        within = encoder.embed_spans(signal, windows.starts, windows.length)
        alone = encoder.embed_audio(np.stack([signal[begin : begin + samples] for begin in begins]))
        agreement.append((within * alone).sum(axis=1))
    cosines = np.concatenate(agreement)
    return [
        mean_measure("window_cosine", "a window of a scene and the same cut out: cosine", cosines, seed=seed),
        mean_measure("window_apart", "such windows with a cosine below .9", cosines < 0.9, unit="%", seed=seed),
    ]
