"""``python -m backend compose``: the headline, the files, the exit codes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from backend import __main__ as command_line
from backend.composition import LabelledEmbeddings, compose


@pytest.fixture
def run():
    """The command line."""
    return lambda *arguments: command_line.main(["compose", *map(str, arguments)])


@pytest.fixture
def files(tmp_path):
    """Forty clips of combinations of four sounds."""
    random = np.random.default_rng(0)
    names = np.array(["dog", "rain", "siren", "wind"])
    sets = [sorted(random.choice(names, random.integers(1, 4), replace=False)) for _ in range(40)]
    rows = np.array([[name in labels for name in names] for labels in sets]) @ random.standard_normal((4, 16))
    rows = (rows + 0.1 * random.standard_normal(rows.shape)).astype(np.float32)
    ids = np.array([f"c{i}" for i in range(40)])
    np.savez(tmp_path / "e.npz", ids=ids, embeddings=rows)
    lines = [f"{clip},{';'.join(labels[::-1])}" for clip, labels in zip(ids, sets, strict=True)]
    (tmp_path / "labels.csv").write_text("id,labels\n" + "\n".join(lines) + "\n")
    return tmp_path, LabelledEmbeddings(tuple(ids.tolist()), rows, tuple(map(frozenset, sets)))


@pytest.mark.slow
def test_writes_the_same_numbers_as_the_library(run, files, capsys):
    folder, data = files
    code = run(
        folder / "e.npz", "--labels", folder / "labels.csv", "--encoder", "mine", "--seed", 7, "--out", folder / "o"
    )
    assert code == 0
    out = capsys.readouterr().out
    record = json.loads((folder / "o" / "compose.json").read_text())
    expected = compose(data, seed=7).record()
    assert {k: v for k, v in record.items() if k != "provenance"} == {
        k: v for k, v in expected.items() if k != "provenance"
    }
    assert record["provenance"]["encoder"] == "mine" and record["provenance"]["seed"] == 7
    assert f"{record['loo']['real']['cosine']:+.3f}" in out.splitlines()[0]
    assert "Repeated holdout" in out and (folder / "o" / "report.html").exists()


def test_prints_json(run, files, capsys):
    folder, _ = files
    assert run(folder / "e.npz", "--labels", folder / "labels.csv", "--json", "--permutations", 3) == 0
    assert json.loads(capsys.readouterr().out)["n_clips"] == 40


def test_a_bad_file_exits_1_and_a_bad_argument_2_with_one_sentence(run, files, capsys):
    folder, _ = files
    good = [folder / "e.npz", "--labels", folder / "labels.csv"]
    (folder / "short.csv").write_text("id,labels\nc0,dog\n")
    cases = [
        ([folder / "e.npz", "--labels", folder / "short.csv"], 1),
        ([folder / "e.npz", "--labels", folder / "none.csv"], 1),
        ([*good, "--memory-mb", 0.001], 1),
        ([folder / "e.npz"], 2),
        ([folder / "nothing"], 1),
        ([*good, "--ancestors", "drop"], 2),
        ([*good, "--ancestors", "sideways"], 2),
        ([*good, "--lambda", "-3"], 2),
        ([*good, "--seed", "-1"], 2),
        ([*good, "--out", folder / "e.npz"], 2),
    ]
    for arguments, code in cases:
        assert run(*arguments) == code, arguments
        captured = capsys.readouterr()
        assert captured.out == "" and len(captured.err.strip().splitlines()) == 1, arguments
        assert "Traceback" not in captured.err
