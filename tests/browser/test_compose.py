"""The Compose panel as a teacher uses it: one that adds up, one that does not, by ear; sums; own files; a phone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest

from tests.browser.conftest import faint, served

pytestmark = pytest.mark.browser
HOSTILE = '<img src=x onerror="window.hurt=1"> ${window.hurt=2} {{value}}'
PLAYER = "window.unheardPlayer.audio"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a server with this panel alone and a cache of its own."""
    with served(tmp_path_factory.mktemp("compose"), "-m", "tests.browser.compose_page") as (address, log):
        yield address
    assert "Traceback" not in log.read_text(), log.read_text()[-4000:]


@pytest.fixture
def visit(browser, address) -> Iterator[object]:
    """A function (width, theme) -> the page with a result; an error in it fails the test."""
    contexts, problems = [], []

    def opened(width: int = 1280, theme: str = "light"):
        context = browser.new_context(viewport={"width": width, "height": 900})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(180_000)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(f"{address}?__theme={theme}")
        page.wait_for_selector("#compose-headline .headline")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert problems == []


def title(page) -> str:
    return page.inner_text("#compose-drawer h3")


def settled_title(page, seconds: float = 4.0) -> str:
    """The title that stands still for ``seconds``, however long a busy machine takes to answer all the clicks."""
    page.evaluate(
        """() => {
            window.moved = performance.now();
            new MutationObserver(() => { window.moved = performance.now(); })
                .observe(document.querySelector('#compose-drawer'), { subtree: true, childList: true });
        }"""
    )
    page.wait_for_function("ms => performance.now() - window.moved > ms", arg=seconds * 1000)
    return title(page)


def press(page, selector: str) -> str:
    """Click something that opens another combination; the new title."""
    before = title(page)
    page.click(selector)
    page.wait_for_function("old => document.querySelector('#compose-drawer h3').innerText !== old", arg=before)
    return title(page)


def seen_chart(page) -> None:
    """Scroll to the scatter and wait until it is drawn."""
    page.locator("#compose-scatter .chart").scroll_into_view_if_needed()
    page.wait_for_selector("#compose-scatter .scatterlayer .point")


def press_point(page, place: int) -> str:
    """Click a point of the scatter; the new title."""
    seen_chart(page)
    before, box = title(page), page.locator("#compose-scatter .scatterlayer .point").nth(place).bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_function("old => document.querySelector('#compose-drawer h3').innerText !== old", arg=before)
    return title(page)


def terms(page) -> list[list[object]]:
    return json.loads(page.get_attribute("#compose-arithmetic .expression", "data-terms"))


def sum_of(page, selector: str) -> list[list[object]]:
    """Click something that changes the sum; the new terms, once they are answered."""
    before = page.get_attribute("#compose-arithmetic .expression", "data-edit")
    page.click(f"#compose-arithmetic {selector}")
    page.wait_for_function(
        "old => document.querySelector('#compose-arithmetic .expression').dataset.edit !== old", arg=before
    )
    return terms(page)


def test_one_that_adds_up_one_that_does_not_and_both_are_heard(visit):
    page = visit()
    worst = press(page, "#compose-worst")
    assert press(page, "#compose-best") != worst
    page.click("#compose-drawer .play >> nth=0")
    page.wait_for_function(f"{PLAYER}.currentTime > 0.1")
    assert page.get_attribute("#compose-drawer .play >> nth=0", "aria-pressed") == "true"
    assert page.evaluate(f"[{PLAYER}.volume, {PLAYER}.duration]") == [1, 5]
    page.click("#compose-drawer .play >> nth=0")
    assert page.evaluate(f"{PLAYER}.paused")
    page.click("#compose-drawer .play >> nth=0")
    marked = press_point(page, 7)
    assert page.evaluate(f"{PLAYER}.paused"), "a sound without a button to stop it goes on"
    assert marked in page.inner_text("#compose-pick") or page.input_value("#compose-pick input") == marked
    page.wait_for_selector("#compose-json:not([disabled])")
    with page.expect_download() as download:
        page.click("#compose-json")
    record = json.loads(Path(download.value.path()).read_text())
    assert f"{record['loo']['real']['cosine']:+.3f}" in page.inner_text("#compose-headline")
    assert f"{record['loo']['real']['cosine']:+.3f}" in page.inner_text("#compose-table")


