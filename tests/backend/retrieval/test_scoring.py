"""Rankings of a collection whose sounds are known: the three scorers, truth, unknown concepts, bad input."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from backend.collections.collection import EmbeddedCollection, Item, joined
from backend.collections.store import embedded_clips
from backend.errors import InputError
from backend.negation import Query, parse_query
from backend.retrieval.exclusion import EXCLUSION, ExclusionParameters, log_absence, log_presence
from backend.retrieval.label_match import label_truth
from backend.retrieval.presence import Calibration
from backend.retrieval.ranking import lambda_curve, rank
from backend.retrieval.scoring import SCORERS, score_query
from tests.fakes import BandEncoder, tone_clip
from tests.reference.exclusion import exclusion_of_clip, steered_by_embedding


def made(encoder: BandEncoder, bands: dict[str, tuple[int, ...]], labelled: bool = True) -> EmbeddedCollection:
    """Clips of one or two tones; the first sounds in seconds 1-4, the second in 6-9."""
    clips = []
    for name, present in bands.items():
        clip = tone_clip(present[0], 1, 4)
        for band in present[1:]:
            other = tone_clip(band, 6, 9)
            clip = replace(clip, channels=clip.channels + other.channels, mono=clip.mono + other.mono)
        labels = tuple(f"band {band}" for band in present) if labelled else ()
        clips.append((Item(name, path=None, caption=name, labels=labels), clip))  # type: ignore[arg-type]
    return embedded_clips("tones", encoder, clips)


@pytest.fixture
def encoder() -> BandEncoder:
    return BandEncoder()


@pytest.fixture
def tones(encoder: BandEncoder) -> EmbeddedCollection:
    return made(encoder, {"one": (1,), "one and two": (1, 2), "two": (2,), "three": (3,), "five": (5,), "six": (6,)})


QUERY = Query.of("band 1, no band 2", ["band 1"], ["band 2"])


def test_exclusion_puts_the_clip_with_the_wanted_and_without_the_forbidden_sound_first(tones, encoder):
    scores = score_query(tones, encoder, QUERY)
    ranking = rank(scores, "exclusion")
    assert ranking.hits(1)[0].id == "one"
    assert [hit.id for hit in ranking.hits(99)][-1] == "two"
    assert ranking.violations(1) == 0 and ranking.recall(1) == 1.0


def test_truth_follows_the_labels(tones, encoder):
    scores = score_query(tones, encoder, QUERY)
    np.testing.assert_array_equal(scores.violates, [0, 1, 1, 0, 0, 0])
    np.testing.assert_array_equal(scores.answers, [1, 0, 0, 0, 0, 0])
    hit = next(hit for hit in rank(scores, "raw").hits(6) if hit.id == "one and two")
    assert hit.violates and not hit.answers


def test_ranks_hits_and_values_agree(tones, encoder):
    scores = score_query(tones, encoder, QUERY)
    for scorer in SCORERS:
        ranking = rank(scores, scorer, 0.5)
        hits = ranking.hits(100)
        assert [hit.rank for hit in hits] == list(range(1, 7)) == sorted(ranking.ranks)
        assert all(ranking.ranks[hit.index] == hit.rank and ranking.values[hit.index] == hit.score for hit in hits)
        assert all(first.score >= second.score - 1e-6 for first, second in pairwise(hits))


def test_steering_equals_embedding_again_and_lambda_zero_is_raw(tones, encoder):
    scores = score_query(tones, encoder, QUERY)
    query, negative = encoder.embed_text(["band 1, no band 2", "band 2"])
    for strength in (0.0, 0.2, 3.0):
        values = scores.score("steered", strength)
        for clip, value in zip(tones.clips, values, strict=True):
            assert value == pytest.approx(steered_by_embedding(query, negative, strength, clip), abs=1e-6)
    np.testing.assert_allclose(scores.score("steered", 0.0), scores.score("raw"), atol=1e-12)


def test_the_exclusion_score_is_the_sum_that_its_twin_makes(tones, encoder):
    parameters = ExclusionParameters(slope=1.5, present_from=0.2, absent_below=0.7, absence_weight=1.3)
    scores = score_query(tones, encoder, QUERY, parameters=parameters)
    for row, value in enumerate(scores.score("exclusion")):
        slow = exclusion_of_clip([scores.evidence[row, 0]], [scores.evidence[row, 1]], parameters)
        assert value == pytest.approx(slow, abs=1e-9)


def test_moving_the_slider_embeds_nothing(tones, encoder):
    scores = score_query(tones, encoder, QUERY)
    before = (encoder.audio_passes, encoder.text_passes)
    curve = lambda_curve(scores, k=2)
    for scorer in SCORERS:
        rank(scores, scorer, 0.7)
    assert (encoder.audio_passes, encoder.text_passes) == before
    assert len(curve.lambdas) == len(curve.violations) == len(curve.recall) == 12
    for strength, violations, recall in zip(curve.lambdas, curve.violations, curve.recall, strict=True):
        ranking = rank(scores, "steered", strength)
        assert (violations, recall) == (ranking.violations(2), ranking.recall(2))


def test_a_second_query_does_no_audio_pass(tones, encoder):
    score_query(tones, encoder, QUERY)
    before = encoder.audio_passes
    score_query(tones, encoder, Query.of("band 3", ["band 3"]))
    assert encoder.audio_passes == before


def test_a_concept_no_label_names_is_not_claimed_either_way(tones, encoder):
    scores = score_query(tones, encoder, Query.of("band 1, no thunder", ["band 1"], ["thunder"]))
    assert np.isnan(scores.violates).all()
    # Without band 1 a clip fails whatever the thunder; with it, nobody knows.
    np.testing.assert_array_equal(np.isnan(scores.answers), [True, True, False, False, False, False])
    ranking = rank(scores, "raw")
    assert ranking.violations(3) is None and ranking.recall(3) is None
    assert ranking.hits(1)[0].violates is None


def test_without_labels_nothing_is_claimed(encoder):
    bare = made(encoder, {"a": (1,), "b": (2,)}, labelled=False)
    ranking = rank(score_query(bare, encoder, QUERY), "exclusion")
    assert ranking.hits(1)[0].id == "a" and ranking.violations(2) is None and not bare.is_labelled


def test_an_unlabelled_clip_among_labelled_ones_is_unknown():
    truth = label_truth(["rain"], [("rain",), ("dog barking",), ()])
    np.testing.assert_array_equal(truth[:, 0], [1.0, 0.0, np.nan])


def test_an_unknown_concept_is_neutral(tones, encoder):
    scores = score_query(tones, encoder, QUERY)
    doubtful = replace(scores, known=(True, False))
    plain = replace(
        scores, query=QUERY.with_deleted(1), evidence=scores.evidence[:, :1], known=(True,), truth=scores.truth[:, :1]
    )
    np.testing.assert_array_equal(rank(doubtful, "exclusion").order, rank(plain, "exclusion").order)
    assert np.all(doubtful.presence()[:, 1] == 0.5)


def test_only_negatives_and_only_positives_and_contradictions_are_ranked(tones, encoder):
    quiet = rank(score_query(tones, encoder, Query.of("no band 2", [], ["band 2"])), "exclusion")
    assert {hit.id for hit in quiet.hits(6)[-2:]} == {"two", "one and two"}
    loud = score_query(tones, encoder, Query.of("band 2", ["band 2"]))
    assert {hit.id for hit in rank(loud, "exclusion").hits(2)} == {"two", "one and two"}
    np.testing.assert_allclose(loud.score("steered", 5.0), loud.score("raw"))
    both = score_query(tones, encoder, Query.of("band 1, no band 1", ["band 1"], ["band 1"]))
    assert not both.answers.any() and np.isfinite(both.score("exclusion")).all()


def test_a_parsed_query_is_a_query(tones, encoder):
    scores = score_query(tones, encoder, parse_query("rain without thunder"))
    assert scores.query.present == ("rain",) and scores.query.absent == ("thunder",)


def test_one_clip_is_ranked(encoder):
    alone = made(encoder, {"one": (1,)})
    for scorer in SCORERS:
        assert rank(score_query(alone, encoder, QUERY), scorer).hits(5)[0].rank == 1


def test_given_calibrations_are_used(tones, encoder):
    plain = score_query(tones, encoder, QUERY)
    shifted = score_query(tones, encoder, QUERY, calibrations=[Calibration(0.0), Calibration(50.0)])
    assert np.all(shifted.evidence[:, 1] < plain.evidence[:, 1])


def test_own_clips_join_the_ranking(tones, encoder):
    own = made(encoder, {"mine": (1,)})
    both = joined(tones, own)
    scores = score_query(both, encoder, QUERY)
    assert {hit.id for hit in rank(scores, "exclusion").hits(2)} == {"one", "mine"}
    np.testing.assert_array_equal(both.windows_of(6), own.windows)
    with pytest.raises(InputError, match="occurs twice"):
        joined(tones, made(encoder, {"two": (2,)}))
    with pytest.raises(InputError, match="same encoder"):
        joined(tones, made(BandEncoder("other"), {"mine": (1,)}))


def test_log_probabilities_are_finite_far_out_and_sum_to_one():
    evidence = np.array([-1e6, -1.0, 0.5, 3.0, 1e6])
    assert np.isfinite(log_presence(evidence)).all() and np.isfinite(log_absence(evidence)).all()
    same = replace(EXCLUSION, absent_below=EXCLUSION.present_from, absence_weight=1.0)
    total = np.exp(log_presence(evidence, same)) + np.exp(log_absence(evidence, same))
    np.testing.assert_allclose(total, 1.0)
    assert np.all(np.diff(log_presence(evidence)) >= 0) and np.all(np.diff(log_absence(evidence)) <= 0)


def test_equal_scores_keep_the_order_of_the_collection(encoder):
    twins = made(encoder, {"first": (1,), "second": (1,)})
    assert [hit.id for hit in rank(score_query(twins, encoder, QUERY), "exclusion").hits(2)] == ["first", "second"]


def test_bad_input_is_a_sentence(tones, encoder):
    scores = score_query(tones, encoder, QUERY)
    mistakes = (lambda: rank(scores, "best"), lambda: rank(scores, "raw").hits(0), lambda: lambda_curve(scores, k=-1))
    for wrong in mistakes:
        with pytest.raises(InputError):
            wrong()
    with pytest.raises(InputError, match="lambda is"):
        rank(scores, "steered", -1)
    with pytest.raises(InputError, match="names no sound"):
        score_query(tones, encoder, Query.of("hm", []))
    with pytest.raises(InputError, match="dimensions"):
        score_query(tones, BandEncoder(dim=6), QUERY)
    other = BandEncoder()
    other.weights = "1" * 12
    with pytest.raises(InputError, match="Embed it again"):
        score_query(tones, other, QUERY)
    other.has_text = False
    with pytest.raises(InputError, match="no text side"):
        score_query(tones, other, QUERY)
