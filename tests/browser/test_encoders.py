"""The encoder picker in a browser: a choice that is not ready must not disturb the results on the page."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser


def said(page, selector: str, text: str) -> str:
    """The text of an element once it holds ``text``."""
    element = page.locator(selector, has_text=text).first
    element.wait_for()
    return element.inner_text()


def test_a_choice_that_needs_a_download_is_explained_and_changes_nothing(open_page) -> None:
    page = open_page()
    before = said(page, "#listen-headline", "is found at")
    page.click("#encoder-choice input")
    page.get_by_role("option", name="laion:630k-audioset-best").click()
    card = said(page, "#encoder-status", "to download")
    assert "CC0-1.0" in card and "1.86 GB" in card and "pocket" in card
    assert page.locator("#encoder-download").inner_text() == "Download 1.86 GB"
    assert page.locator("#listen-headline").inner_text() == before
    assert "encoder=" not in page.url
    # Back to the one that is ready: tested, said so, and nothing is offered for download any more.
    page.click("#encoder-choice input")
    page.get_by_role("option", name="pocket · ready").click()
    assert "Self-test" in said(page, "#encoder-status", "Now by")
    page.locator("#encoder-download").wait_for(state="hidden")


def test_a_link_to_an_encoder_that_is_not_ready_opens_with_a_notice(open_page) -> None:
    page = open_page("?encoder=laion:music-speech", width=390, height=844)
    assert "not ready here" in said(page, ".notices", "laion:music-speech")
    assert "is found at" in said(page, "#listen-headline", "is found at")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_comparing_needs_another_encoder(open_page) -> None:
    page = open_page()
    said(page, "#listen-headline", "is found at")
    page.locator("#compare button").first.click()
    page.click("#compare-run")
    said(page, "#compare-result", "Choose the other encoder first")
