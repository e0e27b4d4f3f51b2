"""Tiny random checkpoints of the real architectures, written where a test says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np
import torch

from backend.encoders.families import laion_package

TEXTS = [
    "a dog barking in the rain",
    "no dog, only rain on a tin roof",
    "a church bell far away",
    "an engine that will not start",
    "someone laughing in a large hall",
    "birds at dawn near a river",
    "rain",
    "a very long description of a street with cars, bells, a dog, footsteps, wind and a child calling twice",
]
AMODEL, WIDTH = "HTSAT-test", 16
DEPTHS, HEADS = [2, 2, 1, 1], [1, 2, 2, 2]


def windows(count: int, seconds: float, rate: int, seed: int = 0) -> np.ndarray:
    """(count, samples) float32: noise, tones and clicks, no two alike."""
    generator = np.random.default_rng(seed)
    time = np.arange(round(seconds * rate)) / rate
    rows = []
    for index in range(count):
        tone = np.sin(2 * np.pi * 200 * (index + 1) * time) * np.exp(-3 * time * (index % 2))
        noise = generator.normal(size=time.size) * (0.02 + 0.3 * (index % 3))
        rows.append(np.clip(0.4 * tone + 0.3 * noise, -1, 1))
    return np.asarray(rows, dtype=np.float32)


def lively(module: torch.nn.Module, seed: int = 0) -> None:
    """Random weights large enough that different inputs get clearly different outputs."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if "spectrogram_extractor" in name or "logmel_extractor" in name or "logit_scale" in name:
                continue
            if parameter.ndim >= 2:
                scale = parameter[0].numel() ** -0.5
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * scale)
            elif "norm" in name.lower() and name.endswith("weight"):
                parameter.copy_(1 + 0.1 * torch.randn(parameter.shape, generator=generator))
            else:
                parameter.copy_(0.1 * torch.randn(parameter.shape, generator=generator))
        for name, buffer in module.named_buffers():
            if name.endswith("running_mean"):
                buffer.copy_(-30 + torch.randn(buffer.shape, generator=generator))
            elif name.endswith("running_var"):
                buffer.copy_(300 + 30 * torch.rand(buffer.shape, generator=generator))


def vocabulary(folder: Path) -> Path:
    """vocab.json and merges.txt of a RoBERTa tokenizer trained on TEXTS."""
    from tokenizers import ByteLevelBPETokenizer

    folder.mkdir(parents=True, exist_ok=True)
    trained = ByteLevelBPETokenizer()
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained.train_from_iterator(TEXTS, vocab_size=300, min_frequency=2, special_tokens=specials, show_progress=False)
    trained.save_model(str(folder))
    return folder


@contextmanager
def small_htsat() -> Iterator[None]:
    """The package's own HTSAT class, 16 wide instead of 96; everything else is real."""
    with laion_package._quiet(), laion_package._answered_locally(architecture(5), None):
        laion_package.imported()
    from clap_module import factory, htsat

    config = json.loads((Path(factory.__file__).parent / "model_configs" / "HTSAT-tiny.json").read_text())
    config["embed_dim"] = WIDTH * 8
    real = htsat.HTSAT_Swin_Transformer.__init__
    small = {"embed_dim": WIDTH, "depths": DEPTHS, "num_heads": HEADS}
    with (
        mock.patch.object(htsat.HTSAT_Swin_Transformer, "__init__", lambda self, **k: real(self, **{**k, **small})),
        mock.patch.dict(factory._MODEL_CONFIGS, {AMODEL: config}),
        mock.patch.dict(laion_package.AMODELS, {WIDTH: AMODEL}),
    ):
        yield


def architecture(vocabulary_size: int) -> laion_package.Architecture:
    """One RoBERTa layer, as wide as the package's projection demands."""
    return laion_package.Architecture(AMODEL, vocabulary_size, 768, 1, 64, 514)


def laion_state(folder: Path) -> dict[str, torch.Tensor]:
    """A LAION-CLAP state dict; call it inside ``small_htsat``."""
    from backend.encoders.families.tokens import roberta_tokenizer

    size = len(json.loads((folder / "vocab.json").read_text()))
    module = laion_package.blank(architecture(size), roberta_tokenizer(folder, size))
    lively(module.model)
    state = {name: value.detach().clone() for name, value in module.model.state_dict().items()}
    state["text_branch.embeddings.position_ids"] = torch.arange(514)[None]
    return state


def laion_checkpoint(folder: Path) -> Path:
    """A training checkpoint as published: data-parallel names, optimizer, epoch, a numpy number."""
    state = laion_state(vocabulary(folder))
    raw = {
        "epoch": 15,
        "name": "test",
        "state_dict": {f"module.{name}": value for name, value in state.items()},
        "optimizer": {"state": {0: {"exp_avg": torch.zeros(1000)}}},
        "best": np.float64(0.9),
    }
    path = folder / "tiny.pt"
    torch.save(raw, path)
    return path


def hf_clap(folder: Path) -> Path:
    """A ClapModel and ClapProcessor of 100 k parameters."""
    from transformers import ClapConfig, ClapFeatureExtractor, ClapModel, ClapProcessor, RobertaTokenizer

    vocabulary(folder)
    tokenizer = RobertaTokenizer.from_pretrained(str(folder))
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
    text = dict(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=514,
        type_vocab_size=1,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        projection_dim=8,
    )
    audio = dict(
        spec_size=256,
        window_size=8,
        patch_size=4,
        patch_stride=[4, 4],
        num_mel_bins=64,
        patch_embeds_hidden_size=8,
        depths=[1] * 4,
        num_attention_heads=[1, 1, 2, 2],
        hidden_size=64,
        projection_dim=8,
        enable_fusion=False,
        num_classes=4,
        fusion_type=None,
    )
    model = ClapModel(ClapConfig(text_config=text, audio_config=audio, projection_dim=8))
    lively(model)
    ClapProcessor(feature_extractor=extractor, tokenizer=tokenizer).save_pretrained(folder)
    model.save_pretrained(folder)
    return folder


def speech_model(folder: Path, kind: str, norm: str) -> Path:
    """A Wav2Vec2 or HuBERT with a group-norm or layer-norm front end."""
    from transformers import HubertConfig, HubertModel, Wav2Vec2Config, Wav2Vec2FeatureExtractor, Wav2Vec2Model

    config, architecture = {"wav2vec2": (Wav2Vec2Config, Wav2Vec2Model), "hubert": (HubertConfig, HubertModel)}[kind]
    model = architecture(
        config(
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=32,
            conv_dim=(8, 8, 8),
            conv_stride=(5, 8, 8),
            conv_kernel=(10, 8, 8),
            num_feat_extract_layers=3,
            num_conv_pos_embeddings=16,
            num_conv_pos_embedding_groups=2,
            feat_extract_norm=norm,
            vocab_size=32,
        )
    )
    lively(model)
    model.save_pretrained(folder)
    Wav2Vec2FeatureExtractor(do_normalize=True, return_attention_mask=norm == "layer").save_pretrained(folder)
    return folder
