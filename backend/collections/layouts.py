"""Collections on disk: folders, CSV tables, and the layouts of ESC-50, FSD50K, Clotho and AudioCaps.

Told apart by what is there, not by name. A row that cannot be used is listed with its reason.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from backend.collections.collection import Collection, Item, Skipped, check_ids
from backend.collections.demo import demo_clips
from backend.collections.label_tables import AUDIO_SUFFIXES, clip_key, columns_found, delimiter_of, not_text
from backend.errors import InputError

DEMO = "demo"
"""Name of the collection that ships in ``data/``."""
MOST_BYTES = 256 * 2**20
Row = Mapping[str, str]
Rows = Iterator[tuple[str, Row]]


def open_collection(source: str | Path) -> Collection:
    """Read a collection.

    Parameters
    ----------
    source : str or Path
        ``demo``; a folder of audio files; a folder of one folder per class (ESC-10); a folder with
        ``meta/esc50.csv`` and ``audio/`` (ESC-50); a folder with FSD50K's ground truth; or a CSV:
        ``path, caption, labels`` (labels separated by ``;``), FSD50K (``fname, labels``), Clotho
        (``file_name, caption_1 ... caption_5``) or AudioCaps (``youtube_id, start_time, caption``).

    Raises
    ------
    InputError
        There is no such file, it has none of these layouts, no row is usable, or an id occurs twice.
    """
    if str(source) == DEMO:
        items = tuple(Item(clip.id, clip.path, clip.caption, clip.labels) for clip in demo_clips())
        return Collection(DEMO, "demo", items)
    path = Path(source)
    if not str(source).strip():
        raise InputError(f"No collection was named; name a folder, a CSV, or {DEMO}.")
    if path.suffix.lower() in (".npz", ".parquet"):
        raise InputError(
            f"{path.name} holds ready embeddings, and this needs the sounds themselves. Name a folder, a CSV that "
            f"lists them, or {DEMO}.",
            concerns="file",
        )
    if path.is_dir():
        collection = _open_folder(path)
    elif path.is_file():
        collection = _open_table(path)
    else:
        raise InputError(f"There is no collection {str(source)!r}: name a folder, a CSV, or {DEMO}.", concerns="file")
    if not collection.items and collection.skipped:
        first = collection.skipped[0]
        raise InputError(
            f"{collection.name}: none of the {len(collection.skipped)} rows is usable. {first.row}: {first.reason}",
            concerns="file",
        )
    check_ids([item.id for item in collection.items], collection.name)
    return collection


def _open_folder(folder: Path) -> Collection:
    esc50 = folder / "meta" / "esc50.csv"
    if esc50.is_file():
        return _from_rows(folder.name, "esc50", _table_rows(esc50), _esc50_item(folder / "audio"))
    truth = sorted(folder.glob("FSD50K.ground_truth/eval.csv")) or sorted(folder.glob("FSD50K.ground_truth/dev.csv"))
    if truth:
        return _open_table(truth[0])
    classes = [child for child in sorted(folder.iterdir()) if child.is_dir() and _audio_files(child)]
    if classes:
        items = [
            Item(f"{child.name}/{file.name}", file, label, (label,))
            for child in classes
            for label in [class_label(child.name)]
            for file in _audio_files(child)
        ]
        return Collection(folder.name, "class folders", tuple(items))
    items = [Item(file.name, file, file.stem.replace("_", " ").replace("-", " ")) for file in _audio_files(folder)]
    if not items:
        raise InputError(
            f"{folder} holds no audio file and no layout this program knows. Put sounds into it, one folder per class, "
            "or give a CSV with the columns path, caption, labels.",
            concerns="file",
        )
    return Collection(folder.name, "folder", tuple(items))


def class_label(name: str) -> str:
    """A class folder's or label column's name as words: ``001 - Dog bark`` and ``dog_bark`` are "dog bark"."""
    words = re.sub(r"^\d+\s*[-_.]\s*", "", name).replace("_", " ").replace("-", " ")
    return " ".join(words.split()).lower()


def _audio_files(folder: Path) -> list[Path]:
    return sorted(
        file for file in folder.iterdir() if file.suffix.lower() in AUDIO_SUFFIXES and not file.name.startswith(".")
    )


def _open_table(path: Path) -> Collection:
    rows = _table_rows(path)
    try:
        first = next(rows)
    except StopIteration:
        raise InputError(
            f"{path.name} has no row below its header; a collection needs at least one.", concerns="file"
        ) from None
    columns = set(first[1])
    layout, read = _table_layout(columns, path)
    return _from_rows(path.stem, layout, _chained(first, rows), read)


def _chained(first: tuple[str, Row], rest: Rows) -> Rows:
    yield first
    yield from rest


def _table_layout(columns: set[str], path: Path) -> tuple[str, Callable[[Row], Item]]:
    folder = path.parent
    if {"filename", "target", "category"} <= columns:
        audio = folder.parent / "audio"
        return "esc50", _esc50_item(audio if audio.is_dir() else folder)
    if {"fname", "labels"} <= columns:
        return "fsd50k", _fsd50k_item(_sound_folders(path, (f"FSD50K.{path.stem}_audio", "audio", "clips")))
    if "file_name" in columns and "caption_1" in columns:
        stem = path.stem.removeprefix("clotho_captions_")
        return "clotho", _clotho_item(_sound_folders(path, (stem, f"clotho_audio_{stem}", "audio")))
    if {"youtube_id", "caption"} <= columns:
        return "audiocaps", _audiocaps_item(_sound_folders(path, (path.stem, "audio", "wavs")))
    if "path" in columns or ("file" in columns and columns & {"caption", "labels"}):
        return "csv", _plain_item(folder)
    raise InputError(
        f"{path.name} is no collection: {columns_found(sorted(columns))}. A collection is a folder of sounds, or a "
        "CSV with the columns path, caption, labels, or those of ESC-50, FSD50K, Clotho or AudioCaps.",
        concerns="file",
    )


def _sound_folders(table: Path, names: tuple[str, ...]) -> tuple[Path, ...]:
    """Where a table's sounds may lie: beside it, or in a folder of a usual name beside it or one level up."""
    bases = (table.parent, table.parent.parent)
    return (table.parent, *(base / name for base in bases for name in names if (base / name).is_dir()))


