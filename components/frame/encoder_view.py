"""What the encoder picker says: one line a choice, one card for what is missing, one bar for a download."""

from __future__ import annotations

import math
from html import escape

from backend.encoders.base import EncoderInfo
from backend.encoders.selftest import SelfTest
from backend.progress import Step
from components.widgets.numbers import signed


def size(bytes_: int) -> str:
    """ "1.86 GB"; below one gigabyte "633 MB"."""
    return f"{bytes_ / 1e9:.2f} GB" if bytes_ >= 1e9 else f"{bytes_ / 1e6:.0f} MB"


def label(info: EncoderInfo) -> str:
    """One line of the picker: the id, and whether it is ready, needs a download, or needs something else."""
    if info.ready:
        return f"{info.id} · ready"
    if info.downloadable:
        return f"{info.id} · download {size(info.size_bytes)}"
    return f"{info.id} · needs something"


def _card(*lines: str) -> str:
    return f'<div class="encoder-card" role="status">{"".join(lines)}</div>'


def _facts(info: EncoderInfo) -> str:
    parts = []
    if info.dim:
        parts += [f"{info.dim} dimensions", f"{info.sample_rate / 1000:g} kHz"]
        parts.append("sounds and words" if info.text else "sounds only, no words")
    if info.licence:
        parts.append(f"licence {escape(info.licence)}")
    if info.source.startswith("https://"):
        shown = escape(info.source.removeprefix("https://"))
        parts.append(f'from <a href="{escape(info.source)}" target="_blank" rel="noopener">{shown}</a>')
    return f'<p class="facts">{" · ".join(parts)}</p>' if parts else ""


def missing_card(info: EncoderInfo, active: str) -> str:
    """What an encoder that is not ready needs; the results on the page stay another's."""
    if info.downloadable:
        needs = f"It is not on this machine yet: {size(info.size_bytes)} to download."
    else:
        needs = escape(info.needs)
    return _card(
        f"<p><b>{escape(info.title)}</b></p>",
        _facts(info),
        f"<p>{needs} Until then everything below is by <b>{escape(active)}</b>.</p>",
    )


def loading_card(encoder_id: str, active: str) -> str:
    """While an encoder is read from disk and tested."""
    return _card(
        f"<p>Loading <b>{escape(encoder_id)}</b> and testing it on two sounds and eight texts…</p>",
        f'<p class="facts">Everything below is still by {escape(active)}.</p>',
    )


def progress_card(encoder_id: str, step: Step | None, active: str) -> str:
    """A download under way."""
    said = "asking the hub…" if step is None else escape(step.what)
    percent = 100 * step.share if step else 0
    return _card(
        f"<p>Downloading <b>{escape(encoder_id)}</b>: {said}</p>",
        f'<div class="bar" role="progressbar" aria-valuemin="0" aria-valuemax="100" aria-valuenow="{percent:.0f}">'
        f'<span style="width: {percent:.1f}%"></span></div>',
        f'<p class="facts">You can keep working; everything below is by {escape(active)}.</p>',
    )


def tested_card(info: EncoderInfo | None, test: SelfTest) -> str:
    """What the self-test of a loaded encoder found."""
    cosines = []
    if not math.isnan(test.sound_cosine):
        cosines.append(f"clicks against noise {signed(test.sound_cosine)}")
    if not math.isnan(test.text_cosine):
        cosines.append(f"eight unlike texts {signed(test.text_cosine)} on average")
    measured = f"Self-test, cosines: {', '.join(cosines)}. " if cosines else ""
    warnings = "".join(f'<p class="warning">{escape(warning)}</p>' for warning in test.warnings)
    verdict = "" if test.warnings else "Nothing is wrong with it."
    head = f"<p>Now by <b>{escape(test.encoder)}</b>, weights {escape(test.weights)}.</p>"
    return _card(head, warnings, f'<p class="facts">{measured}{verdict}</p>', _facts(info) if info else "")


def failed_card(sentence: str, active: str) -> str:
    """Why an encoder could not be had; the previous one keeps working."""
    return f'<p class="error" role="alert">{escape(sentence)}<br>Everything below is still by {escape(active)}.</p>'


def stopped_card(sentence: str, active: str) -> str:
    """A download that was cancelled: nothing is wrong."""
    return _card(f"<p>{escape(sentence)}</p>", f'<p class="facts">Everything below is still by {escape(active)}.</p>')
