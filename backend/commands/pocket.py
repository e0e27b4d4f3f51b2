"""``python -m backend pocket data | train | evaluate | export``: remake, measure and ship the pocket encoder."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from backend.commands.common import OneSentenceParser, add_json, add_seed, print_json
from backend.errors import InputError
from backend.reports.provenance import provenance
from backend.settings import COMMAND

DEFAULT_ESC10 = Path("../shared/esc10")
TRAINING_STEPS = {
    "data": "fetch and prepare the training sounds",
    "train": "train the two towers",
}


def register(commands: Any) -> None:
    """Add the sub-command; reads none of the training code until it is asked for."""
    parser = commands.add_parser("pocket", help="the encoder that ships: remake, measure, export")
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
    for name, title in TRAINING_STEPS.items():
        # No prefix is an option here: everything after the step's name is its own parser's to read.
        step = steps.add_parser(name, help=title, add_help=False, prefix_chars="\0")
        step.add_argument("rest", nargs="*")
        step.set_defaults(run=run_training_step, step=name)
    step = steps.add_parser("evaluate", help="print every figure of the model card")
    step.add_argument("--checkpoint", type=Path, help="a training checkpoint instead of the shipped weights")
    step.add_argument("--esc10", type=Path, default=DEFAULT_ESC10, help="folder of ESC-10 (default: %(default)s)")
    step.add_argument("--pool", type=Path, help="folder with manifest.csv of held-out sounds, for retrieval")
    step.add_argument(
        "--development", action="store_true", help="measure scenes of the pool's sounds too (needs --pool)"
    )
    add_seed(step)
    add_json(step)
    step.set_defaults(run=run_evaluate)
    step = steps.add_parser("export", help="write assets/pocket from a training checkpoint")
    step.add_argument("checkpoint", type=Path)
    step.add_argument("--minilm", type=Path, help="folder of all-MiniLM-L6-v2, to write the text tower anew")
    step.add_argument("--to", type=Path, help="folder to write (default: assets/pocket)")
    step.set_defaults(run=run_export)


def run_training_step(arguments: argparse.Namespace) -> None:
    """Hand over to backend.training.pocket.data or .train, which need packages that the page does not."""
    try:
        module = importlib.import_module(f"backend.training.pocket.{arguments.step}")
        parser = OneSentenceParser(prog=f"{COMMAND} pocket {arguments.step}", description=module.__doc__)
        module.add_arguments(parser)
        module.main(parser.parse_args(arguments.rest))
    except ModuleNotFoundError as error:
        raise InputError(
            f"pocket {arguments.step} needs the package {error.name!r}, which is not installed; "
            f"assets/pocket/CARD.md says what training needs."
        ) from error


def run_evaluate(arguments: argparse.Namespace) -> None:
    """Print the table, or say plainly which recordings are not there."""
    from backend.encoders.families.pocket.encoder import load_pocket
    from backend.training.pocket.evaluation import evaluate
    from backend.training.pocket.evaluation.measures import table
    from backend.training.pocket.evaluation.recordings import read_esc10, read_pool

    notes = []
    esc10 = pool = development = []
    if arguments.esc10 == DEFAULT_ESC10 and not arguments.esc10.is_dir():
        notes.append(f"ESC-10 is not in {DEFAULT_ESC10}: zero-shot, scenes and pairs are left out; pass --esc10 DIR.")
    else:
        esc10 = read_esc10(arguments.esc10)
    if arguments.pool is None:
        notes.append(f"No --pool DIR: retrieval is left out; {COMMAND} pocket data writes the held-out pool.")
    else:
        pool = read_pool(arguments.pool)
        development = read_pool(arguments.pool, column="class") if arguments.development else []
    with _evaluated(arguments) as folder:
        encoder = load_pocket(folder)
        measures = evaluate(encoder, folder, esc10=esc10, pool=pool, development=development, seed=arguments.seed)
    made_by = provenance(encoder.id, encoder.weights, arguments.seed)
    if arguments.json:
        rows = [asdict(measure) | {"reached": measure.reached} for measure in measures]
        print_json({**made_by, "notes": notes, "measures": rows})
        return
    for note in notes:
        print(note, file=sys.stderr)
    print(table(measures))
    print(", ".join(f"{key} {value}" for key, value in made_by.items()))


@contextlib.contextmanager
def _evaluated(arguments: argparse.Namespace) -> Iterator[Path]:
    """The folder of the shipped weights, or a passing one exported from a checkpoint."""
    from backend.encoders.families.pocket import FOLDER
    from backend.training.pocket.export import export_checkpoint

    if arguments.checkpoint is None:
        yield FOLDER
        return
    _check_file(arguments.checkpoint)
    with tempfile.TemporaryDirectory(prefix="unheard-pocket-") as folder:
        export_checkpoint(arguments.checkpoint, Path(folder))
        yield Path(folder)


def _check_file(checkpoint: Path) -> None:
    if not checkpoint.is_file():
        what = "is a folder" if checkpoint.is_dir() else "does not exist"
        raise InputError(f"{checkpoint} {what}; name the checkpoint file that pocket train wrote.", concerns="file")


def run_export(arguments: argparse.Namespace) -> None:
    """Write the shipped files and say what they are."""
    from backend.encoders.families.pocket import FOLDER
    from backend.encoders.families.pocket.encoder import load_pocket
    from backend.training.pocket.export import export_checkpoint, write_sentence_encoder

    _check_file(arguments.checkpoint)
    folder = arguments.to or FOLDER
    if arguments.minilm is not None:
        write_sentence_encoder(arguments.minilm, folder)
    export_checkpoint(arguments.checkpoint, folder)
    encoder = load_pocket(folder)
    print(f"{folder}: weights {encoder.weights}, {encoder.dim} dimensions.")