def _found(names: tuple[str, ...], folders: tuple[Path, ...]) -> Path:
    for folder in folders:
        for name in names:
            if (folder / name).is_file():
                return folder / name
    raise _RowError(f"there is no file {names[0]} in {', '.join(folder.name or '.' for folder in folders)}")


class _RowError(Exception):
    """Why one row cannot be used."""


def _esc50_item(audio: Path) -> Callable[[Row], Item]:
    def read(row: Row) -> Item:
        label = class_label(row["category"])
        return Item(row["filename"], _found((row["filename"],), (audio,)), label, (label,) if label else ())

    return read


def _fsd50k_item(folders: tuple[Path, ...]) -> Callable[[Row], Item]:
    def read(row: Row) -> Item:
        name = clip_key(row["fname"])
        labels = tuple(class_label(part).replace(" and ", ", ") for part in row["labels"].split(",") if part.strip())
        return Item(name, _found((f"{name}.wav", f"{name}.flac", f"{name}.ogg"), folders), " and ".join(labels), labels)

    return read


def _clotho_item(folders: tuple[Path, ...]) -> Callable[[Row], Item]:
    def read(row: Row) -> Item:
        captions = tuple(row[f"caption_{n}"].strip() for n in range(1, 6) if row.get(f"caption_{n}", "").strip())
        if not captions:
            raise _RowError("it has no caption")
        return Item(row["file_name"], _found((row["file_name"],), folders), captions[0], (), captions)

    return read


def _audiocaps_item(folders: tuple[Path, ...]) -> Callable[[Row], Item]:
    def read(row: Row) -> Item:
        video, start = row["youtube_id"], row.get("start_time", "")
        stems = (video, f"Y{video}", f"{video}_{start}", f"Y{video}_{start}", row.get("audiocap_id", ""))
        names = tuple(stem + suffix for stem in stems if stem for suffix in (".wav", ".flac", ".ogg", ".mp3", ".m4a"))
        caption = row["caption"].strip()
        return Item(row.get("audiocap_id") or f"{video}_{start}", _found(names, folders), caption, (), (caption,))

    return read


def _plain_item(folder: Path) -> Callable[[Row], Item]:
    def read(row: Row) -> Item:
        name = row.get("path") or row.get("file") or ""
        if not name:
            raise _RowError("its path is empty")
        path = Path(name) if Path(name).is_absolute() else folder / name
        if not path.is_file():
            raise _RowError(f"there is no file {name}")
        parts = (" ".join(part.split()) for part in row.get("labels", "").split(";") if part.strip())
        labels = tuple(dict.fromkeys(parts))
        caption = row.get("caption", "").strip() or " and ".join(labels)
        return Item(row.get("id") or name, path, caption, labels, (caption,) if caption else ())

    return read


def _from_rows(name: str, layout: str, rows: Rows, read: Callable[[Row], Item]) -> Collection:
    items: list[Item] = []
    skipped: list[Skipped] = []
    for place, row in rows:
        try:
            items.append(read(row))
        except _RowError as error:
            skipped.append(Skipped(place, f"{error}."))
    if layout in ("clotho", "audiocaps"):
        items = _merged_captions(items)
    return Collection(name, layout, tuple(items), tuple(skipped))


def _merged_captions(items: list[Item]) -> list[Item]:
    """One item a sound: AudioCaps' test part lists a clip once for each of its five captions."""
    merged: dict[Path, Item] = {}
    for item in items:
        known = merged.get(item.path)
        merged[item.path] = (
            Item(known.id, known.path, known.caption, known.labels, known.captions + item.captions) if known else item
        )
    return list(merged.values())


def _table_rows(path: Path) -> Rows:
    """Place and cells by column name (lower case) of every row that is not blank."""
    if path.stat().st_size > MOST_BYTES:
        raise InputError(f"{path.name} is over 256 MB; that is no table of clips.", concerns="file")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(not_text(path, error), concerns="file") from None
    if "\0" in text:
        raise InputError(f"{path.name} is not a text file; a collection is a folder or a CSV.", concerns="file")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text), strict=True)
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        for row in reader:
            if any(cell.strip() for cell in row):
                cells = [*row, *[""] * (len(header) - len(row))]
                yield f"{path.name} row {reader.line_num}", dict(zip(header, map(str.strip, cells), strict=False))
    except csv.Error as error:
        raise InputError(f"{path.name} row {reader.line_num} is not CSV: {error}.", concerns="file") from None
