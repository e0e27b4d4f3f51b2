"""Long work as a generator of progress: the page sees each step, and closing the generator cancels the work."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from backend.progress import Progress, Step

Result = TypeVar("Result")

PAUSE_SECONDS = 0.25
"""Steps are shown at most this often."""


def steps_of(work: Callable[[Progress], Result]) -> Generator[Step, None, Result]:
    """Run ``work(progress)`` in a thread; yield its latest step now and then; return its result.

    An exception of the work is raised here. When the generator is closed, the work is cancelled.
    """
    steps: queue.Queue[Step | None] = queue.Queue()
    outcome: dict[str, Any] = {}
    progress = Progress(steps.put)

    def run() -> None:
        try:
            outcome["result"] = work(progress)
        except BaseException as error:
            outcome["error"] = error
        finally:
            steps.put(None)

    threading.Thread(target=run, daemon=True).start()
    try:
        yield from _shown(steps)
    finally:
        progress.cancel()
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]


def _shown(steps: queue.Queue[Step | None]) -> Generator[Step, None, None]:
    while True:
        waiting = [steps.get()]
        while not steps.empty():
            waiting.append(steps.get())
        if waiting[-1] is None:
            return
        yield waiting[-1]
        time.sleep(PAUSE_SECONDS)
