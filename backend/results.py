"""Results as plain records: what the command line prints, the page downloads and the API answers."""

from __future__ import annotations

from typing import Any

from backend.audio import Clip
from backend.controls import CutExperiment
from backend.localization import Localization, SoughtConcept
from backend.negation import Query, parse_query


def query_record(query: Query) -> dict[str, Any]:
    """The query as typed, its language and what the parser noticed."""
    return {"query": query.text, "query_language": query.language, "query_notes": list(query.notes)}


def sought_concepts(query: str | Query) -> tuple[SoughtConcept, ...]:
    """The concepts of a typed or parsed query with their polarity, positives first.

    Raises
    ------
    InputError
        The query cannot be used (empty, too long, no sound named).
    """
    parsed = parse_query(query) if isinstance(query, str) else query
    return tuple(
        [SoughtConcept(concept.text, "present") for concept in parsed.positives]
        + [SoughtConcept(concept.text, "absent") for concept in parsed.negatives]
    )


def _rounded(value: float, digits: int = 6) -> float:
    return round(float(value), digits)


def clip_record(clip: Clip) -> dict[str, Any]:
    """Duration in seconds, rate in Hz, digest, peak and RMS (full scale 1), notes."""
    return {
        "name": clip.name,
        "duration": _rounded(clip.duration),
        "sample_rate": clip.sample_rate,
        "channels": clip.channels.shape[1],
        "digest": clip.digest,
        "peak": _rounded(clip.peak),
        "rms": _rounded(clip.rms),
        "notes": list(clip.notes),
    }


def localization_record(found: Localization) -> dict[str, Any]:
    """The object ``localize --json`` prints."""
    starts = [_rounded(start) for start in found.windows.starts]
    return {
        "encoder": {"id": found.encoder_id, "weights": found.weights},
        "clip": clip_record(found.clip),
        "window": _rounded(found.windows.length),
        "hop": found.windows.hop,
        "background": found.background_size,
        "concepts": [
            {
                "text": evidence.concept.text,
                "polarity": evidence.concept.polarity,
                "starts": starts,
                "scores": [_rounded(score) for score in evidence.scores],
                "best": {
                    "start": _rounded(evidence.best.start),
                    "end": _rounded(evidence.best.end),
                    "score": _rounded(evidence.score),
                    "z": _rounded(evidence.z, 4),
                },
            }
            for evidence in found.evidence
        ],
    }


def cut_record(experiment: CutExperiment) -> dict[str, Any]:
    """The numbers of a cut beside its controls."""
    before = localization_record(experiment.before)
    after = localization_record(experiment.after)
    return {
        "encoder": before["encoder"],
        "window": before["window"],
        "hop": before["hop"],
        "region": {"start": experiment.span.start, "end": experiment.span.end},
        "depth_db": -experiment.depth_db,
        "band": list(experiment.band) if experiment.band else None,
        "seed": experiment.seed,
        "control_spans": [[_rounded(span.start), _rounded(span.end)] for span in experiment.control_spans],
        "before": before["concepts"],
        "after": after["concepts"],
        "effects": [
            {
                "text": effect.concept.text,
                "polarity": effect.concept.polarity,
                "before": _rounded(effect.before),
                "after": _rounded(effect.after),
                "drop": _rounded(effect.drop),
                "control_drops": [_rounded(drop) for drop in effect.control_drops],
                "control_mean": _rounded(effect.control_mean),
                "control_sd": _rounded(effect.control_sd),
                "blank": _rounded(effect.blank),
                "grounded": effect.grounded,
            }
            for effect in experiment.effects
        ],
    }


def window_rows(found: Localization, after: Localization | None = None) -> list[dict[str, Any]]:
    """One row a concept and window, for a CSV; with the cosine after a cut when there was one."""
    rows = []
    for column, evidence in enumerate(found.evidence):
        for index, start in enumerate(found.windows.starts):
            row = {
                "concept": evidence.concept.text,
                "polarity": evidence.concept.polarity,
                "start_s": _rounded(start),
                "end_s": _rounded(start + found.windows.length),
                "cosine": _rounded(evidence.scores[index]),
                "encoder": found.encoder_id,
                "weights": found.weights,
            }
            if after is not None:
                row["cosine_after_cut"] = _rounded(after.evidence[column].scores[index])
            rows.append(row)
    return rows
