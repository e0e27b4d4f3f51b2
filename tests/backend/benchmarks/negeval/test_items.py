"""Every generated item is true by construction: over the demo collection, ESC-like classes, and random ones."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.benchmarks.negeval.concepts import absent_concepts, category, certainly_absent, present_concepts
from backend.benchmarks.negeval.items import KINDS, ClipConcepts, holds, option, questions, retrieval_items
from backend.benchmarks.negeval.wording import alternatives, fluent_query, listed, statement, template_query
from backend.collections.collection import Item
from backend.collections.layouts import open_collection
from backend.negation import parse_query
from backend.retrieval.label_match import same_sound

ESC10 = (
    "baby cry",
    "chainsaw",
    "clock tick",
    "dog bark",
    "fire crackling",
    "helicopter",
    "person sneeze",
    "rain",
    "rooster",
    "sea waves",
)


def concepts_of(labelled: list[tuple[str, ...]], vocabulary: list[str], seed: int) -> list[ClipConcepts]:
    rng = np.random.default_rng(seed)
    return [
        ClipConcepts(index, f"clip {index}", listed(labels), labels, absent_concepts(labels, vocabulary, rng))
        for index, labels in enumerate(labelled)
    ]


def demo_concepts() -> list[ClipConcepts]:
    items = open_collection("demo").items
    vocabulary = sorted({label for item in items for label in item.labels})
    return concepts_of([item.labels for item in items], vocabulary, 0)


def esc_concepts() -> list[ClipConcepts]:
    rng = np.random.default_rng(3)
    labelled = [(label,) for label in ESC10 for _ in range(4)]
    labelled += [tuple(map(str, rng.choice(ESC10, 3, replace=False))) for _ in range(60)]
    return concepts_of(labelled, list(ESC10), 1)


@pytest.mark.parametrize("clips", [demo_concepts(), esc_concepts()], ids=["demo", "esc-10"])
@pytest.mark.parametrize("seed", [0, 1])
def test_of_every_question_exactly_the_answer_is_true(clips, seed):
    made = questions(clips, np.random.default_rng(seed))
    assert len(made) == 3 * len([clip for clip in clips if len(clip.absent) >= 3]) > 100
    for question in made:
        clip = clips[question.clip]
        assert clip.id == question.clip_id and len(question.options) == 4
        for place, said in enumerate(question.options):
            names = {*said.present, *said.absent}
            # Truth by the labels alone, without the code under test.
            false = any(name not in clip.present for name in said.present) or any(
                name in clip.present for name in said.absent
            )
            assert names <= {*clip.present, *clip.absent}
            assert false == (place != question.answer), (question, clip)
            assert holds(said, clip.present, clip.absent) is (place == question.answer)
        texts = [option.text for option in question.options]
        assert len(set(texts)) == 4


@pytest.mark.parametrize("clips", [demo_concepts(), esc_concepts()], ids=["demo", "esc-10"])
def test_kinds_are_what_they_are_called(clips):
    for question in questions(clips, np.random.default_rng(0)):
        right = question.options[question.answer]
        assert question.kind in KINDS
        assert bool(right.present) == (question.kind != "negation")
        assert bool(right.absent) == (question.kind != "affirmation")


def test_answers_stand_in_every_place():
    made = questions(demo_concepts(), np.random.default_rng(0))
    counts = np.bincount([question.answer for question in made], minlength=4)
    assert counts.min() > 0.15 * len(made)


@pytest.mark.parametrize("clips", [demo_concepts(), esc_concepts()], ids=["demo", "esc-10"])
def test_a_retrieval_query_is_true_of_its_clip_and_of_all_that_count(clips):
    for item in retrieval_items(clips, np.random.default_rng(0)):
        clip = clips[item.clip]
        assert item.negative in clip.absent and item.negative not in clip.present
        assert item.clip in item.relevant
        for index in item.relevant:
            assert set(clips[index].present) == set(clip.present)
        assert item.template.endswith(f"There is no sound of {item.negative}.")
        assert item.fluent.endswith(f", with no {item.negative}")


@pytest.mark.parametrize("clips", [demo_concepts(), esc_concepts()], ids=["demo", "esc-10"])
def test_absent_sounds_are_absent_and_the_plausible_ones_come_first(clips):
    for clip in clips:
        assert not set(clip.absent) & set(clip.present)
        for name in clip.absent:
            assert not any(same_sound(name, label) or same_sound(label, name) for label in clip.present)
        kinds = {category(label) for label in clip.present}
        flags = [category(name) in kinds for name in clip.absent]
        assert flags == sorted(flags, reverse=True)


@pytest.mark.parametrize(
    ("candidate", "present"),
    [
        ("rain", ["thunder"]),
        ("dog barking", ["barking dog"]),
        ("applause", ["crowd cheering"]),
        ("train", ["train horn"]),
        ("people talking", ["laughter"]),
        ("wolf howling", ["dog barking"]),
    ],
)
def test_what_often_comes_along_is_never_called_absent(candidate, present):
    assert not certainly_absent(candidate, present)
    assert certainly_absent("church bells", ["dog barking"])


def test_a_caption_rules_its_own_sounds_out():
    assert not certainly_absent("a siren", ["wind"], ["sirens wail in the wind"])


def test_concepts_of_a_caption_come_from_the_parser(tmp_path):
    item = Item("x", tmp_path / "x.wav", "A dog barks and rain falls, with no thunder")
    assert present_concepts(item) == tuple(concept.text for concept in parse_query(item.caption).positives)
    assert len(present_concepts(item)) == 2 and not any("thunder" in name for name in present_concepts(item))
    assert present_concepts(Item("y", tmp_path / "y.wav", "a caption", ("rain", "rain"))) == ("rain",)


@given(st.lists(st.sampled_from(ESC10), min_size=1, max_size=5, unique=True), st.integers(0, 10**6))
@settings(max_examples=80, deadline=None)
def test_any_label_set_gives_true_items(labels: list[str], seed: int):
    (clip,) = concepts_of([tuple(labels)], list(ESC10), seed)
    for question in questions([clip], np.random.default_rng(seed)):
        verdicts = [holds(said, clip.present, clip.absent) for said in question.options]
        assert verdicts.count(True) == 1 and verdicts.count(False) == 3 and verdicts[question.answer]


def test_truth_is_unsettled_where_nothing_is_known():
    assert holds(option(("rain",), ()), ("dog",), ("siren",)) is None


def test_wording():
    assert listed(["a"]) == "a" and listed(["a", "b"]) == "a and b" and listed(["a", "b", "c"]) == "a, b and c"
    assert alternatives(["a", "b"]) == "a or b" and alternatives(["a", "b", "c"]) == "a, b or c" and listed([]) == ""
    assert template_query("Rain falls.", "thunder") == "Rain falls. There is no sound of thunder."
    assert fluent_query("Rain falls.", "thunder") == "Rain falls, with no thunder"
    assert statement(["rain"], ["dog"]) == "rain, with no dog"


def test_the_parser_reads_the_queries_as_they_were_made():
    """The texts say to a reader (here: the query parser) what the item says it says."""
    for item in retrieval_items(esc_concepts(), np.random.default_rng(0))[:40]:
        parsed = parse_query(item.fluent)
        assert [concept.text for concept in parsed.negatives] == [item.negative]
        assert len(parsed.positives) == len(item.positives)
        assert re.search(re.escape(item.negative), item.template)
