"""Models in the transformers layout: where a repository lies on this machine, and how it is read.

Nothing here opens a connection: a repository is read from this program's downloads or from the
hub's cache, and everything else is an explicit download (``backend.encoders.fetching.checkpoints``).
"""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from backend.encoders.base import EncoderInfo
from backend.errors import InputError
from backend.settings import COMMAND, settings

WEIGHT_FILES = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin")


def download_folder(repo: str) -> Path:
    """The folder this program downloads a repository into."""
    return settings().checkpoints_dir / repo.replace("/", "--")


def local_folder(repo: str) -> Path | None:
    """The folder of a repository that is complete on this machine, or None."""
    candidates = [download_folder(repo)]
    from huggingface_hub import try_to_load_from_cache

    cached = try_to_load_from_cache(repo, "config.json")
    if isinstance(cached, str):
        candidates.append(Path(cached).parent)
    return next((folder for folder in candidates if has_model(folder)), None)


def listed_model(
    encoder_id: str, title: str, repo: str, dim: int, sample_rate: int, text: bool, size: int
) -> EncoderInfo:
    """What the registry says of a published repository."""
    ready = local_folder(repo) is not None
    return EncoderInfo(
        id=encoder_id,
        title=title,
        ready=ready,
        needs="" if ready else "Needs its weights; download them here.",
        dim=dim,
        sample_rate=sample_rate,
        text=text,
        licence="Apache-2.0",
        source=f"https://huggingface.co/{repo}",
        size_bytes=size,
        downloadable=not ready,
    )


def has_model(folder: Path) -> bool:
    """Whether a folder holds a configuration and weights."""
    return (folder / "config.json").is_file() and any((folder / name).is_file() for name in WEIGHT_FILES)


def resolved(encoder_id: str, known: dict[str, str]) -> Path:
    """The folder of ``<prefix>:<name or folder>``.

    Parameters
    ----------
    encoder_id : str
        What was asked for.
    known : dict of str to str
        Name after the colon -> repository.

    Raises
    ------
    InputError
        Neither a known name that is here, nor a folder with a model.
    """
    wanted = encoder_id.partition(":")[2]
    if wanted in known:
        folder = local_folder(known[wanted])
        if folder is None:
            raise InputError(
                f"{encoder_id} is not on this machine. Download it first: choose it in the encoder picker, or run "
                f"{COMMAND} encoders --download {encoder_id}.",
                concerns="file",
            )
        return folder
    folder = Path(wanted).expanduser()
    if has_model(folder):
        return folder
    if folder.is_dir():
        raise InputError(
            f"{folder} holds no model: it needs config.json and one of {', '.join(WEIGHT_FILES)}.", concerns="file"
        )
    cached = local_folder(wanted) if wanted.count("/") == 1 else None
    if cached is None:
        raise InputError(
            f"There is no model {wanted!r}: known are {', '.join(known)}; a folder with config.json and weights can be "
            f"used too, or a repository that is already in the hub's cache."
        )
    return cached


def checked_type(folder: Path, allowed: tuple[str, ...], what: str) -> str:
    """The model type a folder's configuration states.

    Raises
    ------
    InputError
        The configuration cannot be read, or its type is not among ``allowed``.
    """
    try:
        stated = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("model_type")
    except (OSError, ValueError, AttributeError):
        raise InputError(
            f"The config.json in {folder} cannot be read. Download the model again.", concerns="file"
        ) from None
    if stated not in allowed:
        raise InputError(
            f"{folder} holds a model of type {stated!r}; {what} needs {' or '.join(allowed)}.", concerns="file"
        )
    return str(stated)


def check_has_features(folder: Path, files: tuple[str, ...]) -> None:
    """Refuse a folder that has none of these files, which say how its model prepares audio."""
    if not any((folder / name).is_file() for name in files):
        raise InputError(
            f"{folder} has no preprocessor_config.json, so the audio cannot be prepared as the model expects. "
            f"Download the model again.",
            concerns="file",
        )


def read_model(load: Callable[[], Any], folder: Path, spare: tuple[str, ...] = ()) -> Any:
    """A model with every weight from its file, in evaluation mode.

    Parameters
    ----------
    load : callable
        Calls ``from_pretrained(..., output_loading_info=True)``.
    folder : Path
        For messages.
    spare : tuple of str
        Ends of weight names that may be missing because only training uses them.

    Raises
    ------
    InputError
        Damaged, of another shape, or incomplete. (transformers fills missing weights at random and goes on.)
    """
    with quiet():
        try:
            model, report = load()
        except Exception as error:  # each of its back ends raises its own types
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:200].rstrip(".")
            raise InputError(f"The model in {folder} cannot be read: {reason}.", concerns="file") from error
    missing = sorted(name for name in report.get("missing_keys", ()) if not name.endswith(spare or ("\0",)))
    if missing:
        raise InputError(
            f"The weights in {folder} lack {len(missing)} of the model's, the first is {missing[0]}. They belong to "
            f"another architecture or are incomplete; download the model again.",
            concerns="file",
        )
    return model.eval().requires_grad_(False)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """transformers without progress bars, log lines and deprecation warnings."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
