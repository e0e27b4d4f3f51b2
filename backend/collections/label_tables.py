"""Tables of clips: which sounds each has, what is said of it, and which file it is. The only reader of them.

A ranking (:mod:`backend.collections.layouts`) and an analysis of combinations (:func:`read_labels`) read the
same rows by the same rules:

- **Columns** are told apart by the header, whatever its case: ESC-50, FSD50K, Clotho, AudioCaps, CHiME-Home, else a
  plain table with any of ``ID_COLUMNS`` and, where there are labels, any of ``LABEL_COLUMNS``. A column name that
  stands there twice is refused.
- **Cells** are text in UTF-8; columns are separated by comma, tab or semicolon, labels by semicolons (FSD50K: commas).
  A row with more cells than the header is refused with its number; a short row lacks its last cells.
- **Labels** are composed (NFC), with single spaces, each once. ESC-50's are said in words; FSD50K's stay as
  its ontology writes them, and a ranking says them in words.
- **Sounds** are found by :class:`backend.collections.sound_files.SoundFinder`: the row's path, else the one file
  below the table's folder that ends in it.

What a row must have depends on the use: an analysis needs a label in every row and refuses a missing sound, a ranking
lists the rows whose sound is missing and goes on. Ids are shown as written, and compared without an audio suffix.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from backend.collections.csv_table import AUDIO_SUFFIXES, CsvTable, Row, columns_found, read_table
from backend.errors import InputError

FILE_COLUMNS = ("path", "file", "filename", "file_name", "fname", "chunkname")
ID_COLUMNS = ("id", "ids", "clip", "clip_id", *FILE_COLUMNS, "name")
LABEL_COLUMNS = ("labels", "label", "sources")
MAJORITY_COLUMNS = ("majorityvote", "majority_vote", "majority")
CHIME_CLASSES = {
    "c": "child speech",
    "m": "adult male speech",
    "f": "adult female speech",
    "v": "video game or television",
    "p": "percussive sound",
    "b": "broadband noise",
    "o": "other identifiable sound",
}
"""The seven content classes of CHiME-Home; S (silence) and U (unidentifiable) are no content."""
CLOTHO_CAPTIONS = tuple(f"caption_{number}" for number in range(1, 6))


@dataclass(frozen=True)
class TableClip:
    """One row of a table of clips.

    Attributes
    ----------
    place : str
        Where it stands, for messages: ``labels.csv row 7``.
    id : str
        As the table writes it; empty where the row names no clip.
    files : tuple of str
        What its sound may be called, best first.
    labels, captions : tuple of str
        Each label once, in order; empty where the row has none.
    codes : tuple of str
        AudioSet id (mid) of each label, where the table has them.
    width : int
        How many cells the row has.
    """

    place: str
    id: str
    files: tuple[str, ...]
    labels: tuple[str, ...] = ()
    captions: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    width: int = 0


@dataclass(frozen=True)
class ClipTable:
    """The rows of one table, and which layout its header has."""

    name: str
    layout: str
    columns: tuple[str, ...]
    clips: tuple[TableClip, ...]

    @property
    def has_labels(self) -> bool:
        """Whether the header has a column of labels."""
        return self.layout == "esc50" or _any_of(self.columns, (*LABEL_COLUMNS, *MAJORITY_COLUMNS))


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Labels by clip.

    Attributes
    ----------
    labels : dict of str to frozenset of str
        By clip id, in the order of the file; ids as :func:`clip_key` writes them.
    rows : dict of str to str
        Where each id stands, for messages: ``labels.csv row 7``.
    codes : dict of str to str
        AudioSet id (mid) of each label, where the table has them.
    layout : str
        ``fsd50k``, ``esc50``, ``chime-home`` or ``plain``.
    empty : tuple of str
        CHiME-Home chunks whose majority has no content label; they belong to no combination.
    files : dict of str to tuple of str
        What the sound of each clip may be called.
    """

    labels: dict[str, frozenset[str]]
    rows: dict[str, str]
    codes: dict[str, str]
    layout: str
    empty: tuple[str, ...] = ()
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read_clips(path: str | Path) -> ClipTable:
    """Read a table of clips of any layout.

    Raises
    ------
    InputError
        It cannot be read, or its header is of no known layout.
    """
    path = Path(path)
    table = read_table(path)
    columns = set(table.columns)
    layout, read = next(((name, read) for name, fits, read in LAYOUTS if fits(columns)), ("", None))
    if read is None:
        raise InputError(
            f"{path.name} is no table of clips: {columns_found(table.columns)}. It needs an id or path column "
            f"({', '.join((*ID_COLUMNS[:6], 'fname'))}) and labels (or majorityvote for CHiME-Home), or the columns of "
            "ESC-50, FSD50K, Clotho or AudioCaps; a collection may also be a folder of sounds, embeddings are .npz or "
            ".parquet.",
            concerns="file",
        )
    return ClipTable(path.name, layout, table.columns, tuple(read(row) for row in table.rows()))


