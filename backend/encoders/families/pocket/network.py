"""The audio tower: log-mel frames through inverted residual convolutions to one unit vector.

Each frame of the tower stands for 80 ms, eight mel frames. A window's vector is read from its
frames by a per-channel attention over time beside their mean.

The tower learns on windows, and it learns what a window's borders look like: the last
convolutions put something into the border frames that the attention reads. So the windows of a
long signal share only the convolutions before the last stride, which is most of the work, and
each goes through the last ones by itself.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

MEL_FRAMES_PER_STEP = 8
"""Time stride of the tower: mel frames per frame of the tower. Frame k is centred on mel frame 8 k."""
FREQUENCY_ROWS = 2
"""Rows of the last feature map: 64 bands halved five times."""


@dataclass(frozen=True)
class TowerShape:
    """Sizes of an audio tower.

    Attributes
    ----------
    channels : tuple of int
        Output channels of the five strided convolutions.
    repeats : tuple of int
        Inverted residual blocks after the second, third, fourth and fifth of them.
    hidden : int
        Channels of the pooled frames.
    expansion : int
        Widening inside an inverted residual block.
    """

    channels: tuple[int, ...] = (16, 32, 64, 128, 192)
    repeats: tuple[int, ...] = (1, 1, 2, 1)
    hidden: int = 512
    expansion: int = 3
    mel_bands: int = 64
    dim: int = 384

    @property
    def reach(self) -> int:
        """Mel frames to either side of its centre that a frame of the shared maps depends on.

        A 3x3 convolution adds one step of its input to either side: 1, 2, 4 or 8 mel frames.
        """
        return 1 + 2 + 4 * self.repeats[0] + 4 + 8 * self.repeats[1] + 8 + 8 * self.repeats[2]


class ConvolutionBlock(nn.Sequential):
    """Convolution without bias, batch norm and (optionally) hard swish."""

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: int = 3,
        stride: int | tuple[int, int] = 1,
        groups: int = 1,
        activation: bool = True,
    ) -> None:
        layers: list[nn.Module] = [
            nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
            nn.BatchNorm2d(outputs),
        ]
        super().__init__(*layers, *([nn.Hardswish()] if activation else []))


class InvertedResidual(nn.Module):
    """Widen with a 1x1, filter each channel with a 3x3, narrow with a 1x1, add the input."""

    def __init__(self, channels: int, expansion: int) -> None:
        super().__init__()
        wide = channels * expansion
        self.layers = nn.Sequential(
            ConvolutionBlock(channels, wide, kernel=1),
            ConvolutionBlock(wide, wide, groups=wide),
            ConvolutionBlock(wide, channels, kernel=1, activation=False),
        )

    def forward(self, maps: torch.Tensor) -> torch.Tensor:
        """(n, channels, time, frequency) -> the same shape."""
        return maps + self.layers(maps)


class AudioTower(nn.Module):
    """Log-mel frames to an L2-normalised embedding.

    Parameters
    ----------
    shape : TowerShape
    auxiliary_classes : int
        Width of the training-only classification head; 0 leaves it out.
    """

    def __init__(self, shape: TowerShape, auxiliary_classes: int = 0) -> None:
        super().__init__()
        self.shape = shape
        self.input_norm = nn.BatchNorm1d(shape.mel_bands)
        first, second, third, fourth, fifth = shape.channels
        blocks: list[nn.Module] = [ConvolutionBlock(1, first, stride=2)]
        steps: tuple[tuple[int, int, int | tuple[int, int]], ...] = (
            (first, second, 2),
            (second, third, 2),
            (third, fourth, (1, 2)),
            (fourth, fifth, (1, 2)),
        )
        for (inputs, outputs, stride), repeats in zip(steps, shape.repeats, strict=True):
            blocks.append(ConvolutionBlock(inputs, outputs, stride=stride))
            blocks += [InvertedResidual(outputs, shape.expansion) for _ in range(repeats)]
        self.features = nn.Sequential(*blocks)
        self._last_stride = len(blocks) - 1 - shape.repeats[-1]
        hidden = shape.hidden
        self.projection = nn.Sequential(
            nn.Conv1d(fifth * FREQUENCY_ROWS, hidden, 3, padding=1, bias=False),
            nn.BatchNorm1d(hidden),
            nn.Hardswish(),
        )
        self.attention_hidden = nn.Conv1d(hidden, hidden // 4, 1)
        self.attention_logits = nn.Conv1d(hidden // 4, hidden, 1)
        self.embedding = nn.Linear(hidden * 2, shape.dim)
        self.auxiliary = nn.Linear(hidden * 2, auxiliary_classes) if auxiliary_classes else None

    def shared(self, mel: torch.Tensor) -> torch.Tensor:
        """(n, mel frames, bands) -> (n, channels, frames, rows): all blocks before the last stride.

        ``frames = ceil(mel frames / 8)``.
        """
        maps = self.input_norm(mel.transpose(1, 2)).transpose(1, 2).unsqueeze(1)
        return self.features[: self._last_stride](maps.contiguous(memory_format=torch.channels_last))

    def frames(self, maps: torch.Tensor) -> torch.Tensor:
        """Shared maps of whole windows (n, channels, frames, rows) -> (n, hidden, frames)."""
        maps = self.features[self._last_stride :](maps)
        count, channels, time, rows = maps.shape
        return self.projection(maps.permute(0, 1, 3, 2).reshape(count, channels * rows, time))

    def attention(self, frames: torch.Tensor) -> torch.Tensor:
        """Attention logits of every frame and channel, the shape of ``frames``."""
        return self.attention_logits(torch.tanh(self.attention_hidden(frames)))

    def pooled(self, mel: torch.Tensor) -> torch.Tensor:
        """(n, mel frames, bands) -> (n, 2 hidden): what the embedding and the auxiliary head read."""
        return self.pooled_maps(self.shared(mel))

    def pooled_maps(self, maps: torch.Tensor) -> torch.Tensor:
        """Shared maps of whole windows (n, channels, frames, rows) -> (n, 2 hidden)."""
        frames = self.frames(maps).float()
        weights = torch.softmax(self.attention(frames), 2)
        return torch.cat([(weights * frames).sum(2), frames.mean(2)], 1)

    def forward(self, mel: torch.Tensor) -> torch.Tensor:
        """(n, mel frames, bands) -> (n, dim), L2-normalised."""
        return nn.functional.normalize(self.embedding(self.pooled(mel)), dim=1)

    def fused(self) -> AudioTower:
        """A copy in evaluation mode whose batch norms live in the convolutions before them.

        The first norm stays: a convolution pads its output with zeros, which folding would change.
        """
        tower = copy.deepcopy(self).eval()
        for module in [*tower.features.modules(), tower.projection]:
            if not isinstance(module, nn.Sequential) or len(module) < 2:
                continue
            convolution, norm = module[0], module[1]
            if isinstance(convolution, nn.Conv1d | nn.Conv2d) and isinstance(norm, nn.BatchNorm1d | nn.BatchNorm2d):
                module[0], module[1] = fuse_conv_bn_eval(convolution, norm), nn.Identity()
        return tower.to(memory_format=torch.channels_last)


def shape_of_state(state: Mapping[str, torch.Tensor]) -> TowerShape:
    """The sizes that a tower's weights belong to."""
    channels: list[int] = []
    repeats: list[int] = []
    expansion = TowerShape.expansion
    for index in range(1 + max(int(re.findall(r"\d+", key)[0]) for key in state if key.startswith("features."))):
        plain = state.get(f"features.{index}.0.weight")
        if plain is not None:
            channels.append(plain.shape[0])
            repeats.append(0)
        else:
            repeats[-1] += 1
            expansion = state[f"features.{index}.layers.0.0.weight"].shape[0] // channels[-1]
    return TowerShape(
        channels=tuple(channels),
        repeats=tuple(repeats[1:]),
        hidden=state["projection.0.weight"].shape[0],
        expansion=expansion,
        mel_bands=state["input_norm.weight"].shape[0],
        dim=state["embedding.weight"].shape[0],
    )
