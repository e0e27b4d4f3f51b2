"""``python -m backend pocket data``: from packages and recordings to clip sets, mixtures and the development sounds."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from backend.errors import InputError
from backend.training.pocket.data_decode import fingerprint
from backend.training.pocket.data_duplicates import duplicates_of
from backend.training.pocket.data_fetch import fetch, package_names
from backend.training.pocket.data_sets import (
    SEED,
    copies_wanted,
    copy_at_other_speeds,
    decode_packages,
    decode_recordings,
    scarce_copies_wanted,
    sources_of_concepts,
    write_mels,
)
from backend.training.pocket.data_split import HELD_PACKAGES, held_groups, write_development
from backend.training.pocket.data_store import SAMPLE_RATE, ClipSet
from backend.training.pocket.data_synthesis import render_instruments
from backend.training.pocket.mixtures import render_mixtures
from backend.training.pocket.teacher import teach

MIXTURES, MORE_MIXTURES = 6000, 9000
EVERYDAY_RATE = 3.0
"""How much more often everyday sounds enter the second set of mixtures."""
INSTRUMENT_SEED, MIXTURE_SEED, MORE_MIXTURES_SEED = 1, 3, 4
SCARCE_MIXTURES, SCARCE_SEED, SCARCE_MIXTURES_SEED = 3000, 7, 8
COPIED = {"real": "real_copies", "packages": "package_copies"}
SCARCE_COPIED = {"real": "scarce_real", "packages": "scarce_packages", "more_packages": "scarce_more"}


@dataclass(frozen=True)
class Sources:
    """Where everything comes from and goes to."""

    work: Path
    recordings: Path
    teacher: Path
    tests: Path | None
    left_out: frozenset[str]
    processes: int

    def clips(self, name: str) -> ClipSet:
        """A set by its name."""
        return ClipSet(self.work / "sets" / name)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``pocket data``."""
    parser.add_argument("--work", type=Path, required=True, help="folder to write (about 25 GB while fetching)")
    parser.add_argument("--recordings", type=Path, required=True, help="folder with manifest.csv and clips/")
    parser.add_argument("--teacher", type=Path, required=True, help="folder with yamnet.tflite and its class map")
    parser.add_argument("--tests", type=Path, help="folder of test sounds whose duplicates are removed")
    parser.add_argument("--leave-out", type=Path, help="text file: names of recordings never to train on, one a line")
    parser.add_argument("--processes", type=int, default=2, help="for decoding and the teacher (default: %(default)s)")


def main(arguments: argparse.Namespace) -> None:
    """Fetch, decode, copy, render, mix, teach and split; a step whose result is there is not repeated.

    Raises
    ------
    InputError
        The recordings or the teacher are not where they were said to be, or a package cannot be had.
    """
    torch.set_num_threads(1)
    sources = _checked(arguments)
    root = sources.work / "packages"
    missing = fetch([*package_names(), *package_names(more=True)], root)
    if missing:
        raise InputError(f"apt-get could not download {', '.join(missing[:5])}; run apt-get update and try again.")
    _prepare(sources, root)
    held = _hold_out(sources)
    for name, target in COPIED.items():
        _copy(sources, name, target, copies_wanted(sources.clips(name), held))
    names = ["real", "packages", "instruments"]
    _mix(sources, "mixtures", names, held, MIXTURES, MIXTURE_SEED)
    names.append("real_copies")
    _mix(sources, "more_mixtures", names, held, MORE_MIXTURES, MORE_MIXTURES_SEED, EVERYDAY_RATE)
    sizes = sources_of_concepts([sources.clips(name) for name in SCARCE_COPIED], held)
    for name, target in SCARCE_COPIED.items():
        _copy(sources, name, target, scarce_copies_wanted(sources.clips(name), sizes, held), SCARCE_SEED)
    names += ["more_packages", *SCARCE_COPIED.values()]
    _mix(sources, "scarce_mixtures", names, held, SCARCE_MIXTURES, SCARCE_MIXTURES_SEED, EVERYDAY_RATE)
    count = write_development([sources.clips("real"), sources.clips("held")], held, sources.work / "heldout")
    print(f"development: {count} sounds", file=sys.stderr)
    print(summary(sources.work / "sets"))


