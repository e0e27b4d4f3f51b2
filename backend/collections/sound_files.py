"""Which file is meant by a name in a table of clips."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path, PurePath

from backend.collections.csv_table import AUDIO_SUFFIXES
from backend.collections.label_tables import clip_key


class SoundFinder:
    """Finds sounds by name in folders, the first being the one that names are relative to.

    A path that is there is meant, absolute or relative. Else it is the one file below the folders whose path ends
    in the name: with or without its audio suffix, whichever way accented letters are composed. Two such files are
    none, for the wrong one would carry the row's labels.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = tuple(folders)

    def find(self, names: Sequence[str]) -> Path | None:
        """The file that one of these names means, the first name first; None if there is none."""
        for folder in self.folders:
            for name in names:
                # A name may be too long for a file system, or hold what no path may.
                with contextlib.suppress(OSError, ValueError):
                    if (folder / name).is_file():
                        return folder / name
        return next((found for name in names if (found := self._ends_in(clip_key(PurePath(name).as_posix())))), None)

    @cached_property
    def files(self) -> dict[str, Path]:
        """Every sound below the folders, by its path there without suffix."""
        found: dict[str, Path] = {}
        for folder in self.folders:
            for path in sorted(folder.rglob("*")):
                if path.suffix.lower() in AUDIO_SUFFIXES and path.is_file():
                    found.setdefault(clip_key(path.relative_to(folder).as_posix()), path)
        return found

    @cached_property
    def _by_last_part(self) -> dict[str, list[str]]:
        known: dict[str, list[str]] = {}
        for key in self.files:
            known.setdefault(key.rpartition("/")[2], []).append(key)
        return known

    def _ends_in(self, name: str) -> Path | None:
        if name in self.files:
            return self.files[name]
        keys = [key for key in self._by_last_part.get(name.rpartition("/")[2], []) if f"/{key}".endswith(f"/{name}")]
        paths = {self.files[key] for key in keys}
        return paths.pop() if len(paths) == 1 else None


def sound_folders(table: Path, layout: str) -> tuple[Path, ...]:
    """Where a table's sounds may lie: beside it or, of a known data set, in its usual folder there or one level up."""
    if layout == "plain":
        return (table.parent,)
    part = table.stem.removeprefix("clotho_captions_")
    usual = (f"FSD50K.{part}_audio", f"clotho_audio_{part}", part, "audio", "clips", "wavs", "chunks")
    bases = (table.parent, table.parent.parent)
    return (table.parent, *(base / name for base in bases for name in usual if (base / name).is_dir()))
