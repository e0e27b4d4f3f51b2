"""Gates of the sound stage: whatever a browser sends is checked here before anything uses it."""

from __future__ import annotations

import math
from typing import Any

from backend.audio import Span
from backend.errors import InputError

LEAST_REGION = 0.1
"""Shortest selection in seconds: a cut's two 50 ms ramps."""
FINEST_COLUMNS = 2048
"""Most columns of a finer picture."""
FINER_SECONDS = 120.0
"""Longest part of which a finer picture is made."""

Payload = dict[str, Any]


def _payload(payload: object, kind: str) -> Payload:
    if not isinstance(payload, dict):
        raise InputError(f"A {kind} came as {type(payload).__name__}; it must be an object with named numbers.")
    return payload


def _number(payload: Payload, name: str, kind: str) -> float:
    value = payload.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"The {kind}'s {name} is {str(value)[:40]!r}; it must be a finite number.")
    return float(value)


def checked_region(payload: object, duration: float) -> Span | None:
    """A selection from the browser as a Span inside a clip of ``duration`` seconds; None if it was cleared.

    Raises
    ------
    InputError
        It is not two finite numbers, lies outside the clip (a millisecond is forgiven), is turned round,
        or is shorter than a cut's ramps.
    """
    region = _payload(payload, "selection")
    if {"start", "end"} <= region.keys() and region["start"] is None and region["end"] is None:
        return None
    start, end = _number(region, "start", "selection"), _number(region, "end", "selection")
    if start < -0.001 or end > duration + 0.001:
        raise InputError(
            f"The selection {start:.2f}-{end:.2f} s does not lie inside the clip; "
            f"choose one between 0 and {duration:.2f} s."
        )
    start, end = max(0.0, start), min(duration, end)
    least = min(LEAST_REGION, duration)
    if end - start < least - 1e-6:
        raise InputError(
            f"The selection {start:.3f}-{end:.3f} s is too short or turned round; it must start before it ends "
            f"and last {least:.2f} s or more."
        )
    return Span(start, end)


def checked_band(payload: object, sample_rate: int) -> tuple[float, float] | None:
    """A frequency band from the browser in Hz; None (both ends None) means all frequencies.

    An upper end at the top of the stage's axis means the Nyquist frequency.

    Raises
    ------
    InputError
        It is not two finite numbers with 0 <= low < high <= half the sample rate.
    """
    band = _payload(payload, "frequency band")
    if band.get("low") is None and band.get("high") is None:
        return None
    low, high = _number(band, "low", "frequency band"), _number(band, "high", "frequency band")
    if not 0 <= low < high <= sample_rate / 2 + 0.5:
        raise InputError(
            f"The frequency band {low:.0f}-{high:.0f} Hz is not allowed; "
            f"it must rise, between 0 and {sample_rate // 2} Hz."
        )
    return low, min(high, sample_rate / 2)


def checked_window(payload: object, count: int) -> int:
    """The index of one of ``count`` windows, from the browser.

    Raises
    ------
    InputError
        It is not a whole number from 0 to ``count - 1``.
    """
    index = _number(_payload(payload, "window"), "index", "window")
    if index != int(index) or not 0 <= index < count:
        raise InputError(f"There is no window {index:g}; the clip has windows 0 to {count - 1}.")
    return int(index)


def checked_part(payload: object) -> tuple[float, float, int, tuple[float, float, float]]:
    """Which part of a clip a zoomed stage wants to see: start, end, columns, (dB floor, dB ceiling, amplitude scale).

    Raises
    ------
    InputError
        A number is missing, not finite, or out of its range.
    """
    asked = _payload(payload, "request for a picture")
    names = ("start", "end", "columns", "db_min", "db_max", "scale")
    start, end, columns, db_min, db_max, scale = (_number(asked, name, "picture") for name in names)
    if not (1 <= columns <= FINEST_COLUMNS and db_min < db_max and scale > 0):
        raise InputError(
            f"A finer picture needs 1 to {FINEST_COLUMNS} columns, a rising dB range and a positive scale."
        )
    if not 0 < end - start <= FINER_SECONDS:
        raise InputError(
            f"A finer picture covers up to {FINER_SECONDS:.0f} s, not {end - start:.2f} s; zoom in further."
        )
    return start, end, int(columns), (db_min, db_max, scale)
