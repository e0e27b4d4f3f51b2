"""process: an encoder behind JSON lines, and everything a worker can do wrong."""

import sys
import textwrap
import time

import numpy as np
import pytest

from backend.encoders.base import load_encoder
from backend.encoders.families import process, worker
from backend.errors import InputError
from tests.backend.encoders import tiny
from tests.backend.encoders.conftest import EXAMPLE

HELLO = '{"hello": "unheard/1", "name": "t", "sample_rate": 16000, "dim": 3, "text": true}'


@pytest.fixture
def started(tmp_path):
    """Start a worker from the body of a Python program; every worker is ended afterwards."""
    running = []

    def start(body, seconds=5.0):
        path = tmp_path / f"worker{len(running)}.py"
        path.write_text(f"import json, os, sys, time\nHELLO = {HELLO!r}\n" + textwrap.dedent(body))
        running.append(process.ProcessEncoder("process:test", [sys.executable, "-S", str(path)], seconds))
        return running[-1]

    yield start
    for encoder in running:
        encoder.close()


ANSWERS = """
    print(HELLO, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        items = asked.get("text") or asked.get("wav")
"""
GOOD = 'print(json.dumps({"id": asked["id"], "embeddings": [[1, 2, len(i)] for i in items]}), flush=True)'


def test_the_example_worker_is_an_encoder(every_encoder):
    encoder = every_encoder["process"]
    assert (encoder.sample_rate, encoder.dim, encoder.greeting.name) == (16_000, 12, "example")
    assert load_encoder(f"process:{EXAMPLE}", trusted=True) is encoder


def test_chatter_between_the_answers_is_skipped(started):
    encoder = started(ANSWERS + f"        print('step', 1); print('{{not json'); print([1])\n        {GOOD}")
    assert encoder.embed_text(["ab", "abc"]) == pytest.approx(
        np.array([[1, 2, 2], [1, 2, 3]]) / np.array([[3], [14**0.5]]), abs=1e-6
    )


def test_a_worker_that_died_between_two_calls_is_started_again(started):
    encoder = started(ANSWERS + f"        {GOOD}")
    first = encoder.embed_text(["ab"])
    encoder._worker._process.kill()
    encoder._worker._process.wait()
    assert np.array_equal(encoder.embed_text(["ab"]), first)


def test_a_worker_that_dies_of_a_request_is_a_sentence(started):
    encoder = started(ANSWERS + "        print('CUDA out of memory', file=sys.stderr, flush=True); os._exit(3)")
    with pytest.raises(InputError, match="ended with exit code 3: CUDA out of memory") as caught:
        encoder.embed_text(["ab"])
    assert "\n" not in str(caught.value)


def test_a_worker_that_hangs_is_ended_and_the_next_call_starts_it_again(started, tmp_path):
    mark = tmp_path / "hung"
    encoder = started(
        ANSWERS
        + f"""
        if not os.path.exists({str(mark)!r}):
            open({str(mark)!r}, "w").close()
            time.sleep(60)
        {GOOD}"""
    )
    encoder.seconds = 0.5
    hung = encoder._worker._process
    start = time.monotonic()
    with pytest.raises(InputError, match=r"did not answer within 0\.5 s and was ended"):
        encoder.embed_text(["ab"])
    assert time.monotonic() - start < 5 and hung.poll() is not None
    encoder.seconds = 5.0
    assert encoder.embed_text(["ab"]).shape == (1, 3)


@pytest.mark.parametrize(
    "answer, sentence",
    [
        ('{"id": asked["id"], "error": "no GPU here"}', "refused: no GPU here"),
        ('{"id": asked["id"], "embeddings": [[1, 2]]}', r"shape \(1, 2\); asked were 1 rows of 3"),
        ('{"id": asked["id"], "embeddings": [["x", 2, 3]]}', "asked were 1 rows of 3"),
        ('{"id": asked["id"], "embeddings": [[1], [2, 3]]}', "asked were 1 rows of 3"),
        ('{"id": asked["id"]}', "asked were 1 rows of 3"),
        ('{"id": asked["id"], "embeddings": [[0, 0, 0]]}', "no direction"),
        ('{"id": asked["id"], "embeddings": [[float("nan"), 0, 0]]}', "no direction"),
    ],
)
def test_a_wrong_answer_is_a_sentence(started, answer, sentence):
    encoder = started(ANSWERS + f"        print(json.dumps({answer}), flush=True)")
    with pytest.raises(InputError, match=sentence):
        encoder.embed_text(["ab"])


@pytest.mark.parametrize(
    "body, sentence",
    [
        ("sys.exit('no module named wave')", "ended with exit code 1: no module named wave"),
        ("pass", "ended with exit code 0 and said nothing"),
        ("time.sleep(60)", "did not greet within 0.5 s"),
        ('print(\'{"hello": "other/9"}\', flush=True); time.sleep(60)', "speaks 'other/9'"),
        (
            'print(\'{"hello": "unheard/1", "sample_rate": 1, "dim": 3}\', flush=True); time.sleep(60)',
            "sample_rate 1 and dim 3",
        ),
        ("os.write(1, b'x\\n' * 20000); time.sleep(60)", "something other than JSON answers"),
    ],
)
def test_a_worker_that_does_not_greet_is_a_sentence(started, body, sentence):
    before = set(worker._running)
    with pytest.raises(InputError, match=sentence):
        started(body, seconds=0.5 if body.startswith("time.sleep") else 5.0)
    assert set(worker._running) == before


@pytest.mark.parametrize(
    "command, sentence",
    [("", "needs a command"), ("'", "not a command"), ("/no/such/program", "cannot be started")],
)
def test_a_command_that_is_none_is_a_sentence(command, sentence):
    with pytest.raises(InputError, match=sentence):
        load_encoder(f"process:{command}", trusted=True)


def test_a_worker_without_words_says_so(started):
    encoder = started("print(HELLO.replace('true', 'false'), flush=True); sys.stdin.read()")
    with pytest.raises(InputError, match="no text side"):
        encoder.embed_text(["ab"])


def test_the_worker_gets_the_samples_unchanged(started, tmp_path):
    kept = tmp_path / "kept.wav"
    encoder = started(ANSWERS + f"        import shutil; shutil.copy(items[-1], {str(kept)!r})\n        {GOOD}")
    import soundfile

    sounds = tiny.windows(2, 0.5, 16_000)
    encoder.embed_audio(sounds)
    heard, rate = soundfile.read(kept, dtype="float32")
    assert rate == 16_000 and np.array_equal(heard, sounds[1])


def test_ending_a_worker_ends_what_it_started(started, tmp_path):
    pid = tmp_path / "pid"
    encoder = started(
        f"""
        import subprocess
        child = subprocess.Popen(["sleep", "60"])
        open({str(pid)!r}, "w").write(str(child.pid))
        print(HELLO, flush=True)
        sys.stdin.read()
        """
    )
    encoder.close()
    child = int(pid.read_text())
    limit = time.monotonic() + 5
    while alive(child) and time.monotonic() < limit:
        time.sleep(0.05)
    assert not alive(child)


def alive(pid):
    """Whether a process runs (a zombie nobody reaps does not)."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
