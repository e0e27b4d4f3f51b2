"""Precomputed embeddings as an encoder: ``table:<file.npz or file.parquet>``.

For a model that runs elsewhere: on a cluster, behind an interface, in another language. Write the windows and
texts of a study out with :func:`write_requests`, embed the files there, and bring one table back::

    requests/rate.txt            sample rate of the WAV files
    requests/<key>.wav           one window; <key> is window_key() of its samples
    requests/texts.txt           one text a line

``.npz``      audio_keys (n,) str, audio_embeddings (n, D), texts (m,) str, text_embeddings (m, D),
              sample_rate () int; either pair may be missing
``.parquet``  columns kind ("audio" or "text"), key (str), embedding (list of floats),
              optionally sample_rate; needs pyarrow

A key is a window's key, or any id of yours (a file name, a clip's digest) for :meth:`TableEncoder.rows`.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from backend.encoders import batches
from backend.encoders.base import Encoder, EncoderInfo, FloatArray
from backend.errors import InputError
from backend.files import sha256_of

DEFAULT_RATE = 48_000
LARGEST_BYTES = 4 << 30
RATES = range(8_000, 192_001)


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of a file, not yet normalised."""

    audio: Mapping[str, FloatArray]
    text: Mapping[str, FloatArray]
    dim: int
    sample_rate: int


def window_key(window: FloatArray) -> str:
    """First 16 hex digits of a SHA-256 over a window's samples rounded to 16 bits.

    Rounding lets a key survive a WAV file on its way; two windows that differ by less than half a step
    of 1/32767 everywhere have one key.
    """
    steps = np.rint(np.clip(np.asarray(window, dtype=np.float64), -1, 1) * 32_767).astype("<i2")
    return hashlib.sha256(steps.tobytes()).hexdigest()[:16]


def write_requests(folder: Path, windows: FloatArray, sample_rate: int, texts: Sequence[str] = ()) -> list[str]:
    """Write what a table must answer.

    Parameters
    ----------
    folder : Path
        Created; further windows and texts are added to it.
    windows : np.ndarray, shape (n, samples), float32
        Full scale 1.0.
    sample_rate : int
        Hz.
    texts : sequence of str
        Single lines.

    Returns
    -------
    list of str
        The keys of the windows, in order.
    """
    import soundfile

    windows = batches.checked_windows(windows, "table", sample_rate)
    texts = batches.checked_texts(texts, "table")
    if any("\n" in text for text in texts):
        raise InputError("A text of a table is one line; one of these holds a line break.")
    folder.mkdir(parents=True, exist_ok=True)
    keys = [window_key(window) for window in windows]
    for key, window in zip(keys, windows, strict=True):
        soundfile.write(folder / f"{key}.wav", window, sample_rate, subtype="FLOAT")
    (folder / "rate.txt").write_text(f"{sample_rate}\n")
    listed = folder / "texts.txt"
    known = listed.read_text(encoding="utf-8").splitlines() if listed.is_file() else []
    listed.write_text("".join(f"{text}\n" for text in dict.fromkeys([*known, *texts])), encoding="utf-8")
    return keys


def write_table(
    path: Path, audio: Mapping[str, FloatArray], text: Mapping[str, FloatArray], sample_rate: int = DEFAULT_RATE
) -> None:
    """Write an ``.npz`` table from embeddings by key and by text."""
    np.savez(
        path,
        audio_keys=np.array(list(audio), dtype=np.str_),
        audio_embeddings=_stacked(audio),
        texts=np.array(list(text), dtype=np.str_),
        text_embeddings=_stacked(text),
        sample_rate=np.int64(sample_rate),
    )


def _stacked(rows: Mapping[str, FloatArray]) -> FloatArray:
    return np.asarray(list(rows.values()), dtype=np.float32) if rows else np.zeros((0, 0), dtype=np.float32)


class TableEncoder:
    """Looks embeddings up; knows nothing that is not in its file."""

    def __init__(self, encoder_id: str, table: Table, weights: str) -> None:
        self.id, self.weights, self._table = encoder_id, weights, table
        self.dim, self.sample_rate = table.dim, table.sample_rate
        self.has_text = bool(table.text)

    def embed_audio(self, windows: FloatArray) -> FloatArray:
        """(n, samples) float32 -> (n, D), L2-normalised, found by :func:`window_key`.

        Raises
        ------
        InputError
            NaN or another shape, or a window that is not in the table.
        """
        windows = batches.checked_windows(windows, self.id, self.sample_rate)
        return self._found(self._table.audio, [window_key(window) for window in windows], "windows")

    def embed_text(self, texts: Sequence[str]) -> FloatArray:
        """m texts -> (m, D), L2-normalised. Raises InputError for a text that is not in the table."""
        if not self.has_text:
            raise batches.no_text_side(self.id)
        return self._found(self._table.text, batches.checked_texts(texts, self.id), "texts")

    def rows(self, keys: Sequence[str]) -> FloatArray:
        """Audio embeddings by key (file name, clip digest, whatever the file uses) -> (n, D), L2-normalised."""
        return self._found(self._table.audio, batches.checked_texts(keys, self.id), "keys")

    def keys(self) -> list[str]:
        """The audio keys of the file, in its order."""
        return list(self._table.audio)

    def texts(self) -> list[str]:
        """The texts of the file, in its order."""
        return list(self._table.text)

    def _found(self, rows: Mapping[str, FloatArray], keys: Sequence[str], what: str) -> FloatArray:
        missing = [key for key in keys if key not in rows]
        if missing:
            raise InputError(
                f"{self.id} holds {len(rows)} {what}, and {len(missing)} of the {len(keys)} asked for are not among "
                f"them, the first is {missing[0][:80]!r}. Write them out with "
                f"backend.encoders.families.table.write_requests, embed them, and add them to the table.",
                concerns="file",
            )
        if not keys:
            return np.zeros((0, self.dim), dtype=np.float32)
        return batches.unit_rows(np.stack([rows[key] for key in keys]), self.id)


