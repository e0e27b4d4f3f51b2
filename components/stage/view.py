"""The sound stage's value: everything it shows, as plain JSON-able data."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.audio import HOP_SECONDS, Clip, Span, Windows
from backend.audio.spectrogram import Picture, changed_columns, packed, packed_peaks
from backend.negation import Polarity

TEXT_LENGTH = 200
"""Longest name or concept shown, in characters."""

Payload = dict[str, Any]


@dataclass(frozen=True)
class Best:
    """The best window of a concept: seconds, cosine, and SDs above a background (None: not known)."""

    start: float
    end: float
    score: float
    z: float | None = None


@dataclass(frozen=True)
class Control:
    """Cosine at the best window after equal cuts elsewhere: mean and standard deviation."""

    mean: float
    sd: float


@dataclass(frozen=True)
class Curve:
    """One concept's evidence: a cosine for every window, before and (once something is cut) after."""

    text: str
    polarity: Polarity
    starts: Iterable[float]
    scores: Iterable[float]
    best: Best | None = None
    after: Iterable[float] | None = None
    control: Control | None = None


@dataclass(frozen=True)
class Cut:
    """What was cut, what it sounds like (a file, never an array) and what it looks like."""

    span: Span
    depth_db: float
    audio: Path
    picture: Picture
    band: tuple[float, float] | None = None


def stage_view(
    clip: Clip,
    picture: Picture,
    audio: Path,
    *,
    curves: Sequence[Curve] = (),
    windows: Windows | None = None,
    region: Span | None = None,
    band: tuple[float, float] | None = None,
    cut: Cut | None = None,
    pending: str | None = None,
) -> Payload:
    """The stage's value: everything it shows, as plain JSON-able data.

    Names and concepts are freed of control characters and shortened, but not turned into entities: the
    browser writes them as text nodes, never as markup, where an entity would show as itself.

    Parameters
    ----------
    clip : Clip
        Its digest identifies the view: while that stays, playhead and zoom stay.
    picture : Picture
        From `backend.audio.spectrogram.picture_of`.
    audio : Path
        The file to be played.
    curves : sequence of Curve
        All with the same window starts.
    windows : Windows, optional
        Needed with curves.
    region, band, cut, pending
        Selection, selected band in Hz, cut, and what is being done (dims the rest).
    """
    spectrogram, peaks = picture.spectrogram, picture.peaks
    view: Payload = {
        "clip": {
            "id": clip.digest, "name": plain(clip.name), "duration": clip.duration, "sample_rate": clip.sample_rate,
        },
        "audio": {"original": str(audio), "cut": None},
        "peaks": {"original": packed_peaks(picture.peaks), "cut": None, "scale": peaks.scale},
        "spectrogram": {
            "original": packed(spectrogram.levels), "cut": None, "rows": spectrogram.levels.shape[1],
            "f_lo": spectrogram.f_lo, "f_hi": spectrogram.f_hi, "scale": spectrogram.scale,
            "db_min": spectrogram.db_min, "db_max": spectrogram.db_max,
        },
        "curves": [_curve(curve) for curve in curves],
        "windows": _windows(windows, clip),
        "region": _bounds(region) if region else None,
        "band": _band(band),
        "cut": None,
        "pending": plain(pending) if pending else None,
    }  # fmt: skip
    if cut:
        first, last = changed_columns(picture, cut.picture)
        columns = packed(cut.picture.spectrogram.levels[first:last])
        view["audio"]["cut"] = str(cut.audio)
        view["peaks"]["cut"] = packed_peaks(cut.picture.peaks)
        view["spectrogram"]["cut"] = {"first": first, "columns": columns}
        view["cut"] = {**_bounds(cut.span), "depth_db": float(cut.depth_db), "band": _band(cut.band)}
    return view


def empty_view(sentence: str = "", example: str = "") -> Payload:
    """The stage without a clip: one sentence of what will appear and one example (defaults if empty)."""
    return {"clip": None, "empty": {"sentence": plain(sentence), "example": plain(example)}}


def pending_view(doing: str = "") -> Payload:
    """What is shown stays as it is, dimmed, under a line that says what is being done; no text ends that."""
    return {"waiting": plain(doing)}


def plain(text: str) -> str:
    """Text for the page: no control or direction-changing characters, one line, at most 200 characters."""
    kept = "".join(" " if character.isspace() else character for character in str(text))
    unseen = {"Cc", "Cf", "Cs", "Co"}
    joiners = "\u200c\u200d"  # Persian words and family emoji are spelled with these
    kept = "".join(letter for letter in kept if letter in joiners or unicodedata.category(letter) not in unseen)
    kept = " ".join(kept.split())
    return kept if len(kept) <= TEXT_LENGTH else kept[: TEXT_LENGTH - 1] + "…"


def _bounds(span: Span | Best) -> dict[str, float]:
    # Plain floats: a numpy scalar may reach the browser as text.
    return {"start": float(span.start), "end": float(span.end)}


def _band(band: tuple[float, float] | None) -> list[float] | None:
    return [float(band[0]), float(band[1])] if band else None


def _windows(windows: Windows | None, clip: Clip) -> dict[str, float]:
    if windows is None:
        return {"length": clip.duration, "hop": HOP_SECONDS}
    return {"length": float(windows.length), "hop": float(windows.hop)}


def _known(value: float | None) -> float | None:
    """A number JSON can carry: NaN and infinities are gaps."""
    return float(value) if value is not None and math.isfinite(value) else None


def _curve(curve: Curve) -> Payload:
    best, control = curve.best, curve.control
    return {
        "text": plain(curve.text),
        "polarity": "absent" if curve.polarity == "absent" else "present",
        "starts": [float(start) for start in curve.starts],
        "scores": [_known(score) for score in curve.scores],
        "best": best and {**_bounds(best), "score": _known(best.score), "z": _known(best.z)},
        "after": None if curve.after is None else [_known(score) for score in curve.after],
        "control": control and {"mean": float(control.mean), "sd": float(control.sd)},
    }
