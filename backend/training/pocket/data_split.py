"""What is never trained on: whole packages, a slice of the recordings by their source, and given files."""

from __future__ import annotations

import csv
import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable
from pathlib import Path

import soundfile

from backend.training.pocket.captions import caption_bank
from backend.training.pocket.data_labels import concepts_of
from backend.training.pocket.data_store import SAMPLE_RATE, ClipRow, ClipSet

HELD_PACKAGES = ("gcompris-qt-data", "scorched3d-data")
SHARE = 0.16
"""Share of a class's source recordings that is held out, at least one of FEWEST."""
FEWEST = 5
"""A class with fewer source recordings is trained on in full: what is rare is needed more than it is measured."""


def held_groups(rows: Iterable[ClipRow], excluded_files: Collection[str] = ()) -> frozenset[str]:
    """Groups (source recordings) that training must not touch.

    Every group that holds an excluded file, and SHARE of each recorded class with at least FEWEST groups, chosen
    by a hash of the group's name, so that the choice does not move when clips are added elsewhere.
    """
    by_class: dict[str, set[str]] = defaultdict(set)
    held: set[str] = set()
    for row in rows:
        if row.kind != "real":
            continue
        by_class[row.label.partition(":")[0]].add(row.group)
        if Path(row.path).name in excluded_files:
            held.add(row.group)
    for groups in by_class.values():
        if len(groups) >= FEWEST:
            ranked = sorted(groups, key=lambda group: hashlib.sha256(group.encode()).hexdigest())
            held.update(ranked[: max(1, round(SHARE * len(groups)))])
    return frozenset(held)


def is_held(row: ClipRow, held: Collection[str]) -> bool:
    """Whether training must not touch this clip."""
    return row.package in HELD_PACKAGES or row.group in held


def write_development(sets: Iterable[ClipSet], held: Collection[str], target: Path) -> int:
    """Write the held-out clips whose name says what they are: 16 kHz mono FLAC and ``manifest.csv``.

    Returns how many. Columns: file, label (the name's words), caption, package, class (first concept), kind.
    """
    bank = caption_bank()
    target.mkdir(parents=True, exist_ok=True)
    written = 0
    with (target / "manifest.csv").open("w", newline="", encoding="utf-8") as table:
        rows = csv.writer(table)
        rows.writerow(("file", "label", "caption", "package", "class", "kind"))
        for clips in sets:
            for row, signal in zip(clips.rows, clips.signals(), strict=True):
                named = concepts_of(row)
                if not is_held(row, held) or not named.concepts or row.kind not in ("real", "effect"):
                    continue
                concept = named.concepts[0]
                own = row.label.partition(": ")[2] if row.kind == "real" else ""
                name = f"d{written:04d}.flac"
                soundfile.write(target / name, signal, SAMPLE_RATE, subtype="PCM_16")
                rows.writerow((name, row.label, own or bank.phrases[concept][0], row.package, concept, row.kind))
                written += 1
    return written
