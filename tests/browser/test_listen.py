"""The Listen panel as a visitor uses it: result, query, chips, cut, ear, own sound, link, phone."""

from __future__ import annotations

import io
import json
import urllib.request
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import numpy as np
import pytest
import soundfile

from backend.audio import Span, load_clip
from backend.collections.demo import demo_clips
from backend.encoders.base import load_encoder
from backend.evidence.control_cuts import cut_and_compare
from backend.evidence.cut import gated_clip
from backend.negation import parse_query
from components.frame.view_state import DEFAULT_QUERY
from components.widgets.numbers import signed

pytestmark = pytest.mark.browser
FIRST = demo_clips()[0]


def headline(page, containing: str) -> str:
    page.wait_for_function(
        "text => (document.querySelector('#listen-headline')?.innerText || '').includes(text)",
        arg=containing,
        timeout=60_000,
    )
    return sentences(page)


def sentences(page) -> str:
    """What the headline says, without Gradio's own invisible status text."""
    return " ".join(page.locator("#listen-headline .headline").all_inner_texts())


def cell(page, row: int, column: int) -> str:
    return page.inner_text(f"#listen-table tbody tr:nth-child({row}) > :nth-child({column})")


def parameters(page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlparse(page.url).query).items()}


def wait_for_parameter(page, name: str, value: str) -> None:
    page.wait_for_function(
        "([name, value]) => new URLSearchParams(location.search).get(name) === value", arg=[name, value], timeout=30_000
    )


def test_a_result_stands_there_without_a_click(open_page) -> None:
    page = open_page()
    said = headline(page, "is found at")
    assert "dog barking" in said
    assert "should be absent" in said
    assert page.locator("#listen-stage canvas").count() >= 2
    assert parameters(page)["clip"] == FIRST.id


@pytest.mark.walk
def test_page_and_backend_give_the_same_numbers(open_page) -> None:
    page = open_page()
    headline(page, "is found at")
    clip = load_clip(FIRST.path)
    start, end = (float(part) for part in cell(page, 1, 2).split("–"))
    page.click("#listen-cut")
    headline(page, "Cutting")
    experiment = cut_and_compare(
        load_encoder("pocket"), clip, parse_query(DEFAULT_QUERY).concepts, 2.0, Span(start, end), 40.0
    )
    for row, effect in enumerate(experiment.effects, start=1):
        assert cell(page, row, 3) == signed(effect.before)
        assert cell(page, row, 5) == signed(effect.after)
        assert cell(page, row, 6) == f"{signed(effect.before - effect.control_mean)} ± {effect.control_sd:.3f}"
        assert cell(page, row, 7) == signed(effect.blank)


def test_downloads_are_bit_for_bit_what_was_computed(open_page, server: str) -> None:
    page = open_page("?depth=40&start=2&end=4")
    headline(page, "is found at")
    page.click("#listen-cut")
    headline(page, "Cutting 2.00–4.00 s")
    with page.expect_download() as download:
        page.click("#listen-wav")
    samples, rate = soundfile.read(download.value.path(), dtype="int16")
    original = load_clip(FIRST.path)
    expected = np.rint(gated_clip(original, Span(2.0, 4.0), 40.0).channels[:, 0] * 32768).clip(-32768, 32767)
    assert rate == original.sample_rate
    np.testing.assert_array_equal(samples, expected.astype(np.int16))
    with page.expect_download() as download:
        page.click("#listen-json")
    record = json.loads(Path(download.value.path()).read_text())
    assert record["region"] == {"start": 2.0, "end": 4.0}
    assert {"version", "encoder", "seed"} <= set(record["provenance"])


def test_what_is_played_is_forty_decibels_down(open_page) -> None:
    played: dict[str, bytes] = {}
    page = open_page("?start=2&end=4&depth=40")
    page.on("response", lambda response: played.update({response.url: b""}) if ".wav" in response.url else None)
    headline(page, "is found at")
    page.click("#listen-cut")
    headline(page, "Cutting")
    page.click("#listen-stage [data-do=cut]")
    page.click("#listen-stage [data-do=play]")
    page.wait_for_timeout(1500)
    assert played, "nothing was fetched to be played"
    original = load_clip(FIRST.path)
    middle = slice(round(2.2 * original.sample_rate), round(3.8 * original.sample_rate))
    levels = []
    for url in played:
        samples, _ = soundfile.read(io.BytesIO(urllib.request.urlopen(url).read()))
        levels.append(20 * np.log10(np.sqrt(np.mean(samples[middle] ** 2))))
    true = 20 * np.log10(np.sqrt(np.mean(original.mono[middle].astype(float) ** 2)))
    assert min(levels) == pytest.approx(true - 40, abs=0.1)


