"""The caption bank: affirmative phrases for the teacher's 521 classes and for concepts of our own.

Patterns are written by hand in ``captions.txt``; ``(a|b)`` stands for either. Nothing in the bank, nor in what is
composed from it, says that a sound is absent: an encoder trained on it is blind to "no" in the honest way that its
kind is, because it never met the word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np

TABLE = Path(__file__).with_name("captions.txt")
NEGATION = re.compile(r"\b(no|not|without|never|none|nothing|nobody|neither|nor|lacks?|absent|absence|silent)\b|n't\b")
FRAMES = (
    "{}", "{}", "{}", "{}", "the sound of {}", "a sound of {}", "this is a sound of {}", "i can hear {}", "we hear {}",
    "a recording of {}", "{} nearby", "{} in the distance", "{} in the background", "{} outdoors", "{} indoors",
    "{} up close", "loud {}", "an audio clip of {}", "audio of {}", "there is {}",
)  # fmt: skip
"""Frames around a phrase; the bare phrase is the most frequent."""
TOGETHER = (
    "{a} and {b}", "{a} while {b}", "{a} with {b}", "{a} with {b} in the background", "{a} over {b}",
    "{a} together with {b}", "{a}, {b}", "{a} as {b} can be heard",
)  # fmt: skip
IN_TURN = ("{a} followed by {b}", "{a} then {b}", "{a} and then {b}", "first {a}, then {b}", "{a} before {b}")
PROBES = frozenset(
    (
        "a hound woofing", "a torrential downpour", "surf rolling onto a beach", "a wailing newborn",
        "the second hand of a wristwatch", "achoo", "a rotorcraft hovering overhead", "a power saw felling a tree",
        "a cockerel at daybreak", "a bonfire",
    )
)  # fmt: skip
"""Phrases with which synonyms are tested; kept out of the bank."""


@dataclass(frozen=True)
class CaptionBank:
    """Phrases by concept."""

    phrases: dict[str, tuple[str, ...]]
    """Concept -> its phrases; an AudioSet class also has its own name, spelled plainly."""
    audioset: frozenset[str]
    """Which concepts are AudioSet classes."""

    def every_phrase(self) -> tuple[str, ...]:
        """All distinct phrases in a fixed order."""
        return tuple(dict.fromkeys(phrase for concept in self.phrases.values() for phrase in concept))


@lru_cache(maxsize=1)
def caption_bank() -> CaptionBank:
    """The bank as written in ``captions.txt``."""
    phrases: dict[str, tuple[str, ...]] = {}
    audioset = set()
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        key, _, patterns = line.partition(" = ")
        concept = key.removeprefix("+")
        found = [phrase for pattern in patterns.split(" ; ") for phrase in expand(pattern)]
        if not key.startswith("+"):
            audioset.add(concept)
            found += names_of_class(concept)
        phrases[concept] = tuple(dict.fromkeys(phrase for phrase in found if phrase not in PROBES))
    return CaptionBank(phrases, frozenset(audioset))


def expand(pattern: str) -> list[str]:
    """All readings of a pattern: ``a (dog|hound) barking`` -> two phrases; an empty alternative leaves words out."""
    parts = re.split(r"\(([^()]*)\)", pattern)
    choices = [part.split("|") if position % 2 else [part] for position, part in enumerate(parts)]
    return [" ".join("".join(words).split()).lower() for words in product(*choices)]


def names_of_class(name: str) -> list[str]:
    """Plain spellings of an AudioSet class: whole, and each of its comma-separated names."""
    plain = re.sub(r"\s*\((.*?)\)", lambda found: _kept(found.group(1)), name).lower()
    parts = [part.strip() for part in re.split(r",\s*", plain)]
    return [plain, *(part for part in parts if part and part != "etc.")]


def framed(phrase: str, rng: np.random.Generator) -> str:
    """A phrase in one of FRAMES, chosen at random."""
    return FRAMES[int(rng.integers(len(FRAMES)))].format(phrase)


def joined(first: str, second: str, in_turn: bool, rng: np.random.Generator) -> str:
    """A caption of two sounds, together or one after the other."""
    frames = IN_TURN if in_turn else TOGETHER
    return frames[int(rng.integers(len(frames)))].format(a=first, b=second)


def _kept(qualifier: str) -> str:
    """A qualifier in brackets is kept where the name means something else without it."""
    return f" {qualifier}" if qualifier in ("siren", "dog", "liquid", "musical") else ""
