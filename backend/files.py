"""Files: where the project's own lie, and writing that a reader never meets half done."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The folder of the project."""
ASSETS = ROOT / "assets"
DATA = ROOT / "data"

OWNER_ONLY = 0o600
"""Mode of files that may hold what a visitor brought."""


def asset_text(place: str) -> str:
    """A text file of the assets: ``asset_text("frame/page.css")``."""
    return (ASSETS / place).read_text(encoding="utf-8")


@contextlib.contextmanager
def atomic_write(path: Path, *, mode: int = 0o666) -> Iterator[Path]:
    """Write a file whole or not at all: the block fills another file, which takes this one's place at the end.

    Parameters
    ----------
    path : Path
        In a folder that exists; a file that is there stays until the new one is whole.
    mode : int
        Permissions, less the process's umask, as for ``open``.

    Yields
    ------
    Path
        An empty file in the same folder, to be written by name; it is deleted if the block raises.

    Raises
    ------
    OSError
        The folder cannot be written to.
    """
    part = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.part")
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
    try:
        yield part
        move_into_place(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def move_into_place(part: Path, path: Path) -> None:
    """Give a finished file its name, in one step; both lie in the same file system."""
    os.replace(part, path)


def drop_oldest(folder: Path, pattern: str, most_bytes: int, *, keep: Path) -> None:
    """Delete the files that were used longest ago until those of ``pattern`` hold at most ``most_bytes``.

    ``keep`` stays whatever its size.
    """
    files = sorted(folder.glob(pattern), key=lambda file: file.stat().st_mtime)
    total = sum(file.stat().st_size for file in files)
    for file in files:
        if total <= most_bytes:
            return
        if file != keep:
            total -= file.stat().st_size
            file.unlink(missing_ok=True)


def sha256_of(path: str | Path) -> str:
    """SHA-256 of a file's bytes, 64 hex digits. Raises OSError."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def folder_is_writable(folder: Path) -> bool:
    """Whether files can be created in a folder (created when it is missing)."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".unheard-probe"
        probe.touch()
        probe.unlink()
    except OSError:
        return False
    return True
