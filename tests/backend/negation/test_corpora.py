"""The readers and counts of the out-of-domain benchmark, on sentences made for this test."""

from __future__ import annotations

from tests.bench.bench_negation_corpora import (
    cdsco_sentences,
    measure_cdsco,
    measure_negex,
    negex_rows,
)

NEGEX = (
    "7\tHUM\tThere is no HUM   or click.\tNegated",
    '7\tclick\t"There is no hum or CLICK."\tNegated',
    "7\tloud bell\tA LOUD BELL rings without an echo.\tAffirmed",
    "7\techo\tA loud bell rings without an ECHO.\tNegated",
    "number\tfinding\tsentence\tlabel",
)


def column_lines(tokens: str, *negations: tuple[dict[int, str], set[int]]) -> list[str]:
    """A sentence in CD-SCO's layout."""
    words = tokens.split()
    lines = []
    for place, word in enumerate(words):
        cells = ["story", "0", str(place), word, word, "X", "*"]
        for cue, scope in negations:
            cells += [cue.get(place, "_"), word if place in scope else "_", "_"]
        lines.append("\t".join(cells if negations else [*cells, "***"]))
    return [*lines, ""]


def test_findings_are_read_and_counted() -> None:
    rows = list(negex_rows(NEGEX))
    assert [(row.finding, row.negated) for row in rows] == [
        ("hum", True), ("click", True), ("loud bell", False), ("echo", True)
    ]  # fmt: skip
    counts = measure_negex(rows)
    assert (counts["parser"].right, counts["parser"].false, counts["parser"].missed) == (3, 0, 0)
    fooled = measure_negex(negex_rows(["7\train\tno wind but rain\tAffirmed"]))
    assert fooled["naive"].false == 1 and fooled["parser"].false == 0


def test_cues_and_scopes_are_read_and_counted() -> None:
    lines = [
        *column_lines("rain without any thunder", ({1: "without"}, {2, 3})),
        *column_lines("an unhappy dog", ({1: "un"}, {0, 1, 2})),
        *column_lines("birds sing"),
    ]
    sentences = list(cdsco_sentences(lines))
    assert [len(one.negations) for one in sentences] == [1, 0, 0], "a cue inside a word is left out"
    counts = measure_cdsco(sentences)
    assert (counts["parser cues"].right, counts["parser cues"].false, counts["parser cues"].missed) == (1, 0, 0)
    assert counts["naive scopes"].right == 1
    assert counts["parser scope tokens"].right >= 1 and counts["parser scope tokens"].false == 0
    # "Without any" is one cue here, so that "any" is missing from the scope, and is counted so.
    assert counts["parser scope tokens"].missed == 1 and counts["parser scopes"].right == 0


def test_counts_are_harmonic() -> None:
    counts = measure_negex(negex_rows(["1\train\tno rain\tNegated", "1\twind\tno rain, wind\tNegated"]))
    assert str(counts["parser"]) == "precision 1.00  recall 0.50  F1 0.67"
