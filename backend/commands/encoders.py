"""``python -m backend encoders``: every encoder, whether it is ready here, and how to get it."""

from __future__ import annotations

import argparse
from typing import Any

from backend.commands.common import print_json


def register(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser("encoders", help="list the encoders and what each needs")
    parser.add_argument("--json", action="store_true", help="print one JSON list")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the registry."""
    from backend.encoders.base import encoder_list

    listed = encoder_list()
    if arguments.json:
        keys = ("id", "title", "ready", "needs", "dim", "sample_rate", "text")
        extra = ("licence", "source", "size_bytes")
        print_json([{key: getattr(info, key) for key in (*keys, *extra)} for info in listed])
        return
    width = max(len(info.id) for info in listed)
    for info in listed:
        state = "ready" if info.ready else info.needs
        print(
            f"{info.id:<{width}}  {info.dim:>5}-d  {info.sample_rate:>6} Hz  {'text' if info.text else '    '}  {state}"
        )
