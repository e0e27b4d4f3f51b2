"""The text-side diagnosis: relatives, figures, and the plane of steering."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import InputError
from backend.negation import parse_query
from backend.retrieval.diagnosis import diagnose, normalised_affinity, plane_of, polarity_content_ratio
from backend.retrieval.relatives import edited, relatives_of
from backend.retrieval.steering import combined_negative, cosine_with_query, steered_embedding
from backend.retrieval.variants import FIGURES, PAPER_MEANS, VARIANTS, variant
from tests.fakes import BandEncoder


class WordEncoder(BandEncoder):
    """A bag of words: every word is an axis, "no" and its like are not heard at all."""

    DEAF = frozenset("no with without and or".split())

    def __init__(self) -> None:
        super().__init__("words", dim=512)
        self.words: dict[str, int] = {}

    def embed_text(self, texts):
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().replace(",", " ").split():
                if word not in self.DEAF:
                    vectors[row, self.words.setdefault(word, len(self.words))] += 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_relatives_of_the_papers_form() -> None:
    relatives = relatives_of(parse_query("a dog barking and rain, with no thunder"))
    assert relatives.query == "a dog barking and rain, with no thunder"
    assert relatives.affirmative == "dog barking and rain, with thunder"
    assert relatives.paraphrase == "rain and dog barking without thunder"
    assert relatives.swap.endswith(" and rain, with no thunder") and "dog" not in relatives.swap
    assert relatives.bag == "dog barking, rain, thunder"
    assert relatives.scopes == (
        "rain and thunder, with no dog barking",
        "dog barking and thunder, with no rain",
        "dog barking and rain, with no thunder",
    )
    assert not {"dog", "barking", "rain", "thunder"} & set(relatives.unrelated.replace(",", "").split())
    assert relatives == relatives_of(parse_query("a dog barking and rain, with no thunder"))


def test_relatives_of_other_shapes() -> None:
    only_absent = relatives_of(parse_query("no rain"))
    assert (only_absent.affirmative, only_absent.paraphrase, only_absent.scopes) == ("rain", "without rain", ())
    two = relatives_of(parse_query("waves, no gulls or boats"))
    assert two.affirmative == "waves, with gulls and boats"
    assert two.paraphrase == "waves without gulls or boats"
    already = relatives_of(parse_query("rain without thunder"))
    assert already.paraphrase == "rain, with no thunder", "a paraphrase that is the query itself would say nothing"
    corrected = relatives_of(parse_query("rain, thunder").with_flipped(1))
    assert corrected.query == "rain, with no thunder"
    with pytest.raises(InputError, match="nothing that must be absent"):
        relatives_of(parse_query("rain"))


def test_an_encoder_deaf_to_no_is_found_out() -> None:
    """For a bag of words the opposite IS the query: affinity 1, polarity 0, all scopes alike."""
    found = diagnose(WordEncoder(), relatives_of(parse_query("dogs and rain, with no thunder")))
    assert found.affinity == pytest.approx(1.0)
    assert found.polarity_content == pytest.approx(0.0, abs=1e-6)
    assert found.scope_permutation == pytest.approx(1.0)
    assert found.similarity["bag"] == pytest.approx(1.0)
    assert found.similarity["unrelated"] == pytest.approx(0.0)
    assert found.figures.keys() == PAPER_MEANS.keys()


def test_figures_without_a_denominator_are_none() -> None:
    assert normalised_affinity(0.9, 0.5, 0.5) is None
    assert polarity_content_ratio(0.5, 1.0) is None
    assert normalised_affinity(0.9, 0.7, 0.2) == pytest.approx(1.4)
    assert polarity_content_ratio(0.9, 0.6) == pytest.approx(0.25)
    found = diagnose(WordEncoder(), relatives_of(parse_query("no rain")))
    assert found.scope_permutation is None


def unit_vectors(seed: int, count: int, dim: int) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=(count, dim))
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


@given(st.integers(0, 10_000), st.integers(3, 40), st.floats(0, 8))
def test_the_path_lies_in_the_plane(seed: int, dim: int, strength: float) -> None:
    """e* computed in full D dimensions projects exactly on the closed-form path."""
    vectors = unit_vectors(seed, 5, dim)
    query, negative = vectors[0], combined_negative(vectors[1:3])
    star = steered_embedding(query, negative, strength)
    plane = plane_of(
        query, negative, ("q", "n", "other", "star"), np.stack([query, negative, vectors[3], star]), [strength]
    )
    assert plane.points[0] == pytest.approx([1, 0], abs=1e-9)
    assert plane.points[1] == pytest.approx([plane.cosine, np.sqrt(1 - plane.cosine**2)], abs=1e-9)
    assert plane.points[3] == pytest.approx(plane.path[0], abs=1e-7)
    assert plane.outside[[0, 1, 3]] == pytest.approx(0, abs=1e-6)
    assert float(star @ negative) == pytest.approx(plane.with_negative[0], abs=1e-9)
    assert float(star @ query) == pytest.approx(plane.with_query[0], abs=1e-9)
    assert np.hypot(*plane.points[2]) ** 2 + plane.outside[2] ** 2 == pytest.approx(1)


def test_parallel_vectors_have_a_line_and_no_plane() -> None:
    query = unit_vectors(0, 1, 6)[0]
    plane = plane_of(query, query, ("q",), query[None], [0.0, 1.0, 2.0])
    assert plane.cosine == pytest.approx(1)
    assert np.isfinite(plane.points).all() and np.isfinite(plane.path).all()
    assert plane.with_negative == pytest.approx([1, 0, -1], abs=1e-6)


def test_lines_are_editable() -> None:
    relatives = relatives_of(parse_query("dogs and rain, no thunder"))
    changed = edited(relatives, "swap", "  cats and rain, no thunder ")
    assert changed.swap == "cats and rain, no thunder"
    assert edited(relatives, "scope 2", "rain").scopes[1] == "rain"
    found = diagnose(WordEncoder(), changed)
    assert found.similarity["swap"] == pytest.approx(2 / 3, abs=1e-6)
    for name in ("scope 9", "scopes", "negated", "scope x"):
        with pytest.raises(InputError, match="no line"):
            edited(relatives, name, "rain")
    with pytest.raises(InputError, match="empty"):
        edited(relatives, "swap", "  ")


def test_an_encoder_without_text_is_refused() -> None:
    speech = BandEncoder("speech")
    speech.has_text = False
    with pytest.raises(InputError, match="no text side"):
        diagnose(speech, relatives_of(parse_query("dogs, no rain")))


def test_the_record_names_what_made_it() -> None:
    record = diagnose(BandEncoder(), relatives_of(parse_query("dogs, no rain"), 5)).record(link="?q=x")
    assert record["encoder"] == {"id": "band", "weights": "0" * 12}
    assert record["version"]
    assert record["provenance"] == {
        "version": record["version"], "encoder": "band", "weights": "0" * 12, "seed": 5, "link": "?q=x",
    }  # fmt: skip
    steering = record["steering"]
    assert isinstance(steering, dict) and len(steering["lambdas"]) == 12
    assert steering["cos_with_query"][0] == 1.0


def test_how_close_the_opposite_lies_is_said_by_the_diagnosis() -> None:
    found = diagnose(WordEncoder(), relatives_of(parse_query("a dog barking, no rain")))
    assert found.similarity["affirmative"] == pytest.approx(found.similarity["paraphrase"])
    for opposite, said in ((0.7, "closer"), (0.69, "almost"), (0.51, "almost"), (0.49, "further")):
        changed = replace(found, similarity={**found.similarity, "affirmative": opposite, "paraphrase": 0.7})
        assert changed.closeness == changed.record()["closeness"] == said
    for ratio, notices in ((0.99, False), (1.0, True), (None, None)):
        assert replace(found, polarity_content=ratio).notices is notices


def test_the_plane_says_where_one_strength_leads() -> None:
    plane = diagnose(BandEncoder(), relatives_of(parse_query("band 1 and band 2, no band 3"))).plane
    steered = plane.at(0.5)
    assert steered.strength == 0.5
    assert (steered.x, steered.y) == tuple(plane.path[list(plane.lambdas).index(0.5)])
    assert steered.with_query == pytest.approx(float(cosine_with_query(plane.cosine, 0.5)))
    assert np.hypot(*plane.negative) == pytest.approx(1.0)
    assert steered.with_negative == pytest.approx(np.dot(plane.negative, (steered.x, steered.y)))
    assert plane.at(0.6).strength in (0.5, 0.7)
    assert replace(plane, cosine=0.4).orthogonal_at == 0.4
    assert replace(plane, cosine=-0.1).orthogonal_at is None


def test_every_line_and_every_figure_has_its_one_text() -> None:
    found = diagnose(BandEncoder(), relatives_of(parse_query("band 1 and band 2, no band 3")))
    assert [variant(name).name for name, _ in found.relatives.lines()][: len(VARIANTS)] == [v.name for v in VARIANTS]
    assert (variant("scope 2").title, variant("scope 2").meaning) == ("Scope 2", "only one sound negated")
    assert [figure.name for figure in FIGURES] == list(found.figures)
