"""The encoder picker: what is ready, what a choice needs, an explicit download, and the self-test's warnings.

The page reads one value, ``EncoderPicker.active``: the id of an encoder that is loaded and has been tested. It
follows the dropdown only when that has succeeded, so a choice that is missing or broken changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gradio as gr

from backend.encoders.base import EncoderInfo, encoder_list, load_encoder
from backend.encoders.fetching.jobs import DownloadJob, running_job, start_job
from backend.encoders.selftest import tested
from backend.errors import InputError
from backend.settings import settings
from components.frame import encoder_view as say
from components.frame.endpoints import Endpoint, a_record
from components.frame.panel import PRIVATE
from components.frame.turns import Panel

POLL_SECONDS = 0.3
UNCHANGED = gr.skip()


@dataclass(frozen=True)
class EncoderPicker:
    """The picker's components.

    Attributes
    ----------
    choice : gr.Dropdown
        What the visitor picked, ready or not.
    active : gr.State of str
        The encoder in use. Listen to ``active.change``.
    """

    choice: gr.Dropdown
    active: gr.State
    status: gr.HTML
    download: gr.Button
    cancel: gr.Button


def encoder_choice() -> gr.Dropdown:
    """The dropdown, to be placed in the header."""
    return gr.Dropdown(
        choices(), value=settings().encoder, label="Encoder", scale=0, min_width=380, elem_id="encoder-choice"
    )


def choices() -> list[tuple[str, str]]:
    """(line, id) of every encoder, as they stand now."""
    return [(say.label(info), info.id) for info in encoder_list()]


def usable(encoder_id: str) -> tuple[str, str]:
    """The encoder a link may use at once, and a sentence if that is not the one it asks for."""
    info = _info(encoder_id)
    default = settings().encoder
    if info is None or info.ready or encoder_id == default:
        return encoder_id, ""
    return default, f"The link asks for the encoder {encoder_id}, which is not ready here; this is {default}."


def build_status(choice: gr.Dropdown) -> EncoderPicker:
    """The card under the header, connected to the dropdown."""
    status = gr.HTML("", elem_classes="message", elem_id="encoder-status")
    with gr.Row(elem_classes="downloads"):
        hidden: dict[str, Any] = {"visible": False, "scale": 0, "min_width": 240}
        download = gr.Button("Download", variant="primary", elem_id="encoder-download", **hidden)
        cancel = gr.Button("Cancel", elem_id="encoder-cancel", **hidden)
    picker = EncoderPicker(choice, gr.State(settings().encoder), status, download, cancel)
    outputs = [choice, picker.active, status, download, cancel]
    inputs = [choice, picker.active]
    panel = Panel(outputs)
    panel.on(choice.input, pick, inputs, concurrency_limit=8, trigger_mode="always_last", **PRIVATE)
    panel.on(download.click, get, inputs, concurrency_limit=8, **PRIVATE)
    cancel.click(stop, choice, None, queue=False, **PRIVATE)
    return picker


def pick(chosen: str, active: str) -> Iterator[list[Any]]:
    """Switch to a ready encoder; say what another one needs."""
    job = running_job(chosen)
    if job is not None:
        yield from _followed(job, active)
        return
    info = _info(chosen)
    if info is not None and not info.ready:
        offered = info.downloadable and bool(settings().downloads)
        button = gr.Button(f"Download {say.size(info.size_bytes)}", visible=offered)
        yield _answer(say.missing_card(info, active), download=button)
        return
    yield from _switched(chosen, active)


def get(chosen: str, active: str) -> Iterator[list[Any]]:
    """Download the chosen encoder, then switch to it."""
    try:
        job = start_job(chosen)
    except InputError as error:
        yield _answer(say.failed_card(str(error), active))
        return
    yield from _followed(job, active)


def stop(chosen: str) -> None:
    """Cancel the chosen encoder's download."""
    job = running_job(chosen)
    if job is not None:
        job.cancel()


def _followed(job: DownloadJob, active: str) -> Iterator[list[Any]]:
    """Show a download until it ends; its progress does not depend on who watches."""
    yield _answer(
        status=say.progress_card(job.encoder_id, job.progress.latest, active),
        cancel=gr.Button("Cancel the download", visible=True),
    )
    while not job.wait(POLL_SECONDS):
        shown = say.progress_card(job.encoder_id, job.progress.latest, active)
        yield _answer(shown, cancel=gr.Button(visible=True))
    if job.error:
        button = gr.Button("Download", visible=True)
        card = say.stopped_card if job.cancelled else say.failed_card
        yield _answer(card(job.error, active), download=button)
        return
    yield from _switched(job.encoder_id, active)


def _switched(chosen: str, active: str) -> Iterator[list[Any]]:
    yield _answer(say.loading_card(chosen, active))
    try:
        found = tested(load_encoder(chosen))
    except InputError as error:
        yield _answer(say.failed_card(str(error), active))
        return
    except Exception as error:  # a network of someone else's making: whatever happens, the page goes on
        sentence = f"{chosen} could not be used ({type(error).__name__}). Choose another encoder."
        yield _answer(say.failed_card(sentence, active))
        return
    yield _answer(
        choice=gr.Dropdown(choices(), value=chosen), active=chosen, status=say.tested_card(_info(chosen), found)
    )


def _answer(status: str, *, choice: Any = UNCHANGED, active: Any = UNCHANGED, **buttons: gr.Button) -> list[Any]:
    """Outputs in the order of ``build_status``; of ``download`` and ``cancel``, what is not named is hidden."""
    hidden = gr.Button(visible=False)
    return [choice, active, status, buttons.get("download", hidden), buttons.get("cancel", hidden)]


def _info(encoder_id: str) -> EncoderInfo | None:
    return next((info for info in encoder_list() if info.id == encoder_id), None)


def encoders_endpoint() -> list[dict[str, Any]]:
    """Every encoder, whether it is ready here, and what it needs."""
    return [info.record() for info in encoder_list()]


ENDPOINT = Endpoint("encoders", encoders_endpoint, (), (a_record(),), heavy=False)
