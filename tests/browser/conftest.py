"""The real page in a real browser: one server and one Chromium a test session."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--autoplay-policy=no-user-gesture-required", "--mute-audio",
]  # fmt: skip
START_SECONDS = 90.0


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def served(folder: Path, *command: str, **environment: str) -> Iterator[tuple[str, Path]]:
    """Address and log of ``python *command`` on a free port, with a cache of its own in a folder; ended at the end.

    The port is the last argument, and UNHEARD_PORT.
    """
    port, log = str(free_port()), folder / "server.txt"
    environment = {
        **os.environ,
        "UNHEARD_PORT": port,
        "UNHEARD_CACHE_DIR": str(folder / "cache"),
        "HF_HUB_OFFLINE": "1",
        **environment,
    }
    with log.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, *command, port], cwd=ROOT, env=environment, stdout=file, stderr=subprocess.STDOUT
        )
        try:
            _wait_for(f"http://127.0.0.1:{port}", process, log)
            yield f"http://127.0.0.1:{port}", log
        finally:
            process.kill()  # a polite end would wait for open event streams
            process.wait(30)


def _wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"The server did not answer within {START_SECONDS:.0f} s:\n{log.read_text()[-3000:]}")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a freshly started app with its own empty cache."""
    with served(tmp_path_factory.mktemp("app"), "app.py") as (address, log):
        yield address
    ours = [line for line in log.read_text().splitlines() if f'File "{ROOT}/' in line and "/.venv/" not in line]
    assert ours == [], log.read_text()[-4000:]


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """A headless Chromium; the test is skipped, saying so, where there is none."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed; apt install chromium runs the browser tests")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, headless=True)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser, server) -> Iterator[object]:
    """A function (path="", width=1440, height=1000, **context) -> a playwright page; console errors fail the test."""
    contexts, problems = [], []

    def opened(path: str = "", width: int = 1440, height: int = 1000, **options: object):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(server + "/" + path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert problems == []


def faint(page) -> list[str]:
    """Every visible text below 4.5:1, large text and control frame below 3:1, with its colours (WCAG 2.2)."""
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    return page.evaluate((ROOT / "tests" / "browser" / "contrast.js").read_text(encoding="utf-8"))
