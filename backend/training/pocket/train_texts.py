"""All texts of a training run as rows of one table of frozen sentence embeddings."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backend.training.pocket.captions import CaptionBank, caption_bank, framed, joined
from backend.training.pocket.train_pool import PoolClip, TrainingPool

PAIRS = 6000
FRAMED_SHARE = 0.3
OWN_CAPTION_SHARE = 0.3
"""How often a recording is described by the caption in its manifest."""
Embed = Callable[[Sequence[str]], NDArray[np.float32]]


@dataclass(frozen=True)
class Pair:
    """A composed caption of two concepts."""

    first: str
    second: str
    in_turn: bool
    second_behind: bool
    text: str
    row: int


class TextTable:
    """Texts, their sentence embeddings, and which of them describe a concept, a class or a clip."""

    def __init__(self, pool: TrainingPool, seed: int) -> None:
        bank = caption_bank()
        self._rows: dict[str, int] = {}
        rng = np.random.default_rng(seed)
        self.bare = {concept: self._add(phrases) for concept, phrases in bank.phrases.items()}
        self.framed = {c: self._add([framed(p, rng) for p in phrases]) for c, phrases in bank.phrases.items()}
        self.own = {clip.caption: self._add([clip.caption])[0] for clip in pool.clips if clip.caption}
        self._number = {concept: number for number, concept in enumerate(bank.phrases)}
        self._classes = pool.classes
        self.members = _concept_members(pool)
        self.pairs = self._compose(pool, bank, rng)
        self.embeddings = np.zeros((0, 0), np.float32)

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text, in the order of the rows."""
        return tuple(self._rows)

    def embed(self, embed: Embed, cache: Path | None = None) -> None:
        """Fill ``embeddings``, (texts, 384) float32, by ``embed``; ``cache`` keeps them between runs."""
        known = _read_cache(cache)
        missing = [text for text in self.texts if text not in known]
        if missing:
            known.update(zip(missing, embed(missing), strict=True))
            _write_cache(cache, known)
        self.embeddings = np.stack([known[text] for text in self.texts]).astype(np.float32)

    def numbers(self, *concepts: str) -> tuple[int, int]:
        """Numbers of one or two concepts; -1 stands for none."""
        found = [self._number[concept] for concept in concepts[:2]]
        return found[0], found[1] if len(found) > 1 else -1

    def class_rows(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Two phrases of every teacher class, (2, 521)."""
        return np.array([[self._one_of(name, rng) for name in self._classes] for _ in range(2)])

    def describe(self, clip: PoolClip, pool: TrainingPool, rng: np.random.Generator) -> tuple[int, tuple[int, int]]:
        """A text for a clip (its row) and the concepts it names."""
        if clip.in_mixture:
            return self.own[clip.caption], self.numbers(*clip.named)
        if clip.caption and clip.named and rng.random() < OWN_CAPTION_SHARE:
            return self.own[clip.caption], self.numbers(clip.named[0])
        concept = pool.concept(clip, rng)
        return self._one_of(concept, rng), self.numbers(concept)

    def _one_of(self, concept: str, rng: np.random.Generator) -> int:
        table = self.framed if rng.random() < FRAMED_SHARE else self.bare
        rows = table[concept]
        return rows[int(rng.integers(len(rows)))]

    def _add(self, texts: Sequence[str]) -> list[int]:
        return [self._rows.setdefault(text, len(self._rows)) for text in texts]

    def _compose(self, pool: TrainingPool, bank: CaptionBank, rng: np.random.Generator) -> tuple[Pair, ...]:
        pairs: list[Pair] = []
        while len(pairs) < PAIRS:
            first, second = (pool.concept(pool.clips[pool.draw(rng)], rng) for _ in range(2))
            if first == second or first not in self.members or second not in self.members:
                continue
            a, b = (bank.phrases[key][int(rng.integers(len(bank.phrases[key])))] for key in (first, second))
            in_turn = bool(rng.random() < 0.3)
            text = joined(a, b, in_turn, rng)
            behind = not in_turn and ("background" in text or " over " in text)
            pairs.append(Pair(first, second, in_turn, behind, text, self._add([text])[0]))
        return tuple(pairs)

    def summary(self) -> str:
        """Counts, for the log, and one pair as an example."""
        return json.dumps({"texts": len(self._rows), "pairs": len(self.pairs), "example": asdict(self.pairs[0])})


def _concept_members(pool: TrainingPool) -> dict[str, NDArray[np.int64]]:
    """Clips of each concept: those named so, and those whose strongest heard class it is."""
    members = {concept: list(found) for concept, found in pool.by_concept.items()}
    for index, clip in enumerate(pool.clips):
        if not clip.in_mixture:
            members.setdefault(pool.classes[clip.heard[0]], []).append(index)
    return {concept: np.array(sorted(set(found))) for concept, found in members.items()}


def _read_cache(cache: Path | None) -> dict[str, NDArray[np.float32]]:
    if cache is None or not cache.is_file():
        return {}
    with np.load(cache) as stored:
        texts = bytes(stored["texts"]).decode().split("\n")
        return dict(zip(texts, stored["embeddings"], strict=True))


def _write_cache(cache: Path | None, known: dict[str, NDArray[np.float32]]) -> None:
    if cache is not None:
        packed = np.frombuffer("\n".join(known).encode(), np.uint8)
        np.savez(cache, texts=packed, embeddings=np.stack(list(known.values())).astype(np.float16))