def read_labels(paths: str | Path | Sequence[str | Path]) -> LabelTable:
    """Read one or more label tables (or CHiME-Home's folder of chunk files) as one.

    A clip that is listed twice must have the same labels.

    Raises
    ------
    InputError
        A table cannot be read, has no labels, or a row has no id or no label.
    """
    if isinstance(paths, str | Path):
        paths = [paths]
    tables = [_chunk_files(Path(path)) if Path(path).is_dir() else read_clips(path) for path in paths]
    if not tables:
        raise InputError("No label table was given; name a CSV with the columns id and labels (--labels CSV).")
    merged = LabelTable({}, {}, {}, tables[0].layout)
    for table in tables:
        found = _labels_of(table)
        for clip, names in found.labels.items():
            _add(merged, clip, names, found.rows[clip])
        merged = replace(
            merged,
            codes={**merged.codes, **found.codes},
            empty=merged.empty + found.empty,
            files={**merged.files, **found.files},
        )
    return merged


def clip_key(clip: str) -> str:
    """A clip's name without an audio suffix, so that ``64760`` finds ``64760.wav``."""
    name = unicodedata.normalize("NFC", clip.strip())
    return name[: -len(PurePosixPath(name).suffix)] if name.lower().endswith(AUDIO_SUFFIXES) else name


def class_label(name: str) -> str:
    """A class folder's or label column's name as words: ``001 - Dog bark`` and ``dog_bark`` are "dog bark"."""
    words = re.sub(r"^\d+\s*[-_.]\s*", "", name).replace("_", " ").replace("-", " ")
    return " ".join(words.split()).lower()


def _labels_of(table: ClipTable) -> LabelTable:
    """The rows of one table by id, each with at least one label."""
    found = LabelTable({}, {}, {}, table.layout)
    files: dict[str, tuple[str, ...]] = {}
    empty: list[str] = []
    if not table.has_labels:
        raise InputError(
            f"{table.name} is no label table: {columns_found(table.columns)}. A table needs an id column "
            f"({', '.join(ID_COLUMNS[:6])} or fname) and labels (or majorityvote for CHiME-Home).",
            concerns="file",
        )
    chime = table.layout == "chime-home"
    for row in table.clips:
        clip = clip_key(row.id)
        if row.width < len(table.columns) and not (clip and row.labels) and not chime:
            raise InputError(
                f"{row.place} has {row.width} column{'s' if row.width != 1 else ''}; the header asks for "
                f"{len(table.columns)}. Quote cells that contain commas.",
                concerns="file",
            )
        if not clip:
            named = "chunk name" if chime else "clip id"
            raise InputError(f"{row.place} has no {named}. Fill it in or delete the row.", concerns="file")
        if not row.labels and chime:
            empty.append(clip)
            continue
        if not row.labels:
            raise InputError(
                f"{row.place}: clip {clip!r} has no label; every clip needs at least one. Label it or delete the row.",
                concerns="file",
            )
        _add(found, clip, frozenset(row.labels), row.place)
        files[clip] = row.files
        found.codes.update(zip(row.labels, row.codes, strict=False))
    if not found.labels:
        raise InputError(f"{table.name} has no labelled clip; it needs a row per clip.", concerns="file")
    return replace(found, empty=tuple(empty), files=files)


def _add(table: LabelTable, clip: str, names: frozenset[str], place: str) -> None:
    if table.labels.get(clip, names) != names:
        raise InputError(
            f"{place}: clip {clip!r} has other labels than in {table.rows[clip]}; a clip has one set of labels. "
            f"Delete one of the rows.",
            concerns="file",
        )
    table.labels[clip] = names
    table.rows.setdefault(clip, place)


def _chunk_files(folder: Path) -> ClipTable:
    """CHiME-Home's own layout: one ``key,value`` file a chunk, with the key ``majorityvote``."""
    clips = []
    for path in sorted(folder.glob("*.csv")):
        values = _pairs(read_table(path))
        if "majorityvote" not in values:
            raise InputError(
                f"{path.name} has no row majorityvote; a folder of labels must be CHiME-Home's chunk files. "
                f"Give a CSV with the columns id and labels instead.",
                concerns="file",
            )
        clips.append(TableClip(path.name, path.stem, (path.stem,), _majority(values["majorityvote"], path.name)))
    return ClipTable(folder.name, "chime-home", ("chunkname", "majorityvote"), tuple(clips))


