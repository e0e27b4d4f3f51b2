"""The page's endpoints for programs answer with the very objects that the command line prints."""

from __future__ import annotations

import json
from typing import Any

import gradio as gr
import pytest

from backend.__main__ import main
from backend.collections.demo import demo_clips
from components.panels.ask.api import ask_endpoint, parse_endpoint
from components.panels.listen.api import gate_endpoint, localize_endpoint

QUERY = "a dog barking, no rain"
SCENE = demo_clips()[0].id


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]):
    def call(*arguments: object) -> dict[str, Any]:
        assert main([*map(str, arguments), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return call


def as_answered(record: object) -> Any:
    return json.loads(json.dumps(record))


@pytest.mark.parametrize("scorer", ["raw", "steered", "exclusion"])
def test_ask_is_rank(printed, scorer: str) -> None:
    answered = as_answered(ask_endpoint(QUERY, "pocket", 0.5, 4, scorer))
    assert answered == printed("rank", "demo", QUERY, "--scorer", scorer, "--lambda", 0.5, "--top", 4)


def test_parse_is_parse(printed) -> None:
    assert as_answered(parse_endpoint(QUERY)) == printed("parse", QUERY)


def test_localize_is_localize(printed) -> None:
    assert as_answered(localize_endpoint(None, SCENE, QUERY, "pocket", 4)) == printed(
        "localize", SCENE, QUERY, "--window", 4
    )


def test_gate_is_gate_but_for_the_file_written(printed, tmp_path) -> None:
    answered = as_answered(gate_endpoint(None, SCENE, QUERY, "pocket", 2, 2.0, 4.0, -40, 3)[1])
    out = tmp_path / "cut.wav"
    line = printed("gate", SCENE, "--start", 2, "--end", 4, "--query", QUERY, "--seed", 3, "-o", out)
    assert {key: line[key] for key in answered} == answered
    assert set(line) - set(answered) == {"output", "sample_format"}


@pytest.mark.parametrize(
    ("strength", "top", "scorer", "said"),
    [
        (None, 3, "raw", "lambda is None"),
        (-1, 3, "raw", "between 0 and 8"),
        (0.2, 1.5, "raw", "whole number"),
        (0.2, None, "raw", "whole number"),
        (0.2, 3, "best", "no scorer 'best'"),
    ],
)
def test_a_wrong_number_is_a_sentence(strength: Any, top: Any, scorer: str, said: str) -> None:
    with pytest.raises(gr.Error, match=said):
        ask_endpoint(QUERY, "pocket", strength, top, scorer)
