"""``python -m backend rank COLLECTION QUERY``: a collection in the order of one scorer."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from backend.commands.common import add_common, chosen_encoder, finite_number, print_json, provenance


def register(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser("rank", help="rank a collection for a query that may say what must not be heard")
    parser.add_argument("collection", help="demo, a folder, a CSV (path, caption, labels), or ready embeddings (.npz)")
    parser.add_argument("query", help='for example "a dog barking, no rain"')
    parser.add_argument("--scorer", default="exclusion", help="raw, steered or exclusion (default: %(default)s)")
    parser.add_argument(
        "--lambda", dest="lam", type=finite_number, default=0.2, help="steering strength (default: 0.2)"
    )
    parser.add_argument("--top", type=int, default=10, help="hits to print (default: 10)")
    add_common(parser, window=False)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the first hits, with the rank of each in the other two orders."""
    from backend.collection_layouts import open_collection
    from backend.collection_ready import ready_collection
    from backend.collection_store import embed_collection
    from backend.commands.progress import on_terminal
    from backend.negation import parse_query
    from backend.ranking import checked_top, rank
    from backend.scoring import SCORERS, check_scorer, score_query
    from backend.steering import checked_lambda

    scorer, lam, top = check_scorer(arguments.scorer), checked_lambda(arguments.lam), checked_top(arguments.top)
    query = parse_query(arguments.query)
    is_ready = Path(arguments.collection).suffix.lower() in (".npz", ".parquet")
    collection = None if is_ready else open_collection(arguments.collection)
    encoder = chosen_encoder(arguments)
    if collection is None:
        embedded = ready_collection(arguments.collection, encoder)
    else:
        embedded = embed_collection(collection, encoder, progress=on_terminal())
    scores = score_query(embedded, encoder, query)
    rankings = {name: rank(scores, name, lam) for name in SCORERS}
    chosen = rankings[scorer]
    ranks = {name: ranking.ranks for name, ranking in rankings.items()}
    presence = scores.presence()
    concepts = [*scores.positives, *scores.negatives]
    hits = [
        {
            "rank": hit.rank,
            "id": hit.id,
            "caption": embedded.captions[hit.index],
            "labels": list(embedded.labels[hit.index]),
            "score": round(hit.score, 6),
            "ranks": {name: int(of[hit.index]) for name, of in ranks.items()},
            "presence": {name: round(float(p), 4) for name, p in zip(concepts, presence[hit.index], strict=True)},
            "violates": hit.violates,
            "answers": hit.answers,
        }
        for hit in chosen.hits(top)
    ]
    if arguments.json:
        print_json(
            {
                "query": {
                    "text": scores.text,
                    "positives": list(scores.positives),
                    "negatives": list(scores.negatives),
                    "unknown": [name for name, known in zip(concepts, scores.known, strict=True) if not known],
                    "notes": list(query.notes),
                },
                "collection": {
                    "name": embedded.name,
                    "clips": len(embedded),
                    "skipped": [{"row": one.row, "reason": one.reason} for one in embedded.skipped],
                },
                "scorer": scorer,
                "lambda": lam,
                "top": top,
                "violations": {name: ranking.violations(top) for name, ranking in rankings.items()},
                "recall": {name: ranking.recall(top) for name, ranking in rankings.items()},
                "hits": hits,
                "provenance": provenance(encoder, arguments),
            }
        )
        return
    unknown = [name for name, known in zip(concepts, scores.known, strict=True) if not known]
    notes = [*query.notes, *(f"“{name}” is far from every sound this encoder was compared with." for name in unknown)]
    _print(embedded.skipped, notes, chosen, hits, top, forbids=bool(scores.negatives))


def _print(
    skipped: Any, notes: list[str], ranking: Any, hits: list[dict[str, Any]], top: int, *, forbids: bool
) -> None:
    for note in notes:
        print(f"Note: {note}")
    for one in skipped:
        print(f"Left out: {one.row}: {one.reason}")
    broken = ranking.violations(top)
    if broken is not None and forbids:
        print(f"{broken} of the first {len(hits)} contain what the query forbids ({ranking.scorer}).")
    for hit in hits:
        mark = " breaks the query" if hit["violates"] else ""
        print(f"{hit['rank']:>4}  {hit['score']:+.3f}  {hit['id']}  {hit['caption']}{mark}")
