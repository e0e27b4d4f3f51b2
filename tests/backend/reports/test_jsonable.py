"""Records: plain JSON whatever a result holds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from backend import __version__
from backend.reports.jsonable import json_text, jsonable
from backend.reports.provenance import provenance


@dataclass(frozen=True)
class Plain:
    number: float
    names: frozenset[str]


class Own:
    def record(self) -> dict[str, int]:
        return {"own": 1}


def test_whatever_a_result_holds_becomes_plain_json() -> None:
    found = {
        "numbers": np.array([[1.0, np.nan], [np.inf, 2.5]], dtype=np.float32),
        "flags": np.array([True, False]),
        "whole": np.int64(3),
        "parts": (Plain(-np.inf, frozenset({"b", "a"})), Own()),
        "file": Path("a/b.wav"),
        4: None,
    }
    assert jsonable(found) == {
        "numbers": [[1.0, None], [None, 2.5]],
        "flags": [True, False],
        "whole": 3,
        "parts": [{"number": None, "names": ["a", "b"]}, {"own": 1}],
        "file": "a/b.wav",
        "4": None,
    }
    assert json.loads(json_text(jsonable(found))) == jsonable(found)
    assert type(jsonable(np.float64(1.0))) is float


def test_only_floats_are_rounded() -> None:
    assert jsonable([1.23456, 123456, np.float32(0.1)], 3) == [1.235, 123456, 0.1]


def test_what_has_no_place_in_json_is_refused() -> None:
    with pytest.raises(TypeError, match="object has no place"):
        jsonable(object())


def test_a_provenance_always_names_version_encoder_weights_and_seed() -> None:
    assert provenance() == {"version": __version__, "encoder": None, "weights": None, "seed": None}
    assert provenance("pocket", "abc", 3, link="?q=x") == {
        "version": __version__, "encoder": "pocket", "weights": "abc", "seed": 3, "link": "?q=x",
    }  # fmt: skip
