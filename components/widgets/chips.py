"""The query's split as chips: shown, and corrected by the visitor, whose word always wins."""

from __future__ import annotations

from typing import Any

import gradio as gr

from backend.errors import InputError
from backend.evidence.localization import SoughtConcept
from backend.files import ASSETS
from backend.negation import parse_query
from components.frame.link_fields import MOST_CONCEPTS

FOLDER = ASSETS / "widgets"
LONGEST_CHIP = 200


def chip_editor(elem_id: str) -> gr.HTML:
    """The component. Give it ``chips_value(...)``; it fires ``input`` with ``{"chips": [...]}``."""
    return gr.HTML(
        {},
        html_template='<div class="chips-host"></div>',
        css_template=(FOLDER / "chips.css").read_text(encoding="utf-8"),
        js_on_load=(FOLDER / "chips.js").read_text(encoding="utf-8"),
        elem_id=elem_id,
        apply_default_css=False,
    )


def chips_value(query: str, corrected: tuple[SoughtConcept, ...] | None) -> dict[str, Any]:
    """What the editor shows for a query: its parse, or the visitor's correction of it.

    Raises
    ------
    InputError
        There is no correction and the query cannot be parsed.
    """
    if corrected is not None:
        chips = [{"text": concept.text, "polarity": concept.polarity, "cue": ""} for concept in corrected]
        return {"query": query, "spans": [], "chips": chips, "notes": [], "edited": True}
    parsed = parse_query(query)
    spans, chips = [], []
    for kind, polarity, concepts in (
        ("positive", "present", parsed.positives),
        ("negative", "absent", parsed.negatives),
    ):
        for concept in concepts:
            spans.append({"start": concept.start, "end": concept.end, "kind": kind})
            if concept.cue and concept.cue_end > concept.cue_start:
                spans.append({"start": concept.cue_start, "end": concept.cue_end, "kind": "cue"})
            chips.append({"text": concept.text, "polarity": polarity, "cue": concept.cue})
    unique = {(span["start"], span["end"], span["kind"]): span for span in spans}
    return {
        "query": query,
        "spans": list(unique.values()),
        "chips": chips,
        "notes": list(parsed.notes),
        "edited": False,
    }


def checked_chips(payload: Any) -> tuple[SoughtConcept, ...]:
    """The concepts in what the browser sent.

    Raises
    ------
    InputError
        Not a list of at most 12 named sounds, each present or absent.
    """
    entries = payload.get("chips") if isinstance(payload, dict) else None
    if not isinstance(entries, list) or len(entries) > MOST_CONCEPTS:
        raise InputError(f"A query holds at most {MOST_CONCEPTS} sounds. Remove one before adding another.")
    concepts = []
    for entry in entries:
        text, polarity = (entry.get("text"), entry.get("polarity")) if isinstance(entry, dict) else (None, None)
        if not isinstance(text, str) or polarity not in ("present", "absent"):
            raise InputError("A chip needs the name of a sound and whether it should be present or absent.")
        text = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:LONGEST_CHIP]
        if not text:
            raise InputError("A chip needs the name of a sound, for example: dog barking.")
        concepts.append(SoughtConcept(text, polarity))
    if not concepts:
        raise InputError("The query names no sound any more. Add one with “+ sound”, or press Find to parse it again.")
    return tuple(concepts)
