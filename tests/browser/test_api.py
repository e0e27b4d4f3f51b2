"""The page's API, the command line and the backend give the same numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import soundfile
from gradio_client import Client, handle_file

from backend.__main__ import main
from backend.collections.demo import demo_clips

QUERY = "a dog barking, no rain"
SCENE = demo_clips()[0]


@pytest.fixture(scope="module")
def client(server: str):
    client = Client(server, verbose=False)
    yield client
    client.close()


def assert_same_numbers(first: object, second: object) -> None:
    """Equal, numbers to 1e-5: two processes with another number of threads add in another order."""
    if isinstance(first, dict) and isinstance(second, dict):
        assert first.keys() == second.keys()
        for key in first:
            assert_same_numbers(first[key], second[key])
    elif isinstance(first, list) and isinstance(second, list):
        assert len(first) == len(second)
        for one, other in zip(first, second, strict=True):
            assert_same_numbers(one, other)
    elif isinstance(first, float) or isinstance(second, float):
        assert first == pytest.approx(second, abs=1e-5)
    else:
        assert first == second


def test_localize_is_the_command_lines(client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    answered = client.predict(handle_file(str(SCENE.path)), "", QUERY, "pocket", 2, api_name="/localize")
    assert main(["localize", str(SCENE.path), QUERY, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    for key in ("encoder", "window", "hop", "concepts", "background"):
        assert_same_numbers(answered[key], printed[key])
    assert answered["clip"]["digest"] == printed["clip"]["digest"]


def test_a_demo_clip_can_be_named(client: Client) -> None:
    answered = client.predict(None, SCENE.id, QUERY, "pocket", 4, api_name="/localize")
    assert answered["window"] == 4


def test_gate_is_the_command_lines(client: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cut, answered = client.predict(None, SCENE.id, QUERY, "pocket", 2, 2.0, 4.0, 40, 3, api_name="/gate")
    out = tmp_path / "cut.wav"
    asked = ["gate", SCENE.id, "--start", "2", "--end", "4", "--depth", "-40", "--seed", "3", "-o", str(out)]
    assert main([*asked, "--query", QUERY, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert_same_numbers(answered["effects"], printed["effects"])
    assert answered["control_spans"] == printed["control_spans"]
    assert (soundfile.read(cut)[0] == soundfile.read(out)[0]).all()


def test_a_wrong_argument_is_answered_in_words(client: Client) -> None:
    with pytest.raises(Exception, match="must be 2 or 4"):
        client.predict(None, SCENE.id, QUERY, "pocket", 3, api_name="/localize")
    with pytest.raises(Exception, match="no demo clip"):
        client.predict(None, "nothing", QUERY, "pocket", 2, api_name="/localize")


def test_every_endpoint_has_a_name_somebody_chose(client: Client) -> None:
    endpoints = set(client.view_api(return_format="dict")["named_endpoints"])
    assert {"/localize", "/gate", "/encoders", "/parse", "/ask", "/diagnose", "/compose"} <= endpoints
    assert not [name for name in endpoints if "lambda" in name or name.endswith(("_1", "_2"))]
    assert client.view_api(return_format="dict")["unnamed_endpoints"] == {}
