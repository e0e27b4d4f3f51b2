"""Long work as a generator of progress: the page sees each step, and closing the generator cancels the work."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator
from typing import Any, TypeVar

Result = TypeVar("Result")
Step = tuple[str, float]
"""A sentence, and the share done."""

PAUSE_SECONDS = 0.25
"""Steps are shown at most this often."""


class Cancelled(Exception):
    """Raised inside the work when nobody waits for it any more."""


def steps_of(work: Callable[[Callable[[str, float], None]], Result]) -> Generator[Step, None, Result]:
    """Run ``work(progress)`` in a thread; yield its latest step now and then; return its result.

    An exception of the work is raised here. When the generator is closed, the work's next call of
    ``progress`` raises :class:`Cancelled` inside it.
    """
    steps: queue.Queue[Step | None] = queue.Queue()
    outcome: dict[str, Any] = {}
    cancelled = threading.Event()

    def progress(sentence: str, share: float) -> None:
        if cancelled.is_set():
            raise Cancelled
        steps.put((sentence, share))

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
        cancelled.set()
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
