"""The three tasks: every item scored every way, summed up as the paper's tables do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.benchmarks.negeval.items import KINDS, Question, RetrievalItem
from backend.benchmarks.negeval.measures import Measure, first_relevant, measured, recalls
from backend.benchmarks.negeval.pairs import ControlledPair
from backend.benchmarks.negeval.scores import CandidateScores
from backend.benchmarks.negeval.wording import listed
from backend.negation import Query
from backend.retrieval.diagnosis import normalised_affinity, polarity_content_ratio
from backend.retrieval.steering import DEFAULT_LAMBDA, PAPER_LAMBDAS

Record = dict[str, Any]


def _recorded(named: dict[str, Any]) -> Record:
    return {name: measure.record() for name, measure in named.items()}


def retrieval(scores: CandidateScores, items: Sequence[RetrievalItem], seed: int) -> Record:
    """Tables I and III: standard retrieval, Retrieval-Neg in both forms, and R@5 over lambda."""
    relevant = [item.relevant for item in items]
    plain = [Query.of(item.affirmative, item.positives) for item in items]
    result: Record = {
        "candidates": len(scores.collection),
        "queries": len(items),
        "standard": {
            "raw": _recorded(recalls(first_relevant(scores.steered(plain, [0.0])[0], relevant), seed)),
            "exclusion": _recorded(recalls(first_relevant(scores.exclusion(plain), relevant), seed)),
        },
    }
    for form in ("template", "fluent"):
        negated = [Query.of(getattr(item, form), item.positives, (item.negative,)) for item in items]
        ranks = {
            strength: first_relevant(values, relevant)
            for strength, values in zip(PAPER_LAMBDAS, scores.steered(negated, PAPER_LAMBDAS), strict=True)
        }
        result[form] = {
            "raw": _recorded(recalls(ranks[0.0], seed)),
            "steered": _recorded(recalls(ranks[DEFAULT_LAMBDA], seed)),
            "exclusion": _recorded(recalls(first_relevant(scores.exclusion(negated), relevant), seed)),
            "sweep R@5": {str(strength): measured(of <= 5, seed).record() for strength, of in ranks.items()},
        }
    return result


def multiple_choice(
    scores: CandidateScores, questions: Sequence[Question], seed: int
) -> tuple[Record, dict[str, NDArray[np.int64]]]:
    """Tables II and III: accuracy by kind and their mean; and what each scorer chose, for the item list."""
    options = [option for question in questions for option in question.options]
    clips = np.repeat([question.clip for question in questions], 4)
    answers = np.array([question.answer for question in questions])
    kinds = np.array([question.kind for question in questions])
    by_lambda = scores.steered(options, PAPER_LAMBDAS, clips).reshape(len(PAPER_LAMBDAS), -1, 4)
    values = {
        "raw": by_lambda[0],
        "steered": by_lambda[PAPER_LAMBDAS.index(DEFAULT_LAMBDA)],
        "exclusion": scores.exclusion(options, clips).reshape(-1, 4),
    }
    chosen = {name: _choice(table) for name, table in values.items()}
    result: Record = {"questions": len(questions), "chance": 0.25}
    for name, choice in chosen.items():
        result[name] = _accuracy(choice == answers, kinds, seed)
    result["sweep average"] = {
        str(strength): _accuracy(_choice(table) == answers, kinds, seed)["average"]
        for strength, table in zip(PAPER_LAMBDAS, by_lambda, strict=True)
    }
    return result, chosen


def _choice(table: NDArray[np.float64]) -> NDArray[np.int64]:
    """The highest of four; -1 (wrong) where the highest is shared, so that chance is not credited."""
    best = table.max(axis=1, keepdims=True)
    return np.where((table == best).sum(axis=1) == 1, table.argmax(axis=1), -1)


def _accuracy(right: NDArray[np.bool_], kinds: NDArray[np.str_], seed: int) -> Record:
    by_kind: dict[str, Measure] = {kind: measured(right[kinds == kind], seed) for kind in KINDS}
    # Each clip has one question of every kind, in order: their mean per clip resamples clips, not questions.
    per_clip = np.stack([right[kinds == kind] for kind in KINDS]).mean(axis=0)
    return _recorded({**by_kind, "average": measured(per_clip, seed)})


def pairs(scores: CandidateScores, made: Sequence[ControlledPair], seed: int) -> tuple[Record, list[Record]]:
    """Appendix A: margins m = s(q, distractor) - s(q, target); negative prefers the clip without Y.

    Clip 2i of the candidates must be the target of pair i, clip 2i + 1 its distractor.
    """
    texts = [_pair_texts(pair) for pair in made]
    negated = [
        Query.of(text["query"], pair.positives, (pair.negative,)) for text, pair in zip(texts, made, strict=True)
    ]
    affirmative = [
        Query.of(text["affirmative"], (*pair.positives, pair.negative)) for text, pair in zip(texts, made, strict=True)
    ]
    target, distractor = 2 * np.arange(len(made)), 2 * np.arange(len(made)) + 1
    sweep = scores.steered(negated, PAPER_LAMBDAS, distractor) - scores.steered(negated, PAPER_LAMBDAS, target)
    margins = {
        "raw": sweep[0],
        "steered": sweep[PAPER_LAMBDAS.index(DEFAULT_LAMBDA)],
        "exclusion": scores.exclusion(negated, distractor) - scores.exclusion(negated, target),
    }
    wanted = (scores.steered(affirmative, [0.0], distractor) - scores.steered(affirmative, [0.0], target))[0]
    columns = [scores.vocabulary.index(pair.negative) for pair in made]
    rises = scores.evidence[distractor, columns] - scores.evidence[target, columns]
    result: Record = {
        "pairs": len(made),
        "negated margin": _recorded({name: measured(margin, seed) for name, margin in margins.items()}),
        "target preferred": _recorded({name: measured(margin < 0, seed) for name, margin in margins.items()}),
        "affirmative margin": measured(wanted, seed).record(),
        "margin correlation": _correlation(margins["raw"], wanted),
        "presence of Y higher where Y is": measured(rises > 0, seed).record(),
        "sweep target preferred": {
            str(strength): measured(margin < 0, seed).record()
            for strength, margin in zip(PAPER_LAMBDAS, sweep, strict=True)
        },
    }
    rows = [
        {**text, "margins": {name: round(float(margin[place]), 6) for name, margin in margins.items()}}
        for place, text in enumerate(texts)
    ]
    return result, rows


def _correlation(first: NDArray[np.float64], second: NDArray[np.float64]) -> float | None:
    """Pearson's r; None for fewer than three pairs, of which any two lie on a line, and where one side is constant."""
    if len(first) < 3 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return round(float(np.corrcoef(first, second)[0, 1]), 6)


