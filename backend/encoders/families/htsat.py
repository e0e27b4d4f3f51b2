"""HTSAT's audio tower with the same numbers and less work.

It runs the modules of ``laion_clap`` themselves (their weights, their layers) and leaves out what an
embedding does not use: attention maps kept for display, the class heads, and frames of a repeated
window that were already computed. A test holds it to the package's own output within 1e-5.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.nn import functional

from backend.encoders.packed import PackedLinear

CLIP_SAMPLES = 480_000
"""Length of the network's input: 10 s at 48 kHz."""


def repeated(waveforms: torch.Tensor) -> torch.Tensor:
    """(n, samples) -> (n, 480000): whole repeats, then zeros ("repeatpad" of the package)."""
    samples = waveforms.shape[1]
    tiled = waveforms.repeat(1, CLIP_SAMPLES // samples)
    return functional.pad(tiled, (0, CLIP_SAMPLES - tiled.shape[1]))


class AudioTower:
    """``htsat_embedding(waveforms)`` of one loaded HTSAT branch, in evaluation mode."""

    def __init__(self, branch: Any) -> None:
        self.branch = branch
        stft = branch.spectrogram_extractor.stft
        self.hop, self.half_frame = int(stft.hop_length), int(stft.n_fft) // 2
        filters = branch.logmel_extractor.melW.detach()
        used = torch.nonzero(filters.abs().sum(dim=1)).flatten()
        low, high = int(used[0]), int(used[-1]) + 1
        self.filters = filters[low:high].contiguous()
        self.kernels = torch.cat([stft.conv_real.weight[low:high], stft.conv_imag.weight[low:high]]).detach()
        self.biases = [[_attention_bias(block) for block in layer.blocks] for layer in branch.layers]

    def __call__(self, waveforms: torch.Tensor, bf16: bool = False) -> torch.Tensor:
        """(n, samples <= 480000) quantised waveforms -> (n, C) pooled features, not normalised.

        With ``bf16`` the blocks run in bfloat16; the spectrum, whose range that would cut off, does not.
        """
        branch = self.branch
        mel = branch.bn0(self.log_mel(waveforms).transpose(1, 3)).transpose(1, 3)
        image = branch.reshape_wav2img(mel)
        with torch.autocast(image.device.type, torch.bfloat16, enabled=bf16):
            return self._pooled(image).float()

    def _pooled(self, image: torch.Tensor) -> torch.Tensor:
        branch = self.branch
        tokens = branch.patch_embed(image)
        if branch.ape:
            tokens = tokens + branch.absolute_pos_embed
        for layer, biases in zip(branch.layers, self.biases, strict=True):
            for block, bias in zip(layer.blocks, biases, strict=True):
                tokens = _block(block, bias, tokens)
            if layer.downsample is not None:
                tokens = layer.downsample(tokens)
        # The package regroups the tokens into an image and averages it: the mean over tokens.
        return branch.norm(tokens).mean(dim=1)

    def log_mel(self, waveforms: torch.Tensor) -> torch.Tensor:
        """(n, samples) -> (n, 1, 1001, 64) log-mel of the repeated windows, "mel once" where that is exact.

        A window whose length divides 10 s and is a whole number of hops makes a periodic signal: every
        frame recurs, but for those at the two ends that see the reflection. One period and the ends are all.
        """
        branch, samples = self.branch, waveforms.shape[1]
        repeats, period = CLIP_SAMPLES // samples, samples // self.hop
        reach = math.ceil(self.half_frame / self.hop)  # frames at an end that see the reflection
        whole = samples * repeats == CLIP_SAMPLES and samples % self.hop == 0
        if not whole or period <= 2 * reach:
            return branch.logmel_extractor(branch.spectrogram_extractor(repeated(waveforms)))
        half, span = self.half_frame, (reach - 1) * self.hop + self.half_frame
        circle = torch.cat([waveforms[:, -half:], waveforms, waveforms[:, :half]], dim=1)
        first, last = waveforms[:, : span + 1], waveforms[:, -span - 1 :]
        left = torch.cat([first[:, 1 : half + 1].flip(1), first[:, :span]], dim=1)
        right = torch.cat([last[:, -span:], last[:, -half - 1 : -1].flip(1)], dim=1)
        ring = self._mel(circle)[:, :period]
        head, tail = self._mel(torch.cat([left, right])).chunk(2)
        frames = [ring] * repeats
        frames[0] = torch.cat([head[:, :reach], ring[:, reach:]], dim=1)
        inner = frames[-1][:, : period - reach + 1]
        return torch.cat([*frames[:-1], inner, tail[:, -reach:]], dim=1).unsqueeze(1)

    def _mel(self, signal: torch.Tensor) -> torch.Tensor:
        """(n, samples) already padded -> (n, frames, 64) log-mel; frequencies no filter uses are not computed."""
        spectrum = functional.conv1d(signal.unsqueeze(1), self.kernels, stride=self.hop)
        real, imaginary = spectrum.chunk(2, dim=1)
        power = (real**2 + imaginary**2).transpose(1, 2)
        return self.branch.logmel_extractor.power_to_db(power @ self.filters)


def _attention_bias(block: Any) -> torch.Tensor:
    """Relative positions, plus the mask of shifted windows: (windows or 1, heads, tokens, tokens)."""
    attention = block.attn
    tokens = attention.window_size[0] * attention.window_size[1]
    flat = attention.relative_position_bias_table[attention.relative_position_index.view(-1)]
    bias = flat.view(tokens, tokens, -1).permute(2, 0, 1).unsqueeze(0)
    if block.attn_mask is not None:
        bias = bias + block.attn_mask.unsqueeze(1)
    return bias.detach().contiguous()


def _block(block: Any, bias: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """One Swin block on (n, height * width, C) tokens."""
    height, width = block.input_resolution
    side, shift = block.window_size, block.shift_size
    count, _, channels = tokens.shape
    image = block.norm1(tokens).view(count, height, width, channels)
    if shift:
        image = torch.roll(image, shifts=(-shift, -shift), dims=(1, 2))
    windows = image.view(count, height // side, side, width // side, side, channels)
    windows = windows.permute(0, 1, 3, 2, 4, 5).reshape(-1, side * side, channels)
    attended = _attention(block.attn, bias, windows)
    image = attended.view(count, height // side, width // side, side, side, channels)
    image = image.permute(0, 1, 3, 2, 4, 5).reshape(count, height, width, channels)
    if shift:
        image = torch.roll(image, shifts=(shift, shift), dims=(1, 2))
    tokens = tokens + image.view(count, height * width, channels)
    return tokens + _feed_forward(block.mlp, block.norm2(tokens))


def _feed_forward(mlp: Any, tokens: torch.Tensor) -> torch.Tensor:
    if isinstance(mlp.fc1, PackedLinear) and isinstance(mlp.act, torch.nn.GELU):
        return mlp.fc2(mlp.fc1.then_gelu(tokens))
    return mlp(tokens)


def _attention(attention: Any, bias: torch.Tensor, windows: torch.Tensor) -> torch.Tensor:
    """Windowed self-attention, (windows, tokens, C) -> the same."""
    count, tokens, channels = windows.shape
    heads = attention.num_heads
    parts = attention.qkv(windows).view(count, tokens, 3, heads, channels // heads).permute(2, 0, 3, 1, 4)
    if len(bias) > 1:
        bias = bias.repeat(count // len(bias), 1, 1, 1)
    mixed = functional.scaled_dot_product_attention(
        parts[0], parts[1], parts[2], attn_mask=bias.to(parts.dtype), scale=attention.scale
    )
    return attention.proj(mixed.transpose(1, 2).reshape(count, tokens, channels))
