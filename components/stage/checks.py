"""What a browser sends to the sound stage, as the numbers it stands for; the backend says which are allowed."""

from __future__ import annotations

from typing import Any

from backend.audio import Span
from backend.audio.spectrogram import MAX_COLUMNS
from backend.checks import is_number, shown
from backend.errors import InputError
from backend.evidence.cut import RAMP_SECONDS, checked_region
from backend.evidence.frequency_band import Band, checked_band

LEAST_REGION = 2 * RAMP_SECONDS
"""Shortest selection in seconds: a cut's two ramps."""
FINER_SECONDS = 120.0
"""Longest part of which a finer picture is made."""

Payload = dict[str, Any]


def _payload(payload: object, kind: str) -> Payload:
    if not isinstance(payload, dict):
        raise InputError(f"A {kind} came as {type(payload).__name__}; it must be an object with named numbers.")
    return payload


def _number(payload: Payload, name: str, kind: str) -> float:
    value = payload.get(name)
    if not is_number(value):
        raise InputError(f"The {kind}'s {name} is {shown(value)}; it must be a finite number.")
    return float(value)


def selected_region(payload: object, duration: float) -> Span | None:
    """A selection from the browser as a Span inside a clip of ``duration`` seconds; None if it was cleared.

    Raises
    ------
    InputError
        What the backend's check of a region refuses, or a selection shorter than a cut's ramps.
    """
    region = _payload(payload, "selection")
    if {"start", "end"} <= region.keys() and region["start"] is None and region["end"] is None:
        return None
    span = checked_region(region.get("start"), region.get("end"), duration)
    least = min(LEAST_REGION, duration)
    if span.length < least - 1e-6:
        raise InputError(
            f"The selection {span.start:.3f}-{span.end:.3f} s is too short; it must last {least:.2f} s or more."
        )
    return span


def selected_band(payload: object, sample_rate: int) -> Band | None:
    """A frequency band from the browser in Hz; None (both ends None) means all frequencies.

    Raises
    ------
    InputError
        What the backend's check of a band refuses.
    """
    band = _payload(payload, "frequency band")
    if band.get("low") is None and band.get("high") is None:
        return None
    return checked_band((band.get("low"), band.get("high")), sample_rate)


def clicked_window(payload: object, count: int) -> int:
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


def wanted_part(payload: object) -> tuple[float, float, int, tuple[float, float, float]]:
    """Which part of a clip a zoomed stage wants to see: start, end, columns, (dB floor, dB ceiling, amplitude scale).

    Raises
    ------
    InputError
        A number is missing, not finite, or out of its range.
    """
    asked = _payload(payload, "request for a picture")
    names = ("start", "end", "columns", "db_min", "db_max", "scale")
    start, end, columns, db_min, db_max, scale = (_number(asked, name, "picture") for name in names)
    if not (1 <= columns <= MAX_COLUMNS and db_min < db_max and scale > 0):
        raise InputError(f"A finer picture needs 1 to {MAX_COLUMNS} columns, a rising dB range and a positive scale.")
    if not 0 < end - start <= FINER_SECONDS:
        raise InputError(
            f"A finer picture covers up to {FINER_SECONDS:.0f} s, not {end - start:.2f} s; zoom in further."
        )
    return start, end, int(columns), (db_min, db_max, scale)
