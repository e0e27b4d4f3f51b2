"""The whole benchmark over one collection and one encoder."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np

from backend.audio import HOP_SECONDS, WINDOW_SECONDS, load_clip
from backend.benchmarks.negeval import DEFAULT_CLIPS, DEFAULT_PAIRS, tasks
from backend.benchmarks.negeval.concepts import absent_concepts, present_concepts
from backend.benchmarks.negeval.items import ClipConcepts, Question, RetrievalItem, questions, retrieval_items
from backend.benchmarks.negeval.measures import RESAMPLES
from backend.benchmarks.negeval.pairs import (
    ControlledPair,
    Filler,
    PairRenderer,
    Side,
    controlled_pairs,
    single_sources,
)
from backend.benchmarks.negeval.scores import CandidateScores
from backend.benchmarks.negeval.sizes import check_enough, few_pairs, named_sounds, shortfalls
from backend.benchmarks.negeval.wording import listed
from backend.checks import DEFAULT_SEED
from backend.collections.collection import Collection, EmbeddedCollection, Item
from backend.collections.store import Progress, embed_collection, embed_keyed, embedded, embedding_store
from backend.encoders.base import Encoder
from backend.encoders.prompts import concept_prompt
from backend.errors import InputError
from backend.files import sha256_of
from backend.reports.provenance import provenance
from backend.retrieval.exclusion import EXCLUSION
from backend.retrieval.presence import PRESENCE, Calibration, background_texts, calibrate, clip_evidence
from backend.retrieval.steering import PAPER_LAMBDAS

SIDES: tuple[Side, Side] = ("target", "distractor")
ESC_NAME = re.compile(r"(?:^|/)(\d)-\d+-[A-Z][^/]*$")
"""ESC-50's file names begin with the fold."""


@dataclass(frozen=True)
class Options:
    """What is run.

    Attributes
    ----------
    pairs : int
        Controlled pairs; 0 leaves them and the tasks over their mixtures out.
    filler : "matched" or "any"
        Whether a filler has the coarse kind of the negated sound, as the paper asks.
    folds : tuple of int
        ESC layouts only: report on these folds, calibrate on the others. Empty: all clips, calibrated on themselves.
    clips : int
        At most this many clips give queries and questions (drawn with the seed); all are candidates.
    seed : int
    """

    pairs: int = DEFAULT_PAIRS
    filler: Filler = "matched"
    folds: tuple[int, ...] = ()
    clips: int = DEFAULT_CLIPS
    seed: int = DEFAULT_SEED


@dataclass(frozen=True, eq=False)
class CandidateSet:
    """The items of one set of candidates, and what every scorer chose."""

    name: str
    retrieval: tuple[RetrievalItem, ...]
    questions: tuple[Question, ...]
    concepts: tuple[ClipConcepts, ...]
    chosen: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Result:
    """``summary`` is what negeval.json holds; the rest becomes the item lists."""

    summary: dict[str, Any]
    sets: tuple[CandidateSet, ...]
    pairs: tuple[dict[str, Any], ...] = field(default=())

    def record(self) -> dict[str, Any]:
        """What made the numbers, and every number: the object of negeval.json."""
        return self.summary


