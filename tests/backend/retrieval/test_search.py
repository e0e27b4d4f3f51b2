"""One query by every scorer: what is said about the first hits comes from the result."""

from __future__ import annotations

import numpy as np
import pytest

from backend import __version__
from backend.collections.demo import demo_clips
from backend.collections.layouts import open_collection
from backend.collections.store import embed_collection
from backend.negation import parse_query
from backend.retrieval.scoring import SCORERS, score_query
from backend.retrieval.search import SearchResult
from tests.fakes import BandEncoder


@pytest.fixture(scope="module")
def result() -> SearchResult:
    encoder = BandEncoder()
    demo = embed_collection(open_collection("demo"), encoder)
    return SearchResult(score_query(demo, encoder, parse_query("a dog barking, no rain")), 0.5)


def test_counts_are_those_of_the_labels(result: SearchResult) -> None:
    truth = result.scores.violates
    for ranking, scorer in zip(result.rankings, SCORERS, strict=True):
        assert ranking is result.by(scorer)
        first = ranking.order[:7]
        counts = ranking.counts(7)
        assert (counts.hits, counts.violating) == (7, int(np.nansum(truth[first])))
        assert counts.unjudged == int(np.isnan(truth[first]).sum())
        assert counts.answering == int(np.nansum(result.scores.answers[first]))
        assert result.record("raw", 7)["counts"][scorer]["violating"] == counts.violating
    assert result.answering == sum(value == 1 for value in result.scores.answers)
    assert not result.is_silent(len(demo_clips()))


def test_a_result_in_full_names_ranks_presence_and_what_made_it(result: SearchResult) -> None:
    for full in result.hits_in_full("steered", 5):
        assert full.ranks == {r.scorer: list(r.order).index(full.hit.index) + 1 for r in result.rankings}
        assert [name for name, _ in full.presence] == ["dog barking", "rain"]
    record = result.record("steered", 5, 3, link="?q=x")
    assert record["provenance"] == {
        "version": __version__, "encoder": "band", "weights": "0" * 12, "seed": 3, "link": "?q=x",
    }  # fmt: skip
    curve = result.curve(5)
    assert curve.violations[0] == result.by("raw").violations(5)
    assert result.by_exclusion(5) == (result.by("exclusion").violations(5), result.by("exclusion").recall(5))
