"""What the stage is given and what it lets in."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from backend.audio import Clip, Span, sliding_windows
from backend.audio.spectrogram import picture_of
from backend.errors import InputError
from backend.files import ASSETS, asset_text
from components.stage import stage as module
from components.stage.checks import clicked_window, selected_band, selected_region
from components.stage.stage import Stage, finer
from components.stage.view import Best, Control, Curve, Cut, empty_view, pending_view, plain, stage_view

RATE = 16_000


@pytest.fixture
def clip() -> Clip:
    channels = (0.1 * np.random.default_rng(1).standard_normal((4 * RATE, 2))).astype(np.float32)
    return Clip("a clip.wav", channels, RATE, channels.mean(axis=1), "0123456789abcdef")


@pytest.fixture
def made(clip, tmp_path):
    """A view with a cut, and the files it plays."""

    def build(**changes: object):
        audio, cut_audio = tmp_path / "a.wav", tmp_path / "b.wav"
        cut_channels = clip.channels.copy()
        cut_channels[RATE : 2 * RATE] *= 0.01
        soundfile.write(audio, clip.channels, RATE, subtype="FLOAT")
        soundfile.write(cut_audio, cut_channels, RATE, subtype="FLOAT")
        picture = picture_of(clip.channels, RATE)
        windows = sliding_windows(clip.duration, 2.0)
        scores = np.linspace(0.1, 0.3, len(windows))
        curve = Curve(
            "dog", "present", windows.starts, scores, Best(np.float64(2.0), 4.0, 0.3, math.nan), scores - 0.1,
            Control(0.29, 0.01),
        )  # fmt: skip
        cut = Cut(Span(1.0, 2.0), 40.0, cut_audio, picture_of(cut_channels, RATE, like=picture), (100.0, 4000.0))
        options = {"curves": [curve], "windows": windows, "region": Span(1.0, 2.0), "cut": cut} | changes
        return stage_view(clip, picture, audio, **options)

    return build


# ---- the view


def test_the_view_is_plain_json_and_unknown_numbers_are_gaps(made, clip):
    view = json.loads(json.dumps(made(), allow_nan=False))
    assert view["clip"] == {"id": clip.digest, "name": "a clip.wav", "duration": 4.0, "sample_rate": RATE}
    assert view["curves"][0]["best"] == {"start": 2.0, "end": 4.0, "score": 0.3, "z": None}
    assert view["cut"] == {"start": 1.0, "end": 2.0, "depth_db": 40.0, "band": [100.0, 4000.0]}
    assert view["region"] == {"start": 1.0, "end": 2.0} and view["band"] is None
    assert view["windows"] == {"length": 2.0, "hop": 0.5}
    gaps = Curve("dog", "present", [0.0], [math.nan], None)
    assert made(curves=[gaps], cut=None)["curves"][0]["scores"] == [None]


def test_a_cut_s_picture_travels_as_the_columns_it_changed(made):
    view = made()
    whole, patch = view["spectrogram"]["original"], view["spectrogram"]["cut"]["columns"]
    assert len(patch) < len(whole) / 2
    assert made(cut=None)["spectrogram"]["cut"] is None and made(cut=None)["audio"]["cut"] is None


def test_pending_carries_no_view_and_empty_says_what_will_come():
    assert pending_view("Cutting\u202e") == {"waiting": "Cutting"} and pending_view() == {"waiting": ""}
    assert empty_view("One sentence.")["empty"]["sentence"] == "One sentence."


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("street.wav", "street.wav"),
        ("<b>&amp;", "<b>&amp;"),
        ("a\x00b\x1b[31m\nc\td", "ab[31m c d"),
        ("evil\u202egpj.wav", "evilgpj.wav"),
        ("\u202a\u2066x", "x"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("x" * 500, "x" * 199 + "…"),
        ("", ""),
    ],
)
def test_text_loses_what_cannot_be_seen_and_nothing_else(given, shown):
    assert plain(given) == shown


# ---- the component


def test_audio_is_served_as_the_very_bytes_and_arrays_as_files(made):
    view = made()
    given = Path(view["audio"]["original"]).read_bytes()
    sent = Stage().postprocess(view)
    assert Path(sent["audio"]["original"]["path"]).read_bytes() == given
    assert Path(sent["spectrogram"]["original"]["path"]).suffix == ".bin"
    assert sent["spectrogram"]["cut"]["first"] == view["spectrogram"]["cut"]["first"]
    assert isinstance(view["audio"]["original"], str), "the caller's view stays as it was"
    assert len(json.dumps(sent)) < 6000
    assert Stage().postprocess(None) is None


def test_a_finer_picture_is_made_only_of_files_that_were_served(made, clip, tmp_path):
    sent = Stage().postprocess(made())
    ask = {"start": 1.0, "end": 2.0, "columns": 50, "db_min": -90.0, "db_max": -10.0, "scale": 1.0}
    answer = finer({**ask, "file": sent["detail"]["original"]})
    assert (answer["start"], answer["end"]) == (1.0, 2.0)
    other = tmp_path / "secret.wav"
    soundfile.write(other, clip.channels, RATE)
    for path in (str(other), "/etc/passwd", "../x", None, 7):
        assert finer({**ask, "file": path}) is None


@pytest.mark.parametrize(
    "change",
    [
        {"columns": 0}, {"columns": 5000}, {"columns": math.nan}, {"start": "1"}, {"end": True}, {"scale": 0},
        {"db_min": 0, "db_max": -10}, {"end": 500.0}, {"end": 0.5}, {"start": None},
    ],
)  # fmt: skip
def test_a_finer_picture_refuses_numbers_out_of_range(change):
    ask = {"start": 1.0, "end": 2.0, "columns": 50, "db_min": -90.0, "db_max": -10.0, "scale": 1.0, "file": "x"}
    with pytest.raises(InputError):
        finer({**ask, **change})
    with pytest.raises(InputError, match="list"):
        finer([1, 2])


def test_every_event_exists_and_others_do_not():
    stage = Stage()
    for name in ("region_change", "band_change", "cut_request", "window_click"):
        assert callable(getattr(stage, name))
    with pytest.raises(AttributeError):
        _ = stage.region_chosen


def test_no_stub_is_written_beside_the_source():
    assert not Path(module.__file__).with_suffix(".pyi").exists()


def test_templates_hold_nothing_that_gradio_would_evaluate():
    for name in ("stage.html", "stage.css"):
        text = asset_text(f"stage/{name}")
        for evaluated in ("${", "`", "\\", "{{"):
            assert evaluated not in text, (name, evaluated)
    scripts = {path.stem for path in (ASSETS / "stage").glob("*.js")}
    assert scripts == set(module.SCRIPTS)


# ---- checks


@pytest.mark.parametrize(
    ("payload", "span"),
    [
        ({"start": 1, "end": 2.5}, Span(1.0, 2.5)),
        ({"start": 0.0, "end": 10.0}, Span(0.0, 10.0)),
        ({"start": -0.0004, "end": 10.0006}, Span(0.0, 10.0)),
        ({"start": 9.9, "end": 10.0}, Span(9.9, 10.0)),
        ({"start": 1, "end": 2, "more": "ignored"}, Span(1.0, 2.0)),
    ],
)
def test_a_selection_inside_the_clip_is_let_in(payload, span):
    assert selected_region(payload, 10.0) == span


def test_a_cleared_selection_is_none():
    assert selected_region({"start": None, "end": None}, 10.0) is None


def test_a_clip_shorter_than_a_cut_may_be_selected_whole():
    assert selected_region({"start": 0, "end": 0.05}, 0.05) == Span(0.0, 0.05)


@pytest.mark.parametrize(
    "payload",
    [
        None, [], "1-2", 3, {}, {"start": 1}, {"start": 1, "end": None}, {"start": "1", "end": 2},
        {"start": True, "end": 2}, {"start": math.nan, "end": 2}, {"start": 1, "end": math.inf},
        {"start": 2, "end": 1}, {"start": 1, "end": 1}, {"start": 1, "end": 1.05}, {"start": -1, "end": 2},
        {"start": 9, "end": 11}, {"start": 1e308, "end": 1e309}, {"start": {}, "end": []},
    ],
)  # fmt: skip
def test_any_other_selection_is_refused_in_a_sentence(payload):
    with pytest.raises(InputError, match=r"\.|;") as caught:
        selected_region(payload, 10.0)
    assert caught.value.concerns == "argument" and len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("payload", "band"),
    [
        ({"low": None, "high": None}, None),
        ({}, None),
        ({"low": 0, "high": 400}, (0.0, 400.0)),
        ({"low": 20.5, "high": 8000.4}, (20.5, 8000.0)),
        ({"low": 0, "high": 9000}, None),
    ],
)
def test_a_band_up_to_nyquist_is_let_in(payload, band):
    assert selected_band(payload, RATE) == band


@pytest.mark.parametrize(
    "payload",
    [
        None,
        {"low": 5},
        {"low": 500, "high": 400},
        {"low": -1, "high": 400},
        {"low": 8000, "high": 9000},
        {"low": "0", "high": 4},
    ],
)
def test_any_other_band_is_refused(payload):
    with pytest.raises(InputError):
        selected_band(payload, RATE)


def test_a_window_is_one_of_those_there_are():
    assert [clicked_window({"index": index}, 3) for index in (0, 2, 1.0)] == [0, 2, 1]
    for wrong in ({"index": 3}, {"index": -1}, {"index": 0.5}, {"index": None}, {"index": "0"}, None, {}):
        with pytest.raises(InputError):
            clicked_window(wrong, 3)


def test_a_clip_s_identity_is_its_digest(made, clip):
    picture = picture_of(clip.channels, RATE)
    other = stage_view(replace(clip, digest="f" * 16), picture, Path("x.wav"))
    assert other["clip"]["id"] != made()["clip"]["id"]
