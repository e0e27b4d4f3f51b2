"""Speech encoders without a text side: ``speech:<name or folder>``, Wav2Vec2 and HuBERT.

The embedding is the mean over time of the last hidden state (own choice, as in the papers'
comparisons). Windows of one call are equally long, so nothing is padded; padding would change the mean
of models that normalise over a group (their feature extractors give no attention mask).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from backend.encoders import batches
from backend.encoders.base import Encoder, EncoderInfo, FloatArray
from backend.encoders.device import device
from backend.encoders.fetching import hub
from backend.encoders.fetching.weights import weights_digest
from backend.errors import InputError

SHORTEST_SECONDS = 0.1
"""Below this the convolutions leave no frame worth averaging."""
KNOWN = {
    "hubert-large-ls960-ft": ("facebook/hubert-large-ls960-ft", 1024, 1_260_000_000),
    "wav2vec2-base-960h": ("facebook/wav2vec2-base-960h", 768, 378_000_000),
}
"""Name -> repository, D, approximate size (4 bytes a parameter)."""


class SpeechEncoder:
    """A loaded Wav2Vec2Model or HubertModel."""

    has_text = False

    def __init__(self, encoder_id: str, model: Any, extractor: Any) -> None:
        from backend.encoders.packed import pack

        self.id, self.device = encoder_id, device()
        self.model, self.extractor = model.to(self.device), extractor
        self.sample_rate = int(extractor.sampling_rate)
        self.dim = int(model.config.hidden_size)
        self.weights = weights_digest(model.state_dict(), extractor.to_json_string())
        pack(self.model, self.device)

    def embed_audio(self, windows: FloatArray) -> FloatArray:
        """(n, samples) float32, at least 0.1 s -> (n, D), L2-normalised.

        Raises
        ------
        InputError
            NaN, another type or shape, windows too short.
        """
        windows = batches.checked_windows(windows, self.id, self.sample_rate)
        if len(windows) and windows.shape[1] < SHORTEST_SECONDS * self.sample_rate:
            raise InputError(f"{self.id} needs windows of at least {SHORTEST_SECONDS} s. Choose a longer window.")
        size = batches.BATCH if self.device.type == "cpu" else batches.GPU_BATCH
        return batches.in_batches(windows, size, self._audio_batch, self.dim, self.id)

    def _audio_batch(self, windows: Any) -> FloatArray:
        import torch

        inputs = self.extractor(list(windows), sampling_rate=self.sample_rate, return_tensors="pt")
        with torch.inference_mode():
            hidden = self.model(inputs["input_values"].to(self.device)).last_hidden_state
        return np.asarray(hidden.mean(dim=1).float().cpu().numpy())

    def embed_text(self, texts: Sequence[str]) -> FloatArray:
        """Raises InputError: there is no text side."""
        raise batches.no_text_side(self.id)


class Family:
    """``speech:<name>`` of KNOWN, or ``speech:<folder>``."""

    prefix = "speech"

    def listed(self) -> Sequence[EncoderInfo]:
        """The two speech encoders of the papers."""
        return [self._info(name, *known) for name, known in KNOWN.items()]

    def _info(self, name: str, repo: str, dim: int, size: int) -> EncoderInfo:
        title = f"{name} (speech, sounds only: no words)"
        return hub.listed_model(f"speech:{name}", title, repo, dim, 16_000, False, size)

    def load(self, encoder_id: str) -> Encoder:
        """The encoder of ``speech:<name or folder>``. Raises InputError when it cannot be loaded."""
        folder = hub.resolved(encoder_id, {name: known[0] for name, known in KNOWN.items()})
        kind = hub.checked_type(folder, ("wav2vec2", "hubert"), "a speech: encoder")
        return load_folder(encoder_id, folder, kind)


def load_folder(encoder_id: str, folder: Path, kind: str) -> SpeechEncoder:
    """A SpeechEncoder from a folder with config.json, weights and feature extractor.

    Raises
    ------
    InputError
        Something is missing, damaged or of another architecture.
    """
    import torch
    from transformers import HubertModel, Wav2Vec2FeatureExtractor, Wav2Vec2Model

    hub.check_has_features(folder, ("preprocessor_config.json",))
    architecture = HubertModel if kind == "hubert" else Wav2Vec2Model
    model = hub.read_model(
        lambda: architecture.from_pretrained(
            str(folder), local_files_only=True, dtype=torch.float32, output_loading_info=True
        ),
        folder,
        spare=("masked_spec_embed",),
    )
    with hub.quiet():
        extractor = Wav2Vec2FeatureExtractor.from_pretrained(str(folder), local_files_only=True)
    return SpeechEncoder(encoder_id, model, extractor)


FAMILY = Family()
