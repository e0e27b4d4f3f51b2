"""Ready embeddings: ``.npz`` with ids and embeddings, or ``.parquet``; mapped from disk where the file allows it."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.collections.collection import EmbeddedCollection
from backend.collections.label_tables import clip_key
from backend.composition.memory import bytes_needed, out_of_memory, require_memory
from backend.encoders.base import Encoder
from backend.errors import InputError
from backend.retrieval.steering import unit

SUFFIXES = (".npz", ".parquet")


def read_embeddings(path: str | Path, *, memory: int | None = None) -> tuple[tuple[str, ...], NDArray[np.floating]]:
    """Ids, N strings, and embeddings, (N, D) float32 or float64, of an ``.npz`` or ``.parquet`` file.

    An uncompressed ``.npz`` is mapped, not loaded. Pickled (object) arrays are refused: they can run code.

    Parameters
    ----------
    memory : int, optional
        Bytes that may be used; by default 80 % of what is free.

    Raises
    ------
    InputError
        The file is not what it says, ids and rows differ in number, an id comes twice, the
        widths differ, or it does not fit into memory (the message says how much is needed).
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"There is no file {path}.", concerns="file")
    if path.suffix.lower() == ".parquet":
        ids, embeddings = _read_parquet(path, memory)
    else:
        ids, embeddings = _read_npz(path, memory)
    if embeddings.ndim != 2 or 0 in embeddings.shape:
        raise InputError(
            f"{path.name}: embeddings has the shape {embeddings.shape}; it must be clips x dimensions, (N, D).",
            concerns="file",
        )
    if len(ids) != len(embeddings):
        raise InputError(
            f"{path.name} has {len(ids)} ids and {len(embeddings)} embeddings; there must be one id for each row.",
            concerns="file",
        )
    seen: dict[str, int] = {}
    for row, name in enumerate(map(clip_key, ids), start=1):
        if name in seen:
            raise InputError(
                f"{path.name} row {row}: the id {name!r} was already in row {seen[name]}. Ids must differ.",
                concerns="file",
            )
        seen[name] = row
    return tuple(map(clip_key, ids)), embeddings


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


def _read_npz(path: Path, memory: int | None) -> tuple[list[str], NDArray[np.floating]]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = {name.removesuffix(".npy"): archive.getinfo(name) for name in archive.namelist()}
            if not {"ids", "embeddings"} <= set(names):
                raise InputError(
                    f"{path.name} holds {', '.join(sorted(names)) or 'nothing'}; it must hold ids and embeddings.",
                    concerns="file",
                )
            ids = _ids_as_text(_read_array(path, archive, names["ids"], memory), path.name)
            return ids, _read_array(path, archive, names["embeddings"], memory)
    except MemoryError:
        raise out_of_memory(path.stat().st_size, f"the arrays of {path.name}") from None
    except (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError, RuntimeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{path.name} cannot be read as .npz ({error}). Write it with numpy.savez(ids=..., embeddings=...).",
            concerns="file",
        ) from None


def _read_array(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo, memory: int | None) -> NDArray[Any]:
    """One array of the archive; mapped where it lies uncompressed, else read after its size was checked."""
    with archive.open(member) as stream:
        version = np.lib.format.read_magic(stream)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read_header(stream)
        header_bytes = stream.tell()
    if dtype.hasobject:
        raise InputError(
            f"{path.name}: {member.filename} is a pickled object array, which may run code. "
            f"Save it with a fixed dtype, for example ids.astype(str).",
            concerns="file",
        )
    size = int(np.prod(shape, dtype=object)) * dtype.itemsize
    if size > member.file_size - header_bytes:
        raise InputError(
            f"{path.name}: {member.filename} says shape {shape}, which is more than the {member.file_size:,} bytes "
            f"it has. The file is cut off or damaged.",
            concerns="file",
        )
    mapped = member.compress_type == zipfile.ZIP_STORED and not fortran
    if len(shape) == 2:
        _check_dtype(dtype, path.name)
        needed = bytes_needed(shape[0], shape[1], dtype.itemsize, 0, 0, mapped=mapped)
        require_memory(needed, f"{shape[0]:,} clips x {shape[1]:,} {dtype.name} numbers", memory)
    if mapped and len(shape) == 2:
        offset = _data_offset(path, member) + header_bytes
        return np.memmap(path, dtype=dtype, mode="r", offset=offset, shape=shape)
    with archive.open(member) as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)


