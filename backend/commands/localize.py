"""``python -m backend localize CLIP QUERY``: where each concept of a query is found."""

from __future__ import annotations

import argparse
from typing import Any

from backend.commands.common import add_clip, add_common, add_query, loaded_encoder, print_json


def register(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser("localize", help="where each concept of a query is found in a clip")
    add_clip(parser)
    add_query(parser)
    add_common(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print every concept's curve and best window."""
    from backend.collections.demo import demo_or_file
    from backend.evidence.localization import localize
    from backend.negation import parse_query

    query = parse_query(arguments.query)
    clip = demo_or_file(arguments.clip)
    encoder = loaded_encoder(arguments.encoder)
    found = localize(encoder, clip, query.concepts, arguments.window)
    if arguments.json:
        print_json(found.record(query, arguments.seed))
        return
    for note in (*query.notes, *clip.notes):
        print(f"Note: {note}")
    for evidence in found.evidence:
        verb = "found at" if evidence.stands_out else "does not stand out; best window"
        print(
            f"{evidence.concept.text} ({evidence.concept.polarity}): "
            f"{verb} {evidence.best.start:.2f}-{evidence.best.end:.2f} s, cosine {evidence.score:+.3f} "
            f"({evidence.z:+.1f} SD of {found.background_size} everyday sounds)"
        )