def test_a_typed_query_and_flipped_chips(open_page) -> None:
    page = open_page()
    headline(page, "is found at")
    page.fill("#listen-query textarea, #listen-query input", "rain without thunder")
    page.keyboard.press("Enter")
    said = headline(page, "thunder")
    assert "rain" in said
    wait_for_parameter(page, "query", "rain without thunder")
    page.click("#listen-chips .chip.absent .chip-flip")
    page.wait_for_selector("#listen-chips .chips-edited")
    assert page.locator("#listen-chips .chip.present").count() == 2
    wait_for_parameter(page, "concepts", "+rain|+thunder")
    page.click("#listen-chips .chip:nth-child(2) .chip-small:last-child")
    wait_for_parameter(page, "concepts", "+rain")
    page.click("#listen-chips .chip-add")
    page.keyboard.type("<img src=x onerror=alert(1)>")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelectorAll('#listen-chips .chip').length === 2")
    assert page.locator("#listen-chips img, #listen-headline img, #listen-table img").count() == 0


@pytest.mark.walk
def test_chips_edited_faster_than_answers_come_are_all_kept(open_page) -> None:
    page = open_page()
    headline(page, "is found at")
    flips = "document.querySelectorAll('#listen-chips .chip-flip')"
    page.evaluate(f"() => {{ {flips}[0].click(); {flips}[1].click(); }}")
    wait_for_parameter(page, "concepts", "-dog barking|+rain")
    page.evaluate(f"() => {{ for (let n = 0; n < 5; n += 1) {flips}[1].click(); }}")
    wait_for_parameter(page, "concepts", "-dog barking|-rain")
    page.focus("#listen-chips .chip:nth-child(2) .chip-flip")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    wait_for_parameter(page, "concepts", "-dog barking|+rain")
    assert page.evaluate("document.activeElement.innerText") == "rain"


def test_an_empty_query_is_a_sentence_and_loses_nothing(open_page) -> None:
    page = open_page()
    before = headline(page, "is found at")
    page.fill("#listen-query textarea, #listen-query input", "")
    page.click("#listen-find")
    page.wait_for_selector("#tab-listen .error, .message .error")
    assert sentences(page) == before


def test_the_page_is_ready_every_time_it_opens(open_page) -> None:
    for _ in range(4):
        page = open_page("?start=2&end=4")
        headline(page, "is found at")
        page.wait_for_function("() => !document.querySelector('#listen-cut').disabled", timeout=10_000)
        page.close()


def test_a_link_restores_the_cut_and_its_sentence_is_spoken(open_page) -> None:
    page = open_page()
    headline(page, "is found at")
    page.click("#listen-cut")
    said = headline(page, "random cut")
    wait_for_parameter(page, "cut", "1")
    assert "random cut" in page.inner_text("#listen-headline [aria-live=polite]")
    again = open_page(urlparse(page.url).query and "?" + urlparse(page.url).query)
    assert headline(again, "random cut") == said
    assert cell(again, 1, 5) == cell(page, 1, 5)


def test_back_returns_to_the_tab_before(open_page) -> None:
    page = open_page("?tab=steer&query=rain%2C%20no%20thunder")
    page.wait_for_selector("#steer-plane .js-plotly-plot", timeout=120_000)
    page.get_by_role("tab", name="Listen").click()
    page.wait_for_function("() => !new URLSearchParams(location.search).get('tab')")
    headline(page, "rain")
    page.go_back()
    wait_for_parameter(page, "tab", "steer")
    page.wait_for_selector("#steer-plane .js-plotly-plot", timeout=120_000)
    assert page.input_value("#steer-query textarea, #steer-query input") == "rain, no thunder"
    page.go_forward()
    headline(page, "rain")
    assert parameters(page).get("tab") is None


def test_what_is_typed_while_a_result_arrives_stays(open_page) -> None:
    page = open_page()
    headline(page, "is found at")
    box = page.locator("#listen-query textarea, #listen-query input")
    for word in ("rain", "thunder", "a cat"):
        box.fill(word)
        page.keyboard.press("Enter")
        for more in (" and", " wind", " and", " birds"):
            page.keyboard.type(more, delay=25)
        headline(page, word.removeprefix("a "))
        page.wait_for_timeout(400)
        assert box.input_value() == f"{word} and wind and birds"


