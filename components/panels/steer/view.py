"""What the Steer panel says: sentences and the editable lines from a diagnosis. No state, no events."""

from __future__ import annotations

from html import escape
from typing import Any

from backend.negation import MAX_CHARACTERS
from backend.reports.steering import figures_chart, plane_chart, shown_figure
from backend.retrieval.diagnosis import Diagnosis, Steered
from backend.retrieval.variants import FIGURES, variant
from components.widgets.markup import Markup, how_list
from components.widgets.numbers import signed
from components.widgets.plotly_chart import chart_place, charts_value
from components.widgets.tables import Row, table

CLOSENESS = {
    "closer": "closer to the query than",
    "almost": "almost as close to the query as",
    "further": "further from the query than",
}

FIGURES_KEY = (
    '<p class="key"><span><i class="dot"></i> this query, this encoder</span>'
    '<span><i class="mean"></i> mean of five LAION-CLAP checkpoints (published)</span></p>'
)


def headline(diagnosis: Diagnosis) -> str:
    """The plain sentence the result opens with, as HTML."""
    opposite, paraphrase = diagnosis.similarity["affirmative"], diagnosis.similarity["paraphrase"]
    first = (
        f"The opposite, “{escape(diagnosis.relatives.affirmative)}”, is {CLOSENESS[diagnosis.closeness]} its "
        f"paraphrase: cosine {signed(opposite)} against {signed(paraphrase)}."
    )
    second = ""
    if diagnosis.polarity_content is not None:
        ends = ": this encoder notices." if diagnosis.notices else " does."
        second = (
            f" Turning “no” into “with” moves the text {diagnosis.polarity_content:.2f} times as far as naming another "
            f"sound{ends}"
        )
    return f'<p class="headline">{first}{second}</p>'


def steering_sentence(diagnosis: Diagnosis, steered: Steered) -> str:
    """What steering by one strength does to this query, as HTML."""
    negated = " / ".join(escape(text) for text in diagnosis.relatives.negated)
    plane = diagnosis.plane
    needed = (
        "The query does not lean towards the sound in the first place."
        if plane.orthogonal_at is None
        else f"Only at λ = {plane.orthogonal_at:.2f} would that cosine be zero, and beyond it the query points away "
        "from the sound."
    )
    return (
        f'<p class="headline">Steered by λ = {steered.strength:.2f}, the query still has cosine '
        f'{signed(steered.with_negative)} with <span class="concept absent">{negated}</span> (unsteered '
        f"{signed(plane.cosine)}) and {signed(steered.with_query)} with itself. {needed}</p>"
    )


def plane(diagnosis: Diagnosis, steered: Steered) -> str:
    """The plane of steering, as the value of its chart."""
    chart = plane_chart(diagnosis, steered)
    said = (
        f"Plane of the query and what it negates: cosine {signed(diagnosis.plane.cosine)}. At lambda "
        f"{steered.strength:.2f} the steered query lies at {signed(steered.x, 2)}, {signed(steered.y, 2)}"
    )
    return charts_value(chart_place(chart, said), chart)


def figures(diagnosis: Diagnosis) -> str:
    """Each figure as a dot on a scale beside the published mean, and the same as a table."""
    chart = figures_chart(diagnosis)
    rows = [
        Row(
            Markup(f"{escape(one.title)}<small>{escape(one.meaning)}</small>"),
            (
                Markup(f"<b>{shown_figure(diagnosis.figures[one.name], one.largest)}</b>"),
                f"papers {one.published:.2f}",
            ),
        )
        for one in FIGURES
    ]
    words = f'<div class="figures"><div>{FIGURES_KEY}{chart_place(chart)}</div>{table((), rows)}</div>'
    return charts_value(words, chart)


def lines_value(diagnosis: Diagnosis, query: str) -> dict[str, Any]:
    """What the line editor shows: every relative of a query with its meaning, its text and its cosine with it."""
    return {
        "query": query,
        "lines": [
            {
                "name": name,
                "title": variant(name).title,
                "meaning": variant(name).meaning,
                "text": text,
                "cosine": diagnosis.similarity[name],
            }
            for name, text in diagnosis.relatives.lines()
        ],
        "longest": MAX_CHARACTERS,
    }


def how_computed(diagnosis: Diagnosis) -> str:
    """How the result was computed, folded away, as HTML."""
    plane, made_by = diagnosis.plane, diagnosis.record()["provenance"]
    rows = [
        Row(f"{strength:g}", [signed(negative), signed(query)])
        for strength, negative, query in zip(plane.lambdas, plane.with_negative, plane.with_query, strict=True)
    ]
    lines = (
        f"Encoder {diagnosis.encoder_id}, weights {diagnosis.weights}, version {made_by['version']}; text only, no "
        "audio. Cosines of L2-normalised text embeddings.",
        f"Relatives by rule (negation paper, appendix A); other sounds drawn with seed {made_by['seed']} from the "
        "background vocabulary. Every line can be edited; edits are not part of the link.",
        "Normalised affinity = (s(q, opposite) − s(q, unrelated)) / (s(q, paraphrase) − s(q, unrelated)); "
        "polarity / content = (1 − s(q, opposite)) / (1 − s(q, other sound)); scope permutation = mean pairwise "
        "cosine of the scope variants.",
        "The picture is the plane of e_C (the query) and e_neg (mean of the negated sounds). The path "
        "e* = e_C − λ e_neg never leaves it: cos(e*, e_neg) = (c − λ) / √(1 − 2λc + λ²). Relatives lie outside the "
        "plane; their projections are drawn.",
    )
    return how_list(lines, table(("λ", "cos(e*, e_neg)", "cos(e*, e_C)"), rows))