def read_table(path: Path) -> Table:
    """A table from ``.npz`` or ``.parquet``.

    Raises
    ------
    InputError
        Missing, another format, damaged, or keys and rows that do not belong together.
    """
    if not path.is_file():
        raise InputError(f"There is no table {path}. Correct the path.", concerns="file")
    if path.stat().st_size > LARGEST_BYTES:
        raise InputError(f"{path.name} is over {LARGEST_BYTES >> 30} GB; split it.", concerns="file")
    if path.suffix == ".npz":
        return _from_arrays(_read_npz(path), path)
    if path.suffix == ".parquet":
        return _from_arrays(_read_parquet(path), path)
    raise InputError(f"{path.name} is neither .npz nor .parquet. Save the table as one of them.", concerns="file")


def _read_npz(path: Path) -> dict[str, Any]:
    try:
        # Opened here: np.load leaves the file open when it is not a zip archive after all.
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, KeyError) as error:
        raise InputError(
            f"{path.name} is not a readable .npz of plain arrays ({str(error)[:120]}). Save keys as strings, not as "
            f"objects: np.array(keys, dtype=np.str_).",
            concerns="file",
        ) from None


def _read_parquet(path: Path) -> dict[str, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:  # not there, or built for another numpy
        raise InputError(
            f"A .parquet table needs a pyarrow that works here ({str(error)[:80].rstrip('.')}). Save the table as .npz."
        ) from None

    try:
        columns = parquet.read_table(path).to_pydict()
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise InputError(
            f"{path.name} is not a readable .parquet file ({str(error)[:120]}).", concerns="file"
        ) from None
    lacking = [name for name in ("kind", "key", "embedding") if name not in columns]
    if lacking:
        raise InputError(f"{path.name} has no column {lacking[0]}; it needs kind, key and embedding.", concerns="file")
    arrays: dict[str, Any] = {}
    for kind, keys, rows in (("audio", "audio_keys", "audio_embeddings"), ("text", "texts", "text_embeddings")):
        chosen = [index for index, stated in enumerate(columns["kind"]) if stated == kind]
        arrays[keys] = [str(columns["key"][index]) for index in chosen]
        arrays[rows] = [columns["embedding"][index] for index in chosen]
    if columns.get("sample_rate"):
        arrays["sample_rate"] = columns["sample_rate"][0]
    return arrays


def _from_arrays(arrays: Mapping[str, Any], path: Path) -> Table:
    audio = _rows(arrays, "audio_keys", "audio_embeddings", path)
    text = _rows(arrays, "texts", "text_embeddings", path)
    widths = {len(row) for rows in (audio, text) for row in rows.values()}
    if not widths:
        raise InputError(
            f"{path.name} holds no embeddings under the names of a table: audio_keys with audio_embeddings, texts with "
            f"text_embeddings.",
            concerns="file",
        )
    if len(widths) != 1:
        raise InputError(
            f"{path.name} holds embeddings of widths {sorted(widths)}; all rows of a table have one width.",
            concerns="file",
        )
    try:
        rate = int(arrays.get("sample_rate", DEFAULT_RATE))
    except (TypeError, ValueError):
        rate = 0
    if rate not in RATES:
        raise InputError(f"{path.name} states a sample_rate that is not {RATES.start} to {RATES.stop - 1} Hz.")
    return Table(audio, text, widths.pop(), rate)


def _rows(arrays: Mapping[str, Any], keys_name: str, rows_name: str, path: Path) -> dict[str, FloatArray]:
    if (keys_name in arrays) != (rows_name in arrays):
        raise InputError(
            f"{path.name} has only one of {keys_name} and {rows_name}; they come in pairs.", concerns="file"
        )
    keys = [str(key) for key in np.asarray(arrays.get(keys_name, []), dtype=np.str_).reshape(-1)]
    try:
        rows = np.asarray(arrays.get(rows_name, []), dtype=np.float32)
    except (TypeError, ValueError):
        raise InputError(
            f"{path.name}: the rows of {rows_name} are not numbers of one width.", concerns="file"
        ) from None
    if len(rows) != len(keys) or (len(keys) and rows.ndim != 2):
        raise InputError(
            f"{path.name} has {len(keys)} {keys_name} and {rows_name} of shape {rows.shape}; needed is one row a key.",
            concerns="file",
        )
    if not np.isfinite(rows).all():
        raise InputError(f"{path.name}: {rows_name} holds NaN or infinity. Compute those rows again.", concerns="file")
    if len(set(keys)) != len(keys):
        raise InputError(f"{path.name}: a key appears twice in {keys_name}. Keep one row a key.", concerns="file")
    return dict(zip(keys, rows, strict=True))


class Family:
    """``table:<file>``; none is known by name."""

    prefix = "table"

    def listed(self) -> Sequence[EncoderInfo]:
        """Empty: a table is the user's own."""
        return ()

    def load(self, encoder_id: str) -> Encoder:
        """The encoder of ``table:<file>``. Raises InputError when it cannot be read."""
        path = Path(encoder_id.partition(":")[2]).expanduser()
        table = read_table(path)
        digest = sha256_of(path)[:12]
        return TableEncoder(encoder_id, table, digest)


FAMILY = Family()
