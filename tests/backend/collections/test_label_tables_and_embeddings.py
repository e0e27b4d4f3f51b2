"""Labels and ready embeddings: every layout read, every fault named with its row."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from backend.collections.composition_sources import load_source, match
from backend.collections.hierarchy import (
    ancestors,
    fsd50k_name,
    inferred_hierarchy,
    read_hierarchy,
    without_ancestors,
)
from backend.collections.label_options import LabelOptions
from backend.collections.label_tables import CHIME_CLASSES, read_labels
from backend.collections.ready import read_embeddings
from backend.errors import InputError


def written(tmp_path, text: str, name: str = "labels.csv"):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_plain_labels(tmp_path):
    table = read_labels([written(tmp_path, 'id,labels\nx.wav,dog; rain ;dog\ny,"rain;Chirp, tweet"\n\nz,rain;\n')])
    assert table.labels == {
        "x": frozenset({"dog", "rain"}), "y": frozenset({"rain", "Chirp, tweet"}), "z": frozenset({"rain"}),
    }  # fmt: skip
    assert table.layout == "plain" and table.rows["z"] == "labels.csv row 5"


def test_byte_order_mark_crlf_tabs_and_other_column_names(tmp_path):
    table = read_labels([written(tmp_path, "\ufefffilename\tnote\tlabels\r\na.flac\t-\tdog;rain\r\n")])
    assert table.labels == {"a": frozenset({"dog", "rain"})}


def test_composed_and_decomposed_letters_are_one_label(tmp_path):
    table = read_labels([written(tmp_path, "id,labels\na,caf\u00e9\nb,cafe\u0301\n")])
    assert table.labels["a"] == table.labels["b"]


def test_fsd50k_labels_with_their_codes(tmp_path):
    text = 'fname,labels,mids,split\n64760,"Electric_guitar,Guitar,Music","/m/02sgy,/m/0342h,/m/04rlf",train\n'
    table = read_labels([written(tmp_path, text)])
    assert table.labels["64760"] == {"Electric_guitar", "Guitar", "Music"}
    assert table.codes["Guitar"] == "/m/0342h" and table.layout == "fsd50k"


def test_several_tables_are_one(tmp_path):
    dev = written(tmp_path, "fname,labels,mids,split\n1,Bark,/m/a,train\n", "dev.csv")
    evaluation = written(tmp_path, "fname,labels,mids\n2,Rain,/m/b\n", "eval.csv")
    assert set(read_labels([dev, evaluation]).labels) == {"1", "2"}


def test_chime_home_table_and_folder(tmp_path):
    table = read_labels([written(tmp_path, "chunkname,majorityvote\nk1,cv\nk2,SU\nk3,p\n")])
    assert table.labels == {
        "k1": frozenset({CHIME_CLASSES["c"], CHIME_CLASSES["v"]}), "k3": frozenset({CHIME_CLASSES["p"]}),
    }  # fmt: skip
    assert table.empty == ("k2",) and table.layout == "chime-home"
    folder = tmp_path / "chunks"
    folder.mkdir()
    written(folder, "annotation_a1,cm\nchunkname,k1\nmajorityvote,c\n", "k1.csv")
    written(folder, "chunkname,k2\nmajorityvote,\n", "k2.csv")
    table = read_labels([folder])
    assert table.labels == {"k1": frozenset({CHIME_CLASSES["c"]})} and table.empty == ("k2",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("id,labels\n", "no labelled clip"),
        ("a,b\n1,2\n", "columns a, b"),
        ("id,labels\nx,dog\ny\n", "row 3 has 1 column"),
        ("id,labels\nx,dog\ny,;\n", "row 3: clip 'y' has no label"),
        ("id,labels\n,dog\n", "row 2 has no clip id"),
        ("id,labels\nx,dog\nx,rain\n", "row 3: clip 'x' has other labels than in labels.csv row 2"),
        ('id,labels\nx,"dog\n', "is not CSV"),
        (b"id,labels\nx,dog\ny,\xff\xfe\n", "row 3 is not UTF-8"),
        ("chunkname,majorityvote\nk1,cz\n", "'z'"),
        ("chunkname,majorityvote\n,c\n", "row 2 has no chunk name"),
    ],
)
def test_bad_label_tables_are_told_with_their_row(tmp_path, text, said):
    path = tmp_path / "labels.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError) as caught:
        read_labels([path])
    assert said in str(caught.value) and caught.value.concerns == "file"


def test_the_same_row_twice_is_no_fault(tmp_path):
    assert read_labels([written(tmp_path, "id,labels\nx,dog;rain\nx,rain;dog\n")]).labels["x"] == {"dog", "rain"}


def test_missing_label_file(tmp_path):
    with pytest.raises(InputError, match="no file"):
        read_labels([tmp_path / "none.csv"])
    with pytest.raises(InputError, match="No label table"):
        read_labels([])


def npz(tmp_path, compressed: bool = False, **arrays):
    path = tmp_path / "e.npz"
    (np.savez_compressed if compressed else np.savez)(path, **arrays)
    return path


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_npz_either_way(tmp_path, compressed, dtype):
    rows = np.arange(12, dtype=dtype).reshape(3, 4)
    ids, found = read_embeddings(npz(tmp_path, compressed, ids=np.array(["a.wav", "b", "c"]), embeddings=rows))
    assert ids == ("a", "b", "c")
    assert found.dtype == dtype and np.array_equal(found, rows)
    assert isinstance(found, np.memmap) is not compressed


def test_npz_with_fortran_order_bytes_and_integer_ids(tmp_path):
    rows = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    ids, found = read_embeddings(npz(tmp_path, ids=np.array([b"a", b"b"]), embeddings=rows))
    assert ids == ("a", "b") and np.array_equal(found, rows)
    assert read_embeddings(npz(tmp_path, ids=np.array([64760, 7]), embeddings=rows))[0] == ("64760", "7")


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"ids": np.array(["a"])}, "must hold ids and embeddings"),
        ({"ids": np.array(["a", "b"]), "embeddings": np.zeros((3, 2))}, "2 ids and 3 embeddings"),
        ({"ids": np.array(["a", "a.wav"]), "embeddings": np.zeros((2, 2))}, "row 2: the id 'a' was already in row 1"),
        ({"ids": np.array(["a"]), "embeddings": np.zeros((1, 2, 2))}, "shape"),
        ({"ids": np.array(["a"]), "embeddings": np.zeros(1)}, "shape"),
        ({"ids": np.array(["a"]), "embeddings": np.zeros((1, 2), int)}, "float16, float32 or float64"),
        ({"ids": np.array([0.5]), "embeddings": np.zeros((1, 2))}, "N strings"),
        ({"ids": np.array(["a"], dtype=object), "embeddings": np.zeros((1, 2))}, "pickled"),
        ({"ids": np.zeros(0, "U1"), "embeddings": np.zeros((0, 3))}, "shape"),
    ],
)
def test_bad_npz(tmp_path, arrays, said):
    with pytest.raises(InputError) as caught:
        read_embeddings(npz(tmp_path, **arrays))
    assert said in str(caught.value) and caught.value.concerns == "file"


def test_an_embedding_file_that_is_something_else(tmp_path):
    for name in ("e.npz", "e.parquet"):
        path = tmp_path / name
        path.write_bytes(b"<html>not found</html>")
        with pytest.raises(InputError, match="cannot be read as"):
            read_embeddings(path)
    with pytest.raises(InputError, match="no file"):
        read_embeddings(tmp_path / "none.npz")


def claimed(path, shape) -> None:
    """An .npz whose embeddings claim a shape they do not have."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": shape})
    ids = io.BytesIO()
    np.save(ids, np.array(["a"]))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ids.npy", ids.getvalue())
        archive.writestr("embeddings.npy", header.getvalue() + b"\0" * 64)


