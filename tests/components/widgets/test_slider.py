"""The slider that takes any typed number."""

from __future__ import annotations

import pytest

from components.widgets.slider import ForgivingSlider


def test_the_page_is_told_its_range_and_steps() -> None:
    settings = ForgivingSlider(minimum=0, maximum=8, value=0.2, step=0.05, label="strength").get_config()
    assert (settings["minimum"], settings["maximum"], settings["value"], settings["step"]) == (0, 8, 0.2, 0.05)
    assert settings["label"] == "strength"


@pytest.mark.parametrize(("typed", "handed"), [(3, 3.0), (99, 99.0), (-5.5, -5.5), (None, 0.0)])
def test_whatever_is_typed_is_handed_on(typed: float | None, handed: float) -> None:
    assert ForgivingSlider(minimum=0, maximum=8, value=1).preprocess(typed) == handed
