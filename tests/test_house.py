"""The laws of the house that a machine can check."""

from __future__ import annotations

import ast
import re
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
    assert not imported(path) & {"gradio", "plotly", "components", "app", "tests"}


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
    readme = (ROOT / "backend" / "README.md").read_text(encoding="utf-8")
    missing = [field.name for field in fields(Settings) if PREFIX + field.name.upper() not in readme]
    assert missing == []


def test_the_readme_is_for_a_stranger() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 150


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


def test_training_is_imported_by_its_command_alone() -> None:
    training = ROOT / "backend" / "training"
    users = []
    for path in [*BACKEND, *COMPONENTS, ROOT / "app.py"]:
        words = path.read_text(encoding="utf-8")
        from_backend = [
            alias.name
            for node in ast.walk(ast.parse(words))
            if isinstance(node, ast.ImportFrom) and node.module == "backend"
            for alias in node.names
        ]
        # The words, not the imports: an import by a name in a string counts too.
        if training not in path.parents and ("backend.training" in words or "training" in from_backend):
            users.append(path.relative_to(ROOT).as_posix())
    assert users == ["backend/commands/pocket.py"]


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


LIMITS = {
    "backend/audio/clip.py": {"HOP_SECONDS", "WINDOW_SECONDS", "WINDOW_CHOICES", "WINDOW_RANGE"},
    "backend/audio/spectrogram.py": {"MAX_COLUMNS", "MAX_BINS"},
    "backend/checks.py": {"DEFAULT_SEED", "HIGHEST_SEED"},
    "backend/negation/query_text.py": {"MAX_CHARACTERS", "MAX_PHRASE", "MAX_CONCEPTS"},
    "backend/evidence/control_cuts.py": {"CONTROL_COUNT", "MOST_CONTROLS"},
    "backend/evidence/cut.py": {"RAMP_SECONDS", "DEFAULT_DEPTH_DB", "USUAL_DEPTHS_DB", "MAX_DEPTH_DB"},
    "backend/retrieval/ranking.py": {"DEFAULT_HITS"},
    "backend/retrieval/steering.py": {"PAPER_LAMBDAS", "DEFAULT_LAMBDA", "LARGEST_LAMBDA"},
    "backend/benchmarks/negeval/__init__.py": {"DEFAULT_PAIRS", "MOST_PAIRS", "DEFAULT_CLIPS"},
    "backend/composition/analysis.py": {"PERMUTATIONS", "MOST_PERMUTATIONS", "MOST_SPLITS"},
    "backend/composition/holdout.py": {"SPLITS"},
}
"""Where each limit and default lives; everywhere else it is imported."""
OF_A_LIMIT = re.compile(
    r"(^|_)(hops?|windows?|lambdas?|lam|strength|depths?|seeds?|controls?|hits?|top|permutations|splits|pairs|region)(_|$)"
)
"""Words in the name of a number that has a home above."""
ANOTHER_MATTER = {
    "TOP_HZ",  # the picture's frequency axis
    "FEW_PAIRS",  # a warning's
    "HITS_K",  # Hits@5, a metric
    "HOP_SAMPLES",  # of pocket's own mel frames
    "WINDOW_CONTEXT",  # the resampler's ringing
    "OTHER_DEPTH",  # no depth, but a choice
    "best_windows",  # how many count for presence
}
"""Numbers that are none of the limits above though their names share a word with one."""
PRODUCT = [path for path in BACKEND + COMPONENTS if "training" not in path.parts]
SCRIPTS = sorted((ROOT / "assets").rglob("*.js"))


