"""What is imported is what is required: exactly pinned, and nothing else."""

from __future__ import annotations

import ast
import re
import sys
from importlib.metadata import packages_distributions, version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
OURS = {"app", "backend", "components", "tests", "unheard"}
TRAINING_ONLY = {"ai_edge_litert": "ai-edge-litert", "tinysoundfont": "tinysoundfont"}
"""Import name -> package of what remaking the pocket encoder needs beyond the product; its model card says so."""
LINE = re.compile(r"(?P<name>[A-Za-z0-9_.-]+)==(?P<version>[^\s#]+)(?:  # not imported: (?P<why>\S.*))?")
"""A pin. What no file imports says after it what needs it."""


def normal(name: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(file: str) -> dict[str, re.Match[str]]:
    """Normal name -> line, of every line of a requirements file that is not another file's name."""
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    matches = {line: LINE.fullmatch(line) for line in lines if line and not line.startswith("-r ")}
    assert [line for line, match in matches.items() if match is None] == []
    return {normal(match["name"]): match for match in matches.values() if match}


def imported(*places: Path) -> set[str]:
    """Top-level names that files import, inside functions too, and that are neither Python's own nor this project's."""
    names: set[str] = set()
    for path in (file for place in places for file in ([place] if place.is_file() else place.rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.split(".")[0])
    return names - sys.stdlib_module_names - OURS


def packages(names: set[str]) -> set[str]:
    """The packages that import names belong to; a name of no installed package stands for itself."""
    known = packages_distributions()
    return {normal(known.get(name, [name])[0]) for name in names}


PRODUCT = packages(imported(ROOT / "app.py", ROOT / "backend", ROOT / "components") - set(TRAINING_ONLY))
TESTS = packages(imported(ROOT / "tests") - {"clap_module"})  # a part of laion_clap, which puts itself on the path


def test_the_product_requires_what_it_imports_and_says_why_where_it_does_not_import_it() -> None:
    required = pins("requirements.txt")
    assert sorted(PRODUCT - set(required)) == [], "imported, but not in requirements.txt"
    unexplained = [name for name, match in required.items() if name not in PRODUCT and not match["why"]]
    assert unexplained == [], "in requirements.txt, but neither imported nor said what needs it"
    assert [name for name, match in required.items() if name in PRODUCT and match["why"]] == [], "imported after all"


def test_the_tests_require_what_they_import() -> None:
    required, product = pins("requirements-dev.txt"), set(pins("requirements.txt"))
    assert sorted(TESTS - set(required) - product) == [], "imported, but not in requirements-dev.txt"
    assert sorted(set(required) & product) == [], "required twice"
    assert [name for name, match in required.items() if name not in TESTS and not match["why"]] == []
    assert [name for name, match in required.items() if name in TESTS and match["why"]] == []


@pytest.mark.parametrize("file", ["requirements.txt", "requirements-dev.txt"])
def test_what_is_installed_is_what_is_pinned(file: str) -> None:
    found = {name: version(name) for name in pins(file)}
    # torch's builds say which device they are for after a plus sign.
    assert {name: text.split("+")[0] for name, text in found.items()} == {
        name: match["version"] for name, match in pins(file).items()
    }


def test_training_alone_imports_what_only_training_needs_and_the_card_says_so() -> None:
    card = (ROOT / "assets" / "pocket" / "CARD.md").read_text(encoding="utf-8")
    for name, package in TRAINING_ONLY.items():
        users = [path for path in (ROOT / "backend").rglob("*.py") if name in imported(path)]
        assert users and all((ROOT / "backend" / "training") in path.parents for path in users)
        assert f"`{package}`" in card
