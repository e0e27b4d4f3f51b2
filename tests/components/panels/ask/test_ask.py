"""The Ask panel's values, sentences and handlers, on a collection made of numbers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

import gradio as gr
import numpy as np
import pytest

from backend.audio import Span
from backend.collections.collection import EmbeddedCollection
from backend.errors import InputError
from backend.negation import Concept, query_from_text, query_to_text
from backend.retrieval.search import SearchResult
from components.frame.links import link, view_from_link
from components.frame.view_state import ViewState
from components.page import PANELS
from components.panels.ask import collection as ask_collection
from components.panels.ask import handlers as ask_handlers
from components.panels.ask import view as ask_view
from components.panels.ask.handlers import AskHandlers, Parts
from components.panels.ask.state import AskState
from components.panels.listen.state import ListenState
from components.widgets.queries import query_of
from tests.fakes import BandEncoder, counted_parses

LABELS = (
    ("band 1",), ("band 1", "band 2"), ("band 2",), ("band 3",), ("band 1",), ("band 4",), ("band 5",),
    ("band 1", "band 2"),
    ("band 6",), ("band 7",), ("band 3",), ("band 4",),
)  # fmt: skip


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> BandEncoder:
    """The Ask panel on an encoder of eight bands and twelve clips, each the sum of the bands its labels name."""
    made = BandEncoder()
    vectors = np.zeros((len(LABELS), made.dim), dtype=np.float32)
    for row, names in enumerate(LABELS):
        for name in names:
            vectors[row, int(name[-1])] = 1
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    collection = EmbeddedCollection(
        name="made", encoder_id=made.id, weights=made.weights, ids=tuple(f"clip-{row}" for row in range(len(LABELS))),
        captions=tuple(" and ".join(names) for names in LABELS), labels=LABELS, paths=(None,) * len(LABELS),
        clips=vectors, windows=vectors, offsets=np.arange(len(LABELS) + 1), window_seconds=2.0,
    )  # fmt: skip
    for module in (ask_handlers, ask_collection):
        monkeypatch.setattr(module, "demo_collection", lambda encoder, progress=None: collection)
    monkeypatch.setattr(ask_handlers, "load_encoder", lambda identifier: made)
    monkeypatch.setattr(ask_handlers, "embedding_steps", lambda encoder: iter(()))
    ask_handlers._asked.cache_clear()
    ask_handlers._scored.cache_clear()
    return made


def view(query: str = "band 1, no band 2", **more: object) -> ViewState:
    return ViewState(tab="ask", clip="made", query=query, encoder="band", **more)  # type: ignore[arg-type]


def ask(view: ViewState) -> SearchResult:
    """The result of a view's query."""
    return ask_handlers.ask(view)


def handlers() -> AskHandlers:
    return AskHandlers(Parts(*[None] * 10))  # type: ignore[arg-type]


def named(answer: list) -> dict:
    """What an answer changes, by name."""
    names = Parts.__dataclass_fields__
    return {name: one for name, one in zip(names, answer, strict=True) if not _skipped(one)}


def whole(answers: Iterable[list]) -> dict:
    """What a handler changes from its first answer to its last, by name."""
    return {name: one for answer in answers for name, one in named(answer).items()}


def _skipped(one: object) -> bool:
    return isinstance(one, dict) and one.get("__type__") == "update" and len(one) == 1


def event(data: object) -> gr.EventData:
    return SimpleNamespace(_data=data)  # type: ignore[return-value]


def test_the_board_holds_three_rankings_of_the_same_clips(encoder: BandEncoder) -> None:
    board = ask_view.board_value(ask(view()), None)
    assert [column["scorer"] for column in board["columns"]] == ["raw", "steered", "exclusion"]
    for column in board["columns"]:
        assert [row["rank"] for row in column["rows"]] == list(range(1, 11))
        for row in column["rows"]:
            assert row["violates"] == ("band 2" in row["labels"])
            others = {one["scorer"]: one["rank"] for one in row["elsewhere"]}
            assert set(others) == {"raw", "steered", "exclusion"} - {column["scorer"]}
    exclusion = board["columns"][2]["rows"]
    assert {row["caption"] for row in exclusion[:2]} == {"band 1"}
    ranks = {row["index"]: row["rank"] for row in exclusion}
    for row in board["columns"][0]["rows"]:
        if row["index"] in ranks:
            assert {"scorer": "exclusion", "title": "Exclusion", "rank": ranks[row["index"]]} in row["elsewhere"]


def test_counts_agree_with_the_marks(encoder: BandEncoder) -> None:
    board = ask_view.board_value(ask(view()), None)
    for column in board["columns"]:
        marked = sum(row["violates"] for row in column["rows"])
        assert column["said"].startswith(f"{marked} of 10 break")
    assert board["curve"]["violations"][0] == sum(row["violates"] for row in board["columns"][0]["rows"])
    assert len(board["curve"]["lambdas"]) == len(board["curve"]["recall"]) == 12


def test_the_slider_embeds_nothing(encoder: BandEncoder) -> None:
    ask_view.board_value(ask(view()), None)
    before = encoder.text_passes, encoder.audio_passes
    for strength in (0.0, 0.35, 8.0):
        ask_view.board_value(ask(view(strength=strength)), None)
    assert (encoder.text_passes, encoder.audio_passes) == before


