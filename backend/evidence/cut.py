"""The cut: spectral gating of a region, with everything outside it left bit-identical.

Causal audit, section 3.1; science section 2. "STFT, multiply by a gain mask, inverse STFT" is meant
to lower a region by exactly the depth and to leave the rest alone. Framed transforms give neither at
-100 dB: a frame's window leaks over the region's edge and a bin's side lobes over the band's. Both
masks are therefore applied in the form the STFT tends to as its hop becomes one sample:

* all bins share one gain: the mask is a gain over time, g(t), and the result is g(t) x(t);
* a band: the mask over frequency is a linear-phase filter M (overlap-add convolution: transform,
  multiply, transform back, add), and the result is x(t) - (1 - g(t)) (M x)(t), which is x itself
  wherever g(t) is 1 and has the gain g(t) exactly where M is 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from backend.audio import Clip, Span, clip_from_samples
from backend.checks import checked_number, is_number, shown
from backend.errors import InputError
from backend.evidence.frequency_band import Band, band_component, band_filter, checked_band

RAMP_SECONDS = 0.05
"""Length of the raised-cosine ramps inside a region's edges (science section 2)."""
DEFAULT_DEPTH_DB = 40.0
"""Depth of a cut where none is chosen."""
USUAL_DEPTHS_DB = (DEFAULT_DEPTH_DB, 100.0)
"""Depths that the papers use (science section 2)."""
MAX_DEPTH_DB = 120.0
"""Deepest cut, in dB; :func:`checked_depth` says why."""
FORGIVEN_SECONDS = 0.001
"""A region may end so far outside its clip: clips' lengths are shown and typed in hundredths of a second."""
PIECE_FRAMES = 1 << 20
"""A region is worked on in pieces of this many frames."""

Samples = TypeVar("Samples", bound=NDArray[Any])


def sample_range(span: Span, sample_rate: int, frames: int) -> tuple[int, int]:
    """First and one-past-last sample whose time t lies in start <= t < end.

    Raises
    ------
    InputError
        As :func:`checked_region`, or the span holds no sample.
    """
    span = checked_region(span.start, span.end, frames / sample_rate)
    first = max(0, int(np.ceil(span.start * sample_rate - 1e-4)))
    last = min(frames, int(np.ceil(span.end * sample_rate - 1e-4)))
    if first >= last:
        raise InputError(
            f"The region {span.start} to {span.end} s holds no sample at {sample_rate:,} Hz. Choose a longer one."
        )
    return first, last


def checked_region(start: object, end: object, duration: float = np.inf) -> Span:
    """A stretch of time inside a clip of ``duration`` seconds; what lies a millisecond outside is moved inside.

    Raises
    ------
    InputError
        Not two finite numbers, not start < end, or outside the clip.
    """
    if is_number(start) and is_number(end) and -FORGIVEN_SECONDS <= start < end:
        if end <= duration + FORGIVEN_SECONDS:
            return Span(max(0.0, float(start)), min(float(end), duration))
        raise InputError(
            f"The region {start:.2f}-{end:.2f} s does not lie inside the clip, which is {duration:.2f} s long; "
            f"choose one between 0 and {duration:g} s."
        )
    raise InputError(
        f"The region {shown(start)} to {shown(end)} s is not a stretch of time: it must start at 0 s or later, and "
        f"start must be below end" + (f"; choose one between 0 and {duration:g} s." if duration < np.inf else ".")
    )


def checked_depth(depth_db: object) -> float:
    """The depth of a cut as a positive number of decibels.

    40 and -40 both mean 40 dB down: people say either, and a gain above 0 dB is no cut. The limit is
    120 dB, a millionth: the papers cut 40 and 100 dB deep (science section 2), the last bit of a
    16-bit recording lies at -96 dB and the noise of the best microphones near -120 dB, so below it
    there is nothing left to lower. It also bounds the band filter, whose length grows with the depth.

    Raises
    ------
    InputError
        Not a number, not finite, or deeper than 120 dB.
    """
    size = abs(depth_db) if is_number(depth_db) else depth_db
    usual = " and ".join(f"{depth:g}" for depth in USUAL_DEPTHS_DB)
    return checked_number("The depth", size, 0, MAX_DEPTH_DB, unit="dB", advice=f"{usual} are usual.")


