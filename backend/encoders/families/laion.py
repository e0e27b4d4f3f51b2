"""LAION-CLAP checkpoints (Wu et al. 2023) through the ``laion_clap`` package: ``laion:<name or file>``.

The numbers are the package's own (tests hold them to 1e-5); what differs is that nothing is fetched,
nothing unknown is unpickled, no clip is cropped at random, autograd is off, memory is bounded, and a
text is not padded. ``laion:<name>@bf16`` runs the audio tower in bfloat16: faster, and different.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from backend.encoders import batches
from backend.encoders.base import Encoder, EncoderInfo, FloatArray
from backend.encoders.device import device
from backend.encoders.families import laion_package, tokens
from backend.encoders.fetching.weights import read_weights, weights_digest
from backend.errors import InputError
from backend.settings import settings

SAMPLE_RATE = 48_000
DIM = 512
LONGEST_SECONDS = 10.0
"""Longer input is cropped at a random place by the package; it is refused here."""
REPOSITORY = "lukewys/laion_clap"
FAST = "@bf16"
INT16 = 32_767.0


@dataclass(frozen=True)
class Checkpoint:
    """One published non-fusion checkpoint."""

    name: str
    file: str
    size: int
    sha256: str
    about: str


CHECKPOINTS = (
    Checkpoint(
        "630k-audioset-best",
        "630k-audioset-best.pt",
        1_863_587_645,
        "8053c9775516af2f4902e1e8281e356cc1bf7a85e8b761908170767b77c3f037",
        "general sounds, HTSAT-tiny; the checkpoint the papers use",
    ),
    Checkpoint("630k-best", "630k-best.pt", 1_860_000_000, "", "general sounds, HTSAT-tiny"),
    Checkpoint(
        "music-audioset",
        "music_audioset_epoch_15_esc_90.14.pt",
        2_350_000_000,
        "fae3e9c087f2909c28a09dc31c8dfcdacbc42ba44c70e972b58c1bd1caf6dedd",
        "music and general sounds, HTSAT-base",
    ),
    Checkpoint(
        "music-speech-audioset",
        "music_speech_audioset_epoch_15_esc_89.98.pt",
        2_350_000_000,
        "",
        "music, speech and general sounds, HTSAT-base",
    ),
    Checkpoint("music-speech", "music_speech_epoch_15_esc_89.25.pt", 2_350_000_000, "", "music and speech, HTSAT-base"),
)
"""Sizes of the four whose hash is empty are approximate; the hub states the exact one at download."""

TRUSTED = frozenset(checkpoint.sha256 for checkpoint in CHECKPOINTS if checkpoint.sha256)
"""Files that may be unpickled."""


class LaionEncoder:
    """A loaded LAION-CLAP checkpoint."""

    sample_rate = SAMPLE_RATE
    dim = DIM
    has_text = True

    def __init__(self, encoder_id: str, module: Any, weights: str, bf16: bool = False) -> None:
        from backend.encoders.families.htsat import AudioTower
        from backend.encoders.packed import pack

        self.id, self.weights, self.bf16 = encoder_id, weights, bf16
        self.device = device()
        self.module = module.to(self.device)
        if not bf16:  # autocast does not reach packed layers
            pack(self.module, self.device)
        self.tower = AudioTower(module.model.audio_branch)

    def embed_audio(self, windows: FloatArray) -> FloatArray:
        """(n, samples) float32 at 48 kHz, at most 10 s -> (n, 512), L2-normalised.

        Raises
        ------
        InputError
            NaN, another type or shape, windows over 10 s.
        """
        windows = batches.checked_windows(windows, self.id, SAMPLE_RATE, LONGEST_SECONDS)
        size = batches.BATCH if self.device.type == "cpu" else batches.GPU_BATCH
        return batches.in_batches(windows, size, self._audio_batch, DIM, self.id)

    def _audio_batch(self, windows: Any) -> FloatArray:
        import torch

        waveforms = torch.from_numpy(quantised(windows)).to(self.device)
        with torch.inference_mode():
            features = self.module.model.audio_projection(self.tower(waveforms, self.bf16))
        return np.asarray(features.float().cpu().numpy())

    def embed_text(self, texts: Sequence[str]) -> FloatArray:
        """m texts -> (m, 512), L2-normalised; a text is cut to 77 tokens."""
        texts = batches.checked_texts(texts, self.id)
        embed = self.module.model.get_text_embedding
        vectors = tokens.in_equal_length_batches(self.module.tokenize, texts, embed, DIM)
        return batches.unit_rows(vectors, self.id)


def quantised(windows: FloatArray) -> FloatArray:
    """Samples as the package sees them: clipped, cut to 16 bits toward zero, back to floats.

    Below 1/32767 a sample becomes exactly zero; the checkpoints were trained that way.
    """
    clipped = np.clip(windows, -1.0, 1.0) * np.float32(INT16)
    return np.asarray(clipped.astype(np.int16) / np.float32(INT16), dtype=np.float32)


def find_file(name: str) -> Path | None:
    """Where a checkpoint named in CHECKPOINTS lies, or None. Opens no connection.

    Looked for: stripped to safetensors or whole among the downloads, where the package's own
    download puts it, and in the cache of the model hub.
    """
    file = next(checkpoint.file for checkpoint in CHECKPOINTS if checkpoint.name == name)
    folder = settings().checkpoints_dir / "laion"
    places = [folder / Path(file).with_suffix(".safetensors").name, folder / file]
    package = laion_package.find_spec("laion_clap")
    if package and package.submodule_search_locations:
        places.append(Path(package.submodule_search_locations[0]) / file)
    for place in places:
        if place.is_file():
            return place
    from huggingface_hub import try_to_load_from_cache

    cached = try_to_load_from_cache(REPOSITORY, file)
    return Path(cached) if isinstance(cached, str) else None


def _missing(name: str) -> str:
    """What a named checkpoint lacks here, as a sentence; empty when nothing."""
    if not laion_package.installed():
        return "Needs the package laion-clap: pip install laion-clap."
    if find_file(name) is None:
        return "Needs its weights; download them here."
    if tokens.vocabulary_folder() is None:
        return "Needs the vocabulary of roberta-base (1.4 MB); download it here."
    return ""


class Family:
    """``laion:<name>`` of CHECKPOINTS, or ``laion:<file>`` of the same architecture."""

    prefix = "laion"

    def listed(self) -> Sequence[EncoderInfo]:
        """The five published non-fusion checkpoints."""
        return [self._info(checkpoint) for checkpoint in CHECKPOINTS]

    def _info(self, checkpoint: Checkpoint) -> EncoderInfo:
        needs = _missing(checkpoint.name)
        return EncoderInfo(
            id=f"laion:{checkpoint.name}",
            title=f"LAION-CLAP {checkpoint.name} ({checkpoint.about})",
            ready=not needs,
            needs=needs,
            dim=DIM,
            sample_rate=SAMPLE_RATE,
            text=True,
            licence="CC0-1.0",
            source=f"https://huggingface.co/{REPOSITORY}",
            size_bytes=checkpoint.size,
            downloadable=bool(needs) and laion_package.installed(),
        )

    def load(self, encoder_id: str) -> Encoder:
        """The encoder of ``laion:<name or file>``, with or without ``@bf16``.

        Raises
        ------
        InputError
            The package, the file or the vocabulary is missing, or the file cannot be used.
        """
        wanted = encoder_id.partition(":")[2].removesuffix(FAST)
        named = {checkpoint.name for checkpoint in CHECKPOINTS}
        if wanted in named:
            needs = _missing(wanted)
            if needs:
                raise InputError(f"laion:{wanted} is not ready. {needs}", concerns="file")
            path = find_file(wanted)
        elif "/" in wanted or "." in wanted:
            path = Path(wanted).expanduser()
        else:
            raise InputError(f"There is no checkpoint laion:{wanted}. Known: {', '.join(sorted(named))}, or a file.")
        if not laion_package.installed():
            raise InputError("laion: encoders need the package laion-clap: pip install laion-clap.")
        return load_file(encoder_id, Path(path or wanted))


def load_file(encoder_id: str, path: Path) -> LaionEncoder:
    """A LaionEncoder from a checkpoint file.

    Raises
    ------
    InputError
        The file or the vocabulary is missing or cannot be used.
    """
    state = read_weights(path, TRUSTED)
    found = laion_package.sniff(state, path.name)
    folder = tokens.vocabulary_folder(beside=path.parent)
    if folder is None:
        raise InputError(
            f"{encoder_id} needs the vocabulary of roberta-base (vocab.json and merges.txt, 1.4 MB). Put both files "
            f"beside {path.name}, or download a laion encoder here.",
            concerns="file",
        )
    tokenizer = tokens.roberta_tokenizer(folder, found.vocabulary)
    weights = weights_digest(state, tokenizer.backend_tokenizer.to_str())
    module = laion_package.build(state, tokenizer, path.name)
    del state  # the mapped file would be held twice over while the layers are packed
    return LaionEncoder(encoder_id, module, weights, bf16=encoder_id.endswith(FAST))


FAMILY = Family()
