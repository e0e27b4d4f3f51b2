"""Queries and options as text: templates, filled from concept lists."""

from __future__ import annotations

from collections.abc import Sequence


def listed(phrases: Sequence[str]) -> str:
    """ "rain", "rain and dog barking", "rain, dog barking and siren"."""
    if len(phrases) < 2:
        return "".join(phrases)
    return f"{', '.join(phrases[:-1])} and {phrases[-1]}"


def alternatives(phrases: Sequence[str]) -> str:
    """ "rain", "rain or siren": what must not be heard, none of it."""
    return (
        listed(phrases).replace(" and ", " or ") if len(phrases) < 3 else f"{', '.join(phrases[:-1])} or {phrases[-1]}"
    )


def template_query(caption: str, absent: str) -> str:
    """The paper's template: caption + "There is no sound of Y."."""
    return f"{caption.rstrip(' .')}. There is no sound of {absent}."


def fluent_query(caption: str, absent: str) -> str:
    """The paper's fluent form: "…, with no Y"."""
    return f"{caption.rstrip(' .')}, with no {absent}"


def statement(affirmed: Sequence[str], negated: Sequence[str]) -> str:
    """An option of a question as text: affirmed sounds, negated sounds, or both."""
    if affirmed and negated:
        return f"{listed(affirmed)}, with no {alternatives(negated)}"
    if negated:
        return f"there is no sound of {alternatives(negated)}"
    return f"a sound of {listed(affirmed)}"
