"""The page's order of events and answers, against a server that answers at the worst moment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.conftest import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.walk]
# Acknowledges an event after a while, and ends the stream whenever no answer is left, as Gradio's server does.
SERVER = """
window.log = [];
window.answers = { A: [], B: [] };
window.streams = 0;
window.fetch = async (resource, options) => {
  const address = String(resource.url ?? resource);
  if (address.includes('/queue/join')) {
    const { event, wait } = JSON.parse(options.body);
    log.push(`left ${event}`);
    await new Promise((done) => setTimeout(done, wait));
    return new Response(JSON.stringify({ event_id: event }));
  }
  streams += 1;
  const said = streams === 1 ? ['A'] : ['B'];
  const lines = said.map((event) => ({ msg: 'process_completed', event_id: event })).concat({ msg: 'close_stream' });
  return new Response(lines.map((line) => `data: ${JSON.stringify(line)}\\n\\n`).join(''));
};
window.join = (event, wait) =>
  fetch('http://server/queue/join', { method: 'POST', body: JSON.stringify({ event, wait }) });
window.listen = async () => {
  const controller = new AbortController();
  const request = new Request('http://server/queue/data', { signal: controller.signal });
  const reader = (await fetch(request)).body.pipeThrough(new TextDecoderStream()).getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    for (const line of read.value.split('\\n\\n').filter(Boolean)) {
      const said = JSON.parse(line.slice(6));
      log.push(said.event_id ? `answer ${said.event_id}` : 'end');
      if (said.msg === 'close_stream') setTimeout(() => { log.push('heard'); controller.abort(); }, 300);
    }
  }
};
"""


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """An empty page with that server and the page's own order of events."""
    context = browser.new_context()
    opened = context.new_page()
    opened.add_script_tag(content=SERVER)
    opened.add_script_tag(path=ROOT / "assets/frame/order.js")
    yield opened
    context.close()


def test_an_event_sent_while_the_stream_ends_still_gets_its_answer(page: Any) -> None:
    page.evaluate("""async () => {
        await join('A', 0);
        const second = join('B', 200);
        await Promise.all([second, listen()]);
    }""")
    log = page.evaluate("log")
    assert [line for line in log if line.startswith(("answer", "end"))] == ["answer A", "answer B", "end"]


def test_an_event_waits_until_the_end_of_the_stream_was_heard(page: Any) -> None:
    page.evaluate("""async () => {
        await join('A', 0);
        await listen();
        await join('B', 0);
        await listen();
    }""")
    log = page.evaluate("log")
    assert log == ["left A", "answer A", "end", "heard", "left B", "answer B", "end"]


def test_events_leave_one_after_another_in_the_order_of_the_clicks(page: Any) -> None:
    page.evaluate("""async () => {
        const first = join('A', 200).then(() => log.push('acknowledged A'));
        const second = join('B', 0).then(() => log.push('acknowledged B'));
        await Promise.all([first, second]);
    }""")
    assert page.evaluate("log") == ["left A", "acknowledged A", "left B", "acknowledged B"]


def test_a_request_that_hangs_holds_the_next_up_for_three_seconds_and_no_longer(page: Any) -> None:
    waited = page.evaluate("""async () => {
        const begun = performance.now();
        join('A', 60000);
        await join('B', 0);
        return (performance.now() - begun) / 1000;
    }""")
    assert 2.9 < waited < 10


def test_an_answer_that_comes_before_its_acknowledgement_does_not_keep_the_stream_open(page: Any) -> None:
    page.evaluate("""async () => {
        const first = join('A', 200);
        await Promise.all([first, listen()]);
    }""")
    assert page.evaluate("log") == ["left A", "answer A", "end"]
    assert page.evaluate("streams") == 1
