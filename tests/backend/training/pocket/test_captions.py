"""The caption bank: affirmative, complete, rich, and free of the phrases that synonyms are tested with."""

from __future__ import annotations

import numpy as np
import pytest

from backend.training.pocket.captions import NEGATION, PROBES, caption_bank, expand, framed, joined, names_of_class
from backend.training.pocket.data_labels import concepts_of_name, label_tables
from backend.training.pocket.train_development import OTHER_WORDS

EVERYDAY = (
    "Bark Meow Oink Moo Croak Cluck Hen Insect Bleat Caw Rain Cricket Drip Wind Pour Thunderstorm Sneeze Clapping"
    " Breathing Cough Laughter Toothbrush Snoring Creak Helicopter Chainsaw Siren Engine Train Fireworks"
)


def test_affirmative():
    offending = [phrase for phrase in caption_bank().every_phrase() if NEGATION.search(phrase)]
    assert offending == []


@pytest.mark.parametrize("text", ["a dog, without rain", "there is no wind", "it isn't raining", "nothing", "silent"])
def test_negations_are_recognised(text):
    assert NEGATION.search(text)


def test_composed_captions_stay_affirmative():
    rng = np.random.default_rng(0)
    for _ in range(300):
        assert not NEGATION.search(framed("a dog barking", rng))
        assert not NEGATION.search(joined("rain", "wind", bool(rng.integers(2)), rng))


def test_size_and_classes():
    bank = caption_bank()
    assert len(bank.audioset) == 521
    assert len(bank.every_phrase()) > 4000
    assert all(bank.phrases.values())


@pytest.mark.parametrize("concept", EVERYDAY.split())
def test_everyday_sounds_have_many_wordings(concept):
    assert len(caption_bank().phrases[concept]) >= 5


def test_probes_and_development_wordings_are_kept_out():
    phrases = set(caption_bank().every_phrase())
    assert not phrases & PROBES
    assert not phrases & {wording for both in OTHER_WORDS.values() for wording in both}


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a dog", ["a dog"]),
        ("a (dog|hound) (barking|)", ["a dog barking", "a dog", "a hound barking", "a hound"]),
        ("Rain", ["rain"]),
    ],
)
def test_patterns_expand(pattern, expected):
    assert expand(pattern) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Bee, wasp, etc.", ["bee, wasp, etc.", "bee", "wasp"]),
        ("Ambulance (siren)", ["ambulance siren", "ambulance siren"]),
        ("Keys jangling", ["keys jangling", "keys jangling"]),
    ],
)
def test_class_names_are_spelled_plainly(name, expected):
    assert names_of_class(name) == expected


def test_every_label_names_a_concept_of_the_bank():
    recordings, rules = label_tables()
    known = set(caption_bank().phrases)
    assert {concept for concepts in recordings.values() for concept in concepts} <= known
    assert {concept for rule in rules for concept in rule.concepts} - {"-"} <= known


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("dog bark", "Bark"),
        ("bird chirping", "Bird vocalization, bird call, bird song"),
        ("crickets night", "Night"),
        ("carpet", None),
        ("music", None),
        ("swordman attack", None),
        ("church bell", "Church bell"),
        ("footsteps gravel", "Walk, footsteps"),
    ],
)
def test_names_of_files(words, first):
    concepts = concepts_of_name(words).concepts
    assert (concepts[0] if concepts else None) == first
