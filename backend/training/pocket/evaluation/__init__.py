"""``python -m backend pocket evaluate``: every figure of the model card, remade by one call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from backend.encoders.base import SpanEncoder
from backend.training.pocket.evaluation.catalogue import BACKGROUND_CLASSES, ESC10_CLASSES, EVENT_CLASSES
from backend.training.pocket.evaluation.development import development_measures
from backend.training.pocket.evaluation.listening import localisation_measures, negation_measures, pair_measures
from backend.training.pocket.evaluation.measures import Measure
from backend.training.pocket.evaluation.recordings import Recording
from backend.training.pocket.evaluation.resources import resource_measures
from backend.training.pocket.evaluation.scenes import SceneMaker
from backend.training.pocket.evaluation.zeroshot import clip_vectors, esc10_measures, retrieval_measures

SCENES = 400
"""Scenes of each kind, and controlled pairs."""


def evaluate(
    encoder: SpanEncoder,
    weights_folder: Path,
    *,
    esc10: Sequence[Recording] = (),
    pool: Sequence[Recording] = (),
    development: Sequence[Recording] = (),
    seed: int = 0,
    scenes: int = SCENES,
) -> list[Measure]:
    """All measures that the given recordings allow, in the order of the card.

    Parameters
    ----------
    encoder : SpanEncoder
    weights_folder : Path
        Folder whose shipped files are weighed.
    esc10 : sequence of Recording
        Zero-shot, localisation and controlled pairs are measured on it.
    pool : sequence of Recording
        Held-out captioned recordings, for retrieval.
    development : sequence of Recording
        The same labelled with their classes, for scenes that choices may be made by.
    seed : int
        Draws scenes, quadruples and bootstrap resamples.
    """
    measures: list[Measure] = []
    if esc10:
        measures += esc10_measures(encoder, esc10, clip_vectors(encoder, esc10), seed)
    if pool:
        measures += retrieval_measures(encoder, pool, clip_vectors(encoder, pool), seed)
    if esc10:
        maker = SceneMaker(esc10, EVENT_CLASSES, BACKGROUND_CLASSES)
        draw = np.random.default_rng
        # Drawn one by one as they are listened to: all of them at once would fill a gigabyte.
        two = (maker.two_events(generator) for generator in draw(seed + 10).spawn(scenes))
        one = (maker.single_event(generator, 0.0) for generator in draw(seed + 11).spawn(scenes))
        pairs = (maker.controlled_pair(generator) for generator in draw(seed + 12).spawn(scenes))
        measures += localisation_measures(encoder, two, one, ESC10_CLASSES, seed)
        measures += pair_measures(encoder, pairs, ESC10_CLASSES, seed)
    if development:
        measures += development_measures(encoder, development, seed=seed, scenes=scenes)
    measures += negation_measures(encoder, seed)
    measures += resource_measures(encoder, weights_folder, seed)
    return measures
