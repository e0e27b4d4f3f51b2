"""The whole analysis: from labelled embeddings to everything the page shows and ``compose.json`` holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from backend.composition import cca
from backend.composition.baselines import Progress, label_overlap, p_values, permuted_leave_one_out
from backend.composition.combinations import Combinations, LabelledEmbeddings, combine
from backend.composition.holdout import SPLITS, Holdout, draw_split, repeated_holdout
from backend.composition.memory import bytes_needed, require_memory
from backend.composition.metrics import (
    HITS_K,
    METRICS,
    Metrics,
    evaluate,
    metrics_from,
    prepare,
    ranks,
    row_cosines,
    row_divergences,
    row_residuals,
)
from backend.composition.ridge import PenaltyChoice, Ridge, choose_penalty, factorise
from backend.errors import InputError

Floats = NDArray[np.float64]

PERMUTATIONS = 100
SMALL = 30
"""Fewer combinations than this are called few (own choice)."""


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Every combination predicted from all the others.

    Attributes
    ----------
    predicted : np.ndarray, shape (q, m), float64
    real, overlap, in_sample : Metrics
        The additive prediction, the label-overlap baseline, and the fit that has seen everything.
    permuted : np.ndarray, shape (N, 5), float64
        One row per shuffle, in the order of ``METRICS``.
    p : np.ndarray, shape (5,), float64
    cosines, overlap_cosines, divergences, residuals, leverage : np.ndarray, shape (q,), float64
        Per combination: cosine, that of the overlap baseline, KL in bits, residual length relative to the actual
        length, h_ii.
    ranks : np.ndarray, shape (q,), int64
        Rank of the actual combination among all q by cosine to the prediction; 1 is best.
    """

    predicted: Floats
    real: Metrics
    overlap: Metrics
    in_sample: Metrics
    permuted: Floats
    p: Floats
    cosines: Floats
    overlap_cosines: Floats
    divergences: Floats
    residuals: Floats
    leverage: Floats
    ranks: NDArray[np.int64]

    @property
    def permuted_mean(self) -> Metrics:
        """Mean over shuffles."""
        return metrics_from(self.permuted.mean(axis=0))


@dataclass(frozen=True, eq=False)
class Report:
    """One analysis of one collection under one encoder."""

    data: LabelledEmbeddings
    combinations: Combinations
    ridge: Ridge
    choice: PenaltyChoice
    loo: LeaveOneOut
    holdout: Holdout | None
    cca: cca.CanonicalCorrelations
    seed: int
    notes: tuple[str, ...]
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def contributions(self) -> Floats:
        """W, (n, m): what each source adds, fitted on all combinations."""
        return self.ridge.contributions(self.combinations.means)

    @property
    def headline(self) -> str:
        """The result in one sentence."""
        real, shuffled, overlap = self.loo.real.cosine, self.loo.permuted_mean.cosine, self.loo.overlap.cosine
        return (
            f"Rebuilt from its parts, a scene lands at cosine {real:+.3f}; shuffled parts give {shuffled:+.3f}, "
            f"scenes with overlapping labels {overlap:+.3f}."
        )

    def to_json(self) -> dict[str, Any]:
        """``compose.json``: means, p-values and provenance; NaN is null."""
        loo = {
            "real": self.loo.real.as_dict(),
            "permuted": self.loo.permuted_mean.as_dict(),
            "overlap": self.loo.overlap.as_dict(),
            "p": _by_metric(self.loo.p),
            "sd": {"permuted": _by_metric(_spread(self.loo.permuted))},
        }
        return {
            "n_clips": len(self.data.ids),
            "n_combinations": len(self.combinations),
            "n_sources": len(self.combinations.sources),
            "dim": int(self.data.embeddings.shape[1]),
            "lambda": self.choice.penalty,
            "loo": loo,
            "holdout": _holdout_json(self.holdout),
            "cca": {"real": self.cca.real.tolist(), "permuted": [_number(value) for value in self.cca.permuted]},
            "provenance": dict(self.provenance) | {"seed": self.seed, "notes": list(self.notes)},
        }


