"""Which training-free form of exclusion works best: alternatives on ESC-10 folds 1-3, the chosen one on folds 4-5.

``python -m tests.bench.bench_exclusion ESC10_FOLDER``            compare forms on folds 1-3
``python -m tests.bench.bench_exclusion ESC10_FOLDER --report``   the form in use, on folds 4-5, calibrated on folds 1-3

Findings on folds 1-3: pocket a835215a45f0, 200 pairs a set, fillers matched / any. "Y higher" is the share of pairs
in which presence of Y is higher where Y is, "preferred" the share whose clip without Y scores higher.

- Comparison within a window: cosine 0.89 / 0.97, z over the background texts 0.91 / 0.96, margin to the best of them
  0.87 / 0.96, competition 0.88 / 0.97 (Y higher): equal within error for this encoder. The competition is kept
  for its questions (MCQ 0.82 / 0.86 against 0.82 / 0.85) and for weaker encoders, where it leads
  (614873fda464: 0.81 / 0.91 against 0.77 / 0.93).
- Pooling: best three 0.88 / 0.97, maximum 0.89 / 0.96, softmax 0.88 / 0.96, mean 0.86 / 0.96 and far worse in retrieval
  (a short sound is diluted); maximum less median 0.67 / 0.74 (a steady sound has no peak).
- The clip's own level: without it 0.87 / 0.95 preferred against 0.82 / 0.92, but R-@1 0.57 / 0.60 against 0.66 / 0.62
  and MCQ 0.80 / 0.83 against 0.82 / 0.86; and one threshold then no longer suits single sounds and mixtures alike.
- Calibration across clips: without it R+@1 falls from 0.66 / 0.64 to 0.57 / 0.58, MCQ from 0.82 / 0.86 to 0.72 / 0.77
  (some texts match everything). Dividing by each concept's spread, and a threshold that splits its clips in two, were
  tried and lost: they take for granted that a sound is about as often there as not, and forbid it where it is rare.
- Form: lower thresholds or more weight on absence buy preference with retrieval and questions. Weight 1 / 2 / 3 / 4 at
  0.2, matched: preferred 0.78 / 0.82 / 0.82 / 0.84, R-@1 0.67 / 0.67 / 0.66 / 0.61, MCQ 0.84 / 0.83 / 0.82 / 0.82;
  any: preferred 0.84 / 0.90 / 0.92 / 0.93. Weight 3 is the most at which Retrieval-Neg stays where the affirmative is.
- Windows embedded alone instead of in one pass, 300 pairs: nothing moves (Y higher 0.89 / 0.96, preferred 0.83 / 0.90
  both ways), so what a window hears beyond its borders is not what limits this.
- Also lost: removing the covariance of texts or windows (whitening), several prompts a concept, windows of 1 or 4 s,
  different slopes for presence and absence. Adding the best-matching windows to the text gains two points, but
  takes a sound that a collection lacks for its nearest neighbour, so it was left out.

Folds 4-5, pocket 2732a8e46088, 500 pairs, calibrated on folds 1-3, matched / any: raw prefers the target in 22 / 15 %,
steered 0.2 in 27 / 27 %, exclusion in 84.0 (80.8-87.2) / 88.8 (86.0-91.4) %; presence of Y alone, which bounds it, is
right in 87.8 / 95.6 %. (a835215a45f0 is the same but for whole clips, which it read at once: raw 24 / 19, steered
30 / 29 %. Exclusion listens to two-second windows, so nothing else moved.)
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray

from backend.audio import Clip, clip_from_samples
from backend.benchmarks.negeval.items import KINDS
from backend.benchmarks.negeval.measures import first_relevant
from backend.benchmarks.negeval.pairs import ControlledPair, controlled_pairs, single_sources
from backend.benchmarks.negeval.report import tables
from backend.benchmarks.negeval.run import CandidateSet, Options, candidate_set, embedded_pairs, run
from backend.benchmarks.negeval.scores import CandidateScores
from backend.collections.collection import EmbeddedCollection, Item
from backend.collections.layouts import open_collection
from backend.encoders.base import Encoder, load_encoder
from backend.encoders.prompts import concept_prompt
from backend.negation import Query
from backend.progress import Progress
from backend.retrieval.exclusion import EXCLUSION, ExclusionParameters
from backend.retrieval.presence import (
    PRESENCE,
    background_of,
    background_texts,
    calibrate,
    calibrated,
    clip_evidence,
    pooled,
    window_evidence,
)

Evidence = NDArray[np.float64]
SCORE_FORMS = (
    EXCLUSION,
    *(replace(EXCLUSION, absence_weight=weight) for weight in (1.0, 2.0, 4.0)),
    replace(EXCLUSION, present_from=0.6, absent_below=0.6),
    replace(EXCLUSION, present_from=-0.2, absent_below=-0.2),
    replace(EXCLUSION, slope=1.5),
    replace(EXCLUSION, slope=4.0),
)
DEVELOPMENT, REPORT = (1, 2, 3), (4, 5)
FILLERS = ("matched", "any")


@dataclass(frozen=True, eq=False)
class Development:
    """One set of controlled pairs of folds 1-3 with its items."""

    filler: str
    pairs: tuple[ControlledPair, ...]
    clips: EmbeddedCollection
    items: CandidateSet
    scores: CandidateScores


def developments(folder: Path, encoder: Encoder, count: int) -> list[Development]:
    """Pairs with matched and with any fillers, their mixtures embedded (and kept in the cache)."""
    collection = open_collection(folder)
    items = [item for item in collection.items if int(Path(item.id).name[0]) in DEVELOPMENT]
    vocabulary = sorted({name for item in collection.items for name in item.labels})
    made = []
    for seed, filler in enumerate(FILLERS):
        pairs = controlled_pairs(single_sources(items), count, np.random.default_rng(seed + 100), filler)  # type: ignore[arg-type]
        clips = embedded_pairs(items, pairs, encoder, decoded=_decoded)
        scores = CandidateScores(clips, encoder, vocabulary)
        described = [(caption, labels, ()) for caption, labels in zip(clips.captions, clips.labels, strict=True)]
        chosen, _ = candidate_set("mixtures", scores, described, Options(clips=250, seed=seed))
        made.append(Development(filler, pairs, clips, chosen, scores))
    return made


def _decoded(item: Item) -> Clip:
    """In this process: the folder is the person's own, and a child process per file would take most of the time."""
    samples, rate = soundfile.read(item.path, dtype="float32")
    return clip_from_samples(samples, rate, name=item.id)


