"""The sound stage in a real browser: selecting, hearing, comparing, reading."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from backend.audio import Span
from tests.browser.conftest import served
from tests.browser.stage_page import HOSTILE, RATE, Demo, gated

pytestmark = pytest.mark.browser

STAGE = "document.querySelector('.stage').parentElement.unheardStage"


@pytest.fixture(scope="module")
def demo() -> Demo:
    return Demo()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a server with the stage's three pages."""
    with served(tmp_path_factory.mktemp("stage"), "-m", "tests.browser.stage_page") as (address, _):
        yield address


@pytest.fixture(scope="module")
def visit(browser):
    """A function (url, **context options) -> page with a drawn stage; any console error fails the module's tests."""
    contexts, problems = [], []

    def opened(url: str, width: int = 1280, height: int = 900, **options: object):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        tab = context.new_page()
        tab.set_default_timeout(60_000)
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        tab.on("response", lambda answer: problems.append(answer.url) if answer.status >= 400 else None)
        tab.goto(url)
        tab.wait_for_selector(".stage[data-ready]")
        return tab

    opened.problems = problems
    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(autouse=True)
def no_problems(visit):
    """Nothing may be written to the console as an error, in any test."""
    yield
    assert visit.problems == []


def begin_again(tab):
    """The first view of the plain page, whatever an earlier test did to it."""
    said = tab.evaluate("() => document.querySelector('#log textarea').value.length")
    changed = "stage.view?.clip.name !== 'street.wav' || stage.view.cut !== null || stage.view.pending !== null"
    if state(tab, changed):
        tab.click("#back")
        tab.wait_for_function(f"() => {{ const stage = {STAGE}; return !({changed}); }}")
    tab.evaluate(
        f"""said => {{
            const stage = {STAGE}, view = stage.view;
            stage.root.parentElement.style.display = "";
            if (!stage.parts.table.classList.contains("stage-unseen")) stage.toggleTable();
            if (document.activeElement) document.activeElement.blur();
            stage.looping = false;
            stage.update({{ clip: null }});
            stage.update(view);
            document.querySelector("[data-field=speed]").value = "1";
            stage.sound.setSpeed(1);
            window.saidBefore = said;
        }}""",
        said,
    )
    tab.wait_for_function(f"() => {STAGE}.pictures.original !== null")
    return tab


@pytest.fixture(scope="module")
def desk(visit, address):
    return visit(f"{address}/plain/")


@pytest.fixture(scope="module")
def hand(visit, address):
    return visit(f"{address}/plain/", width=390, height=844, has_touch=True, is_mobile=True, device_scale_factor=3)


@pytest.fixture
def tab(desk):
    return begin_again(desk)


@pytest.fixture
def phone(hand):
    hand.set_viewport_size({"width": 390, "height": 844})
    return begin_again(hand)


def log(tab) -> str:
    """What the server said it was told, since the test began."""
    return tab.evaluate("() => document.querySelector('#log textarea').value.slice(window.saidBefore)")


def wait_for_log(tab, words: str) -> None:
    said = "document.querySelector('#log textarea').value.slice(window.saidBefore)"
    try:
        tab.wait_for_function(f"words => {said}.includes(words)", arg=words)
    except Exception:
        sent = state(tab, "stage.sent")
        pytest.fail(f"The server was not told {words!r}; it was told {log(tab)!r}, the stage sent {sent}")


def state(tab, expression: str):
    return tab.evaluate(f"() => {{ const stage = {STAGE}; return {expression}; }}")


def spot(tab, time: float, lane: str = "wave", share: float = 0.25) -> tuple[float, float]:
    """Page coordinates of a time in a lane."""
    tab.evaluate(f"() => {STAGE}.parts.plot.scrollIntoView({{block: 'center'}})")
    box = tab.locator("[data-part=plot]").bounding_box()
    x = state(tab, f"stage.axis.x({time})")
    y = state(tab, f"stage.layout.{lane}.y + stage.layout.{lane}.h * {share}")
    return box["x"] + x, box["y"] + y


def drag(tab, start: tuple[float, float], end: tuple[float, float]) -> None:
    tab.mouse.move(*start)
    tab.mouse.down()
    tab.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    tab.mouse.move(*end)
    tab.mouse.up()


# ---- selecting


@pytest.mark.walk
def test_drag_selects_and_the_server_is_told_once(tab):
    drag(tab, spot(tab, 6.0), spot(tab, 8.5))
    wait_for_log(tab, "region")
    region = state(tab, "stage.region")
    assert region["start"] == pytest.approx(6.0, abs=0.02) and region["end"] == pytest.approx(8.5, abs=0.02)
    assert log(tab) == f"region {region['start']:.3f} {region['end']:.3f};"
    assert tab.input_value("[data-field=start]") == f"{region['start']:.2f}"


