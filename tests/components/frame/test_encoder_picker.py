"""The picker: what it says of a choice, what a download looks like, and that a failure changes nothing."""

import re

import gradio as gr
import numpy as np
import pytest

from backend.encoders import base
from backend.encoders.base import EncoderInfo, encoder_list
from backend.encoders.fetching import downloads
from backend.encoders.fetching.checkpoints import how_far
from backend.encoders.fetching.jobs import running_job, start_job
from backend.encoders.selftest import SelfTest
from backend.errors import InputError
from backend.progress import Step
from backend.settings import settings
from components.frame import encoder_picker as picker
from components.frame import encoder_view as say
from tests.backend.encoders.conftest import EXAMPLE

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def owner(monkeypatch, tmp_path):
    """Settings of a test machine with an empty folder of downloads."""

    def use(**values):
        for name, value in values.items():
            monkeypatch.setenv(f"UNHEARD_{name.upper()}", str(value))
        settings.cache_clear()

    use(checkpoints_dir=tmp_path)
    yield use
    monkeypatch.undo()
    settings.cache_clear()
    base._offered.clear()


def arrived(file, done, total):
    """What a download reports."""
    return Step(how_far(file, done, total), done, total)


def parts(answer):
    """An answer by name: choice, active, status and the two buttons' visibility."""
    choice, active, status, download, cancel = answer
    return {
        "choice": choice, "active": active, "status": status,
        "download": download.visible, "cancel": cancel.visible,
    }  # fmt: skip


def test_every_choice_says_what_it_needs():
    for label, identifier in picker.choices():
        assert label.startswith(identifier) and re.search(r"· (ready|download \d|needs something)", label)
    assert ("pocket · ready", "pocket") in picker.choices()
    needy = EncoderInfo("laion:x", "x", False, "Needs the package laion-clap.", 512, 48_000, True)
    assert say.label(needy) == "laion:x · needs something"
    assert (say.size(1_863_587_645), say.size(633_000_000)) == ("1.86 GB", "633 MB")


def test_a_choice_that_must_be_downloaded_changes_nothing_but_offers_it(owner):
    (answer,) = picker.pick("laion:630k-best", "pocket")
    found = parts(answer)
    assert found["active"] == gr.skip() and found["download"] and not found["cancel"]
    assert all(text in found["status"] for text in ("CC0-1.0", "1.86 GB", "everything below is by <b>pocket</b>"))
    owner(downloads=0)
    (answer,) = picker.pick("laion:630k-best", "pocket")
    assert not parts(answer)["download"]
    (answer,) = picker.get("laion:630k-best", "pocket")
    assert "switched off" in parts(answer)["status"]


def test_a_ready_choice_is_loaded_tested_and_then_active(owner):
    owner(more_encoders=f"wave=process:{EXAMPLE}")
    loading, done = picker.pick("wave", "pocket")
    assert parts(loading)["active"] == gr.skip() and "Loading" in parts(loading)["status"]
    assert parts(done)["active"] == "wave" and "Nothing is wrong" in parts(done)["status"]
    assert str(EXAMPLE.split()[1]) not in parts(done)["status"]
    base.load_encoder("wave").close()
    base.forget_encoder("wave")


@pytest.mark.parametrize("command", ["/no/such/program", "false"])
def test_a_choice_that_fails_leaves_the_previous_one_active(owner, command):
    owner(more_encoders=f"broken=process:{command}")
    before = base.load_encoder("pocket")
    *_, failed = picker.pick("broken", "pocket")
    assert parts(failed)["active"] == gr.skip()
    assert 'role="alert"' in parts(failed)["status"] and "still by pocket" in parts(failed)["status"]
    assert base.load_encoder("pocket") is before


def test_a_stranger_cannot_start_a_program(owner, tmp_path):
    *_, failed = picker.pick(f"process:touch {tmp_path / 'mark'}", "pocket")
    assert "is not offered here" in parts(failed)["status"] and not (tmp_path / "mark").exists()


def test_a_hub_that_is_down_is_a_sentence_and_the_download_is_offered_again(owner):
    owner(hub="http://127.0.0.1:9")
    answers = [parts(answer) for answer in picker.get("hf:laion/larger_clap_general", "pocket")]
    assert answers[0]["cancel"] and "Downloading" in answers[0]["status"]
    assert "cannot be reached" in answers[-1]["status"] and answers[-1]["download"] and not answers[-1]["cancel"]


def test_a_running_download_is_seen_by_a_second_visitor_and_can_be_cancelled(owner, monkeypatch):
    """The hub answers nothing until it is given up; meanwhile a second visitor looks and stops it."""
    import threading

    asked, release = threading.Event(), threading.Event()

    def slow(url, have, *_):
        asked.set()
        release.wait(10)
        raise InputError("given up")

    monkeypatch.setattr(downloads, "answered", slow)
    first = picker.get("laion:630k-best", "pocket")
    assert "asking the hub" in parts(next(first))["status"]
    assert asked.wait(5)
    second = picker.pick("laion:630k-best", "pocket")
    assert parts(next(second))["cancel"]
    job = running_job("laion:630k-best")
    assert start_job("laion:630k-best") is job
    picker.stop("laion:630k-best")
    release.set()
    for visitor in (first, second):
        *_, last = visitor
        assert "given up" in parts(last)["status"] and "alert" not in parts(last)["status"]
    assert job.cancelled and running_job("laion:630k-best") is None


def test_a_link_to_an_encoder_that_is_not_ready_falls_back_and_says_so(owner):
    assert picker.usable("pocket") == ("pocket", "")
    used, said = picker.usable("laion:music-speech")
    assert used == "pocket" and "laion:music-speech" in said


def test_warnings_are_words_with_a_sign():
    card = say.tested_card(None, SelfTest("x", "0" * 12, 0.5, 0.9993, ("Its text side is collapsed.",)))
    assert '<p class="warning">Its text side is collapsed.</p>' in card and "+0.999" in card
    assert "Nothing is wrong" not in card
    quiet = say.tested_card(None, SelfTest("x", "0" * 12, np.nan, np.nan, ()))
    assert "nan" not in quiet.lower()


def test_progress_is_a_bar_with_megabytes():
    card = say.progress_card("hf:x", arrived("model.safetensors", 42_000_000, 84_000_000), "pocket")
    assert "42 of 84 MB" in card and "width: 50.0%" in card
    unknown = say.progress_card("hf:x", arrived("model.safetensors", 42_000_000, 0), "pocket")
    assert "42 MB" in unknown and "width: 0.0%" in unknown


def test_nothing_a_server_says_becomes_markup():
    info = EncoderInfo("a:" + HOSTILE, HOSTILE, False, HOSTILE, 1, 1, True, HOSTILE, "https://" + HOSTILE)
    test = SelfTest(HOSTILE, HOSTILE, 0.1, 0.1, (HOSTILE,))
    cards = [
        say.missing_card(info, HOSTILE), say.loading_card(HOSTILE, HOSTILE), say.failed_card(HOSTILE, HOSTILE),
        say.tested_card(info, test), say.progress_card(HOSTILE, arrived(HOSTILE, 1, 2), HOSTILE),
        say.stopped_card(HOSTILE, HOSTILE),
    ]  # fmt: skip
    assert not [card for card in cards if "<script" in card]


def test_the_registry_is_what_the_picker_shows():
    assert [identifier for _, identifier in picker.choices()] == [info.id for info in encoder_list()]
