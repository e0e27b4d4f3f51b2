"""Three ways to score clips for a query that says what must not be heard (science section 4).

raw        cosine of the whole clip with the text as typed: what the encoder makes of "no".
steered    cosine with ``e* = e_C - lambda * e_neg`` (negation paper, section IV).
exclusion  negation as logic: log-presence of every positive concept plus log-absence of every
           negative one, each calibrated by :mod:`backend.retrieval.presence` (own choice).

Public API, in the order it is used::

    from backend.collections.layouts import open_collection
    from backend.collections.store import embed_collection, embedded_clips
    from backend.collections.collection import joined
    from backend.retrieval.scoring import score_query
    from backend.negation import parse_query
    from backend.retrieval.ranking import rank, lambda_curve

    collection = embed_collection(open_collection("demo"), encoder)   # once; mapped from disk afterwards
    collection = joined(collection, embedded_clips("own", encoder, [(item, clip)]))   # own clips join
    scores = score_query(collection, encoder, parse_query(text))   # embeds the texts of the query, nothing else
    ranking = rank(scores, "exclusion")                # cheap: once per scorer
    ranking = rank(scores, "steered", strength=0.5)         # cheap: moving the slider embeds nothing
    ranking.hits(5); ranking.ranks; ranking.violations(5); ranking.recall(5)
    curve = lambda_curve(scores, k=5)                  # violations@k and recall@k for every lambda
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from backend.collections.collection import EmbeddedCollection
from backend.encoders.base import Encoder, FloatArray
from backend.encoders.cached import EmbeddingCache, text_embeddings
from backend.encoders.prompts import concept_prompt
from backend.errors import InputError
from backend.negation import Query, at_least_one
from backend.retrieval.exclusion import EXCLUSION, ExclusionParameters, log_absence, log_presence, log_probability
from backend.retrieval.label_match import label_truth
from backend.retrieval.presence import (
    Calibration,
    background_texts,
    calibrate,
    calibrated,
    clip_evidence,
    known_concepts,
)
from backend.retrieval.steering import DEFAULT_LAMBDA, dot_products, steered_scores

Scorer = Literal["raw", "steered", "exclusion"]
SCORERS: tuple[Scorer, ...] = get_args(Scorer)


def check_scorer(name: str) -> Scorer:
    """The scorer of this name, or a sentence."""
    for scorer in SCORERS:
        if scorer == name:
            return scorer
    raise InputError(f"There is no scorer {name!r}. Choose {', '.join(SCORERS)}.")


@dataclass(frozen=True, eq=False)
class QueryScores:
    """Everything three rankings of one query need; no embedding is looked at again.

    Attributes
    ----------
    collection : EmbeddedCollection
    query : Query
        The raw and steered scores embed its text.
    raw : np.ndarray, shape (n,), float64
        s(t_q, a) of every clip.
    negative : np.ndarray, shape (n,), float64
        s(t_neg, a); zeros without negatives.
    cosine : float
        s(t_q, t_neg); 0 without negatives.
    evidence : np.ndarray, shape (n, positives + negatives), float64
        Calibrated evidence of presence in standard deviations, positives first; see
        :mod:`backend.retrieval.presence`.
    known : tuple of bool
        Whether the encoder knows each concept; an unknown one is neutral in the exclusion score.
    truth : np.ndarray, shape (n, positives + negatives), float64
        1 where a clip's labels name the concept, 0 where they do not, NaN where no label of the
        whole collection does: then nothing is claimed.
    """

    collection: EmbeddedCollection
    encoder_id: str
    weights: str
    query: Query
    raw: NDArray[np.float64]
    negative: NDArray[np.float64]
    cosine: float
    evidence: NDArray[np.float64]
    known: tuple[bool, ...]
    truth: NDArray[np.float64]
    parameters: ExclusionParameters = EXCLUSION

    @property
    def phrases(self) -> tuple[str, ...]:
        """The words of every concept, positives first: what the columns of ``evidence`` and ``truth`` are of."""
        return (*self.query.present, *self.query.absent)

    def presence(self) -> NDArray[np.float64]:
        """Probability that each concept is in each clip, shape (n, positives + negatives); 0.5 if unknown.

        For people: as likely as not where a forbidden concept begins to count.
        """
        probability = np.exp(log_probability(self.parameters.slope * (self.evidence - self.parameters.absent_below)))
        return np.where(np.array(self.known, dtype=bool), probability, 0.5)

    def score(self, scorer: Scorer, strength: float = DEFAULT_LAMBDA) -> NDArray[np.float64]:
        """Score of every clip, shape (n,); the higher the better it answers the query.

        Raises
        ------
        InputError
            An unknown scorer or a lambda out of range.
        """
        if check_scorer(scorer) == "steered" and self.query.negatives:
            return steered_scores(self.raw, self.negative, self.cosine, [strength])[:, 0]
        return self._exclusion() if scorer == "exclusion" else self.raw

    def _exclusion(self) -> NDArray[np.float64]:
        count = len(self.query.positives)
        known = np.array(self.known, dtype=bool)
        terms = np.concatenate(
            [
                log_presence(self.evidence[:, :count], self.parameters),
                log_absence(self.evidence[:, count:], self.parameters),
            ],
            axis=1,
        )
        # As likely as not, in every clip: an unknown concept cannot change the order.
        return np.where(known, terms, np.log(0.5)).sum(axis=1)

    @property
    def violates(self) -> NDArray[np.float64]:
        """Per clip: 1 if its labels name a forbidden sound, 0 if not, NaN if the labels cannot say."""
        return _any_true(self.truth[:, len(self.query.positives) :])

    @property
    def answers(self) -> NDArray[np.float64]:
        """Per clip: 1 if its labels name every wanted and no forbidden sound, 0 if not, NaN if they cannot say."""
        wanted = self.truth[:, : len(self.query.positives)]
        return 1.0 - _any_true(np.concatenate([1.0 - wanted, self.truth[:, len(self.query.positives) :]], axis=1))


def _any_true(flags: NDArray[np.float64]) -> NDArray[np.float64]:
    """Kleene's "or" along the last axis over 1, 0 and NaN (unknown)."""
    yes = (flags == 1).any(axis=1)
    unknown = np.isnan(flags).any(axis=1)
    return np.where(yes, 1.0, np.where(unknown, np.nan, 0.0))


