"""Fetching Debian packages and taking out what sounds: audio files, sound fonts and the copyright notices.

Everything goes through ``apt-get download`` (the lists must be up to date: ``apt-get update``); nothing is installed.
"""

from __future__ import annotations

import struct
import subprocess
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from backend.errors import InputError
from backend.training.pocket.data_decode import SUFFIXES

LIST = Path(__file__).with_name("packages.txt")
WANTED = (
    *(f"*{suffix}" for suffix in SUFFIXES), "*.WAV", "*.sf2", "*.sf3", "*/copyright", "*.rcc", "*public/public.zip",
)  # fmt: skip
AT_ONCE = 40
"""Packages of one call: each call reads all package lists anew, which takes seconds."""
ZIPPED = "audio/"
SPOKEN = "audio/voice/"


def package_names(more: bool = False) -> tuple[str, ...]:
    """The packages of ``packages.txt``: those of the first set, or the ``more`` ones."""
    first, _, second = LIST.read_text(encoding="utf-8").partition("[more]")
    lines = (second if more else first).splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


def fetch(packages: Sequence[str], root: Path) -> list[str]:
    """Unpack the sounding part of each package into ``root/PACKAGE``; returns those that could not be had.

    A package that is there already is not fetched again. Raises InputError where there is no ``apt-get``.
    """
    waiting = [package for package in packages if not (root / package / ".done").exists()]
    store = root / ".archives"
    store.mkdir(parents=True, exist_ok=True)
    for first in range(0, len(waiting), AT_ONCE):
        chosen = waiting[first : first + AT_ONCE]
        if not _download(chosen, store):
            # One unknown name fails the whole call; one by one the others still come.
            for package in chosen:
                _download([package], store)
        for archive in sorted(store.glob("*.deb")):
            _take_out(archive, root / archive.name.partition("_")[0])
            archive.unlink()
    return [package for package in packages if not (root / package / ".done").exists()]


def _download(packages: Sequence[str], store: Path) -> bool:
    try:
        return subprocess.run(["apt-get", "download", "-q", *packages], cwd=store, capture_output=True).returncode == 0
    except FileNotFoundError as error:
        raise InputError("The training sounds come from Debian packages; this needs apt-get (Debian).") from error


def _take_out(archive: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    unpacked = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(archive)], stdout=subprocess.PIPE)
    patterns = ["tar", "x", "-C", str(target), "--wildcards", *WANTED]
    # tar reports patterns that match nothing as errors; most packages lack most kinds of files.
    subprocess.run(patterns, stdin=unpacked.stdout, capture_output=True, check=False)
    unpacked.wait()
    for bundle in sorted(target.rglob("*.rcc")):
        for name, content in qt_resources(bundle.read_bytes()):
            _write(target / "unpacked" / bundle.stem / name, content)
        bundle.unlink()
    for bundle in sorted(target.rglob("*.zip")):
        with zipfile.ZipFile(bundle) as inside:
            for name in inside.namelist():
                if name.startswith(ZIPPED) and not name.startswith(SPOKEN) and name.endswith(".ogg"):
                    _write(target / "unpacked" / name, inside.read(name))
        bundle.unlink()
    (target / ".done").touch()


def qt_resources(bundle: bytes) -> Iterator[tuple[str, bytes]]:
    """(path, content) of the audio files in a Qt resource bundle (``.rcc``), of format 1 or later."""
    version, tree, data, names = struct.unpack(">4I", bundle[4:20])
    size = 14 if version < 2 else 22

    def name_at(offset: int) -> str:
        length = struct.unpack_from(">H", bundle, names + offset)[0]
        return bundle[names + offset + 6 : names + offset + 6 + 2 * length].decode("utf-16-be")

    waiting = [(0, "")]
    while waiting:
        index, folder = waiting.pop()
        name, flags = struct.unpack_from(">IH", bundle, tree + index * size)
        path = f"{folder}/{name_at(name)}".lstrip("/") if index else ""
        if flags & 2:
            count, first = struct.unpack_from(">II", bundle, tree + index * size + 6)
            waiting += [(first + child, path) for child in range(count)]
        elif path.lower().endswith(SUFFIXES):
            offset = struct.unpack_from(">I", bundle, tree + index * size + 10)[0]
            length = struct.unpack_from(">I", bundle, data + offset)[0]
            content = bundle[data + offset + 4 : data + offset + 4 + length]
            yield path, zlib.decompress(content[4:]) if flags & 1 else content


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