def test_sounds_are_added_and_subtracted(visit):
    page = visit()
    assert sum_of(page, "[data-clear]") == []
    assert sum_of(page, "[data-sign='1'][data-source='rain']") == [[1, "rain"]]
    assert sum_of(page, "[data-sign='1'][data-source='dog barking']") == [[1, "rain"], [1, "dog barking"]]
    assert sum_of(page, "[data-sign='-1'][data-source='rain']") == [[1, "rain"], [1, "dog barking"], [-1, "rain"]]
    assert "dog barking" in page.inner_text("#compose-arithmetic .compose-two > div:last-child")
    assert sum_of(page, "[data-remove='0']") == [[1, "dog barking"], [-1, "rain"]]


@pytest.mark.walk
def test_clicks_without_a_pause_are_all_counted_and_in_order(visit):
    page = visit()
    best = title(page)
    worst = press(page, "#compose-worst")
    ends = ["best", "worst"] * 4 + ["best"]
    page.evaluate("ends => ends.forEach(end => document.querySelector(`#compose-${end}`).click())", ends)
    page.wait_for_function("best => document.querySelector('#compose-drawer h3').innerText === best", arg=best)
    ringed, picked = settled_title(page), page.input_value("#compose-pick input")
    assert (ringed, picked) == (best, best) != (worst, worst)
    assert all(word in unquote(page.url) for word in best.split(" + "))


def test_edits_of_a_sum_build_on_each_other(visit):
    page = visit()
    clicks = """selectors => selectors.forEach(
        selector => document.querySelector('#compose-arithmetic ' + selector).click())"""
    sum_of(page, "[data-clear]")
    plus = "[data-sign='1'][data-source='{}']".format
    page.evaluate(clicks, [plus("rain"), plus("siren"), "[data-sign='-1'][data-source='thunder']", plus("laughter")])
    expected = [[1, "rain"], [1, "siren"], [-1, "thunder"], [1, "laughter"]]
    assert terms(page) == expected, "drawn at once"
    page.evaluate(clicks, ["[data-remove='0']", "[data-remove='1']"])
    expected = [[1, "siren"], [1, "laughter"]]
    for _ in range(20):  # answers to earlier edits arrive meanwhile
        assert terms(page) == expected
        page.wait_for_timeout(50)
    page.wait_for_function("document.querySelector('#compose-arithmetic .expression').dataset.edit === '7'")
    assert terms(page) == expected
    assert "laughter + siren" in page.inner_text("#compose-arithmetic .compose-two > div:last-child > p")
    page.focus("#compose-arithmetic " + plus("rain"))
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('#compose-arithmetic .expression').dataset.edit === '8'")
    assert page.evaluate("document.activeElement.dataset.source") == "rain", "the keyboard stays where it was"


def test_own_files_with_hostile_labels_are_shown_as_text(visit, tmp_path):
    random = np.random.default_rng(0)
    sets = [sorted(random.choice([HOSTILE, "rain", "dog"], random.integers(1, 3), replace=False)) for _ in range(30)]
    np.savez(tmp_path / "own.npz", ids=np.array([f"c{i}" for i in range(30)]), embeddings=random.random((30, 6)))
    rows = "".join('c{},"{}"\n'.format(i, ";".join(names).replace('"', '""')) for i, names in enumerate(sets))
    (tmp_path / "labels.csv").write_text("id,labels\n" + rows)
    page = visit()
    page.click("#compose-own > button")
    page.set_input_files("#compose-embeddings input[type=file]", str(tmp_path / "own.npz"))
    page.set_input_files("#compose-labels input[type=file]", str(tmp_path / "labels.csv"))
    page.wait_for_function("document.querySelectorAll('#compose-own .file-preview').length >= 2")
    page.click("#compose-analyse")
    page.wait_for_function("document.querySelector('#compose-headline').innerText.includes('own.npz')")
    press(page, "#compose-worst")
    assert "${window.hurt=2}" in page.inner_text("#compose-arithmetic")
    seen_chart(page)
    page.focus("#compose-scatter .chart")
    said = set()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
        said.add(page.text_content("#compose-scatter .chart-said").split(": cosine")[0])
    assert any(HOSTILE in words for words in said)
    page.click("#compose-more > button")
    page.wait_for_selector("#compose-pictures .ytick text")
    assert "<img src=x" in page.text_content("#compose-pictures .chart-area")
    assert not page.query_selector_all("#compose-pictures img")
    assert page.evaluate("window.hurt") is None
    assert not page.query_selector_all("#compose-drawer img, #compose-arithmetic img, #compose-scatter img")


