"""Two encoders side by side on the same clip and query."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape

import gradio as gr

from backend.encoders.base import encoder_list, load_encoder
from backend.errors import InputError
from backend.evidence.agreement import Agreement, Comparison, compare_encoders
from backend.evidence.localization import Localization
from backend.reports.agreement import evidence_chart
from backend.reports.charts import Chart
from components.frame.panel import HEAVY, PRIVATE, Page
from components.frame.turns import Panel
from components.frame.view_state import ViewState
from components.panels.listen.parts import clip_of
from components.panels.listen.state import ListenState
from components.widgets.markup import concept, error_box, how_list
from components.widgets.numbers import signed
from components.widgets.plotly_chart import chart_place, charts_value, plotly_chart
from components.widgets.queries import query_of
from components.widgets.tables import Row, table

EMPTY = '<p class="note">Choose an encoder that is ready: both curves, and whether they agree, appear here.</p>'


def build(page: Page) -> None:
    """An accordion with another encoder to choose and both results; place it in a panel."""
    with gr.Accordion("Compare with another encoder", open=False, elem_id="compare"):
        with gr.Row(elem_classes="ask-row"):
            other = gr.Dropdown(
                other_encoders(), value=None, label="The same clip and query by", scale=4, elem_id="compare-encoder"
            )
            button = gr.Button("Compare", scale=0, min_width=120, elem_id="compare-run")
        result = plotly_chart(EMPTY, elem_id="compare-result")
    Panel([result]).on(button.click, run, [page.view, other], **PRIVATE, **HEAVY)

    def offered(view: ViewState) -> Iterator[gr.Dropdown]:
        yield gr.Dropdown(other_encoders())

    # A download may have made another one ready.
    page.follow_encoder(Panel([other]).entry(offered, [page.view]))


def other_encoders() -> list[str]:
    """Encoders that are ready and have words."""
    return [info.id for info in encoder_list() if info.ready and info.text]


def run(view: ViewState, other: str | None) -> Iterator[str]:
    """Localise with the page's encoder and with ``other``."""
    if not other:
        yield charts_value(error_box("Choose the other encoder first."))
        return
    yield charts_value(f'<p class="note" role="status">Embedding the windows with {escape(other)}…</p>')
    try:
        found = compare_encoders(
            load_encoder(view.encoder),
            load_encoder(other),
            clip_of(view),
            query_of(view).concepts,
            view.panel(ListenState).window,
        )
    except InputError as error:
        yield charts_value(error_box(error))
        return
    yield shown(found)


def shown(found: Comparison) -> str:
    """One sentence a concept, both curves, the numbers, and how they were made, as the value of the charts."""
    sentences = "".join(f'<p class="headline">{sentence(agreement, found)}</p>' for agreement in found.agreements)
    sides = (found.first, found.second)
    charts = [evidence_chart(side, key) for side, key in zip(sides, ("first", "second"), strict=True)]
    figures = "".join(figure(side, chart) for side, chart in zip(sides, charts, strict=True))
    lines = (
        f"{found.first.encoder_id}, weights {found.first.weights}; {found.second.encoder_id}, weights "
        f"{found.second.weights}; the same windows of {found.first.windows.length:.2f} s, hop "
        f"{found.first.windows.hop:.2f} s.",
        "Cosines of two encoders have different scales: each curve is drawn between its own lowest and highest "
        "value. SD is above the mean of everyday sounds in the same window. Rank correlation is Spearman's over the "
        "windows.",
    )
    return charts_value(
        f'<div class="result">{sentences}<div class="side-by-side">{figures}</div>{numbers(found)}</div>'
        f"{how_list(lines)}",
        *charts,
    )


def sentence(agreement: Agreement, found: Comparison) -> str:
    """Whether both find a concept in one place."""
    name = concept(agreement.concept.text, agreement.concept.polarity)
    first, second = agreement.first.best, agreement.second.best
    if agreement.same_place:
        places = f"{first.start:.2f}–{first.end:.2f} s and {second.start:.2f}–{second.end:.2f} s"
        return f"Both put {name} in one place: {places}."
    return (
        f"They disagree about {name}: {escape(found.first.encoder_id)} at {first.start:.2f}–{first.end:.2f} s, "
        f"{escape(found.second.encoder_id)} at {second.start:.2f}–{second.end:.2f} s."
    )


def figure(side: Localization, chart: Chart) -> str:
    """Where one encoder's curves stand, under its name."""
    said = ", ".join(f"{evidence.concept.text} best at {evidence.best.start:.2f} s" for evidence in side.evidence)
    return f"<figure><figcaption>{escape(side.encoder_id)}</figcaption>{chart_place(chart, said)}</figure>"


def numbers(found: Comparison) -> str:
    """Best window, cosine, SD of both sides; overlap and rank correlation."""
    heads = ("concept", "best, s", "cosine", "SD", "best, s", "cosine", "SD", "overlap", "ranks")
    rows = []
    for agreement in found.agreements:
        cells = []
        for side in (agreement.first, agreement.second):
            cells += [f"{side.best.start:.2f}–{side.best.end:.2f}", signed(side.score), signed(side.z, 1)]
        ranks = agreement.rank_correlation
        cells += [f"{agreement.iou:.2f}", "·" if math.isnan(ranks) else signed(ranks, 2)]
        rows.append(Row(concept(agreement.concept.text, agreement.concept.polarity), cells))
    groups = ((found.first.encoder_id, 3), (found.second.encoder_id, 3), ("agreement", 2))
    return table(heads, rows, groups=groups)
