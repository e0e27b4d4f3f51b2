"""Every environment variable, its default and its meaning."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from backend.errors import InputError

PREFIX = "UNHEARD_"
HIGHEST_PORT = 65535
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
        Usually ``os.environ``.

    Raises
    ------
    InputError
        A variable does not parse as its type, or is negative.
    """
    values: dict[str, object] = {}
    for field in fields(Settings):
        name = PREFIX + field.name.upper()
        if name not in environment:
            name = HOST_FALLBACKS.get(field.name, name)
        if name not in environment:
            continue
        text, default = environment[name], field.default
        try:
            value: Any = type(default)(text)
        except ValueError:
            raise InputError(
                f"{name} is {text!r}, which is not a {type(default).__name__}; the default is {default}. "
                f"Correct or unset it."
            ) from None
        if isinstance(value, int | float) and value < 0:
            raise InputError(f"{name} is {text}, but it cannot be negative; the default is {default}.")
        if field.name == "port" and value > HIGHEST_PORT:
            raise InputError(
                f"{name} is {text}, but a port lies between 0 and {HIGHEST_PORT}; the default is {default}."
            )
        values[field.name] = value
    return Settings(**values)  # type: ignore[arg-type]


@lru_cache(maxsize=1)
def settings() -> Settings:
    """The settings of this process, read once from its environment."""
    return read_settings(os.environ)
