"""``import backend``: the names a researcher needs, each from its room, and none before it is used."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import backend

ROOT = Path(backend.__file__).resolve().parents[1]
HEAVY = ("numpy", "torch", "scipy", "pandas", "sklearn", "librosa", "matplotlib", "plotly", "gradio")


@pytest.mark.parametrize("room", sorted(backend.ROOMS))
def test_every_name_is_the_one_of_its_room(room: str) -> None:
    for name in backend.ROOMS[room]:
        assert getattr(backend, name) is getattr(importlib.import_module(room), name)
        assert name in backend.__all__ and name in dir(backend)


def test_type_checkers_are_told_the_same() -> None:
    tree = ast.parse(Path(backend.__file__).read_text(encoding="utf-8"))
    told: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("backend"):
            told.setdefault(node.module, []).extend(alias.name for alias in node.names)
    assert {room: sorted(names) for room, names in told.items()} == {
        room: sorted(names) for room, names in backend.ROOMS.items()
    }


def test_the_door_is_light() -> None:
    program = f"import sys, backend; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_another_name_is_said_to_be_none() -> None:
    with pytest.raises(AttributeError, match=r"'localise'; the front door has .*localize"):
        _ = backend.localise
    with pytest.raises(ImportError):
        from backend import nothing_of_this_name  # noqa: F401
