"""The parts of the pocket encoder against slower twins."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.encoders.families.pocket import FOLDER, TOKENIZER_FILE
from backend.encoders.families.pocket.melspectrogram import frame_count, log_mel
from backend.encoders.families.pocket.network import (
    MEL_FRAMES_PER_STEP,
    AudioTower,
    TowerShape,
    shape_of_state,
)
from backend.encoders.families.pocket.text import SentenceEncoder, load_sentence_weights, load_tokenizer, quantise
from tests.reference.log_mel import reference_log_mel
from tests.reference.sentence_encoder import reference_sentences

SHAPES = (
    TowerShape(),
    TowerShape(channels=(4, 6, 8, 10, 12), repeats=(0, 1, 0, 2), hidden=16, expansion=2, dim=8),
    TowerShape(channels=(8, 8, 8, 8, 8), repeats=(2, 0, 1, 1), hidden=24, expansion=6, dim=32),
)


def untrained(shape: TowerShape, seed: int = 0) -> AudioTower:
    """A tower whose batch norms do something."""
    torch.manual_seed(seed)
    tower = AudioTower(shape)
    for module in tower.modules():
        if isinstance(module, torch.nn.BatchNorm1d | torch.nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.3)
            module.running_var.uniform_(0.5, 2.0)
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
            torch.nn.init.normal_(module.bias, 0, 0.3)
    return tower.eval()


@settings(deadline=None, max_examples=20)
@given(samples=st.integers(1, 5000), level=st.sampled_from((0.0, 1e-4, 0.1, 1.0, 100.0)), seed=st.integers(0, 9))
def test_log_mel_is_its_definition(samples: int, level: float, seed: int) -> None:
    signal = (level * np.random.default_rng(seed).standard_normal(samples)).astype(np.float32)
    ours = log_mel(torch.from_numpy(signal[None]))[0].numpy()
    assert ours.shape == (frame_count(samples), 64)
    assert np.abs(ours - reference_log_mel(signal)).max() < 2e-3


def test_log_mel_of_many_frames_is_that_of_few() -> None:
    signal = torch.randn(1, 16000 * 70, generator=torch.Generator().manual_seed(0))
    assert torch.equal(log_mel(signal)[:, 5990:6010], log_mel(signal[:, 5900 * 160 :])[:, 90:110])


@pytest.mark.parametrize("shape", SHAPES)
def test_the_shape_of_a_tower_is_read_from_its_weights(shape: TowerShape) -> None:
    assert shape_of_state(AudioTower(shape).state_dict()) == shape


@pytest.mark.parametrize("shape", SHAPES)
@torch.inference_mode()
def test_folding_the_batch_norms_changes_nothing(shape: TowerShape) -> None:
    tower = untrained(shape)
    mel = torch.randn(3, 173, 64) * 3 - 6
    folded = tower.fused()
    norms = [module for module in folded.modules() if isinstance(module, torch.nn.BatchNorm1d | torch.nn.BatchNorm2d)]
    assert norms == [folded.input_norm]
    assert (tower(mel) - folded(mel)).abs().max() < 1e-5


@pytest.mark.parametrize("shape", SHAPES)
@torch.inference_mode()
def test_shared_maps_reach_as_far_as_stated(shape: TowerShape) -> None:
    tower = untrained(shape)
    middle = 240
    mel = torch.randn(1, 480, 64)
    changed = mel.clone()
    changed[:, middle] += 50.0
    differs = (tower.shared(mel) - tower.shared(changed)).abs().amax((0, 1, 3)) > 0
    assert len(differs) == 480 // MEL_FRAMES_PER_STEP
    touched = torch.nonzero(differs)[:, 0] * MEL_FRAMES_PER_STEP
    assert middle - shape.reach <= touched.min() and touched.max() <= middle + shape.reach
    assert touched.max() - touched.min() >= 2 * shape.reach - 2 * MEL_FRAMES_PER_STEP


@torch.inference_mode()
def test_a_window_is_its_attention_beside_its_mean() -> None:
    tower = untrained(SHAPES[1])
    maps = tower.shared(torch.randn(2, 96, 64))
    frames = tower.frames(maps)
    pooled = tower.pooled_maps(maps)
    logits = tower.attention(frames).numpy()
    weights = np.exp(logits - logits.max(2, keepdims=True))
    weights /= weights.sum(2, keepdims=True)
    assert np.abs(pooled[:, :16].numpy() - (weights * frames.numpy()).sum(2)).max() < 1e-5
    assert np.abs(pooled[:, 16:].numpy() - frames.numpy().mean(2)).max() < 1e-5


@settings(deadline=None, max_examples=25)
@given(rows=st.integers(1, 8), columns=st.integers(1, 40), seed=st.integers(0, 99))
def test_quantising_errs_by_half_a_step(rows: int, columns: int, seed: int) -> None:
    matrix = torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed))
    matrix[0] = 0.0
    whole, scale = quantise(matrix)
    error = (whole.float() * scale[:, None] - matrix).abs()
    assert (error <= scale[:, None] * 0.5 + 1e-7).all()


def test_the_sentence_encoder_is_the_model_that_transformers_builds() -> None:
    weights = load_sentence_weights(FOLDER)
    tokenizer = load_tokenizer(FOLDER / TOKENIZER_FILE)
    texts = ["rain", "a dog barking, with no traffic", "Schiffshörner im Nebel 🎺", "wind " * 300]
    ours = SentenceEncoder(weights, tokenizer)
    with torch.inference_mode():
        vectors = ours(texts)
    # Comparing after ours: it is what limits the tokenizer's length.
    assert (vectors - reference_sentences(weights, tokenizer, texts)).abs().max() < 1e-5
