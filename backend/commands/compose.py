"""``python -m backend compose COLLECTION_OR_EMBEDDINGS``: is a scene the sum of its sounds?"""

from __future__ import annotations

import argparse
from typing import Any

from backend.commands.common import add_json, add_seed, finite_number, loaded_encoder, print_json, whole_number
from backend.commands.terminal_progress import clear, on_terminal
from backend.composition.analysis import PERMUTATIONS, SPLITS
from backend.errors import InputError
from backend.settings import settings


def register(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser("compose", help="rebuild combinations of sounds from what each sound contributes")
    parser.add_argument(
        "collection",
        help="demo-scenes (or demo, for short), an .npz (ids, embeddings) or .parquet, a folder, or a CSV of sounds",
    )
    parser.add_argument(
        "--labels",
        nargs="+",
        default=[],
        metavar="CSV",
        help="id,labels with ; between labels; FSD50K and CHiME-Home layouts too",
    )
    parser.add_argument(
        "--encoder",
        default=None,
        help=f"encoder id; embeds sounds (default {settings().encoder}), only named for ready embeddings",
    )
    add_seed(parser)
    parser.add_argument("--out", metavar="DIR", help="write compose.json, tables (CSV) and figures (PNG, SVG, HTML)")
    add_json(parser, "print compose.json instead of the headline")
    parser.add_argument(
        "--ancestors",
        choices=("keep", "drop"),
        default="keep",
        help="labels above another label of the same clip (default: keep)",
    )
    parser.add_argument(
        "--hierarchy",
        default="",
        metavar="FILE",
        help="ontology.json, a CSV child,parent, or 'inferred'; needed to drop ancestors",
    )
    parser.add_argument(
        "--without", action="append", default=[], metavar="LABEL", help="leave a label out; may be repeated"
    )
    parser.add_argument("--subset", action="store_true", help="use only clips that have both an embedding and labels")
    parser.add_argument(
        "--permutations",
        type=whole_number,
        default=PERMUTATIONS,
        help="shuffles of the baseline (default: %(default)s)",
    )
    parser.add_argument("--splits", type=whole_number, default=SPLITS, help="repeated holdouts (default: %(default)s)")
    parser.add_argument(
        "--lambda", dest="penalty", type=finite_number, default=None, help="fix lambda instead of choosing it"
    )
    parser.add_argument(
        "--memory-mb", type=finite_number, default=None, help="memory that may be used (default: 80%% of what is free)"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Analyse, write, and print the headline."""
    from backend.collections.composition_sources import load_source
    from backend.collections.label_options import LabelOptions
    from backend.collections.ready import SUFFIXES
    from backend.composition.analysis import compose
    from backend.reports.composition.export import checked_folder, write_report

    folder = checked_folder(arguments.out) if arguments.out else None
    if arguments.memory_mb is not None and arguments.memory_mb <= 0:
        raise InputError(
            f"--memory-mb is {arguments.memory_mb:g}; it must be above 0. Leave it out to use what is free."
        )
    memory = None if arguments.memory_mb is None else int(arguments.memory_mb * 2**20)
    progress = on_terminal()
    ready = arguments.collection.lower().endswith(SUFFIXES)
    named = ready and arguments.encoder is not None
    # Ready embeddings need no encoder: a name given with them is what the reader wants to remember.
    encoder = None if ready else loaded_encoder(arguments.encoder or settings().encoder)
    source = load_source(
        arguments.collection,
        arguments.labels,
        encoder,
        options=LabelOptions(arguments.ancestors, arguments.hierarchy, tuple(arguments.without), arguments.subset),
        memory=memory,
        progress=progress,
    )
    report = compose(
        source.data,
        seed=arguments.seed,
        permutations=arguments.permutations,
        splits=arguments.splits,
        penalty=arguments.penalty,
        provenance={**source.provenance, **({"encoder": arguments.encoder} if named else {})},
        notes=source.notes,
        memory=memory,
        progress=progress,
    )
    clear()
    if folder is not None:
        write_report(report, folder)
    if arguments.json:
        print_json(report.record())
    else:
        from backend.reports.composition.summary import summary_text

        print(summary_text(report))
        if folder is not None:
            print(f"Written to {folder}: compose.json, tables and figures; open report.html.")