def test_a_header_that_lies_about_its_size(tmp_path):
    claimed(tmp_path / "lie.npz", (200_000, 1024))
    with pytest.raises(InputError, match="cut off or damaged"):
        read_embeddings(tmp_path / "lie.npz")
    claimed(tmp_path / "huge.npz", (2**40, 2**40))
    with pytest.raises(InputError, match="cut off or damaged"):
        read_embeddings(tmp_path / "huge.npz")


def test_what_does_not_fit_is_refused_before_it_is_read_and_says_how_much_it_needs(tmp_path):
    """200,000 x 1,024 float32: the zeros compress to nothing, so the file is small and honest."""
    path = tmp_path / "large.npz"
    ids, header = io.BytesIO(), io.BytesIO()
    np.save(ids, np.arange(200_000).astype(str))
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (200_000, 1024)})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("ids.npy", ids.getvalue())
        with archive.open("embeddings.npy", "w") as stream:
            stream.write(header.getvalue())
            for _ in range(100):
                stream.write(bytes(200_000 * 1024 * 4 // 100))
    with pytest.raises(InputError, match=r"200,000 clips x 1,024 float32 numbers need 1\.\d\d GiB .* 0\.50 GiB"):
        read_embeddings(path, memory=2**29)


@pytest.mark.parametrize("kind", ["list", "fixed", "columns"])
def test_parquet_layouts(tmp_path, kind):
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    columns = {"id": ["a", "b", "c"]}
    if kind == "list":
        columns["embedding"] = rows.tolist()
    elif kind == "fixed":
        columns["embedding"] = arrow.FixedSizeListArray.from_arrays(arrow.array(rows.ravel()), 2)
    else:
        columns |= {"e0": rows[:, 0], "e1": rows[:, 1]}
    path = tmp_path / "e.parquet"
    parquet.write_table(arrow.table(columns), path)
    ids, found = read_embeddings(path)
    assert ids == ("a", "b", "c") and np.array_equal(found, rows)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"id": ["a", "b"], "embedding": [[1.0, 2.0], [1.0]]}, "row 2: the embedding has 1 numbers, row 1 has 2"),
        ({"id": ["a", "b"], "embedding": [[1.0, 2.0], None]}, "row 2"),
        ({"name": ["a"], "embedding": [[1.0]]}, "needs id"),
        ({"id": ["a"], "embedding": [["x"]]}, "list of float"),
        ({"id": ["a"], "count": [1]}, "needs embedding"),
    ],
)
def test_bad_parquet(tmp_path, columns, said):
    path = tmp_path / "e.parquet"
    parquet.write_table(arrow.table(columns), path)
    with pytest.raises(InputError) as caught:
        read_embeddings(path)
    assert said in str(caught.value)