def gain_over_time(
    frames: int, sample_range: tuple[int, int], sample_rate: int, depth_db: float
) -> NDArray[np.float64]:
    """The gain of every sample of a region, (last - first,) float64.

    Raised-cosine ramps of 50 ms lie inside the region; in a region shorter than 100 ms each takes
    half of it, so that its middle still reaches the full depth. An edge that is the clip's own
    beginning or end has no ramp: there is no sound on its other side to be joined to, and a ramp
    would leave some of the very sound that is to be removed (own choices).
    """
    first, last = sample_range
    length = last - first
    floor = 10.0 ** (-depth_db / 20.0)
    gain = np.full(length, floor)
    open_edges = (first > 0) + (last < frames)
    ramp = min(round(RAMP_SECONDS * sample_rate), length // max(open_edges, 1))
    fade = 0.5 - 0.5 * np.cos(np.pi * np.arange(1, ramp + 1) / max(ramp, 1))
    falling = 1.0 - (1.0 - floor) * fade
    if ramp:
        # The last step of a ramp is the depth itself, to the last bit.
        falling[-1] = floor
        if first > 0:
            gain[:ramp] = falling
        if last < frames:
            gain[-ramp:] = falling[::-1]
    return gain


def merged(spans: Span | Iterable[Span], sample_rate: int, frames: int) -> list[tuple[int, int]]:
    """Sample ranges of the spans in order, those that touch or overlap made one."""
    ranges = sorted(sample_range(span, sample_rate, frames) for span in ([spans] if isinstance(spans, Span) else spans))
    joined: list[tuple[int, int]] = []
    for first, last in ranges:
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined


def gate(
    samples: Samples, sample_rate: int, span: Span | Sequence[Span], depth_db: float, band: Band | None = None
) -> Samples:
    """Lower a region by ``depth_db``; every sample outside it keeps its bits.

    Parameters
    ----------
    samples : np.ndarray, shape (frames,) or (frames, channels)
        Any float or signed integer type; integers round to the nearest step. Not changed.
    sample_rate : int
        In Hz.
    span : Span or sequence of Span
        The region in seconds, or several; those that overlap are one region.
    depth_db : float
        Attenuation, 0 to 120 dB (its sign does not matter); the gain inside is 10^(-depth/20).
        At 0 the result equals the input.
    band : (low, high), optional
        Gate only these frequencies, in Hz, with a ramp one STFT bin wide inside either end.

    Returns
    -------
    np.ndarray
        A new array of the same shape and dtype. All channels have the same gain, so their phase
        to each other is kept.

    Raises
    ------
    InputError
        The region, the depth or the band does not fit the clip.
    """
    depth_db, band = checked_depth(depth_db), checked_band(band, sample_rate)
    ranges = merged(span, sample_rate, len(samples))
    result = samples.copy()
    if depth_db == 0:
        return result
    for first, last in ranges:
        gain = gain_over_time(len(samples), (first, last), sample_rate, depth_db)
        gain = gain.reshape(-1, *[1] * (samples.ndim - 1))
        # In pieces, because float64 copies of a ten-minute clip would take more memory than the clip.
        for start in range(first, last, PIECE_FRAMES):
            stop = min(last, start + PIECE_FRAMES)
            mask = band_filter(band, sample_rate, depth_db) if band else None
            result[start:stop] = _lowered(samples, (start, stop), gain[start - first : stop - first], mask)
    return result


def _lowered(
    samples: NDArray[Any], piece: tuple[int, int], gain: NDArray[np.float64], mask: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """A piece of the samples at its gain, float64 of the piece's shape; for integer samples rounded and clipped."""
    lowered = samples[slice(*piece)].astype(np.float64)
    if mask is None:
        lowered *= gain
    else:
        lowered -= (1.0 - gain) * band_component(samples, piece, mask)
    if np.issubdtype(samples.dtype, np.integer):
        limits = np.iinfo(samples.dtype)
        return np.clip(np.rint(lowered), limits.min, limits.max)
    return lowered


def gated_clip(clip: Clip, span: Span | Sequence[Span], depth_db: float, band: Band | None = None) -> Clip:
    """The clip with a region gated: new samples, digest and note; rate, format and mixing are kept.

    Raises
    ------
    InputError
        As :func:`gate`.
    """
    samples = gate(clip.native, clip.sample_rate, span, depth_db, band)
    return _changed(clip, samples, cut_note(span, depth_db, band))


def cut_note(span: Span | Sequence[Span], depth_db: float, band: Band | None = None) -> str:
    """One sentence that says what was cut."""
    spans = [span] if isinstance(span, Span) else list(span)
    shown = ", ".join(f"{part.start:.2f}–{part.end:.2f} s" for part in spans[:3])
    shown += f" and {len(spans) - 3} more" if len(spans) > 3 else ""
    where = f" between {band[0]:,.0f} and {band[1]:,.0f} Hz" if band else ""
    return f"Cut: {shown} lowered by {abs(depth_db):g} dB{where}."


def blank(clip: Clip) -> Clip:
    """An all-zero clip of the same length, rate and channels (science section 3)."""
    return _changed(clip, np.zeros_like(clip.native), "Blank: every sample was set to zero.")


def clip_segment(clip: Clip, span: Span) -> Clip:
    """A part of a clip as a clip of its own, mixed to mono as the whole is.

    Raises
    ------
    InputError
        The span does not lie in the clip.
    """
    first, last = sample_range(span, clip.sample_rate, len(clip.native))
    return _changed(clip, clip.native[first:last], f"Segment: {span.start:.2f}–{span.end:.2f} s.")


def _changed(clip: Clip, samples: NDArray[Any], note: str) -> Clip:
    return clip_from_samples(
        samples, clip.sample_rate, name=clip.name, sample_format=clip.sample_format, container=clip.container,
        notes=(*clip.notes, note), mono_channel=clip.mono_channel,
    )  # fmt: skip
