"""A page with nothing but the stage, for the tests that drive it: `python -m tests.browser.stage_page`."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from pathlib import Path

import fastapi
import gradio as gr
import numpy as np
import soundfile
import uvicorn

from backend.audio import Clip, Span, sliding_windows
from backend.audio.spectrogram import picture_of
from components.frame.scripts import page_head
from components.stage.checks import clicked_window, selected_band, selected_region
from components.stage.stage import Stage
from components.stage.view import Best, Control, Curve, Cut, empty_view, pending_view, stage_view

RATE = 48_000
HOSTILE = '<img src=x onerror="window.hurt=1"> ${window.hurt=2} {{clip}} `\'\\'


def scene(seconds: float) -> np.ndarray:
    """Every ten seconds three barks' worth of tone bursts, and a whistle 40 dB down, over faint noise; (frames, 1)."""
    generator = np.random.default_rng(7)
    time = np.arange(10 * RATE) / RATE
    signal = 0.002 * generator.standard_normal(len(time))
    signal += 0.004 * np.sin(2 * np.pi * 3000 * time) * ((time > 7) & (time < 9))
    for onset in (3.2, 3.9, 4.5):
        t = time - onset
        burst = (t >= 0) * np.exp(-np.maximum(t, 0) * 14)
        signal += 0.4 * burst * np.sin(2 * np.pi * (700 - 250 * np.clip(t, 0, 0.3)) * t)
        signal += 0.2 * burst * np.sin(2 * np.pi * 1500 * t) * generator.standard_normal(len(time))
    return np.resize(signal.astype(np.float32), (int(seconds * RATE), 1))


def wav(channels: np.ndarray, name: str) -> Path:
    """The samples as a WAV in a folder of their own: in float, or in 16 bits if it is long."""
    path = Path(tempfile.mkdtemp()) / name
    soundfile.write(path, channels, RATE, subtype="FLOAT" if len(channels) < 60 * RATE else "PCM_16")
    return path


def gated(channels: np.ndarray, span: Span, depth_db: float) -> np.ndarray:
    """A stand-in for the spectral gate: the span, turned down."""
    cut = channels.copy()
    cut[int(span.start * RATE) : int(span.end * RATE)] *= 10 ** (-depth_db / 20)
    return cut


class Demo:
    """One clip, its made-up evidence, and the view of it."""

    def __init__(
        self, seconds: float = 10.0, name: str = "street.wav", concepts: tuple[str, str] = ("dog barking", "rain")
    ) -> None:
        self.channels = scene(seconds)
        self.path = wav(self.channels, "street.wav")
        digest = hashlib.sha256(self.channels.tobytes()).hexdigest()[:16]
        self.clip = Clip(name, self.channels, RATE, self.channels[:, 0], digest)
        self.picture = picture_of(self.clip.channels, RATE)
        self.windows = sliding_windows(seconds, 2.0)
        self.concepts = concepts

    def curve(self, text: str, polarity: str, centre: float, height: float, cut: Span | None) -> Curve:
        """A bump of evidence round a time, lower where it was cut."""
        starts = self.windows.starts
        scores = 0.04 + height * np.exp(-(((starts + 1 - centre) / 1.3) ** 2)) + 0.015 * np.sin(starts * 5)
        index = int(np.argmax(scores))
        best = Best(starts[index], starts[index] + self.windows.length, scores[index], (scores[index] - 0.05) / 0.09)
        if cut is None:
            return Curve(text, polarity, starts, scores, best)  # type: ignore[arg-type]
        inside = np.clip(1 - np.abs(starts + 1 - (cut.start + cut.end) / 2) / 2.2, 0, 1)
        after = scores - 0.7 * inside * (scores - 0.03)
        return Curve(text, polarity, starts, scores, best, after, Control(scores[index] - 0.02, 0.03))  # type: ignore[arg-type]

    def view(self, region: Span | None = None, cut: Span | None = None, depth_db: float = 40.0, band=None) -> dict:  # type: ignore[no-untyped-def]
        """What the stage is given."""
        first, second = self.concepts
        curves = [self.curve(first, "present", 4.1, 0.3, cut), self.curve(second, "absent", 8.0, 0.12, cut)]
        made = None
        if cut:
            channels = gated(self.channels, cut, depth_db)
            made = Cut(cut, depth_db, wav(channels, "cut.wav"), picture_of(channels, RATE, like=self.picture))
        return stage_view(
            self.clip,
            self.picture,
            self.path,
            curves=curves,
            windows=self.windows,
            region=region,
            band=band,
            cut=made,
        )