def test_ids_that_do_not_meet_are_named_with_their_row(tmp_path):
    table = read_labels([written(tmp_path, "id,labels\na,dog\nq,rain\n")])
    with pytest.raises(InputError, match=r"labels.csv row 3: the id 'q' has no embedding"):
        match(("a",), table)
    with pytest.raises(InputError, match=r"Embedding row 2: the clip 'b' has no labels"):
        match(("a", "b", "q"), table)
    rows, sets, notes = match(("b", "a"), table, subset=True)
    assert rows.tolist() == [1] and sets == (frozenset({"dog"}),) and len(notes) == 2


def test_ids_of_two_conventions_are_shown_side_by_side(tmp_path):
    table = read_labels([written(tmp_path, "id,labels\nscene-a,dog\nscene-b,rain\n")])
    for subset in (False, True):
        with pytest.raises(InputError) as caught:
            match(("a", "b"), table, subset=subset)
        assert "None of the 2 ids" in str(caught.value) and "'a', the labels 'scene-a'" in str(caught.value)
    only_empty = replace(table, empty=("silent",))
    with pytest.raises(InputError, match="empty labels"):
        match(("silent",), only_empty, subset=True)


def test_what_to_do_about_ids_helps_on_the_page_and_on_the_command_line(tmp_path):
    table = read_labels([written(tmp_path, "id,labels\na,dog\nq,rain\n")])
    with pytest.raises(InputError, match="Take out what only one file has; on the command line, --subset"):
        match(("a", "b"), table)


