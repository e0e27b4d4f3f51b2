"""The laws of the house that a machine can check."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from backend.errors import InputError
from backend.reports.palette import DARK, LIGHT
from backend.settings import PREFIX, Settings, read_settings
from components.frame.scripts import page_head

ROOT = Path(__file__).resolve().parents[1]
BACKEND = sorted((ROOT / "backend").rglob("*.py"))
COMPONENTS = sorted((ROOT / "components").rglob("*.py"))
NUMERICS = {"numpy", "scipy", "torch", "torchaudio", "librosa", "sklearn", "pandas", "soxr", "soundfile"}


def imported(path: Path) -> set[str]:
    """Top-level names of everything a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names


def test_there_is_something_to_check() -> None:
    assert len(BACKEND) > 20
    assert len(COMPONENTS) > 8


@pytest.mark.parametrize("path", BACKEND, ids=lambda path: str(path.relative_to(ROOT)))
def test_backend_knows_no_page(path: Path) -> None:
    assert not imported(path) & {"gradio", "components", "app", "tests"}


@pytest.mark.parametrize("path", COMPONENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_components_do_no_numerics(path: Path) -> None:
    assert not imported(path) & (NUMERICS | {"app", "tests"})


def test_app_is_a_door_not_a_room() -> None:
    assert len((ROOT / "app.py").read_text().splitlines()) < 60


@pytest.mark.parametrize("path", BACKEND + COMPONENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_input_is_not_checked_with_assert(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assert)]


def test_every_setting_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = [field.name for field in fields(Settings) if PREFIX + field.name.upper() not in readme]
    assert missing == []


def test_readme_opens_with_the_front_matter_of_a_space() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "---"
    header = dict(line.split(": ", 1) for line in lines[1 : lines.index("---", 1)] if ": " in line)
    assert header["sdk"] == "gradio"
    assert header["app_file"] == "app.py"
    assert len(header["short_description"]) <= 60
    pins = dict(line.split("==") for line in (ROOT / "requirements.txt").read_text().splitlines() if "==" in line)
    assert header["sdk_version"] == pins["gradio"]


@pytest.mark.parametrize(
    ("name", "value"), [("UNHEARD_PORT", "x"), ("UNHEARD_MAX_SECONDS", "-1"), ("UNHEARD_MAX_FILE_MB", "many")]
)
def test_a_wrong_setting_is_named(name: str, value: str) -> None:
    with pytest.raises(InputError, match=name):
        read_settings({name: value})


def test_settings_are_read_from_the_environment() -> None:
    assert read_settings({"UNHEARD_PORT": "7861", "UNHEARD_CACHE_DIR": "/x"}).port == 7861
    assert read_settings({}) == Settings()


def shipped_files() -> list[Path]:
    """Every file that git tracks; where there is no git, every file outside folders that begin with a dot."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        names = listed.stdout.rstrip("\0").split("\0")
    else:
        found = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
        names = [str(path) for path in found if not any(part.startswith(".") for part in path.parts[:-1])]
    return [path for path in (ROOT / name for name in names) if path.is_file()]


def test_a_space_takes_every_file_by_plain_git() -> None:
    files = shipped_files()
    assert len(files) > 300
    assert [(path.name, path.stat().st_size) for path in files if path.stat().st_size >= 10_000_000] == []


TRAINING_COMMAND = ROOT / "backend" / "commands" / "pocket.py"


@pytest.mark.parametrize(
    "path",
    [path for path in [*BACKEND, *COMPONENTS, ROOT / "app.py"] if "training" not in path.relative_to(ROOT).parts],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_training_is_imported_by_its_command_alone(path: Path) -> None:
    words = path.read_text(encoding="utf-8")
    from_backend = [
        alias.name
        for node in ast.walk(ast.parse(words))
        if isinstance(node, ast.ImportFrom) and node.module == "backend"
        for alias in node.names
    ]
    # The words, not the imports: an import by a name in a string counts too.
    named = "backend.training" in words or "training" in from_backend
    assert not named or path == TRAINING_COMMAND


def test_commands_run_without_the_training_code() -> None:
    program = (
        "import sys\n"
        "from backend.__main__ import main\n"
        "assert main(['localize', 'data/scenes/scene-dog-then-rain.flac', 'a dog barking', '--json']) == 0\n"
        "print([name for name in sys.modules if name.startswith(('backend.training', 'components', 'gradio'))])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_palette_stands_in_one_place() -> None:
    """Whoever needs a colour with a meaning imports it, or reads the page's custom property of its role."""
    colours = {roles[role].lower() for roles in (LIGHT, DARK) for role in ("present", "absent", "ok", "amber", "pink")}
    colours |= {"#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7"}
    files = [*BACKEND, *COMPONENTS, *(path for path in (ROOT / "assets").rglob("*") if path.suffix in {".css", ".js"})]
    files.remove(ROOT / "backend" / "reports" / "palette.py")
    assert len(files) > len(BACKEND) + len(COMPONENTS) + 10
    texts = {path: path.read_text(encoding="utf-8").lower() for path in files}
    assert [str(path.relative_to(ROOT)) for path, text in texts.items() if any(one in text for one in colours)] == []


def test_both_grounds_have_every_role_and_the_page_gets_them() -> None:
    assert LIGHT.keys() == DARK.keys()
    sent = page_head()
    for role in LIGHT:
        assert f"--{role}:{LIGHT[role]}" in sent and f"--{role}:{DARK[role]}" in sent


def calls_with_one_argument(path: Path) -> list[tuple[int, str]]:
    """(line, name) of every method call with one argument: ``part.replace(target)``, not ``text.replace(a, b)``."""
    return [
        (node.lineno, node.func.attr)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) == 1
        if not node.keywords
    ]


@pytest.mark.parametrize("path", BACKEND + COMPONENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_one_file_moves_files_and_knows_where_the_project_lies(path: Path) -> None:
    if path == ROOT / "backend" / "files.py":
        return
    text = path.read_text(encoding="utf-8")
    moving = ("os.replace", "os.rename", "shutil.move", "mkstemp", "NamedTemporaryFile")
    assert [name for name in (*moving, "parents[", "__file__).resolve()") if name in text] == []
    assert [line for line, name in calls_with_one_argument(path) if name in ("replace", "rename")] == []
