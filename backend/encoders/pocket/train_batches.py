"""Batches: crops of clips, two of them mixed on the mel scale with a composed caption, and distortions of both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import IterableDataset

from backend.encoders.pocket.data_store import BANDS, CLASSES, FEATURES
from backend.encoders.pocket.train_pool import NAMED_TARGET, PoolClip, TrainingPool
from backend.encoders.pocket.train_texts import TextTable

FLOOR = -13.8
"""Log-mel of digital silence, log(1e-6)."""
LENGTHS, LENGTH_SHARES = (200, 300, 400), (0.65, 0.2, 0.15)
"""Frames of a batch's crops: two, three or four seconds."""
PATCH_FRAMES = 97.5
PAIR_SHARE = 0.25
BACKGROUND_SHARE = 0.3


@dataclass(frozen=True)
class Batch:
    """One training batch; every array has n rows."""

    mels: torch.Tensor
    """(n, frames, 64) float32 log-mel."""
    targets: torch.Tensor
    """(n, 521) float32, 0..1."""
    features: torch.Tensor
    """(n, 1024) float32 teacher features."""
    feature_weights: torch.Tensor
    """(n,) 0 where the teacher never heard the sound as it is."""
    captions: torch.Tensor
    """(n,) rows of the text table."""
    concepts: torch.Tensor
    """(n, 2) concept numbers of the caption, -1 where there is none."""
    class_texts: torch.Tensor
    """(2, 521) rows of the text table: two phrases of each class."""


@dataclass(frozen=True)
class Crop:
    mel: NDArray[np.float32]
    target: NDArray[np.float32]
    features: NDArray[np.float32]


class BatchStream(IterableDataset[Batch]):
    """Endless batches; each worker draws from a generator of its own."""

    def __init__(self, pool: TrainingPool, texts: TextTable, size: int, seed: int) -> None:
        super().__init__()
        self.pool, self.texts, self.size, self.seed = pool, texts, size, seed
        self._class_of = {name: index for index, name in enumerate(pool.classes)}

    def __iter__(self) -> Iterator[Batch]:
        torch.set_num_threads(1)
        worker = torch.utils.data.get_worker_info()
        rng = np.random.default_rng([self.seed, worker.id if worker else 0])
        while True:
            yield self.batch(rng)

    def batch(self, rng: np.random.Generator) -> Batch:
        """Assemble one batch."""
        frames = int(rng.choice(LENGTHS, p=LENGTH_SHARES))
        mels = np.empty((self.size, frames, BANDS), np.float32)
        targets = np.empty((self.size, CLASSES), np.float32)
        features = np.zeros((self.size, FEATURES), np.float32)
        feature_weights = np.zeros(self.size, np.float32)
        captions = np.empty(self.size, np.int64)
        concepts = np.full((self.size, 2), -1, np.int64)
        for row in range(self.size):
            if rng.random() < PAIR_SHARE:
                mels[row], targets[row], captions[row], concepts[row] = self._pair(frames, rng)
                continue
            clip = self.pool.clips[self.pool.draw(rng)]
            crop = self._crop(clip, frames, rng)
            mels[row], targets[row], features[row], feature_weights[row] = crop.mel, crop.target, crop.features, 1
            captions[row], concepts[row] = self.texts.describe(clip, self.pool, rng)
            if not clip.in_mixture and rng.random() < BACKGROUND_SHARE:
                self._add_background(mels, targets, row, rng)
                feature_weights[row] = 0.5
        distort(mels, rng)
        return Batch(
            *(torch.from_numpy(array) for array in (mels, targets, features, feature_weights, captions, concepts)),
            class_texts=torch.from_numpy(self.texts.class_rows(rng)),
        )

    def _crop(self, clip: PoolClip, frames: int, rng: np.random.Generator) -> Crop:
        """A crop of a clip, or the whole clip at a random place in silence, with what the teacher heard of it."""
        length = min(clip.frames, frames)
        start = int(rng.integers(clip.frames - length + 1))
        place = int(rng.integers(frames - length + 1))
        mel = np.full((frames, BANDS), FLOOR, np.float32)
        first = clip.first_frame + start
        mel[place : place + length] = self.pool.mels[clip.owner][first : first + length]
        mel += equaliser(rng)
        heard = patches_within(clip.patches, start, length) + clip.first_patch
        scores = self.pool.scores[clip.owner][heard].astype(np.float32)
        target = 0.7 * scores.max(axis=0) + 0.3 * scores.mean(axis=0)
        for concept in clip.named:
            index = self._class_of.get(concept)
            if index is not None:
                target[index] = max(target[index], NAMED_TARGET)
        return Crop(mel, target, self.pool.features[clip.owner][heard].astype(np.float32).mean(axis=0))

    def _pair(
        self, frames: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], int, tuple[int, int]]:
        """Two clips of a composed caption, together or one after the other; powers add on the mel scale."""
        pair = self.texts.pairs[int(rng.integers(len(self.texts.pairs)))]
        clips = [self.pool.clips[int(rng.choice(self.texts.members[key]))] for key in (pair.first, pair.second)]
        if pair.in_turn:
            half = frames // 2
            first, second = (self._crop(clip, n, rng) for clip, n in zip(clips, (half, frames - half), strict=True))
            gain = float(rng.uniform(-0.8, 0.8))
            mel = np.concatenate([first.mel + gain, second.mel - gain])
            target = np.maximum(first.target, second.target)
        else:
            first, second = (self._crop(clip, frames, rng) for clip in clips)
            gain = float(rng.uniform(0.8, 3.0) if pair.second_behind else rng.uniform(-1.0, 1.0))
            mel = np.logaddexp(first.mel, second.mel - gain)
            target = np.maximum(
                first.target * (0.6 if gain < -0.5 else 0.85), second.target * (0.6 if gain > 1.5 else 0.85)
            )
        return mel, target, pair.row, self.texts.numbers(pair.first, pair.second)

    def _add_background(
        self, mels: NDArray[np.float32], targets: NDArray[np.float32], row: int, rng: np.random.Generator
    ) -> None:
        """A quiet second clip under a row, which its caption does not mention."""
        crop = self._crop(self.pool.clips[self.pool.draw(rng)], mels.shape[1], rng)
        mels[row] = np.logaddexp(mels[row], crop.mel - float(rng.uniform(2.5, 5.0)))
        targets[row] = np.maximum(0.9 * targets[row], 0.25 * crop.target)


