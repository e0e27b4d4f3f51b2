"""The query's split as chips: shown, and corrected by the visitor, whose word always wins."""

from __future__ import annotations

from typing import Any

import gradio as gr

from backend.errors import InputError
from backend.negation import MAX_CONCEPTS, MAX_PHRASE, Concept, Query, checked_count, checked_phrase
from components.widgets.scripted import scripted


def chip_editor(elem_id: str) -> gr.HTML:
    """The component. Give it ``chips_value(query)``; it fires ``input`` with ``{"chips": [...]}``."""
    return scripted("widgets/chips", "chips-host", elem_id)


def chips_value(query: Query) -> dict[str, Any]:
    """What the editor shows for a query: its parse, or the visitor's correction of it."""
    spans, chips = [], []
    for concept in query.concepts:
        kind = "positive" if concept.polarity == "present" else "negative"
        spans.append({"start": concept.start, "end": concept.end, "kind": kind})
        if concept.cue_end > concept.cue_start:
            spans.append({"start": concept.cue_start, "end": concept.cue_end, "kind": "cue"})
        chips.append({"text": concept.text, "polarity": concept.polarity, "cue": "" if query.edited else concept.cue})
    unique = {(span["start"], span["end"], span["kind"]): span for span in spans}
    return {
        "query": query.text,
        "spans": [] if query.edited else list(unique.values()),
        "chips": chips,
        "notes": [] if query.edited else list(query.notes),
        "edited": query.edited,
        "longest": MAX_PHRASE,
    }


def checked_chips(payload: Any) -> tuple[Concept, ...]:
    """The concepts in what the browser sent.

    Raises
    ------
    InputError
        Not a list of named sounds, each present or absent, or more than a query holds.
    """
    entries = payload.get("chips") if isinstance(payload, dict) else None
    if not isinstance(entries, list):
        raise InputError(f"The browser sent no list of sounds; a query holds at most {MAX_CONCEPTS}.")
    if not entries:
        raise InputError("The query names no sound any more. Add one with “+ sound”, or press Find to parse it again.")
    concepts = []
    for entry in entries:
        polarity = entry.get("polarity") if isinstance(entry, dict) else None
        if polarity not in ("present", "absent"):
            raise InputError("A chip needs the name of a sound and whether it should be present or absent.")
        concepts.append(Concept(checked_phrase(entry.get("text")), polarity))
    return tuple(checked_count(concepts))
