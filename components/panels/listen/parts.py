"""What the Listen panel is made of, and what its view stands for."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr

from backend.audio import WINDOW_CHOICES, Clip, Span
from backend.collections.demo import demo_clip, demo_clips
from backend.evidence.localization import Localization
from components.frame.panel import PanelParts
from components.frame.serving import loaded_clip
from components.frame.view_state import ViewState
from components.panels.listen.state import ListenState


def shown_key(view: ViewState) -> tuple[object, ...]:
    """What of a view decides the evidence on screen."""
    window = view.panel(ListenState).window
    return (view.clip, view.upload, view.shorten, view.query, view.concepts, view.encoder, window)


@dataclass
class Parts(PanelParts):
    """The panel's components, in the order its handlers answer."""

    view: gr.State
    address: gr.HTML
    query: gr.Textbox
    chips: gr.HTML
    query_error: gr.HTML
    clip: gr.Dropdown
    clip_error: gr.HTML
    stage: gr.HTML
    headline: gr.HTML
    table: gr.HTML
    how: gr.HTML
    window: gr.Radio
    depth: gr.Radio
    other: gr.Slider
    cut: gr.Button
    stop: gr.Button
    shorten: gr.Button
    cut_error: gr.HTML
    wav: gr.DownloadButton
    csv: gr.DownloadButton
    json: gr.DownloadButton


def clip_of(view: ViewState) -> Clip:
    """The sound a view shows; raises InputError when it cannot be decoded."""
    if view.upload:
        return loaded_clip(view.upload, shorten=view.shorten)
    return loaded_clip(demo_clip(view.clip).path)


def clip_choices() -> list[tuple[str, str]]:
    """Demo clips for the picker, scenes first."""
    return [(record.caption, record.id) for record in demo_clips()]


def window_choices() -> list[tuple[str, float]]:
    """Window lengths for the picker."""
    return [(f"{seconds:g} s", seconds) for seconds in WINDOW_CHOICES]


def cut_label(region: Span | None) -> str:
    """The cut button says what it will do."""
    return f"Cut {region.start:.2f}–{region.end:.2f} s" if region else "Cut the best window"


def first_region(found: Localization) -> Span:
    """The region a new result offers for cutting: the best window of its first concept."""
    return found.evidence[0].best
