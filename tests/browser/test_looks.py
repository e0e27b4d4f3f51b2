"""What everybody must be able to see: contrast in both themes, small screens, tables that go on to the side."""

from __future__ import annotations

import pytest

from tests.browser.conftest import faint

pytestmark = pytest.mark.browser
READY = {
    "listen": "#listen-headline .headline:not(.pending)",
    "ask": "#ask-headline .headline:not(.pending)",
    "steer": ".figures",
}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_word_and_control_stands_out(open_page, theme: str) -> None:
    page = open_page(f"?__theme={theme}&pin=q%3Drain")
    for tab, ready in READY.items():
        page.click(f"#tab-{tab}-button")
        page.wait_for_selector(ready)
        if tab == "listen":
            page.click("#listen-own > button")
            page.click("#compare > button")
        page.wait_for_timeout(700)  # the old result is dimmed until the new one is there
        assert faint(page) == [], tab


def test_contrast_is_really_measured(open_page) -> None:
    page = open_page()
    page.wait_for_selector(READY["listen"])
    page.add_style_tag(
        content=".masthead p { color: #949494 !important } #listen-find { color: #fff; background: #eee }"
    )
    page.wait_for_timeout(500)
    assert sorted(line.split()[1].split(".")[0] for line in faint(page)) == ["button#listen-find", "p"]


def test_the_smallest_phone_keeps_marks_with_their_words_and_shows_where_tables_go_on(open_page) -> None:
    page = open_page("?tab=steer", width=320)
    page.wait_for_selector(READY["steer"])
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    beside = """() => [...document.querySelectorAll('.figures .key i')].map(mark => {
        const words = document.createRange();
        words.selectNodeContents(mark.nextSibling);
        const [first, own] = [words.getBoundingClientRect(), mark.getBoundingClientRect()];
        return own.right <= first.left && own.bottom > first.top && own.top < first.bottom;
    })"""
    assert page.evaluate(beside) == [True, True]
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    shade = "getComputedStyle(document.querySelector('.scroll')).backgroundAttachment"
    assert page.evaluate(shade) == "local, local, scroll, scroll"
