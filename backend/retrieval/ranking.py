"""Clips in the order of one scorer, and what every steering strength does to the first of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.checks import checked_whole
from backend.reports.jsonable import jsonable
from backend.retrieval.scoring import QueryScores, Scorer
from backend.retrieval.steering import DEFAULT_LAMBDA, PAPER_LAMBDAS

DEFAULT_HITS = 10
"""How many hits are shown and counted where nobody says otherwise."""
DIGITS = 6
"""Scores that agree to this many decimals are equal."""


@dataclass(frozen=True)
class Hit:
    """One clip in a ranking. ``violates`` and ``answers`` are None where labels cannot say."""

    index: int
    id: str
    rank: int
    score: float
    violates: bool | None
    answers: bool | None

    def record(self) -> dict[str, Any]:
        """Rank, id, score, and what the labels say."""
        return {
            "rank": self.rank,
            "id": self.id,
            "score": jsonable(self.score, DIGITS),
            "violates": self.violates,
            "answers": self.answers,
        }


@dataclass(frozen=True)
class Counts:
    """What the labels say of a ranking's first hits: how many there are, break the query, answer it, or say nothing."""

    hits: int
    violating: int
    answering: int
    unjudged: int


@dataclass(frozen=True, eq=False)
class Ranking:
    """All clips in the order of one scorer.

    Attributes
    ----------
    order : np.ndarray, shape (n,), int64
        Clip indices, best first; equal scores keep the collection's order.
    values : np.ndarray, shape (n,), float64
        Scores by clip index.
    """

    scores: QueryScores
    scorer: Scorer
    strength: float
    order: NDArray[np.int64]
    values: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.order)

    @property
    def ranks(self) -> NDArray[np.int64]:
        """Rank of every clip by clip index, starting at 1."""
        ranks = np.empty(len(self.order), dtype=np.int64)
        ranks[self.order] = np.arange(1, len(self.order) + 1)
        return ranks

    def hits(self, k: int) -> tuple[Hit, ...]:
        """The first k clips."""
        violates, answers = self.scores.violates, self.scores.answers
        return tuple(
            Hit(
                index=int(index),
                id=self.scores.collection.ids[index],
                rank=place + 1,
                score=float(self.values[index]),
                violates=_known(violates[index]),
                answers=_known(answers[index]),
            )
            for place, index in enumerate(self.order[: checked_top(k)])
        )

    def counts(self, k: int) -> Counts:
        """How many of the first k break the query, answer it, or have no label that could say."""
        hits = self.hits(k)
        return Counts(
            hits=len(hits),
            violating=sum(hit.violates is True for hit in hits),
            answering=sum(hit.answers is True for hit in hits),
            unjudged=sum(hit.violates is None for hit in hits),
        )

    def violations(self, k: int) -> int | None:
        """How many of the first k contain a forbidden sound; None where labels cannot say."""
        found = self.scores.violates[self.order[: checked_top(k)]]
        return None if np.isnan(found).any() else int(found.sum())

    def recall(self, k: int) -> float | None:
        """Share of all clips that answer the query which are among the first k; None if unknown or there is none."""
        answers = self.scores.answers
        if np.isnan(answers).any() or not answers.any():
            return None
        return float(answers[self.order[: checked_top(k)]].sum() / answers.sum())


def _known(flag: float) -> bool | None:
    return None if np.isnan(flag) else bool(flag)


def checked_top(k: object) -> int:
    """How many hits are asked for: a whole number, at least one. Raises InputError."""
    return checked_whole("The number of hits", k, 1)


@dataclass(frozen=True, eq=False)
class LambdaCurve:
    """What every steering strength does to the first k hits.

    ``violations`` and ``recall`` have one value per lambda; None where labels cannot say.
    """

    lambdas: tuple[float, ...]
    k: int
    violations: tuple[int | None, ...]
    recall: tuple[float | None, ...]


def rank(scores: QueryScores, scorer: Scorer, strength: float = DEFAULT_LAMBDA) -> Ranking:
    """Order all clips by one scorer. Embeds nothing; ``strength`` matters to "steered" only."""
    values = scores.score(scorer, strength)
    # Rounded, so that two copies of one sound keep their order whatever the last bit of a matrix product.
    return Ranking(scores, scorer, strength, np.argsort(-np.round(values, DIGITS), kind="stable"), values)


def lambda_curve(scores: QueryScores, k: int = DEFAULT_HITS) -> LambdaCurve:
    """violations@k and recall@k of the steered score for every strength of the paper. Embeds nothing."""
    rankings = [rank(scores, "steered", strength) for strength in PAPER_LAMBDAS]
    return LambdaCurve(
        PAPER_LAMBDAS,
        checked_top(k),
        tuple(ranking.violations(k) for ranking in rankings),
        tuple(ranking.recall(k) for ranking in rankings),
    )
