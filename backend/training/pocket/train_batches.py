"""Batches: crops of clips, two of them mixed on the mel scale with a composed caption, and distortions of both.

A window of a long signal is embedded with the sound around it, which the shared convolutions let in. So a good share
of the batches are crops with a margin at either side: what truly came before and after, other sounds, or nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import IterableDataset

from backend.training.pocket.data_store import BANDS, CLASSES, FEATURES
from backend.training.pocket.train_families import FAMILIES
from backend.training.pocket.train_pool import NAMED_TARGET, PoolClip, TrainingPool
from backend.training.pocket.train_texts import Pair, TextTable

FLOOR = -13.8
"""Log-mel of digital silence, log(1e-6)."""
LENGTHS, LENGTH_SHARES = (200, 300, 400, 800), (0.62, 0.18, 0.14, 0.06)
"""Frames of a batch's crops: two, three, four or eight seconds."""
PATCH_FRAMES = 97.5
PAIR_SHARE = 0.32
BACKGROUND_SHARE = 0.3
MARGIN = 48
"""Frames of context at either side of a crop: the reach of the shared convolutions, in whole steps of the tower."""
MARGIN_SHARE = 0.6
"""Batches whose crops have a margin; in the others silence surrounds them, as in a window that is cut out."""
STRANGER_SHARE = 0.4
"""Crops whose margin holds another sound of the batch as well, which neither target nor caption mentions."""
FAMILY_BATCHES, FAMILY_SHARE = 0.5, 0.4
"""Batches that hold rows of one family of confusable classes, and the share of their rows."""
SHIFT_SHARE, MOST_SHIFTED = 0.4, 1.5
"""Crops moved along the frequency axis, and how far at most, in bands."""


@dataclass(frozen=True)
class Batch:
    """One training batch; every array has n rows."""

    mels: torch.Tensor
    """(n, margin + frames + margin, 64) float32 log-mel."""
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
    margin: int = 0
    """Frames at either side that are context only; a multiple of 8."""


@dataclass(frozen=True)
class Crop:
    """A mel with its margins, and what the teacher heard between them: scores and features."""

    mel: NDArray[np.float32]
    target: NDArray[np.float32]
    features: NDArray[np.float32]


class PairRow(NamedTuple):
    """One row with a composed caption: mel, target, row of the caption, its two concepts."""

    mel: NDArray[np.float32]
    target: NDArray[np.float32]
    caption: int
    concepts: tuple[int, int]