def _pairs(table: CsvTable) -> dict[str, str]:
    """A table without a header: its first two columns, the first of them in lower case."""
    rows = [table.columns, *(tuple(row.cells.values()) for row in table.rows())]
    return {row[0].lower(): row[1] for row in rows if len(row) > 1}


def _majority(letters: str, place: str) -> tuple[str, ...]:
    unknown = sorted(set(letters) - set(CHIME_CLASSES) - set("SU ,;"))
    if unknown:
        raise InputError(
            f"{place}: the majority vote {letters!r} has the letter {unknown[0]!r}; "
            f"CHiME-Home uses {', '.join(CHIME_CLASSES)}, S and U.",
            concerns="file",
        )
    return tuple(dict.fromkeys(CHIME_CLASSES[letter] for letter in letters if letter in CHIME_CLASSES))


def _labels(text: str, mark: str = ";") -> tuple[str, ...]:
    parts = (" ".join(unicodedata.normalize("NFC", part).split()) for part in text.split(mark))
    return tuple(dict.fromkeys(part for part in parts if part))


def _chime_row(row: Row) -> TableClip:
    name = row.first(ID_COLUMNS)
    return TableClip(row.place, name, (name,), _majority(row.first(MAJORITY_COLUMNS), row.place), width=row.width)


def _esc50_row(row: Row) -> TableClip:
    label = class_label(row.cells["category"])
    name = row.cells["filename"]
    return TableClip(row.place, name, (name,), (label,) if label else (), width=row.width)


def _fsd50k_row(row: Row) -> TableClip:
    name = clip_key(row.cells["fname"])
    labels, codes = _labels(row.first(LABEL_COLUMNS), ","), _labels(row.cells.get("mids", ""), ",")
    codes = codes if len(codes) == len(labels) else ()
    return TableClip(row.place, name, (name,), labels, codes=codes, width=row.width)


def _clotho_row(row: Row) -> TableClip:
    name = row.cells["file_name"]
    captions = tuple(caption for column in CLOTHO_CAPTIONS if (caption := row.cells.get(column, "")))
    return TableClip(row.place, name, (name,), captions=captions, width=row.width)


def _audiocaps_row(row: Row) -> TableClip:
    video, start, number = (row.cells.get(column, "") for column in ("youtube_id", "start_time", "audiocap_id"))
    stems = (video, f"Y{video}", f"{video}_{start}", f"Y{video}_{start}", number)
    files = tuple(stem + suffix for stem in stems if stem for suffix in (".wav", ".flac", ".ogg", ".mp3", ".m4a"))
    captions = (row.cells["caption"],) if row.cells["caption"] else ()
    return TableClip(row.place, number or f"{video}_{start}", files, captions=captions, width=row.width)


def _plain_row(row: Row) -> TableClip:
    labels = _labels(row.first(LABEL_COLUMNS))
    caption = row.cells.get("caption", "") or " and ".join(labels)
    name = row.first(ID_COLUMNS)
    files = tuple(file for file in (row.first(FILE_COLUMNS) or name,) if file)
    return TableClip(row.place, name, files, labels, (caption,) if caption else (), width=row.width)


def _any_of(columns: Iterable[str], names: Iterable[str]) -> bool:
    return not set(columns).isdisjoint(names)


LAYOUTS: tuple[tuple[str, Callable[[set[str]], bool], Callable[[Row], TableClip]], ...] = (
    ("chime-home", lambda has: _any_of(has, MAJORITY_COLUMNS) and _any_of(has, ID_COLUMNS), _chime_row),
    ("esc50", lambda has: {"filename", "target", "category"} <= has, _esc50_row),
    ("fsd50k", lambda has: "fname" in has and _any_of(has, LABEL_COLUMNS), _fsd50k_row),
    ("clotho", lambda has: {"file_name", "caption_1"} <= has, _clotho_row),
    ("audiocaps", lambda has: {"youtube_id", "caption"} <= has, _audiocaps_row),
    (
        "plain",
        lambda has: "path" in has or (_any_of(has, ID_COLUMNS) and _any_of(has, (*LABEL_COLUMNS, "caption"))),
        _plain_row,
    ),
)
"""The layouts of tables: name, which header has it, how a row is read. The first that fits is meant."""
