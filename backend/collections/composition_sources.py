"""What an analysis can be made of: the demo set, ready embeddings, or sounds with labels and an encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend import __version__
from backend.audio import Clip, load_clip, sliding_windows
from backend.collections import demo_scenes as demo
from backend.collections.hierarchy import INFERRED, inferred_hierarchy, read_hierarchy, without_ancestors
from backend.collections.label_tables import AUDIO_SUFFIXES, clip_key, read_labels
from backend.collections.ready_embeddings import SUFFIXES, match, read_embeddings
from backend.composition.baselines import Progress
from backend.composition.combinations import LabelledEmbeddings, names_of
from backend.encoders.base import Encoder
from backend.encoders.cached import window_embeddings
from backend.errors import InputError
from backend.files import sha256_of
from backend.settings import COMMAND

DEMO = "demo"
LONGEST_WINDOW = 10.0
"""A longer sound is embedded as the mean of windows of this many seconds, side by side (own choice)."""
MOST_COMBINATIONS, MOST_SOURCES = 3000, 1000
"""What the page computes at most (own choice); FSD50K has 1,289 of 200."""

Sound = Callable[[str], Clip]


@dataclass(frozen=True)
class LabelOptions:
    """How labels are read.

    Attributes
    ----------
    ancestors : "keep" or "drop"
        Whether a label stays where a descendant of it is present.
    hierarchy : str
        Path of ontology.json or a CSV child,parent; ``inferred`` from co-occurrence; needed to drop.
    without : tuple of str
        Labels left out everywhere.
    subset : bool
        Use only clips that have both an embedding and labels, instead of refusing.
    """

    ancestors: str = "keep"
    hierarchy: str = ""
    without: tuple[str, ...] = ()
    subset: bool = False


@dataclass(frozen=True, eq=False)
class Source:
    """Labelled embeddings, how they came about, and how each clip sounds (None where only numbers are known)."""

    data: LabelledEmbeddings
    provenance: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    sound: Sound | None = None
    files: Mapping[str, Path] = field(default_factory=dict)


def load_source(
    name: str | Path,
    labels: Sequence[str | Path] = (),
    encoder: Encoder | None = None,
    *,
    options: LabelOptions | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> Source:
    """Labelled embeddings of ``demo``, an ``.npz`` or ``.parquet``, a folder of sounds, or a CSV that lists sounds.

    Parameters
    ----------
    name
        ``demo``; ready embeddings; a folder, searched for audio files; or a CSV whose first column names
        files beside it.
    labels
        Label tables. A CSV that lists sounds and has a ``labels`` column needs none.
    encoder
        Embeds the sounds; only named in the provenance where embeddings are ready (None if unknown).

    Raises
    ------
    InputError
        Anything that cannot be used: files, ids, labels, sounds, or too little memory.
    """
    options = options or LabelOptions()
    if str(name) == DEMO and not Path(DEMO).exists():
        return _load_demo(_needed(encoder), labels, options, progress)
    path = Path(name)
    if not str(name).strip():
        raise InputError(f"No collection was named; name embeddings, a folder of sounds, a CSV, or {DEMO!r}.")
    if not path.exists():
        raise InputError(
            f"There is no file or folder {str(name)!r}. Name an .npz or .parquet of embeddings, a folder of sounds, "
            f"a CSV that lists sounds, or {DEMO!r}.",
            concerns="file",
        )
    if path.suffix.lower() in SUFFIXES:
        return _load_ready(path, labels, encoder, options, memory)
    return _load_sounds(path, labels, _needed(encoder), options, progress)


def refuse_large(data: LabelledEmbeddings) -> None:
    """Refuse, by InputError, what would keep a shared server busy for minutes."""
    combinations = len(set(data.labels))
    sources = len({name for labels in data.labels for name in labels})
    if combinations > MOST_COMBINATIONS or sources > MOST_SOURCES:
        raise InputError(
            f"{combinations:,} combinations of {sources:,} sources are more than the page computes "
            f"({MOST_COMBINATIONS:,} of {MOST_SOURCES:,}). Use {COMMAND} compose, which has no such bound.",
            concerns="file",
        )


def _needed(encoder: Encoder | None) -> Encoder:
    if encoder is None:
        raise InputError("Sounds need an encoder to embed them; name one with --encoder, for example pocket.")
    return encoder


def _load_demo(
    encoder: Encoder, labels: Sequence[str | Path], options: LabelOptions, progress: Progress | None
) -> Source:
    if labels:
        raise InputError("The demo set has its own labels; leave --labels out.")
    data = demo.embedded_demo(encoder, progress)
    data, notes = _with_options(data, options, {})
    provenance = _provenance(DEMO, sha256_of(demo.RECIPES)[:12], (), encoder, "recipes", options)
    return Source(data, provenance, notes, lambda clip: demo.render(demo.recipe(clip)))


def _load_ready(
    path: Path, labels: Sequence[str | Path], encoder: Encoder | None, options: LabelOptions, memory: int | None
) -> Source:
    ids, embeddings = read_embeddings(path, memory=memory)
    table = read_labels(labels)
    rows, sets, notes = match(ids, table, subset=options.subset)
    kept = embeddings if len(rows) == len(ids) else embeddings[rows]
    data = LabelledEmbeddings(tuple(ids[row] for row in rows), kept, sets)
    data, more = _with_options(data, options, table.codes)
    provenance = _provenance(path.name, sha256_of(path)[:12], labels, encoder, table.layout, options)
    return Source(data, provenance, notes + more)


def _load_sounds(
    path: Path, labels: Sequence[str | Path], encoder: Encoder, options: LabelOptions, progress: Progress | None
) -> Source:
    if path.is_dir():
        files = _files_of(path)
        table = read_labels(labels)
    else:
        table = read_labels(labels or [path])
        files = _files_of(path.parent)
    if not files:
        raise InputError(f"{path} holds no audio file ({', '.join(AUDIO_SUFFIXES[:5])} …).", concerns="file")
    found = {clip: files[key] for clip in table.labels if (key := clip if clip in files else Path(clip).name) in files}
    missing = [clip for clip in table.labels if clip not in found]
    if not found:
        raise InputError(
            f"No label row names a sound in {path}: the labels have, for example, {next(iter(table.labels))!r}, the "
            f"folder {next(iter(files))!r}. Write them the same way.",
            concerns="file",
        )
    if missing and not options.subset:
        raise InputError(
            f"{table.rows[missing[0]]}: there is no sound file for {missing[0]!r} ({len(missing)} such rows in all). "
            f"Use --subset to analyse only the clips that are there.",
            concerns="file",
        )
    notes = (f"{len(missing)} labelled clips have no sound file and were left out.",) if missing else ()
    ids = tuple(found)
    embeddings = np.empty((len(ids), encoder.dim), dtype=np.float32)
    for row, clip in enumerate(ids):
        embeddings[row] = clip_embedding(encoder, load_clip(found[clip]))
        if progress is not None:
            progress(f"Embedding sound {row + 1} of {len(ids)}", (row + 1) / len(ids))
    data = LabelledEmbeddings(ids, embeddings, tuple(table.labels[clip] for clip in ids))
    data, more = _with_options(data, options, table.codes)
    provenance = _provenance(path.name, None, labels, encoder, table.layout, options)
    return Source(data, provenance, notes + more, lambda clip: load_clip(found[clip]), found)


def clip_embedding(encoder: Encoder, clip: Clip) -> NDArray[np.float32]:
    """One unit vector (D,) for a sound: one window of its whole length, or the mean of 10 s windows."""
    windows = sliding_windows(clip.duration, LONGEST_WINDOW, LONGEST_WINDOW)
    mean = window_embeddings(encoder, clip, windows).mean(axis=0)
    length = float(np.linalg.norm(mean))
    return mean / length if length > 0 else mean


def _files_of(folder: Path) -> dict[str, Path]:
    """Audio files under a folder by relative path without suffix and, where it is unambiguous, by bare name."""
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in AUDIO_SUFFIXES and path.is_file()]
    relative = {clip_key(path.relative_to(folder).as_posix()): path for path in paths}
    bare: dict[str, Path] = {}
    twice = set()
    for path in paths:
        name = clip_key(path.name)
        if name in bare:
            twice.add(name)
        bare[name] = path
    return {name: path for name, path in bare.items() if name not in twice} | relative


def _with_options(
    data: LabelledEmbeddings, options: LabelOptions, codes: Mapping[str, str]
) -> tuple[LabelledEmbeddings, tuple[str, ...]]:
    """Drop ancestors and unwanted labels; clips left without a label go, and a sentence says so."""
    if options.ancestors not in ("keep", "drop"):
        raise InputError(f"--ancestors is {options.ancestors!r}; it must be keep or drop.")
    sets: Iterable[frozenset[str]] = data.labels
    if options.ancestors == "drop":
        if not options.hierarchy:
            raise InputError(
                "Dropping ancestor labels needs to know the hierarchy: give --hierarchy ontology.json, a CSV "
                "child,parent, or the word inferred."
            )
        inferred = options.hierarchy == INFERRED
        parents = inferred_hierarchy(sets) if inferred else read_hierarchy(options.hierarchy, codes)
        sets = [without_ancestors(labels, parents) for labels in sets]
    known = {name for labels in data.labels for name in labels}
    without = names_of(options.without, "The labels to leave out")
    for name in without:
        if name not in known:
            raise InputError(f"--without {name!r}: no clip has that label. There are {_some_of(known)}.")
    sets = tuple(frozenset(labels - set(without)) for labels in sets)
    kept = np.array([row for row, labels in enumerate(sets) if labels], dtype=np.int64)
    if not len(kept):
        raise InputError("No label is left after leaving labels out.")
    if len(kept) == len(sets):
        return LabelledEmbeddings(data.ids, data.embeddings, sets), ()
    note = f"{len(sets) - len(kept)} clips lost all their labels and were left out."
    ids, left = tuple(data.ids[row] for row in kept), tuple(sets[row] for row in kept)
    return LabelledEmbeddings(ids, data.embeddings[kept], left), (note,)


def _some_of(names: Iterable[str]) -> str:
    """The first labels, for a message."""
    listed = sorted(names)
    return ", ".join(listed[:8]) + (f" and {len(listed) - 8} more" if len(listed) > 8 else "")


def _provenance(
    name: str,
    digest: str | None,
    labels: Sequence[str | Path],
    encoder: Encoder | None,
    layout: str,
    options: LabelOptions,
) -> dict[str, Any]:
    """Where the numbers come from; file names only, for a path says more about a machine than about the data."""
    return {
        "version": __version__,
        "collection": name,
        "collection_sha256": digest,
        "labels": [{"file": Path(path).name, "sha256": _digest_or_none(path)} for path in labels],
        "label_layout": layout,
        "ancestors": options.ancestors,
        "hierarchy": Path(options.hierarchy).name or None,
        "without": list(options.without),
        "encoder": None if encoder is None else encoder.id,
        "weights": None if encoder is None else encoder.weights,
    }


def _digest_or_none(path: str | Path) -> str | None:
    return sha256_of(path)[:12] if Path(path).is_file() else None
