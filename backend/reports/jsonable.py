"""The one way from results to JSON: plain numbers, NaN as null, the same layout in every file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

DIGITS = 6
"""Decimals of the numbers in a record, where nothing else is said."""


def jsonable(value: Any, digits: int | None = None) -> Any:
    """The same value in what JSON has: dicts, lists, text, numbers and None.

    Numbers of numpy become Python's, arrays and tuples lists, sets sorted lists, dataclasses dicts (of their own
    ``record()`` where they have one), paths their text. NaN and infinities, which JSON has not, become None.

    Parameters
    ----------
    digits : int, optional
        Decimals that floats are rounded to; by default none are lost.

    Raises
    ------
    TypeError
        The value is of another kind.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        number = float(value)
        if not math.isfinite(number):
            return None
        return number if digits is None else round(number, digits)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): jsonable(one, digits) for key, one in value.items()}
    if isinstance(value, set | frozenset):
        return [jsonable(one, digits) for one in sorted(value)]
    if isinstance(value, list | tuple | np.ndarray):
        return [jsonable(one, digits) for one in value]
    if hasattr(value, "record"):
        return value.record()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: jsonable(getattr(value, field.name), digits) for field in fields(value)}
    raise TypeError(f"{type(value).__name__} has no place in a record")


def json_text(record: Mapping[str, Any]) -> str:
    """A record as the text of a file."""
    return json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
