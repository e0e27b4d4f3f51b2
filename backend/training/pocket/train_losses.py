"""The losses: what the teacher hears, as texts, as classes and as features; captions; and texts among themselves."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn import functional

from backend.training.pocket.train_batches import Batch
from backend.training.pocket.train_model import Trained

TOO_ALIKE = 0.6
"""Cosine of frozen sentence embeddings above which two texts are not held against each other."""
SAME_PAIR = 0.85
"""The same for captions of two sounds that share one of them, so that the other one has to be heard."""
SYNONYM_SCALE = 20.0
TEXT_NOISE = 0.02
"""Standard deviation of noise on sentence embeddings (about 0.4 of their length in all): wordings near a trained one
should land near it."""
WEIGHTS = {
    "features": 3.0, "classes": 0.3, "naming": 0.7, "presence": 1.0, "finding": 0.25, "captions": 0.7, "synonyms": 0.3
}  # fmt: skip


@dataclass(frozen=True)
class ClassTexts:
    """Which teacher classes are trained as texts, and how much each counts where the teacher hears it."""

    kept: torch.Tensor
    """(k,) class indices."""
    shares: torch.Tensor
    """(k,) weight of a class among what was heard; general classes count less."""


@dataclass(frozen=True)
class FeatureScale:
    """Mean and spread of the teacher's features over the training clips, (1024,) each."""

    mean: torch.Tensor
    spread: torch.Tensor


def losses(
    model: Trained, batch: Batch, sentences: torch.Tensor, classes: ClassTexts, scale: FeatureScale
) -> dict[str, torch.Tensor]:
    """Every loss of one batch, unweighted. ``sentences``: (texts, 384) frozen embeddings."""
    count = len(classes.kept)
    with torch.autocast("cpu", torch.bfloat16):
        audio, logits, features = model.hear(batch.mels, batch.margin)
        rows = torch.cat([batch.class_texts[0][classes.kept], batch.class_texts[1][classes.kept], batch.captions])
        frozen = sentences[rows]
        noisy = frozen + TEXT_NOISE * torch.randn_like(frozen)
        texts = model.head(noisy).float()
    audio, texts = audio.float(), functional.normalize(texts, dim=1)
    heard = batch.targets[:, classes.kept].clamp(0, 1)
    cosines = audio @ texts[:count].T
    return {
        "features": feature_loss(features, batch, scale),
        "classes": presence_loss(logits, batch.targets.clamp(0, 1)),
        "naming": naming_loss(model.scale * cosines, heard * classes.shares),
        "presence": presence_loss(model.presence_scale.exp() * cosines + model.presence_offset, heard),
        "finding": finding_loss(model.scale * cosines, heard),
        "captions": caption_loss(model.scale * audio @ texts[2 * count :].T, same_meaning(frozen[2 * count :], batch)),
        "synonyms": synonym_loss(texts[:count], texts[count : 2 * count], frozen[:count]),
    }


def feature_loss(predicted: torch.Tensor, batch: Batch, scale: FeatureScale) -> torch.Tensor:
    """1 - cosine to the teacher's standardised features, where it heard the sound as it is."""
    wanted = (batch.features - scale.mean) / scale.spread
    apart = 1 - functional.cosine_similarity(predicted, wanted, dim=1)
    return (apart * batch.feature_weights).sum() / batch.feature_weights.sum().clamp(min=1)


def presence_loss(logits: torch.Tensor, heard: torch.Tensor) -> torch.Tensor:
    """Each class by itself: is it there? Binary cross-entropy, a tenth of the sum over classes."""
    return 0.1 * functional.binary_cross_entropy_with_logits(logits, heard, reduction="none").sum(1).mean()


def naming_loss(logits: torch.Tensor, heard: torch.Tensor) -> torch.Tensor:
    """Which class text belongs to a sound: cross-entropy to what was heard, normalised over classes."""
    wanted = heard / (heard.sum(1, keepdim=True) + 1e-4)
    return -(wanted * functional.log_softmax(logits, 1)).sum(1).mean()


def finding_loss(logits: torch.Tensor, heard: torch.Tensor) -> torch.Tensor:
    """Which sound of the batch belongs to a class text, for the texts that some sound answers: the other direction.

    It keeps a text from being near to every sound.
    """
    answered = heard.amax(0) > 0.3
    if not bool(answered.any()):
        return logits.sum() * 0
    wanted = heard[:, answered].square()
    wanted = wanted / wanted.sum(0, keepdim=True)
    return -(wanted * functional.log_softmax(logits[:, answered], 0)).sum(0).mean()


def same_meaning(frozen: torch.Tensor, batch: Batch) -> torch.Tensor:
    """(n, n) bool, captions that must not be held against each other; diagonal False.

    They are alike, or all that one of them names is named by the other: "a dog" is right for a dog in the rain. Two
    pairs of sounds with one in common differ.
    """
    mine = batch.concepts
    named = mine >= 0
    shared = ((mine[:, None, :, None] == mine[None, :, None, :]) & named[:, None, :, None]).any(3).sum(2)
    count = named.sum(1)
    fewest = torch.minimum(count[:, None], count[None, :])
    within = (shared >= fewest) & (fewest > 0)
    differing = (shared == 1) & (fewest == 2)
    likeness = frozen @ frozen.T
    alike = torch.where(differing, likeness > SAME_PAIR, likeness > TOO_ALIKE)
    return (within | alike).fill_diagonal_(False)


def caption_loss(logits: torch.Tensor, excused: torch.Tensor) -> torch.Tensor:
    """Symmetric cross-entropy between sounds and their captions."""
    masked = logits.masked_fill(excused, -1e4)
    own = torch.arange(len(masked))
    return 0.5 * (functional.cross_entropy(masked, own) + functional.cross_entropy(masked.T, own))


def synonym_loss(first: torch.Tensor, second: torch.Tensor, frozen: torch.Tensor) -> torch.Tensor:
    """Two phrases of a class are nearer to each other than to phrases of classes with another name."""
    excused = (frozen @ frozen.T > TOO_ALIKE).fill_diagonal_(False)
    return caption_loss(SYNONYM_SCALE * second @ first.T, excused)
