"""The cut and its matched controls: is a score grounded where it was found?

Causal audit, section 3.2; science sections 2 and 3. After a region is gated the clip is scored
again, and so are K random cuts of the same size and depth and a blank clip, because a drop means
nothing without knowing what any cut of that size does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.audio import Clip, Span, Windows
from backend.checks import DEFAULT_SEED, checked_seed, checked_whole
from backend.encoders.base import Encoder, FloatArray, SpanEncoder
from backend.encoders.cached import EmbeddingCache, text_embeddings, window_embeddings
from backend.encoders.prompts import concept_prompt
from backend.errors import InputError
from backend.evidence.cut import blank, checked_depth, checked_region, clip_segment, gated_clip
from backend.evidence.localization import Localization, asked, localize
from backend.negation import Concept, Query
from backend.progress import Step
from backend.reports.jsonable import DIGITS, jsonable
from backend.reports.provenance import provenance

CONTROL_COUNT = 20
"""K, random cuts a result is compared with (issue and science section 3)."""
MOST_CONTROLS = 1000
"""More would take minutes and change no verdict."""
GROUNDED_DEVIATIONS = 2.0
"""A drop counts as grounded when it exceeds the random cuts' mean by this many SD (own choice)."""
SEGMENT_GRID = 2.0
"""Segments start at multiples of this, in seconds, so that a one-pass encoder's frame grid stays aligned."""
WINDOW_CONTEXT = 0.05
"""How far a cut reaches outside itself for a window-by-window encoder: the resampler's ringing, in seconds."""


@dataclass(frozen=True, eq=False)
class CutEffect:
    """What the cut and its controls did to one concept's clip score (its best window's cosine, own choice)."""

    concept: Concept
    before: float
    after: float
    control_drops: NDArray[np.float64]
    blank: float
    best_after: Span

    @property
    def drop(self) -> float:
        """Before minus after."""
        return self.before - self.after

    @property
    def control_mean(self) -> float:
        """Mean drop of the random cuts."""
        return float(self.control_drops.mean())

    @property
    def control_sd(self) -> float:
        """Sample standard deviation of the random cuts' drops; 0 for a single control."""
        return float(self.control_drops.std(ddof=1)) if len(self.control_drops) > 1 else 0.0

    @property
    def control_score(self) -> float:
        """Mean cosine after a random cut: what ``after`` is to be read against."""
        return self.before - self.control_mean

    @property
    def grounded(self) -> bool:
        """Whether the drop exceeds the random cuts' mean by two of their standard deviations."""
        return self.drop > 0 and self.drop > self.control_mean + GROUNDED_DEVIATIONS * self.control_sd

    def record(self) -> dict[str, Any]:
        """Cosines before and after, beside the random cuts' and the blank clip's."""
        numbers = {
            "before": self.before,
            "after": self.after,
            "drop": self.drop,
            "control_drops": self.control_drops,
            "control_mean": self.control_mean,
            "control_sd": self.control_sd,
            "control_score": self.control_score,
            "blank": self.blank,
        }
        named = {"text": self.concept.text, "polarity": self.concept.polarity}
        return {**named, **jsonable(numbers, DIGITS), "grounded": self.grounded}


@dataclass(frozen=True, eq=False)
class CutExperiment:
    """A cut, the scores before and after it, and its controls."""

    before: Localization
    after: Localization
    cut: Clip
    span: Span
    depth_db: float
    band: tuple[float, float] | None
    seed: int
    control_spans: tuple[Span, ...]
    effects: tuple[CutEffect, ...]

    def record(self, query: Query | None = None, **parameters: Any) -> dict[str, Any]:
        """The object that ``gate --json`` prints: what was cut, and the numbers of it beside its controls'.

        ``query`` is as it was asked; ``parameters`` join the provenance.
        """
        before, after = self.before.record(query), self.after.record()
        return {
            **cut_record(self.before.clip, self.span, self.depth_db, self.band),
            "encoder": before["encoder"],
            "window": before["window"],
            "hop": before["hop"],
            "seed": self.seed,
            "control_spans": jsonable([(span.start, span.end) for span in self.control_spans], DIGITS),
            "before": before["concepts"],
            "after": after["concepts"],
            "effects": [effect.record() for effect in self.effects],
            **asked(query),
            "provenance": provenance(self.before.encoder_id, self.before.weights, self.seed, **parameters),
        }


