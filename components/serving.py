"""Sounds handed to the browser as files, bit for bit what the backend computed.

The server never passes arrays to the page: a number that goes through a normalising encoder comes
out at full scale, and a cut of 100 dB would sound unchanged.
"""

from __future__ import annotations

import os
import tempfile
import threading
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from backend.audio import Clip, load_clip, save_wav, wav_format
from backend.settings import settings

KEPT_BYTES = 2**30
"""Served files beyond this go, oldest first; they are written again when asked for."""
_lock = threading.Lock()


def served_folder() -> Path:
    """The one folder the page may serve from."""
    folder = (settings().cache_dir / "served").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def served_path(clip: Clip, *, is_cut: bool = False) -> Path:
    """A WAV file of exactly the clip's samples: PCM 16 where the source was, else 32-bit float."""
    path = served_folder() / f"{clip.digest}.wav"
    with _lock:
        if path.exists():
            os.utime(path)
            return path
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part.wav")
        os.close(handle)
        # A cut is fractions of steps: at -100 dB sixteen bits would hold nothing but zeros.
        save_wav(clip, temporary, "PCM_16" if wav_format(clip) == "PCM_16" and not is_cut else "FLOAT")
        os.replace(temporary, path)
        _trim(path.parent, keep=path)
    return path


def _trim(folder: Path, keep: Path) -> None:
    files = sorted((file for file in folder.glob("*.wav") if file != keep), key=lambda file: file.stat().st_mtime)
    total = sum(file.stat().st_size for file in files)
    for file in files:
        if total <= KEPT_BYTES:
            return
        total -= file.stat().st_size
        file.unlink(missing_ok=True)


def served_url(clip: Clip, *, is_cut: bool = False) -> str:
    """The address of :func:`served_path`, relative to the page."""
    return "gradio_api/file=" + quote(str(served_path(clip, is_cut=is_cut)))


@lru_cache(maxsize=6)
def _loaded(path: str, modified: int, shorten: bool) -> Clip:
    return load_clip(path, shorten=shorten)


def loaded_clip(path: str | Path, *, shorten: bool = False) -> Clip:
    """A clip from disk, decoded once while it is among the last six. Raises InputError."""
    path = Path(path)
    modified = path.stat().st_mtime_ns if path.exists() else 0
    return _loaded(str(path), modified, shorten)
