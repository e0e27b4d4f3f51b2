"""The background vocabulary: the everyday sounds every concept is compared with."""

from __future__ import annotations

from functools import lru_cache

from backend.files import DATA

CONCEPT_PROMPT = "a sound of {}"
"""How a concept is put to the text encoder when windows are scored (science section 1)."""


@lru_cache(maxsize=1)
def background_vocabulary() -> tuple[str, ...]:
    """The fixed list of everyday sounds against which z-scores are stated (own choice)."""
    lines = (DATA / "background_vocabulary.txt").read_text(encoding="utf-8").splitlines()
    return tuple(line.strip() for line in lines if line.strip())


def concept_prompt(concept: str) -> str:
    """The prompt of one concept, for example "a sound of dog barking"."""
    return CONCEPT_PROMPT.format(concept)