def test_handles_adjust_without_jumping(tab):
    end = tab.locator("[data-handle=end]").bounding_box()
    grip = (end["x"] + end["width"] - 4, end["y"] + end["height"] / 2)
    step = state(tab, "stage.axis.width / stage.axis.span")
    drag(tab, grip, (grip[0] + step, grip[1]))
    wait_for_log(tab, "region")
    region = state(tab, "stage.region")
    assert region["start"] == 3.0 and region["end"] == pytest.approx(6.0, abs=0.01)


def test_handles_and_fields_work_from_the_keyboard(tab):
    handle = tab.locator("[data-handle=start]")
    handle.focus()
    for _ in range(3):
        tab.keyboard.press("ArrowRight")
    wait_for_log(tab, "region 3.150 5.000")
    assert handle.get_attribute("aria-valuetext") == "3.15 seconds"
    tab.fill("[data-field=end]", "4,5")
    tab.keyboard.press("Enter")
    wait_for_log(tab, "region 3.150 4.500")
    tab.fill("[data-field=end]", "99")
    tab.keyboard.press("Enter")
    assert "between 0 and 10.00" in tab.inner_text("[data-part=note]")
    assert state(tab, "stage.region.end") == 4.5


def test_band_handle_and_shift_drag_choose_frequencies(tab, demo):
    top = tab.locator("[data-handle=high]").bounding_box()
    middle = (top["x"] + top["width"] / 2, top["y"] + 6)
    # The handle is caught six pixels below its top, so the line stays as far from the pointer.
    above = middle[1] - spot(tab, 4.0, "spec", 0.0)[1]
    drag(tab, middle, (middle[0], spot(tab, 4.0, "spec", 0.5)[1] + above))
    wait_for_log(tab, "band (0.0, ")
    half_way = 700 * (10 ** (2595 * np.log10(1 + demo.picture.spectrogram.f_hi / 700) / 2 / 2595) - 1)
    assert state(tab, "stage.band[1]") == pytest.approx(half_way, rel=0.02)
    tab.keyboard.down("Shift")
    drag(tab, spot(tab, 7.0, "spec", 0.2), spot(tab, 8.0, "spec", 0.6))
    tab.keyboard.up("Shift")
    low, high = state(tab, "stage.band")
    assert 100 < low < high < demo.picture.spectrogram.f_hi
    tab.locator("[data-part=plot]").press("Escape")
    wait_for_log(tab, "band None")
    assert state(tab, "stage.region") is None


def test_click_on_the_evidence_selects_a_window_and_plays_it(tab):
    tab.mouse.click(*spot(tab, 7.6, "score", 0.5))
    tab.wait_for_function("() => document.querySelector('#window textarea').value === 'window 13'")
    assert state(tab, "stage.region") == {"start": 6.5, "end": 8.5}
    tab.wait_for_function(f"() => {STAGE}.sound.playing && {STAGE}.sound.position > 6.5")
    assert state(tab, "stage.sound.anchor.until") == 8.5


# ---- keys


def test_every_key_does_what_the_list_says(tab):
    keys = tab.keyboard
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    assert state(tab, "stage.sound.position") == 1.0
    keys.press("ArrowLeft")
    assert state(tab, "stage.sound.position") == 0.5
    keys.press("[")
    assert state(tab, "stage.region") == {"start": 0.5, "end": 5.0}
    keys.press("ArrowRight")
    keys.press("]")
    wait_for_log(tab, "region 0.500 1.000")
    keys.press("+")
    assert state(tab, "stage.axis.span") == pytest.approx(5.0)
    keys.press("z")
    assert state(tab, "stage.axis.span") == pytest.approx(0.58)
    keys.press("0")
    assert state(tab, "[stage.axis.t0, stage.axis.t1]") == [0, 10]
    keys.press("l")
    assert state(tab, "stage.sound.loop") == {"start": 0.5, "end": 1.0}
    keys.press("l")
    keys.press("t")
    assert tab.locator("[data-do=table]").get_attribute("aria-expanded") == "true"
    keys.press("?")
    assert tab.locator("dialog[open]").count() == 1
    keys.press("g")
    keys.press("Escape")
    assert "cut" not in log(tab)
    assert state(tab, "stage.region") == {"start": 0.5, "end": 1.0}
    keys.press("g")
    wait_for_log(tab, "cut 0.500 1.000")
    tab.wait_for_function(f"() => {STAGE}.pictures.cut !== null")
    keys.press("b")
    assert state(tab, "stage.sound.version") == "cut"
    keys.press("a")
    assert state(tab, "stage.sound.version") == "original"
    keys.press("Space")
    tab.wait_for_function(f"() => {STAGE}.sound.playing && {STAGE}.sound.position > 1.05")
    keys.press("Space")
    assert state(tab, "stage.sound.playing") is False