def is_number(node: ast.expr | None) -> bool:
    """Whether an expression is spelled with numbers alone: 0.2, -40.0, 2**31 - 1, (2.0, 4.0)."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    if isinstance(node, ast.UnaryOp):
        return is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return is_number(node.left) and is_number(node.right)
    return isinstance(node, ast.Tuple | ast.List) and bool(node.elts) and all(map(is_number, node.elts))


def second_copies(source: str, home: frozenset[str] = frozenset()) -> list[str]:
    """Limits and defaults that Python source spells as numbers, instead of importing them from their home."""
    found: list[str] = []

    def note(name: str, value: ast.expr | None) -> None:
        if value and ast.unparse(value) == "0" and "seed" not in name.lower():
            return  # none of them
        if is_number(value) and name not in home | ANOTHER_MATTER and OF_A_LIMIT.search(name.lower()):
            found.append(f"{name} = {ast.unparse(value)}" if value else name)

    for node in ast.walk(ast.parse(source)):
        # A number inside a function may count; one of a file or a class is a constant.
        for one in node.body if isinstance(node, ast.Module | ast.ClassDef) else ():
            if isinstance(one, ast.Assign | ast.AnnAssign):
                for target in one.targets if isinstance(one, ast.Assign) else (one.target,):
                    note(ast.unparse(target), one.value)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            given = node.args
            placed = [*given.posonlyargs, *given.args]
            for one, default in zip(placed[len(placed) - len(given.defaults) :], given.defaults, strict=True):
                note(one.arg, default)
            for one, asked in zip(given.kwonlyargs, given.kw_defaults, strict=True):
                note(one.arg, asked)
        elif isinstance(node, ast.Call):
            found += _literals_of_a_field(node)
    return found


def _literals_of_a_field(call: ast.Call) -> list[str]:
    """Numbers in the defaults of a command line's argument or of a page's number or slider."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    keywords = {one.arg: one.value for one in call.keywords}
    if name == "add_argument":
        told = keywords.get("help")
        text = told.value if isinstance(told, ast.Constant) else ""
        copied = is_number(keywords.get("default")) or re.search(r"default:? -?\d+(?![\d%])", str(text))
        return [ast.unparse(call)] if copied else []
    if name in ("Number", "Slider", "ForgivingSlider", "a_number"):
        values = [*call.args[:2], *(keywords.get(key) for key in ("value", "maximum"))]
        return [ast.unparse(call)] if any(map(is_number, values)) else []
    return []


def copies_in_a_script(source: str) -> list[str]:
    """Limits that a script of the page spells as numbers; it is given them by the server."""
    spelled = (
        r"\b(?:const|let)\s+(\w*(?:HOP|WINDOW|LAMBDA|DEPTH|SEED|REGION|HITS|hop|lambda|depth|seed)\w*)\s*=\s*[\d.]"
    )
    return re.findall(spelled, source) + re.findall(
        r"\b(?:hop|lambda|depth|seed|columns|maxLength)\s*[:=]\s*\d[\d.]*", source
    )


def test_no_limit_or_default_has_a_second_copy() -> None:
    found = {}
    for path in PRODUCT:
        name = str(path.relative_to(ROOT))
        if copies := second_copies(path.read_text(encoding="utf-8"), frozenset(LIMITS.get(name, ()))):
            found[name] = copies
    for path in SCRIPTS:
        if copies := copies_in_a_script(path.read_text(encoding="utf-8")):
            found[str(path.relative_to(ROOT))] = copies
    assert found == {}


@pytest.mark.parametrize(("path", "names"), LIMITS.items())
def test_every_limit_is_where_it_is_said_to_be(path: str, names: set[str]) -> None:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    assert names <= {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


@pytest.mark.parametrize(
    "copy",
    [
        "def f(lambda_=0.2): pass", "def f(strength=0.2): pass", "def f(*, hop: float = 0.5): pass",
        "WINDOW_SECONDS = 2.0", "window: float = 2.0",
        "HIGHEST_SEED = 2**31 - 1", "class A:\n    depth_db: float = -40.0", "USUAL_DEPTHS = (40.0, 100.0)",
        "p.add_argument('--x', default=20)", "p.add_argument('--x', help='how many (default: 20)')",
        "gr.Number(0.2, label='lambda')", "Slider(minimum=0, maximum=8)", "a_number('top', 10)",
        "f = lambda seed=0: seed",
    ],
)  # fmt: skip
def test_a_second_copy_is_found(copy: str) -> None:
    assert second_copies(copy)


@pytest.mark.parametrize(
    "copy", ["const LEAST_REGION = 0.1;", "const hop = 0.5;", "box.maxLength = 120;", "columns: 2048,"]
)
def test_a_second_copy_in_a_script_is_found(copy: str) -> None:
    assert copies_in_a_script(copy)


@pytest.mark.parametrize("room", ["backend", "components"])
def test_the_tests_mirror_the_rooms(room: str) -> None:
    folders = [path.parent for path in (ROOT / "tests" / room).rglob("test_*.py")]
    assert folders
    assert [str(folder) for folder in folders if not (ROOT / folder.relative_to(ROOT / "tests")).is_dir()] == []


def test_a_query_is_modelled_once() -> None:
    """Whoever needs a concept, a query, their polarity or a query's limits imports them from backend.negation."""
    home = ROOT / "backend" / "negation"
    for path in (one for one in BACKEND + COMPONENTS if home not in one.parents):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        classes = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        assert [name for name in classes if name.endswith(("Concept", "Query", "ConceptLike", "QueryLike"))] == [], path
        literals = [
            {element.value for element in node.slice.elts if isinstance(element, ast.Constant)}
            for node in ast.walk(tree)
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple)
        ]
        assert {"present", "absent"} not in literals, path
        lengths = [word.value for node in ast.walk(tree) if isinstance(node, ast.Call) for word in node.keywords
                   if word.arg == "max_length"]  # fmt: skip
        assert [node for node in lengths if isinstance(node, ast.Constant) and path in COMPONENTS] == [], path


