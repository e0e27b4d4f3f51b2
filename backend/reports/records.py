"""Results as plain records: what the command line prints, the page downloads and the API answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backend import __version__
from backend.audio import Clip, Span
from backend.encoders.base import Encoder
from backend.evidence.control_cuts import CutExperiment
from backend.evidence.localization import Localization
from backend.negation import Query
from backend.retrieval.ranking import Hit, Ranking

DEFAULT_SCORER = "exclusion"
"""Whose hits are told in full where none was chosen."""


def provenance(encoder: Encoder, seed: int) -> dict[str, Any]:
    """What made a result: version, encoder, weights, seed."""
    return {"version": __version__, "encoder": encoder.id, "weights": encoder.weights, "seed": seed}


def query_record(query: Query) -> dict[str, Any]:
    """The query as typed, its language and what the parser noticed."""
    return {"query": query.text, "query_language": query.language, "query_notes": list(query.notes)}


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


def gate_record(
    clip: Clip, span: Span, depth_db: float, band: tuple[float, float] | None, experiment: CutExperiment | None = None
) -> dict[str, Any]:
    """What was cut from which clip and, where a query was scored, the numbers beside the controls'."""
    record: dict[str, Any] = {
        "clip": clip_record(clip),
        "region": {"start": span.start, "end": span.end},
        "depth_db": -depth_db if depth_db else 0.0,
        "band": list(band) if band else None,
    }
    return record if experiment is None else record | cut_record(experiment)


def cut_record(experiment: CutExperiment) -> dict[str, Any]:
    """The numbers of a cut beside its controls."""
    before = localization_record(experiment.before)
    after = localization_record(experiment.after)
    return {
        "encoder": before["encoder"],
        "window": before["window"],
        "hop": before["hop"],
        "region": {"start": experiment.span.start, "end": experiment.span.end},
        "depth_db": -experiment.depth_db if experiment.depth_db else 0.0,
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


def ranking_record(rankings: Sequence[Ranking], scorer: str, top: int, made_by: dict[str, Any]) -> dict[str, Any]:
    """The object ``rank --json`` prints and the page's ``/ask`` answers.

    Parameters
    ----------
    rankings : sequence of Ranking
        The same scores in the order of every scorer.
    scorer : str
        Whose first ``top`` hits are told in full.
    top : int
    made_by : dict
        Of :func:`provenance`.
    """
    chosen = next(ranking for ranking in rankings if ranking.scorer == scorer)
    query, embedded = chosen.scores.query, chosen.scores.collection
    return {
        "query": {
            "text": query.text,
            "positives": list(query.present),
            "negatives": list(query.absent),
            "unknown": unknown_concepts(chosen),
            "notes": list(query.notes),
        },
        "collection": {
            "name": embedded.name,
            "clips": len(embedded),
            "skipped": [{"row": one.row, "reason": one.reason} for one in embedded.skipped],
        },
        "scorer": scorer,
        "lambda": chosen.strength,
        "top": top,
        "violations": {ranking.scorer: ranking.violations(top) for ranking in rankings},
        "recall": {ranking.scorer: ranking.recall(top) for ranking in rankings},
        "hits": _hits_in_full(chosen, rankings, top),
        "rankings": {ranking.scorer: [_hit_record(hit) for hit in ranking.hits(top)] for ranking in rankings},
        "provenance": made_by,
    }


def _hits_in_full(chosen: Ranking, rankings: Sequence[Ranking], top: int) -> list[dict[str, Any]]:
    """The first hits with caption, labels, their rank by every scorer, and how present each concept is."""
    scores, embedded = chosen.scores, chosen.scores.collection
    concepts, presence = scores.phrases, scores.presence()
    ranks = {ranking.scorer: ranking.ranks for ranking in rankings}
    return [
        {
            **_hit_record(hit),
            "caption": embedded.captions[hit.index],
            "labels": list(embedded.labels[hit.index]),
            "ranks": {name: int(of[hit.index]) for name, of in ranks.items()},
            "presence": {name: _rounded(value, 4) for name, value in zip(concepts, presence[hit.index], strict=True)},
        }
        for hit in chosen.hits(top)
    ]


def _hit_record(hit: Hit) -> dict[str, Any]:
    return {
        "rank": hit.rank,
        "id": hit.id,
        "score": _rounded(hit.score),
        "violates": hit.violates,
        "answers": hit.answers,
    }


def unknown_concepts(ranking: Ranking) -> list[str]:
    """Concepts that are far from every sound the encoder was compared with: exclusion is neutral about them."""
    scores = ranking.scores
    return [name for name, known in zip(scores.phrases, scores.known, strict=True) if not known]


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
