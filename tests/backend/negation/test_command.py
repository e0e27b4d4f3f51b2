"""``python -m backend parse``: the object, the lines, the exit codes."""

from __future__ import annotations

import io
import json

import pytest

from backend.commands import parse
from backend.errors import InputError


def parsed_arguments(*arguments: str):
    import argparse

    parser = argparse.ArgumentParser()
    parse.register(parser.add_subparsers())
    return parser.parse_args(["parse", *arguments])


def test_one_query_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = parsed_arguments("a dog barking, no rain", "--json")
    arguments.run(arguments)
    assert json.loads(capsys.readouterr().out) == {
        "query": "a dog barking, no rain",
        "positives": [{"text": "dog barking", "start": 2, "end": 13}],
        "negatives": [{"text": "rain", "start": 18, "end": 22, "cue": "no"}],
        "language": "en",
        "notes": [],
    }


def test_lines_of_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("rain without thunder\n\n雨声，没有雷声\nno dogs"))
    arguments = parsed_arguments("--json")
    arguments.run(arguments)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["language"] for line in lines] == ["en", "zh", "en"]
    assert [line["negatives"][0]["text"] for line in lines] == ["thunder", "雷声", "dogs"]


def test_a_bad_line_does_not_lose_the_others(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("rain\n!!!\nwind"))
    arguments = parsed_arguments("--json")
    with pytest.raises(InputError, match="no word"):
        arguments.run(arguments)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["query"] for line in lines] == ["rain", "!!!", "wind"]
    assert lines[1]["positives"] == [] and "no word" in lines[1]["notes"][0]


def test_bytes_that_are_no_text_are_said_and_lose_nothing() -> None:
    """As a shell pipes them: the other lines are parsed, and the note does not blame control characters."""
    import subprocess
    import sys

    ran = subprocess.run(
        [sys.executable, "-m", "backend", "parse", "--json"],
        input=b"\xef\xbb\xbfrain\n\xff\xfe wind\nno th\xe9 thunder\n\xff\xff\n", capture_output=True, check=False,
    )  # fmt: skip
    lines = [json.loads(line) for line in ran.stdout.decode("utf-8").splitlines()]
    assert [[c["text"] for c in line["positives"] + line["negatives"]] for line in lines][:2] == [["rain"], ["wind"]]
    assert lines[0]["notes"] == [] and "not UTF-8" in lines[1]["notes"][0]
    assert not any("Control characters" in note for line in lines for note in line["notes"])
    assert ran.returncode == 2 and ran.stderr.decode().count("\n") == 1 and "no word" in ran.stderr.decode()


def test_no_query_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n  \n"))
    arguments = parsed_arguments()
    with pytest.raises(InputError, match="No query came"):
        arguments.run(arguments)


def test_plain_words(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = parsed_arguments("waves, no gulls")
    arguments.run(arguments)
    assert capsys.readouterr().out == "+ waves\n- gulls  (“no”)\n"