def compose(
    data: LabelledEmbeddings,
    *,
    seed: int = 0,
    permutations: int = PERMUTATIONS,
    splits: int = SPLITS,
    penalty: float | None = None,
    provenance: Mapping[str, Any] | None = None,
    notes: tuple[str, ...] = (),
    memory: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Ask whether the embedding of a combination of sounds is the sum of what its sounds contribute elsewhere.

    Science section 5, paper III. The seed's four streams serve the choice of lambda, the
    shuffles, the splits and the shuffles of CCA, so that none depends on how long another is.

    Parameters
    ----------
    data : LabelledEmbeddings
        N clips, (N, D).
    seed : int
        Not negative.
    permutations, splits : int
        Shuffles of leave-one-out and of CCA; repeated holdouts.
    penalty : float, optional
        Lambda, if it is not to be chosen from the grid.
    provenance, notes
        Carried into the report: encoder, weights, files; sentences about the input.
    memory : int, optional
        Bytes that may be used; by default 80 % of what is free.
    progress : callable, optional
        Told a sentence and the share done.

    Raises
    ------
    InputError
        What ``combine`` refuses, a negative seed, or an analysis that does not fit into memory.
    """
    for name, value, least in (("seed", seed, 0), ("count of permutations", permutations, 1), ("splits", splits, 1)):
        if value < least:
            raise InputError(f"{name.capitalize()}: {value} was given; it must be a whole number, at least {least}.")
    _require_memory(data, memory)
    streams = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(4)]
    tell = progress or (lambda _sentence, _share: None)
    tell("Grouping clips by their labels", 0.0)
    combinations = combine(data)
    choice = _choose(combinations, penalty, streams[0])
    ridge = factorise(combinations.membership).ridge(choice.penalty)
    loo = _leave_one_out(combinations, ridge, permutations, streams[1], _part(tell, 0.05, 0.45))
    holdout = repeated_holdout(ridge, combinations.means, streams[2], splits=splits, progress=_part(tell, 0.45, 0.65))
    correlations = cca.canonical_correlations(
        sparse.csr_matrix(combinations.membership)[combinations.clip_combination],
        data.embeddings,
        permutations=permutations,
        random=streams[3],
        progress=_part(tell, 0.65, 1.0),
    )
    notes = notes + _remarks(combinations, choice, holdout, chosen=penalty is None) + _clip_remarks(data)
    return Report(data, combinations, ridge, choice, loo, holdout, correlations, seed, notes, dict(provenance or {}))


def _choose(combinations: Combinations, penalty: float | None, random: np.random.Generator) -> PenaltyChoice:
    """Lambda once, on a fifth of the combinations, split as the holdouts are (own choice in detail)."""
    validation = draw_split(combinations.membership, random)
    if not len(validation):
        count = len(combinations)
        validation = np.sort(random.permutation(count)[: max(1, round(0.2 * count))])
    choice = choose_penalty(combinations.membership, combinations.means, validation)
    if penalty is None:
        return choice
    if not (np.isfinite(penalty) and penalty > 0):
        raise InputError(f"Lambda is {penalty}; it must be a positive number, for example 0.1.")
    return PenaltyChoice(float(penalty), choice.grid, choice.errors, choice.validation)


def _leave_one_out(
    combinations: Combinations, ridge: Ridge, permutations: int, random: np.random.Generator, progress: Progress
) -> LeaveOneOut:
    target = prepare(combinations.means)
    predicted = ridge.leave_one_out(combinations.means)
    real = evaluate(target, predicted)
    overlap = label_overlap(combinations.membership, combinations.means)
    permuted = permuted_leave_one_out(ridge, target, permutations, random, progress)
    return LeaveOneOut(
        predicted=predicted,
        real=real,
        overlap=evaluate(target, overlap),
        in_sample=evaluate(target, ridge.fitted(combinations.means)),
        permuted=permuted,
        p=p_values(real.values(), permuted),
        cosines=row_cosines(target, predicted),
        overlap_cosines=row_cosines(target, overlap),
        divergences=row_divergences(target, predicted),
        residuals=row_residuals(target, predicted),
        leverage=ridge.leverage,
        ranks=ranks(target, predicted),
    )


def _remarks(
    combinations: Combinations, choice: PenaltyChoice, holdout: Holdout | None, *, chosen: bool
) -> tuple[str, ...]:
    """Sentences about what a reader must know before believing the numbers."""
    count, notes = len(combinations), []
    if count < SMALL:
        notes.append(
            f"{count} combinations are few: the metrics vary much between samples of this size, and Hits@{HITS_K} "
            f"by chance alone is {min(1.0, HITS_K / count):.2f}."
        )
    seen_once = combinations.seen_once
    if seen_once:
        shown = ", ".join(seen_once[:5]) + (" …" if len(seen_once) > 5 else "")
        notes.append(
            f"{len(seen_once)} of {len(combinations.sources)} sources occur in one combination only ({shown}): "
            f"left out, nothing is known of them."
        )
    single = int(np.count_nonzero(combinations.counts == 1))
    if single:
        notes.append(f"{single} of {count} combinations are a single clip, so their mean is that clip's embedding.")
    if chosen and choice.at_edge:
        notes.append(f"Lambda {choice.penalty:g} is at the edge of the grid.")
    if not chosen:
        notes.append(f"Lambda {choice.penalty:g} was given, not chosen.")
    if holdout is None:
        notes.append("No combination can be held out with all its sources kept in training, so there is no holdout.")
    elif holdout.sizes.min() <= HITS_K:
        notes.append(f"Some splits hold out no more than {HITS_K} combinations, where any guess is a hit.")
    return tuple(notes)


def _clip_remarks(data: LabelledEmbeddings) -> tuple[str, ...]:
    clips, dim = data.embeddings.shape
    if clips >= 5 * dim:
        return ()
    return (
        f"{clips:,} clips are few for {dim:,} dimensions: canonical correlations are high by chance alone, "
        f"so read them against the shuffled ones.",
    )


def _require_memory(data: LabelledEmbeddings, memory: int | None) -> None:
    clips, dim = data.embeddings.shape
    needed = bytes_needed(
        clips,
        dim,
        data.embeddings.itemsize,
        len({name for labels in data.labels for name in labels}),
        len(set(data.labels)),
        mapped=True,  # they are there already, mapped or loaded
    )
    require_memory(needed, f"{clips:,} clips x {dim:,} {data.embeddings.dtype.name} numbers", memory)


def _part(progress: Callable[[str, float], None], start: float, end: float) -> Progress:
    return lambda sentence, share: progress(sentence, start + share * (end - start))


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _by_metric(values: Floats) -> dict[str, float | None]:
    return {name: _number(value) for name, value in zip(METRICS, values, strict=True)}


def _spread(table: Floats) -> Floats:
    return table.std(axis=0, ddof=1) if len(table) > 1 else np.zeros(table.shape[1])


def _holdout_json(holdout: Holdout | None) -> dict[str, Any]:
    empty = np.full(len(METRICS), np.nan)
    kinds = ("real", "permuted", "overlap")
    return {
        **{kind: _by_metric(empty if holdout is None else holdout.mean(kind)) for kind in kinds},
        "p": _by_metric(empty if holdout is None else holdout.p),
        "sd": {kind: _by_metric(empty if holdout is None else holdout.spread(kind)) for kind in kinds},
        "splits": 0 if holdout is None else len(holdout.sizes),
        "held_out": [] if holdout is None else holdout.sizes.tolist(),
    }
