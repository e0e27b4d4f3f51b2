"""The suite about itself: what is slow says so, and what a test starts is found when it stays."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.leftovers import processes_marked


def test_a_process_that_stays_is_found_and_so_are_its_children() -> None:
    program = "import subprocess, sys; subprocess.run(['sleep', '60'])"
    child = subprocess.Popen(
        [sys.executable, "-c", program], env={**os.environ, "UNHEARD_TEST_RUN": "here"}, start_new_session=True
    )
    try:
        while "sleep 60" not in (found := processes_marked("UNHEARD_TEST_RUN=here")).values():
            assert child.poll() is None
        assert child.pid in found
    finally:
        os.killpg(child.pid, 9)
        child.wait(30)
    assert processes_marked("UNHEARD_TEST_RUN=here") == {}


def test_what_made_the_encoder_is_in_the_slow_lane_and_what_is_shipped_is_not(request: pytest.FixtureRequest) -> None:
    lanes = {
        item.path.parts[item.path.parts.index("tests") + 1 :][:2]: item.get_closest_marker("slow") is not None
        for item in request.session.items
    }
    assert lanes[("test_lanes.py",)] is False
    assert lanes.get(("backend", "training"), True) is True


def test_every_panel_is_walked_every_time(request: pytest.FixtureRequest) -> None:
    pages = [item for item in request.session.items if item.get_closest_marker("browser")]
    quick = {item.path.stem for item in pages if item.get_closest_marker("slow") is None}
    assert not pages or quick == {"test_listen", "test_ask", "test_compose", "test_stage", "test_order"}
