"""YAMNet, the teacher: AudioSet scores and 1024-d features of 0.975 s patches (TensorFlow Lite, Apache-2.0).

For training only. The interpreter (``ai-edge-litert``) is imported when the teacher is first asked, so that
nothing of this is needed to run the encoder.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backend.files import atomic_write
from backend.training.pocket.data_store import CLASSES, FEATURES, ClipSet, index_of

PATCH = 15_600
"""Samples of one patch (0.975 s at 16 kHz); patches follow each other without overlap."""
SHORTEST_REST = 4_000
"""A rest shorter than this is not given a patch of its own."""
FEATURE_TENSOR = 112
"""Index of the pooled 1024-d activation in the TensorFlow Lite graph that ships as yamnet.tflite."""


def patches(signal: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    """Cut (samples,) into 0.975 s patches; a long rest gets a last, right-aligned patch; short clips are padded."""
    if len(signal) <= PATCH:
        return [np.pad(signal, (0, PATCH - len(signal)))]
    cut = [signal[k : k + PATCH] for k in range(0, len(signal) - PATCH + 1, PATCH)]
    if len(signal) - len(cut) * PATCH > SHORTEST_REST:
        cut.append(signal[-PATCH:])
    return cut


class Teacher:
    """One interpreter of YAMNet on one thread."""

    def __init__(self, model: Path) -> None:
        from ai_edge_litert.interpreter import Interpreter, OpResolverType

        # Without delegates every inner tensor can be read, the features among them.
        self._net = Interpreter(
            str(model),
            num_threads=1,
            experimental_preserve_all_tensors=True,
            experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        )
        self._net.allocate_tensors()
        self._input = self._net.get_input_details()[0]["index"]
        self._output = self._net.get_output_details()[0]["index"]

    def hear(self, signal: NDArray[np.float32]) -> tuple[NDArray[np.float16], NDArray[np.float16]]:
        """(samples,) float32 at 16 kHz -> ((patches, 521) scores in 0..1, (patches, 1024) features), float16."""
        scores, features = [], []
        for patch in patches(signal):
            self._net.set_tensor(self._input, patch)
            self._net.invoke()
            scores.append(self._net.get_tensor(self._output)[0].astype(np.float16))
            features.append(self._net.get_tensor(FEATURE_TENSOR).reshape(FEATURES).astype(np.float16))
        return np.array(scores), np.array(features)


@lru_cache(maxsize=4)
def class_names(table: Path) -> tuple[str, ...]:
    """The 521 AudioSet display names in the order of the scores."""
    with table.open(newline="", encoding="utf-8") as rows:
        names = tuple(row["display_name"] for row in csv.DictReader(rows))
    if len(names) != CLASSES:
        raise ValueError(f"{table.name} names {len(names)} classes, not {CLASSES}")
    return names


def teach(clips: ClipSet, model: Path, processes: int = 1) -> None:
    """Write ``scores.f16``, ``features.f16`` and ``patches.npy`` of a set (about 8 ms a patch on one thread)."""
    counts = []
    with (
        atomic_write(clips.directory / "scores.f16") as scores_part,
        atomic_write(clips.directory / "features.f16") as features_part,
        scores_part.open("wb") as scores,
        features_part.open("wb") as features,
    ):
        for score, feature in _heard(clips.signals(), model, processes):
            scores.write(score.tobytes())
            features.write(feature.tobytes())
            counts.append(len(score))
    np.save(clips.directory / "patches.npy", index_of(counts))


def _heard(
    signals: Iterable[NDArray[np.int16]], model: Path, processes: int
) -> Iterable[tuple[NDArray[np.float16], NDArray[np.float16]]]:
    if processes <= 1:
        _prepare(model)
        yield from map(_hear, signals)
        return
    with get_context("fork").Pool(processes, _prepare, (model,)) as pool:
        yield from pool.imap(_hear, signals, chunksize=16)


_TEACHER: Teacher | None = None


def _prepare(model: Path) -> None:
    global _TEACHER
    _TEACHER = Teacher(model)


def _hear(signal: NDArray[np.int16]) -> tuple[NDArray[np.float16], NDArray[np.float16]]:
    if _TEACHER is None:
        raise RuntimeError("the teacher of this process was not prepared")
    return _TEACHER.hear(signal.astype(np.float32) / 32768)
