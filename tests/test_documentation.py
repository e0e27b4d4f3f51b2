"""What the documents show is run: every Python example, and every command line's arguments."""

from __future__ import annotations

import csv
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from backend.__main__ import build_parser

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [
    path
    for name in ("README.md", "backend/README.md", "backend/encoders/README.md", "components/README.md")
    if (path := ROOT / name).is_file()
]
FENCED = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND_LINE = re.compile(r"^ *(?:\$ )?(?:(?:\.venv/bin/)?python -m backend|unheard) (?P<arguments>.*)$", re.MULTILINE)
SOUND = re.compile(r"load_clip\(\"(?P<name>[^\"]+)\"")
by_name = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))


def examples(document: Path) -> list[str]:
    """The fenced Python of a document."""
    found = FENCED.finditer(document.read_text(encoding="utf-8"))
    return [block["text"] for block in found if block["language"] == "python"]


def command_lines(document: Path) -> Iterator[list[str]]:
    """The arguments of every line that calls the command, up to a comment, a pipe or a redirection."""
    for line in COMMAND_LINE.finditer(document.read_text(encoding="utf-8")):
        words = shlex.shlex(line["arguments"], posix=True, punctuation_chars=True)
        words.whitespace_split = True
        arguments: list[str] = []
        for word in words:
            if word in ("<", ">", "|", "&&", ";"):
                break
            arguments.append(word)
        yield arguments


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A reader's folder: embeddings with labels, and nothing else yet."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    names = [f"clip{index}" for index in range(120)]
    sounds = ["dog", "rain", "wind", "siren"]
    np.savez("embeddings.npz", ids=names, embeddings=random.standard_normal((len(names), 8)).astype(np.float32))
    with Path("labels.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "labels"])
        for index, name in enumerate(names):
            writer.writerow([name, ";".join(sorted({sounds[index % 4], sounds[index // 4 % 4]}))])
    return tmp_path


@by_name
def test_every_python_example_runs(document: Path, reader: Path) -> None:
    names: dict[str, object] = {}  # an example may go on where the one before it ended
    for number, example in enumerate(examples(document), 1):
        for sound in SOUND.finditer(example):
            shutil.copyfile(ROOT / "data" / "scenes" / "scene-dog-then-rain.flac", reader / sound["name"])
        exec(compile(example, f"{document.name}, Python example {number}", "exec"), names)


@by_name
def test_every_documented_command_line_is_one(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parser, wrong = build_parser(), {}
    for arguments in command_lines(document):
        try:
            parser.parse_args(arguments)
        except SystemExit as stopped:
            if stopped.code:
                wrong[shlex.join(arguments)] = capsys.readouterr().err
    assert wrong == {}


@by_name
def test_every_python_example_is_fenced_so_that_it_runs(document: Path) -> None:
    rest = FENCED.sub("", document.read_text(encoding="utf-8"))
    assert (
        re.findall(r"^ *(?:from (?:backend|unheard)\b.* import|import (?:backend|unheard)\b).*", rest, re.MULTILINE)
        == []
    )


def test_there_is_something_to_run() -> None:
    assert sum(len(examples(document)) for document in DOCUMENTS) >= 5
    assert sum(len(list(command_lines(document))) for document in DOCUMENTS) >= 8
