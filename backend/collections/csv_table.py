"""A table of text: the file checked, then its rows through pandas, each with its place for messages.

Every cell stays text (``NA`` and ``007`` are names, not numbers). Comma, tab or semicolon separate the columns,
whichever the header has; quotes are read strictly, for a lost quote swallows rows.
"""

from __future__ import annotations

import csv
import io
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from backend.errors import InputError

if TYPE_CHECKING:
    from pandas import DataFrame

AUDIO_SUFFIXES = (".wav", ".flac", ".ogg", ".mp3", ".m4a", ".aac", ".aiff", ".aif", ".opus", ".webm", ".mp4")
MOST_BYTES = 256 * 2**20
MARKS = {",": "commas", "\t": "tabs", ";": "semicolons"}
"""What may separate columns, and its name."""


@dataclass(frozen=True)
class Row:
    """One row: where it stands (``labels.csv row 7``), its cells by column name, and how many it has of them."""

    place: str
    cells: Mapping[str, str]
    width: int

    def first(self, columns: Sequence[str]) -> str:
        """The first of these columns that is not empty; empty if all are."""
        return next((cell for name in columns if (cell := self.cells.get(name, ""))), "")


@dataclass(frozen=True, eq=False)
class CsvTable:
    """A table's cells.

    Attributes
    ----------
    name : str
        The file's name.
    frame : pandas.DataFrame of str
        Column names in lower case; the index says in which line of the file each row ends. No row is blank.
    widths : np.ndarray of int64, shape (rows,)
        How many cells each row has; those it lacks are empty in the frame.
    """

    name: str
    frame: DataFrame
    widths: NDArray[np.int64]

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(self.frame.columns)

    def rows(self) -> Iterator[Row]:
        """Every row with its place."""
        columns = self.columns
        cells = zip(*(self.frame.iloc[:, place].tolist() for place in range(len(columns))), strict=True)
        for line, width, row in zip(self.frame.index, self.widths, cells, strict=True):
            yield Row(f"{self.name} row {line}", dict(zip(columns, row, strict=True)), int(width))


def read_text(path: Path) -> str:
    """A file's text, at most 256 MB of UTF-8.

    Raises
    ------
    InputError
        There is no such file, it cannot be read, it is too large, or it is no text: then what it is instead.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path.name} is over 256 MB; that is no table of clips.", concerns="file")
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"There is no file {path}. Correct the path.", concerns="file") from None
    except UnicodeDecodeError as error:
        raise InputError(_not_text(path, error), concerns="file") from None
    except OSError as error:
        raise InputError(f"{path.name} cannot be read: {error.strerror}.", concerns="file") from None
    if "\0" in text:
        raise InputError(f"{path.name} is not a text file. Name a CSV, saved as UTF-8 text.", concerns="file")
    return text


def read_table(path: Path) -> CsvTable:
    """The table in a file; see :func:`table_of`."""
    return table_of(read_text(path), path.name)


def table_of(text: str, name: str) -> CsvTable:
    """The table in a CSV's text; blank rows are passed over.

    Raises
    ------
    InputError
        There is no row at all, a column name stands there twice, or a row is no CSV or has more cells than the
        header (a comma that is not quoted, which would push its labels into another column).
    """
    import pandas

    mark = _mark(text)
    header, lines, widths = _checked_shape(text, name, mark)
    columns = [cell.strip().lower() for cell in header]
    twice = next((column for place, column in enumerate(columns) if column and column in columns[:place]), None)
    if twice is not None:
        raise InputError(f"{name} has two columns named {twice}. Rename or delete one.", concerns="file")
    frame = pandas.read_csv(
        io.StringIO(text, newline=None),
        sep=mark,
        header=None,
        names=range(len(columns)),
        usecols=range(len(columns)),
        dtype=str,
        keep_default_na=False,
        na_filter=False,
        skip_blank_lines=False,
    )
    frame = frame[widths > 0].iloc[1:].apply(lambda cells: cells.str.strip())
    return CsvTable(name, frame.set_axis(columns, axis=1).set_axis(lines[widths > 0][1:]), widths[widths > 0][1:])


def _checked_shape(text: str, name: str, mark: str) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """The header, and of every row the line it ends in and how many cells it has (none where all are blank).

    A pass of its own because pandas forgives what is refused here: text after a closing quote, a quote that is
    never closed, cells beyond the header's.
    """
    header: list[str] = []
    lines, widths = array("q"), array("q")
    reader = csv.reader(io.StringIO(text, newline=None), delimiter=mark, strict=True)
    try:
        for row in reader:
            filled = any(cell.strip() for cell in row)
            header = header or (row if filled else [])
            if any(cell.strip() for cell in row[len(header) :]):
                named = f"{len(header)} column{'s' if len(header) != 1 else ''}"
                raise InputError(
                    f"{name} row {reader.line_num} has {len(row)} cells; the header names {named}. "
                    f"Quote cells that contain {MARKS[mark]}.",
                    concerns="file",
                )
            lines.append(reader.line_num)
            widths.append(len(row) if filled else 0)
    except csv.Error as error:
        raise InputError(f"{name} row {reader.line_num} is not CSV: {error}.", concerns="file") from None
    if not header:
        raise InputError(
            f"{name} is empty: it has no row. A table needs a header, for example id,labels, and a row per clip.",
            concerns="file",
        )
    return header, np.array(lines), np.array(widths)


def _mark(text: str) -> str:
    """What separates the columns: a comma, or the tab or semicolon that the header has instead."""
    header = text.lstrip("\r\n").partition("\n")[0]
    return next((mark for mark in MARKS if mark in header), ",")


def columns_found(header: Sequence[str]) -> str:
    """What a table's first line holds instead of the columns that are needed, for a message."""
    named = [" ".join(name.split()) for name in header if name.strip()]
    if not named or not any(character.isalnum() for name in named for character in name):
        return "its first line names no columns"
    shown = ", ".join(name[:40] for name in named[:8]) + (" …" if len(named) > 8 else "")
    return f"its first line is “{shown}”" if len(named) == 1 else f"it has the columns {shown}"


def _not_text(path: Path, error: UnicodeDecodeError) -> str:
    """Why a file is no table of text, and what to do: a sound, other binary data, or another encoding."""
    start = path.read_bytes()[:4096]
    if path.suffix.lower() in AUDIO_SUFFIXES:
        return f"{path.name} is a sound, not a table. Name a folder of sounds, or a CSV that lists them."
    if b"\0" in start:
        return f"{path.name} is binary data, not a table. Name a CSV, saved as UTF-8 text."
    line = error.object[: error.start].count(b"\n") + 1
    return f"{path.name} row {line} is not UTF-8 text. Save the table as UTF-8 CSV."
