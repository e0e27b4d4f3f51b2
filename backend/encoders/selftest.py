"""A minute's suspicion of a newly loaded encoder: two sounds, a few texts, and warnings in words.

One public checkpoint has a text side that maps everything to one vector (mean cosine between texts
.9993); it loads, answers, ranks, and means nothing. That must be said before someone believes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from backend.checks import DEFAULT_SEED
from backend.encoders.base import Encoder, FloatArray
from backend.kept import Kept
from backend.reports.jsonable import jsonable
from backend.reports.provenance import provenance

TEXTS = (
    "a dog barking",
    "heavy rain on a roof",
    "a church bell",
    "a baby crying",
    "an engine starting",
    "people laughing",
    "waves on a beach",
    "a violin playing slowly",
)
SECONDS = 2.0
COLLAPSED = 0.95
"""Mean cosine between unlike texts from which a text side counts as collapsed (own choice): working CLAP
checkpoints lie near .2 to .3 or below, the broken one at .9993."""
SAME_SOUND = 0.9999
TOLERANCE = 1e-4


@dataclass(frozen=True)
class SelfTest:
    """What was measured, and what it means."""

    encoder: str
    weights: str
    sound_cosine: float
    """Cosine between a click train and noise; NaN when the encoder knows no new sounds."""
    text_cosine: float
    """Mean cosine between unlike texts; NaN without a text side."""
    warnings: tuple[str, ...]
    """Sentences; empty when nothing is wrong."""

    def record(self) -> dict[str, Any]:
        """What ``encoders --test`` prints; a cosine that was not measured is None."""
        return {
            "encoder": self.encoder,
            "weights": self.weights,
            "sound_cosine": jsonable(self.sound_cosine, 4),
            "text_cosine": jsonable(self.text_cosine, 4),
            "warnings": list(self.warnings),
            "provenance": provenance(self.encoder, self.weights, DEFAULT_SEED),
        }


def two_sounds(sample_rate: int) -> FloatArray:
    """(2, samples) float32 of 2 s: a train of decaying clicks, and noise."""
    time = np.arange(round(SECONDS * sample_rate)) / sample_rate
    clicks = np.sin(2 * np.pi * 800 * time) * np.exp(-20 * (time % 0.5))
    noise = np.random.default_rng(DEFAULT_SEED).normal(scale=0.1, size=time.size)
    return np.stack([0.5 * clicks, np.clip(noise, -1, 1)]).astype(np.float32)


def self_test(encoder: Encoder) -> SelfTest:
    """Embed two sounds and eight texts, twice and in different company.

    Parameters
    ----------
    encoder : Encoder
        Any; a table, which knows only what is in it, is not asked about new sounds.

    Raises
    ------
    InputError
        The encoder cannot embed at all.
    """
    warnings: list[str] = []
    sound, text = float("nan"), float("nan")
    if not encoder.id.startswith("table:"):
        sound = _sounds(encoder, warnings)
        if encoder.has_text:
            text = _texts(encoder, warnings)
    return SelfTest(encoder.id, encoder.weights, sound, text, tuple(warnings))


def _sounds(encoder: Encoder, warnings: list[str]) -> float:
    sounds = two_sounds(encoder.sample_rate)
    together, again = encoder.embed_audio(sounds), encoder.embed_audio(sounds)
    alone = np.concatenate([encoder.embed_audio(sounds[:1]), encoder.embed_audio(sounds[1:])])
    if not np.isfinite(together).all() or together.shape != (2, encoder.dim):
        warnings.append("It answers sounds with something other than vectors of numbers. Do not use it.")
        return float("nan")
    if np.abs(together - again).max() > TOLERANCE:
        warnings.append("The same sound gets another vector each time: results cannot be repeated.")
    elif np.abs(together - alone).max() > TOLERANCE:
        warnings.append("A sound's vector depends on the sounds beside it: results depend on how they are grouped.")
    cosine = float(together[0] @ together[1])
    if cosine > SAME_SOUND:
        warnings.append(f"Clicks and noise get the same vector (cosine {cosine:+.4f}): its audio side is broken.")
    return cosine


def _texts(encoder: Encoder, warnings: list[str]) -> float:
    vectors, again = encoder.embed_text(TEXTS), encoder.embed_text(TEXTS)
    if not np.isfinite(vectors).all() or vectors.shape != (len(TEXTS), encoder.dim):
        warnings.append("It answers texts with something other than vectors of numbers. Do not use it.")
        return float("nan")
    if np.abs(vectors - again).max() > TOLERANCE:
        warnings.append("The same text gets another vector each time: results cannot be repeated.")
    pairs = np.triu_indices(len(TEXTS), 1)
    cosine = float((vectors @ vectors.T)[pairs].mean())
    if cosine > COLLAPSED:
        warnings.append(
            f"Its text side is collapsed: eight unlike texts lie at mean cosine {cosine:+.4f}, where a working one "
            f"stays below about +0.3. Rankings by words will be close to chance."
        )
    return cosine


_known: Kept[tuple[str, str], SelfTest] = Kept(most=100)


def tested(encoder: Encoder) -> SelfTest:
    """The self-test of an encoder, run once per process and weights."""
    return _known.get((encoder.id, encoder.weights), lambda: self_test(encoder))
