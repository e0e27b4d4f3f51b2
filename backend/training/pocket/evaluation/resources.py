"""Speed on one thread, and sizes on disk."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from backend.audio import sliding_windows
from backend.encoders.base import SpanEncoder
from backend.encoders.families.pocket import SHIPPED_FILES
from backend.training.pocket.evaluation.measures import Measure, plain

REPEATS = 21
QUERY = "a dog barking while rain falls on a roof"


def milliseconds(action: Callable[[], object], repeats: int = REPEATS) -> float:
    """Median processor time of one call on one thread, after one warm-up.

    Processor time, because a busy machine would be measured otherwise; on an idle one it is the time one waits.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        action()
        times = []
        for _ in range(repeats):
            began = time.thread_time()
            action()
            times.append(time.thread_time() - began)
    finally:
        torch.set_num_threads(threads)
    return 1000 * float(np.median(times))


def resource_measures(encoder: SpanEncoder, folder: Path, seed: int) -> list[Measure]:
    """Ten seconds in 17 windows, one text, and what the encoder weighs."""
    signal = (0.1 * np.random.default_rng(seed).standard_normal(10 * encoder.sample_rate)).astype(np.float32)
    windows = sliding_windows(10.0, 2.0)
    spans = milliseconds(lambda: encoder.embed_spans(signal, windows.starts, windows.length))
    text = milliseconds(lambda: encoder.embed_text([QUERY]))
    size = sum((folder / name).stat().st_size for name in SHIPPED_FILES) / 1e6
    return [
        plain("spans_ms", "17 two-second windows of 10 s, one thread, with the mel", spans, goal=40, unit="ms"),
        plain("text_ms", "one text query, one thread", text, goal=10, unit="ms"),
        plain("shipped_mb", "shipped weights, text tower and tokenizer included", size, goal=40, unit="MB"),
    ]