def _pair_texts(pair: ControlledPair) -> dict[str, str]:
    both = listed(pair.positives)
    return {
        "query": f"{both}, with no {pair.negative}",
        "affirmative": f"{both}, with {pair.negative}",
        "oracle": both,
    }


def text_side(scores: CandidateScores, made: Sequence[ControlledPair], seed: int) -> Record:
    """Tables IV and V: what the text encoder does with "no", over the queries of the pairs.

    A single pair has no other query to be its unrelated one, so its normalised affinity is None.
    """
    rng = np.random.default_rng(seed)
    others = (np.arange(len(made)) + rng.integers(1, max(2, len(made)), size=len(made))) % max(1, len(made))
    columns: dict[str, list[str]] = {}
    for place, pair in enumerate(made):
        (first, second), negative = pair.positives, pair.negative
        names = (first, second, negative)
        swapped = next(name for name in [pair.filler, *scores.vocabulary] if name not in names)
        texts = _pair_texts(pair)
        for name, text in {
            "query": texts["query"],
            "affirmative": texts["affirmative"],
            "paraphrase": f"{listed((second, first))}, without {negative}",
            "swap": f"{listed((swapped, second))}, with no {negative}",
            "unrelated": _pair_texts(made[others[place]])["query"],
            "bag": ", ".join(names),
            "scope 1": f"{listed((second, negative))}, with no {first}",
            "scope 2": f"{listed((first, negative))}, with no {second}",
        }.items():
            columns.setdefault(name, []).append(text)
    vectors = {name: scores.embed(texts).astype(np.float64) for name, texts in columns.items()}

    def similar(first: str, second: str) -> NDArray[np.float64]:
        return np.einsum("md,md->m", vectors[first], vectors[second])

    cosines = {name: similar("query", name) for name in vectors if name != "query"}
    scope = (similar("query", "scope 1") + similar("query", "scope 2") + similar("scope 1", "scope 2")) / 3
    means = {name: float(values.mean()) for name, values in cosines.items()}
    alone = len(made) < 2
    affinities = [
        None if alone else normalised_affinity(a, p, u)
        for a, p, u in zip(cosines["affirmative"], cosines["paraphrase"], cosines["unrelated"], strict=True)
    ]
    affinity = None if alone else normalised_affinity(means["affirmative"], means["paraphrase"], means["unrelated"])
    ratios = [polarity_content_ratio(a, s) for a, s in zip(cosines["affirmative"], cosines["swap"], strict=True)]
    return {
        "normalised affinity, of means": _rounded(affinity),
        "normalised affinity, median": _rounded(_median(affinities)),
        "polarity/content, of means": _rounded(polarity_content_ratio(means["affirmative"], means["swap"])),
        "polarity/content, median": _rounded(_median(ratios)),
        "scope permutation": measured(scope, seed).record(),
        "content swap": measured(cosines["swap"], seed).record(),
        "bag of concepts": measured(cosines["bag"], seed).record(),
    }


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), 6)