def _data_offset(path: Path, member: zipfile.ZipInfo) -> int:
    """Where a stored member's bytes begin: after the 30-byte local header, its name and its extra field."""
    with open(path, "rb") as stream:
        stream.seek(member.header_offset + 26)
        lengths = stream.read(4)
    return member.header_offset + 30 + int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")


def _check_dtype(dtype: np.dtype[Any], name: str) -> None:
    if dtype.kind != "f":
        raise InputError(
            f"{name}: embeddings are {dtype.name}; they must be float16, float32 or float64.", concerns="file"
        )


def _ids_as_text(ids: NDArray[Any], name: str) -> list[str]:
    if ids.ndim != 1 or ids.dtype.kind not in "USiu":
        raise InputError(
            f"{name}: ids is {ids.dtype.name} of shape {ids.shape}; it must be N strings.", concerns="file"
        )
    if ids.dtype.kind == "S":
        return [value.decode("utf-8", "replace") for value in ids.tolist()]
    return [str(value) for value in ids.tolist()]


def _read_parquet(path: Path, memory: int | None) -> tuple[list[str], NDArray[np.floating]]:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    try:
        described = parquet.ParquetFile(path)
        names = described.schema_arrow.names
        identity = next((name for name in ("ids", "id") if name in names), None)
        nested = next((name for name in ("embeddings", "embedding") if name in names), None)
        if identity is None:
            raise InputError(f"{path.name} has the columns {', '.join(names)}; it needs id.", concerns="file")
        uncompressed = sum(
            described.metadata.row_group(group).total_byte_size for group in range(described.metadata.num_row_groups)
        )
        require_memory(3 * uncompressed, f"{described.metadata.num_rows:,} rows of {path.name}", memory)
        table = described.read()
    except (arrow.ArrowException, OSError) as error:
        raise InputError(
            f"{path.name} cannot be read as Parquet ({str(error).splitlines()[0]}).", concerns="file"
        ) from None
    ids = [str(value) for value in table.column(identity).to_pylist()]
    if nested is not None:
        return ids, _nested_column(table.column(nested).combine_chunks(), path.name)
    numeric = [name for name in names if arrow.types.is_floating(table.schema.field(name).type)]
    if not numeric:
        raise InputError(
            f"{path.name} has the columns {', '.join(names)}; it needs embedding (a list of numbers) or one column of "
            f"numbers for each dimension.",
            concerns="file",
        )
    return ids, np.column_stack([table.column(name).to_numpy(zero_copy_only=False) for name in numeric])


def _nested_column(column: Any, name: str) -> NDArray[np.floating]:
    """A list column as (N, D), refusing rows of another width."""
    import pyarrow as arrow
    import pyarrow.compute as compute

    kind = column.type
    lists = arrow.types.is_list(kind) or arrow.types.is_large_list(kind) or arrow.types.is_fixed_size_list(kind)
    if not lists or not arrow.types.is_floating(kind.value_type):
        raise InputError(f"{name}: embedding is {kind}; it must be a list of float numbers.", concerns="file")
    widths = compute.fill_null(compute.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    if len(widths) and np.any(widths != widths[0]):
        row = int(np.argmax(widths != widths[0]))
        raise InputError(
            f"{name} row {row + 1}: the embedding has {widths[row]} numbers, row 1 has {widths[0]}. "
            f"All must come from one encoder.",
            concerns="file",
        )
    flat = column.flatten().to_numpy(zero_copy_only=False)
    return np.asarray(flat).reshape(len(column), -1 if len(column) else 0)
