"""What an analysis can be made of: the demo scenes, ready embeddings, or sounds with labels and an encoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.audio import Clip, load_clip
from backend.collections import demo_scenes
from backend.collections.collection import Collection, Item
from backend.collections.csv_table import AUDIO_SUFFIXES
from backend.collections.demo import DEMO
from backend.collections.demo_scenes import DEMO_SCENES
from backend.collections.label_options import LabelOptions, with_options
from backend.collections.label_tables import LabelTable, read_labels
from backend.collections.ready import SUFFIXES, read_embeddings
from backend.collections.sound_files import SoundFinder, sound_folders
from backend.collections.store import embed_collection
from backend.composition.combinations import LabelledEmbeddings
from backend.encoders.base import Encoder
from backend.errors import InputError
from backend.files import sha256_of
from backend.progress import Progress
from backend.reports.provenance import provenance
from backend.settings import COMMAND

MOST_COMBINATIONS, MOST_SOURCES = 3000, 1000
"""What the page computes at most (own choice); FSD50K has 1,289 of 200."""

Sound = Callable[[str], Clip]


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
    """Labelled embeddings of the demo scenes, an ``.npz`` or ``.parquet``, a folder, or a CSV that lists sounds.

    Parameters
    ----------
    name
        ``demo-scenes``, here also called ``demo`` (the demo collection's single recordings make no combinations);
        ready embeddings; a folder, searched for audio files; or a table of clips that lists files beside it.
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
    if str(name) in (DEMO_SCENES, DEMO):
        return _load_demo(_needed(encoder), labels, options, progress)
    path = Path(name)
    if not str(name).strip():
        raise InputError(f"No collection was named; name embeddings, a folder of sounds, a CSV, or {DEMO_SCENES}.")
    if not path.exists():
        raise InputError(
            f"There is no file or folder {str(name)!r}. Name an .npz or .parquet of embeddings, a folder of sounds, "
            f"a CSV that lists sounds, or {DEMO_SCENES}.",
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
        raise InputError("The demo scenes have their own labels; leave --labels out.")
    data = demo_scenes.embedded_scenes(encoder, progress)
    data, notes = with_options(data, options, {})
    made_by = _provenance(DEMO_SCENES, sha256_of(demo_scenes.RECIPES)[:12], (), encoder, "recipes", options)
    return Source(data, made_by, notes, lambda clip: demo_scenes.render(demo_scenes.recipe(clip)))


def _load_ready(
    path: Path, labels: Sequence[str | Path], encoder: Encoder | None, options: LabelOptions, memory: int | None
) -> Source:
    ids, embeddings = read_embeddings(path, memory=memory)
    table = read_labels(labels)
    rows, sets, notes = match(ids, table, subset=options.subset)
    kept = embeddings if len(rows) == len(ids) else embeddings[rows]
    data = LabelledEmbeddings(tuple(ids[row] for row in rows), kept, sets)
    data, more = with_options(data, options, table.codes)
    made_by = _provenance(path.name, sha256_of(path)[:12], labels, encoder, table.layout, options)
    return Source(data, made_by, notes + more)


def _load_sounds(
    path: Path, labels: Sequence[str | Path], encoder: Encoder, options: LabelOptions, progress: Progress | None
) -> Source:
    table = read_labels(labels or ([] if path.is_dir() else [path]))
    finder = SoundFinder((path,) if path.is_dir() else sound_folders(path, table.layout))
    found = {clip: file for clip, names in table.files.items() if (file := finder.find(names))}
    if not found and not finder.files:
        raise InputError(f"{path} holds no audio file ({', '.join(AUDIO_SUFFIXES[:5])} …).", concerns="file")
    if not found:
        raise InputError(
            f"No label row names a sound in {path}: the labels have, for example, {next(iter(table.labels))!r}, the "
            f"folder {next(iter(finder.files))!r}. Write them the same way.",
            concerns="file",
        )
    missing = [clip for clip in table.labels if clip not in found]
    if missing and not options.subset:
        raise InputError(
            f"{table.rows[missing[0]]}: there is no sound file for {missing[0]!r} ({len(missing)} such rows in all). "
            f"Use --subset to analyse only the clips that are there.",
            concerns="file",
        )
    notes: tuple[str, ...] = ()
    if missing:
        notes += (f"{len(missing)} labelled clips have no sound file and were left out.",)
    items = tuple(Item(clip, file, labels=tuple(sorted(table.labels[clip]))) for clip, file in found.items())
    # Whole clips are all that is looked at, so no window is embedded.
    embedded = embed_collection(
        Collection(path.name, table.layout, items), encoder, window=None, progress=progress, noun="sound"
    )
    if embedded.skipped and not options.subset:
        raise InputError(
            f"The sound of {embedded.skipped[0].row!r} cannot be used: {embedded.skipped[0].reason} "
            f"({len(embedded.skipped)} such sounds in all.) Use --subset to analyse only the others.",
            concerns="file",
        )
    if embedded.skipped:
        notes += (f"{len(embedded.skipped)} sounds cannot be decoded and were left out.",)
    sets = tuple(table.labels[clip] for clip in embedded.ids)
    data, more = with_options(LabelledEmbeddings(embedded.ids, embedded.clips, sets), options, table.codes)
    made_by = _provenance(path.name, None, labels, encoder, table.layout, options)
    return Source(data, made_by, notes + more, lambda clip: load_clip(found[clip]), found)


def match(
    ids: tuple[str, ...], table: LabelTable, *, subset: bool = False
) -> tuple[NDArray[np.int64], tuple[frozenset[str], ...], tuple[str, ...]]:
    """Rows of the embeddings to use, their label sets, and sentences about what was left out.

    Raises
    ------
    InputError
        An id of the table has no embedding, or an embedding no labels, and ``subset`` is not set.
    """
    position = {name: row for row, name in enumerate(ids)}
    unknown = [name for name in table.labels if name not in position]
    empty = set(table.empty)
    missing = [name for name in ids if name not in table.labels and name not in empty]
    labelled = (*table.labels, *table.empty)
    if set(ids).isdisjoint(labelled):
        raise InputError(
            f"None of the {len(ids)} ids of the embeddings is among the {len(labelled)} ids of the labels: the "
            f"embeddings have, for example, {ids[0]!r}, the labels {labelled[0]!r}. Write them the same way in both.",
            concerns="file",
        )
    hint = "Take out what only one file has; on the command line, --subset leaves it out for you."
    if unknown and not subset:
        raise InputError(
            f"{table.rows[unknown[0]]}: the id {unknown[0]!r} has no embedding ({len(unknown)} such "
            f"id{'s' if len(unknown) != 1 else ''} in all). {hint}",
            concerns="file",
        )
    if missing and not subset:
        raise InputError(
            f"Embedding row {position[missing[0]] + 1}: the clip {missing[0]!r} has no labels ({len(missing)} such "
            f"clip{'s' if len(missing) != 1 else ''} in all). {hint}",
            concerns="file",
        )
    rows = np.array([row for row, name in enumerate(ids) if name in table.labels], dtype=np.int64)
    if not len(rows):
        raise InputError(
            "No clip has both an embedding and a label: all ids that the two files share have empty labels.",
            concerns="file",
        )
    notes = []
    if empty & set(ids):
        notes.append(f"{len(empty & set(ids))} clips without a content label were left out.")
    if unknown:
        notes.append(f"{len(unknown)} labelled clips have no embedding and were left out.")
    if missing:
        notes.append(f"{len(missing)} embeddings have no labels and were left out.")
    return rows, tuple(table.labels[ids[row]] for row in rows), tuple(notes)


def _provenance(
    name: str,
    digest: str | None,
    labels: Sequence[str | Path],
    encoder: Encoder | None,
    layout: str,
    options: LabelOptions,
) -> dict[str, Any]:
    """Where the numbers come from; file names only, for a path says more about a machine than about the data."""
    made_by = (None, None) if encoder is None else (encoder.id, encoder.weights)
    return provenance(
        *made_by,
        collection=name,
        collection_sha256=digest,
        labels=[{"file": Path(path).name, "sha256": _digest_or_none(path)} for path in labels],
        label_layout=layout,
        ancestors=options.ancestors,
        hierarchy=Path(options.hierarchy).name or None,
        without=list(options.without),
    )


def _digest_or_none(path: str | Path) -> str | None:
    return sha256_of(path)[:12] if Path(path).is_file() else None
