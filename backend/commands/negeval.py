"""``python -m backend negeval COLLECTION --out DIR``: the negation benchmark over any collection with labels."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from backend.benchmarks.negeval import DEFAULT_CLIPS, DEFAULT_PAIRS, MOST_PAIRS
from backend.checks import checked_whole
from backend.commands.common import add_common, loaded_encoder, print_json, whole_number
from backend.errors import InputError


def register(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser("negeval", help="run the negation benchmark over a labelled or captioned collection")
    parser.add_argument("collection", help="demo, a folder, or a CSV (path, caption, labels)")
    parser.add_argument("--out", required=True, type=Path, help="folder for negeval.json, tables, figures and items")
    parser.add_argument(
        "--pairs", type=whole_number, default=DEFAULT_PAIRS, help="controlled pairs; 0 for none (default: %(default)s)"
    )
    parser.add_argument("--filler", default="matched", help="matched (as the paper) or any (default: %(default)s)")
    parser.add_argument("--folds", default="", help="ESC layouts: report on these folds, calibrate on the others: 4,5")
    parser.add_argument(
        "--clips",
        type=whole_number,
        default=DEFAULT_CLIPS,
        help="clips that give queries and questions (default: %(default)s)",
    )
    add_common(parser, window=False)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run it and write everything down."""
    from backend.benchmarks.negeval.report import tables, write_report
    from backend.benchmarks.negeval.run import run as run_benchmark
    from backend.collections.layouts import open_collection
    from backend.commands.terminal_progress import clear, on_terminal
    from backend.reports.composition.export import checked_folder

    options = _options(arguments)
    collection = open_collection(arguments.collection)
    checked_folder(arguments.out)  # said before minutes of work, not after them
    result = run_benchmark(collection, loaded_encoder(arguments.encoder), options, on_terminal())
    written = write_report(result, arguments.out)
    clear()
    if arguments.json:
        print_json({**result.record(), "files": [str(path) for path in written]})
        return
    print(tables(result.record()))
    print(f"Written: {', '.join(path.name for path in written)} in {arguments.out}")


def _options(arguments: argparse.Namespace) -> Any:
    from backend.benchmarks.negeval.run import Options

    pairs = checked_whole("--pairs", arguments.pairs, 0, MOST_PAIRS)
    clips = checked_whole("--clips", arguments.clips, 1)
    if arguments.filler not in ("matched", "any"):
        raise InputError(f"--filler is {arguments.filler!r}; choose matched or any.")
    try:
        folds = tuple(int(part) for part in arguments.folds.split(",") if part.strip())
    except ValueError:
        raise InputError(f"--folds is {arguments.folds!r}; it must be numbers separated by commas, as 4,5.") from None
    return Options(pairs, arguments.filler, folds, clips, arguments.seed)
