"""The clips that Ask ranks: the demo collection, embedded once an encoder, and a visitor's own clips beside it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from backend.collections.collection import EmbeddedCollection, Item, joined
from backend.collections.demo import DEMO
from backend.collections.layouts import open_collection
from backend.collections.store import embed_collection, embedded_clips
from backend.encoders.base import Encoder
from backend.errors import InputError
from backend.files import atomic_write
from backend.kept import Kept
from backend.progress import Progress
from components.frame.running import steps_of
from components.frame.serving import address_of, loaded_clip, served_folder, served_url

MOST_OWN = 12
"""Most own clips in one ranking."""
OWN = "own-"
"""The ids of own clips begin so."""
_collections: Kept[tuple[str, ...], EmbeddedCollection] = Kept(most=8)


def demo_collection(encoder: Encoder, progress: Progress | None = None) -> EmbeddedCollection:
    """The demo collection's embeddings; the first call with an encoder embeds every clip. Raises InputError."""
    return _collections.get(
        (encoder.id, encoder.weights),
        lambda: embed_collection(open_collection(DEMO), encoder, progress=progress),
        progress,
    )


def with_own(collection: EmbeddedCollection, encoder: Encoder, own: tuple[str, ...]) -> EmbeddedCollection:
    """The collection with a visitor's own clips after it. Raises InputError for a file that cannot be decoded."""
    if not own:
        return collection

    def make() -> EmbeddedCollection:
        clips = [
            (Item(f"{OWN}{place + 1}", Path(path), caption=shown_name(path)), loaded_clip(path, shorten=True))
            for place, path in enumerate(own)
        ]
        return joined(collection, embedded_clips("your clips", encoder, clips))

    return _collections.get((encoder.id, encoder.weights, *own), make)


def playable(collection: EmbeddedCollection, index: int) -> str:
    """The address of a clip's sound, at exactly its level: a demo file as it is, an own clip as it was decoded."""
    path = collection.paths[index]
    if path is None:
        return ""
    if is_own(collection.ids[index]):
        return served_url(loaded_clip(path, shorten=True))
    copy = served_folder() / f"demo-{path.name}"
    if not copy.exists():
        with atomic_write(copy) as part:
            shutil.copyfile(path, part)
    return address_of(copy)


def is_own(clip_id: str) -> bool:
    """Whether a clip of the ranking is a visitor's own."""
    return clip_id.startswith(OWN)


def shown_name(path: str) -> str:
    """A file's name as a caption."""
    return Path(path).stem.replace("_", " ")[:80] or "your clip"


def check_own(own: tuple[str, ...], path: str) -> tuple[str, ...]:
    """``own`` with one more clip. Raises InputError when it cannot be decoded or there are too many."""
    if len(own) >= MOST_OWN:
        raise InputError(f"{MOST_OWN} of your clips are ranked already. Remove them before adding another.")
    loaded_clip(path, shorten=True)
    return own if path in own else (*own, path)


def embedding_steps(encoder: Encoder) -> Iterator[str]:
    """Embed the demo collection, saying what is being done; nothing is said when it is already there."""
    if (encoder.id, encoder.weights) not in _collections:
        for step in steps_of(lambda progress: demo_collection(encoder, progress)):
            yield f"Embedding the clips, {100 * step.share:.0f} %"
