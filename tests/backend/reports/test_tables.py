"""Tables of results as CSV."""

from __future__ import annotations

import csv
import io

import numpy as np

from backend import __version__
from backend.audio import load_clip
from backend.collections.demo import demo_clips
from backend.evidence.localization import localize
from backend.negation import parse_query
from backend.reports.tables import Table, window_table
from tests.fakes import BandEncoder


def test_a_spreadsheet_cannot_run_a_cell() -> None:
    table = Table(("name", "value"), [{"name": "=cmd()", "value": -0.5}, {"name": "@x"}, {"name": "-1.5"}])
    assert table.csv() == "name,value\n'=cmd(),-0.5\n'@x,\n-1.5,\n"


def test_every_window_of_every_concept_is_a_row_that_names_what_made_it() -> None:
    clip = load_clip(demo_clips()[0].path)
    found = localize(BandEncoder(), clip, parse_query("band 1, no band 2").concepts, 2.0)
    rows = list(csv.DictReader(io.StringIO(window_table(found, 7, found).csv())))
    assert len(rows) == 2 * len(found.windows)
    assert {(row["encoder"], row["weights"], row["seed"], row["version"]) for row in rows} == {
        ("band", "0" * 12, "7", __version__)
    }
    assert {row["clip"] for row in rows} == {clip.digest}
    scores = np.concatenate([evidence.scores for evidence in found.evidence])
    np.testing.assert_allclose([float(row["cosine"]) for row in rows], scores, atol=1e-6)
    assert [row["cosine"] for row in rows] == [row["cosine_after_cut"] for row in rows]
    assert window_table(found, 7).csv().splitlines()[1].split(",")[5] == ""
