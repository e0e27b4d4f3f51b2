"""Tables of results, and the one way they become CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backend.reports.jsonable import DIGITS, jsonable
from backend.reports.provenance import provenance

if TYPE_CHECKING:
    from backend.evidence.localization import Localization

DANGEROUS_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the start of a formula."""


@dataclass(frozen=True)
class Table:
    """Rows with named columns; a column that a row lacks is empty there."""

    columns: tuple[str, ...]
    rows: Sequence[Mapping[str, Any]]

    def csv(self) -> str:
        """With a header; text that starts like a formula gets a leading apostrophe, numbers stay numbers."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(self.columns)
        for row in self.rows:
            writer.writerow([_harmless(row.get(column, "")) for column in self.columns])
        return buffer.getvalue()


def _harmless(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(DANGEROUS_STARTS):
        try:
            float(value)
        except ValueError:
            return "'" + value
    return value


def window_table(found: Localization, seed: int, after: Localization | None = None) -> Table:
    """One row a concept and window, with the cosine after a cut where there was one, and what made it."""
    made_by = provenance(found.encoder_id, found.weights, seed)
    rows = []
    for column, evidence in enumerate(found.evidence):
        for index, start in enumerate(found.windows.starts):
            numbers = {
                "start_s": start,
                "end_s": start + found.windows.length,
                "cosine": evidence.scores[index],
                **({} if after is None else {"cosine_after_cut": after.evidence[column].scores[index]}),
            }
            named = {"concept": evidence.concept.text, "polarity": evidence.concept.polarity}
            rows.append({**named, **jsonable(numbers, DIGITS), "clip": found.clip.digest, **made_by})
    stamped = ("encoder", "weights", "clip", "seed", "version")
    return Table(("concept", "polarity", "start_s", "end_s", "cosine", "cosine_after_cut", *stamped), rows)
