"""What the Steer panel says: sentences and the editable lines from a diagnosis. No state, no events."""

from __future__ import annotations

from html import escape
from typing import Any

from backend.retrieval.diagnosis import Diagnosis
from components.widgets.numbers import signed

TITLES = {
    "query": ("Query", "as the encoder gets it"),
    "affirmative": ("Opposite", "the same sounds, all present"),
    "paraphrase": ("Paraphrase", "the same meaning in other words"),
    "swap": ("Other sound", "one sound replaced"),
    "unrelated": ("Unrelated", "about something else"),
    "bag": ("Bag of words", "the sounds without any “no”"),
}


def headline(diagnosis: Diagnosis) -> str:
    """The plain sentence the result opens with, as HTML."""
    opposite, paraphrase = diagnosis.similarity["affirmative"], diagnosis.similarity["paraphrase"]
    closer = "closer to the query than" if opposite >= paraphrase else "almost as close to the query as"
    if opposite < paraphrase - 0.2:
        closer = "further from the query than"
    first = (
        f"The opposite, “{escape(diagnosis.relatives.affirmative)}”, is {closer} its paraphrase: "
        f"cosine {signed(opposite)} against {signed(paraphrase)}."
    )
    ratio = diagnosis.polarity_content
    second = ""
    if ratio is not None and ratio < 1:
        second = f" Turning “no” into “with” moves the text {ratio:.2f} times as far as naming another sound does."
    elif ratio is not None:
        second = (
            f" Turning “no” into “with” moves the text {ratio:.2f} times as far as naming another sound: "
            "this encoder notices."
        )
    return f'<p class="headline">{first}{second}</p>'


def steering_sentence(diagnosis: Diagnosis, lam: float, with_negative: float, with_query: float) -> str:
    """What steering by ``lam`` does to this query, as HTML."""
    negated = " / ".join(escape(text) for text in diagnosis.relatives.negated)
    cosine = diagnosis.plane.cosine
    needed = (
        f"Only at λ = {cosine:.2f} would that cosine be zero, and beyond it the query points away from the sound."
        if cosine > 0
        else "The query does not lean towards the sound in the first place."
    )
    return (
        f'<p class="headline">Steered by λ = {lam:.2f}, the query still has cosine {signed(with_negative)} with '
        f'<span class="concept absent">{negated}</span> (unsteered {signed(cosine)}) and {signed(with_query)} with '
        f"itself. {needed}</p>"
    )


def lines_value(diagnosis: Diagnosis) -> dict[str, Any]:
    """What the line editor shows: every relative with its meaning, its text and its cosine with the query."""
    negated_once = {
        f"scope {place + 1}": (f"Scope {place + 1}", "only one sound negated")
        for place in range(len(diagnosis.relatives.scopes))
    }
    titles = {**TITLES, **negated_once}
    return {
        "lines": [
            {
                "name": name,
                "title": titles[name][0],
                "meaning": titles[name][1],
                "text": text,
                "cosine": round(diagnosis.similarity[name], 3),
            }
            for name, text in diagnosis.relatives.lines()
        ]
    }


def how_computed(diagnosis: Diagnosis, seed: int) -> str:
    """How the result was computed, folded away, as HTML."""
    plane = diagnosis.plane
    rows = "".join(
        f"<tr><th>{lam:g}</th><td>{signed(negative)}</td><td>{signed(query)}</td></tr>"
        for lam, negative, query in zip(plane.lambdas, plane.with_negative, plane.with_query, strict=True)
    )
    return (
        '<details class="how"><summary>How this was computed</summary><ul>'
        f"<li>Encoder {escape(diagnosis.encoder_id)}, weights {escape(diagnosis.weights)}, "
        f"version {diagnosis.version}; text only, no audio. Cosines of L2-normalised text embeddings.</li>"
        f"<li>Relatives by rule (negation paper, appendix A); other sounds drawn with seed {seed} from the "
        "background vocabulary. Every line can be edited; edits are not part of the link.</li>"
        "<li>Normalised affinity = (s(q, opposite) − s(q, unrelated)) / (s(q, paraphrase) − s(q, unrelated)); "
        "polarity / content = (1 − s(q, opposite)) / (1 − s(q, other sound)); scope permutation = mean pairwise "
        "cosine of the scope variants.</li>"
        "<li>The picture is the plane of e_C (the query) and e_neg (mean of the negated sounds). The path "
        "e* = e_C − λ e_neg never leaves it: cos(e*, e_neg) = (c − λ) / √(1 − 2λc + λ²). Relatives lie outside the "
        "plane; their projections are drawn.</li></ul>"
        '<div class="scroll"><table class="numbers"><thead><tr><th>λ</th><th>cos(e*, e_neg)</th><th>cos(e*, e_C)</th>'
        f"</tr></thead><tbody>{rows}</tbody></table></div></details>"
    )
