"""Collections on disk: folders, and tables of the layouts that :mod:`backend.collections.label_tables` knows.

Told apart by what is there, not by name. A row whose sound is missing is listed with its reason.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from backend.collections.collection import Collection, Item, Skipped, check_ids
from backend.collections.csv_table import AUDIO_SUFFIXES
from backend.collections.demo import DEMO, demo_clips
from backend.collections.demo_scenes import DEMO_SCENES
from backend.collections.label_tables import ClipTable, TableClip, class_label, read_clips
from backend.collections.ready import SUFFIXES
from backend.collections.sound_files import SoundFinder, sound_folders
from backend.errors import InputError
from backend.settings import COMMAND


def open_collection(source: str | Path) -> Collection:
    """Read a collection.

    Parameters
    ----------
    source : str or Path
        ``demo``; a folder of audio files; a folder of one folder per class (ESC-10); a folder with
        ``meta/esc50.csv`` and ``audio/`` (ESC-50); a folder with FSD50K's ground truth; or a table of clips:
        ``path, caption, labels`` (labels separated by ``;``) or the columns of a known data set.

    Raises
    ------
    InputError
        There is no such file, it has none of these layouts, no row is usable, or an id occurs twice.
    """
    if str(source) == DEMO:
        items = tuple(Item(clip.id, clip.path, clip.caption, clip.labels) for clip in demo_clips())
        return Collection(DEMO, "demo", items)
    if str(source) == DEMO_SCENES:
        raise InputError(
            f"{DEMO_SCENES} are rendered for Compose and lie in no file: {COMMAND} compose {DEMO_SCENES}. "
            f"The collection that ships as files is {DEMO}."
        )
    path = Path(source)
    if not str(source).strip():
        raise InputError(f"No collection was named; name a folder, a CSV, or {DEMO}.")
    if path.suffix.lower() in SUFFIXES:
        raise InputError(
            f"{path.name} holds ready embeddings, and this needs the sounds themselves. Name a folder, a CSV that "
            f"lists them, or {DEMO}.",
            concerns="file",
        )
    if path.is_dir():
        collection = _open_folder(path)
    elif path.is_file():
        collection = _open_table(path, path.stem)
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
        return _open_table(esc50, folder.name)
    truth = sorted(folder.glob("FSD50K.ground_truth/eval.csv")) or sorted(folder.glob("FSD50K.ground_truth/dev.csv"))
    if truth:
        return _open_table(truth[0], truth[0].stem)
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


def _audio_files(folder: Path) -> list[Path]:
    return sorted(
        file for file in folder.iterdir() if file.suffix.lower() in AUDIO_SUFFIXES and not file.name.startswith(".")
    )


def _open_table(path: Path, name: str) -> Collection:
    table = read_clips(path)
    if not table.clips:
        raise InputError(f"{path.name} has no row below its header; a collection needs at least one.", concerns="file")
    finder = SoundFinder(sound_folders(path, table.layout))
    items: list[Item] = []
    skipped: list[Skipped] = []
    for clip in table.clips:
        found = finder.find(clip.files)
        reason = _unusable(table, clip, found, finder)
        if found is None or reason:
            skipped.append(Skipped(clip.place, reason))
        else:
            items.append(_item(table, clip, found))
    if table.layout in ("clotho", "audiocaps"):
        items = _merged_captions(items)
    return Collection(name, table.layout, tuple(items), tuple(skipped))


def _unusable(table: ClipTable, clip: TableClip, found: Path | None, finder: SoundFinder) -> str:
    """Why a row cannot be ranked, in a sentence; empty if it can."""
    if not clip.files:
        return "its path is empty."
    if table.layout == "clotho" and not clip.captions:
        return "it has no caption."
    if found is None:
        places = ", ".join(folder.name or "." for folder in finder.folders)
        return f"there is no file {clip.files[0]}{'' if table.layout == 'plain' else f' in {places}'}."
    return ""


def _item(table: ClipTable, clip: TableClip, path: Path) -> Item:
    labels = clip.labels
    if table.layout == "fsd50k":
        # Its names come from an ontology: "Rattle_and_hum" there is "rattle, hum" in words.
        labels = tuple(class_label(label).replace(" and ", ", ") for label in labels)
    caption = clip.captions[0] if clip.captions else " and ".join(labels)
    return Item(clip.id, path, caption, labels, clip.captions)


def _merged_captions(items: list[Item]) -> list[Item]:
    """One item a sound: AudioCaps' test part lists a clip once for each of its five captions."""
    merged: dict[Path, Item] = {}
    for item in items:
        known = merged.get(item.path)
        merged[item.path] = replace(known, captions=known.captions + item.captions) if known else item
    return list(merged.values())
