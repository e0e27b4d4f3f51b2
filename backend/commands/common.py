"""What several sub-commands share: arguments with their checks, the encoder, provenance, output."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from backend.audio import WINDOW_SECONDS, checked_window
from backend.checks import DEFAULT_SEED, checked_seed
from backend.encoders.base import Encoder, EncoderInfo, encoder_list, load_encoder
from backend.errors import InputError
from backend.settings import COMMAND, settings

Checked = TypeVar("Checked")

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
    """argparse type: a whole number; how many are allowed is for each argument to say."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number") from None


def checked_by(check: Callable[[object], Checked], read: Callable[[str], object] = whole_number) -> Any:
    """argparse type: a number that the backend's own check lets in, refused in that check's sentence."""

    def checked(text: str) -> Checked:
        try:
            return check(read(text))
        except InputError as error:
            raise argparse.ArgumentTypeError(str(error).rstrip(".")) from None

    return checked


def add_clip(parser: argparse.ArgumentParser) -> None:
    """CLIP."""
    parser.add_argument("clip", help="an audio file, or the id of a demo clip")


def add_query(parser: argparse.ArgumentParser, **options: Any) -> None:
    """QUERY."""
    parser.add_argument("query", help='for example "a dog barking, no rain"', **options)


def add_json(parser: argparse.ArgumentParser, said: str = "print one JSON object") -> None:
    """--json."""
    parser.add_argument("--json", action="store_true", help=said)


def add_seed(parser: argparse.ArgumentParser) -> None:
    """--seed."""
    parser.add_argument(
        "--seed",
        type=checked_by(checked_seed),
        default=DEFAULT_SEED,
        metavar="N",
        help="seed of everything random (default: %(default)s)",
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
            "--window",
            type=checked_by(checked_window, finite_number),
            default=WINDOW_SECONDS,
            metavar="S",
            help="window length in seconds (default: %(default)g)",
        )
    add_seed(parser)
    add_json(parser)


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


def print_json(value: object) -> None:
    """One JSON object on one line of standard output."""
    json.dump(value, sys.stdout, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")
