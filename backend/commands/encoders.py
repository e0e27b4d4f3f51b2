"""``python -m backend encoders``: every encoder, whether it is ready here; download, self-test, strip one."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from backend.commands.common import add_json, loaded_encoder, needed_here, print_json


def register(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser("encoders", help="list the encoders and what each needs")
    add_json(parser, "print JSON")
    does = parser.add_mutually_exclusive_group()
    does.add_argument("--download", metavar="ID", help="fetch a listed encoder; a broken download is continued")
    does.add_argument("--test", metavar="ID", help="load an encoder and test it on two sounds and eight texts")
    does.add_argument(
        "--strip", nargs=2, metavar=("FILE", "TARGET"), help="write a checkpoint's weights alone, as .safetensors"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the registry, or do what is asked with one encoder."""
    if arguments.download or arguments.test or arguments.strip:
        found = (
            _download(arguments) if arguments.download else _test(arguments) if arguments.test else _strip(arguments)
        )
        if arguments.json:
            print_json(found)
        else:
            print("\n".join(f"{name}: {value}" for name, value in found.items() if name != "provenance"))
        return
    from backend.encoders.base import encoder_list

    listed = encoder_list()
    if arguments.json:
        print_json([{**info.record(), "needs": needed_here(info)} for info in listed])
        return
    width = max(len(info.id) for info in listed)
    for info in listed:
        state = "ready" if info.ready else needed_here(info)
        print(
            f"{info.id:<{width}}  {info.dim:>5}-d  {info.sample_rate:>6} Hz  {'text' if info.text else '    '}  {state}"
        )


def _download(arguments: argparse.Namespace) -> dict[str, Any]:
    from backend.encoders.fetching.checkpoints import download
    from backend.progress import Progress, Step

    begun = False

    def show(step: Step) -> None:
        nonlocal begun
        begun = True
        # Standard output carries the result only; the line is rewritten in place.
        print(f"\r{step.what}", end="", file=sys.stderr, flush=True)

    try:
        files = download(arguments.download, Progress(show))
    finally:
        if begun:
            print(file=sys.stderr)
    return {"encoder": arguments.download, "fetched": [str(file) for file in files]}


def _test(arguments: argparse.Namespace) -> dict[str, Any]:
    from backend.encoders.selftest import tested

    return tested(loaded_encoder(arguments.test)).record()


def _strip(arguments: argparse.Namespace) -> dict[str, Any]:
    from backend.encoders.families.laion import TRUSTED
    from backend.encoders.fetching.weights import strip_optimizer

    source, target = (Path(path) for path in arguments.strip)
    return {"written": str(target), "bytes_saved": strip_optimizer(source, target, TRUSTED)}
