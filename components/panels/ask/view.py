"""What the Ask board shows, as one JSON-able value built from backend rankings. No state, no events."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from backend.retrieval.ranking import DEFAULT_HITS, Ranking, lambda_curve, rank
from backend.retrieval.scoring import SCORERS, QueryScores, Scorer
from backend.retrieval.steering import PAPER_LAMBDAS
from components.panels.ask.collection import playable
from components.widgets.numbers import signed

TITLES: dict[Scorer, tuple[str, str]] = {
    "raw": ("Raw", "the query as typed, cosine"),
    "steered": ("Steered", "e_C − λ e_neg, cosine"),
    "exclusion": ("Exclusion", "absence as logic, log-probability"),
}


@dataclass(frozen=True, eq=False)
class AskResult:
    """One query's three rankings over the same clips, and the scores of the labelled clips alone for the curve."""

    scores: QueryScores
    labelled: QueryScores
    strength: float

    def rankings(self) -> tuple[Ranking, ...]:
        """Raw, steered, exclusion."""
        return tuple(rank(self.scores, scorer, self.strength) for scorer in SCORERS)


def board_value(asked: AskResult, pinned: AskResult | None) -> dict[str, Any]:
    """The board: columns, curve, pinned result."""
    rankings = asked.rankings()
    return {
        "k": DEFAULT_HITS,
        "lambda": asked.strength,
        "size": len(asked.scores.collection),
        "forbidden": list(asked.scores.query.absent),
        "columns": [_column(ranking, rankings) for ranking in rankings],
        "curve": _curve(asked),
        "pinned": None if pinned is None else _summary(pinned),
        "current": _summary(asked),
    }


def _column(ranking: Ranking, rankings: tuple[Ranking, ...]) -> dict[str, Any]:
    title, formula = TITLES[ranking.scorer]
    collection, hits = ranking.scores.collection, ranking.hits(DEFAULT_HITS)
    presence = ranking.scores.presence()
    concepts = ranking.scores.phrases
    ranks = {other.scorer: other.ranks for other in rankings if other.scorer != ranking.scorer}
    return {
        "scorer": ranking.scorer,
        "title": title,
        "formula": formula.replace("λ", f"{ranking.strength:.2f}") if ranking.scorer == "steered" else formula,
        "said": count_sentence(ranking),
        "rows": [
            {
                "index": hit.index,
                "caption": collection.captions[hit.index] or hit.id,
                "url": playable(collection, hit.index),
                "rank": hit.rank,
                "score": signed(hit.score),
                "elsewhere": [
                    {"scorer": scorer, "title": TITLES[scorer][0], "rank": int(other[hit.index])}
                    for scorer, other in ranks.items()
                ],
                "violates": hit.violates,
                "answers": hit.answers,
                "presence": ", ".join(
                    f"{concept} {share:.2f}" for concept, share in zip(concepts, presence[hit.index], strict=True)
                ),
                "labels": list(collection.labels[hit.index]),
                "own": hit.id.startswith("own-"),
            }
            for hit in hits
        ],
    }


def count_sentence(ranking: Ranking) -> str:
    """ "3 of 10 break the query", and what the labels cannot say."""
    if not ranking.scores.query.negatives:
        return "nothing is forbidden"
    hits = ranking.hits(DEFAULT_HITS)
    broken, unknown = sum(hit.violates is True for hit in hits), sum(hit.violates is None for hit in hits)
    if unknown == len(hits):
        return "no label names the forbidden sound"
    said = f"{broken} of {len(hits)} break{'s' if broken == 1 else ''} the query"
    return f"{said}, {unknown} without labels" if unknown else said


def _curve(asked: AskResult) -> dict[str, Any]:
    curve = lambda_curve(asked.labelled, DEFAULT_HITS)
    exclusion = rank(asked.labelled, "exclusion")
    return {
        "lambdas": list(PAPER_LAMBDAS),
        "violations": list(curve.violations),
        "recall": list(curve.recall),
        "exclusion": {"violations": exclusion.violations(DEFAULT_HITS), "recall": exclusion.recall(DEFAULT_HITS)},
    }


def _summary(asked: AskResult) -> dict[str, Any]:
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
            for ranking in asked.rankings()
        ],
    }


def _shown(share: float | None) -> str:
    return "–" if share is None else f"{share:.2f}"


def headline(asked: AskResult) -> str:
    """The plain sentence the result opens with, as HTML."""
    if not asked.scores.query.absent:
        return '<p class="headline">The query forbids nothing, so raw and steered agree. Add a “no …” to part them.</p>'
    rankings = asked.rankings()
    known = [[hit.violates for hit in ranking.hits(DEFAULT_HITS)] for ranking in rankings]
    forbidden = " or ".join(f'<span class="concept absent">{escape(text)}</span>' for text in asked.scores.query.absent)
    if any(flag is None for flags in known for flag in flags) and not any(True in flags for flags in known):
        return f'<p class="headline">No label of this collection names {forbidden}; check the hits by ear.</p>'
    raw, steered, exclusion = (flags.count(True) for flags in known)
    return (
        f'<p class="headline">Of the first {DEFAULT_HITS} clips, <b>{raw}</b> contain {forbidden} when the encoder '
        f"reads the query itself, <b>{steered}</b> after steering by λ = {asked.strength:.2f}, <b>{exclusion}</b> when "
        f"absence is treated as logic.{_found(rankings)}</p>"
    )


def _found(rankings: tuple[Ranking, ...]) -> str:
    """How many of the clips that answer the query are found: shunning everything is no success."""
    right = int((rankings[0].scores.answers == 1).sum())
    if not right:
        return " No clip answers the query in full."
    found = [sum(hit.answers is True for hit in ranking.hits(DEFAULT_HITS)) for ranking in rankings]
    clips = "The one clip that answers it is" if right == 1 else f"Of the {right} clips that answer it, these hold"
    if right == 1:
        places = [title for (title, _), count in zip(TITLES.values(), found, strict=True) if count]
        return f" {clips} among them in {', '.join(places).lower()}." if places else f" {clips} in none of them."
    return f" {clips} {found[0]}, {found[1]} and {found[2]}."


def how_computed(asked: AskResult, version: str) -> str:
    """How the result was computed, folded away, as HTML."""
    scores = asked.scores
    unknown = [text for text, known in zip(scores.phrases, scores.known, strict=True) if not known]
    said = f"<li>Unknown to the encoder, so neutral in exclusion: {escape(', '.join(unknown))}.</li>" if unknown else ""
    return (
        '<details class="how"><summary>How this was computed</summary><ul>'
        f"<li>Encoder {escape(scores.encoder_id)}, weights {escape(scores.weights)}, version {escape(version)}; "
        f"{len(scores.collection)} clips of “{escape(scores.collection.name)}”.</li>"
        "<li>Raw: cosine of the text as typed with the whole clip. Steered: cosine with e_C − λ e_neg (negation paper, "
        "section IV), every λ from three dot products per clip.</li>"
        "<li>Exclusion (own choice): each sound's best windows, compared with a background vocabulary and with the "
        "other clips; log-probability of presence for what should be heard plus log-probability of absence for what "
        "should not.</li>"
        "<li>“!” marks a clip whose labels name the forbidden sound. A clip without labels is never marked. Recall: "
        f"share of all clips that answer the query which are among the first {DEFAULT_HITS}.</li>{said}</ul></details>"
    )
