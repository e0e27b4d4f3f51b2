"""all-MiniLM-L6-v2 through the transformers library, for comparison with the forward pass written out in text.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from tokenizers import Tokenizer


def reference_sentences(
    weights: Mapping[str, torch.Tensor], tokenizer: Tokenizer, texts: Sequence[str]
) -> torch.Tensor:
    """(n, 384): each text by itself through transformers' BertModel, mean over its word pieces, of unit length."""
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=30522,
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1536,
        max_position_embeddings=512,
        layer_norm_eps=1e-12,
    )
    model = BertModel(config, add_pooling_layer=False).eval()
    missing = model.load_state_dict(dequantised(weights), strict=False).missing_keys
    if missing:
        raise ValueError(f"The stored weights lack {missing}.")
    vectors = []
    with torch.inference_mode():
        for text in texts:
            ids = torch.tensor([tokenizer.encode(text).ids])
            hidden = model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[0]
            vectors.append(torch.nn.functional.normalize(hidden.mean(0), dim=0))
    return torch.stack(vectors)


def dequantised(weights: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Stored weights as float32, row scales multiplied in."""
    result = {}
    for key, value in weights.items():
        if key.endswith(".scale"):
            continue
        scale = weights.get(key.removesuffix("weight") + "scale") if key.endswith(".weight") else None
        result[key] = value.float() if scale is None else value.float() * scale[:, None]
    return result
