"""Localisation in scenes, presence in controlled pairs, and the polarity probe on texts alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from backend.audio import sliding_windows
from backend.encoders.base import FloatArray, SpanEncoder
from backend.evidence.localization import temporal_iou
from backend.training.pocket.evaluation.catalogue import NEGATION_SOUNDS, bare
from backend.training.pocket.evaluation.measures import Measure, mean_measure
from backend.training.pocket.evaluation.scenes import SCENE_SECONDS, ControlledPair, EventScene
from backend.training.pocket.evaluation.zeroshot import class_vectors, unit

QUADRUPLES = 80
TOP_WINDOWS = 3


def localised(
    encoder: SpanEncoder, scenes: Iterable[EventScene], captions: Mapping[str, str], window: float
) -> FloatArray:
    """(n, 3): IoU of the best window for the text, of the loudest window, and of the best possible window."""
    windows = sliding_windows(SCENE_SECONDS, window)
    texts = dict(zip(captions, class_vectors(encoder, list(captions.values())), strict=True))
    rows = []
    for scene in scenes:
        overlaps = np.array([temporal_iou(windows.span(index), scene.span) for index in range(len(windows))])
        scores = encoder.embed_spans(scene.signal, windows.starts, windows.length) @ texts[scene.label]
        edges = np.concatenate([[0.0], np.cumsum(np.square(scene.signal, dtype=np.float64))])
        begin = np.round(windows.starts * encoder.sample_rate).astype(int)
        energy = edges[begin + int(windows.length * encoder.sample_rate)] - edges[begin]
        rows.append((overlaps[scores.argmax()], overlaps[energy.argmax()], overlaps.max()))
    return np.array(rows)


def localisation_measures(
    encoder: SpanEncoder,
    two_events: Iterable[EventScene],
    one_event: Iterable[EventScene],
    captions: Mapping[str, str],
    seed: int,
) -> list[Measure]:
    """Two equal events with 2 s windows, and one event at 0 dB with 4 s windows."""
    two = localised(encoder, two_events, captions, 2.0)
    one = localised(encoder, one_event, captions, 4.0)
    return [
        mean_measure("two_events_iou", "two equal events, text picks one: IoU", two[:, 0], goal=0.46, seed=seed),
        mean_measure(
            "two_events_missed",
            "two equal events: no overlap",
            two[:, 0] == 0,
            goal=0.06,
            higher_is_better=False,
            unit="%",
            seed=seed,
        ),
        mean_measure("two_events_loudest_iou", "  the loudest window instead: IoU", two[:, 1], seed=seed),
        mean_measure("two_events_best_iou", "  the best window there is: IoU", two[:, 2], seed=seed),
        mean_measure("one_event_iou", "4 s windows, one event at 0 dB: IoU", one[:, 0], goal=0.42, seed=seed),
        mean_measure("one_event_best_iou", "  the best window there is: IoU", one[:, 2], seed=seed),
    ]


def pair_measures(
    encoder: SpanEncoder, pairs: Iterable[ControlledPair], captions: Mapping[str, str], seed: int
) -> list[Measure]:
    """Whether the forbidden sound scores higher where it is; and what the negated text prefers."""
    windows = sliding_windows(SCENE_SECONDS, 2.0)
    texts = dict(zip(captions, class_vectors(encoder, list(captions.values())), strict=True))
    presence, margin = [], []
    for pair in pairs:
        one, two, forbidden = (captions[name] for name in (*pair.positives, pair.forbidden))
        query = encoder.embed_text([f"{one} and {two}, with no {bare(forbidden)}"])[0]
        clips = [
            encoder.embed_spans(signal, windows.starts, windows.length) for signal in (pair.distractor, pair.target)
        ]
        presence.append(np.subtract(*[_poolings(clip @ texts[pair.forbidden]) for clip in clips]) > 0)
        means = [unit(clip.mean(axis=0)) for clip in clips]
        margin.append(query @ (means[0] - means[1]))
    shares = np.array(presence, dtype=float)
    best = int(shares.mean(axis=0).argmax())
    names = ("best window", f"mean of the best {TOP_WINDOWS}", "mean of all windows")
    return [
        mean_measure(
            "pairs_presence",
            f"controlled pairs: presence of Y higher where Y is ({names[best]})",
            shares[:, best],
            goal=0.93,
            unit="%",
            seed=seed,
        ),
        *(
            mean_measure(f"pairs_presence_{key}", f"  by the {name}", shares[:, index], unit="%", seed=seed)
            for index, (key, name) in enumerate(zip(("max", "top3", "mean"), names, strict=True))
        ),
        mean_measure("pairs_negated_margin", "  margin of the negated text (above 0: prefers Y)", margin, seed=seed),
        mean_measure(
            "pairs_target", "  negated text prefers the clip without Y", np.array(margin) < 0, unit="%", seed=seed
        ),
    ]


def _poolings(scores: FloatArray) -> FloatArray:
    """Best, mean of the best three, and mean of all window scores."""
    ordered = np.sort(scores)[::-1]
    return np.array([ordered[0], ordered[:TOP_WINDOWS].mean(), scores.mean()])


def negation_measures(encoder: SpanEncoder, seed: int) -> list[Measure]:
    """Normalised affinity of negation (science section 4): above 1, "no" is as good as "yes".

    80 seeded quadruples: q = "P, with no Y", aff = "P, with Y", para = P paraphrased with the
    negation kept, unrel = "U, with V".
    """
    generator = np.random.default_rng(seed + 2)
    sounds = list(NEGATION_SOUNDS)
    texts: list[str] = []
    for index in range(QUADRUPLES):
        present, absent, other, another = (sounds[i] for i in generator.choice(len(sounds), 4, replace=False))
        spoken = NEGATION_SOUNDS[present]
        if index % 2:
            texts += [f"{present}, with no {bare(absent)}", f"{spoken} and there is no {bare(absent)}"]
        else:
            texts += [f"{present}, without {absent}", f"{spoken}, without any {bare(absent)}"]
        texts += [f"{present}, with {absent}", f"{other}, with {another}"]
    vectors = encoder.embed_text(texts).reshape(QUADRUPLES, 4, -1)
    paraphrase, affirmed, unrelated = (np.sum(vectors[:, 0] * vectors[:, which], axis=1) for which in (1, 2, 3))
    affinity = (affirmed - unrelated) / (paraphrase - unrelated)
    drawn = np.random.default_rng(seed).integers(QUADRUPLES, size=(2000, QUADRUPLES))
    of_means = (affirmed - unrelated)[drawn].mean(1) / (paraphrase - unrelated)[drawn].mean(1)
    low, high = np.quantile(of_means, (0.025, 0.975))
    value = float((affirmed - unrelated).mean() / (paraphrase - unrelated).mean())
    return [
        Measure("negation_affinity", "normalised affinity of negation (of means)", value, low, high, QUADRUPLES),
        mean_measure("negation_blind", "  'with Y' closer than a true paraphrase", affinity > 1, unit="%", seed=seed),
    ]
