"""The chips take back whatever they show, and the page knows the query's limits from the backend alone."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace

import pytest

from backend.errors import InputError
from backend.files import ASSETS
from backend.negation import MAX_CHARACTERS, MAX_CONCEPTS, MAX_PHRASE, Concept, parse_query
from components.frame.view_state import ViewState
from components.widgets.chips import checked_chips, chips_value
from components.widgets.queries import query_of


def flipped(view: ViewState) -> ViewState:
    """The view after a click on its first chip, as the browser reports it."""
    shown = [{"text": chip["text"], "polarity": chip["polarity"]} for chip in chips_value(query_of(view))["chips"]]
    shown[0]["polarity"] = "absent" if shown[0]["polarity"] == "present" else "present"
    return replace(view, concepts=checked_chips({"chips": shown}))


@pytest.mark.parametrize("count", [1, 14, MAX_CONCEPTS, MAX_CONCEPTS + 6])
def test_as_many_sounds_as_were_typed_can_be_flipped(count: int) -> None:
    view = ViewState(query=", ".join(f"bird {number}" for number in range(count)))
    shown = min(count, MAX_CONCEPTS)
    before, after = chips_value(query_of(view)), chips_value(query_of(flipped(view)))
    assert len(before["chips"]) == len(after["chips"]) == shown
    assert [chip["polarity"] for chip in after["chips"]] == ["absent"] + ["present"] * (shown - 1)
    assert any("are kept" in note for note in before["notes"]) == (count > shown)


@pytest.mark.parametrize("text", ["a " + "very " * 29 + "loud dog barking, no rain", "犬" * 158])
def test_a_name_that_was_typed_can_be_flipped(text: str) -> None:
    view = ViewState(query=text)
    before, after = query_of(view), query_of(flipped(view))
    assert [concept.text for concept in after.concepts] == [concept.text for concept in before.concepts]
    assert len(before.concepts[0].text) <= MAX_PHRASE < len(text)


def test_a_flipped_chip_stays_where_it_is() -> None:
    view = ViewState(query="a dog barking, a cat, no rain")
    names = ["dog barking", "cat", "rain"]
    assert [chip["text"] for chip in chips_value(query_of(view))["chips"]] == names
    assert [chip["text"] for chip in chips_value(query_of(flipped(view)))["chips"]] == names


def test_spans_and_cues_are_shown_until_a_person_corrects_them() -> None:
    parsed = parse_query("a dog barking, no rain")
    shown = chips_value(parsed)
    assert [parsed.text[span["start"] : span["end"]] for span in shown["spans"]] == ["dog barking", "rain", "no"]
    assert [chip["cue"] for chip in shown["chips"]] == ["", "no"] and not shown["edited"]
    corrected = chips_value(parsed.with_flipped(1))
    assert corrected["spans"] == [] and corrected["edited"] and corrected["query"] == shown["query"]
    assert [chip["cue"] for chip in corrected["chips"]] == ["", ""]


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (None, "at most"),
        ({"chips": "x"}, "at most"),
        ({"chips": []}, "no sound any more"),
        ({"chips": [{"text": "x", "polarity": "present"}] * (MAX_CONCEPTS + 1)}, f"at most {MAX_CONCEPTS}"),
        ({"chips": [{"text": "x" * (MAX_PHRASE + 1), "polarity": "present"}]}, f"at most {MAX_PHRASE}"),
        ({"chips": [{"text": " ", "polarity": "present"}]}, "empty"),
        ({"chips": [{"text": 7, "polarity": "present"}]}, "not text"),
        ({"chips": [{"text": "x", "polarity": "loud"}]}, "present or absent"),
        ({"chips": ["x"]}, "present or absent"),
    ],
)
def test_what_the_browser_sends_is_checked(sent: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        checked_chips(sent)


def test_a_name_from_the_browser_is_tidied() -> None:
    sent = {"chips": [{"text": " dog\x07  barking ", "polarity": "absent", "cue": "no"}]}
    assert checked_chips(sent) == (Concept("dog barking", "absent"),)


LIST_BOXES = """
from components.page import build_page
for block in build_page().blocks.values():
    if getattr(block, "elem_id", None) in ("listen-query", "ask-query", "steer-query"):
        print(block.elem_id, block.max_length)
"""


def test_text_boxes_take_what_a_query_may_have() -> None:
    listed = subprocess.run([sys.executable, "-c", LIST_BOXES], capture_output=True, text=True, check=True).stdout
    panels = ("listen", "ask", "steer")
    assert dict(line.split() for line in listed.splitlines()) == {
        f"{name}-query": str(MAX_CHARACTERS) for name in panels
    }


def test_the_browser_has_no_limit_of_its_own() -> None:
    assert chips_value(parse_query("rain"))["longest"] == MAX_PHRASE
    lengths = [found for path in ASSETS.rglob("*.js") for found in re.findall(r"maxLength = (.+);", path.read_text())]
    assert len(lengths) == 3 and all(length.endswith(".longest") for length in lengths)
