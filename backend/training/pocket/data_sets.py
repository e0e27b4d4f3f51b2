"""The clip sets: unpacked Debian packages, the licensed real recordings, speed copies, and the mels of any set."""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import soxr
import torch
from numpy.typing import NDArray

from backend.encoders.families.pocket.melspectrogram import log_mel
from backend.files import atomic_write
from backend.training.pocket.data_decode import SourceFile, cuts, fingerprint, walk
from backend.training.pocket.data_labels import EVERYDAY, concepts_of
from backend.training.pocket.data_split import is_held
from backend.training.pocket.data_store import SAMPLE_RATE, ClipSet, ClipWriter, index_of, to_int16

COPY_SECONDS = 6
SLOWER, FASTER = (0.72, 0.92), (1.1, 1.4)
"""Ranges of the speed factors of copies; pitch moves with speed."""
SCARCE, SCARCE_COPIES, MOST_COPIES = 15, 60, 20
SEED = 5


def decode_packages(
    root: Path, packages: Iterable[str], target: Path, heard: Collection[str] = (), processes: int = 1
) -> None:
    """Decode unpacked packages below ``root`` into the set ``target``.

    ``heard`` holds fingerprints of other sets, whose exact repeats are left out.
    """
    files: list[SourceFile] = []
    for package in packages:
        files += walk(root, package, SEED)
    licences = {package: licences_named(root / package) for package in {file.package for file in files}}
    known = set(heard)
    with ClipWriter(target) as writer, ProcessPoolExecutor(processes) as pool:
        for file, pieces in zip(files, pool.map(_pieces, files, chunksize=16), strict=True):
            for start, signal in pieces:
                digest = fingerprint(signal)
                if digest in known:
                    continue
                known.add(digest)
                writer.add(
                    signal, path=file.name, package=file.package, licence=licences[file.package], label=file.label,
                    kind=file.kind, group=file.name, start=round(start, 2),
                )  # fmt: skip


def decode_recordings(folder: Path, target: Path, left_out: Collection[str] = ()) -> None:
    """Decode the licensed recordings listed in ``folder/manifest.csv``, except the files named in ``left_out``.

    ``label`` becomes ``class: caption``; ``group`` is the original recording, so that cuts of it stay together.
    """
    with (folder / "manifest.csv").open(newline="", encoding="utf-8") as table, ClipWriter(target) as writer:
        for row in csv.DictReader(table):
            if Path(row["file"]).name in left_out:
                continue
            for start, signal in cuts(folder / row["file"]):
                writer.add(
                    signal, path=row["file"], package=row["source_repo"], licence=row["licence"],
                    label=f"{row['class']}: {row['label']}", kind="real",
                    group=recording_of(row), start=float(row["start"]) + start,
                )  # fmt: skip


def recording_of(row: dict[str, str]) -> str:
    """The original a recording was cut from: its Freesound id where known, else repository and path without a take."""
    if row["freesound_id"]:
        return f"freesound:{row['freesound_id']}"
    # Takes of one object (chair_1, chair_2) were recorded in one sitting.
    return f"{row['source_repo']}:{re.sub(r'[ _-]?[0-9]+$', '', os.path.splitext(row['path'])[0]).lower()}"


def copy_at_other_speeds(clips: ClipSet, target: Path, copies: dict[int, int], seed: int = SEED) -> None:
    """Write speed and pitch copies: ``copies`` maps a clip's index to how many are wanted.

    Every second copy is slower (0.72 to 0.92), the others faster (1.1 to 1.4); at most six seconds of each.
    """
    rng = np.random.default_rng(seed)
    audio = clips.audio()
    with ClipWriter(target) as writer:
        for index, wanted in copies.items():
            row = clips.rows[index]
            for turn in range(wanted):
                speed = float(rng.uniform(*(SLOWER if (turn + index) % 2 else FASTER)))
                length = min(row.samples, int(COPY_SECONDS * SAMPLE_RATE * speed))
                first = row.offset + int(rng.integers(row.samples - length + 1))
                piece = np.asarray(audio[first : first + length], np.float32) / 32768
                signal = soxr.resample(piece, SAMPLE_RATE * speed, SAMPLE_RATE, "MQ")
                writer.add(
                    to_int16(signal), path=f"{row.path}#x{speed:.2f}", package=row.package, licence=row.licence,
                    label=row.label, kind=row.kind, group=row.group, start=row.start,
                )  # fmt: skip