def test_keys_leave_typing_and_other_controls_and_hidden_tabs_alone(tab):
    tab.click("#typing textarea, #typing input")
    tab.keyboard.type("g abl[]? 0")
    assert tab.input_value("#typing textarea, #typing input") == "g abl[]? 0"
    tab.focus("#back")
    for key in ("Space", "Enter", "ArrowRight"):
        tab.keyboard.press(key)
    assert state(tab, "[stage.sound.playing, stage.sound.position]") == [False, 0]
    tab.keyboard.press("]")
    # A letter is not a button's own key: it still sets the end, and is said once it stands.
    tab.wait_for_function("document.querySelector('[data-part=spoken]').innerText.startsWith('Selected')")
    told = state(tab, "stage.sent.length")
    tab.evaluate("document.activeElement.blur(); document.querySelector('.stage').parentElement.style.display = 'none'")
    for key in ("g", "[", "Space"):
        tab.keyboard.press(key)
    assert "cut" not in log(tab) and state(tab, "stage.sound.playing") is False
    assert state(tab, "stage.sent.length") <= told
    tab.fill("#typing textarea, #typing input", "")


def test_used_keys_do_not_scroll_the_page(tab):
    tab.set_viewport_size({"width": 1280, "height": 500})
    before = tab.evaluate("scrollY")
    for key in ("Space", "Space", "ArrowRight", "ArrowLeft"):
        tab.keyboard.press(key)
    assert tab.evaluate("scrollY") == before
    tab.set_viewport_size({"width": 1280, "height": 900})


# ---- hearing


def cut_with_g(tab) -> None:
    tab.locator("[data-part=plot]").press("g")
    tab.wait_for_function(f"() => {STAGE}.pictures.cut !== null && !document.querySelector('[data-do=cut]').disabled")


@pytest.mark.walk
def test_switching_between_original_and_cut_keeps_the_position(tab):
    cut_with_g(tab)
    tab.evaluate(f"() => {STAGE}.play(3.0)")
    tab.wait_for_function(f"() => {STAGE}.sound.playing && {STAGE}.sound.position > 3.1")
    # Position minus clock is one constant while nothing jumps.
    offsets = tab.evaluate(
        f"""async () => {{
            const stage = {STAGE}, offsets = [], context = stage.sound.voices.original.gain.context;
            for (const version of ["original", "cut", "original", "cut"]) {{
                stage.hear(version);
                for (let n = 0; n < 5; n++) {{
                    await new Promise(requestAnimationFrame);
                    offsets.push(stage.sound.positionAt(context.currentTime) - context.currentTime);
                }}
            }}
            return offsets;
        }}"""
    )
    assert max(offsets) - min(offsets) < 1e-6
    assert state(tab, "Object.keys(stage.sound.voices).length") == 2


def test_a_cut_that_arrives_keeps_playhead_and_zoom_and_a_new_clip_resets_them(tab):
    tab.evaluate(f"() => {{ {STAGE}.axis.show(2, 6); {STAGE}.seek(3.7); }}")
    cut_with_g(tab)
    assert state(tab, "[stage.axis.t0, stage.axis.t1, stage.sound.position]") == [2, 6, 3.7]
    tab.click("#other")
    tab.wait_for_function(f"() => {STAGE}.view.clip.name === 'other.wav'")
    assert state(tab, "[stage.axis.t0, stage.axis.t1, stage.sound.position]") == [0, 8, 0]
    assert state(tab, "stage.region") is None and state(tab, "stage.sound.version") == "original"


@pytest.mark.walk
def test_what_is_played_is_bit_for_bit_what_was_computed(tab, demo):
    cut_with_g(tab)
    tab.evaluate(f"() => {STAGE}.play(0)")
    tab.wait_for_function(f"() => {STAGE}.sound.playing")
    figures = tab.evaluate(
        f"""() => Object.values({STAGE}.sound.voices).map(({{ source }}) => {{
            const samples = source.buffer.getChannelData(0);
            let sum = 0;
            for (const value of samples) sum += value * value;
            return [source.buffer.sampleRate, samples.length, samples[{int(3.25 * RATE)}], sum];
        }})"""
    )
    for samples, (rate, length, sample, energy) in zip(
        (demo.channels, gated(demo.channels, Span(3.0, 5.0), 40.0)), figures, strict=True
    ):
        exact = samples[:, 0].astype(np.float64)
        assert (rate, length) == (RATE, len(exact))
        assert sample == exact[int(3.25 * RATE)]
        assert energy == pytest.approx(float(np.sum(exact**2)), rel=1e-9)


