"""A ranking and an analysis of combinations read the same labels from the same file, or refuse it alike."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pytest
import soundfile

from backend.collections.composition_sources import load_source
from backend.collections.csv_table import table_of
from backend.collections.hierarchy import read_hierarchy
from backend.collections.label_tables import class_label, clip_key, read_labels
from backend.collections.layouts import open_collection
from backend.collections.sound_files import SoundFinder
from backend.errors import InputError
from tests.fakes import BandEncoder

CAFE = "caf\u00e9"


def sound(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, 0.1 * np.sin(np.arange(8000)), 8000)
    return path


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("path,label\na.wav,dog\nb.wav,rain; dog\n", {"a": {"dog"}, "b": {"rain", "dog"}}),
        ("file,sources\na.wav,dog\nb.wav,rain\n", {"a": {"dog"}, "b": {"rain"}}),
        ("filename;labels\na.wav;dog\nb.wav;\"dog;rain\"\n", {"a": {"dog"}, "b": {"dog", "rain"}}),
        ("clip_id,path,labels\nx,a.wav,dog\ny,b.wav,rain\n", {"x": {"dog"}, "y": {"rain"}}),
        ("name,labels\na,dog\nb,rain\n", {"a": {"dog"}, "b": {"rain"}}),
        ("id\tpath\tlabels\n\ta.wav\tdog\n2\tb.wav\tNA\n", {"a": {"dog"}, "2": {"NA"}}),
        ("path,labels\na.wav,cafe\u0301\nb.wav,dog  barking\n", {"a": {CAFE}, "b": {"dog barking"}}),
        ("\n\npath,labels,\na.wav,dog,\n,,\nb.wav,rain,,\n", {"a": {"dog"}, "b": {"rain"}}),
        ("chunkname,majorityvote\na,cp\nb,b\n", {"a": {"child speech", "percussive sound"}, "b": {"broadband noise"}}),
        ("filename,target,category\na.wav,0,vacuum_cleaner\nb.wav,1,dog\n", {"a": {"vacuum cleaner"}, "b": {"dog"}}),
        ("Path,Labels\nsub/c.wav,dog\nc.wav,dog\n", {"sub/c": {"dog"}, "c": {"dog"}}),
    ],
    ids="label sources semicolons id-and-path name empty-id accents blank-cells chime esc50 below".split(),
)  # fmt: skip
def test_both_routes_give_the_same_labels(tmp_path: Path, text: str, expected: dict[str, set[str]]) -> None:
    for name in ("a.wav", "b.wav", "sub/c.wav"):
        sound(tmp_path / name)
    table = written(tmp_path / "t.csv", text)
    ranked = open_collection(table)
    assert {clip_key(item.id): set(item.labels) for item in ranked.items} == expected and not ranked.skipped
    analysed = load_source(table, [], BandEncoder())
    assert dict(zip(analysed.data.ids, map(set, analysed.data.labels), strict=True)) == expected
    assert [item.path for item in ranked.items] == list(analysed.files.values())


def test_fsd50k_differs_only_in_how_a_ranking_says_its_names(tmp_path: Path) -> None:
    sound(tmp_path / "FSD50K.eval_audio" / "64760.wav")
    table = written(
        tmp_path / "FSD50K.ground_truth" / "eval.csv",
        'fname,labels,mids\n64760,"Electric_guitar,Rattle_and_hum","/m/1,/m/2"\n',
    )
    (item,) = open_collection(table).items
    analysed = load_source(table, [], BandEncoder())
    assert analysed.data.labels == (frozenset({"Electric_guitar", "Rattle_and_hum"}),)
    assert set(item.labels) == {class_label(name).replace(" and ", ", ") for name in analysed.data.labels[0]}
    assert analysed.files == {"64760": item.path}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("path,caption,labels\na.wav,A dog barks, then rain falls,dog;rain\n", "row 2 has 4 cells; the header names 3"),
        ("path,labels\na.wav,dog\nb.wav,dog,rain\n", "row 3 has 3 cells; the header names 2 columns. Quote cells"),
        ('path,labels\na.wav,"dog"s\n', "row 2 is not CSV"),
        ('path,labels\na.wav,"dog\n', "is not CSV"),
        ("path,labels,labels\na.wav,dog,rain\n", "two columns named labels"),
        ("path,labels\na.wav,do\0g\n", "is not a text file"),
        ("", "is empty"),
        ("a,b\n1,2\n", "it has the columns a, b"),
    ],
)  # fmt: skip
def test_both_routes_refuse_the_same_file_in_the_same_words(tmp_path: Path, text: str, said: str) -> None:
    for name in ("a.wav", "b.wav"):
        sound(tmp_path / name)
    table = written(tmp_path / "t.csv", text)
    with pytest.raises(InputError) as ranking:
        open_collection(table)
    with pytest.raises(InputError) as analysis:
        read_labels(table)
    assert str(ranking.value) == str(analysis.value) and said in str(ranking.value)
    assert ranking.value.concerns == analysis.value.concerns == "file"


def test_a_lost_quote_never_becomes_other_labels(tmp_path: Path) -> None:
    """Fourteen clips whose label lists are separated by bare commas: once read as fourteen first labels."""
    table = written(tmp_path / "labels.csv", "id,labels\nc00,dog\nc01,dog,rain\n")
    np.savez(tmp_path / "e.npz", ids=np.array(["c00", "c01"]), embeddings=np.eye(2))
    with pytest.raises(InputError, match=r"labels\.csv row 3 has 3 cells"):
        load_source(tmp_path / "e.npz", [table])


@pytest.mark.parametrize("on_disk", ["NFC", "NFD"])
def test_a_sound_is_found_however_its_accents_are_composed(tmp_path: Path, on_disk: str) -> None:
    sound(tmp_path / unicodedata.normalize(on_disk, "for\u00eat.wav"))
    for form in ("NFC", "NFD"):
        table = written(
            tmp_path / "t.csv", "path,labels\n" + unicodedata.normalize(form, "for\u00eat.wav") + ",birds\n"
        )
        assert len(open_collection(table)) == len(load_source(table, [], BandEncoder()).data.ids) == 1


def test_a_sound_of_another_folder_is_not_taken_for_a_missing_one(tmp_path: Path) -> None:
    sound(tmp_path / "north" / "001.wav")
    table = written(tmp_path / "t.csv", "path,labels\nnorth/001.wav,dog\nsouth/001.wav,rain\n")
    read = open_collection(table)
    assert [item.id for item in read.items] == ["north/001.wav"] and read.skipped[0].row == "t.csv row 3"
    with pytest.raises(InputError, match=r"row 3: there is no sound file for 'south/001'"):
        load_source(table, [], BandEncoder())


def test_names_that_no_file_system_takes_and_names_of_two_files_are_no_sound(tmp_path: Path) -> None:
    for name in ("one/a.wav", "two/a.wav", "two/b.wav"):
        sound(tmp_path / name)
    finder = SoundFinder([tmp_path])
    assert finder.find(["x" * 5000]) is None and finder.find([]) is None and finder.find(["a"]) is None
    assert finder.find(["two/a"]) == tmp_path / "two" / "a.wav" and finder.find(["b.wav"]) == tmp_path / "two" / "b.wav"
    assert SoundFinder([tmp_path / "one"]).find([str(tmp_path / "two" / "b.wav")]) == tmp_path / "two" / "b.wav"


def test_cells_stay_text_and_rows_keep_their_lines() -> None:
    table = table_of('id,labels,n\r\n007,NA,1e3\r\n\r\n"two\r\nlines",null\r\nx\r\n', "t.csv")
    found = [(row.place, dict(row.cells), row.width) for row in table.rows()]
    assert found == [
        ("t.csv row 2", {"id": "007", "labels": "NA", "n": "1e3"}, 3),
        ("t.csv row 5", {"id": "two\nlines", "labels": "null", "n": ""}, 2),
        ("t.csv row 6", {"id": "x", "labels": "", "n": ""}, 1),
    ]


def test_a_hierarchy_is_read_as_strictly(tmp_path: Path) -> None:
    table = written(tmp_path / "h.csv", "child;parent\nDog;Pet\n")
    assert read_hierarchy(table) == {"Dog": frozenset({"Pet"})}
    written(table, "child,parent\nDog\n")
    with pytest.raises(InputError, match="row 2: 'Dog' has no parent"):
        read_hierarchy(table)