def run(collection: Collection, encoder: Encoder, options: Options, progress: Progress | None = None) -> Result:
    """Build every item, score it raw, steered and by exclusion, and sum up.

    Raises
    ------
    InputError
        The collection names no sounds, has fewer than two usable clips, no clip of the folds asked for, or
        so few different sounds that no table can be filled.
    """
    items, reference = _split(collection, options.folds)
    vocabulary = named_sounds(collection)
    check_enough(collection.name, len(items), collection.skipped)
    whole = Collection(collection.name, collection.layout, items, collection.skipped)
    clips = embed_collection(whole, encoder, progress=progress)
    check_enough(collection.name, len(clips), clips.skipped)
    calibrations = None
    if reference:
        others = Collection(collection.name + " others", collection.layout, reference)
        calibrations = usual_levels(embed_collection(others, encoder, progress=progress), encoder, vocabulary)
    record = _provenance(collection, clips, encoder, options)
    known = {item.id: item for item in items}
    own, section = candidate_set(
        "clips",
        CandidateScores(clips, encoder, vocabulary, calibrations=calibrations),
        [(known[clip_id].caption, present_concepts(known[clip_id]), known[clip_id].captions) for clip_id in clips.ids],
        options,
    )
    record["clips"] = section
    record["notes"] += shortfalls(section, vocabulary)
    if not options.pairs:
        return _useful(record, (own,))
    usable = [known[clip_id] for clip_id in clips.ids]
    try:
        mixed, pair_record, rows, mixtures = _pair_tasks(usable, reference, encoder, vocabulary, options, progress)
    except InputError as error:
        record["notes"].append(f"No controlled pairs. {error}")
        return _useful(record, (own,))
    record["notes"] += few_pairs(options.pairs)
    record["mixtures"] = mixtures
    record["controlled pairs"] = pair_record
    return Result(record, (own, mixed), rows)


def _useful(record: dict[str, Any], sets: tuple[CandidateSet, ...]) -> Result:
    """The result, refused when nothing could be measured."""
    if not any(one.retrieval or one.questions for one in sets):
        needed = " ".join(record["notes"])
        raise InputError(f"{record['collection']['name']} is too small for the benchmark. {needed}", concerns="file")
    return Result(record, sets)


def _split(collection: Collection, folds: Sequence[int]) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    if not folds:
        return collection.items, ()
    chosen: list[Item] = []
    others: list[Item] = []
    for item in collection.items:
        match = ESC_NAME.search(item.id)
        if match is None:
            raise InputError(f"{collection.name} has no folds: {item.id!r} is not an ESC file name. Leave --folds out.")
        (chosen if int(match[1]) in folds else others).append(item)
    if not chosen:
        raise InputError(f"{collection.name} has no clip in the folds {', '.join(map(str, folds))}; ESC has 1 to 5.")
    return tuple(chosen), tuple(others)


def _provenance(
    collection: Collection, clips: EmbeddedCollection, encoder: Encoder, options: Options
) -> dict[str, Any]:
    made_by = provenance(encoder.id, encoder.weights, options.seed)
    return {
        "version": made_by["version"],
        "provenance": made_by,
        "encoder": {"id": encoder.id, "weights": encoder.weights},
        "collection": {
            "name": collection.name,
            "layout": collection.layout,
            "clips": len(clips),
            "labelled": clips.is_labelled,
            "skipped": [asdict(skipped) for skipped in clips.skipped],
        },
        "options": asdict(options),
        "bootstrap": {"resamples": RESAMPLES, "interval": "percentile 95 %", "seed": options.seed},
        "lambdas": list(PAPER_LAMBDAS),
        "presence": asdict(PRESENCE),
        "exclusion": asdict(EXCLUSION),
        "calibrated on": f"folds other than {options.folds}"
        if options.folds
        else "the candidates themselves, without labels",
        "notes": [],
    }


def usual_levels(reference: EmbeddedCollection, encoder: Encoder, vocabulary: Sequence[str]) -> tuple[Calibration, ...]:
    """Each concept's usual level across reference clips (their labels are not looked at)."""
    prompts = encoder.embed_text([concept_prompt(name) for name in vocabulary])
    background = reference.background(background_texts(encoder))
    evidence = clip_evidence(reference.windows, reference.offsets, prompts, background)
    return calibrate(evidence, background.typical)