def summary(sets: Path) -> str:
    """One line a set: clips, hours, kinds."""
    lines = []
    for folder in sorted(path for path in sets.iterdir() if (path / "clips.csv").is_file()):
        rows = ClipSet(folder).rows
        hours = sum(row.samples for row in rows) / SAMPLE_RATE / 3600
        kinds = ", ".join(f"{kind} {count}" for kind, count in Counter(row.kind for row in rows).most_common())
        lines.append(f"{folder.name}: {len(rows)} clips, {hours:.2f} h ({kinds})")
    return "\n".join(lines)


def _checked(arguments: argparse.Namespace) -> Sources:
    for path in (arguments.recordings / "manifest.csv", arguments.teacher / "yamnet.tflite"):
        if not path.is_file():
            raise InputError(f"{path} is not there; see assets/pocket/CARD.md for what the training sounds are.")
    left_out: Collection[str] = ()
    if arguments.leave_out is not None:
        left_out = arguments.leave_out.read_text(encoding="utf-8").split()
    return Sources(
        arguments.work, arguments.recordings, arguments.teacher, arguments.tests, frozenset(left_out),
        arguments.processes,
    )  # fmt: skip


def _prepare(sources: Sources, root: Path) -> None:
    """The sets that are read from files or rendered from sound fonts."""
    _once(sources, "real", lambda to: decode_recordings(sources.recordings, to))
    _once(sources, "held", lambda to: decode_packages(root, HELD_PACKAGES, to))
    # The sound fonts are rendered; they hold no audio files.
    trained = sorted(set(package_names()) - set(HELD_PACKAGES))
    _once(sources, "packages", lambda to: decode_packages(root, trained, to, processes=sources.processes))
    heard = {fingerprint(signal) for name in ("held", "packages") for signal in sources.clips(name).signals()}
    more = sorted(package_names(more=True))
    _once(sources, "more_packages", lambda to: decode_packages(root, more, to, heard, sources.processes))
    _once(sources, "instruments", lambda to: render_instruments(root, to, INSTRUMENT_SEED))


def _hold_out(sources: Sources) -> frozenset[str]:
    """Groups never to train on; written to held.json for the training."""
    real = sources.clips("real")
    held = held_groups(real.rows, sources.left_out)
    if sources.tests is not None:
        held |= duplicates_of(sources.tests, [sources.clips(name) for name in ("real", "packages", "more_packages")])
    (sources.work / "held.json").write_text(json.dumps(sorted(held)), encoding="utf-8")
    return held


def _copy(sources: Sources, name: str, target: str, wanted: dict[int, int], seed: int = SEED) -> None:
    """Write a set of speed copies of another set's clips."""
    _once(sources, target, lambda folder: copy_at_other_speeds(sources.clips(name), folder, wanted, seed))


def _mix(
    sources: Sources,
    target: str,
    names: Sequence[str],
    held: Collection[str],
    count: int,
    seed: int,
    everyday: float = 1.0,
) -> None:
    """Write a set of mixtures of the named sets' clips."""
    sets = [sources.clips(name) for name in names]
    _once(sources, target, lambda folder: render_mixtures(sets, held, count, folder, seed, everyday))


def _once(sources: Sources, name: str, write: Callable[[Path], object]) -> None:
    """Write a set, its mels and what the teacher hears, unless all three are there."""
    target = sources.work / "sets" / name
    if (target / "clips.csv").is_file() and ClipSet(target).complete:
        return
    print(f"{name} ...", file=sys.stderr, flush=True)
    write(target)
    clips = ClipSet(target)
    write_mels(clips)
    teach(clips, sources.teacher / "yamnet.tflite", sources.processes)
