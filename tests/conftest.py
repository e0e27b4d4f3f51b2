"""Settings of every test: no model hub, quiet threads, a cache of its own, two lanes, and nothing left behind."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.leftovers import processes_marked

SLOW_ROOM = Path(__file__).parent / "backend" / "training"
"""How the built-in encoder was made: nothing of it runs in the product, and much of it takes long."""
BROWSER_ROOM = Path(__file__).parent / "browser"
"""Opening the page takes a core five seconds, eighty times; the walks are few enough to be taken every time."""
MARK = f"UNHEARD_TEST_RUN={uuid.uuid4().hex}"
"""In the environment of every process that a test starts, and of those that these start."""

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "0")
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
if "PYTEST_XDIST_WORKER" in os.environ:
    # One worker a core: more threads would only wait for each other.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
# Embeddings of an earlier run must not answer for today's code.
os.environ["UNHEARD_CACHE_DIR"] = tempfile.mkdtemp(prefix="unheard-tests-")
atexit.register(shutil.rmtree, os.environ["UNHEARD_CACHE_DIR"], ignore_errors=True)
os.environ.update([MARK.split("=")])

# The same examples on every run: a failure must be there again for whoever looks. Search wider with
# --hypothesis-profile=default.
settings.register_profile("suite", derandomize=True, deadline=None)
settings.load_profile("suite")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is slow by its room, without a mark in every file."""
    for item in items:
        walk = item.get_closest_marker("walk") is not None
        if SLOW_ROOM in item.path.parents or (BROWSER_ROOM in item.path.parents and not walk):
            item.add_marker(pytest.mark.slow)
    # The longest files first, so that no core waits at the end for one that began late.
    items.sort(key=lambda item: BROWSER_ROOM not in item.path.parents)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what was left out, and why."""
    if "not slow" in config.option.markexpr:
        terminalreporter.line(
            "Left out because they take long: how the built-in encoder was trained and measured, how well and fast it "
            "hears, whole benchmark runs, an installed copy, and most of the page in Chromium; make test-all runs them."
        )


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    """Whatever the tests started has ended with them. Set up before every other fixture, so torn down after them."""
    yield
    assert processes_marked(MARK) == {}
