"""Checkpoint files, read without trusting them.

A ``.pt`` file is a pickle, and a pickle is a program. Every file is therefore read weights-only; only
one whose SHA-256 is that of a known checkpoint may fall back to unpickling.
"""

from __future__ import annotations

import hashlib
import pickle
import warnings
import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.errors import InputError
from backend.files import atomic_write, sha256_of

if TYPE_CHECKING:
    import torch


def weights_digest(state: Mapping[str, torch.Tensor], *extras: str) -> str:
    """First 12 hex digits of a SHA-256 over names, shapes, types and values.

    It is taken over the tensors, not over the file, so that a checkpoint keeps its hash when its
    optimizer state is stripped.

    Parameters
    ----------
    state : mapping of str to tensor
        The weights.
    extras : str
        Whatever else decides the embeddings: the tokenizer, the preprocessing.
    """
    import torch

    digest = hashlib.sha256()
    for name in sorted(state):
        tensor = state[name].detach().cpu().contiguous()
        digest.update(f"{name}|{tuple(tensor.shape)}|{tensor.dtype}|".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    for extra in extras:
        digest.update(extra.encode())
    return digest.hexdigest()[:12]


def read_weights(path: Path, trusted: Collection[str] = ()) -> dict[str, torch.Tensor]:
    """The state dict of a checkpoint, without the ``module.`` of data-parallel training.

    Parameters
    ----------
    path : Path
        ``.safetensors``, or what ``torch.save`` wrote.
    trusted : collection of str
        SHA-256 of files that may be unpickled when they hold more than weights.

    Raises
    ------
    InputError
        Missing, truncated, not a checkpoint, or more than weights in an unknown file.
    """
    if not path.is_file():
        raise InputError(f"There is no checkpoint file {path}. Download it or correct the path.", concerns="file")
    try:
        raw = _read_safetensors(path) if path.suffix == ".safetensors" else _read_torch(path, trusted)
    except OSError as error:
        raise InputError(f"{path.name} cannot be read: {error.strerror or error}.", concerns="file") from None
    state = _state_dict(raw, path)
    return {name.removeprefix("module."): tensor for name, tensor in state.items()}


def _state_dict(raw: object, path: Path) -> dict[str, torch.Tensor]:
    import torch

    for key in ("state_dict", "model"):
        if isinstance(raw, Mapping) and isinstance(raw.get(key), Mapping):
            raw = raw[key]
            break
    if not isinstance(raw, Mapping) or not raw or not all(isinstance(value, torch.Tensor) for value in raw.values()):
        raise InputError(
            f"{path.name} holds no weights (a mapping of names to tensors). Point at a checkpoint of the encoder.",
            concerns="file",
        )
    return dict(raw)


def _read_safetensors(path: Path) -> object:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(str(path))
    except SafetensorError as error:
        raise _damaged(path, str(error)) from None


def _read_torch(path: Path, trusted: Collection[str]) -> object:
    import torch

    _refuse_text(path)
    # Mapping keeps optimizer state, two thirds of a training checkpoint, out of memory.
    mapped = zipfile.is_zipfile(path)
    try:
        with torch.serialization.safe_globals(_harmless_globals()), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about pickle protocols, which are judged here
            return torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
    except pickle.UnpicklingError as error:
        if "weights_only" not in str(error) and "Weights only" not in str(error):
            raise _damaged(path, str(error)) from None
        if not trusted or sha256_of(path) not in trusted:
            raise InputError(
                f"{path.name} holds more than weights, and it is not a checkpoint this version knows by its SHA-256; "
                f"opening it could run a program, so it was not opened. Save its weights as .safetensors and use "
                f"that file.",
                concerns="file",
            ) from None
        return torch.load(path, map_location="cpu", weights_only=False, mmap=mapped)
    except (RuntimeError, EOFError, ValueError, KeyError, AttributeError, TypeError, IndexError) as error:
        raise _damaged(path, str(error)) from None


def _harmless_globals() -> list[Any]:
    """Plain numbers that training code leaves beside the weights (best loss, epoch)."""
    import argparse
    import collections

    import numpy as np

    types: list[Any] = [np.dtypes.Float64DType, np.dtypes.Float32DType, np.dtypes.Int64DType, np.dtypes.Int32DType]
    scalar = np.float64(0).__reduce__()[0]  # the function a pickled number calls; its module moved in numpy 2
    return [
        (scalar, "numpy.core.multiarray.scalar"),
        (scalar, "numpy._core.multiarray.scalar"),
        np.dtype,
        *types,
        argparse.Namespace,
        collections.OrderedDict,
    ]


def _refuse_text(path: Path) -> None:
    with path.open("rb") as stream:
        head = stream.read(64).lstrip()
    if head.startswith(b"version https://git-lfs"):
        raise InputError(
            f"{path.name} is a Git LFS pointer, not the file itself. Fetch it with git lfs pull, or download it here.",
            concerns="file",
        )
    if head.startswith((b"<", b"{")):
        raise InputError(
            f"{path.name} is a text page, not a checkpoint; a download was answered with an error page. "
            f"Delete it and download again.",
            concerns="file",
        )


def _damaged(path: Path, reason: str) -> InputError:
    first = reason.strip().splitlines()[0][:160] if reason.strip() else "it ends too early"
    return InputError(
        f"{path.name} is damaged or incomplete ({first.rstrip('.')}). Delete it and download it again.",
        concerns="file",
    )


def strip_optimizer(source: Path, target: Path, trusted: Collection[str] = ()) -> int:
    """Write only the weights of a training checkpoint, as ``.safetensors``; a third of the size.

    Parameters
    ----------
    source, target : Path
        Files; ``target`` must end in ``.safetensors`` and is replaced at once or not at all.
    trusted : collection of str
        As in :func:`read_weights`.

    Returns
    -------
    int
        Bytes saved.

    Raises
    ------
    InputError
        The source cannot be read, or the target has another suffix.
    """
    from safetensors.torch import save_file

    if target.suffix != ".safetensors":
        raise InputError(f"{target.name} must end in .safetensors.")
    state = read_weights(source, trusted)
    # safetensors refuses tensors that share memory (tied weights); clones do not.
    with atomic_write(target) as part:
        save_file({name: tensor.clone().contiguous() for name, tensor in state.items()}, str(part))
    return source.stat().st_size - target.stat().st_size
