"""``python -m backend parse``: what a query asks to hear and not to hear."""

from __future__ import annotations

import argparse
import json
import sys

from backend.commands.common import add_json, add_query
from backend.errors import InputError


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "parse",
        help="split a query into what must and what must not be heard",
        description="Split a query into what must and what must not be heard. "
        "Without QUERY, reads one query a line from standard input and prints one object a line.",
    )
    add_query(parser, nargs="?", metavar="QUERY")
    add_json(parser, "print one JSON object a query")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the parse of one query, or of every line of standard input."""
    if arguments.query is not None:
        print(_line(arguments.query, arguments.json))
        return
    if sys.stdin.isatty():
        print("Type one query a line; end with Ctrl-D.", file=sys.stderr)
    if hasattr(sys.stdin, "reconfigure"):
        # Bytes that are no UTF-8 reach the check of query texts, which names them; the other lines are still parsed.
        sys.stdin.reconfigure(encoding="utf-8-sig", errors="surrogateescape")
    refused: InputError | None = None
    asked = False
    for line in sys.stdin:
        query = line.rstrip("\r\n")
        if not query.strip():
            continue
        asked = True
        try:
            print(_line(query, arguments.json), flush=True)
        except InputError as error:
            # The other lines are still parsed; the exit code says that one was not.
            refused = error
            print(_refusal(query, error, arguments.json), flush=True)
    if refused is not None:
        raise refused
    if not asked:
        raise InputError('No query came. Give one, as parse "a dog barking, no rain", or one a line on standard input.')


def _line(text: str, as_json: bool) -> str:
    from backend.negation import parse_query

    query = parse_query(text)
    if as_json:
        return json.dumps(query.record(), ensure_ascii=False)
    signs = [f"+ {concept.text}" for concept in query.positives]
    signs += [f"- {concept.text}  (“{concept.cue}”)" for concept in query.negatives]
    return "\n".join([*signs, *(f"  {note}" for note in query.notes)])


def readable(text: str) -> str:
    """A text without the halves of characters that no output can hold."""
    return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text)


def _refusal(text: str, error: InputError, as_json: bool) -> str:
    if not as_json:
        return f"  {error}"
    empty: dict[str, object] = {
        "query": readable(text),
        "positives": [],
        "negatives": [],
        "language": "und",
        "notes": [str(error)],
    }
    return json.dumps(empty, ensure_ascii=False)
