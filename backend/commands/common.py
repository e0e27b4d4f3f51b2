"""What several sub-commands share: arguments with a gate, the encoder, provenance, output."""

from __future__ import annotations

import argparse
import json
import math
import sys
from typing import Any, NoReturn

from backend.encoders.base import Encoder, EncoderInfo, encoder_list, load_encoder
from backend.errors import InputError
from backend.settings import COMMAND, settings

HIGHEST_SEED = 2**63 - 1
"""What fits into a link and a JSON number of any program."""


EXIT_CODES = (
    "Exit codes: 0 done; 1 a file, folder or download that was to be read cannot be used, or there is no room for the "
    "result; 2 an argument, a setting or a place to write to cannot be used; 130 stopped. In every case but the first "
    "one sentence on standard error says what came, what is allowed and what to do."
)


class OneSentenceParser(argparse.ArgumentParser):
    """argparse without the usage dump: a wrong argument is answered in one sentence."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"epilog": EXIT_CODES, **options})

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{message[0].upper()}{message[1:]}. See {self.prog} --help.\n")


def finite_number(text: str) -> float:
    """argparse type: a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number")
    return value


def whole_number(text: str) -> int:
    """argparse type: a whole number; how many are allowed is for the gate of each argument to say."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number") from None


def seed_number(text: str) -> int:
    """argparse type: a seed, a whole number from 0 on."""
    seed = whole_number(text)
    if not 0 <= seed <= HIGHEST_SEED:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number from 0 to {HIGHEST_SEED}")
    return seed


def add_seed(parser: argparse.ArgumentParser) -> None:
    """--seed."""
    parser.add_argument(
        "--seed", type=seed_number, default=0, metavar="N", help="seed of everything random (default: 0)"
    )


def add_common(parser: argparse.ArgumentParser, *, window: bool = True) -> None:
    """--encoder, --window, --seed and --json, the same everywhere."""
    parser.add_argument(
        "--encoder",
        default=settings().encoder,
        metavar="ID",
        help=f"one that {COMMAND} encoders lists (default: %(default)s)",
    )
    if window:
        parser.add_argument(
            "--window", type=finite_number, default=2.0, metavar="S", help="window length in seconds (default: 2)"
        )
    add_seed(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def checked_window(seconds: float) -> float:
    """The window length, refused outside 0.1 to 10 s."""
    if not 0.1 <= seconds <= 10:
        raise InputError(f"The window is {seconds:g} s; it must lie between 0.1 and 10 s. 2 and 4 are usual.")
    return seconds


def needed_here(info: EncoderInfo) -> str:
    """What an encoder lacks on this machine, as a command where one helps; empty when it is ready."""
    if info.downloadable and not info.ready:
        return f"Needs a download: {COMMAND} encoders --download {info.id}"
    return info.needs


def loaded_encoder(encoder_id: str) -> Encoder:
    """The encoder of an id that the owner of this machine named.

    Raises
    ------
    InputError
        There is none, or it is not ready here: then with the command that makes it so.
    """
    info = next((info for info in encoder_list() if info.id == encoder_id), None)
    if info is not None and info.downloadable and not info.ready:
        raise InputError(f"{encoder_id} is not ready here. {needed_here(info)}", concerns="file")
    return load_encoder(encoder_id, trusted=True)


def chosen_encoder(arguments: argparse.Namespace) -> Encoder:
    """The encoder that --encoder names."""
    return loaded_encoder(arguments.encoder)


def provenance(encoder: Encoder, arguments: argparse.Namespace) -> dict[str, Any]:
    """What made a result: version, encoder, weights, seed."""
    from backend.reports import records as results

    return results.provenance(encoder, arguments.seed)


def print_json(value: object) -> None:
    """One JSON object on one line of standard output."""
    json.dump(value, sys.stdout, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")
