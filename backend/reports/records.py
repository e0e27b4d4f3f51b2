"""Results as plain records: what the command line prints, the page downloads and the API answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backend.checks import DEFAULT_SEED
from backend.reports.provenance import provenance
from backend.retrieval.ranking import Hit, Ranking

DEFAULT_SCORER = "exclusion"
"""Whose hits are told in full where none was chosen."""


def _rounded(value: float, digits: int = 6) -> float:
    return round(float(value), digits)


def ranking_record(rankings: Sequence[Ranking], scorer: str, top: int, seed: int = DEFAULT_SEED) -> dict[str, Any]:
    """The object ``rank --json`` prints and the page's ``/ask`` answers.

    Parameters
    ----------
    rankings : sequence of Ranking
        The same scores in the order of every scorer.
    scorer : str
        Whose first ``top`` hits are told in full.
    top : int
    seed : int
        Nothing is drawn here; it is only said.
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
        "provenance": provenance(chosen.scores.encoder_id, chosen.scores.weights, seed),
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
