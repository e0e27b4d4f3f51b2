"""Sounds handed to the browser as files, bit for bit what the backend computed.

The server never passes arrays to the page: a number that goes through a normalising encoder comes
out at full scale, and a cut of 100 dB would sound unchanged.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from urllib.parse import quote

from backend.audio import Clip, load_clip, save_wav, wav_format
from backend.files import OWNER_ONLY, atomic_write, drop_oldest
from backend.kept import Kept
from backend.settings import settings

KEPT_BYTES = 2**30
"""Served files beyond this go, oldest first; they are written again when asked for."""
KEPT_SAMPLE_BYTES = 2**29
"""Decoded clips kept in memory beyond the latest one."""
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
        with atomic_write(path, mode=OWNER_ONLY) as part:
            # A cut is fractions of steps: at -100 dB sixteen bits would hold nothing but zeros.
            save_wav(clip, part, "PCM_16" if wav_format(clip) == "PCM_16" and not is_cut else "FLOAT")
        drop_oldest(path.parent, "*.wav", KEPT_BYTES, keep=path)
    return path


def address_of(path: Path) -> str:
    """Where the page finds a file of the served folder, relative to itself."""
    return "gradio_api/file=" + quote(str(path))


def served_url(clip: Clip) -> str:
    """The address of :func:`served_path`."""
    return address_of(served_path(clip))


_clips: Kept[tuple[str, int, bool], Clip] = Kept(
    most_bytes=KEPT_SAMPLE_BYTES, size=lambda clip: clip.native.nbytes + clip.mono.nbytes, least=1
)


def loaded_clip(path: str | Path, *, shorten: bool = False) -> Clip:
    """A clip from disk, decoded once while it is among the latest ``KEPT_SAMPLE_BYTES``. Raises InputError."""
    path = Path(path)
    key = (str(path), path.stat().st_mtime_ns if path.exists() else 0, shorten)
    return _clips.get(key, lambda: load_clip(path, shorten=shorten))
