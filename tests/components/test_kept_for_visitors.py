"""What one visitor waits for, the next gets too: it is not computed once for each."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import soundfile

from backend.kept import Kept
from components.frame import serving
from components.panels.ask import collection as asked
from components.panels.compose import reports
from components.panels.listen import stage_value
from tests.backend.test_kept import at_once
from tests.fakes import BandEncoder, tone_clip


def test_a_picture_is_drawn_once_for_eight_visitors(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[object] = []

    def draw(*_arguments: object) -> object:
        time.sleep(0.05)
        drawn.append(object())
        return drawn[-1]

    monkeypatch.setattr(stage_value, "picture_of", draw)
    monkeypatch.setattr(stage_value, "_pictures", Kept(2))
    clip = tone_clip(1, 0.0, 1.0)
    assert at_once(lambda number: stage_value.picture_for(clip)) == drawn * 8
    assert len(drawn) == 1


def test_a_sound_is_decoded_once_for_eight_visitors(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    decoded: list[object] = []
    clip = tone_clip(1, 0.0, 1.0)

    def decode(*_arguments: object, **_options: object) -> object:
        time.sleep(0.05)
        decoded.append(clip)
        return clip

    monkeypatch.setattr(serving, "load_clip", decode)
    path = tmp_path / "a.wav"
    soundfile.write(path, clip.mono, clip.sample_rate)
    assert at_once(lambda number: serving.loaded_clip(path)) == [clip] * 8
    assert len(decoded) == 1


def test_a_report_is_made_once_for_eight_visitors(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []

    class Source:
        data = provenance = notes = None
        sound = "sound"

    def compose(*_arguments: object, **_options: object) -> object:
        time.sleep(0.05)
        made.append(object())
        return made[-1]

    monkeypatch.setattr(reports, "load_source", lambda *_arguments, **_options: Source)
    monkeypatch.setattr(reports, "load_encoder", lambda name: None)
    monkeypatch.setattr(reports, "compose", compose)
    monkeypatch.setattr(reports, "_reports", Kept(2))
    answers = at_once(lambda number: reports.demo_report("pocket", 0))
    assert len(made) == 1 and answers == [(made[0], "sound")] * 8


def test_the_embedding_of_the_demo_clips_is_said_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def embed(_collection: object, _encoder: object, *, progress) -> str:
        for place in range(3):
            progress.report(f"Embedding clip {place + 1} of 3", place, 3)
            time.sleep(0.3)
        return "embedded"

    monkeypatch.setattr(asked, "embed_collection", embed)
    monkeypatch.setattr(asked, "_collections", Kept(2))
    encoder = BandEncoder()
    said = list(asked.embedding_steps(encoder))
    assert said == [f"Embedding the clips, {percent} %" for percent in (0, 33, 67)]
    assert asked.demo_collection(encoder) == "embedded"
    assert list(asked.embedding_steps(encoder)) == []