def cut_record(clip: Clip, span: Span, depth_db: float, band: tuple[float, float] | None) -> dict[str, Any]:
    """What was cut from which clip; all there is to say where no query was scored."""
    return {
        "clip": clip.record(),
        "region": {"start": span.start, "end": span.end},
        "depth_db": -depth_db if depth_db else 0.0,
        "band": list(band) if band else None,
        "provenance": provenance(),
    }


def clip_scores(embeddings: FloatArray, texts: FloatArray) -> NDArray[np.float64]:
    """The best window's cosine for every text: (n, D) and (m, D) -> (m,)."""
    return (embeddings @ texts.T).max(axis=0).astype(np.float64)


def checked_controls(count: object) -> int:
    """How many random cuts are made, 1 to ``MOST_CONTROLS``. Raises InputError for anything else."""
    return checked_whole("The number of random cuts", count, 1, MOST_CONTROLS)


def random_window_spans(
    duration: float, length: float, count: int = CONTROL_COUNT, seed: int = DEFAULT_SEED
) -> list[Span]:
    """Windows of one length at random places: the matched controls of a cut (science section 3).

    Parameters
    ----------
    duration, length : float
        Of the clip and of the window, seconds. A window as long as the clip has one place only,
        so then all spans are the whole clip.
    count : int
        At least 1.
    seed : int
        Of numpy's default generator; the starts are uniform in [0, duration - length].

    Raises
    ------
    InputError
        A length is not a positive number, or ``count`` or ``seed`` is out of its range.
    """
    if not (np.isfinite(duration) and np.isfinite(length) and duration > 0 and length > 0):
        raise InputError(f"A window of {length} s in {duration} s cannot be drawn; both must be positive.")
    length = min(length, duration)
    count = checked_whole("The number of random windows", count, 1)
    starts = np.random.default_rng(checked_seed(seed)).uniform(0.0, 1.0, count) * (duration - length)
    return [Span(float(start), float(start) + length) for start in starts]


def checked_cut(clip: Clip, span: Span, depth_db: float) -> tuple[Span, float]:
    """The region and the depth in positive dB: refused unless the one lies in the clip, the other in range.

    Raises
    ------
    InputError
        Naming what came and what is allowed.
    """
    return checked_region(span.start, span.end, clip.duration), checked_depth(depth_db)


def cut_steps(
    encoder: Encoder,
    clip: Clip,
    concepts: Sequence[Concept],
    window: float,
    span: Span,
    depth_db: float,
    *,
    band: tuple[float, float] | None = None,
    seed: int = DEFAULT_SEED,
    controls: int = CONTROL_COUNT,
    cache: EmbeddingCache | None = None,
) -> Iterator[Step | CutExperiment]:
    """As :func:`cut_and_compare`, step by step: what is being done, and at the end the experiment.

    Closing the iterator between two steps cancels the rest.
    """
    span, depth_db = checked_cut(clip, span, depth_db)
    controls, seed = checked_controls(controls), checked_seed(seed)
    steps = controls + 2
    before = localize(encoder, clip, concepts, window, cache=cache)
    texts = text_embeddings(encoder, [concept_prompt(found.concept.text) for found in before.evidence], cache=cache)
    original = window_embeddings(encoder, clip, before.windows, cache=cache)

    yield Step("Scoring the cut clip", 0, steps)
    cut = gated_clip(clip, span, depth_db, band)
    after = localize(encoder, cut, concepts, window, cache=cache, persist=False)

    spans = random_window_spans(clip.duration, span.length, controls, seed)
    base = clip_scores(original, texts)
    drops = np.empty((len(spans), len(texts)))
    for row, control in enumerate(spans):
        yield Step(f"Scoring random cut {row + 1} of {len(spans)}", row + 1, steps)
        changed = embeddings_after_cut(encoder, clip, before.windows, original, control, depth_db, band)
        drops[row] = base - clip_scores(changed, texts)
    yield Step("Scoring a blank clip", steps - 1, steps)
    silent = clip_scores(_blank_embeddings(encoder, clip, before.windows, cache), texts)
    effects = tuple(
        CutEffect(
            found.concept,
            float(base[column]),
            after.evidence[column].score,
            drops[:, column],
            float(silent[column]),
            after.evidence[column].best,
        )
        for column, found in enumerate(before.evidence)
    )
    yield CutExperiment(before, after, cut, span, depth_db, band, seed, tuple(spans), effects)


