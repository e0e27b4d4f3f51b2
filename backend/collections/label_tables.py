"""Label tables: which sounds each clip has. FSD50K, CHiME-Home and plain CSV, told apart by their header."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from backend.errors import InputError

AUDIO_SUFFIXES = (".wav", ".flac", ".ogg", ".mp3", ".m4a", ".aac", ".aiff", ".aif", ".opus", ".webm", ".mp4")
ID_COLUMNS = ("id", "ids", "clip", "clip_id", "file", "filename", "fname", "path", "chunkname", "name")
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
MOST_BYTES = 256 * 2**20


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Labels by clip.

    Attributes
    ----------
    labels : dict of str to frozenset of str
        By clip id, in the order of the file.
    rows : dict of str to str
        Where each id stands, for messages: ``labels.csv row 7``.
    codes : dict of str to str
        AudioSet id (mid) of each label, where the table has them.
    layout : str
        ``fsd50k``, ``chime-home`` or ``plain``.
    empty : tuple of str
        CHiME-Home chunks whose majority has no content label; they belong to no combination.
    """

    labels: dict[str, frozenset[str]]
    rows: dict[str, str]
    codes: dict[str, str]
    layout: str
    empty: tuple[str, ...] = ()


def read_labels(paths: str | Path | Sequence[str | Path]) -> LabelTable:
    """Read one or more label tables (or CHiME-Home's folder of chunk files) as one.

    Layouts: FSD50K has ``fname`` and ``labels`` separated by commas (``mids`` and ``split`` beside);
    CHiME-Home has ``majorityvote`` with one letter a label; everything else has an id column
    and ``labels`` separated by semicolons. A clip that is listed twice must have the same labels.

    Raises
    ------
    InputError
        A table cannot be read, has no such columns, or a row has no id or no label.
    """
    if isinstance(paths, str | Path):
        paths = [paths]
    tables = [_read_folder(Path(path)) if Path(path).is_dir() else _read_table(Path(path)) for path in paths]
    if not tables:
        raise InputError("No label table was given; name a CSV with the columns id and labels (--labels CSV).")
    merged = tables[0]
    for table in tables[1:]:
        labels, rows = dict(merged.labels), dict(merged.rows)
        for clip, names in table.labels.items():
            _add(labels, rows, clip, names, table.rows[clip])
        merged = replace(
            merged, labels=labels, rows=rows, codes={**merged.codes, **table.codes}, empty=merged.empty + table.empty
        )
    return merged


def clip_key(clip: str) -> str:
    """A clip's name without an audio suffix, so that ``64760`` finds ``64760.wav``."""
    name = unicodedata.normalize("NFC", clip.strip())
    return name[: -len(PurePosixPath(name).suffix)] if name.lower().endswith(AUDIO_SUFFIXES) else name


def _read_table(path: Path) -> LabelTable:
    rows = _rows(path)
    try:
        _, header = next(rows)
    except StopIteration:
        raise InputError(
            f"{path.name} is empty; a label table needs a header id,labels and a row per clip.", concerns="file"
        ) from None
    columns = {name.strip().lower(): index for index, name in reversed(list(enumerate(header)))}
    majority = next((columns[name] for name in MAJORITY_COLUMNS if name in columns), None)
    identity = next((columns[name] for name in ID_COLUMNS if name in columns), None)
    content = next((columns[name] for name in LABEL_COLUMNS if name in columns), majority)
    if identity is None or content is None:
        raise InputError(
            f"{path.name} is no label table: {columns_found(header)}. A table needs an id column "
            f"({', '.join(ID_COLUMNS[:4])} or fname) and labels (or majorityvote for CHiME-Home); embeddings are "
            ".npz or .parquet.",
            concerns="file",
        )
    if majority is not None:
        return _read_majority(path.name, rows, identity, majority)
    comma = "fname" in columns
    return _read_named(path.name, rows, identity, content, columns.get("mids") if comma else None, comma=comma)


def _read_named(
    name: str, rows: Iterator[tuple[int, list[str]]], identity: int, content: int, codes_at: int | None, *, comma: bool
) -> LabelTable:
    labels: dict[str, frozenset[str]] = {}
    places: dict[str, str] = {}
    codes: dict[str, str] = {}
    for line, row in rows:
        if len(row) <= max(identity, content):
            raise InputError(
                f"{name} row {line} has {len(row)} column{'s' if len(row) != 1 else ''}; the header asks for at least "
                f"{max(identity, content) + 1}. Quote cells that contain commas.",
                concerns="file",
            )
        clip = clip_key(row[identity])
        names = [part for part in (_clean(part) for part in row[content].split("," if comma else ";")) if part]
        if not clip:
            raise InputError(f"{name} row {line} has no clip id. Fill it in or delete the row.", concerns="file")
        if not names:
            raise InputError(
                f"{name} row {line}: clip {clip!r} has no label; every clip needs at least one. "
                f"Label it or delete the row.",
                concerns="file",
            )
        if codes_at is not None and codes_at < len(row):
            mids = [part.strip() for part in row[codes_at].split(",")]
            if len(mids) == len(names):
                codes.update(zip(names, mids, strict=True))
        _add(labels, places, clip, frozenset(names), f"{name} row {line}")
    return LabelTable(_some(labels, name), places, codes, "fsd50k" if comma else "plain")


