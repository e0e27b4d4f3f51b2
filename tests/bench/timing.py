"""Timing for benchmarks: medians of repeats, and the peak memory of a child process."""

from __future__ import annotations

import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable
from typing import Any


def median_seconds(work: Callable[[], Any], repeats: int = 7) -> float:
    """Median wall-clock seconds of ``work`` over ``repeats`` runs after one that is not counted."""
    work()
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def _measured(work: Callable[[], Any], results: Any) -> None:
    start = time.perf_counter()
    work()
    results.put((time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def in_child(work: Callable[[], Any]) -> tuple[float, float]:
    """Seconds and peak resident megabytes of ``work`` in a fresh process; ``work`` must be a module-level function."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=_measured, args=(work, results))
    process.start()
    measured = results.get()
    process.join()
    return measured


def row(name: str, seconds: float, floor: float | None = None, what: str = "") -> None:
    """Print one line: the time, and how many times its floor that is."""
    ratio = f"  {seconds / floor:6.2f} x {what}" if floor else ""
    print(f"{name:<58} {seconds * 1000:9.1f} ms{ratio}")