def test_the_newest_of_two_queries_wins(open_page) -> None:
    page = open_page()
    headline(page, "is found at")
    box = page.locator("#listen-query textarea, #listen-query input")
    for word in ("rain", "thunder", "cat meowing"):
        box.fill(word)
        page.keyboard.press("Enter")
    said = headline(page, "cat meowing")
    page.wait_for_timeout(1500)
    assert sentences(page) == said
    wait_for_parameter(page, "query", "cat meowing")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("page.wav", b"<!doctype html><html><body>no sound</body></html>", "HTML"),
        ("empty.wav", b"", "empty"),
        ("pointer.flac", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n", "LFS"),
    ],
)
def test_a_bad_file_is_a_sentence_and_loses_nothing(open_page, tmp_path: Path, name, content, said) -> None:
    page = open_page()
    before = headline(page, "is found at")
    path = tmp_path / name
    path.write_bytes(content)
    page.click("#listen-own button")
    page.set_input_files("#listen-upload input[type=file]", str(path))
    page.wait_for_selector(".message .error")
    assert said in page.inner_text(".message .error")
    assert sentences(page) == before


@pytest.mark.walk
def test_own_sound_is_analysed(open_page, tmp_path: Path) -> None:
    page = open_page()
    headline(page, "is found at")
    path = tmp_path / "ton über 𝄞.wav"
    time = np.arange(24_000) / 8000
    soundfile.write(path, 0.3 * np.sin(2 * np.pi * 440 * time), 8000, subtype="PCM_24")
    page.click("#listen-own button")
    page.set_input_files("#listen-upload input[type=file]", str(path))
    page.wait_for_function(
        "(document.querySelector('#listen-stage')?.innerText || '').includes('3.00 s')", timeout=60_000
    )
    assert "clip" not in parameters(page)


def test_a_link_restores_the_view(open_page) -> None:
    other = demo_clips()[1].id
    page = open_page(f"?clip={other}&query=church%20bells&window=4&depth=100&start=1.5&end=3.25")
    headline(page, "church bells")
    assert "1.50–3.25" in page.inner_text("#listen-cut")
    assert page.is_checked("#listen-window label:has-text('4 s') input")
    assert page.is_checked("#listen-depth label:has-text('100 dB') input")
    assert page.inner_text("#listen-stage [data-part=name]").startswith(other)


def test_a_bad_link_falls_back_with_a_notice(open_page) -> None:
    page = open_page("?clip=nothing&window=3&encoder=%3Cscript%3E")
    headline(page, "is found at")
    notices = page.inner_text(".notices")
    for name in ("clip", "window", "encoder"):
        assert f"asks for {name}" in notices


def test_nothing_is_wider_than_a_phone(open_page) -> None:
    page = open_page(width=390, height=844, has_touch=True)
    headline(page, "is found at")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_two_visitors_do_not_meet(open_page) -> None:
    first, second = open_page("?query=church%20bells"), open_page("?query=a%20cat")
    headline(first, "church bells")
    headline(second, "cat")
    first.click("#listen-cut")
    headline(first, "Cutting")
    assert "Cutting" not in second.inner_text("#listen-headline")


def test_a_region_that_the_clip_cannot_have_is_left_out_and_said(open_page) -> None:
    page = open_page("?start=50&end=60")
    headline(page, "is found at")
    page.wait_for_function("document.querySelector('#listen-cut').innerText.startsWith('Cut ')")
    assert "50.00-60.00 s does not lie inside the clip" in page.inner_text(".gradio-container")
    assert "start" not in parameters(page)
    page.click("#listen-cut")
    headline(page, "Cutting")


def test_the_cut_button_names_what_was_selected_while_a_cut_ran(open_page) -> None:
    page = open_page()
    headline(page, "is found at")
    page.click("#listen-cut")
    page.wait_for_selector("#listen-cancel", state="visible")
    plot = page.locator("#listen-stage [data-part=plot]")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    page.mouse.move(box["x"] + 0.1 * box["width"], box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 30, steps=5)
    page.mouse.up()
    headline(page, "Cutting")
    page.wait_for_selector("#listen-cancel", state="hidden")
    chosen = parameters(page)
    named = f"Cut {float(chosen['start']):.2f}–{float(chosen['end']):.2f} s"
    page.wait_for_function("named => document.querySelector('#listen-cut').innerText === named", arg=named)


def test_the_depth_follows_keys_and_any_typed_number(open_page) -> None:
    page = open_page("?depth=20")
    headline(page, "is found at")
    slider = page.locator("#listen-depth-other input[type=range]")
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    wait_for_parameter(page, "depth", "25")
    box = page.locator("#listen-depth-other input[type=number]")
    box.fill("999")
    page.keyboard.press("Tab")
    wait_for_parameter(page, "depth", "120")
    assert page.locator(".toast-body").count() == 0
