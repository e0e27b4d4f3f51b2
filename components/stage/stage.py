"""The sound stage: one clip on one time axis, to be seen, heard, selected and cut.

`Stage` is a Gradio component whose value is one JSON-able dict, built by `view.stage_view`. It fires

- ``region_change`` ``{start, end}`` in seconds (both None when the selection is cleared),
- ``band_change`` ``{low, high}`` in Hz (both None for the whole axis),
- ``cut_request`` ``{start, end, band}`` (key g), and
- ``window_click`` ``{index}``, after a ``region_change`` to that window.

Whatever a browser sends goes through `stage.checks`.
"""

from __future__ import annotations

import base64
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr

from backend.audio.spectrogram import MAX_COLUMNS, colours, detail, packed, packed_peaks
from backend.files import asset_text
from backend.kept import Kept
from components.frame.gradio_repairs import EVERY_EVENT, Unstubbed, cached_bytes, cached_copy, file_value
from components.stage.checks import LEAST_REGION, wanted_part
from components.stage.view import Payload

SCRIPTS = (
    "format", "axis", "sound", "picture", "draw", "evidence", "pointer", "keys", "screen", "buttons", "table",
    "selection", "hearing", "stage", "start",
)  # fmt: skip
"""Parts of the stage's script, in the order in which they need each other."""
SELECTING = ("region_change", "band_change", "window_click")
"""Events that may come while a handler still runs."""
INLINE_LETTERS = 2048
"""Packed arrays longer than this travel as files, so that a new curve does not send the picture again."""

_served: Kept[str, bool] = Kept(most=1000)
"""Audio files a stage has handed out: the only ones it will read again for a finer picture."""


def finer(payload: object) -> Payload | None:
    """A finer picture of the part a zoomed stage shows, or None for a file this server did not hand out.

    Raises
    ------
    InputError
        A number is missing, not finite, or out of its range.
    """
    start, end, columns, like = wanted_part(payload)
    path = payload.get("file") if isinstance(payload, dict) else None
    if not isinstance(path, str) or path not in _served or not Path(path).is_file():
        return None
    picture = detail(path, start, end, columns, like=like)
    return {
        "peaks": packed_peaks(picture.peaks), "levels": packed(picture.spectrogram.levels),
        "start": picture.start, "end": picture.end,
    }  # fmt: skip


class Stage(gr.HTML, metaclass=Unstubbed):
    """The sound stage; see the module's text. Its events: region_change, band_change, cut_request, window_click.

    Give it ``show_progress="hidden"`` in events that output to it: it shows what is pending itself, and
    Gradio's own veil would hide the old result.
    """

    def __init__(self, value: Payload | None = None, **keywords: Any) -> None:
        super().__init__(
            value=value,
            html_template=asset_text("stage/stage.html"),
            css_template=asset_text("stage/stage.css"),
            js_on_load="\n".join(asset_text(f"stage/{name}.js") for name in SCRIPTS),
            apply_default_css=False,
            server_functions=[finer],
            colours=base64.b64encode(colours().tobytes()).decode("ascii"),
            limits={"region": LEAST_REGION, "columns": MAX_COLUMNS},
            **keywords,
        )

    def __getattr__(self, name: str) -> Any:
        """An event's listener; no selection is dropped while the handler of the last one runs."""
        listener = super().__getattr__(name)
        return partial(listener, **EVERY_EVENT) if name in SELECTING else listener

    def postprocess(self, value: Payload | None) -> Payload | None:  # type: ignore[override]
        """A view ready to travel: audio and larger arrays become cached files with a URL."""
        if not value or not value.get("clip"):
            return value
        view: Payload = {name: dict(part) if isinstance(part, dict) else part for name, part in value.items()}
        view["detail"] = {}
        for version, path in view["audio"].items():
            if isinstance(path, str):
                cached = cached_copy(path, self.GRADIO_CACHE)
                _served.put(cached, True)
                view["detail"][version] = cached
                view["audio"][version] = file_value(cached)
        for version in ("original", "cut"):
            view["peaks"][version] = self._travelling(view["peaks"][version])
        view["spectrogram"]["original"] = self._travelling(view["spectrogram"]["original"])
        patch = view["spectrogram"]["cut"]
        if patch:
            view["spectrogram"]["cut"] = {**patch, "columns": self._travelling(patch["columns"])}
        return view

    def _travelling(self, text: str | None) -> Any:
        if not isinstance(text, str) or len(text) <= INLINE_LETTERS:
            return text
        return file_value(cached_bytes(base64.b64decode(text), self.GRADIO_CACHE, "stage.bin"))

    def api_info(self) -> dict[str, Any]:
        """The value is an object."""
        return {"type": "object"}

    def get_block_name(self) -> str:
        """Drawn by Gradio's HTML component."""
        return "html"
