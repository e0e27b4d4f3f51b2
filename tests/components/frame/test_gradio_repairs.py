"""What this Gradio still does wrong, and that our repairs of it work: run these first after an upgrade."""

from __future__ import annotations

import inspect
from pathlib import Path

import gradio as gr
import pytest

from components.frame.gradio_repairs import ForgivingSlider, NotStarted, launch, send_whole_answers


def test_answers_are_sent_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gr.utils, "diff", gr.utils.diff)
    send_whole_answers()
    assert gr.utils.diff({"interactive": False}, {"interactive": True}) == [["replace", [], {"interactive": True}]]
    source = inspect.getsource(gr.Blocks.handle_streaming_diffs)
    assert "utils.diff(" in source, "this Gradio makes its edits elsewhere: see send_whole_answers"


def test_the_page_is_told_its_range_and_steps() -> None:
    settings = ForgivingSlider(minimum=0, maximum=8, value=0.2, step=0.05, label="strength").get_config()
    assert (settings["minimum"], settings["maximum"], settings["value"], settings["step"]) == (0, 8, 0.2, 0.05)
    assert settings["label"] == "strength"


@pytest.mark.parametrize(("typed", "handed"), [(3, 3.0), (99, 99.0), (-5.5, -5.5), (None, 0.0)])
def test_whatever_is_typed_is_handed_on(typed: float | None, handed: float) -> None:
    assert ForgivingSlider(minimum=0, maximum=8, value=1).preprocess(typed) == handed


def test_gradio_still_refuses_a_typed_number_out_of_range() -> None:
    with pytest.raises(gr.Error):
        gr.Slider(0, 8).preprocess(99)


def test_no_stub_is_written_beside_our_components() -> None:
    import components.stage.stage

    assert not list(Path(components.__path__[0]).rglob("*.pyi"))


class Busy:
    """A page whose server does not answer in time."""

    def launch(self, **options: object) -> None:
        raise ValueError("When localhost is not accessible, a shareable link must be created.\nMore lines")


def test_a_server_that_gives_up_is_one_sentence() -> None:
    with pytest.raises(NotStarted, match=r"^When localhost .* created\.$"):
        launch(Busy())  # type: ignore[arg-type]
