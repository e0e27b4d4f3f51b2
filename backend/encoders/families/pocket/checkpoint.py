"""The names of a checkpoint's weights: those of this package, or the short ones of the first prototype."""

from __future__ import annotations

import re
from collections.abc import Mapping

import torch

SHORT_NAMES = (
    (r"^bn0\.", "input_norm."),
    (r"^f\.(\d+)\.b\.", r"features.\1.layers."),
    (r"^f\.", "features."),
    (r"^proj\.", "projection."),
    (r"^att\.", "attention_hidden."),
    (r"^att2\.", "attention_logits."),
    (r"^out\.", "embedding."),
    (r"^cls\.", "auxiliary."),
    (r"^minilm\.", ""),
    (r"^l\.", "linear."),
    (r"^m\.", "correction."),
)
"""Pattern of a short name, and what it is called here; tried in this order."""


def renamed(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """A checkpoint's weights under the names of this package; names that are known already stay."""
    result = {}
    for key, value in state.items():
        for pattern, replacement in SHORT_NAMES:
            key = re.sub(pattern, replacement, key)
        result[key] = value
    return result