def softmax_pooled(values: Evidence, offsets: NDArray[np.int64], sharpness: float = 2.0) -> Evidence:
    """Log-mean-exp over a clip's windows: between mean and maximum."""
    return np.stack(
        [np.log(np.exp(sharpness * values[start:end]).mean(axis=0)) / sharpness for start, end in pairwise(offsets)]
    )


POOLS: dict[str, Callable[[Evidence, NDArray[np.int64]], Evidence]] = {
    "max": lambda values, offsets: pooled(values, offsets, 1),
    "mean": lambda values, offsets: pooled(values, offsets, 10**6),
    "softmax": softmax_pooled,
    "max - median": lambda values, offsets: (
        pooled(values, offsets, 1) - np.stack([np.median(values[a:b], axis=0) for a, b in pairwise(offsets)])
    ),
}


def evidence_forms(encoder: Encoder, one: Development) -> Iterator[tuple[str, Evidence]]:
    """Evidence made in other ways, brought to the scale of the one in use, which comes first."""
    yield "in use", one.scores.evidence
    texts = background_texts(encoder)
    concepts = encoder.embed_text([concept_prompt(name) for name in one.scores.vocabulary])
    windows, offsets = np.asarray(one.clips.windows), one.clips.offsets
    cosines = (windows @ concepts.T).astype(np.float64)
    everyday = (windows @ texts.T).astype(np.float64)
    spread = everyday.std(axis=1, keepdims=True)
    compared = {
        "cosine": cosines,
        "z over background texts": (cosines - everyday.mean(axis=1, keepdims=True)) / spread,
        "margin to the best background text": (cosines - everyday.max(axis=1, keepdims=True)) / spread,
        "competition": window_evidence(windows, concepts, one.clips.background(texts)),
    }
    for name, values in compared.items():
        yield f"{name}, top 3", levelled(pooled(values, offsets, 3), one.scores.evidence)
    for pool, pooling in POOLS.items():
        yield f"competition, {pool}", levelled(pooling(compared["competition"], offsets), one.scores.evidence)
    for name, parameters in {
        "synonyms compete": replace(PRESENCE, synonym_cosine=2.0),
        "sharpness 1": replace(PRESENCE, sharpness=1.0),
        "sharpness 4": replace(PRESENCE, sharpness=4.0),
        "the clip's own level not used": replace(PRESENCE, own_share=0.0),
        "not calibrated across clips": replace(PRESENCE, prior_clips=1e9),
    }.items():
        background = background_of(windows, offsets, texts, parameters)
        evidence = clip_evidence(windows, offsets, concepts, background, parameters)
        yield name, calibrated(evidence, calibrate(evidence, background.typical, parameters))


