"""A link restores its view; a bad parameter falls back with a notice and never raises."""

from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.audio import Span
from backend.collections.demo import demo_clips
from backend.errors import InputError
from backend.negation import (
    MAX_CONCEPTS,
    MAX_PHRASE,
    Concept,
    checked_phrase,
    concepts_from_text,
    concepts_to_text,
    parse_query,
    query_from_text,
    query_to_text,
)
from components.frame.links import link
from components.frame.links import view_from_link as read_link
from components.frame.view_state import ViewState, first_clip
from components.page import PANELS
from components.panels.ask.state import AskState
from components.panels.compose.state import ComposeState
from components.panels.listen.state import ListenState

ENCODERS = ("pocket", "laion:630k-audioset-best")
CLIPS = [record.id for record in demo_clips()]


def is_phrase(text: str) -> bool:
    """Whether the gate lets a concept's words through."""
    try:
        return bool(checked_phrase(text))
    except InputError:
        return False


concept = st.builds(
    Concept,
    st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=40)
    .filter(is_phrase)
    .map(checked_phrase),
    st.sampled_from(["present", "absent"]),
)
listen = st.builds(
    ListenState,
    window=st.sampled_from([2.0, 4.0]),
    depth=st.integers(0, 100).map(float),
    region=st.none()
    | st.tuples(st.integers(0, 9000), st.integers(1, 900)).map(lambda p: Span(p[0] / 1000, (p[0] + p[1]) / 1000)),
    band=st.none()
    | st.tuples(st.integers(0, 4000), st.integers(1, 4000)).map(lambda p: (float(p[0]), float(p[0] + p[1]))),
    cut=st.booleans(),
)
ask = st.builds(AskState, pin=st.sampled_from([None, *map(query_from_text, ("q=rain", "q=rain&c=%2Brain%7C-wind"))]))
compose = st.builds(ComposeState, selection=st.text(st.characters(blacklist_categories=("Cs",)), max_size=60))
views = st.builds(
    ViewState,
    tab=st.sampled_from([panel.id for panel in PANELS]),
    clip=st.sampled_from(CLIPS),
    query=st.text(st.characters(blacklist_categories=("Cs",)), max_size=60),
    concepts=st.none() | st.lists(concept, min_size=1, max_size=4).map(tuple),
    encoder=st.sampled_from(ENCODERS),
    seed=st.integers(0, 1000),
    strength=st.sampled_from([0.0, 0.2, 1.5, 8.0]),
    panels=st.permutations([0, 1, 2]).flatmap(lambda order: st.tuples(*([listen, ask, compose][n] for n in order))),
)


def view_from_link(parameters: dict[str, str], encoders: tuple[str, ...]) -> tuple[ViewState, list[str]]:
    """As the page reads a link, with the panels it has."""
    return read_link(parameters, PANELS, encoders)


@given(views)
def test_a_link_restores_its_view(view: ViewState) -> None:
    restored, notices = view_from_link(dict(parse_qsl(link(view)[1:], keep_blank_values=True)), ENCODERS)
    assert notices == []
    assert restored == view


def test_an_own_sound_is_not_in_the_link_and_that_is_said() -> None:
    address = link(ViewState(upload="/somewhere/my dog.wav", query="rain"))
    assert "dog" not in address
    view, notices = view_from_link(dict(parse_qsl(address[1:])), ENCODERS)
    assert view.upload == "" and view.clip in CLIPS
    assert len(notices) == 1 and "own sound" in notices[0]


@given(
    st.dictionaries(
        st.sampled_from(
            [
                "tab",
                "clip",
                "encoder",
                "window",
                "depth",
                "start",
                "end",
                "band",
                "lambda",
                "seed",
                "concepts",
                "query",
                "cut",
                "pin",
            ]
        ),
        st.text(max_size=50),
    )
)
def test_no_link_breaks_the_page(parameters: dict[str, str]) -> None:
    view, notices = view_from_link(parameters, ENCODERS)
    assert view.clip in CLIPS
    assert view.encoder in ENCODERS
    assert all(notice.startswith("The ") for notice in notices)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("clip", "../../etc/passwd"),
        ("encoder", "nope"),
        ("window", "3"),
        ("depth", "-121"),
        ("depth", "nan"),
        ("band", "900-100"),
        ("tab", "admin"),
        ("concepts", "dog"),
        ("concepts", "|".join(f"+sound {n}" for n in range(MAX_CONCEPTS + 1))),
        ("seed", "x"),
        ("seed", "1.7"),
        ("lambda", "inf"),
    ],
)
def test_a_bad_parameter_is_named(name: str, value: str) -> None:
    view, notices = view_from_link({name: value}, ENCODERS)
    assert len(notices) == 1
    assert name in notices[0]
    assert view == ViewState(clip=first_clip())


