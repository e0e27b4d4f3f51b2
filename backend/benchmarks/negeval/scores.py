"""Raw, steered and exclusion scores of queries, options and pairs, over one set of candidate clips."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from backend.collections.collection import EmbeddedCollection
from backend.encoders.base import Encoder
from backend.encoders.cached import EmbeddingCache, text_embeddings
from backend.encoders.prompts import concept_prompt
from backend.negation import Query
from backend.retrieval.exclusion import EXCLUSION, ExclusionParameters, log_absence, log_presence
from backend.retrieval.presence import Calibration
from backend.retrieval.scoring import concept_evidence
from backend.retrieval.steering import combined_negative, steered_norm

TEXTS_AT_ONCE = 256


class CandidateScores:
    """Scores of any query for any clip of one set of candidates.

    Evidence of every concept in every clip is computed once; a query's scores then need only
    look-ups (exclusion) and its text's embedding (raw, steered).

    Parameters
    ----------
    collection : EmbeddedCollection
    encoder : Encoder
    vocabulary : sequence of str
        Every concept any query may name.
    calibrations : sequence of Calibration, optional
        Per concept of the vocabulary; by default from this collection's own clips.
    evidence : np.ndarray, shape (n, vocabulary), optional
        Evidence made in another way, to compare forms; by default that of :mod:`backend.retrieval.presence`.
    """

    def __init__(
        self,
        collection: EmbeddedCollection,
        encoder: Encoder,
        vocabulary: Sequence[str],
        *,
        calibrations: Sequence[Calibration] | None = None,
        parameters: ExclusionParameters = EXCLUSION,
        evidence: NDArray[np.float64] | None = None,
    ) -> None:
        self.collection, self.encoder = collection, encoder
        # Thousands of generated texts must not push a person's own embeddings out of the shared cache.
        self._texts = EmbeddingCache(None, memory_bytes=2**28, disk_bytes=0)
        self.vocabulary = tuple(vocabulary)
        self._column = {name: column for column, name in enumerate(self.vocabulary)}
        prompts = self.embed([concept_prompt(name) for name in self.vocabulary])
        self.evidence, self.known = concept_evidence(
            collection, encoder, prompts, calibrations=calibrations, cache=self._texts
        )
        if evidence is not None:
            self.evidence = evidence
        neutral = np.log(0.5)
        known = np.array(self.known)
        self.presence = np.where(known, log_presence(self.evidence, parameters), neutral)
        self.absence = np.where(known, log_absence(self.evidence, parameters), neutral)
        self._clips = np.asarray(collection.clips, dtype=np.float64)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Texts to (m, D) unit vectors, each embedded once."""
        parts = [
            text_embeddings(self.encoder, texts[start : start + TEXTS_AT_ONCE], cache=self._texts)
            for start in range(0, len(texts), TEXTS_AT_ONCE)
        ]
        return np.concatenate(parts) if parts else np.empty((0, self.encoder.dim), np.float32)

    def negatives(self, queries: Sequence[Query]) -> NDArray[np.float64]:
        """e_neg of every query, (m, D); zeros where it negates nothing."""
        phrases = sorted({name for one in queries for name in one.absent})
        vectors = dict(zip(phrases, self.embed(phrases), strict=True))
        return np.array(
            [
                combined_negative([vectors[name] for name in one.absent]) if one.absent else np.zeros(self.encoder.dim)
                for one in queries
            ]
        )

    def steered(
        self, queries: Sequence[Query], lambdas: Sequence[float], clips: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Cosine with e* for every strength; lambda 0 is the raw score.

        Returns
        -------
        np.ndarray
            (lambdas, m, n) over all candidates or, with ``clips`` (m,), (lambdas, m): query i
            about clip ``clips[i]`` only.
        """
        texts = self.embed([one.text for one in queries]).astype(np.float64)
        negative = self.negatives(queries)
        cosine = np.einsum("md,md->m", texts, negative)
        if clips is None:
            plain, forbidden = texts @ self._clips.T, negative @ self._clips.T
        else:
            plain = np.einsum("md,md->m", texts, self._clips[clips])
            forbidden = np.einsum("md,md->m", negative, self._clips[clips])
        negates = np.any(negative, axis=1)
        result = np.empty((len(lambdas), *plain.shape))
        for place, strength in enumerate(lambdas):
            norm = np.array(
                [steered_norm(c, strength) if some else 1.0 for c, some in zip(cosine, negates, strict=True)]
            )
            norm = np.maximum(norm.reshape(-1, *[1] * (plain.ndim - 1)), 1e-6)
            result[place] = (plain - strength * forbidden) / norm
        return result

    def exclusion(self, queries: Sequence[Query], clips: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Log-presence of what is affirmed plus log-absence of what is negated: (m, n), or (m,) with ``clips``."""
        rows = []
        for place, one in enumerate(queries):
            chosen = slice(None) if clips is None else clips[place]
            affirmed = self.presence[chosen][..., [self._column[name] for name in one.present]].sum(axis=-1)
            negated = self.absence[chosen][..., [self._column[name] for name in one.absent]].sum(axis=-1)
            rows.append(affirmed + negated)
        return np.array(rows)
