"""``python -m backend rank COLLECTION QUERY``: a collection in the order of one scorer."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from backend.commands.common import add_common, add_query, checked_by, finite_number, loaded_encoder, print_json
from backend.retrieval.ranking import DEFAULT_HITS, checked_top
from backend.retrieval.search import DEFAULT_SCORER
from backend.retrieval.steering import DEFAULT_LAMBDA, LARGEST_LAMBDA, checked_lambda

MOST_SKIPPED = 10
"""Rows that are listed one by one with their reason; a table whose folder is elsewhere misses them all."""


def register(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser("rank", help="rank a collection for a query that may say what must not be heard")
    parser.add_argument("collection", help="demo, a folder, a CSV (path, caption, labels), or ready embeddings (.npz)")
    add_query(parser)
    parser.add_argument("--scorer", default=DEFAULT_SCORER, help="raw, steered or exclusion (default: %(default)s)")
    parser.add_argument(
        "--lambda",
        dest="strength",
        type=checked_by(checked_lambda, finite_number),
        default=DEFAULT_LAMBDA,
        help=f"steering strength, 0 to {LARGEST_LAMBDA:g} (default: %(default)s)",
    )
    parser.add_argument(
        "--top",
        type=checked_by(checked_top),
        default=DEFAULT_HITS,
        metavar="K",
        help="hits to print (default: %(default)s)",
    )
    add_common(parser, window=False)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the first hits, with the rank of each in the other two orders."""
    from backend.collections.layouts import open_collection
    from backend.collections.ready import SUFFIXES, ready_collection
    from backend.collections.store import embed_collection
    from backend.commands.terminal_progress import clear, on_terminal
    from backend.negation import parse_query
    from backend.retrieval.scoring import check_scorer, score_query
    from backend.retrieval.search import SearchResult

    scorer, strength, top = check_scorer(arguments.scorer), arguments.strength, arguments.top
    query = parse_query(arguments.query)
    is_ready = Path(arguments.collection).suffix.lower() in SUFFIXES
    collection = None if is_ready else open_collection(arguments.collection)
    encoder = loaded_encoder(arguments.encoder)
    if collection is None:
        embedded = ready_collection(arguments.collection, encoder)
    else:
        embedded = embed_collection(collection, encoder, progress=on_terminal())
        clear()
    scores = score_query(embedded, encoder, query)
    record = SearchResult(scores, strength).record(scorer, top, arguments.seed)
    if arguments.json:
        print_json(record)
    else:
        _print(record)


def _print(record: dict[str, Any]) -> None:
    """The record in lines."""
    query, scorer, hits = record["query"], record["scorer"], record["hits"]
    for note in query["notes"]:
        print(f"Note: {note}")
    for name in query["unknown"]:
        print(f"Note: “{name}” is far from every sound this encoder was compared with.")
    skipped = record["collection"]["skipped"]
    for one in skipped[:MOST_SKIPPED]:
        print(f"Left out: {one['row']}: {one['reason']}")
    if len(skipped) > MOST_SKIPPED:
        print(f"Left out: {len(skipped) - MOST_SKIPPED:,} more rows; --json lists them all.")
    broken = record["violations"][scorer]
    if broken is not None and query["negatives"]:
        verb = "contains" if broken == 1 else "contain"
        print(f"{broken} of the first {len(hits)} {verb} what the query forbids ({scorer}).")
    for hit in hits:
        mark = " breaks the query" if hit["violates"] else ""
        print(f"{hit['rank']:>4}  {hit['score']:+.3f}  {hit['id']}  {hit['caption']}{mark}")
