"""Laws of the parser, whatever the text, and what hostile text is answered."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.errors import InputError
from backend.negation import (
    MAX_CHARACTERS,
    MAX_CONCEPTS,
    MAX_PHRASE,
    Concept,
    Query,
    checked_phrase,
    concepts_from_text,
    concepts_to_text,
    parse_query,
    query_from_text,
    query_to_text,
)

CUES = (
    "no not without never none neither nor except but instead of rather than only just free of lacking absent with any "
    "minus stops until and or , . ; : ! ? ( ) dog dogs rain barking loudly thunder music is are that isn't don't a the "
    "nothing everything else nobody w/o -thunder traffic-free non-speech wordless more longer after hardly any"
).split()
FOREIGN_CUES = (
    "no sin ni pero que el la los perro perros ladra está lluvia llueve ya deja de en vez lugar nada solo menos y o "
    ", . : - "
    "ne n' pas sans plus ni mais qui un une le chien aboie pluie pleut il au lieu de rien que sauf et ou n'aboie "
    "nicht kein keine ohne weder noch statt der die das ein Hund bellt Regen regnet hat ist mehr nur alles "
    "außer und oder "
    "没有 不 狗 叫 雨声 只有 除了 不再 一只 的 ， 和 也"
).split()
foreign_texts = st.lists(st.sampled_from(FOREIGN_CUES), min_size=1, max_size=10).map(" ".join)
marked_texts = st.lists(
    st.sampled_from('rain thunder yes no - -rain −wind -"car horn" absent: present: , . ( ) and not windy'.split(" ")),
    min_size=1,
    max_size=10,
).map(" ".join)
query_texts = st.lists(st.sampled_from(CUES), min_size=1, max_size=14).map(" ".join)


@given(st.one_of(query_texts, foreign_texts, marked_texts, st.text(max_size=80)))
@settings(max_examples=600, deadline=None)
def test_any_text_parses_or_is_refused_in_a_sentence(text: str) -> None:
    try:
        parsed = parse_query(text)
    except InputError as error:
        assert str(error).endswith(".")
        return
    assert len(parsed.text) == len(text)
    assert parse_query(text) == parsed
    for concept in parsed.concepts:
        assert 0 <= concept.start < concept.end <= len(text)
        assert concept.text.strip() == concept.text != ""
        assert (concept.polarity == "absent") == bool(concept.cue)
        if concept.scope is not None:
            assert 0 <= concept.scope[0] <= concept.scope[1] <= len(text)
    assert json.loads(json.dumps(parsed.record()))["query"] == parsed.text


@given(
    st.sampled_from(["dog barking", "rain", "church bells", "a car"]), st.sampled_from(["thunder", "music", "voices"])
)
def test_the_plain_forms_agree(present: str, absent: str) -> None:
    """Six ways to say one thing have one meaning."""
    forms = (
        "{p}, no {a}",
        "{p} without {a}",
        "no {a}, {p} only",
        "{p} but no {a}",
        "{p} and no {a}",
        "{p} instead of {a}",
    )
    meanings = set()
    for form in forms:
        parsed = parse_query(form.format(p=present, a=absent))
        meanings.add((parsed.positives[0].text, parsed.negatives[0].text, len(parsed.concepts)))
    assert len(meanings) == 1


@given(query_texts)
@settings(max_examples=150, deadline=None)
def test_case_does_not_matter(text: str) -> None:
    lower, upper = parse_query_or_none(text), parse_query_or_none(text.upper())
    if lower is None or upper is None:
        assert lower is upper
        return
    assert [c.text.lower() for c in lower.positives] == [c.text.lower() for c in upper.positives]
    assert [c.text.lower() for c in lower.negatives] == [c.text.lower() for c in upper.negatives]


def parse_query_or_none(text: str):
    try:
        return parse_query(text)
    except InputError:
        return None


@given(query_texts)
@settings(max_examples=150, deadline=None)
def test_a_link_restores_every_concept(text: str) -> None:
    parsed = parse_query_or_none(text)
    if parsed is None or not parsed.concepts:
        return
    flipped = parsed.with_flipped(0)
    restored = parsed.with_concepts(concepts_from_text(concepts_to_text(flipped.concepts)))
    assert sorted(c.text for c in restored.positives) == sorted(c.text for c in flipped.positives)
    assert sorted(c.text for c in restored.negatives) == sorted(c.text for c in flipped.negatives)


def test_edits_are_values_and_always_win() -> None:
    parsed = parse_query("a dog barking, no rain")
    flipped = parsed.with_flipped(1)
    assert [c.text for c in flipped.positives] == ["dog barking", "rain"] and not flipped.negatives
    assert parsed.negatives and not parsed.edited and flipped.edited
    renamed = parsed.with_edited(0, "  not a   wolf ")
    assert renamed.positives[0].text == "not a wolf", "a person's words are not parsed again"
    assert [c.text for c in parsed.with_added("thunder", "absent").negatives] == ["rain", "thunder"]
    assert parsed.with_deleted(0).positives == ()
    assert any("absent" in note for note in parsed.with_deleted(0).notes)
    for wrong in (-1, 2, True):
        with pytest.raises(InputError, match="counted from 0"):
            parsed.with_flipped(wrong)
    with pytest.raises(InputError, match="empty"):
        parsed.with_added(" ")
    with pytest.raises(InputError, match="at most 120"):
        parsed.with_edited(0, "x" * 121)


def test_a_link_with_signs_of_its_own_grammar() -> None:
    odd = parse_query("rain").with_added("a|b%7Cc;d\\e &=", "absent")
    assert odd.with_concepts(concepts_from_text(concepts_to_text(odd.concepts))).negatives[0].text == odd.absent[0]
    assert query_from_text(query_to_text(odd)) == odd
    with pytest.raises(InputError, match="begins with"):
        concepts_from_text("rain")
    with pytest.raises(InputError, match="names no sound"):
        concepts_from_text("")
    with pytest.raises(InputError, match="at most 24"):
        concepts_from_text("|".join(f"+s{i}" for i in range(25)))


def test_links_that_were_given_away_keep_opening() -> None:
    assert concepts_from_text("+dog barking|-rain") == (Concept("dog barking", "present"), Concept("rain", "absent"))
    assert concepts_from_text("-100%25 wool%7Ccotton") == (Concept("100% wool|cotton", "absent"),)
    pinned = query_from_text("q=a+dog%2C+no+rain&c=%2Bdog%7C%2Brain")
    assert (pinned.text, pinned.present, pinned.absent) == ("a dog, no rain", ("dog", "rain"), ())


def test_a_query_is_a_key_and_needs_no_text_to_be_parsed() -> None:
    plain = Query("", (Concept("dog"), Concept("rain", "absent")))
    assert plain == Query.of("", ["dog"], ["rain"]) and hash(plain) == hash(Query.of("", ["dog"], ["rain"]))
    assert plain.with_flipped(1) != plain and (plain.present, plain.absent) == (("dog",), ("rain",))


def test_an_edit_leaves_every_other_concept_where_it_is() -> None:
    parsed = parse_query("a dog barking, a cat, no rain")
    assert [c.text for c in parsed.with_flipped(0).concepts] == [c.text for c in parsed.concepts]
    twice = parse_query("rain, no rain")
    assert [c.start for c in twice.with_flipped(0).concepts] == [c.start for c in twice.concepts]


def handed_back(parsed: Query) -> Query:
    """The query as a chip editor and then a link hand it back, with its first sound flipped."""
    flipped = parsed.with_flipped(0)
    phrases = [Concept(checked_phrase(concept.text), concept.polarity) for concept in flipped.concepts]
    text = concepts_to_text(phrases)
    assert [c.text for c in phrases] == [c.text for c in parsed.concepts], "a name is changed by the gate"
    return parsed.with_concepts(concepts_from_text(text))


@given(st.one_of(query_texts, foreign_texts, marked_texts, st.text(max_size=MAX_CHARACTERS)))
@settings(max_examples=300, deadline=None)
def test_what_a_text_gives_can_be_handed_back(text: str) -> None:
    parsed = parse_query_or_none(text)
    if parsed is not None and parsed.concepts:
        assert len(handed_back(parsed).concepts) == len(parsed.concepts)


@pytest.mark.parametrize("count", [14, MAX_CONCEPTS])
def test_as_many_sounds_as_are_read_can_be_edited(count: int) -> None:
    parsed = parse_query(", ".join(f"bird {number}" for number in range(count)))
    assert len(parsed.concepts) == count and not parsed.notes
    assert len(handed_back(parsed).concepts) == count


def test_sounds_beyond_the_limit_are_cut_with_a_sentence() -> None:
    parsed = parse_query("no wind, " + ", ".join(f"bird {number}" for number in range(MAX_CONCEPTS + 3)))
    assert len(parsed.concepts) == MAX_CONCEPTS and parsed.absent == ("wind",), "the first of the text are kept"
    assert any(f"first {MAX_CONCEPTS} of {MAX_CONCEPTS + 4}" in note for note in parsed.notes)
    with pytest.raises(InputError, match=f"at most {MAX_CONCEPTS}"):
        parsed.with_added("one more")


@pytest.mark.parametrize("text", ["a " + "very " * 35 + "loud dog barking", "犬" * 158, "ab" * 79 + ", no rain"])
def test_a_long_name_is_cut_with_a_sentence(text: str) -> None:
    parsed = parse_query(text)
    assert max(len(concept.text) for concept in parsed.concepts) <= MAX_PHRASE
    assert any("characters; its first" in note for note in parsed.notes)
    assert len(handed_back(parsed).concepts) == len(parsed.concepts)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("   \n\t ", "empty"),
        ("\x00\x07", "empty"),
        ("!!! ,,,", "no word"),
        ("🐶🐶", "no word"),
        ("rain " * 400, "2,000 characters"),
        ("x" * (MAX_CHARACTERS + 1), "at most 500"),
        (None, "not text"),
        (7, "not text"),
    ],
)
def test_refused(text: object, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        parse_query(text)  # type: ignore[arg-type]
    assert refused.value.concerns == "argument"


def test_notes_say_what_a_person_must_know() -> None:
    def said(text: str) -> str:
        return " ".join(parse_query(text).notes)

    assert "at once" in said("rain, no rain")
    assert "absence alone" in said("no dogs, no cats")
    assert "Control characters" in said("rain\x00without\x1bthunder")
    assert said("rain\tbut no wind") == said("rain but no wind") == ""
    assert "not UTF-8" in said("rain \udcff\udcfe") and "Control" not in said("rain \udcff")
    assert [c.text for c in parse_query("rain\x00without\x1bthunder").negatives] == ["thunder"]
    assert "was read as “thunder”" in said("no thnder just rain")
    assert "heard before" in said("no more talking after the bell rings")
    assert "may or may not" in said("rain with or without thunder")
    assert "comma" in said("no wind, waves")
    assert "read as minus" in said("rain - thunder")
    assert "a break between sounds" in said("forest - birds")
    assert "dash" not in said("rain - no thunder")
    assert "over “raining” alone; flip “windy”" in said("not raining and windy")
    assert "over “raining” and over “snowing”" in said("not raining and snowing")
    assert "put a comma" in said("statt Musik Regen")


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("дождь без грома", "Cyrillic"),
        ("雷のない雨", "Japanese"),
        ("천둥 없는 비", "Korean"),
        ("مطر بدون رعد", "Arabic"),
        ("βροχή χωρίς βροντή", "Greek"),
        ("pioggia senza tuoni", "does not parse"),
        ("regn utan åska", "does not parse"),
        ("chuva sem trovão", "does not parse"),
    ],
)
def test_an_unknown_language_is_said_and_read_as_present(text: str, script: str) -> None:
    parsed = parse_query(text)
    assert parsed.language == "und"
    assert [c.text for c in parsed.positives] == [text] and not parsed.negatives
    assert script in parsed.notes[0]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("rain without thunder", "en"), ("café ambience, no music", "en"), ("no wind", "en"), ("techno", "en"),
        ("solo trumpet", "en"), ("piano sans drums", "en"), ("lluvia sin truenos", "es"), ("pluie sans tonnerre", "fr"),
        ("Regen ohne Donner", "de"), ("没有雷声", "zh"), ("no hay perros", "es"), ("pas de chien", "fr"),
    ],
)  # fmt: skip
def test_language(text: str, language: str) -> None:
    assert parse_query(text).language == language


@pytest.mark.parametrize(
    ("main", "relative"),
    [
        ("the dog does not bark", "a dog that does not bark"),
        ("el perro no ladra", "un perro que no ladra"),
        ("le chien n'aboie pas", "un chien qui n'aboie pas"),
        ("der Hund bellt nicht", "ein Hund, der nicht bellt"),
        ("狗不叫", "一只不叫的狗"),
    ],
)
def test_a_denied_clause_is_read_alike_in_every_language(main: str, relative: str) -> None:
    """The barking is absent; only "a dog that ..." asks for the dog."""
    clause, noun = parse_query(main), parse_query(relative)
    assert not clause.positives and len(clause.negatives) == 1
    assert len(noun.positives) == 1 and len(noun.negatives) == 1


def test_others_are_named_by_only_and_by_everything_but() -> None:
    assert parse_query("only rain").others == "absent"
    assert parse_query("crickets and nothing more").others == "absent"
    assert parse_query("everything but the drums").others == "present"
    assert parse_query("rain, no thunder").others == ""


def test_a_long_query_stays_fast() -> None:
    """The bound is loose, so that a busy machine cannot fail it; bench_negation measures."""
    text = ("no dogs barking loudly, cats or birds but a man who isn't speaking " * 8)[:500]
    parse_query(text)
    start = time.perf_counter()
    parse_query(text)
    assert time.perf_counter() - start < 0.5
