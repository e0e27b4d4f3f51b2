"""LAION-CLAP weights under the names of transformers' ClapModel, written from the two modules' own names."""

from __future__ import annotations

import re
from pathlib import Path

import torch

from tests.backend.encoders import tiny

AUDIO_NAMES = (
    (r"\.attn\.proj\.", ".attention.output.dense."),
    (r"\.attn\.relative_position_bias_table", ".attention.self.relative_position_bias_table"),
    (r"\.mlp\.fc1\.", ".intermediate.dense."),
    (r"\.mlp\.fc2\.", ".output.dense."),
    (r"\.norm1\.", ".layernorm_before."),
    (r"\.norm2\.", ".layernorm_after."),
    (r"^bn0\.", "batch_norm."),
)
SKIPPED = re.compile(r"spectrogram_extractor|logmel_extractor|tscam_conv|audio_branch\.head|_transform\.|attn_mask"
                     r"|relative_position_index|position_ids|token_type_ids")  # fmt: skip


def converted(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """A ClapModel state dict from a LAION-CLAP one."""
    found: dict[str, torch.Tensor] = {}
    for name, value in state.items():
        if SKIPPED.search(name):
            continue
        if name.startswith("audio_branch."):
            inner = name.removeprefix("audio_branch.")
            for pattern, replacement in AUDIO_NAMES:
                inner = re.sub(pattern, replacement, inner)
            target = f"audio_model.audio_encoder.{inner}"
            if ".attn.qkv." in target:
                for part, chunk in zip(("query", "key", "value"), value.chunk(3), strict=True):
                    found[target.replace(".attn.qkv.", f".attention.self.{part}.")] = chunk.clone()
                continue
            found[target] = value
        elif name.startswith("text_branch."):
            found[name.replace("text_branch.", "text_model.", 1)] = value
        else:
            name = re.sub(r"_projection\.0\.", "_projection.linear1.", name)
            found[re.sub(r"_projection\.2\.", "_projection.linear2.", name)] = value
    return found


def as_folder(laion_file: Path, folder: Path) -> Path:
    """A ClapModel folder with the weights of a tiny LAION-CLAP checkpoint."""
    from transformers import ClapConfig, ClapFeatureExtractor, ClapModel, ClapProcessor, RobertaTokenizer

    from backend.encoders.fetching.weights import read_weights

    tokenizer = RobertaTokenizer.from_pretrained(str(laion_file.parent))
    text = dict(
        vocab_size=len(tokenizer),
        hidden_size=768,
        num_hidden_layers=1,
        num_attention_heads=12,
        intermediate_size=64,
        max_position_embeddings=514,
        type_vocab_size=1,
        layer_norm_eps=1e-5,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        projection_dim=512,
    )
    audio = dict(
        spec_size=256,
        window_size=8,
        patch_size=4,
        patch_stride=[4, 4],
        num_mel_bins=64,
        patch_embeds_hidden_size=tiny.WIDTH,
        depths=tiny.DEPTHS,
        num_attention_heads=tiny.HEADS,
        hidden_size=tiny.WIDTH * 8,
        projection_dim=512,
        enable_fusion=False,
        fusion_type=None,
    )
    model = ClapModel(ClapConfig(text_config=text, audio_config=audio, projection_dim=512))
    report = model.load_state_dict(converted(read_weights(laion_file)), strict=False)
    left = [name for name in (*report.missing_keys, *report.unexpected_keys) if not SKIPPED.search(name)]
    if left:
        raise ValueError(f"the conversion left {left}")
    model.save_pretrained(folder)
    extractor = ClapFeatureExtractor(
        feature_size=64,
        sampling_rate=48000,
        hop_length=480,
        max_length_s=10,
        fft_window_size=1024,
        frequency_min=50,
        frequency_max=14000,
        truncation="rand_trunc",
        padding="repeatpad",
    )
    ClapProcessor(feature_extractor=extractor, tokenizer=tokenizer).save_pretrained(folder)
    return folder