@pytest.mark.parametrize(("start", "end"), [("5", "3"), ("-1", "2"), ("x", "2"), ("1", "inf")])
def test_a_region_that_is_none_is_left_out(start: str, end: str) -> None:
    view, notices = view_from_link({"start": start, "end": end}, ENCODERS)
    assert view.panel(ListenState).region is None
    assert len(notices) == 1


@pytest.mark.parametrize("pin", ["nonsense", "q=", "c=%2Brain", "q=rain&c=zzz", "q=+"])
def test_a_pin_that_cannot_be_used_is_said_and_leaves_the_link(pin: str) -> None:
    view, notices = view_from_link({"pin": pin, "query": "rain"}, ENCODERS)
    assert view == ViewState(clip=first_clip(), query="rain") and "pin" not in link(view)
    assert len(notices) == 1 and notices[0].startswith("The pinned query")


@pytest.mark.parametrize("pin", ["q=a+dog%2C+no+rain", "q=rain&c=%2Brain%7C-wind", "q=" + "%C3%A9" * 400])
def test_a_good_pin_stays_whole(pin: str) -> None:
    view, notices = view_from_link({"pin": pin}, ENCODERS)
    kept = view.panel(AskState).pin
    assert notices == [] and kept is not None and query_to_text(kept) == pin


def test_the_longest_query_survives_its_link() -> None:
    concepts = tuple(Concept(f"{number:02}" + "%" * (MAX_PHRASE - 2), "absent") for number in range(MAX_CONCEPTS))
    view = ViewState(clip=CLIPS[0], query="rain", concepts=concepts)
    view = view.with_panel(AskState, pin=parse_query("rain").with_concepts(concepts))
    restored, notices = view_from_link(dict(parse_qsl(link(view)[1:])), ENCODERS)
    assert (restored, notices) == (view, [])


def test_an_uploaded_sound_never_enters_a_link() -> None:
    assert "secret" not in link(ViewState(clip=CLIPS[0], upload="/somewhere/secret.wav"))


def test_concepts_as_text() -> None:
    concepts = (Concept("dog barking", "present"), Concept("rain", "absent"))
    assert concepts_to_text(concepts) == "+dog barking|-rain"
    assert concepts_from_text("+dog barking|-rain") == concepts
    barred = (Concept("rain|wind", "present"), Concept("100% %7C noise", "absent"))
    assert concepts_from_text(concepts_to_text(barred)) == barred


def test_what_one_panel_remembers_leaves_the_others_alone() -> None:
    view = (
        ViewState()
        .with_panel(AskState, pin=parse_query("rain"))
        .with_panel(ListenState, window=4.0, region=Span(1, 2), cut=True)
    )
    assert view.panel(AskState).pin == parse_query("rain") and view.panel(ComposeState) == ComposeState()
    for changed in (view.with_query("wind"), view.with_clip(clip=CLIPS[1])):
        assert changed.panel(ListenState) == ListenState(window=4.0), "a region belongs to its query and its sound"
        assert changed.panel(AskState).pin == parse_query("rain")
    assert (
        view.with_panel(AskState, pin=None).with_panel(ListenState, window=2.0, region=None, cut=False) == ViewState()
    )


@pytest.mark.parametrize(
    "address",
    [
        "?tab=ask&clip={clip}&query=rain&concepts=%2Brain%7C-wind&window=4&depth=60&seed=3&pin=q%3Drain&cut=1"
        "&lambda=0.5&start=1.000&end=2.500&band=300-3000",
        "?tab=compose&clip={clip}&query=a%20dog&encoder=laion%3A630k-audioset-best&selection=dog%3Brain",
    ],
)
def test_links_of_earlier_versions_open_with_the_same_view(address: str) -> None:
    parameters = dict(parse_qsl(address.format(clip=CLIPS[1])[1:]))
    view, notices = view_from_link(parameters, ENCODERS)
    assert notices == [] and view.clip == CLIPS[1] and view.tab == parameters["tab"]
    assert dict(parse_qsl(link(view)[1:])) == parameters
