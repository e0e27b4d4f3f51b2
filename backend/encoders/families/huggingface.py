"""CLAP in the transformers layout: ``hf:<repository or folder>``, ClapModel with ClapProcessor.

The audio goes through the model's own feature extractor, unquantised, as its users do; that differs
from ``laion:`` on the same weights by less than 1e-5 in the embedding (a test holds it to 1e-4).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from backend.encoders import batches
from backend.encoders.base import Encoder, EncoderInfo, FloatArray
from backend.encoders.device import device
from backend.encoders.families import tokens
from backend.encoders.fetching import hub
from backend.encoders.fetching.weights import weights_digest
from backend.errors import InputError

KNOWN = {
    "laion/clap-htsat-unfused": ("general sounds, HTSAT-tiny; 630k-audioset-best converted", 633_000_000),
    "laion/larger_clap_general": ("music, speech and general sounds, HTSAT-base", 798_000_000),
    "laion/larger_clap_music": (
        "music, HTSAT-base; its text side was reported collapsed (mean text cosine .9993)",
        798_000_000,
    ),
    "laion/larger_clap_music_and_speech": ("music and speech, HTSAT-base", 798_000_000),
}
"""Repository -> what it is for, and its approximate size (4 bytes a parameter)."""
FEATURES = ("preprocessor_config.json", "processor_config.json")


class ClapEncoder:
    """A loaded ClapModel with its processor."""

    has_text = True

    def __init__(self, encoder_id: str, model: Any, processor: Any) -> None:
        from backend.encoders.packed import pack

        self.id, self.device = encoder_id, device()
        self.model, self.processor = model.to(self.device), processor
        self.sample_rate = int(processor.feature_extractor.sampling_rate)
        self.longest = float(processor.feature_extractor.max_length_s)
        self.dim = int(model.config.projection_dim)
        self.longest_text = int(model.config.text_config.max_position_embeddings) - 2
        self.weights = weights_digest(
            model.state_dict(),
            processor.feature_extractor.to_json_string(),
            processor.tokenizer.backend_tokenizer.to_str(),
        )
        pack(self.model, self.device)

    def embed_audio(self, windows: FloatArray) -> FloatArray:
        """(n, samples) float32, at most 10 s -> (n, D), L2-normalised.

        Raises
        ------
        InputError
            NaN, another type or shape, windows over the model's length.
        """
        windows = batches.checked_windows(windows, self.id, self.sample_rate, self.longest)
        size = batches.BATCH if self.device.type == "cpu" else batches.GPU_BATCH
        return batches.in_batches(windows, size, self._audio_batch, self.dim, self.id)

    def _audio_batch(self, windows: Any) -> FloatArray:
        import torch

        # No window is over the model's length, so nothing is cropped at random; naming rand_trunc
        # keeps a fusion model from declaring one of the batch "longer", also at random.
        inputs = self.processor.feature_extractor(
            list(windows), sampling_rate=self.sample_rate, truncation="rand_trunc", return_tensors="pt"
        )
        with torch.inference_mode():
            found = self.model.get_audio_features(**inputs.to(self.device)).pooler_output
        return np.asarray(found.float().cpu().numpy())

    def embed_text(self, texts: Sequence[str]) -> FloatArray:
        """m texts -> (m, D), L2-normalised."""

        def embed(inputs: dict[str, Any]) -> Any:
            moved = {name: value.to(self.device) for name, value in inputs.items()}
            return self.model.get_text_features(**moved).pooler_output

        texts = batches.checked_texts(texts, self.id)
        tokenizer = self.processor.tokenizer
        vectors = tokens.in_equal_length_batches(tokenizer, texts, embed, self.dim, self.longest_text)
        return batches.unit_rows(vectors, self.id)


class Family:
    """``hf:<repository>`` of KNOWN or of the hub's cache, or ``hf:<folder>``."""

    prefix = "hf"

    def listed(self) -> Sequence[EncoderInfo]:
        """The four published non-fusion CLAP repositories."""
        return [self._info(repo, about, size) for repo, (about, size) in KNOWN.items()]

    def _info(self, repo: str, about: str, size: int) -> EncoderInfo:
        return hub.listed_model(f"hf:{repo}", f"{repo} ({about})", repo, 512, 48_000, True, size)

    def load(self, encoder_id: str) -> Encoder:
        """The encoder of ``hf:<repository or folder>``. Raises InputError when it cannot be loaded."""
        folder = hub.resolved(encoder_id, {repo: repo for repo in KNOWN})
        hub.checked_type(folder, ("clap",), "an hf: encoder")
        return load_folder(encoder_id, folder)


def load_folder(encoder_id: str, folder: Path) -> ClapEncoder:
    """A ClapEncoder from a folder with config.json, weights, feature extractor and tokenizer.

    Raises
    ------
    InputError
        Something is missing, damaged or of another architecture.
    """
    import torch
    from transformers import ClapModel, ClapProcessor

    hub.check_has_features(folder, FEATURES)
    model = hub.read_model(
        lambda: ClapModel.from_pretrained(
            str(folder), local_files_only=True, dtype=torch.float32, output_loading_info=True
        ),
        folder,
    )
    try:
        with hub.quiet():
            processor = ClapProcessor.from_pretrained(str(folder), local_files_only=True)
    except Exception as error:  # each of its parts raises its own types
        raise InputError(
            f"The tokenizer or feature extractor in {folder} cannot be read: {str(error).splitlines()[0][:160]}.",
            concerns="file",
        ) from error
    expected = int(model.config.text_config.vocab_size)
    if len(processor.tokenizer) != expected:
        raise InputError(
            f"The vocabulary in {folder} has {len(processor.tokenizer)} tokens, the model {expected}. "
            f"Download the model again.",
            concerns="file",
        )
    return ClapEncoder(encoder_id, model, processor)


FAMILY = Family()
