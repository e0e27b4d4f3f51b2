"""How long a first visitor waits, and how large the house is: this checkout beside another one.

    python -m tests.bench.bench_start [--beside OTHER_CHECKOUT] [--repeats 3]

Each repeat starts the server with a cache of its own, then opens the page in a new Chromium. The checkouts take
turns, so that a busy machine troubles both alike. Medians are printed; seconds are wall clock.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path

from tests.browser.conftest import ARGUMENTS, CHROMIUM, ROOT, free_port

VERDICT = "#listen-headline .headline:not(.pending)"
CODE = (".py", ".js", ".css", ".html")
TRACED = """
import inspect, json, sys
from pathlib import Path
root = Path.cwd()
met = []
def trace(frame, event, _):
    path = Path(frame.f_code.co_filename)
    function = frame.f_code.co_flags & inspect.CO_OPTIMIZED and frame.f_code.co_name != "register"
    if event == "call" and function and root in path.parents and ".venv" not in path.parts:
        name = str(path.relative_to(root))
        if name not in met:
            met.append(name)
from backend.__main__ import main
sys.setprofile(trace)
main(["localize", sys.argv[1], "a dog barking, no rain", "--json"])
sys.setprofile(None)
print("FILES", json.dumps(met), file=sys.stderr)
"""


def waits(root: Path) -> dict[str, float]:
    """Seconds until the server answers, and from opening the page until its first verdict stands there."""
    from playwright.sync_api import sync_playwright

    port = free_port()
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "UNHEARD_PORT": str(port), "UNHEARD_CACHE_DIR": cache, "HF_HUB_OFFLINE": "1"}
        began = time.perf_counter()
        process = subprocess.Popen([sys.executable, "app.py"], cwd=root, env=environment, stdout=subprocess.DEVNULL)
        try:
            address = f"http://127.0.0.1:{port}"
            while True:
                try:
                    urllib.request.urlopen(address, timeout=5).close()
                    break
                except OSError:
                    time.sleep(0.05)
            answered = time.perf_counter() - began
            with sync_playwright() as playwright:
                chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
                page = chromium.new_page(viewport={"width": 1440, "height": 900})
                opened = time.perf_counter()
                page.goto(address)
                page.wait_for_selector(VERDICT, timeout=60_000)
                shown = time.perf_counter() - opened
                sent = page.evaluate(
                    "performance.getEntriesByType('resource').reduce((sum, entry) => sum + entry.transferSize, 0)"
                )
                chromium.close()
        finally:
            process.terminate()
            process.wait(20)
    return {
        "server answers, s": answered,
        "first verdict after opening, s": shown,
        "sent for the first screen, MB": sent / 1e6,
    }


def sizes(root: Path) -> dict[str, str]:
    """Files and lines of code, the longest file, and the rooms, of product and tests."""
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout.split()
    lines = {name: len((root / name).read_bytes().splitlines()) for name in listed if name.endswith(CODE)}
    product = {name: count for name, count in lines.items() if not name.startswith("tests/")}
    longest = max(product, key=lambda name: product[name])
    rooms = Counter(str(Path(name).parent) for name in product)
    room, most = rooms.most_common(1)[0]
    return {
        "product, files / lines": f"{len(product)} / {sum(product.values())}",
        "tests, files / lines": f"{len(lines) - len(product)} / {sum(lines.values()) - sum(product.values())}",
        "longest product file": f"{longest}, {product[longest]} lines",
        "rooms": f"{len(rooms)}, the fullest {room} with {most} files",
    }


def files_passed(root: Path) -> list[str]:
    """The files whose code a WAV meets on its way to ``localize --json``, in order."""
    clip = root / "data" / "scenes" / "scene-dog-then-rain.flac"
    clip = clip if clip.exists() else next((root / "data").rglob("scene-dog-then-rain.flac"))
    traced = subprocess.run(
        [sys.executable, "-c", TRACED, str(clip)], cwd=root, capture_output=True, text=True, check=True
    )
    return json.loads(traced.stderr.split("FILES ")[1])


def main() -> None:
    """Print every figure of this checkout, and of the other one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beside", type=Path, help="another checkout, for example of the commit before")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    roots = [ROOT] + ([arguments.beside.resolve()] if arguments.beside else [])
    for root in roots:
        print(root.name)
        for what, figure in sizes(root).items():
            print(f"  {what:<34} {figure}")
        passed = files_passed(root)
        print(f"  {'files a clip passes':<34} {len(passed)}: {' '.join(passed)}")
    if CHROMIUM is None:
        print("Chromium is not installed: the page was not opened.")
        return
    measured: dict[Path, list[dict[str, float]]] = {root: [] for root in roots}
    for _ in range(arguments.repeats):
        for root in roots:
            measured[root].append(waits(root))
    for what in measured[ROOT][0]:
        figures = [statistics.median(run[what] for run in measured[root]) for root in roots]
        print(f"{what:<36}" + "".join(f"{figure:9.2f}" for figure in figures))


if __name__ == "__main__":
    main()
