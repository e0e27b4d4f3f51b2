"""``python -m backend parse``: what a query asks to hear and not to hear."""

from __future__ import annotations

import argparse
import json
import sys

from backend.errors import InputError


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "parse",
        help="split a query into what must and what must not be heard",
        description="Split a query into what must and what must not be heard. "
        "Without QUERY, reads one query a line from standard input and prints one object a line.",
    )
    parser.add_argument("query", nargs="?", metavar="QUERY", help='for example "a dog barking, no rain"')
    parser.add_argument("--json", action="store_true", help="print one JSON object a query")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the parse of one query, or of every line of standard input."""
    if arguments.query is not None:
        print(_line(arguments.query, arguments.json))
        return
    refused: InputError | None = None
    for line in sys.stdin:
        query = line.rstrip("\r\n")
        if not query.strip():
            continue
        try:
            print(_line(query, arguments.json), flush=True)
        except InputError as error:
            # The other lines are still parsed; the exit code says that one was not.
            refused = error
            print(_refusal(query, error, arguments.json), flush=True)
    if refused is not None:
        raise refused


def _line(text: str, as_json: bool) -> str:
    from backend.negation import as_json as object_of
    from backend.negation import parse_query

    query = parse_query(text)
    if as_json:
        return json.dumps(object_of(query), ensure_ascii=False)
    signs = [f"+ {concept.text}" for concept in query.positives]
    signs += [f"- {concept.text}  (“{concept.cue}”)" for concept in query.negatives]
    return "\n".join([*signs, *(f"  {note}" for note in query.notes)])


def _refusal(text: str, error: InputError, as_json: bool) -> str:
    if not as_json:
        return f"  {error}"
    empty: dict[str, object] = {
        "query": text,
        "positives": [],
        "negatives": [],
        "language": "und",
        "notes": [str(error)],
    }
    return json.dumps(empty, ensure_ascii=False)
