"""What the variants of a query and the figures made of their cosines are called, and what each of them means."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Variant:
    """A relative of a query: its name in records, and what people read."""

    name: str
    title: str
    meaning: str


VARIANTS = (
    Variant("query", "Query", "as the encoder gets it"),
    Variant("affirmative", "Opposite", "the same sounds, all present"),
    Variant("paraphrase", "Paraphrase", "the same meaning in other words"),
    Variant("swap", "Other sound", "one sound replaced"),
    Variant("unrelated", "Unrelated", "about something else"),
    Variant("bag", "Bag of words", "the sounds without any “no”"),
)
"""In the order of the lines; the scope variants follow."""


def variant(name: str) -> Variant:
    """The variant of a name; ``scope 2`` is the second of those in which only one sound is negated."""
    known = next((one for one in VARIANTS if one.name == name), None)
    return known or Variant(name, name.capitalize(), "only one sound negated")


@dataclass(frozen=True)
class Figure:
    """A figure of the papers' appendix.

    Attributes
    ----------
    published : float
        Mean over five LAION-CLAP checkpoints (table V).
    largest : float
        End of the scale it is shown on, which begins at 0.
    """

    name: str
    title: str
    meaning: str
    published: float
    largest: float = 1.0


FIGURES = (
    Figure("affinity", "Normalised affinity", "1 means: the opposite is as close as the paraphrase", 1.07, largest=1.5),
    Figure(
        "polarity_content",
        "Polarity / content",
        "below 1: “no” moves the text less than another sound does",
        0.30,
        largest=1.5,
    ),
    Figure("scope_permutation", "Scope permutation", "how alike the texts are whichever sound is negated", 0.70),
    Figure("swap", "Content swap", "cosine with another sound in place of the first", 0.58),
    Figure("bag", "Bag of concepts", "cosine with the bare list of sounds", 0.82),
)
PAPER_MEANS = {figure.name: figure.published for figure in FIGURES}
"""Means over five LAION-CLAP checkpoints, as published (table V)."""
