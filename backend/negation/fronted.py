"""A fronted absence with no mark behind it: "instead of music rain", "statt Musik Regen", "en vez de música lluvia"."""

from __future__ import annotations

import re
from dataclasses import replace

from backend.negation.query import Concept


def split_fronted(text: str, whole: Concept, cut: int) -> tuple[Concept, Concept, str] | None:
    """(absent, present, note) when words ``cut`` and later of an absent concept are what stands in its place.

    None when ``cut`` leaves no word on one side, or the concept's words are not the text's.
    """
    places = [match.span() for match in re.finditer(r"\S+", text[whole.start : whole.end])]
    words = whole.text.split()
    if not 0 < cut < len(words) or len(places) != len(words):
        return None
    end, start = whole.start + places[cut - 1][1], whole.start + places[cut][0]
    rest = " ".join(words[cut:])
    absent = replace(whole, text=" ".join(words[:cut]), end=end, scope=(whole.start, end))
    note = f"“{rest}” was read as what should be heard; put a comma before it, or flip it."
    return absent, Concept(rest, "present", start, whole.end), note
