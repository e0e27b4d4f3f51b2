"""Every construction of absence, in a table of queries written before the grammar was."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.negation import parse_query
from tests.reference.query_match import polarity_error, same_sounds

TABLES = ("queries.psv", "queries_unseen.psv", "queries_reported.psv", "queries_fresh.psv")


def rows() -> list[tuple[str, str, list[str], list[str]]]:
    """(kind, query, present, absent) of every line of the tables."""
    found = []
    for table in TABLES:
        path = Path(__file__).parent / table
        for line in path.read_text(encoding="utf-8").splitlines()[1:]:
            kind, query, present, absent = line.split("|")
            found.append((kind, query, [p for p in present.split(";") if p], [a for a in absent.split(";") if a]))
    return found


@pytest.mark.parametrize("kind", sorted({row[0] for row in rows()}))
def test_queries_of_a_kind(kind: str) -> None:
    wrong = []
    for row_kind, query, present, absent in rows():
        if row_kind != kind:
            continue
        parsed = parse_query(query)
        read_present = [concept.text for concept in parsed.positives]
        read_absent = [concept.text for concept in parsed.negatives]
        flipped = polarity_error(present, absent, read_present, read_absent)
        if flipped or not (same_sounds(present, read_present) and same_sounds(absent, read_absent)):
            wrong.append(f"{'POLARITY ' if flipped else ''}{query!r}: +{read_present} -{read_absent}")
    assert not wrong, "\n".join(wrong)


def test_every_kind_has_ten_queries() -> None:
    kinds = [row[0] for row in rows()]
    assert len(kinds) >= 1300
    assert all(kinds.count(kind) >= 9 for kind in set(kinds))
    assert len(set(kinds)) == 20


def test_spans_and_cues_point_into_the_text() -> None:
    for _, text, _, _ in rows():
        parsed = parse_query(text)
        for concept in parsed.concepts:
            assert 0 <= concept.start < concept.end <= len(parsed.text), text
            if concept.polarity == "absent":
                assert concept.cue, text
                assert parsed.text[concept.cue_start : concept.cue_end].strip(), text
            else:
                assert concept.cue == "" and concept.scope is None, text