def copies_wanted(clips: ClipSet, held: Collection[str]) -> dict[int, int]:
    """How many speed copies each clip of a set deserves: the rarer its class, the more; music and speech none.

    Recordings of a class with 5 clips get six, with 60 clips two; effects whose name says something two, others one.
    """
    sizes = Counter(row.label.partition(":")[0] for row in clips.rows if row.kind == "real")
    wanted = {}
    for index, row in enumerate(clips.rows):
        if is_held(row, held) or row.kind not in ("real", "effect"):
            continue
        if row.kind == "real":
            wanted[index] = int(np.clip(round(14 / np.sqrt(sizes[row.label.partition(":")[0]])), 2, 6))
        else:
            wanted[index] = 2 if concepts_of(row).concepts else 1
    return wanted


def scarce_copies_wanted(clips: ClipSet, sizes: Mapping[str, int], held: Collection[str]) -> dict[int, int]:
    """How many further copies a set's clips of scarce everyday sounds deserve.

    ``sizes`` counts the source clips of every concept over all sets; a concept of at most SCARCE clips gets about
    SCARCE_COPIES in all, and a clip at most MOST_COPIES.
    """
    wanted = {}
    for index, row in enumerate(clips.rows):
        concepts = concepts_of(row).concepts
        if not concepts or row.kind not in ("real", "effect") or is_held(row, held):
            continue
        if concepts[0] in EVERYDAY and sizes[concepts[0]] <= SCARCE:
            wanted[index] = min(MOST_COPIES, round(SCARCE_COPIES / sizes[concepts[0]]))
    return wanted


def sources_of_concepts(sets: Iterable[ClipSet], held: Collection[str]) -> Counter[str]:
    """How many recordings and effects of the sets name each concept first."""
    sizes: Counter[str] = Counter()
    for clips in sets:
        for row in clips.rows:
            if row.kind in ("real", "effect") and not is_held(row, held):
                sizes.update(concepts_of(row).concepts[:1])
    return sizes


def write_mels(clips: ClipSet) -> None:
    """Write ``mel.f16`` and ``mel.npy`` of a set: log-mel frames exactly as the encoder computes them."""
    counts = []
    with atomic_write(clips.directory / "mel.f16") as part, part.open("wb") as frames:
        for signal in clips.signals():
            mel = log_mel(torch.from_numpy(signal.astype(np.float32) / 32768)[None])[0].numpy()
            frames.write(mel.astype(np.float16).tobytes())
            counts.append(len(mel))
    np.save(clips.directory / "mel.npy", index_of(counts))


def licences_named(package: Path) -> str:
    """The licences that a package's Debian copyright file names, most frequent first.

    Named in the file, not proved for each sound: the card says so too.
    """
    found: Counter[str] = Counter()
    for path in sorted(package.glob("usr/share/doc/*/copyright")):
        text = path.read_text(encoding="utf-8", errors="ignore")
        found.update(name.strip()[:40] for name in re.findall(r"^License:[ \t]*(\S.*)$", text, re.M))
        if not found:
            families = ("GPL-3", "GPL-2", "GPL", "LGPL", "CC-BY-SA", "CC-BY", "CC0", "public domain", "MIT", "BSD")
            found.update(f"{name} (free text)" for name in families if re.search(re.escape(name), text, re.I))
    return "; ".join(name for name, _ in found.most_common(8))


def _pieces(file: SourceFile) -> list[tuple[float, NDArray[np.int16]]]:
    return list(cuts(file.path, music=file.kind == "music"))
