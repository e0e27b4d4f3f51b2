"""The command line: ``python -m backend SUBCOMMAND``. One module of backend/commands per sub-command.

Exit codes: 0 done; 1 a file cannot be used; 2 an argument cannot be used. Either way one
sentence goes to standard error.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import NoReturn

from backend.errors import InputError

COMMANDS = ("encoders", "localize", "gate", "parse", "rank", "negeval", "compose", "pocket")


class OneSentenceParser(argparse.ArgumentParser):
    """argparse without the usage dump: a wrong argument is answered in one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{message[0].upper()}{message[1:]}. See python -m {self.prog} --help.\n")


def build_parser() -> argparse.ArgumentParser:
    """The parser with every sub-command registered; imports nothing heavy."""
    parser = OneSentenceParser(prog="backend", description="Unheard without a browser: the same numbers as the page.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=OneSentenceParser)
    for name in COMMANDS:
        importlib.import_module(f"backend.commands.{name}").register(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one sub-command and return its exit code."""
    try:
        parsed = build_parser().parse_args(arguments)
        parsed.run(parsed)
    except SystemExit as stopped:
        return int(stopped.code or 0)
    except InputError as error:
        print(error, file=sys.stderr)
        return 1 if error.concerns == "file" else 2
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
