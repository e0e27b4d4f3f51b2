"""One object says how far long work is and stops it."""

from __future__ import annotations

import numpy as np
import pytest

from backend.collections import store
from backend.collections.store import embed_keyed, embedding_store
from backend.encoders import batches
from backend.progress import Cancelled, Progress, Step
from tests.fakes import BandEncoder, tone_clip


def test_each_report_is_shown_and_the_latest_can_be_looked_at() -> None:
    seen: list[Step] = []
    progress = Progress(seen.append)
    assert progress.latest is None
    progress.report("one of four", 1, 4)
    progress.report("bytes of nobody knows how many", 700, 0)
    assert [(step.what, step.share) for step in seen] == [("one of four", 0.25), ("bytes of nobody knows how many", 0)]
    assert progress.latest == seen[-1]


def test_cancelled_work_stops_at_its_next_report_or_check() -> None:
    seen: list[Step] = []
    progress = Progress(seen.append)
    progress.check()
    progress.cancel()
    assert progress.cancelled
    for told in (progress.check, lambda: progress.report("more", 1, 2)):
        with pytest.raises(Cancelled):
            told()
    assert seen == []


def test_a_part_moves_within_its_share_of_the_whole() -> None:
    seen: list[Step] = []
    whole = Progress(seen.append)
    whole.part(0.5, 0.7).report("half of a fifth", 5, 10)
    inner = whole.part(0.0, 0.5).part(0.5, 1.0)
    inner.report("the end of a quarter", 1, 1)
    assert [(step.what, pytest.approx(step.share)) for step in seen] == [
        ("half of a fifth", 0.6), ("the end of a quarter", 0.5),
    ]  # fmt: skip
    whole.silent_part().report("unheard", 1, 1)
    assert len(seen) == 2
    whole.cancel()
    for part in (inner, whole.silent_part()):
        with pytest.raises(Cancelled):
            part.check()


def test_a_part_can_be_cancelled_alone() -> None:
    whole = Progress()
    part = whole.part(0, 1)
    part.cancel()
    whole.check()
    with pytest.raises(Cancelled):
        part.check()


class InBatches(BandEncoder):
    """Embeds two windows a batch, as the encoders with a network do."""

    batches_done = 0

    def embed_audio(self, windows: np.ndarray) -> np.ndarray:
        def embed(part: np.ndarray) -> np.ndarray:
            self.batches_done += 1
            return super(InBatches, self).embed_audio(part)

        return batches.in_batches(windows, 2, embed, self.dim, self.id)


def test_one_long_clip_of_a_collection_is_cancelled_between_two_batches(
    tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The person need not wait for the end of the clip: only the batch that is running is finished."""
    encoder, progress = InBatches(sample_rate=16000), Progress()
    clip = tone_clip(1, 0.0, 60.0, duration=60.0, sample_rate=16000)

    def cancel_now(*_arguments: object) -> object:
        progress.cancel()
        return clip

    place = embedding_store(encoder, "one", ["clip"], 2.0, 0.5, tmp_path)
    with pytest.raises(Cancelled):
        embed_keyed(place, encoder, ["clip"], cancel_now, 2.0, 0.5, progress=progress)
    assert encoder.batches_done == 1
    assert place.entries() == []
    assert store.embed_keyed(place, encoder, ["clip"], lambda key: clip, 2.0, 0.5)[1] == {}