def cut_and_compare(
    encoder: Encoder,
    clip: Clip,
    concepts: Sequence[Concept],
    window: float,
    span: Span,
    depth_db: float,
    **options: Any,
) -> CutExperiment:
    """Gate a region, score the clip again, and do the same with its matched controls.

    Parameters
    ----------
    span : Span
        The region, seconds.
    depth_db : float
        Attenuation inside the region in dB (its sign does not matter); 40 is a gain of 0.01
        (science section 2).
    **options
        ``band`` (low, high) in Hz gates only this band; ``seed`` of the random cuts' positions;
        ``controls``, K, at least 1; ``cache`` of embeddings.

    Raises
    ------
    InputError
        The region, depth or band does not fit the clip.
    """
    for step in cut_steps(encoder, clip, concepts, window, span, depth_db, **options):
        if isinstance(step, CutExperiment):
            return step
    raise RuntimeError("the cut ended without a result")


def embeddings_after_cut(
    encoder: Encoder,
    clip: Clip,
    windows: Windows,
    original: FloatArray,
    span: Span,
    depth_db: float,
    band: tuple[float, float] | None = None,
) -> FloatArray:
    """Window embeddings of the gated clip, computing only the windows the cut can reach.

    Law 3 of the house: a window that shares no sample with the cut (nor with the encoder's context
    around it) keeps its embedding. Equal to embedding the whole gated clip to 1e-4 (tested).

    Parameters
    ----------
    original : np.ndarray, shape (n, D), float32
        The embeddings of the clip before the cut.

    Returns
    -------
    np.ndarray, shape (n, D), float32
    """
    context = encoder.context_seconds if isinstance(encoder, SpanEncoder) else WINDOW_CONTEXT
    ends = windows.starts + windows.length
    reached = np.flatnonzero((ends > span.start - context) & (windows.starts < span.end + context))
    first = max(0.0, float(windows.starts[reached[0]]) - context)
    start = np.floor(first / SEGMENT_GRID) * SEGMENT_GRID
    end = min(clip.duration, float(ends[reached[-1]]) + context)
    segment = clip_segment(clip, Span(float(start), float(end)))
    gated = gated_clip(segment, Span(span.start - start, min(span.end - start, segment.duration)), depth_db, band)
    part = Windows(windows.starts[reached] - start, windows.length, windows.hop)
    changed = original.copy()
    # Nobody asks for a random cut twice: its embeddings go to a cache that dies with this call.
    passing = EmbeddingCache(None, memory_bytes=1 << 30, disk_bytes=0)
    changed[reached] = window_embeddings(encoder, gated, part, cache=passing)
    return changed


def _blank_embeddings(encoder: Encoder, clip: Clip, windows: Windows, cache: EmbeddingCache | None) -> FloatArray:
    if not isinstance(encoder, SpanEncoder):
        # Every window of a blank clip is the same window of zeros.
        windows = Windows(windows.starts[:1], windows.length, windows.hop)
    return window_embeddings(encoder, blank(clip), windows, cache=cache, persist=False)


def cut_sentence(effect: CutEffect, span: Span, count: int) -> str:
    """One sentence that states what the cut did to one concept beside its random controls."""
    # By the figures as they are printed: nothing is raised by 0.000.
    direction = "lowered" if round(effect.drop, 3) >= 0 else "raised"
    control = "lowers" if round(effect.control_mean, 3) >= 0 else "raises"
    verdict = (
        f"“{effect.concept.text}” is grounded here."
        if effect.grounded
        else "That is no more than chance: its best window is now "
        f"{effect.best_after.start:.2f}–{effect.best_after.end:.2f} s ({effect.after:+.3f})."
    )
    return (
        f"Cutting {span.start:.2f}–{span.end:.2f} s {direction} “{effect.concept.text}” by {abs(effect.drop):.3f}; "
        f"an equal random cut {control} it by {abs(effect.control_mean):.3f} ± {effect.control_sd:.3f} "
        f"(n = {count}). {verdict}"
    )