def page(demo: Demo) -> gr.Blocks:
    """The stage over a log of what it said, and buttons for what a page does to it."""
    with gr.Blocks(title="stage") as blocks:
        stage = Stage(demo.view(region=Span(3.0, 5.0)))
        with gr.Row():
            fresh = gr.Button("other clip", elem_id="other")
            wait = gr.Button("pending", elem_id="pending")
            void = gr.Button("empty", elem_id="empty")
            back = gr.Button("back", elem_id="back")
        typing = gr.Textbox(label="typing", elem_id="typing")
        log = gr.Textbox(label="log", elem_id="log", value="")
        windows = gr.Textbox(label="window", elem_id="window", value="")

        said: dict[str, list[str]] = {}

        def heard(request: gr.Request, words: str) -> str:
            # Kept on the server: events that overlap must not overwrite each other's line.
            said.setdefault(str(request.session_hash), []).append(words)
            return ";".join(said[str(request.session_hash)]) + ";"

        def on_region(request: gr.Request, event: gr.EventData) -> str:
            span = selected_region(event._data, demo.clip.duration)
            return heard(request, f"region {span.start:.3f} {span.end:.3f}" if span else "region none")

        def on_band(request: gr.Request, event: gr.EventData) -> str:
            return heard(request, f"band {selected_band(event._data, RATE)}")

        def on_window(event: gr.EventData) -> str:
            return f"window {clicked_window(event._data, len(demo.windows))}"

        def on_cut(request: gr.Request, event: gr.EventData) -> tuple[dict, str]:
            span = selected_region(event._data, demo.clip.duration)
            return demo.view(region=span, cut=span), heard(
                request, f"cut {span and f'{span.start:.3f} {span.end:.3f}'}"
            )

        quiet = {"api_visibility": "private", "show_progress": "hidden"}
        # As on the real page: one at a time, and in the order of the clicks.
        selecting = {**quiet, "concurrency_id": "selecting", "concurrency_limit": 1}
        stage.region_change(on_region, None, log, **selecting)
        stage.band_change(on_band, None, log, **selecting)
        stage.window_click(on_window, None, windows, **quiet)
        stage.cut_request(on_cut, None, [stage, log], **quiet)
        fresh.click(lambda: Demo(8.0, "other.wav", ("siren", "voice")).view(), None, stage, **quiet)
        doing = "Embedding window 5 of 17"
        wait.click(lambda: pending_view(doing), None, stage, **quiet)
        void.click(empty_view, None, stage, **quiet)
        back.click(lambda: demo.view(region=Span(3.0, 5.0)), None, stage, **quiet)
        typing.change(lambda text: text, typing, None, **quiet)
    return blocks


def serve(port: int) -> None:
    """Three pages under three paths: /plain, /hostile (names that try to be code) and /long (ten minutes)."""
    demos = {
        "plain": Demo(),
        "hostile": Demo(name=HOSTILE, concepts=(HOSTILE, "<script>window.hurt=3</script>")),
        "long": Demo(600.0),
    }
    app, head = fastapi.FastAPI(), page_head()
    for name, demo in demos.items():
        gr.mount_gradio_app(app, page(demo), path=f"/{name}", head=head)
    app.get("/")(lambda: sorted(demos))
    app.get("/favicon.ico", status_code=204)(lambda: None)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    serve(int(sys.argv[1]) if len(sys.argv) > 1 else 7995)