def test_ask_parses_a_text_once(encoder: BandEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = counted_parses(monkeypatch)
    asked = whole(handlers().on_query(view(), (), "band 3, no band 4"))
    assert asked["board"] and parsed == ["band 3, no band 4"]
    handlers().on_strength(asked["view"], (), event({"lambda": 0.7}))
    corrected = event({"chips": [{"text": "band 3", "polarity": "absent"}]})
    assert whole(handlers().on_chips(asked["view"], (), corrected))["board"]
    assert parsed == ["band 3, no band 4"]


def test_a_correction_wins(encoder: BandEncoder) -> None:
    shown = whole(handlers().on_chips(view(), (), event({"chips": [{"text": "band 2", "polarity": "present"}]})))
    assert shown["board"]["columns"][2]["rows"][0]["caption"].startswith("band 2")
    assert shown["view"].concepts[0].text == "band 2"
    assert "concepts=" in shown["address"]


def test_what_the_browser_sends_is_checked(encoder: BandEncoder) -> None:
    on = handlers()
    assert "at most" in named(next(iter(on.on_chips(view(), (), event({"chips": "x"})))))["error"]
    for wrong in (None, {}, {"lambda": -1}, {"lambda": 9}, {"lambda": float("nan")}, {"lambda": True}, {"lambda": "1"}):
        assert "between 0 and 8" in named(on.on_strength(view(), (), event(wrong)))["error"]
    assert "between 0 and 8" in named(on.on_strength(view(), (), event({"lambda": 99})))["error"]
    for wrong in (None, {}, {"index": -1}, {"index": 999}, {"index": True}, {"index": "0"}):
        assert on.chosen(view(), (), wrong) is None
    chosen = on.chosen(view(), (), {"index": 3})
    assert chosen is not None and (chosen.tab, chosen.clip, chosen.query) == ("listen", "clip-3", "band 1, no band 2")


def test_a_bad_query_keeps_the_result(encoder: BandEncoder) -> None:
    shown = named(list(handlers().on_query(view(), (), "!!!"))[-1])
    assert "no word" in shown["error"] and "board" not in shown


def test_an_encoder_without_text_is_said(encoder: BandEncoder) -> None:
    encoder.has_text = False
    assert "no text side" in named(list(handlers().show(view(), ()))[-1])["error"]


def test_pinning_compares_and_survives_the_link(encoder: BandEncoder) -> None:
    first = view("band 3, no band 4")
    pinned = whole(handlers().on_pin(first, ()))["view"]
    later = whole(handlers().on_query(pinned, (), "band 1, no band 2"))
    assert later["board"]["pinned"]["query"] == "band 3, no band 4"
    assert later["board"]["current"]["query"] == "band 1, no band 2"
    parameters = dict(part.split("=", 1) for part in link(later["view"])[1:].split("&"))
    from urllib.parse import unquote

    restored, _ = view_from_link({name: unquote(value) for name, value in parameters.items()}, PANELS, ("band",))
    kept = restored.panel(AskState).pin
    assert kept is not None and kept.text == "band 3, no band 4"
    cut = later["view"].with_panel(ListenState, region=Span(1, 2), cut=True)
    back = whole(handlers().on_swap(cut, ()))
    assert back["view"].panel(ListenState) == ListenState(), "a region and its cut are the other query's"
    assert back["view"].query == "band 3, no band 4" and "band 1" in back["view"].panel(AskState).pin.text
    assert whole(handlers().on_unpin(later["view"], ()))["board"]["pinned"] is None


def test_a_pin_with_corrections_and_a_bad_pin() -> None:
    corrected = view(concepts=(Concept("band 5", "absent"),))
    kept = query_from_text(query_to_text(query_of(corrected)))
    assert kept.concepts == (Concept("band 5", "absent"),)
    for bad in ("nonsense", "q=rain&c=zzz"):  # half a pin would be another query
        with pytest.raises(InputError):
            query_from_text(bad)


def test_sentences(encoder: BandEncoder) -> None:
    said = ask_view.headline(ask(view()))
    assert "contain" in said and "when absence is treated as logic" in said
    assert "forbids nothing" in ask_view.headline(ask(view("band 1")))
    assert "No label" in ask_view.headline(ask(view("band 1, no zither")))
    assert ask_view.count_sentence(ask(view("band 1")).rankings[0]) == "nothing is forbidden"
    assert "<script>" not in ask_view.headline(ask(view("band 1, no <script>x")))


def test_opening_the_tab_catches_up_and_leaves_the_view_alone(encoder: BandEncoder) -> None:
    first = whole(handlers().on_open(view(), ()))
    assert first["query"] == "band 1, no band 2" and first["board"]
    assert "view" not in first and "address" not in first, "the visitor may have moved on meanwhile"


def test_own_clips_are_bounded_and_checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ask_collection, "loaded_clip", lambda path, shorten=False: None)
    own: tuple[str, ...] = ()
    for place in range(ask_collection.MOST_OWN):
        own = ask_collection.check_own(own, str(tmp_path / f"{place}.wav"))
    with pytest.raises(InputError, match="ranked already"):
        ask_collection.check_own(own, "another.wav")
    assert ask_collection.check_own(own[:1], own[0]) == own[:1]
    assert ask_collection.shown_name("/x/my_dog.wav") == "my dog"
