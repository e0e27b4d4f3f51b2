"""The ``laion_clap`` package without its network calls, its prints and its unpickling.

Importing it fetches three tokenizers from the model hub, building a model fetches RoBERTa's weights,
and ``load_ckpt`` unpickles whatever file it is given. A checkpoint carries the whole text tower, so none
of that is needed: here the package is imported and built with those four calls answered locally.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from backend.errors import InputError

if TYPE_CHECKING:
    import torch

AMODELS = {96: "HTSAT-tiny", 128: "HTSAT-base", 256: "HTSAT-large"}
"""Width of the patch embedding -> the package's name of the audio tower."""
PATCHES = "audio_branch.patch_embed.proj.weight"
WORDS = "text_branch.embeddings.word_embeddings.weight"
POSITIONS = "text_branch.embeddings.position_embeddings.weight"
FUSION = "audio_branch.patch_embed.mel_conv2d.weight"


@dataclass(frozen=True)
class Architecture:
    """What a checkpoint says of itself."""

    amodel: str
    """HTSAT-tiny, HTSAT-base or HTSAT-large."""
    vocabulary: int
    """Tokens of its text tower."""
    width: int
    layers: int
    feed_forward: int
    positions: int


def installed() -> bool:
    """Whether the package is there; does not import it."""
    return find_spec("laion_clap") is not None


def sniff(state: Mapping[str, torch.Tensor], name: str) -> Architecture:
    """The architecture a state dict belongs to.

    Raises
    ------
    InputError
        It is not a LAION-CLAP checkpoint with HTSAT and RoBERTa, or it is a fusion checkpoint.
    """
    missing = [key for key in (PATCHES, WORDS, POSITIONS) if key not in state]
    if missing:
        raise InputError(
            f"{name} is not a LAION-CLAP checkpoint with HTSAT and RoBERTa: it has no {missing[0]} among its "
            f"{len(state)} weights. For a model in the transformers layout use hf:<folder>.",
            concerns="file",
        )
    if FUSION in state:
        raise InputError(
            f"{name} is a fusion checkpoint, made for clips over 10 s; windows are shorter. Use the checkpoint "
            f"without fusion, for example 630k-audioset-best.",
            concerns="file",
        )
    width = int(state[PATCHES].shape[0])
    if width not in AMODELS:
        raise InputError(
            f"{name} has an audio tower of width {width}; known are {', '.join(map(str, AMODELS))} "
            f"({', '.join(AMODELS.values())}).",
            concerns="file",
        )
    layers = {int(found[1]) for key in state if (found := re.match(r"text_branch\.encoder\.layer\.(\d+)\.", key))}
    dense = state.get("text_branch.encoder.layer.0.intermediate.dense.weight")
    if not layers or dense is None:
        raise InputError(f"{name} has no layers in its text tower.", concerns="file")
    return Architecture(
        amodel=AMODELS[width],
        vocabulary=int(state[WORDS].shape[0]),
        width=int(state[WORDS].shape[1]),
        layers=1 + max(layers),
        feed_forward=int(dense.shape[0]),
        positions=int(state[POSITIONS].shape[0]),
    )


def build(state: Mapping[str, torch.Tensor], tokenizer: Any, name: str) -> Any:
    """The package's own CLAP module with these weights, in evaluation mode on the processor.

    Parameters
    ----------
    state : mapping of str to tensor
        All weights, both towers.
    tokenizer : RobertaTokenizer
        Of the size ``sniff`` reports.
    name : str
        Of the checkpoint, for messages.

    Raises
    ------
    InputError
        A weight is missing, left over, or of the wrong shape.
    """
    weights = {key: value for key, value in state.items() if key != "text_branch.embeddings.position_ids"}
    module = blank(sniff(state, name), tokenizer)
    try:
        module.model.load_state_dict(weights)
    except RuntimeError as error:
        lines = [line.strip().rstrip(".") for line in str(error).splitlines()[1:] if line.strip()]
        raise InputError(
            f"{name} does not fit its own architecture: {(lines or ['shapes differ'])[0][:200]}. "
            f"Download it again, or use another checkpoint.",
            concerns="file",
        ) from None
    return module.eval().requires_grad_(False)


def blank(found: Architecture, tokenizer: Any) -> Any:
    """The package's CLAP module of an architecture, with random weights."""
    with _answered_locally(found, tokenizer), _quiet():
        return imported().CLAP_Module(enable_fusion=False, amodel=found.amodel, device="cpu")


def imported() -> Any:
    """The package; call it inside :func:`build` only, where its network calls are answered."""
    known = list(sys.path)
    import laion_clap

    # It appends its folder, which would make `training`, `evaluate` and `hook` importable names.
    sys.path[:] = known
    return laion_clap


@contextlib.contextmanager
def _answered_locally(found: Architecture, tokenizer: Any) -> Iterator[None]:
    import transformers

    config = transformers.RobertaConfig(
        vocab_size=found.vocabulary,
        hidden_size=found.width,
        num_hidden_layers=found.layers,
        num_attention_heads=max(1, found.width // 64),
        intermediate_size=found.feed_forward,
        max_position_embeddings=found.positions,
        type_vocab_size=1,
        layer_norm_eps=1e-5,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
    )
    answers: dict[Any, Any] = {
        transformers.BertTokenizer: lambda cls: None,  # fetched at import, used by other text towers only
        transformers.BartTokenizer: lambda cls: None,
        transformers.RobertaTokenizer: lambda cls: tokenizer,
        transformers.RobertaModel: lambda cls: cls(config),
    }
    own = {cls: cls.__dict__.get("from_pretrained") for cls in answers}
    for cls, answer in answers.items():
        cls.from_pretrained = classmethod(lambda cls, *_, _answer=answer, **__: _answer(cls))
    try:
        yield
    finally:
        for cls, original in own.items():
            if original is None:
                del cls.from_pretrained
            else:
                cls.from_pretrained = original


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*meshgrid.*")
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", category=FutureWarning)
        warnings.filterwarnings("ignore", category=SyntaxWarning)
        yield
