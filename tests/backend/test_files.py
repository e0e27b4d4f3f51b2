"""Files are written whole or not at all, and the folder of served or cached ones stays bounded."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from backend.encoders.cached import EmbeddingCache
from backend.files import ASSETS, DATA, OWNER_ONLY, ROOT, atomic_write, drop_oldest, sha256_of


def test_the_folders_of_the_project_are_there() -> None:
    assert (ROOT / "app.py").is_file()
    assert (ASSETS / "pocket" / "CARD.md").is_file()
    assert (DATA / "manifest.json").is_file()


def test_a_file_takes_its_place_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "result.bin"
    path.write_bytes(b"old")
    with atomic_write(path) as part:
        assert part.parent == tmp_path
        part.write_bytes(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["result.bin"]


def test_a_failure_leaves_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "result.bin"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError, match="half way"), atomic_write(path) as part:
        part.write_bytes(b"ne")
        raise RuntimeError("half way")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["result.bin"]


def test_a_file_has_the_permissions_that_open_would_give_or_the_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        for name, options in (("plain", {}), ("own", {"mode": OWNER_ONLY})):
            with atomic_write(tmp_path / name, **options) as part:
                part.write_bytes(b"x")
    finally:
        os.umask(before)
    assert (tmp_path / "plain").stat().st_mode & 0o777 == 0o644
    assert (tmp_path / "own").stat().st_mode & 0o777 == 0o600


def test_two_writers_of_one_file_do_not_mix(tmp_path: Path) -> None:
    path, start, seen = tmp_path / "shared", threading.Barrier(8), set()

    def write(letter: bytes) -> None:
        start.wait()
        for _ in range(20):
            with atomic_write(path) as part, part.open("wb") as stream:
                for _ in range(4):
                    stream.write(letter * 1000)
            seen.add(path.read_bytes())

    threads = [threading.Thread(target=write, args=(bytes([65 + index]),)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen <= {bytes([65 + index]) * 4000 for index in range(8)}
    assert os.listdir(tmp_path) == ["shared"]


def test_a_cache_on_a_full_disk_leaves_no_part_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(stream: object, **_arrays: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    cache = EmbeddingCache(tmp_path, memory_bytes=2**20, disk_bytes=2**20)
    cache.put("group", {"key": np.ones(4, dtype=np.float32)})
    assert cache.get("group", "key") is not None
    assert os.listdir(tmp_path) == []


def test_the_files_used_longest_ago_go_first(tmp_path: Path) -> None:
    for age, name in enumerate(("new.wav", "old.wav", "older.wav", "other.txt")):
        (tmp_path / name).write_bytes(b"x" * 100)
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    drop_oldest(tmp_path, "*.wav", 200, keep=tmp_path / "older.wav")
    assert sorted(os.listdir(tmp_path)) == ["new.wav", "older.wav", "other.txt"]
    drop_oldest(tmp_path, "*.wav", 0, keep=tmp_path / "older.wav")
    assert sorted(os.listdir(tmp_path)) == ["older.wav", "other.txt"]


def test_the_digest_is_that_of_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(bytes(range(256)) * 10_000)
    assert sha256_of(path) == hashlib.sha256(path.read_bytes()).hexdigest()
