"""What the Listen panel says: sentences and tables from backend results. No state, no events."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from backend.evidence.control_cuts import CONTROL_COUNT, GROUNDED_DEVIATIONS, CutExperiment, cut_sentence
from backend.evidence.cut import RAMP_SECONDS
from backend.evidence.localization import STANDS_OUT_DEVIATIONS, Evidence, Localization
from components.widgets.markup import Markup, concept, explained, how_list
from components.widgets.numbers import signed
from components.widgets.tables import Row, table


def _clock(seconds: float) -> str:
    return f"{seconds:.2f}"


def _name(evidence: Evidence) -> Markup:
    return concept(evidence.concept.text, evidence.concept.polarity)


def found_sentence(found: Localization) -> str:
    """The plain sentence a result opens with, as HTML; it says so when nothing stands out."""
    if found.clip.peak == 0:
        return '<p class="headline">The clip is digital silence: no sound can be found in it.</p>'
    return f'<p class="headline">{" ".join(_found(evidence) for evidence in found.evidence)}</p>'


def _found(evidence: Evidence) -> str:
    where = f"{_clock(evidence.best.start)}–{_clock(evidence.best.end)} s"
    how_far = f"({signed(evidence.z, 1)} SD)"
    if evidence.concept.polarity == "present":
        if evidence.stands_out:
            return f"{_name(evidence)} is found at <b>{where}</b> {how_far}."
        return f"{_name(evidence)} does not stand out: its best window is {where} {how_far}."
    if evidence.stands_out:
        mark = '<span class="violation">!</span>'
        return f"{_name(evidence)} should be absent, but {mark} is found at <b>{where}</b> {how_far}."
    return f"{_name(evidence)} should be absent, and does not stand out: its best window is {where} {how_far}."


def cut_sentences(experiment: CutExperiment) -> str:
    """One sentence a concept: what the cut did beside its random controls, as HTML."""
    count = len(experiment.control_spans)
    lines = [escape(cut_sentence(effect, experiment.span, count)) for effect in experiment.effects]
    return "".join(f'<p class="headline">{line}</p>' for line in lines)


def evidence_table(found: Localization) -> str:
    """Best window, cosine and z of every concept, as an HTML table that keeps room for a cut."""
    return _table([(evidence, ["·", "·", "·"]) for evidence in found.evidence], found)


def cut_table(experiment: CutExperiment) -> str:
    """The same table with the cut, the random cuts and the blank clip filled in."""
    rows = []
    for evidence, effect in zip(experiment.before.evidence, experiment.effects, strict=True):
        control = f'<span class="control">{signed(effect.control_score)} ± {effect.control_sd:.3f}</span>'
        rows.append((evidence, [signed(effect.after), Markup(control), signed(effect.blank)]))
    return _table(rows, experiment.before)


def _table(rows: Sequence[tuple[Evidence, list[str]]], found: Localization) -> str:
    """What was found, and beside it what a cut did."""
    heads = (
        ("concept", "What the query names; a bar marks a sound that should be absent."),
        ("best window, s", "R(o): the window with the highest cosine; ties go to the earliest."),
        ("before", "Cosine of the best window with “a sound of …”. Not a probability."),
        ("SD", f"How far that cosine lies above the same window's mean over {found.background_size} everyday sounds."),
        ("after cut", "Best window's cosine in the cut clip."),
        ("random cut", "The same after a cut of equal size and depth at a random place: mean ± SD."),
        ("blank", "The same for a clip of pure silence."),
    )
    return table(
        [explained(name, tip) for name, tip in heads],
        [
            Row(
                _name(evidence),
                [
                    f"{_clock(evidence.best.start)}–{_clock(evidence.best.end)}",
                    signed(evidence.score),
                    signed(evidence.z, 1),
                    *cut,
                ],
            )
            for evidence, cut in rows
        ],
    )


def how_computed(found: Localization, seed: int, version: str, resampled: str = "") -> str:
    """What made the result, folded away under it."""
    clip, count = found.clip, found.background_size
    lines = (
        f"Encoder {found.encoder_id}, weights {found.weights}; Unheard {version}; seed {seed}.",
        f"{len(found.windows)} windows of {found.windows.length:.2f} s, hop {found.windows.hop:.2f} s; "
        "every window against “a sound of …” by cosine (causal audit, section 3.1).",
        f"SD: standard deviations above the mean of {count} everyday sounds in the same window; from "
        f"{STANDS_OUT_DEVIATIONS:g} on, a sound is said to be found (own choice).",
        Markup(
            f"A cut multiplies the spectrum inside the region by 10<sup>−depth/20</sup>, with {RAMP_SECONDS:g} s ramps "
            f"inside; every sample outside is untouched. Its controls: {CONTROL_COUNT} cuts of the same size and depth "
            "at random places, and silence."
        ),
        "A concept's score in a clip is its best window's cosine. A drop is called grounded when it exceeds the "
        f"random cuts' mean by {GROUNDED_DEVIATIONS:g} of their standard deviations (own choice).",
        f"Clip {clip.name}: {clip.duration:.2f} s, {clip.sample_rate} Hz, digest {clip.digest}.",
        *clip.notes,
        *([resampled] if resampled else []),
    )
    return how_list(lines)


def clip_notes(notes: Sequence[str]) -> str:
    """What was noticed about the clip, shown beside its picker."""
    return "".join(f'<p class="note">{escape(note)}</p>' for note in notes)
