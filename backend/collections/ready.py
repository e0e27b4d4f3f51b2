"""Collections that come as ready embeddings: ids and vectors, no sounds."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from backend.collections.collection import EmbeddedCollection
from backend.collections.ready_embeddings import read_embeddings
from backend.encoders.base import Encoder
from backend.errors import InputError
from backend.retrieval.steering import unit


def ready_collection(path: str | Path, encoder: Encoder) -> EmbeddedCollection:
    """Ready embeddings of an ``.npz`` (ids, embeddings; captions and labels beside if given) or ``.parquet`` file.

    One vector a clip serves both as the whole clip and as its only window. Vectors are scaled to length one.

    Raises
    ------
    InputError
        The file is not that, or its vectors are not as wide as the encoder's.
    """
    path = Path(path)
    ids, vectors = read_embeddings(path)
    if vectors.shape[1] != encoder.dim:
        raise InputError(
            f"{path.name} has vectors of {vectors.shape[1]} numbers, {encoder.id} makes {encoder.dim}. "
            "Name the encoder that made them with --encoder."
        )
    if not np.isfinite(vectors).all():
        row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
        raise InputError(
            f"{path.name}: the embedding of {ids[row]!r} has a value that is not a number.", concerns="file"
        )
    captions, labels = _ready_texts(path, len(ids))
    clips = unit(vectors).astype(np.float32)
    return EmbeddedCollection(
        name=path.stem,
        encoder_id=encoder.id,
        weights="",
        ids=ids,
        captions=captions,
        labels=labels,
        paths=(None,) * len(ids),
        clips=clips,
        windows=clips,
        offsets=np.arange(len(ids) + 1),
        window_seconds=0.0,
    )


def _ready_texts(path: Path, count: int) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Captions and labels (separated by ``;``) that an .npz holds beside its embeddings, else empty ones."""
    found: dict[str, list[str]] = {}
    if path.suffix.lower() == ".npz":
        with np.load(path, allow_pickle=False) as stored:
            found = {name: [str(text) for text in stored[name]] for name in ("captions", "labels") if name in stored}
    for name, texts in found.items():
        if len(texts) != count:
            raise InputError(
                f"{path.name} has {count} ids and {len(texts)} {name}; there must be one a row.", concerns="file"
            )
    labels = [
        tuple(part.strip() for part in text.split(";") if part.strip()) for text in found.get("labels", [""] * count)
    ]
    captions = found.get("captions", [" and ".join(clip) for clip in labels])
    return tuple(captions), tuple(labels)
