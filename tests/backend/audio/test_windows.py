"""Windows: science section 1 and this project's last-window rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.audio import Span, sliding_windows
from backend.errors import InputError
from backend.evidence.localization import temporal_iou


@pytest.mark.parametrize(
    ("duration", "length", "count"),
    [(10, 2, 17), (10, 4, 13), (2, 2, 1), (1.3, 2, 1), (2.01, 2, 2), (2.5, 2, 2), (2.4, 2, 2), (600, 2, 1197)],
)
def test_published_window_counts(duration: float, length: float, count: int) -> None:
    assert len(sliding_windows(duration, length)) == count


@given(st.floats(0.05, 700), st.floats(0.1, 10), st.floats(0.1, 2))
def test_windows_cover_the_clip_and_stay_inside(duration: float, length: float, hop: float) -> None:
    windows = sliding_windows(duration, length, hop)
    assert windows.starts[0] == 0
    assert windows.starts[-1] + windows.length == pytest.approx(duration, abs=2e-6)
    assert np.all(np.diff(windows.starts) > 0)
    assert np.all(np.diff(windows.starts) <= hop + 1e-9)
    assert windows.length == min(duration, length)


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf")])
def test_a_length_that_is_no_length_is_refused(bad: float) -> None:
    with pytest.raises(InputError, match="positive number of seconds"):
        sliding_windows(10, bad)


def spans() -> st.SearchStrategy[Span]:
    return st.tuples(st.floats(0, 100), st.floats(0.01, 50)).map(lambda pair: Span(pair[0], pair[0] + pair[1]))


@given(spans(), spans())
def test_iou_is_a_symmetric_share(first: Span, second: Span) -> None:
    value = temporal_iou(first, second)
    assert 0 <= value <= 1 + 1e-12
    assert value == pytest.approx(temporal_iou(second, first))
    assert temporal_iou(first, first) == pytest.approx(1)


def test_iou_by_hand() -> None:
    assert temporal_iou(Span(0, 2), Span(1, 3)) == pytest.approx(1 / 3)
    assert temporal_iou(Span(0, 1), Span(1, 2)) == 0