def test_a_phone_shows_everything_without_scrolling_sideways(visit):
    page = visit(390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    seen_chart(page)
    chart = page.locator("#compose-scatter .main-svg").first.bounding_box()
    assert chart["x"] >= 0 and chart["x"] + chart["width"] <= 390
    press(page, "#compose-worst")


def test_the_smallest_phone_shows_whole_play_buttons(visit):
    page = visit(320)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    inside = """() => [...document.querySelectorAll('#compose-arithmetic td .play')].map(button =>
        button.getBoundingClientRect().right <= button.closest('.scroll').getBoundingClientRect().right)"""
    assert page.evaluate(inside) == [True] * 5


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_word_and_control_stands_out(visit, theme):
    page = visit(theme=theme)
    page.click("#compose-own > button")
    page.wait_for_timeout(700)
    assert faint(page) == []


def test_the_scatter_is_walked_by_keys_and_fetches_plotly_once_and_nothing_else(visit):
    page = visit()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    page.wait_for_selector("#compose-headline .headline")
    seen_chart(page)
    page.focus("#compose-scatter .chart")
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    said, before = page.text_content("#compose-scatter .chart-said"), title(page)
    assert ": cosine " in said and said.split(":")[0] != before
    page.keyboard.press("Enter")
    page.wait_for_function("old => document.querySelector('#compose-drawer h3').innerText !== old", arg=before)
    assert title(page) == said.split(":")[0]
    assert page.evaluate("document.activeElement.dataset.chart") == "combinations", "the keyboard stays where it was"
    page.click("#compose-more > button")
    page.wait_for_selector("#compose-pictures .js-plotly-plot")
    assert len([url for url in asked if "plotly" in url]) == 1
    assert [url for url in asked if "//127.0.0.1" not in url and not url.startswith(("data:", "blob:"))] == []
    buttons = page.locator("#compose-scatter .modebar-btn").evaluate_all("all => all.map(one => one.dataset.title)")
    assert {"Download as PNG", "Download as SVG"} <= set(buttons) and not any("hare" in name for name in buttons)


def test_a_chart_follows_the_theme_keeps_its_zoom_and_downloads_on_paper(visit):
    page = visit()
    seen_chart(page)
    colour = "getComputedStyle(document.querySelector('#compose-scatter .xtick text')).fill"
    light = page.evaluate(colour)
    box = page.locator("#compose-scatter .nsewdrag").bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 20, steps=4)
    page.mouse.up()
    shown = "document.querySelector('#compose-scatter .chart-area').layout.xaxis.range"
    page.wait_for_function(f"({shown} || [0, 9])[1] < 2")
    zoomed = page.evaluate(shown)
    page.evaluate("document.body.classList.add('dark')")
    page.wait_for_function(f"old => {colour} !== old", arg=light)
    press(page, "#compose-worst")
    page.wait_for_timeout(500)
    assert page.evaluate(shown) == pytest.approx(zoomed)
    page.hover("#compose-scatter .chart")
    with page.expect_download() as download:
        page.click("#compose-scatter .modebar-btn[data-title*=SVG]")
    picture = Path(download.value.path()).read_text()
    assert download.value.suggested_filename == "unheard-combinations.svg"
    assert "How well each combination" in picture and "rgb(22, 32, 43)" in picture


def test_a_chart_whose_script_does_not_come_says_so(visit):
    page = visit()
    page.route("**/plotly.min.js", lambda route: route.abort())
    page.reload()
    page.wait_for_selector("#compose-headline .headline")
    page.locator("#compose-scatter .chart").scroll_into_view_if_needed()
    page.wait_for_selector("#compose-scatter .chart p.note")
    assert "cannot be drawn" in page.inner_text("#compose-scatter .chart")
    assert "Rebuilt from the other" in page.inner_text("#compose-drawer")
