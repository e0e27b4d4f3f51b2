"""One query over one collection by every scorer, with everything that is said about its first hits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from backend.checks import DEFAULT_SEED
from backend.reports.jsonable import jsonable
from backend.reports.provenance import provenance
from backend.retrieval.ranking import Hit, LambdaCurve, Ranking, lambda_curve, rank
from backend.retrieval.scoring import SCORERS, QueryScores, Scorer
from backend.retrieval.steering import DEFAULT_LAMBDA

DEFAULT_SCORER: Scorer = "exclusion"
"""Whose hits are told in full where none was chosen."""


@dataclass(frozen=True)
class HitInFull:
    """A hit with what the collection says of its clip.

    Attributes
    ----------
    ranks : dict of Scorer to int
        Its rank by every scorer.
    presence : tuple of (str, float)
        Probability of each concept of the query, wanted ones first.
    """

    hit: Hit
    caption: str
    labels: tuple[str, ...]
    ranks: dict[Scorer, int]
    presence: tuple[tuple[str, float], ...]

    def record(self) -> dict[str, Any]:
        """The hit, its caption and labels, its ranks, and how present each concept is."""
        return {
            **self.hit.record(),
            "caption": self.caption,
            "labels": list(self.labels),
            "ranks": dict(self.ranks),
            "presence": jsonable(dict(self.presence), 4),
        }


@dataclass(frozen=True, eq=False)
class SearchResult:
    """One query's orders of one collection.

    Attributes
    ----------
    scores : QueryScores
    strength : float
        Of steering.
    labelled : QueryScores or None
        The scores of the labelled clips alone, where others were added that say nothing about the curve.
    """

    scores: QueryScores
    strength: float = DEFAULT_LAMBDA
    labelled: QueryScores | None = None

    @cached_property
    def rankings(self) -> tuple[Ranking, ...]:
        """One a scorer: raw, steered, exclusion."""
        return tuple(rank(self.scores, scorer, self.strength) for scorer in SCORERS)

    def by(self, scorer: Scorer) -> Ranking:
        """The order of one scorer."""
        return self.rankings[SCORERS.index(scorer)]

    @property
    def unknown(self) -> tuple[str, ...]:
        """Concepts far from every sound the encoder was compared with: exclusion is neutral about them."""
        return tuple(name for name, known in zip(self.scores.phrases, self.scores.known, strict=True) if not known)

    @property
    def answering(self) -> int:
        """How many clips of the collection answer the query, by their labels."""
        return int((self.scores.answers == 1).sum())

    def is_silent(self, k: int) -> bool:
        """Whether labels are missing among the first k hits and none is known to break the query."""
        counts = [ranking.counts(k) for ranking in self.rankings]
        return any(count.unjudged for count in counts) and not any(count.violating for count in counts)

    def curve(self, k: int) -> LambdaCurve:
        """What every steering strength does to the first k hits."""
        return lambda_curve(self.labelled or self.scores, k)

    def by_exclusion(self, k: int) -> tuple[int | None, float | None]:
        """Violations and recall of the exclusion score among the first k, to stand beside the curve."""
        ranking = rank(self.labelled or self.scores, "exclusion")
        return ranking.violations(k), ranking.recall(k)

    def hits_in_full(self, scorer: Scorer, k: int) -> tuple[HitInFull, ...]:
        """The first k hits of a scorer, with all that is known of their clips."""
        collection, presence = self.scores.collection, self.scores.presence()
        ranks = {ranking.scorer: ranking.ranks for ranking in self.rankings}
        return tuple(
            HitInFull(
                hit,
                collection.captions[hit.index],
                tuple(collection.labels[hit.index]),
                {name: int(of[hit.index]) for name, of in ranks.items()},
                tuple(zip(self.scores.phrases, map(float, presence[hit.index]), strict=True)),
            )
            for hit in self.by(scorer).hits(k)
        )

    def record(self, scorer: Scorer, top: int, seed: int = DEFAULT_SEED, **parameters: Any) -> dict[str, Any]:
        """The object that ``rank --json`` prints and the page's ``/ask`` answers.

        Parameters
        ----------
        scorer : Scorer
            Whose first ``top`` hits are told in full.
        seed : int
            Nothing is drawn here; it is only said.
        **parameters
            What else the provenance should name.
        """
        query, embedded = self.scores.query, self.scores.collection
        return {
            "query": {
                "text": query.text,
                "positives": list(query.present),
                "negatives": list(query.absent),
                "unknown": list(self.unknown),
                "notes": list(query.notes),
            },
            "collection": {
                "name": embedded.name,
                "clips": len(embedded),
                "skipped": [{"row": one.row, "reason": one.reason} for one in embedded.skipped],
            },
            "scorer": scorer,
            "lambda": self.strength,
            "top": top,
            "violations": {ranking.scorer: ranking.violations(top) for ranking in self.rankings},
            "recall": {ranking.scorer: ranking.recall(top) for ranking in self.rankings},
            "counts": {ranking.scorer: jsonable(ranking.counts(top)) for ranking in self.rankings},
            "answering": self.answering,
            "hits": [hit.record() for hit in self.hits_in_full(scorer, top)],
            "rankings": {ranking.scorer: [hit.record() for hit in ranking.hits(top)] for ranking in self.rankings},
            "provenance": provenance(self.scores.encoder_id, self.scores.weights, seed, **parameters),
        }
