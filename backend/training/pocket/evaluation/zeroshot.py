"""Zero-shot classification and text-to-audio retrieval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from backend.audio import sliding_windows
from backend.encoders.base import FloatArray, SpanEncoder
from backend.training.pocket.evaluation.catalogue import (
    ESC10_CLASSES,
    ESC10_SYNONYMS,
    HARD_CLASSES,
    OTHER_CLASSES,
    TEMPLATES,
)
from backend.training.pocket.evaluation.measures import Measure, mean_measure
from backend.training.pocket.evaluation.recordings import Recording

CLIP_SECONDS = 10.0
"""A recording is one window, up to ten seconds, as a collection embeds it; how a window of more than a few seconds
is read is the encoder's matter."""


def unit(vectors: FloatArray) -> FloatArray:
    """Rows scaled to length one."""
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def class_vectors(encoder: SpanEncoder, captions: Sequence[str]) -> FloatArray:
    """(n, D): each caption as the normalised mean over TEMPLATES."""
    filled = [encoder.embed_text([template.format(caption) for caption in captions]) for template in TEMPLATES]
    return unit(np.mean(filled, axis=0))


def clip_vectors(encoder: SpanEncoder, recordings: Sequence[Recording]) -> FloatArray:
    """(n, D): each recording as one window, or as the normalised mean of windows of CLIP_SECONDS."""
    vectors = []
    for recording in recordings:
        windows = sliding_windows(len(recording.signal) / encoder.sample_rate, CLIP_SECONDS, CLIP_SECONDS / 2)
        vectors.append(encoder.embed_spans(recording.signal, windows.starts, windows.length).mean(axis=0))
    return unit(np.stack(vectors))


def esc10_measures(
    encoder: SpanEncoder, recordings: Sequence[Recording], audio: FloatArray, seed: int
) -> list[Measure]:
    """Ten-way and 58-way accuracy, the loss by synonyms, and the hard classes."""
    classes = list(ESC10_CLASSES)
    truth = np.array([classes.index(recording.label) for recording in recordings])
    groups = [recording.group for recording in recordings]
    captions = class_vectors(encoder, [*ESC10_CLASSES.values(), *OTHER_CLASSES])
    synonyms = class_vectors(encoder, [ESC10_SYNONYMS[name] for name in classes])
    scores = audio @ captions.T
    ten_way = ranks(scores[:, : len(classes)], truth) == 0
    place = ranks(scores, truth)
    other_words = ranks(audio @ synonyms.T, truth) == 0

    def measure(key: str, name: str, values: ArrayLike, goal: float | None = None, better: bool = True) -> Measure:
        return mean_measure(key, name, values, groups=groups, goal=goal, higher_is_better=better, unit="%", seed=seed)

    result = [
        measure("esc10_10way_top1", "ESC-10, 10-way top-1", ten_way, 0.88),
        measure("esc10_58way_top1", "ESC-10, 58-way top-1", place == 0, 0.68),
        measure("esc10_58way_top5", "ESC-10, 58-way top-5", place < 5),
        measure("esc10_synonyms", "ESC-10, 10-way top-1 with ten synonyms", other_words),
        measure("esc10_synonym_loss", "lost by the synonyms", ten_way.astype(float) - other_words, 0.10, False),
    ]
    for index, name in enumerate(classes):
        chosen = truth == index
        result.append(
            mean_measure(
                f"esc10_58way_{name}",
                f"  {ESC10_CLASSES[name]}, 58-way top-1",
                place[chosen] == 0,
                groups=[group for group, kept in zip(groups, chosen, strict=True) if kept],
                goal=0.5 if name in HARD_CLASSES else None,
                unit="%",
                seed=seed,
            )
        )
    return result


def retrieval_measures(
    encoder: SpanEncoder, recordings: Sequence[Recording], audio: FloatArray, seed: int
) -> list[Measure]:
    """Each distinct caption of the pool asks for a recording that carries it, and the other way round."""
    captions = sorted({recording.label for recording in recordings})
    scores = encoder.embed_text(captions) @ audio.T
    labels = np.array([recording.label for recording in recordings])
    order = np.argsort(-scores, axis=1, kind="stable")
    right = labels[order] == np.array(captions)[:, None]
    first = right.argmax(axis=1)
    truth = np.array([captions.index(label) for label in labels])
    named = ranks(scores.T, truth)
    return [
        mean_measure("pool_recall_1", "text to audio, R@1", first < 1, goal=0.32, unit="%", seed=seed),
        mean_measure("pool_recall_5", "text to audio, R@5", first < 5, goal=0.65, unit="%", seed=seed),
        mean_measure("pool_recall_10", "text to audio, R@10", first < 10, unit="%", seed=seed),
        mean_measure("pool_naming_1", f"audio to text among {len(captions)}, R@1", named < 1, unit="%", seed=seed),
        mean_measure("pool_naming_5", f"audio to text among {len(captions)}, R@5", named < 5, unit="%", seed=seed),
    ]


def ranks(scores: FloatArray, truth: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many columns score higher than the true one, per row."""
    own = scores[np.arange(len(truth)), truth]
    return (scores > own[:, None]).sum(axis=1)