def candidate_set(
    name: str,
    scores: CandidateScores,
    described: Sequence[tuple[str, tuple[str, ...], tuple[str, ...]]],
    options: Options,
) -> tuple[CandidateSet, dict[str, Any]]:
    """Items for one set of candidates, each described by caption, P and all its captions; and their sums."""
    rng = np.random.default_rng(options.seed)
    concepts = []
    for index, (caption, present, captions) in enumerate(described):
        absent = absent_concepts(present, scores.vocabulary, rng, captions) if present else ()
        concepts.append(ClipConcepts(index, scores.collection.ids[index], caption or listed(present), present, absent))
    asked = [concepts[place] for place in sorted(rng.permutation(len(concepts))[: options.clips])]
    chosen_ids = {one.index for one in asked}
    queries = tuple(item for item in retrieval_items(concepts, rng) if item.clip in chosen_ids)
    asked_questions = questions(asked, rng)
    section: dict[str, Any] = {"retrieval": tasks.retrieval(scores, queries, options.seed)} if queries else {}
    chosen: dict[str, Any] = {}
    if asked_questions:
        section["multiple choice"], chosen = tasks.multiple_choice(scores, asked_questions, options.seed)
    return CandidateSet(name, queries, asked_questions, tuple(concepts), chosen), section


def embedded_pairs(
    items: Sequence[Item],
    made: Sequence[ControlledPair],
    encoder: Encoder,
    progress: Progress | None = None,
    decoded: Callable[[Item], Any] | None = None,
) -> EmbeddedCollection:
    """The rendered pairs, embedded: clip 2i is the target of pair i, clip 2i + 1 its distractor."""
    by_id = {item.id: item for item in items}
    decode = decoded or (lambda item: load_clip(item.path, shorten=True))
    renderer = PairRenderer(lambda clip_id: decode(by_id[clip_id]))
    used = {name for pair in made for name in (*pair.positive_ids, pair.negative_id, pair.filler_id)}
    digests = {name: sha256_of(by_id[name].path)[:12] for name in sorted(used)}

    def key(pair: ControlledPair, side: Side) -> str:
        return pair.key(side, "".join(digests[n] for n in (*pair.positive_ids, pair.negative_id, pair.filler_id)))

    rendered = {key(pair, side): partial(renderer.clip, pair, side) for pair in made for side in SIDES}
    sounds = [
        Item(
            f"pair-{pair.number}-{side}",
            by_id[pair.positive_ids[0]].path,
            listed(sorted(pair.sounds(side))),
            pair.sounds(side),
        )
        for pair in made
        for side in SIDES
    ]
    store = embedding_store(encoder, "pairs", [*sorted(rendered)[:1], str(len(rendered))], WINDOW_SECONDS, HOP_SECONDS)
    keys = [key(pair, side) for pair in made for side in SIDES]
    arrays, _ = embed_keyed(store, encoder, keys, lambda name: rendered[name](), progress=progress)
    return embedded("pairs", encoder, sounds, arrays, WINDOW_SECONDS)


def _pair_tasks(
    items: Sequence[Item],
    reference: Sequence[Item],
    encoder: Encoder,
    vocabulary: Sequence[str],
    options: Options,
    progress: Progress | None,
) -> tuple[CandidateSet, dict[str, Any], tuple[dict[str, Any], ...], dict[str, Any]]:
    rng = np.random.default_rng(options.seed + 1)
    made = controlled_pairs(single_sources(items), options.pairs, rng, options.filler)
    clips = embedded_pairs(items, made, encoder, progress)
    calibrations = None
    if reference:
        others = controlled_pairs(single_sources(reference), max(50, options.pairs // 4), rng, options.filler)
        calibrations = usual_levels(embedded_pairs(reference, others, encoder, progress), encoder, vocabulary)
    scores = CandidateScores(clips, encoder, vocabulary, calibrations=calibrations)
    described = [(caption, labels, ()) for caption, labels in zip(clips.captions, clips.labels, strict=True)]
    mixed, section = candidate_set("mixtures", scores, described, options)
    record, scored = tasks.pairs(scores, made, options.seed)
    record["text side"] = tasks.text_side(scores, made, options.seed)
    rows = tuple({**asdict(pair), **row} for pair, row in zip(made, scored, strict=True))
    return mixed, record, rows, section
