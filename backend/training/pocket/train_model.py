"""What is trained: both towers, the feature regressor and the scales; and how a tower grows without changing."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

from backend.encoders.families.pocket.checkpoint import renamed
from backend.encoders.families.pocket.network import MEL_FRAMES_PER_STEP, AudioTower, TowerShape
from backend.encoders.families.pocket.text import TextHead
from backend.training.pocket.data_store import CLASSES, FEATURES

SHAPE = TowerShape(hidden=768, expansion=6)
DROPPED = 0.1
"""Share of the pooled channels that a training step leaves out."""


class Trained(nn.Module):
    """Everything that has gradients, and the running mean of the raw audio embedding.

    The mean is what all sounds share; subtracting it keeps single texts from being near to every sound (hubs). It
    is folded into the embedding's bias when the tower is saved.
    """

    centre: torch.Tensor

    def __init__(self, shape: TowerShape = SHAPE) -> None:
        super().__init__()
        self.tower = AudioTower(shape, CLASSES).to(memory_format=torch.channels_last)
        self.head = TextHead(shape.dim)
        self.regressor = nn.Linear(2 * shape.hidden, FEATURES)
        self.contrast_scale = nn.Parameter(torch.tensor(math.log(14.0)))
        self.presence_scale = nn.Parameter(torch.tensor(math.log(10.0)))
        self.presence_offset = nn.Parameter(torch.tensor(-4.0))
        self.register_buffer("centre", torch.zeros(shape.dim))

    def hear(self, mels: torch.Tensor, margin: int = 0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """(n, frames, 64) -> unit embeddings (n, 384), class logits (n, 521), features (n, 1024), all float32.

        ``margin`` frames at either side (a multiple of 8) are context: the shared convolutions see them and the
        last ones do not, which is how a window of a long signal is embedded at run time.
        """
        maps = self.tower.shared(mels)
        skipped = margin // MEL_FRAMES_PER_STEP
        kept = -(-(mels.shape[1] - 2 * margin) // MEL_FRAMES_PER_STEP)
        pooled = self.tower.pooled_maps(maps[:, :, skipped : skipped + kept])
        pooled = functional.dropout(pooled, DROPPED, self.training)
        raw = self.tower.embedding(pooled).float()
        if self.training:
            with torch.no_grad():
                self.centre.lerp_(raw.mean(0), 0.01)
        logits = self.tower.auxiliary(pooled).float()  # type: ignore[misc]
        return functional.normalize(raw - self.centre, dim=1), logits, self.regressor(pooled).float()

    @property
    def scale(self) -> torch.Tensor:
        """The contrastive logit scale, at most 60."""
        return self.contrast_scale.exp().clamp(max=60)

    def centred_tower(self) -> AudioTower:
        """A copy of the tower whose embedding bias contains the centre."""
        tower = copy.deepcopy(self.tower)
        with torch.no_grad():
            tower.embedding.bias.sub_(self.centre)
        return tower


@dataclass
class Average:
    """An exponential moving average of a module, buffers included."""

    module: Trained
    decay: float
    steps: int = 0

    @torch.no_grad()
    def update(self, live: Trained) -> None:
        """Move towards the live weights; early steps count for more, so that the start is forgotten."""
        self.steps += 1
        decay = min(self.decay, (1 + self.steps) / (10 + self.steps))
        for mine, other in zip(self.module.state_dict().values(), live.state_dict().values(), strict=True):
            if mine.dtype.is_floating_point:
                mine.lerp_(other, 1 - decay)
            else:
                mine.copy_(other)


def start_from(model: Trained, checkpoint: Path) -> None:
    """Load a checkpoint of ``pocket train`` or the first prototype, widening the tower where the model is wider.

    The widened tower computes the same embeddings: what is new feeds into zeros.
    """
    stored = torch.load(checkpoint, map_location="cpu", weights_only=True)
    tower, head = renamed(stored["net"]), renamed(stored["heads"])
    model.tower.load_state_dict(widened(tower, model.tower.state_dict()))
    model.head.load_state_dict(head)
    if "regressor" in stored:
        model.regressor.load_state_dict(stored["regressor"])
    scales = stored.get("sc", {})
    for mine, name in (("contrast_scale", "a"), ("presence_scale", "b"), ("presence_offset", "c")):
        for key in (mine, f"minilm.{name}"):
            if key in scales:
                getattr(model, mine).data.copy_(scales[key])


def widened(old: Mapping[str, torch.Tensor], fresh: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Old weights in the leading corner of fresh, wider ones; connections from new channels to old ones are zero."""
    hidden = fresh["projection.0.weight"].shape[0]
    result = {}
    for key, new in fresh.items():
        value, source = new.clone(), old.get(key)
        if source is None or source.shape == new.shape:
            result[key] = value if source is None else source.clone()
            continue
        halves = key in ("embedding.weight", "auxiliary.weight")
        for part in range(2 if halves else 1):
            width = source.shape[1] // 2 if halves else None
            target = value[:, part * hidden : (part + 1) * hidden] if halves else value
            block = source[:, part * width : (part + 1) * width] if halves and width else source
            if target.ndim > 1 and target.shape[1] > block.shape[1]:
                target[: block.shape[0], block.shape[1] :] = 0
            target[tuple(slice(0, size) for size in block.shape)] = block
        result[key] = value
    return result
