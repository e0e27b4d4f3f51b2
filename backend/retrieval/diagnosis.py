"""What a text encoder does with "no": how close it puts a query's relatives (negation paper, appendix A).

An encoder that understood "no" would put the paraphrase close and the affirmative far. No audio is involved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from backend.encoders.base import Encoder
from backend.encoders.cached import text_embeddings
from backend.errors import InputError
from backend.reports.jsonable import DIGITS, jsonable
from backend.reports.provenance import provenance
from backend.retrieval.relatives import Relatives
from backend.retrieval.steering import (
    PAPER_LAMBDAS,
    combined_negative,
    cosine_with_negative,
    cosine_with_query,
    steering_path,
)
from backend.retrieval.variants import PAPER_MEANS

TINY = 1e-6
"""A denominator below this makes a ratio meaningless; it is then None."""

FURTHER = 0.2
"""From this difference of cosines on, the opposite is said to be further away than the paraphrase (own choice)."""

Closeness = Literal["closer", "almost", "further"]


@dataclass(frozen=True)
class Steered:
    """The query steered by one strength: its place in the plane, and its cosines with e_neg and e_C."""

    strength: float
    x: float
    y: float
    with_negative: float
    with_query: float


@dataclass(frozen=True, eq=False)
class Plane:
    """The plane of e_C and e_neg, with the steering path exactly in it.

    Attributes
    ----------
    cosine : float
        c = cos(e_C, e_neg). e_C lies at (1, 0), e_neg at (c, sqrt(1 - c^2)).
    lambdas : np.ndarray, shape (n,)
    path : np.ndarray, shape (n, 2)
        Unit e* for every lambda.
    with_negative, with_query : np.ndarray, shape (n,)
        Closed forms of cos(e*, e_neg) and cos(e*, e_C).
    names : tuple of str
        Relatives that are drawn, in the order of ``points``.
    points : np.ndarray, shape (k, 2)
        Their projections on the plane.
    outside : np.ndarray, shape (k,)
        Length of what the projection leaves out, 0 (in the plane) to 1.
    """

    cosine: float
    lambdas: NDArray[np.float64]
    path: NDArray[np.float64]
    with_negative: NDArray[np.float64]
    with_query: NDArray[np.float64]
    names: tuple[str, ...]
    points: NDArray[np.float64]
    outside: NDArray[np.float64]

    @property
    def negative(self) -> tuple[float, float]:
        """Where e_neg lies."""
        return self.cosine, max(0.0, 1.0 - self.cosine**2) ** 0.5

    @property
    def orthogonal_at(self) -> float | None:
        """The strength from which e* no longer leans towards e_neg; None where e_C does not lean to it at all."""
        return self.cosine if self.cosine > 0 else None

    def at(self, strength: float) -> Steered:
        """The query steered by ``strength``, or by the strength of the path that is nearest to it."""
        place = int(np.abs(self.lambdas - strength).argmin())
        x, y = self.path[place]
        return Steered(
            float(self.lambdas[place]),
            float(x),
            float(y),
            float(self.with_negative[place]),
            float(self.with_query[place]),
        )


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """The figures of appendix A for one query. A figure that the query does not allow is None.

    Attributes
    ----------
    similarity : dict of str to float
        Cosine of the query with each relative.
    affinity : float or None
        (s(q, aff) - s(q, unrel)) / (s(q, para) - s(q, unrel)): near or above 1, the opposite is as
        close as the paraphrase.
    polarity_content : float or None
        (1 - s(q, aff)) / (1 - s(q, swap)): below 1, polarity moves the text less than a sound does.
    scope_permutation : float or None
        Mean pairwise cosine of the scope variants.
    """

    relatives: Relatives
    encoder_id: str
    weights: str
    similarity: dict[str, float]
    affinity: float | None
    polarity_content: float | None
    scope_permutation: float | None
    plane: Plane

    @property
    def closeness(self) -> Closeness:
        """Whether the query lies closer to its opposite than to its paraphrase, almost as close, or further."""
        opposite, paraphrase = self.similarity["affirmative"], self.similarity["paraphrase"]
        if opposite >= paraphrase:
            return "closer"
        return "further" if opposite < paraphrase - FURTHER else "almost"

    @property
    def notices(self) -> bool | None:
        """Whether polarity moves the text at least as far as another sound does; None where that is not defined."""
        return None if self.polarity_content is None else self.polarity_content >= 1

    @property
    def figures(self) -> dict[str, float | None]:
        """The five figures that the paper publishes means of, under the names of ``PAPER_MEANS``."""
        return {
            "affinity": self.affinity,
            "polarity_content": self.polarity_content,
            "scope_permutation": self.scope_permutation,
            "swap": self.similarity["swap"],
            "bag": self.similarity["bag"],
        }

    def record(self, **parameters: Any) -> dict[str, Any]:
        """The diagnosis as plain values, cosines rounded to six digits; ``parameters`` join its provenance."""
        plane = self.plane
        made_by = provenance(self.encoder_id, self.weights, self.relatives.seed, **parameters)
        return {
            "encoder": {"id": self.encoder_id, "weights": self.weights},
            "version": made_by["version"],
            "lines": [{"name": name, "text": text} for name, text in self.relatives.lines()],
            "similarity": jsonable(self.similarity, DIGITS),
            "figures": jsonable(self.figures, DIGITS),
            "closeness": self.closeness,
            "notices": self.notices,
            "paper_means": dict(PAPER_MEANS),
            "steering": {
                "negated": list(self.relatives.negated),
                "cosine": jsonable(plane.cosine, DIGITS),
                "lambdas": jsonable(plane.lambdas),
                "cos_with_negative": jsonable(plane.with_negative, DIGITS),
                "cos_with_query": jsonable(plane.with_query, DIGITS),
                "orthogonal_at": jsonable(plane.orthogonal_at, DIGITS),
            },
            "provenance": made_by,
        }


def diagnose(encoder: Encoder, relatives: Relatives, lambdas: Sequence[float] = PAPER_LAMBDAS) -> Diagnosis:
    """Embed a query's relatives and measure them (negation paper, equations 1 and 2, section IV).

    Raises
    ------
    InputError
        The encoder has no text side.
    """
    if not encoder.has_text:
        raise InputError(f"The encoder {encoder.id} has no text side, so it cannot be asked what it does with “no”.")
    names, texts = zip(*relatives.lines(), strict=True)
    embedded = np.asarray(text_embeddings(encoder, [*texts, *relatives.negated]), dtype=np.float64)
    lines, negated = embedded[: len(texts)], embedded[len(texts) :]
    similarity = {name: float(np.clip(vector @ lines[0], -1, 1)) for name, vector in zip(names, lines, strict=True)}
    scopes = lines[len(names) - len(relatives.scopes) :]
    pairs = [float(a @ b) for a, b in combinations(scopes, 2)]
    return Diagnosis(
        relatives,
        encoder.id,
        encoder.weights,
        similarity,
        normalised_affinity(similarity["affirmative"], similarity["paraphrase"], similarity["unrelated"]),
        polarity_content_ratio(similarity["affirmative"], similarity["swap"]),
        float(np.mean(pairs)) if pairs else None,
        plane_of(lines[0], combined_negative(negated), names, lines, lambdas),
    )


def normalised_affinity(affirmative: float, paraphrase: float, unrelated: float) -> float | None:
    """(s(q, aff) - s(q, unrel)) / (s(q, para) - s(q, unrel)), equation 1; None when the denominator vanishes."""
    span = paraphrase - unrelated
    return None if abs(span) < TINY else (affirmative - unrelated) / span


def polarity_content_ratio(affirmative: float, swap: float) -> float | None:
    """(1 - s(q, aff)) / (1 - s(q, swap)), equation 2; None when the swap changes nothing."""
    return None if 1 - swap < TINY else (1 - affirmative) / (1 - swap)


def plane_of(
    query: NDArray[np.float64],
    negative: NDArray[np.float64],
    names: Sequence[str],
    vectors: NDArray[np.float64],
    lambdas: Sequence[float] = PAPER_LAMBDAS,
) -> Plane:
    """Project unit vectors (k, D) on the plane of e_C and e_neg, and draw the steering path in it.

    Where e_C and e_neg are parallel the second axis is zero: there is no plane, only a line.
    """
    cosine = float(np.clip(query @ negative, -1.0, 1.0))
    across = negative - cosine * query
    length = float(np.linalg.norm(across))
    axis = across / length if length > TINY else np.zeros_like(across)
    points = np.stack([vectors @ query, vectors @ axis], axis=-1)
    outside = np.sqrt(np.clip(1.0 - (points**2).sum(axis=-1), 0.0, 1.0))
    strengths = np.asarray(lambdas, dtype=np.float64)
    return Plane(
        cosine,
        strengths,
        steering_path(cosine, strengths),
        cosine_with_negative(cosine, strengths),
        cosine_with_query(cosine, strengths),
        tuple(names),
        points,
        outside,
    )