class BatchStream(IterableDataset[Batch]):
    """Endless batches; each worker draws from a generator of its own."""

    def __init__(self, pool: TrainingPool, texts: TextTable, size: int, seed: int) -> None:
        super().__init__()
        self.pool, self.texts, self.size, self.seed = pool, texts, size, seed
        self._class_of = {name: index for index, name in enumerate(pool.classes)}
        self._overlaid: dict[str, list[Pair]] = defaultdict(list)
        for pair in texts.pairs:
            if not pair.in_turn:
                self._overlaid[pair.first].append(pair)
        self._families = [found for family in FAMILIES.values() if (found := [c for c in family if c in texts.members])]

    def __iter__(self) -> Iterator[Batch]:
        torch.set_num_threads(1)
        worker = torch.utils.data.get_worker_info()
        rng = np.random.default_rng([self.seed, worker.id if worker else 0])
        while True:
            yield self.batch(rng)

    def batch(self, rng: np.random.Generator) -> Batch:
        """Assemble one batch."""
        frames = int(rng.choice(LENGTHS, p=LENGTH_SHARES))
        margin = MARGIN if rng.random() < MARGIN_SHARE else 0
        family = self._family(rng)
        mels = np.empty((self.size, frames + 2 * margin, BANDS), np.float32)
        targets = np.empty((self.size, CLASSES), np.float32)
        features = np.zeros((self.size, FEATURES), np.float32)
        feature_weights = np.zeros(self.size, np.float32)
        captions = np.empty(self.size, np.int64)
        concepts = np.full((self.size, 2), -1, np.int64)
        paired = 2 * rng.binomial(self.size // 2, PAIR_SHARE)
        for row in range(0, paired, 2):
            for twin, made in enumerate(self._twins(frames, margin, rng)):
                mels[row + twin], targets[row + twin], captions[row + twin], concepts[row + twin] = made
        for row in range(paired, self.size):
            clip = self._drawn(family, rng)
            crop = self._crop(clip, frames, margin, rng)
            mels[row], targets[row], features[row], feature_weights[row] = crop.mel, crop.target, crop.features, 1
            captions[row], concepts[row] = self.texts.describe(clip, self.pool, rng)
            if not clip.in_mixture and rng.random() < BACKGROUND_SHARE:
                self._add_background(mels, targets, row, margin, rng)
                feature_weights[row] = 0.5
        if margin:
            add_strangers(mels, margin, rng)
        distort(mels, rng)
        as_tensor = torch.from_numpy
        return Batch(
            as_tensor(mels), as_tensor(targets), as_tensor(features), as_tensor(feature_weights), as_tensor(captions),
            as_tensor(concepts), as_tensor(self.texts.class_rows(rng)), margin,
        )  # fmt: skip

    def _family(self, rng: np.random.Generator) -> list[str]:
        """A family of confusable classes for half the batches, else nothing."""
        if not self._families or rng.random() >= FAMILY_BATCHES:
            return []
        return self._families[int(rng.integers(len(self._families)))]

    def _drawn(self, family: Sequence[str], rng: np.random.Generator) -> PoolClip:
        """A clip of the pool, or of a class of the family."""
        if family and rng.random() < FAMILY_SHARE:
            return self.pool.clips[int(rng.choice(self.texts.members[family[int(rng.integers(len(family)))]]))]
        return self.pool.clips[self.pool.draw(rng)]

    def _crop(self, clip: PoolClip, frames: int, margin: int, rng: np.random.Generator) -> Crop:
        """A crop of a clip, or the whole clip at a random place in silence, with what the teacher heard of it.

        The margin holds what truly came before and after. The target is about the crop alone.
        """
        length = min(clip.frames, frames)
        start = int(rng.integers(clip.frames - length + 1))
        place = int(rng.integers(frames - length + 1))
        before, after = (min(margin, known) for known in (start, clip.frames - start - length))
        # A clip shorter than the crop has no more of itself; a longer one fills the crop (place is 0).
        mel = np.full((frames + 2 * margin, BANDS), FLOOR, np.float32)
        first = clip.first_frame + start
        filled = slice(margin + place - before, margin + place + length + after)
        mel[filled] = self.pool.mels[clip.owner][first - before : first + length + after]
        if rng.random() < SHIFT_SHARE:
            mel = shifted(mel, float(rng.uniform(-MOST_SHIFTED, MOST_SHIFTED)))
        mel += equaliser(rng)
        heard = patches_within(clip.patches, start, length) + clip.first_patch
        scores = self.pool.scores[clip.owner][heard].astype(np.float32)
        target = 0.7 * scores.max(axis=0) + 0.3 * scores.mean(axis=0)
        for concept in clip.named:
            index = self._class_of.get(concept)
            if index is not None:
                target[index] = max(target[index], NAMED_TARGET)
        return Crop(mel, target, self.pool.features[clip.owner][heard].astype(np.float32).mean(axis=0))

    def _twins(self, frames: int, margin: int, rng: np.random.Generator) -> tuple[PairRow, PairRow]:
        """Two rows of composed captions. If their sounds overlap, both hold the same crop of the first sound.

        So the one differs from the other in the second sound alone, which is what has to be heard to tell whether
        that sound is there at all.
        """
        pair = self.texts.pairs[int(rng.integers(len(self.texts.pairs)))]
        first = None if pair.in_turn else self._member(pair.first, frames, margin, rng)
        others = self.texts.pairs if pair.in_turn else self._overlaid[pair.first]
        twin = others[int(rng.integers(len(others)))]
        return self._composed(pair, first, frames, margin, rng), self._composed(twin, first, frames, margin, rng)

    def _composed(self, pair: Pair, first: Crop | None, frames: int, margin: int, rng: np.random.Generator) -> PairRow:
        """One row of a composed caption; the crop of its first sound is drawn unless it is given."""
        if pair.in_turn:
            return self._in_turn(pair, frames, margin, rng)
        return self._overlaid_pair(pair, first or self._member(pair.first, frames, margin, rng), frames, margin, rng)

    def _member(self, concept: str, frames: int, margin: int, rng: np.random.Generator) -> Crop:
        """A crop of any clip of a concept."""
        return self._crop(self.pool.clips[int(rng.choice(self.texts.members[concept]))], frames, margin, rng)

    def _in_turn(self, pair: Pair, frames: int, margin: int, rng: np.random.Generator) -> PairRow:
        """The two sounds of a caption one after the other."""
        half = frames // 2
        first = self._member(pair.first, half, margin, rng)
        second = self._member(pair.second, frames - half, margin, rng)
        gain = float(rng.uniform(-0.8, 0.8))
        mel = np.concatenate([first.mel[: margin + half] + gain, second.mel[margin:] - gain])
        return PairRow(
            mel, np.maximum(first.target, second.target), pair.row, self.texts.numbers(pair.first, pair.second)
        )

    def _overlaid_pair(self, pair: Pair, first: Crop, frames: int, margin: int, rng: np.random.Generator) -> PairRow:
        """A second sound over the first, the powers added on the mel scale; a second one behind is 3 to 13 dB lower."""
        second = self._member(pair.second, frames, margin, rng)
        gain = float(rng.uniform(0.8, 3.0) if pair.second_behind else rng.uniform(-1.2, 1.2))
        mel = np.logaddexp(first.mel, second.mel - gain)
        target = np.maximum(
            first.target * (0.6 if gain < -0.5 else 0.85), second.target * (0.6 if gain > 1.5 else 0.85)
        )
        return PairRow(mel, target, pair.row, self.texts.numbers(pair.first, pair.second))

    def _add_background(
        self, mels: NDArray[np.float32], targets: NDArray[np.float32], row: int, margin: int, rng: np.random.Generator
    ) -> None:
        """A quiet second clip under a row, which its caption does not mention."""
        crop = self._crop(self.pool.clips[self.pool.draw(rng)], mels.shape[1] - 2 * margin, margin, rng)
        mels[row] = np.logaddexp(mels[row], crop.mel - float(rng.uniform(2.5, 5.0)))
        targets[row] = np.maximum(0.9 * targets[row], 0.25 * crop.target)


def patches_within(count: int, start: int, length: int) -> NDArray[np.int64]:
    """Which of a clip's patches have their centre within a crop (in frames); at least the nearest one."""
    centres = (np.arange(count) + 0.5) * PATCH_FRAMES
    inside = np.flatnonzero((centres >= start + 20) & (centres < start + length - 20))
    return inside if len(inside) else np.array([min(count - 1, int((start + length / 2) / PATCH_FRAMES))])


def add_strangers(mels: NDArray[np.float32], margin: int, rng: np.random.Generator) -> None:
    """Let the sound of another row end just before a crop, or begin just after it, in place."""
    others = np.roll(mels, 1, axis=0)
    for row in range(len(mels)):
        if rng.random() < STRANGER_SHARE:
            level = float(rng.uniform(-1.0, 1.0))
            mels[row, :margin] = np.logaddexp(mels[row, :margin], others[row, -2 * margin : -margin] + level)
        if rng.random() < STRANGER_SHARE:
            level = float(rng.uniform(-1.0, 1.0))
            mels[row, -margin:] = np.logaddexp(mels[row, -margin:], others[row, margin : 2 * margin] + level)


def shifted(mel: NDArray[np.float32], bands: float) -> NDArray[np.float32]:
    """Moved up by a number of bands, interpolated between them; the outermost band is repeated."""
    places = np.clip(np.arange(BANDS) - bands, 0, BANDS - 1)
    lower = np.minimum(places.astype(int), BANDS - 2)
    share = (places - lower).astype(np.float32)
    return (1 - share) * mel[:, lower] + share * mel[:, lower + 1]


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
