"""The text tower: a frozen sentence encoder (all-MiniLM-L6-v2, 8-bit weights) and a trained head.

The sentence encoder is written out here, because thirty lines of matrix products start in a
tenth of a second and answer on one thread in milliseconds, alike on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors.torch import load
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional

from backend.encoders.families.pocket import SENTENCE_PARTS, TOKENIZER_FILE

HEADS = 12
LAYERS = 6
WIDTH = 384
NORM_EPSILON = 1e-12
LONGEST_TEXT = 256
"""Word pieces read of one text, the sentence encoder's own limit; the rest is cut off."""
TOKENS_AT_ONCE = 4096
"""Word pieces encoded together: bounds the memory of long lists."""


class TextHead(nn.Module):
    """Sentence embedding to the shared space: a linear map plus a small correction."""

    def __init__(self, dim: int = 384, hidden: int = 512) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, dim)
        last = nn.Linear(hidden, dim)
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
        self.correction = nn.Sequential(nn.Linear(WIDTH, hidden), nn.GELU(), nn.Dropout(0.1), last)

    def forward(self, sentences: torch.Tensor) -> torch.Tensor:
        """(n, WIDTH) -> (n, dim), L2-normalised."""
        return functional.normalize(self.linear(sentences) + self.correction(sentences), dim=1)


def quantise(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(rows, columns) float32 -> int8 of the same shape and one float32 scale a row."""
    scale = matrix.abs().amax(1).clamp(min=1e-12) / 127.0
    return torch.round(matrix / scale[:, None]).to(torch.int8), scale


class SentenceEncoder:
    """The forward pass of all-MiniLM-L6-v2: texts to (n, 384) unit vectors.

    Parameters
    ----------
    weights : mapping of str to torch.Tensor
        Names of the original model; ``NAME.weight`` is either float, or int8 with ``NAME.scale``.
    tokenizer : tokenizers.Tokenizer
        Its word pieces.
    """

    def __init__(self, weights: Mapping[str, torch.Tensor], tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(LONGEST_TEXT)
        # The table stays 8-bit: a text needs a dozen of its 30,522 rows.
        self._words = weights["embeddings.word_embeddings.weight"]
        self._word_scale = weights.get("embeddings.word_embeddings.scale")
        self._positions = _matrix(weights, "embeddings.position_embeddings")
        self._token_type = _matrix(weights, "embeddings.token_type_embeddings")[0]
        self._norm = _norm(weights, "embeddings.LayerNorm")
        self._layers = [_Layer(weights, f"encoder.layer.{index}.") for index in range(LAYERS)]

    def __call__(self, texts: Sequence[str]) -> torch.Tensor:
        """Texts -> (n, 384) float32, L2-normalised.

        Texts of equal length are encoded together, so that none is padded and a text's vector
        does not depend on its neighbours.
        """
        pieces = [self._tokenizer.encode(text).ids for text in texts]
        result = torch.empty((len(pieces), WIDTH), dtype=torch.float32)
        by_length: dict[int, list[int]] = {}
        for index, ids in enumerate(pieces):
            by_length.setdefault(len(ids), []).append(index)
        for length, members in by_length.items():
            step = max(1, TOKENS_AT_ONCE // length)
            for first in range(0, len(members), step):
                chosen = members[first : first + step]
                result[chosen] = self._encode(torch.tensor([pieces[index] for index in chosen]))
        return result

    def _encode(self, ids: torch.Tensor) -> torch.Tensor:
        """(n, length) word-piece ids -> (n, 384)."""
        words = self._words[ids].float()
        if self._word_scale is not None:
            words = words * self._word_scale[ids].unsqueeze(-1)
        hidden = words + self._positions[: ids.shape[1]] + self._token_type
        hidden = functional.layer_norm(hidden, (WIDTH,), *self._norm, NORM_EPSILON)
        for layer in self._layers:
            hidden = layer(hidden)
        return functional.normalize(hidden.mean(1), dim=1)


class _Layer:
    """One transformer layer, norms after the sums as in BERT."""

    def __init__(self, weights: Mapping[str, torch.Tensor], prefix: str) -> None:
        heads = [f"{prefix}attention.self.{name}" for name in ("query", "key", "value")]
        self._project = (
            torch.cat([_matrix(weights, name) for name in heads]),
            torch.cat([weights[f"{name}.bias"].float() for name in heads]),
        )
        self._mix = _linear(weights, f"{prefix}attention.output.dense")
        self._mix_norm = _norm(weights, f"{prefix}attention.output.LayerNorm")
        self._widen = _linear(weights, f"{prefix}intermediate.dense")
        self._narrow = _linear(weights, f"{prefix}output.dense")
        self._norm = _norm(weights, f"{prefix}output.LayerNorm")

    def __call__(self, hidden: torch.Tensor) -> torch.Tensor:
        """(n, length, WIDTH) -> the same shape."""
        count, length, _ = hidden.shape
        projected = functional.linear(hidden, *self._project).view(count, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = projected.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value)
        mixed = functional.linear(mixed.transpose(1, 2).reshape(count, length, WIDTH), *self._mix)
        hidden = functional.layer_norm(hidden + mixed, (WIDTH,), *self._mix_norm, NORM_EPSILON)
        widened = functional.gelu(functional.linear(hidden, *self._widen))
        return functional.layer_norm(
            hidden + functional.linear(widened, *self._narrow), (WIDTH,), *self._norm, NORM_EPSILON
        )


def _matrix(weights: Mapping[str, torch.Tensor], name: str) -> torch.Tensor:
    """A weight matrix as float32, whichever way it is stored."""
    stored = weights[f"{name}.weight"].float()
    scale = weights.get(f"{name}.scale")
    return stored if scale is None else stored * scale[:, None]


def _linear(weights: Mapping[str, torch.Tensor], name: str) -> tuple[torch.Tensor, torch.Tensor]:
    return _matrix(weights, name), weights[f"{name}.bias"].float()


def _norm(weights: Mapping[str, torch.Tensor], name: str) -> tuple[torch.Tensor, torch.Tensor]:
    return weights[f"{name}.weight"].float(), weights[f"{name}.bias"].float()


def load_sentence_weights(folder: Path) -> dict[str, torch.Tensor]:
    """The sentence encoder's weights, int8 and float32 under their original names, from SENTENCE_PARTS of a folder.

    Raises
    ------
    OSError, SafetensorError
        A part is missing, or the parts are damaged or not all of one file.
    """
    return load(b"".join((folder / name).read_bytes() for name in SENTENCE_PARTS))


def load_sentence_encoder(folder: Path) -> SentenceEncoder:
    """The sentence encoder of a folder of shipped files. Raises what :func:`load_sentence_weights` does."""
    return SentenceEncoder(load_sentence_weights(folder), load_tokenizer(folder / TOKENIZER_FILE))


def load_tokenizer(path: Path) -> Tokenizer:
    """The word-piece tokenizer stored in a ``tokenizer.json``."""
    return Tokenizer.from_file(str(path))
