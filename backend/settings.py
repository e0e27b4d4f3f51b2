"""Every environment variable, its default and its meaning."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from backend.errors import InputError
from backend.files import ROOT

COMMAND = "python -m backend" if (ROOT / "app.py").is_file() else "unheard"
"""How the command line is called: by its module in a checkout, by its own name where it is installed."""
PREFIX = "UNHEARD_"
DEVICES = ("auto", "cpu", "cuda")
RANGES = {"port": (0, 65535), "threads": (0, 256), "downloads": (0, 1)}
"""Lowest and highest value of what has a highest; more threads than that end the process inside torch."""
ABOVE_ZERO = frozenset({"max_file_mb", "max_seconds", "decode_seconds", "decode_memory_mb", "worker_seconds"})
"""Limits with which nothing at all could be done at 0."""
TYPE_NAMES = {int: "a whole number", float: "a number"}
HOST_FALLBACKS = {"host": "GRADIO_SERVER_NAME", "port": "GRADIO_SERVER_PORT"}
"""What a Space and Gradio's own images set; used where ours is not."""


@dataclass(frozen=True)
class Settings:
    """All settings. Field ``max_file_mb`` is read from ``UNHEARD_MAX_FILE_MB``, and so on."""

    host: str = "127.0.0.1"
    """Address the page listens on; 0.0.0.0 in a container or a Space."""
    port: int = 7860
    """Port of the page; the next free one is NOT tried, a taken port is said."""
    encoder: str = "pocket"
    """Encoder that is chosen when the page opens and when --encoder is not given."""
    max_file_mb: float = 50.0
    """Largest audio file accepted, in megabytes."""
    max_seconds: float = 600.0
    """Longest audio analysed, in seconds; of a longer file the first part is offered."""
    decode_seconds: float = 20.0
    """Wall-clock limit of the child process that decodes a file, in seconds."""
    decode_memory_mb: int = 3072
    """Address-space limit of that child process, in megabytes."""
    cache_dir: Path = Path(".unheard-cache")
    """Folder of cached embeddings and downloaded weights."""
    cache_disk_mb: int = 2048
    """Bound of the embedding cache on disk, in megabytes; the least recently used go first."""
    cache_memory_mb: int = 256
    """Bound of the embedding cache in memory, in megabytes."""
    checkpoints_dir: Path = Path(".unheard-cache/checkpoints")
    """Folder where downloaded encoder checkpoints are kept."""
    threads: int = 0
    """Threads for numerical work; 0 leaves the choice to torch."""
    device: str = "auto"
    """Where networks run: auto (a GPU when there is a working one), cpu or cuda."""
    hub: str = "https://huggingface.co"
    """Address of the model hub, or of a mirror, that explicit downloads come from."""
    downloads: int = 1
    """1 lets visitors of the page start the listed downloads, 0 does not."""
    more_encoders: str = ""
    """Further encoders to offer, ``name=id`` or ``id`` between semicolons: ``wave=process:/opt/wave/python w.py``."""
    worker_seconds: float = 300.0
    """Longest wait for one answer of a ``process:`` encoder, in seconds."""
    queue_size: int = 32
    """Requests that may wait for a worker before the page answers that it is busy."""


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Settings from environment variables.

    Parameters
    ----------
    environment : mapping of str to str
        Usually ``os.environ``. A variable that is set to nothing counts as not set.

    Raises
    ------
    InputError
        A variable does not parse as its type, or lies outside its range.
    """
    values: dict[str, Any] = {}
    for field in fields(Settings):
        name = PREFIX + field.name.upper()
        if not environment.get(name):
            name = HOST_FALLBACKS.get(field.name, name)
        if text := environment.get(name):
            values[field.name] = _checked(field.name, name, text, field.default)
    return Settings(**values)


def _checked(field: str, name: str, text: str, default: Any) -> Any:
    """One variable's value. Raises InputError naming the variable, what it is, what is allowed and the default."""
    advice = f"the default is {default}. Correct or unset it."
    try:
        value = type(default)(text)
    except ValueError:
        raise InputError(f"{name} is {text!r}, which is not {TYPE_NAMES[type(default)]}; {advice}") from None
    if not isinstance(value, int | float):
        if field == "device" and value not in DEVICES:
            raise InputError(f"{name} is {text!r}; it can be {', '.join(DEVICES)}; {advice}")
        return value
    if not math.isfinite(value) or value < 0:
        raise InputError(f"{name} is {text}, but it must be a finite number and cannot be negative; {advice}")
    low, high = RANGES.get(field, (0, math.inf))
    if not low <= value <= high:
        raise InputError(f"{name} is {text}, but it lies between {low} and {high}; {advice}")
    if field in ABOVE_ZERO and value == 0:
        raise InputError(f"{name} is {text}, but it must be above 0; {advice}")
    return value


@lru_cache(maxsize=1)
def settings() -> Settings:
    """The settings of this process, read once from its environment."""
    return read_settings(os.environ)
