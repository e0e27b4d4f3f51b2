"""A slider whose box takes any number."""

from __future__ import annotations

from typing import Any

import gradio as gr

from components.stage.stage import Unstubbed


class ForgivingSlider(gr.Slider, metaclass=Unstubbed):
    """Hands on whatever was typed in its box, an empty box as the minimum; the handler brings it into range.

    Gradio's own answers a number out of range with an error across every output of the event.
    """

    # Named one by one: Gradio reads the settings it sends to the page off this signature.
    def __init__(
        self, *, minimum: float = 0, maximum: float = 100, value: float | None = None, **keywords: Any
    ) -> None:
        super().__init__(minimum=minimum, maximum=maximum, value=value, **keywords)

    def get_config(self, cls: type[gr.blocks.Block] | None = None) -> dict[str, Any]:
        """The settings of any slider."""
        return super().get_config(cls or gr.Slider)

    def preprocess(self, payload: float | None) -> float:
        """The number as it came."""
        return float(self.minimum if payload is None else payload)

    def get_block_name(self) -> str:
        """Drawn as any slider."""
        return "slider"
