"""The Compose panel's handlers: what they show, and what they refuse from a browser."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace

import gradio as gr
import numpy as np
import pytest

from backend.collections import demo_scenes as demo
from backend.errors import InputError
from backend.progress import Cancelled
from components.frame.panel import Page
from components.frame.running import steps_of
from components.frame.view_state import ViewState
from components.panels.compose import reports as compose_reports
from components.panels.compose.api import compose_endpoint
from components.panels.compose.drawer import arithmetic
from components.panels.compose.handlers import NO_SECOND, ComposeHandlers, Parts
from components.panels.compose.reports import opened_demo, opened_own, own_report
from components.panels.compose.state import ComposeState
from components.panels.compose.view import metrics_table
from tests.fakes import BandEncoder

HOSTILE = '<img src=x onerror="hurt()">'
COMPOSE = ViewState(tab="compose")


@pytest.fixture(autouse=True)
def quick_demo(monkeypatch, tmp_path):
    """Sixty scenes under an encoder that hears bands, and a cache of their own."""
    scenes = demo.recipes()[50:110]
    folder = SimpleNamespace(cache_dir=tmp_path)
    monkeypatch.setattr(demo, "recipes", lambda: scenes)
    monkeypatch.setattr(demo, "settings", lambda: folder)
    monkeypatch.setattr(compose_reports, "load_encoder", lambda name: BandEncoder(name, dim=16, sample_rate=16000))
    monkeypatch.setattr("components.frame.serving.settings", lambda: folder)
    monkeypatch.setattr("components.frame.exports.settings", lambda: folder)
    compose_reports._reports.clear()
    yield
    compose_reports._reports.clear()


@pytest.fixture
def panel() -> Parts:
    """The names of the panel's components; the components themselves are the browser tests' matter."""
    return Parts(**{part.name: None for part in fields(Parts)})


@pytest.fixture
def on(panel) -> ComposeHandlers:
    return ComposeHandlers(panel)


def shown(panel: Parts, answer: list[object]) -> dict[str, object]:
    """The parts of an answer that change."""
    names = list(panel.__dict__)
    return {n: v for n, v in zip(names, answer, strict=True) if not (isinstance(v, dict) and set(v) == {"__type__"})}


def last(answers: Iterator[list[object]]) -> list[object]:
    *_, answer = answers
    return answer


def served(button: gr.DownloadButton) -> Path:
    """The file behind a download button."""
    return Path(button.value["path"] if isinstance(button.value, dict) else str(button.value))


def own_files(tmp_path, name: str = "e.npz", labels: list[str] | None = None) -> tuple[str, str]:
    """Thirty clips of hostile names."""
    random = np.random.default_rng(len(name))
    sets = labels or [";".join(sorted(random.choice([HOSTILE, "rain", "dog"], random.integers(1, 3), replace=False)))
                      for _ in range(30)]  # fmt: skip
    np.savez(
        tmp_path / name, ids=np.array([f"c{i}" for i in range(len(sets))]), embeddings=random.random((len(sets), 6))
    )
    rows = "".join('c{},"{}"\n'.format(i, names.replace('"', '""')) for i, names in enumerate(sets))
    (tmp_path / "labels.csv").write_text("id,labels\n" + rows)
    return str(tmp_path / name), str(tmp_path / "labels.csv")


def test_opening_shows_progress_then_everything(on, panel):
    answers = [shown(panel, answer) for answer in on.on_open(COMPOSE, None)]
    assert "Embedding scene" in "".join(str(answer.get("status")) for answer in answers[:-1])
    final = answers[-1]
    assert final["status"] == "" and "Rebuilt from its parts" in final["headline"]
    assert "0.686 / 0.270" in final["table"] and "0.67 / 0.27 / 0.61" in final["table"]
    scatter = json.loads(final["scatter"])["figures"]["combinations"]
    assert sum(len(trace.get("customdata", ())) for trace in scatter["data"]) == len(
        final["opened"].report.combinations
    )
    assert len(json.loads(final["pictures"])["figures"]) == 9
    assert final["drawer"].count("data-play") >= 5
    opened = final["opened"]
    again = shown(panel, last(on.on_open(COMPOSE, opened)))
    assert again == {}


def test_nothing_is_computed_while_another_tab_is_open(on, panel):
    frame = Page(None, None, None, None, building="compose")  # type: ignore[arg-type]
    frame.keep_up((on.asked, [], [None]))
    (asked, *_), (asked_again, *_) = frame.on_open["compose"], frame.on_encoder[0]
    for run in (asked, asked_again):
        assert isinstance(next(run(ViewState(tab="listen", clip="x"))), dict)
        assert isinstance(next(run(replace(COMPOSE, clip="x"))), str)
    (only,) = on.on_open(ViewState(tab="ask"), None)
    assert shown(panel, only) == {}, "the browser reports a change of the token even when there was none"
    assert isinstance(next(on.asked(COMPOSE)), str)


def test_a_click_opens_a_combination_and_the_link_names_it(on, panel):
    opened = opened_demo("pocket", 0)
    answer = shown(panel, on.on_mark(COMPOSE, opened, SimpleNamespace(_data={"key": 3})))
    name = ";".join(opened.report.combinations.members[3])
    assert answer["opened"].chosen == 3 and answer["view"].panel(ComposeState).selection == name
    assert opened.report.combinations.name(3) in answer["drawer"]
    assert opened_demo("pocket", 0, name).chosen == 3
    assert opened_demo("pocket", 0, "whale;dog").chosen == opened.chosen


def test_back_to_the_demo_scenes_leaves_the_combination_out_of_the_link_too(on, panel):
    answers = [
        shown(panel, answer) for answer in on.on_demo(COMPOSE.with_panel(ComposeState, selection="dog barking;rain"))
    ]
    assert answers[0]["view"].panel(ComposeState).selection == "" and "selection" not in answers[0]["address"]
    assert answers[-1]["opened"].chosen == opened_demo("pocket", 0).chosen


@pytest.mark.parametrize("payload", [None, "x", {}, {"key": -1}, {"key": 1e9}, {"key": "0"}, {"key": [1]}])
def test_what_is_no_combination_is_refused_in_a_sentence(on, panel, payload):
    opened = opened_demo("pocket", 0)
    answer = shown(panel, on.on_mark(COMPOSE, opened, SimpleNamespace(_data=payload)))
    assert set(answer) == {"error"} and "was asked for" in answer["error"]


def test_best_and_worst_are_shown_by_their_buttons(on, panel):
    opened = opened_demo("pocket", 0)
    cosines = opened.report.loo.cosines
    best = shown(panel, on.choose_end(0)(COMPOSE, opened))["opened"].chosen
    worst = shown(panel, on.choose_end(1)(COMPOSE, opened))["opened"].chosen
    assert cosines[best] == cosines.max() and cosines[worst] == cosines.min()


def test_sums_are_built_and_wrong_ones_refused(on, panel):
    opened = opened_demo("pocket", 0)
    first, second = opened.report.combinations.sources[:2]
    answer = shown(panel, on.on_terms(COMPOSE, opened, SimpleNamespace(_data={"terms": [[1, first], [-1, second]]})))
    assert answer["opened"].terms == ((1, first), (-1, second)) and "Nearest clips" in answer["arithmetic"]
    assert (
        "Add a sound to begin"
        in shown(panel, on.on_terms(COMPOSE, opened, SimpleNamespace(_data={"terms": []})))["arithmetic"]
    )
    cancelled = shown(panel, on.on_terms(COMPOSE, opened, SimpleNamespace(_data={"terms": [[1, first], [-1, first]]})))
    assert "cancel to nothing" in cancelled["arithmetic"]
    for payload in (
        None,
        {},
        {"terms": [[1, "whale"]]},
        {"terms": "x"},
        {"terms": [[5, first]]},
        {"terms": [[1, first]] * 40},
    ):
        refused = shown(panel, on.on_terms(COMPOSE, opened, SimpleNamespace(_data=payload)))
        assert set(refused) == {"arithmetic"} and 'role="alert"' in refused["arithmetic"]


def test_a_sum_says_which_edit_it_answers(on, panel):
    opened = opened_demo("pocket", 0)
    first = opened.report.combinations.sources[0]
    for sent, said in ((7, "7"), (None, "0"), ('"><img>', "0")):
        for terms in ([[1, first]], [[1, "whale"]]):
            payload = {"terms": terms, "edit": sent}
            answer = shown(panel, on.on_terms(COMPOSE, opened, SimpleNamespace(_data=payload)))
            assert f'data-edit="{said}"' in answer["arithmetic"]


def test_own_embeddings_stand_where_an_encoder_change_does_not_replace_them(on, panel, tmp_path):
    answer = shown(panel, last(on.on_own(COMPOSE, *own_files(tmp_path), None, None)))
    assert answer["opened"].own and "e.npz" in answer["headline"]
    assert "nothing to hear" in answer["drawer"]
    assert HOSTILE not in "".join(str(value) for value in answer.values() if isinstance(value, str))
    assert "&lt;img" in answer["scatter"]
    assert shown(panel, last(on.on_open(COMPOSE, answer["opened"]))) == {}


def test_two_embeddings_side_by_side(on, panel, tmp_path):
    first, labels = own_files(tmp_path)
    second, _ = own_files(tmp_path, "other.npz")
    answer = shown(panel, last(on.on_own(COMPOSE, first, labels, second, None)))
    assert answer["opened"].names == ("e.npz", "other.npz")
    assert "points lie above the line" in answer["comparison"]
    assert "other.npz: sum of its parts" in answer["table"]


def test_a_second_encoder_on_the_demo_scenes_and_back(on, panel):
    opened = opened_demo("pocket", 0)
    both = shown(panel, last(on.on_second(COMPOSE, opened, "other")))["opened"]
    assert both.names == ("pocket", "other")
    assert shown(panel, last(on.on_second(COMPOSE, both, NO_SECOND)))["opened"].names == ("pocket",)


@pytest.mark.parametrize("missing", ["embeddings", "labels", "kind", "bad"])
def test_files_that_cannot_be_used_leave_everything_as_it_was(on, panel, tmp_path, missing):
    embeddings, labels = own_files(tmp_path)
    if missing == "bad":
        (tmp_path / "labels.csv").write_text("id,labels\nc0,dog\n")
    given = {"embeddings": (None, labels), "labels": (embeddings, None), "kind": (labels, labels)}
    answer = shown(panel, last(on.on_own(COMPOSE, *given.get(missing, (embeddings, labels)), None, None)))
    assert set(answer) == {"error", "status", "stop"} and 'role="alert"' in answer["error"]


def test_what_would_keep_the_server_busy_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("backend.collections.composition_sources.MOST_COMBINATIONS", 2)
    with pytest.raises(InputError, match="more than the page computes"):
        own_report(*own_files(tmp_path), 0)


def test_downloads_hold_what_is_shown(on, panel):
    opened = opened_demo("pocket", 0)
    answer = shown(panel, on.on_files(opened))
    assert set(answer) == {"json", "csv", "figures", "page"}
    assert json.loads(served(answer["json"]).read_text()) == json.loads(json.dumps(opened.report.record()))
    with zipfile.ZipFile(served(answer["figures"])) as archive:
        names = archive.namelist()
    assert sum(name.endswith(".png") for name in names) == sum(name.endswith(".svg") for name in names) == 10


def test_the_endpoint_answers_with_compose_json(tmp_path):
    assert compose_endpoint(None, None, "pocket", 0) == opened_demo("pocket", 0).report.record()
    assert compose_endpoint(*own_files(tmp_path), "", 3)["provenance"]["seed"] == 3
    with pytest.raises(gr.Error, match="Give both files"):
        compose_endpoint(own_files(tmp_path)[0], None, "", 0)


def test_sums_and_tables_escape_what_labels_hold(tmp_path):
    opened = opened_own(HOSTILE, own_report(*own_files(tmp_path), 0))
    drawn = arithmetic(opened.report, ((1, HOSTILE),), None, opened.play) + metrics_table(
        [(HOSTILE, opened.report)] * 2
    )
    assert "<img" not in drawn


def test_long_work_is_shown_and_cancelled():
    slow = steps_of(lambda progress: [progress.report("half", 1, 2), __import__("time").sleep(0.3)])
    first = next(slow)
    assert (first.what, first.share) == ("half", 0.5) and list(slow) == []
    ended = []

    def work(progress):
        try:
            for _ in range(10_000):
                progress.report("more", 1, 10)
                __import__("time").sleep(0.01)
        except Cancelled:
            ended.append(True)
            raise

    running = steps_of(work)
    next(running)
    running.close()
    for _ in range(100):
        if ended:
            break
        __import__("time").sleep(0.02)
    assert ended == [True]
    with pytest.raises(InputError, match="no"):
        next(steps_of(lambda progress: (_ for _ in ()).throw(InputError("no"))))
