"""The command line: ``python -m backend SUBCOMMAND``. One module of backend/commands per sub-command.

Whatever goes wrong, one sentence goes to standard error, and the exit code says whose turn it is.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
from collections.abc import Sequence

from backend import __version__
from backend.commands import terminal_progress as progress
from backend.commands.common import OneSentenceParser
from backend.errors import InputError
from backend.settings import COMMAND

COMMANDS = ("encoders", "localize", "gate", "parse", "rank", "negeval", "compose", "pocket")


def build_parser() -> argparse.ArgumentParser:
    """The parser with every sub-command registered; imports nothing heavy."""
    parser = OneSentenceParser(prog=COMMAND, description="Unheard without a browser: the same numbers as the page.")
    parser.add_argument("--version", action="version", version=f"Unheard {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=OneSentenceParser)
    for name in COMMANDS:
        importlib.import_module(f"backend.commands.{name}").register(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one sub-command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A terminal that cannot show a character shows its number; it must not end the command.
            stream.reconfigure(errors="backslashreplace")
    try:
        parsed = build_parser().parse_args(arguments)
        try:
            parsed.run(parsed)
        finally:
            progress.clear()
        sys.stdout.flush()
    except SystemExit as stopped:
        return int(stopped.code or 0)
    except InputError as error:
        print(error, file=sys.stderr)
        return 1 if error.concerns == "file" else 2
    except BrokenPipeError:
        # Whoever read our output has enough. Python must not find the closed pipe again on its way out.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        print(f"{name}{error.strerror or error}. Nothing more was done.", file=sys.stderr)
        return 1
    except MemoryError:
        print("There is not enough memory for this. Use fewer or shorter clips, or a larger machine.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
