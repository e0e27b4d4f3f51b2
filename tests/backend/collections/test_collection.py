"""Reading collections: every layout, every kind of bad row; and exact search."""

from __future__ import annotations

import random
import string
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.collections.collection import check_ids, nearest
from backend.collections.layouts import class_label, open_collection
from backend.errors import InputError
from backend.retrieval.steering import unit
from tests.reference.exclusion import nearest_by_loop


def sound(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, np.zeros(800), 8000)
    return path


def table(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_the_demo_collection_is_the_demo_clips():
    demo = open_collection("demo")
    assert demo.layout == "demo" and len(demo) >= 48
    assert all(item.labels and item.caption and item.path.is_file() for item in demo.items)


def test_class_folders(tmp_path):
    sound(tmp_path / "001 - Dog bark" / "1-a.wav")
    sound(tmp_path / "sea_waves" / "1-b.ogg")
    (tmp_path / "sea_waves" / "notes.txt").write_text("no sound")
    read = open_collection(tmp_path)
    assert read.layout == "class folders"
    assert [(item.id, item.labels) for item in read.items] == [
        ("001 - Dog bark/1-a.wav", ("dog bark",)),
        ("sea_waves/1-b.ogg", ("sea waves",)),
    ]


def test_a_flat_folder_has_no_labels(tmp_path):
    sound(tmp_path / "my_dog.wav")
    read = open_collection(tmp_path)
    assert read.layout == "folder" and read.items[0].labels == () and read.items[0].caption == "my dog"


def test_esc50(tmp_path):
    sound(tmp_path / "audio" / "1-100032-A-0.wav")
    table(
        tmp_path / "meta" / "esc50.csv",
        "filename,fold,target,category,esc10,src_file,take\n1-100032-A-0.wav,1,0,dog,True,100032,A\n"
        "1-1-A-36.wav,1,36,vacuum_cleaner,False,1,A\n",
    )
    for source in (tmp_path, tmp_path / "meta" / "esc50.csv"):
        read = open_collection(source)
        assert read.layout == "esc50" and [item.labels for item in read.items] == [("dog",)]
        assert read.skipped[0].row == "esc50.csv row 3" and "no file 1-1-A-36.wav" in read.skipped[0].reason


def test_fsd50k(tmp_path):
    sound(tmp_path / "FSD50K.eval_audio" / "64760.wav")
    table(
        tmp_path / "FSD50K.ground_truth" / "eval.csv",
        'fname,labels,mids\n64760,"Electric_guitar,Guitar,Rattle_and_hum","/m/1,/m/2,/m/3"\n',
    )
    read = open_collection(tmp_path)
    assert read.layout == "fsd50k"
    assert read.items[0].labels == ("electric guitar", "guitar", "rattle, hum")


def test_clotho(tmp_path):
    sound(tmp_path / "evaluation" / "Santa Motor.wav")
    header = "file_name," + ",".join(f"caption_{n}" for n in range(1, 6))
    table(
        tmp_path / "clotho_captions_evaluation.csv",
        f'{header}\nSanta Motor.wav,"A machine, whining",two,three,four,five\n',
    )
    read = open_collection(tmp_path / "clotho_captions_evaluation.csv")
    assert read.layout == "clotho"
    assert read.items[0].caption == "A machine, whining" and read.items[0].captions[4] == "five"


def test_audiocaps_merges_the_captions_of_one_clip(tmp_path):
    sound(tmp_path / "test" / "Yabc_30.wav")
    table(
        tmp_path / "test.csv",
        "audiocap_id,youtube_id,start_time,caption\n1,abc,30,Rain falls\n2,abc,30,It is raining\n3,gone,0,Wind\n",
    )
    read = open_collection(tmp_path / "test.csv")
    assert read.layout == "audiocaps" and len(read) == 1
    assert read.items[0].captions == ("Rain falls", "It is raining") and len(read.skipped) == 1


def test_a_plain_table_lists_bad_rows_and_goes_on(tmp_path):
    sound(tmp_path / "clips" / "a.wav")
    sound(tmp_path / "ünï côdé.wav")
    table(
        tmp_path / "mine.csv",
        "\ufeffpath,caption,labels\nclips/a.wav,a dog,dog barking; rain ;\ngone.wav,x,y\n,empty,z\nünï côdé.wav\n\n",
    )
    read = open_collection(tmp_path / "mine.csv")
    assert [item.id for item in read.items] == ["clips/a.wav", "ünï côdé.wav"]
    assert read.items[0].labels == ("dog barking", "rain") and read.items[1].labels == ()
    assert [one.row for one in read.skipped] == ["mine.csv row 3", "mine.csv row 4"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("path,caption\n", "no row"),
        ("", "no row"),
        ("a,b\n1,2\n", "columns a, b"),
        ("path\na.wav\na.wav\n", "twice"),
        ("path\ngone.wav\n", "none of the 1 rows"),
        ('path\n"a.wav\n', "not CSV"),
        ("path\na\0.wav\n", "not a text file"),
    ],
)
def test_a_table_that_cannot_be_used_is_said(tmp_path, text, says):
    sound(tmp_path / "a.wav")
    with pytest.raises(InputError, match=says) as caught:
        open_collection(table(tmp_path / "t.csv", text))
    assert caught.value.concerns == "file"