def embedded_query(
    encoder: Encoder, query: Query, *, cache: EmbeddingCache | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Texts of a query: whole (D,), negated concepts as phrases (k, D), every concept as a prompt (p + k, D)."""
    negatives = query.absent
    prompts = map(concept_prompt, (*query.present, *negatives))
    texts = text_embeddings(encoder, [query.text, *negatives, *prompts], cache=cache)
    return texts[0], texts[1 : 1 + len(negatives)], texts[1 + len(negatives) :]


def concept_evidence(
    collection: EmbeddedCollection,
    encoder: Encoder,
    concepts: FloatArray,
    *,
    calibrations: Sequence[Calibration] | None = None,
    cache: EmbeddingCache | None = None,
) -> tuple[NDArray[np.float64], tuple[bool, ...]]:
    """Calibrated evidence (n, k) of embedded concept prompts (k, D), and which concepts are known.

    Without ``calibrations`` each concept's readiness is that in this collection's own clips.
    """
    background = collection.background(background_texts(encoder, cache=cache))
    evidence = clip_evidence(collection.windows, collection.offsets, concepts, background)
    known = known_concepts(concepts, background.texts)
    usual = calibrations or calibrate(evidence, background.typical)
    return calibrated(evidence, usual), tuple(map(bool, known))


def score_query(
    collection: EmbeddedCollection,
    encoder: Encoder,
    query: Query,
    *,
    parameters: ExclusionParameters = EXCLUSION,
    calibrations: Sequence[Calibration] | None = None,
    cache: EmbeddingCache | None = None,
) -> QueryScores:
    """Score every clip of a collection for a query, for all three scorers and every lambda at once.

    Parameters
    ----------
    collection : EmbeddedCollection
        Embedded with the same encoder.
    encoder : Encoder
        Must have a text side.
    query : Query
        At least one concept; positives may be empty.
    calibrations : sequence of Calibration, optional
        Per concept, positives first; by default from the collection itself.

    Raises
    ------
    InputError
        The query names no concept, the encoder has no text side, or the collection was embedded
        with another encoder.
    """
    check_encoder(collection, encoder)
    at_least_one(query.concepts)
    whole, negatives, concepts = embedded_query(encoder, query, cache=cache)
    raw = collection.clips.astype(np.float64) @ whole.astype(np.float64)
    negative, cosine = np.zeros(len(raw)), 0.0
    if len(negatives):
        raw, negative, cosine = dot_products(whole, negatives, collection.clips)
    evidence, known = concept_evidence(collection, encoder, concepts, calibrations=calibrations, cache=cache)
    return QueryScores(
        collection=collection,
        encoder_id=encoder.id,
        weights=encoder.weights,
        query=query,
        raw=raw,
        negative=negative,
        cosine=cosine,
        evidence=evidence,
        known=known,
        truth=label_truth((*query.present, *query.absent), collection.labels),
        parameters=parameters,
    )


def check_encoder(collection: EmbeddedCollection, encoder: Encoder) -> None:
    """Refuse an encoder without text, and a collection that another encoder embedded."""
    if not encoder.has_text:
        raise InputError(f"The encoder {encoder.id} has no text side, so it cannot score a query. Choose pocket.")
    if collection.clips.shape[1] != encoder.dim:
        raise InputError(
            f"The collection's embeddings have {collection.clips.shape[1]} dimensions, {encoder.id} has {encoder.dim}. "
            "Choose the encoder that made them."
        )
    if collection.weights and collection.weights != encoder.weights:
        raise InputError(
            f"The collection was embedded with weights {collection.weights}, {encoder.id} has {encoder.weights}. "
            "Embed it again."
        )