def patches_within(count: int, start: int, length: int) -> NDArray[np.int64]:
    """Which of a clip's patches have their centre within a crop (in frames); at least the nearest one."""
    centres = (np.arange(count) + 0.5) * PATCH_FRAMES
    inside = np.flatnonzero((centres >= start + 20) & (centres < start + length - 20))
    return inside if len(inside) else np.array([min(count - 1, int((start + length / 2) / PATCH_FRAMES))])


def equaliser(rng: np.random.Generator) -> NDArray[np.float32]:
    """A smooth random frequency response, (64,) in natural-log power: mild or strong with equal chance."""
    knots = rng.normal(0.0, 1.0, 6) * rng.choice([0.3, 1.2])
    return np.interp(np.arange(BANDS), np.linspace(0, BANDS - 1, 6), knots).astype(np.float32)


def distort(mels: NDArray[np.float32], rng: np.random.Generator) -> None:
    """Level, noise floor, and hidden bands and moments, in place, row by row."""
    frames = mels.shape[1]
    noise = torch.randn(mels.shape, generator=torch.Generator().manual_seed(int(rng.integers(2**62)))).numpy()
    for row, mel in enumerate(mels):
        mel += float(rng.uniform(-4.5, 0.7))
        floor = float(rng.uniform(-13.5, -7.0))
        np.logaddexp(mel, floor + equaliser(rng) + 0.6 * noise[row], out=mel)
        if rng.random() < 0.5:
            width = int(rng.integers(2, 9))
            first = int(rng.integers(BANDS - width))
            mel[:, first : first + width] = mel.mean()
        if rng.random() < 0.3:
            width = int(rng.integers(5, frames // 6))
            first = int(rng.integers(frames - width))
            mel[first : first + width] = floor