def test_the_playhead_follows_the_audio_clock_through_loop_and_speed(tab):
    tab.evaluate(f"() => {{ {STAGE}.setRegion(3, 3.5); {STAGE}.toggleLoop(); }}")
    tab.select_option("[data-field=speed]", "2")
    tab.keyboard.press("Escape")
    measured = tab.evaluate(
        f"""async () => {{
            const stage = {STAGE};
            stage.setRegion(3, 3.5); stage.looping = true; stage.syncLoop();
            await stage.play(3);
            const context = stage.sound.voices.original.gain.context, at = stage.sound.anchor.at, found = [];
            while (context.currentTime < at + 0.9) {{
                await new Promise(requestAnimationFrame);
                const now = context.currentTime;
                if (now >= at) found.push([now - at, stage.sound.positionAt(now)]);
            }}
            stage.sound.pause();
            return found;
        }}"""
    )
    assert len(measured) > 10
    for elapsed, position in measured:
        assert position == pytest.approx(3 + (2 * elapsed) % 0.5, abs=1e-6)


# ---- reading


def test_table_holds_the_numbers_of_the_value(tab, demo):
    view = demo.view()
    rows = tab.locator(".stage-table-scroll tbody tr").all_inner_texts()
    assert len(rows) == len(demo.windows)
    for n, row in enumerate(rows):
        cells = row.replace("−", "-").split("\t")
        assert [float(cell) for cell in cells[1:]] == [round(curve["scores"][n], 3) for curve in view["curves"]]
    best = tab.locator(".stage-table > table tbody tr").all_inner_texts()
    for curve, row in zip(view["curves"], best, strict=True):
        text, polarity, window, score, z = row.replace("−", "-").split("\t")
        assert (text, polarity) == (curve["text"], curve["polarity"])
        assert window == f"{curve['best']['start']:.1f}–{curve['best']['end']:.1f} s"
        assert float(score) == round(curve["best"]["score"], 3) and float(z) == round(curve["best"]["z"], 1)


def test_cursor_reads_the_level_that_was_computed(tab, demo):
    spectrogram = demo.picture.spectrogram
    for time, share in ((3.3, 0.82), (8.0, 0.6), (5.5, 0.3)):
        tab.mouse.move(*spot(tab, time, "spec", share))
        words = tab.inner_text("[data-part=readout]").replace("−", "-").split()
        hertz = float(words[2]) * (1000 if words[3] == "kHz" else 1)
        column = int(float(words[0]) / demo.clip.duration * len(spectrogram.levels))
        row = int(np.log10(1 + hertz / 700) / np.log10(1 + spectrogram.f_hi / 700) * spectrogram.levels.shape[1])
        near = spectrogram.levels[column - 1 : column + 2, max(0, row - 1) : row + 2]
        shown = (float(words[-2]) - spectrogram.db_min) / (spectrogram.db_max - spectrogram.db_min) * 255
        if "below" not in words:
            assert near.min() - 1 <= shown <= near.max() + 1


def test_hostile_names_and_concepts_are_only_text(visit, address):
    tab = visit(f"{address}/hostile/")
    assert tab.evaluate("window.hurt") is None
    assert tab.locator(".stage img, .stage script").count() == 0
    assert tab.inner_text("[data-part=name]") == HOSTILE
    assert HOSTILE in tab.locator(".stage-table > table").inner_text()
    tab.mouse.move(*spot(tab, 4.0, "score"))
    assert HOSTILE in tab.inner_text("[data-part=readout]")


def test_pending_dims_the_old_result_and_says_what_is_done_and_empty_says_what_will_appear(tab):
    height = tab.locator(".stage").bounding_box()["height"]
    tab.click("#pending")
    tab.wait_for_selector(".stage.is-pending")
    assert tab.inner_text("[data-part=pending]") == "Embedding window 5 of 17"
    assert tab.locator(".stage").bounding_box()["height"] == height
    assert tab.locator(".stage").get_attribute("aria-busy") == "true"
    assert "street.wav" in tab.inner_text(".stage-title"), "the old view stays"
    tab.click("#back")
    tab.wait_for_selector(".stage:not(.is-pending)")
    tab.click("#empty")
    tab.wait_for_selector("[data-part=empty]:not([hidden])")
    assert "Choose a clip" in tab.inner_text("[data-part=empty-sentence]")
    tab.click("#back")
    tab.wait_for_selector("[data-part=empty]", state="hidden")
    assert not tab.locator(".stage.is-pending").count()


