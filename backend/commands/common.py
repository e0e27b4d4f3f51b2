"""What several sub-commands share: arguments with a gate, the encoder, provenance, output."""

from __future__ import annotations

import argparse
import json
import math
import sys
from typing import Any

from backend import __version__
from backend.encoders.base import Encoder, load_encoder
from backend.errors import InputError
from backend.settings import settings


def finite_number(text: str) -> float:
    """argparse type: a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number")
    return value


def add_common(parser: argparse.ArgumentParser, *, window: bool = True) -> None:
    """--encoder, --window, --seed and --json, the same everywhere."""
    parser.add_argument("--encoder", default=settings().encoder, help="encoder id (default: %(default)s)")
    if window:
        parser.add_argument("--window", type=finite_number, default=2.0, help="window length in seconds (default: 2)")
    parser.add_argument("--seed", type=int, default=0, help="seed of everything random (default: 0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def checked_window(seconds: float) -> float:
    """The window length, refused outside 0.1 to 10 s."""
    if not 0.1 <= seconds <= 10:
        raise InputError(f"The window is {seconds:g} s; it must lie between 0.1 and 10 s. 2 and 4 are usual.")
    return seconds


def chosen_encoder(arguments: argparse.Namespace) -> Encoder:
    """The encoder that --encoder names."""
    return load_encoder(arguments.encoder, trusted=True)


def provenance(encoder: Encoder, arguments: argparse.Namespace) -> dict[str, Any]:
    """What made a result: version, encoder, weights, seed."""
    return {"version": __version__, "encoder": encoder.id, "weights": encoder.weights, "seed": arguments.seed}


def print_json(value: object) -> None:
    """One JSON object on one line of standard output."""
    json.dump(value, sys.stdout, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")
