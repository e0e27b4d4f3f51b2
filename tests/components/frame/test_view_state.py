"""A link restores its view; a bad parameter falls back with a notice and never raises."""

from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.audio import Span
from backend.collections.demo import demo_clips
from backend.evidence.localization import SoughtConcept
from components.frame.view_state import (
    TABS,
    ViewState,
    concepts_from_text,
    concepts_to_text,
    first_clip,
    link,
    view_from_link,
)

ENCODERS = ("pocket", "laion:630k-audioset-best")
CLIPS = [record.id for record in demo_clips()]

concept = st.builds(
    SoughtConcept,
    st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=40).map(str.strip).filter(bool),
    st.sampled_from(["present", "absent"]),
)
views = st.builds(
    ViewState,
    tab=st.sampled_from(TABS),
    clip=st.sampled_from(CLIPS),
    query=st.text(st.characters(blacklist_categories=("Cs",)), max_size=60),
    concepts=st.none() | st.lists(concept, min_size=1, max_size=4).map(tuple),
    encoder=st.sampled_from(ENCODERS),
    window=st.sampled_from([2.0, 4.0]),
    depth=st.integers(0, 100).map(float),
    region=st.none()
    | st.tuples(st.integers(0, 9000), st.integers(1, 900)).map(lambda p: Span(p[0] / 1000, (p[0] + p[1]) / 1000)),
    band=st.none()
    | st.tuples(st.integers(0, 4000), st.integers(1, 4000)).map(lambda p: (float(p[0]), float(p[0] + p[1]))),
    seed=st.integers(0, 1000),
    strength=st.sampled_from([0.0, 0.2, 1.5, 8.0]),
    cut=st.booleans(),
)


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
        ("window", "11"),
        ("depth", "-121"),
        ("depth", "nan"),
        ("band", "900-100"),
        ("tab", "admin"),
        ("concepts", "dog"),
        ("concepts", "|".join(f"+sound {n}" for n in range(13))),
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
    assert view.region is None
    assert len(notices) == 1


@pytest.mark.parametrize("pin", ["nonsense", "q=", "c=%2Brain", "q=rain&c=zzz", "q=+"])
def test_a_pin_that_cannot_be_used_is_said_and_leaves_the_link(pin: str) -> None:
    view, notices = view_from_link({"pin": pin, "query": "rain"}, ENCODERS)
    assert view == ViewState(clip=first_clip(), query="rain") and "pin" not in link(view)
    assert len(notices) == 1 and notices[0].startswith("The pinned query")


@pytest.mark.parametrize("pin", ["q=a+dog%2C+no+rain", "q=rain&c=%2Brain%7C-wind", "q=" + "%C3%A9" * 400])
def test_a_good_pin_stays_whole(pin: str) -> None:
    view, notices = view_from_link({"pin": pin}, ENCODERS)
    assert (view.pin, notices) == (pin, [])


def test_an_uploaded_sound_never_enters_a_link() -> None:
    assert "secret" not in link(ViewState(clip=CLIPS[0], upload="/somewhere/secret.wav"))


def test_concepts_as_text() -> None:
    concepts = (SoughtConcept("dog barking", "present"), SoughtConcept("rain", "absent"))
    assert concepts_to_text(concepts) == "+dog barking|-rain"
    assert concepts_from_text("+dog barking|-rain") == concepts
    barred = (SoughtConcept("rain|wind", "present"), SoughtConcept("100% %7C noise", "absent"))
    assert concepts_from_text(concepts_to_text(barred)) == barred