# ---- phones


def touch(session, kind: str, *points: tuple[float, float]) -> None:
    fingers = [{"x": x, "y": y, "id": n} for n, (x, y) in enumerate(points)]
    session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})


def test_a_phone_selects_by_a_finger_and_zooms_by_two(phone):
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    fingers = phone.context.new_cdp_session(phone)
    start, end = spot(phone, 8.0), spot(phone, 9.5)
    touch(fingers, "touchStart", start)
    for share in (0.3, 0.6, 1.0):
        touch(fingers, "touchMove", (start[0] + share * (end[0] - start[0]), start[1]))
    touch(fingers, "touchEnd")
    wait_for_log(phone, "region")
    assert state(phone, "[stage.region.start, stage.region.end]") == pytest.approx([8.0, 9.5], abs=0.1)
    a, b = spot(phone, 4.0, "spec", 0.5), spot(phone, 6.0, "spec", 0.5)
    touch(fingers, "touchStart", a, b)
    for out in (10, 25, 40):
        touch(fingers, "touchMove", (a[0] - out, a[1]), (b[0] + out, b[1]))
    touch(fingers, "touchEnd")
    assert 1 < state(phone, "stage.axis.span") < 6
    assert state(phone, "[stage.axis.t0 < 4, stage.axis.t1 > 6]") == [True, True]
    assert state(phone, "[stage.region.start, stage.region.end]") == pytest.approx([8.0, 9.5], abs=0.1)


def test_a_finger_that_moves_up_scrolls_the_page(phone):
    phone.set_viewport_size({"width": 390, "height": 500})
    fingers = phone.context.new_cdp_session(phone)
    x, y = spot(phone, 6.0, "spec", 0.5)
    before = phone.evaluate("scrollY")
    touch(fingers, "touchStart", (x, y))
    for down in range(10, 160, 15):
        touch(fingers, "touchMove", (x + 1, y - down))
    touch(fingers, "touchEnd")
    phone.wait_for_function("before => scrollY > before + 40", arg=before)
    assert state(phone, "stage.region") == {"start": 3.0, "end": 5.0} and log(phone) == ""


def test_controls_on_a_phone_are_big_enough_for_a_finger(phone):
    sizes = phone.evaluate(
        """() => [...document.querySelectorAll('.stage button, .stage select, .stage input')]
            .map((e) => e.getBoundingClientRect()).filter((b) => b.width).map((b) => Math.min(b.width, b.height))"""
    )
    assert min(sizes) > 43.9
    grips = phone.locator(".stage-handle:visible").evaluate_all(
        "all => all.map((e) => e.getBoundingClientRect().width)"
    )
    assert len(grips) == 4 and min(grips) > 43.9


# ---- ten minutes


def test_ten_minutes_stream_and_a_zoomed_view_gets_a_finer_picture(visit, address):
    tab = visit(f"{address}/long/")
    assert state(tab, "stage.sound.constructor.name") == "StreamedSound"
    tab.evaluate(f"() => {{ {STAGE}.axis.show(590, 600); {STAGE}.moved(); }}")
    tab.wait_for_function(f"() => {STAGE}.details.original !== null")
    part = state(tab, "[stage.details.original.start, stage.details.original.end, stage.details.original.columns]")
    assert part[0] <= 590 and part[1] >= 599.99 and part[2] > 500
    # The picture's time is the sound's: the playhead is the media clock, and a switch keeps it.
    tab.evaluate(f"() => {{ {STAGE}.setRegion(593, 595); {STAGE}.askCut(); }}")
    tab.wait_for_function(f"() => {STAGE}.view.cut !== null && {STAGE}.pictures.cut !== null", timeout=60_000)
    tab.evaluate(f"() => {STAGE}.play(592.0)")
    tab.wait_for_function(f"() => {STAGE}.sound.position > 592.3", timeout=60_000)
    assert state(tab, "Math.abs(stage.sound.position - stage.sound.voice.currentTime)") < 0.05
    before = state(tab, "stage.sound.position")
    tab.keyboard.press("b")
    tab.wait_for_function(
        f"() => {STAGE}.sound.voices.original.paused && !{STAGE}.sound.voices.cut.paused", timeout=60_000
    )
    after = state(tab, "stage.sound.position")
    assert state(tab, "stage.sound.version") == "cut" and before <= after < before + 4
    tab.keyboard.press("Space")
    assert state(tab, "stage.sound.voices.cut.paused && stage.sound.voices.original.paused")