ONTOLOGY = [
    {"id": "/m/1", "name": "Animal", "child_ids": ["/m/2"]},
    {"id": "/m/2", "name": "Domestic animals, pets", "child_ids": ["/m/3"]},
    {"id": "/m/3", "name": "Dog", "child_ids": []},
]


def test_ancestors_are_dropped_where_a_descendant_is_present(tmp_path):
    parents = read_hierarchy(written(tmp_path, json.dumps(ONTOLOGY), "ontology.json"))
    assert ancestors("Dog", parents) == {"Domestic_animals_and_pets", "Animal"}
    labels = frozenset({"Dog", "Domestic_animals_and_pets", "Animal", "Rain"})
    assert without_ancestors(labels, parents) == {"Dog", "Rain"}
    assert without_ancestors(frozenset({"Animal"}), parents) == {"Animal"}
    by_code = read_hierarchy(tmp_path / "ontology.json", {"Bark": "/m/3"})
    assert ancestors("Bark", by_code) == {"Domestic_animals_and_pets", "Animal"}
    table = read_hierarchy(written(tmp_path, "child,parent\nDog,Pet\nPet,Animal\n", "h.csv"))
    assert ancestors("Dog", table) == {"Pet", "Animal"}
    assert ancestors("a", {"a": frozenset({"b"}), "b": frozenset({"a"})}) == {"b"}


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Chirp, tweet", "Chirp_and_tweet"),
        ("Dishes, pots, and pans", "Dishes_and_pots_and_pans"),
        ("Zipper (clothing)", "Zipper_(clothing)"),
        ("Electric guitar", "Electric_guitar"),
    ],
)
def test_names_as_fsd50k_writes_them(title, name):
    assert fsd50k_name(title) == name


@pytest.mark.parametrize("text", ["[1, 2]", '[{"id": 1}]', "a,b\nc,d\n", "", "child,parent\nx\n"])
def test_bad_hierarchies(tmp_path, text):
    with pytest.raises(InputError):
        read_hierarchy(written(tmp_path, text, "h.json"))


def test_a_hierarchy_can_be_inferred_from_labels_closed_under_it():
    sets = [frozenset({"Dog", "Animal"})] * 5 + [frozenset({"Cat", "Animal"})] * 5 + [frozenset({"Rain"})] * 4
    assert inferred_hierarchy(sets) == {"Dog": {"Animal"}, "Cat": {"Animal"}}


def ready(tmp_path, labels: list[str]):
    count = len(labels)
    path = npz(tmp_path, ids=np.array([f"c{i}" for i in range(count)]), embeddings=np.eye(count))
    text = "id,labels\n" + "".join(f"c{i},{names}\n" for i, names in enumerate(labels))
    return path, written(tmp_path, text)


def test_label_options(tmp_path):
    path, labels = ready(tmp_path, ["dog;animal", "dog;animal;rain", "animal", "rain"])
    hierarchy = written(tmp_path, "child,parent\ndog,animal\n", "h.csv")
    kept = load_source(path, [labels])
    assert kept.data.labels[0] == {"dog", "animal"} and kept.sound is None
    dropped = load_source(path, [labels], options=LabelOptions("drop", str(hierarchy)))
    assert dropped.data.labels == tuple(map(frozenset, ({"dog"}, {"dog", "rain"}, {"animal"}, {"rain"})))
    without = load_source(path, [labels], options=LabelOptions(without=("animal",)))
    assert without.data.ids == ("c0", "c1", "c3") and "1 clips lost all their labels" in without.notes[0]
    assert without.provenance["without"] == ["animal"] and len(without.provenance["collection_sha256"]) == 12


@pytest.mark.parametrize(
    "options",
    [
        LabelOptions("drop"),
        LabelOptions("maybe"),
        LabelOptions(without=("whale",)),
        LabelOptions(without=("dog", "rain")),
    ],
)
def test_bad_label_options(tmp_path, options):
    path, labels = ready(tmp_path, ["dog", "dog;rain", "rain"])
    with pytest.raises(InputError):
        load_source(path, [labels], options=options)
