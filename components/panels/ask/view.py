"""What the Ask board shows, as one JSON-able value built from backend rankings. No state, no events."""

from __future__ import annotations

from typing import Any

from backend.retrieval.ranking import DEFAULT_HITS, Ranking
from backend.retrieval.scoring import Scorer
from backend.retrieval.search import SearchResult
from components.panels.ask.collection import is_own, playable
from components.widgets.markup import concept, how_list
from components.widgets.numbers import signed

TITLES: dict[Scorer, tuple[str, str]] = {
    "raw": ("Raw", "the query as typed, cosine"),
    "steered": ("Steered", "e_C − λ e_neg, cosine"),
    "exclusion": ("Exclusion", "absence as logic, log-probability"),
}


def board_value(asked: SearchResult, pinned: SearchResult | None) -> dict[str, Any]:
    """The board: columns, curve, pinned result."""
    return {
        "k": DEFAULT_HITS,
        "lambda": asked.strength,
        "size": len(asked.scores.collection),
        "forbidden": list(asked.scores.query.absent),
        "columns": [_column(asked, ranking) for ranking in asked.rankings],
        "curve": _curve(asked),
        "pinned": None if pinned is None else _summary(pinned),
        "current": _summary(asked),
    }


def _column(asked: SearchResult, ranking: Ranking) -> dict[str, Any]:
    title, formula = TITLES[ranking.scorer]
    counts = ranking.counts(DEFAULT_HITS)
    judged = bool(asked.scores.query.negatives) and counts.unjudged != counts.hits
    return {
        "scorer": ranking.scorer,
        "title": title,
        "formula": formula.replace("λ", f"{ranking.strength:.2f}") if ranking.scorer == "steered" else formula,
        "said": count_sentence(ranking),
        "short": f"{counts.violating} of {counts.hits}" if judged else "",
        "broken": judged and bool(counts.violating),
        "rows": [
            {
                "index": full.hit.index,
                "caption": full.caption or full.hit.id,
                "url": playable(asked.scores.collection, full.hit.index),
                "rank": full.hit.rank,
                "score": signed(full.hit.score),
                "elsewhere": [
                    {"scorer": scorer, "title": TITLES[scorer][0], "rank": rank}
                    for scorer, rank in full.ranks.items()
                    if scorer != ranking.scorer
                ],
                "violates": full.hit.violates,
                "answers": full.hit.answers,
                "presence": ", ".join(f"{concept} {share:.2f}" for concept, share in full.presence),
                "labels": list(full.labels),
                "own": is_own(full.hit.id),
            }
            for full in asked.hits_in_full(ranking.scorer, DEFAULT_HITS)
        ],
    }


def count_sentence(ranking: Ranking) -> str:
    """ "3 of 10 break the query", and what the labels cannot say."""
    if not ranking.scores.query.negatives:
        return "nothing is forbidden"
    counts = ranking.counts(DEFAULT_HITS)
    if counts.unjudged == counts.hits:
        return "no label names the forbidden sound"
    said = f"{counts.violating} of {counts.hits} break{'s' if counts.violating == 1 else ''} the query"
    return f"{said}, {counts.unjudged} without labels" if counts.unjudged else said


def _curve(asked: SearchResult) -> dict[str, Any]:
    curve = asked.curve(DEFAULT_HITS)
    violations, recall = asked.by_exclusion(DEFAULT_HITS)
    return {
        "lambdas": list(curve.lambdas),
        "violations": list(curve.violations),
        "recall": list(curve.recall),
        "exclusion": {"violations": violations, "recall": recall},
    }


def _summary(asked: SearchResult) -> dict[str, Any]:
    """A result in one line: its query and each scorer's count."""
    return {
        "query": asked.scores.query.text,
        "present": list(asked.scores.query.present),
        "absent": list(asked.scores.query.absent),
        "counts": [
            {
                "title": TITLES[ranking.scorer][0],
                "said": count_sentence(ranking),
                "recall": _shown(ranking.recall(DEFAULT_HITS)),
            }
            for ranking in asked.rankings
        ],
    }


def _shown(share: float | None) -> str:
    return "–" if share is None else f"{share:.2f}"


def headline(asked: SearchResult) -> str:
    """The plain sentence the result opens with, as HTML."""
    if not asked.scores.query.absent:
        return '<p class="headline">The query forbids nothing, so raw and steered agree. Add a “no …” to part them.</p>'
    forbidden = " or ".join(concept(text, "absent") for text in asked.scores.query.absent)
    if asked.is_silent(DEFAULT_HITS):
        return f'<p class="headline">No label of this collection names {forbidden}; check the hits by ear.</p>'
    raw, steered, exclusion = (ranking.counts(DEFAULT_HITS).violating for ranking in asked.rankings)
    return (
        f'<p class="headline">Of the first {DEFAULT_HITS} clips, <b>{raw}</b> contain {forbidden} when the encoder '
        f"reads the query itself, <b>{steered}</b> after steering by λ = {asked.strength:.2f}, <b>{exclusion}</b> when "
        f"absence is treated as logic.{_found(asked)}</p>"
    )


def _found(asked: SearchResult) -> str:
    """How many of the clips that answer the query are found: shunning everything is no success."""
    right = asked.answering
    if not right:
        return " No clip answers the query in full."
    found = {ranking.scorer: ranking.counts(DEFAULT_HITS).answering for ranking in asked.rankings}
    if right == 1:
        places = [TITLES[scorer][0].lower() for scorer, count in found.items() if count]
        among = f"among them in {', '.join(places)}" if places else "in none of them"
        return f" The one clip that answers it is {among}."
    raw, steered, exclusion = found.values()
    return f" Of the {right} clips that answer it, these hold {raw}, {steered} and {exclusion}."


def how_computed(asked: SearchResult) -> str:
    """How the result was computed, folded away, as HTML."""
    scores = asked.scores
    made_by = asked.record("exclusion", DEFAULT_HITS)["provenance"]
    lines = [
        f"Encoder {made_by['encoder']}, weights {made_by['weights']}, version {made_by['version']}; "
        f"{len(scores.collection)} clips of “{scores.collection.name}”.",
        "Raw: cosine of the text as typed with the whole clip. Steered: cosine with e_C − λ e_neg (negation paper, "
        "section IV), every λ from three dot products per clip.",
        "Exclusion (own choice): each sound's best windows, compared with a background vocabulary and with the "
        "other clips; log-probability of presence for what should be heard plus log-probability of absence for what "
        "should not.",
        "“!” marks a clip whose labels name the forbidden sound. A clip without labels is never marked. Recall: "
        f"share of all clips that answer the query which are among the first {DEFAULT_HITS}.",
    ]
    if asked.unknown:
        lines.append(f"Unknown to the encoder, so neutral in exclusion: {', '.join(asked.unknown)}.")
    return how_list(lines)