COMPOSITION = sorted((ROOT / "backend" / "composition").rglob("*.py"))


@pytest.mark.parametrize("path", COMPOSITION, ids=lambda path: path.name)
def test_composition_holds_numbers_only(path: Path) -> None:
    """It takes arrays and label sets: no sound, no encoder, no file of a collection, no report but plain JSON."""
    modules = {
        module
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for module in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names])
    }
    ours = {module for module in modules if module.startswith("backend.")} - {"backend.reports.jsonable"}
    assert {module.split(".")[1] for module in ours} <= {"composition", "checks", "errors", "progress", "vectors"}


def test_tables_are_read_in_one_place() -> None:
    """A second reader of CSV files would read them by other rules. Training reads its own data sets."""
    reading = {"csv.reader(", "csv.DictReader(", "read_csv("}
    readers = {path.name for path in PRODUCT if any(call in path.read_text(encoding="utf-8") for call in reading)}
    assert readers == {"csv_table.py"}


def of_gradio(path: Path) -> list[str]:
    """Where a file reaches behind Gradio's public interface: imported parts, set attributes, `_data`, `fns`."""
    found, names = [], {"gr", "gradio"}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "gradio":
            names |= {alias.asname or alias.name for alias in node.names}
            found.append(f"{node.lineno}: from {node.module} import")
        elif isinstance(node, ast.Import) and any(alias.name.startswith("gradio.") for alias in node.names):
            found.append(f"{node.lineno}: import gradio.…")
        elif isinstance(node, ast.Attribute) and node.attr in ("_data", "fns"):
            found.append(f"{node.lineno}: .{node.attr}")
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        for target in targets if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete) else ():
            inner = target
            while isinstance(inner, ast.Attribute):
                inner = inner.value
            if isinstance(target, ast.Attribute) and isinstance(inner, ast.Name) and inner.id in names:
                found.append(f"{node.lineno}: sets {ast.unparse(target)}")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr"):
            found.append(f"{node.lineno}: {node.func.id}")
    return found


def test_only_one_file_repairs_gradio() -> None:
    repairs = ROOT / "components" / "frame" / "gradio_repairs.py"
    assert any("sets utils.diff" in line for line in of_gradio(repairs)), "the check sees what it looks for"
    others = [path for path in (*COMPONENTS, ROOT / "app.py") if path != repairs]
    assert {str(path): of_gradio(path) for path in others if of_gradio(path)} == {}


VIEWS = sorted((ROOT / "components").rglob("view.py"))
ARITHMETIC = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mult, ast.Pow, ast.Mod)
COMPUTING = {"sum", "abs", "min", "max", "sorted", "round"}


@pytest.mark.parametrize("path", VIEWS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_the_page_shows_is_a_field_of_a_result(path: Path) -> None:
    """Law 12: a view formats; it takes no difference, share, sum or extreme of what a result holds."""
    found = [
        node.lineno
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.BinOp) and isinstance(node.op, ARITHMETIC))
        or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in COMPUTING)
    ]
    allowed = 1 if path.parent.name == "stage" else 0  # the stage cuts a long name to its length, less one for "…"
    assert len(found) <= allowed, f"lines {found}"


@pytest.mark.parametrize("path", BACKEND + COMPONENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_one_file_keeps_the_latest_of_something(path: Path) -> None:
    if path != ROOT / "backend" / "kept.py":
        by_hand = ("move_to_end", "popitem", "import OrderedDict")
        assert [name for name in by_hand if name in path.read_text(encoding="utf-8")] == []
