"""Linear layers on a processor with their weights laid out once for oneDNN.

torch hands float32 products to MKL, which on processors other than Intel's runs at half their speed (measured:
97 against 215 GFLOP/s on one AMD core). oneDNN does not; the numbers are those of float32 in another
order of summation, within 1e-6 of each other.
"""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import Any

import torch
from torch import nn

log = logging.getLogger(__name__)
ROWS_HINT = 1024
"""Rows the layout is chosen for; any number works."""
SMALLEST = 32
"""Below this many inputs or outputs a layer is left alone."""


class PackedLinear(nn.Module):
    """A frozen ``nn.Linear`` with a packed weight. Its own attributes other than the sizes are gone."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.packed = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach(), ROWS_HINT)
        self.bias = None if linear.bias is None else linear.bias.detach()

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """(..., in) -> (..., out)."""
        return torch.ops.mkldnn._linear_pointwise(rows, self.packed, self.bias, "none", [], "")

    def then_gelu(self, rows: torch.Tensor) -> torch.Tensor:
        """(..., in) -> (..., out), followed by the exact GELU in the same pass."""
        return torch.ops.mkldnn._linear_pointwise(rows, self.packed, self.bias, "gelu", [], "none")


@lru_cache(maxsize=1)
def works() -> bool:
    """Whether this build of torch has packed layers, and they give the numbers of plain ones."""
    linear = nn.Linear(64, 96)
    rows = torch.randn(5, 64, generator=torch.Generator().manual_seed(0))
    try:
        with torch.inference_mode():
            packed = PackedLinear(linear)
            plain = linear(rows)
            return bool(
                torch.allclose(packed(rows), plain, atol=1e-5)
                and torch.allclose(packed.then_gelu(rows), nn.functional.gelu(plain), atol=1e-5)
            )
    except (RuntimeError, AttributeError, NotImplementedError) as error:
        log.warning("Packed linear layers are not available (%s); encoders run at torch's own speed.", error)
        return False


def pack(module: nn.Module, device: torch.device) -> nn.Module:
    """Replace a module's linear layers in place where that is possible; a no-op on a GPU.

    Call it after the weights are loaded and hashed: a packed layer has no entry in the state dict.
    Subclasses of ``nn.Linear`` and weights that something else shares or reads are left alone.
    """
    if device.type != "cpu" or not works():
        return module
    uses: dict[int, int] = {}
    for layer in module.modules():
        for parameter in layer.parameters(recurse=False):
            uses[id(parameter)] = uses.get(id(parameter), 0) + 1
    # Names first, and no list of the layers themselves: each plain weight is freed as its packed one comes.
    places = [(parent, name) for parent in module.modules() for name, _ in parent.named_children()]
    for parent, name in places:
        layer = getattr(parent, name)
        if _can_be_packed(layer) and uses[id(layer.weight)] == 1:
            setattr(parent, name, PackedLinear(layer))
    return module


def _can_be_packed(layer: Any) -> bool:
    return (
        type(layer) is nn.Linear
        and layer.weight.dtype == torch.float32
        and min(layer.in_features, layer.out_features) >= SMALLEST
        and not hasattr(layer, "parametrizations")
    )
