"""``pip install .``: the library and the command line, away from the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import unheard
from backend.settings import COMMAND

ROOT = Path(__file__).resolve().parents[1]


def test_in_a_checkout_it_is_the_backend_beside_it() -> None:
    import backend

    assert Path(unheard.__file__).parents[1] == ROOT and COMMAND == "python -m backend"
    assert unheard.__all__ == backend.__all__ and unheard.parse_query is backend.parse_query
    assert set(unheard.__all__) <= set(dir(unheard))
    with pytest.raises(AttributeError, match="'localise'"):
        _ = unheard.localise


def test_another_package_called_backend_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "backend").mkdir()
    (tmp_path / "backend" / "__init__.py").write_text("mine = True\n")
    program = f"import sys; sys.path.append({str(ROOT)!r}); import backend; print(backend.mine); import unheard"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "True\n"
    assert "another package of that name" in done.stderr.splitlines()[-1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that a copy of this checkout was installed into, without its requirements, which are here already."""
    checkout, target = tmp_path_factory.mktemp("copy") / "checkout", tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT, checkout, ignore=shutil.ignore_patterns(".*", "__pycache__", "build", "*.egg-info"))
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, "--target", target, checkout], check=True)
    return target


def run(site: Path, folder: Path, *command: str | Path) -> str:
    """What a command prints in a folder, with nothing but the installation to be found beside the packages."""
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_library_works_where_it_is_installed(site: Path, tmp_path: Path) -> None:
    program = (
        "import unheard\n"
        "print(unheard.__file__)\n"
        "print([concept.text for concept in unheard.parse_query('rain, no dog').negatives])\n"
        "print(unheard.load_encoder('pocket').embed_text(['rain']).shape)\n"
        "print(len(unheard.open_collection('demo').items))\n"
    )
    where, *answers = run(site, tmp_path, sys.executable, "-c", program).splitlines()
    assert Path(where) == site / "unheard" / "__init__.py"
    assert answers == ["['dog']", "(1, 384)", "68"]


@pytest.mark.slow
def test_the_command_works_where_it_is_installed_and_takes_one_name(site: Path, tmp_path: Path) -> None:
    assert run(site, tmp_path, site / "bin" / "unheard", "parse", "rain, no dog") == "+ rain\n- dog  (“no”)\n"
    found = run(site, tmp_path, site / "bin" / "unheard", "localize", "scene-dog-then-rain", "a dog barking")
    assert "dog barking (present): found at 3.5" in found
    assert "unheard encoders" in run(site, tmp_path, site / "bin" / "unheard", "localize", "--help")
    assert sorted(path.name for path in site.iterdir() if path.suffix != ".dist-info") == ["bin", "unheard"]