def levelled(evidence: Evidence, like: Evidence) -> Evidence:
    """Any evidence with the median and the spread of another, so that one form of score suits both."""
    centred, usual = evidence - np.median(evidence, axis=0), np.median(like, axis=0)
    return centred / centred.std() * (like - usual).std() + usual.mean()


def figures(
    encoder: Encoder, one: Development, evidence: Evidence, parameters: ExclusionParameters
) -> dict[str, float]:
    """What the issue asks for, of one form on one set."""
    scores = CandidateScores(one.clips, encoder, one.scores.vocabulary, parameters=parameters, evidence=evidence)
    return _pair_figures(scores, one) | _item_figures(scores, one)


def _pair_figures(scores: CandidateScores, one: Development) -> dict[str, float]:
    target, distractor = 2 * np.arange(len(one.pairs)), 2 * np.arange(len(one.pairs)) + 1
    negated = [Query.of("", pair.positives, (pair.negative,)) for pair in one.pairs]
    margin = scores.exclusion(negated, distractor) - scores.exclusion(negated, target)
    columns = [scores.vocabulary.index(pair.negative) for pair in one.pairs]
    rises = scores.evidence[distractor, columns] - scores.evidence[target, columns]
    return {
        "Y higher": float(np.mean(rises > 0)),
        "preferred": float(np.mean(margin < 0)),
        "margin": float(margin.mean()),
    }


def _item_figures(scores: CandidateScores, one: Development) -> dict[str, float]:
    items, questions = one.items.retrieval, one.items.questions
    relevant = [item.relevant for item in items]
    plain = first_relevant(scores.exclusion([Query.of("", item.positives) for item in items]), relevant)
    negated = [Query.of("", item.positives, (item.negative,)) for item in items]
    ranks = first_relevant(scores.exclusion(negated), relevant)
    found = {f"R+@{k}": float(np.mean(plain <= k)) for k in (1, 5)} | {
        f"R-@{k}": float(np.mean(ranks <= k)) for k in (1, 5)
    }
    options = [option for question in questions for option in question.options]
    clips = np.repeat([question.clip for question in questions], 4)
    choice = scores.exclusion(options, clips).reshape(-1, 4).argmax(axis=1)
    right = choice == np.array([question.answer for question in questions])
    kinds = np.array([question.kind for question in questions])
    return found | {kind: float(np.mean(right[kinds == kind])) for kind in KINDS} | {"MCQ": float(np.mean(right))}


def show(name: str, sets: list[dict[str, float]]) -> None:
    """One line: each figure for matched / any fillers."""
    cells = [f"{key} {' '.join(f'{one[key]:.3f}' for one in sets)}" for key in sets[0]]
    print(f"{name:<46} {' | '.join(cells)}", flush=True)


def compare(folder: Path, encoder: Encoder, count: int) -> None:
    """All alternatives on folds 1-3."""
    sets = developments(folder, encoder, count)
    print(f"{encoder.id} {encoder.weights}: {count} pairs each, figures for matched and any fillers")
    forms = [dict(evidence_forms(encoder, one)) for one in sets]
    print("\n# Evidence, the form of the score as in use")
    for name in forms[0]:
        show(
            name,
            [figures(encoder, one, parameters[name], EXCLUSION) for one, parameters in zip(sets, forms, strict=True)],
        )
    print("\n# Form of the score, evidence as in use")
    for tried in SCORE_FORMS:
        label = (
            f"slope {tried.slope:g}, {tried.present_from:g} / {tried.absent_below:g}, weight {tried.absence_weight:g}"
        )
        show(label, [figures(encoder, one, one.scores.evidence, tried) for one in sets])


def report(folder: Path, encoder: Encoder, count: int) -> None:
    """The form in use on folds 4-5, calibrated on folds 1-3, with both kinds of fillers."""
    for filler in FILLERS:
        options = Options(pairs=count, filler=filler, folds=REPORT)  # type: ignore[arg-type]
        result = run(open_collection(folder), encoder, options, Progress(lambda step: print(f"\r{step.what}", end="")))
        print(f"\n\nFillers: {filler}\n\n{tables(result.record())}")


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("../shared/esc10"), help="ESC-10")
    parser.add_argument("--encoder", default="pocket")
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    if not arguments.folder.is_dir():
        print(f"ESC-10 is not at {arguments.folder}, so nothing is measured. Name its folder to measure.")
        return
    (report if arguments.report else compare)(arguments.folder, load_encoder(arguments.encoder), arguments.pairs)


if __name__ == "__main__":
    main()
