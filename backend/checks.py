"""Numbers that a person, a link, a program or a browser gave: one check and one sentence for each kind.

What only one room knows is checked there: windows in ``backend.audio``, regions and depths in
``backend.evidence.cut``, bands in ``backend.evidence.frequency_band``, steering strengths in
``backend.retrieval.steering``. All of them say it with the functions of this file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import TypeGuard

from backend.errors import InputError

DEFAULT_SEED = 0
"""Seed of everything random where none is given."""
HIGHEST_SEED = 2**32 - 1
"""The highest that numpy, torch and scikit-learn all take; a JSON number of any program holds it exactly."""
LONGEST_SHOWN = 40
"""Characters of a wrong value that are repeated to whoever gave it."""


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a finite real number; True and False are none, and neither is text."""
    try:
        return _is_real(value) and math.isfinite(value)
    except OverflowError:  # a whole number beyond every float
        return False


def shown(value: object) -> str:
    """A value as an error repeats it: a fraction in short, anything else as Python writes it."""
    if _is_real(value) and not isinstance(value, Integral):
        return f"{value:g}"
    return repr(value)[:LONGEST_SHOWN]


def _is_real(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool)


def checked_number(name: str, value: object, low: float, high: float, unit: str = "", advice: str = "") -> float:
    """A number of a range, as a float.

    Parameters
    ----------
    name : str
        What begins the sentence: "The window".
    low, high : float
        The range, both ends included.
    unit, advice : str
        "s"; a sentence about what is usual.

    Raises
    ------
    InputError
        Not a finite number, or outside the range.
    """
    if is_number(value) and low <= value <= high:
        return float(value)
    limits = f"between {low:g} and {high:g} {unit}".strip()
    raise InputError(f"{name} is {_with_unit(value, unit)}; it must lie {limits}. {advice}".strip())


def checked_choice(name: str, value: object, choices: Sequence[float], unit: str = "") -> float:
    """One of a few numbers, as a float.

    Raises
    ------
    InputError
        Anything else.
    """
    if is_number(value) and value in choices:
        return float(value)
    offered = " or ".join(f"{choice:g}" for choice in choices)
    raise InputError(f"{name} is {_with_unit(value, unit)}; it must be {offered}.")


def _with_unit(value: object, unit: str) -> str:
    return f"{shown(value)} {unit}" if unit and _is_real(value) else shown(value)


def checked_whole(name: str, value: object, least: int, most: int | None = None, advice: str = "") -> int:
    """A whole number of a range, as an int; 3.0 counts as 3, for a browser knows no other numbers.

    Raises
    ------
    InputError
        Not a whole number, below ``least`` or above ``most``.
    """
    if is_number(value) and value == int(value) and least <= value <= (math.inf if most is None else most):
        return int(value)
    limits = f"at least {least:,}" + (f" and at most {most:,}" if most is not None else "")
    raise InputError(f"{name} is {shown(value)}; it must be a whole number, {limits}. {advice}".strip())


def checked_seed(value: object) -> int:
    """A seed, 0 to ``HIGHEST_SEED``.

    Raises
    ------
    InputError
        Not a whole number of that range.
    """
    return checked_whole("The seed", value, 0, HIGHEST_SEED)