def _read_majority(name: str, rows: Iterator[tuple[int, list[str]]], identity: int, majority: int) -> LabelTable:
    labels: dict[str, frozenset[str]] = {}
    places: dict[str, str] = {}
    empty = []
    for line, row in rows:
        if len(row) <= identity or not row[identity].strip():
            raise InputError(f"{name} row {line} has no chunk name. Fill it in or delete the row.", concerns="file")
        clip = clip_key(row[identity])
        names = _majority_labels(row[majority] if majority < len(row) else "", f"{name} row {line}")
        if names:
            _add(labels, places, clip, names, f"{name} row {line}")
        else:
            empty.append(clip)
    return LabelTable(_some(labels, name), places, {}, "chime-home", tuple(empty))


def _read_folder(folder: Path) -> LabelTable:
    """CHiME-Home's own layout: one ``key,value`` file a chunk, with the key ``majorityvote``."""
    labels: dict[str, frozenset[str]] = {}
    places: dict[str, str] = {}
    empty = []
    for path in sorted(folder.glob("*.csv")):
        values = {row[0].strip().lower(): row[1] for _, row in _rows(path) if len(row) > 1}
        if "majorityvote" not in values:
            raise InputError(
                f"{path.name} has no row majorityvote; a folder of labels must be CHiME-Home's chunk files. "
                f"Give a CSV with the columns id and labels instead.",
                concerns="file",
            )
        names = _majority_labels(values["majorityvote"], path.name)
        if names:
            _add(labels, places, clip_key(path.stem), names, path.name)
        else:
            empty.append(clip_key(path.stem))
    return LabelTable(_some(labels, folder.name), places, {}, "chime-home", tuple(empty))


def _majority_labels(letters: str, place: str) -> frozenset[str]:
    unknown = sorted(set(letters.strip()) - set(CHIME_CLASSES) - set("SU ,;"))
    if unknown:
        raise InputError(
            f"{place}: the majority vote {letters.strip()!r} has the letter {unknown[0]!r}; "
            f"CHiME-Home uses {', '.join(CHIME_CLASSES)}, S and U.",
            concerns="file",
        )
    return frozenset(CHIME_CLASSES[letter] for letter in letters if letter in CHIME_CLASSES)


def _add(
    labels: dict[str, frozenset[str]], places: dict[str, str], clip: str, names: frozenset[str], place: str
) -> None:
    if clip in labels and labels[clip] != names:
        raise InputError(
            f"{place}: clip {clip!r} has other labels than in {places[clip]}; a clip has one set of labels. "
            f"Delete one of the rows.",
            concerns="file",
        )
    labels[clip] = names
    places.setdefault(clip, place)


def _some(labels: dict[str, frozenset[str]], name: str) -> dict[str, frozenset[str]]:
    if not labels:
        raise InputError(f"{name} has no labelled clip; it needs a row per clip.", concerns="file")
    return labels


def delimiter_of(text: str) -> str:
    """What separates the columns of a table: a comma, or the tab or semicolon that its header has instead."""
    header = text.partition("\n")[0]
    return next((mark for mark in (",", "\t", ";") if mark in header), ",")


def columns_found(header: Sequence[str]) -> str:
    """What a table's first line holds instead of the columns that are needed, for a message."""
    named = [" ".join(name.split()) for name in header if name.strip()]
    if not named or not any(character.isalnum() for name in named for character in name):
        return "its first line names no columns"
    shown = ", ".join(name[:40] for name in named[:8]) + (" …" if len(named) > 8 else "")
    return f"its first line is “{shown}”" if len(named) == 1 else f"it has the columns {shown}"


def not_text(path: Path, error: UnicodeDecodeError) -> str:
    """Why a file is no table of text, and what to do: a sound, other binary data, or another encoding."""
    start = path.read_bytes()[:4096]
    if path.suffix.lower() in AUDIO_SUFFIXES:
        return f"{path.name} is a sound, not a table. Name a folder of sounds, or a CSV that lists them."
    if b"\0" in start:
        return f"{path.name} is binary data, not a table. Name a CSV, saved as UTF-8 text."
    line = error.object[: error.start].count(b"\n") + 1
    return f"{path.name} row {line} is not UTF-8 text. Save the table as UTF-8 CSV."


def _clean(label: str) -> str:
    return " ".join(unicodedata.normalize("NFC", label).split())


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and cells of the rows that are not blank; comma, tab or semicolon, whichever the header has."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path.name} is over 256 MB; that is no label table.", concerns="file")
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"There is no file {path}. Correct the path.", concerns="file") from None
    except UnicodeDecodeError as error:
        raise InputError(not_text(path, error), concerns="file") from None
    except OSError as error:
        raise InputError(f"{path.name} cannot be read: {error.strerror}.", concerns="file") from None
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text), strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield reader.line_num, row
    except csv.Error as error:
        raise InputError(f"{path.name} row {reader.line_num} is not CSV: {error}.", concerns="file") from None
