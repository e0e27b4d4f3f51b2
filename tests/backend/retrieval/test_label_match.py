"""Which labels answer which phrases."""

from __future__ import annotations

import pytest

from backend.retrieval.label_match import any_same_sound, content_words, same_sound


@pytest.mark.parametrize(
    ("concept", "label"),
    [
        ("a dog barking", "dog barking"),
        ("barking dog", "dog_bark".replace("_", " ")),
        ("dog", "dog barking"),
        ("a dog barking", "Dog"),
        ("heavy rain", "rain"),
        ("rain falling", "Rain"),
        ("birds", "birds singing"),
        ("a bird", "birds singing"),
        ("goose", "geese honking"),
        ("a telephone ringing", "phone ringing"),
        ("ocean waves", "sea waves"),
        ("speech", "people talking"),
        ("laughing", "laughter"),
        ("a crying baby", "baby cry"),
        ("running water", "water run"),
        ("a rooster crowing", "rooster"),
        ("train", "train horn"),
        ("the sound of thunder", "thunderstorm"),
        ("sneezing", "person sneeze"),
        ("Äpfel", "äpfel"),
    ],
)
def test_these_are_the_same_sound(concept: str, label: str):
    assert same_sound(concept, label)


@pytest.mark.parametrize(
    ("concept", "label"),
    [
        ("train horn", "train"),
        ("alarm clock", "clock"),
        ("crow", "rooster crowing"),
        ("bell", "doorbell"),
        ("fire", "fireworks"),
        ("cat", "cattle lowing"),
        ("rain", "train"),
        ("a cat meowing", "dog barking"),
        ("glass breaking", "glass"[:3]),
        ("", "rain"),
        ("the", "rain"),
    ],
)
def test_these_are_not(concept: str, label: str):
    assert not same_sound(concept, label)


def test_any_label_is_enough_and_order_does_not_matter():
    assert any_same_sound("rain", ["dog barking", "rain"]) and not any_same_sound("rain", [])
    assert content_words("barking of a dog") == content_words("a dog barks")
