"""What a person hands to the library: any iterables of names, and a sentence for what cannot be meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backend.__main__ import main
from backend.collections.composition_sources import load_source
from backend.collections.label_options import LabelOptions
from backend.collections.label_tables import read_labels
from backend.composition import (
    LabelledEmbeddings,
    canonical_correlations,
    choose_penalty,
    compose,
    draw_split,
    evaluate,
    factorise,
    label_overlap,
    linear_cka,
    prepare,
)
from backend.errors import InputError

SETS = [["dog", "rain"], ["dog", "wind"], ["rain", "wind"], ["dog"], ["rain"], ["wind"], ["dog", "rain"]]
IDS = [f"c{row}" for row in range(len(SETS))]
ROWS = np.random.default_rng(0).normal(size=(len(SETS), 4))


def lines_of(folder: Path) -> Path:
    table = folder / "labels.csv"
    table.write_text("id,labels\n" + "".join(f"{i},{';'.join(s)}\n" for i, s in zip(IDS, SETS, strict=True)))
    return table


@pytest.mark.parametrize(
    "labels",
    [
        SETS,
        tuple(map(tuple, SETS)),
        [set(names) for names in SETS],
        [frozenset(names) for names in SETS],
        [dict.fromkeys(names) for names in SETS],
        (iter(names) for names in SETS),
        [np.array(names) for names in SETS],
    ],
    ids=["lists", "tuples", "sets", "frozensets", "dicts", "iterators", "arrays"],
)
def test_labels_may_be_any_iterables(labels: object) -> None:
    expected = compose(
        LabelledEmbeddings(tuple(IDS), ROWS, tuple(map(frozenset, SETS))), permutations=3, splits=2
    ).record()
    data = LabelledEmbeddings(IDS, ROWS.tolist(), labels)  # type: ignore[arg-type]
    assert data.labels == tuple(map(frozenset, SETS)) and data.ids == tuple(IDS)
    assert compose(data, permutations=3, splits=2).record() == expected


@pytest.mark.parametrize(
    ("ids", "rows", "labels", "said"),
    [
        (IDS, ROWS, ["dog"] * 7, "labels of clip 'c0' are 'dog'; give a list or a set"),
        (IDS, ROWS, "dog;rain", "labels are 'dog;rain'; give one list"),
        (IDS, ROWS, None, "labels are None"),
        (IDS, ROWS, [*SETS[:-1], None], "clip 'c6' are None"),
        (IDS, ROWS, [*SETS[:-1], ["dog", 3]], "clip 'c6' hold 3, which is no text"),
        ("c0c1c2c", ROWS, SETS, "ids are 'c0c1c2c'; give a list"),
        (range(7), ROWS, SETS, "ids hold 0, which is no text"),
        (IDS, ROWS[:5], SETS, "7 ids, 5 embeddings and 7 label sets"),
        (IDS, ROWS[0], SETS, "table of numbers, a row for each clip"),
        (IDS, [[1.0], [1.0, 2.0]], SETS, "table of numbers"),
        (IDS, [["a"] * 4] * 7, SETS, "table of numbers"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(ids: object, rows: object, labels: object, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        LabelledEmbeddings(ids, rows, labels)  # type: ignore[arg-type]
    assert refused.value.concerns == "argument"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"permutations": 10**14}, "at most 100,000"),
        ({"splits": 10**9}, "at most 10,000"),
        ({"permutations": 0}, "at least 1"),
        ({"seed": -1}, "at least 0"),
    ],
)
def test_how_much_may_be_asked_for(options: dict[str, int], said: str) -> None:
    with pytest.raises(InputError, match=said):
        compose(LabelledEmbeddings(IDS, ROWS, SETS), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("mark", [",", "\t", ";"])
def test_columns_may_be_separated_as_spreadsheets_do(tmp_path: Path, mark: str) -> None:
    table = tmp_path / "labels.csv"
    table.write_text(f'id{mark}labels\na{mark}"dog; rain"\n')
    assert read_labels(table).labels == {"a": frozenset({"dog", "rain"})}


def test_tables_of_numbers_may_be_lists() -> None:
    """The public functions of numbers answer lists as they answer arrays."""
    sources = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 1, 1], [1, 0, 1]]
    means = np.random.default_rng(1).normal(size=(5, 4))
    plain, arrays = (sources, means.tolist()), (np.array(sources, dtype=float), means)

    def answers(s: Any, r: Any) -> list[np.ndarray]:
        ridge = factorise(s).ridge(0.1)
        return [
            ridge.leave_one_out(r),
            ridge.leave_block_out(r, [1, 2]),  # type: ignore[arg-type]
            ridge.contributions(r),
            evaluate(prepare(r), r).values(),
            np.array(linear_cka(r, r)),
            label_overlap(s, r),
            choose_penalty(s, r, np.array([0, 1])).errors,
            draw_split(s, np.random.default_rng(0)),
            canonical_correlations(s, r).real,
        ]

    for one, other in zip(answers(*plain), answers(*arrays), strict=True):
        np.testing.assert_array_equal(one, other)


def test_one_label_table_needs_no_list(tmp_path: Path) -> None:
    table = lines_of(tmp_path)
    assert read_labels(table).labels == read_labels([table]).labels == read_labels(str(table)).labels


def test_labels_to_leave_out_are_a_list_too(tmp_path: Path) -> None:
    np.savez(tmp_path / "e.npz", ids=np.array(IDS), embeddings=ROWS)
    options = LabelOptions(without="dog")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="to leave out are 'dog'"):
        load_source(tmp_path / "e.npz", [lines_of(tmp_path)], options=options)
    with pytest.raises(InputError, match="There are dog, rain, wind"):
        load_source(tmp_path / "e.npz", [lines_of(tmp_path)], options=LabelOptions(without=("cat",)))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("README.md", b"---\ntitle: x\n---\n", "names no columns"),
        ("notes.txt", b"These are my notes\nof today\n", "first line is"),
        ("a.wav", b"RIFF\xff\xfe\x00", "is a sound, not a table"),
        ("a.csv", b"PK\x03\x04\x00\xff\xfe", "binary data, not a table"),
        ("latin.csv", "id,labels\na,düster\n".encode("latin-1"), "row 2 is not UTF-8"),
        ("wrong.csv", b"name of clip,what\na,b\n", "has the columns name of clip, what"),
    ],
)
@pytest.mark.parametrize("command", [["compose"], ["rank"]])
def test_a_file_that_is_no_table_is_told_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str], name: str, content: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content)
    query = ["rain"] if command == ["rank"] else []
    assert main([*command, str(tmp_path / name), *query]) == 1
    captured = capsys.readouterr()
    assert said in captured.err and len(captured.err.splitlines()) == 1 and not captured.out