@pytest.mark.parametrize("mark", [",", "\t", ";"])
def test_columns_may_be_separated_as_spreadsheets_do(tmp_path, mark):
    sound(tmp_path / "a.wav")
    rows = [["path", "caption", "labels"], ["a.wav", "a dog in the rain", '"dog; rain; dog"']]
    (item,) = open_collection(table(tmp_path / "t.csv", "\n".join(map(mark.join, rows)))).items
    assert (item.caption, item.labels) == ("a dog in the rain", ("dog", "rain"))


def test_no_name_and_ready_embeddings_are_no_sounds(tmp_path):
    for name in ("", "  "):
        with pytest.raises(InputError, match="No collection was named"):
            open_collection(name)
    with pytest.raises(InputError, match="needs the sounds themselves") as refused:
        open_collection(tmp_path / "ready.npz")
    assert refused.value.concerns == "file"


def test_other_things_that_are_no_collection(tmp_path):
    with pytest.raises(InputError, match="no collection"):
        open_collection(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no audio file"):
        open_collection(tmp_path / "empty")
    (tmp_path / "latin.csv").write_bytes("path\nbär.wav\n".encode("latin-1"))
    with pytest.raises(InputError, match="UTF-8"):
        open_collection(tmp_path / "latin.csv")
    with pytest.raises(InputError, match="at least one"):
        check_ids([], "nothing")


@given(st.binary(max_size=300))
@settings(max_examples=60, deadline=None)
def test_any_bytes_are_a_collection_or_a_sentence(content: bytes):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_bytes(content)
        with pytest.raises(InputError):
            open_collection(path)


def test_class_names_become_words():
    assert class_label("001 - Dog bark") == "dog bark" and class_label("Fire_crackling") == "fire crackling"
    assert class_label("  wind  ") == "wind" and class_label("12") == "12"


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 50))
@settings(max_examples=40, deadline=None)
def test_search_equals_its_twin(seed: int, rows: int, k: int):
    rng = np.random.default_rng(seed)
    matrix = unit(rng.normal(size=(rows, 6))).astype(np.float32)
    matrix[rng.integers(rows)] = matrix[0]
    queries = unit(rng.normal(size=(2, 6))).astype(np.float32)
    found, scores = nearest(matrix, queries, k)
    assert found.shape == scores.shape == (2, min(k, rows))
    for row, query in enumerate(queries):
        direct = matrix @ query
        assert set(np.round(direct[found[row]], 5)) == set(np.round(direct[nearest_by_loop(matrix, query, k)], 5))
        assert np.all(np.diff(scores[row]) <= 0)


def test_search_breaks_ties_by_row_and_refuses_no_hits():
    matrix = np.tile(np.eye(3, dtype=np.float32)[0], (5, 1))
    assert nearest(matrix, matrix[:1], 3)[0].tolist() == [[0, 1, 2]]
    with pytest.raises(InputError, match="at least 1"):
        nearest(matrix, matrix[:1], 0)


def test_long_names_are_no_trouble(tmp_path):
    name = "".join(random.Random(0).choices(string.ascii_letters, k=200)) + ".wav"
    sound(tmp_path / name)
    assert open_collection(tmp_path).items[0].id == name
