"""RoBERTa's vocabulary: where it is found, and texts in batches without padding."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from backend.encoders.base import FloatArray
from backend.errors import InputError
from backend.settings import settings

if TYPE_CHECKING:
    import torch

MAX_TOKENS = 77
"""Tokens a text is cut to: the context length LAION-CLAP was trained with."""
TEXT_BATCH = 32
VOCABULARY_FILES = ("vocab.json", "merges.txt")
VOCABULARY_REPOS = (
    "roberta-base",
    "FacebookAI/roberta-base",
    "laion/clap-htsat-unfused",
    "laion/larger_clap_general",
    "laion/larger_clap_music_and_speech",
    "laion/larger_clap_music",
)
"""Model repositories that carry RoBERTa's two vocabulary files, unchanged."""


def vocabulary_folder(beside: Path | None = None) -> Path | None:
    """The first folder that holds RoBERTa's vocabulary, or None.

    Looked for, in this order: beside the checkpoint, among this program's downloads, in the
    cache of the model hub. Opens no connection.
    """
    places = [beside] if beside is not None else []
    places.append(settings().checkpoints_dir / "roberta-base")
    for place in places:
        if all((place / name).is_file() for name in VOCABULARY_FILES):
            return place
    from huggingface_hub import try_to_load_from_cache

    for repo in VOCABULARY_REPOS:
        found = [try_to_load_from_cache(repo, name) for name in VOCABULARY_FILES]
        if all(isinstance(path, str) for path in found):
            return Path(str(found[0])).parent
    return None


def roberta_tokenizer(folder: Path, size: int) -> Any:
    """The tokenizer of a folder, checked against the checkpoint it is for.

    Parameters
    ----------
    folder : Path
        Holds vocab.json and merges.txt.
    size : int
        Rows of the checkpoint's word embeddings.

    Raises
    ------
    InputError
        It has another number of tokens. (transformers answers missing or broken files with an
        EMPTY tokenizer, which would turn every text into the same few tokens.)
    """
    import transformers

    try:
        tokenizer = transformers.RobertaTokenizer.from_pretrained(str(folder), local_files_only=True)
    except Exception as error:  # tokenizers raises bare Exception for a broken file
        raise InputError(
            f"The vocabulary in {folder} cannot be read ({type(error).__name__}). Fetch roberta-base's vocab.json and "
            f"merges.txt again.",
            concerns="file",
        ) from None
    if len(tokenizer) != size:
        raise InputError(
            f"The vocabulary in {folder} has {len(tokenizer)} tokens, the checkpoint {size}. Put roberta-base's "
            f"vocab.json and merges.txt there.",
            concerns="file",
        )
    return tokenizer


def in_equal_length_batches(
    tokenizer: Any,
    texts: Sequence[str],
    embed: Callable[[dict[str, torch.Tensor]], torch.Tensor],
    dim: int,
    longest: int = MAX_TOKENS,
) -> FloatArray:
    """Texts embedded in token batches of one length each, so that nothing is padded.

    A query of 12 tokens padded to 77 costs three times as much, for the same vector.

    Parameters
    ----------
    embed : callable
        ``input_ids`` with ``attention_mask``, both (k, length) int64 -> (k, dim).

    Returns
    -------
    np.ndarray, shape (m, dim), float32, not yet normalised.
    """
    import torch

    vectors = np.zeros((len(texts), dim), dtype=np.float32)
    encoded = tokenizer(list(texts), truncation=True, max_length=longest, padding=False)["input_ids"] if texts else []
    by_length: dict[int, list[int]] = defaultdict(list)
    for index, ids in enumerate(encoded):
        by_length[len(ids)].append(index)
    for length in sorted(by_length):
        indices = by_length[length]
        for start in range(0, len(indices), TEXT_BATCH):
            chosen = indices[start : start + TEXT_BATCH]
            ids = torch.tensor([encoded[index] for index in chosen])
            with torch.inference_mode():
                found = embed({"input_ids": ids, "attention_mask": torch.ones_like(ids)})
            vectors[chosen] = found.float().cpu().numpy()
    return vectors
