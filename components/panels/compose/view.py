"""What the Compose panel says: sentences, tables and drawings from a report. No state, no events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from backend.composition import METRICS, Report
from backend.composition.published import PUBLISHED, PublishedRow
from backend.reports.composition.charts import comparison_chart, report_charts
from backend.reports.composition.summary import formatted, spread_text
from components.widgets.markup import Markup, explained, how_list, safe
from components.widgets.numbers import signed
from components.widgets.plotly_chart import chart_place, charts_value
from components.widgets.tables import Part, Row, table

PROTOCOLS = {
    "loo": "Leave-one-combination-out: each predicted from all others",
    "holdout": "Repeated holdout: a fifth left out, 20 times, mean ± SD",
}
HEADS = {
    "cosine": ("Cosine ↑", "Direction of the prediction against the actual mean embedding; 1 is the same direction."),
    "relative_frobenius": ("Rel. Frobenius ↓", "Length of all residuals relative to the embeddings; 0 is perfect."),
    "cka": ("CKA ↑", "Whether combinations are similar to each other in the same way; linear, double-centred."),
    "kl_bits": ("KL, bits ↓", "Divergence from the softmax of the actual embedding to that of the prediction."),
    "hits_at_5": ("Hits@5 ↑", "How often the actual combination is among the five nearest to its prediction."),
}  # fmt: skip


def headline(report: Report, name: str) -> str:
    """The plain sentences a result opens with."""
    record = report.record()
    p, better = record["loo"]["p"]["cosine"], record["loo"]["as_good"]["cosine"]
    shuffles = record["provenance"]["permutations"]
    chance = "" if p is None else f" {better or 'None'} of {shuffles} shuffles did as well (p = {p:.3f})."
    return (
        f'<div class="compose"><p class="headline">{escape(report.headline)}{chance}</p>'
        f"<p>{escape(report.verdict)}</p>"
        f'<p class="note">{record["n_clips"]:,} clips, {record["n_combinations"]:,} combinations of '
        f"{record['n_sources']:,} sounds, encoder {escape(name)}. Every combination is predicted from a fit that "
        f"has not seen it.</p>" + "".join(f'<p class="note">{escape(note)}</p>' for note in report.notes) + "</div>"
    )


def metrics_table(reports: Sequence[tuple[str, Report]]) -> str:
    """Five metrics, real, shuffled and overlap with p, one block an encoder, and what was published for CLAP.

    Leave-one-combination-out stands open; the repeated holdout and the speech models are folded under it.
    """
    rows = {protocol: _protocol_rows(reports, protocol, title) for protocol, title in PROTOCOLS.items()}
    speech: list[Row | Part] = [Part("Published, speech models")]
    speech += [_published_row(row) for row in PUBLISHED if row.model != "CLAP"]
    return (
        f'<div class="compose">{_table(rows["loo"])}<details class="how"><summary>Repeated holdout, and the published '
        f"speech models</summary>{_table([*rows['holdout'], *speech])}</details></div>"
    )


def _protocol_rows(reports: Sequence[tuple[str, Report]], protocol: str, title: str) -> list[Row | Part]:
    rows: list[Row | Part] = [Part(title)]
    for name, report in reports:
        rows += _measured_rows(name, report.record()[protocol], several=len(reports) > 1)
    rows.append(Part("Published: real / shuffled" + (" / overlap" if protocol == "holdout" else "")))
    return rows + [_published_row(row) for row in PUBLISHED if row.protocol == protocol and row.model == "CLAP"]


def _table(rows: Sequence[Row | Part]) -> str:
    return table(["", *(explained(name, tip) for name, tip in HEADS.values())], rows)


def _measured_rows(name: str, part: Mapping[str, Any], *, several: bool) -> list[Row | Part]:
    titles = {"real": "sum of its parts", "permuted": "shuffled parts", "overlap": "overlapping labels"}
    rows: list[Row | Part] = [
        Row(f"{name}: {title}" if several else title, [_cell(part, kind, metric) for metric in METRICS])
        for kind, title in titles.items()
    ]
    p = ["–" if (value := part["p"][metric]) is None else f"{value:.3f}" for metric in METRICS]
    return [*rows, Row(explained("p", "Shuffles at least as good as the real value, both counted plus one."), p)]


def _cell(part: Mapping[str, Any], kind: str, metric: str) -> Markup:
    spread = part["sd"].get(kind, {}).get(metric)
    shown = safe(formatted(metric, part[kind][metric]))
    if kind == "real" and part["best"][metric]:
        shown = Markup(f'<span class="better">{shown}</span>')
    if spread is None:
        return shown
    return Markup(f'{shown} <span class="control">± {escape(spread_text(metric, spread))}</span>')


def _published_row(row: PublishedRow) -> Row:
    columns = (row.real, row.permuted, row.overlap) if row.overlap else (row.real, row.permuted)
    kind = "" if row.model == "CLAP" else (", holdout" if row.protocol == "holdout" else ", leave-one-out")
    cells = [" / ".join(values) for values in zip(*columns, strict=True)]
    return Row(f"{row.model}, {row.dataset}{kind}", cells, kind="published")


def pictures(report: Report) -> str:
    """Heat map, plane, canonical correlations, permutation histograms and lambda's curve."""
    charts = [chart for chart in report_charts(report) if chart.key != "combinations"]
    blocks = "".join(
        f"<figure><h4>{escape(chart.title)}</h4>{chart_place(chart)}"
        f"<figcaption>{escape(chart.note)}</figcaption></figure>"
        for chart in charts
    )
    return charts_value(f'<div class="compose"><div class="compose-two">{blocks}</div></div>', *charts)


def comparison(first: Report, second: Report, names: tuple[str, str]) -> str:
    """The same combinations under two encoders, point by point."""
    chart = comparison_chart(first, second, names)
    words = (
        f'<div class="compose"><h3>{escape(chart.title)}</h3><p>{escape(names[0])} rebuilds at cosine '
        f"{signed(first.loo.real.cosine)} (shuffled {signed(first.loo.permuted_mean.cosine)}), {escape(names[1])} at "
        f"{signed(second.loo.real.cosine)} (shuffled {signed(second.loo.permuted_mean.cosine)}). Raw cosines of two "
        f"encoders cannot be compared; the gain over shuffled parts can.</p>"
        f"<figure>{chart_place(chart)}<figcaption>{escape(chart.note)}</figcaption></figure></div>"
    )
    return charts_value(words, chart)


def how_computed(report: Report) -> str:
    """What made the result, folded away under it."""
    made = report.provenance
    leverage = f"{report.loo.largest_leverage:.2f}"
    lines = (
        f"Encoder {made.get('encoder') or 'unknown'}, weights {made.get('weights') or 'unknown'}; "
        f"Unheard {made.get('version', '')}; seed {report.seed}.",
        "Clips are grouped by their exact label set; a combination is the mean of its clips' embeddings "
        "(“Do audio representations compose additively?”, section III).",
        f"Ridge without intercept; lambda {report.choice.penalty:.4g} was chosen once among 50 values from 1e-6 to 1e8 "
        f"by squared error on {len(report.choice.validation)} held-out combinations, then fixed.",
        Markup(
            "Leave-one-combination-out in closed form, ((H R)<sub>i</sub> − h<sub>ii</sub> r<sub>i</sub>) / "
            f"(1 − h<sub>ii</sub>), which equals refitting; the largest leverage h<sub>ii</sub> here is {leverage}."
        ),
        f"Shuffled parts: the combinations' embeddings shuffled against their labels {len(report.loo.permuted)} times.",
        "Overlapping labels: the mean of the other combinations, weighted by Jaccard overlap of labels (own choice).",
        "Holdout: splits of a fifth; combinations are moved back until every held-out sound occurs in training.",
        "A tie counts against the prediction; a prediction of zero length has cosine 0 (own choices).",
    )
    return how_list(lines)


def pending(sentence: str, share: float) -> str:
    """What is being done, with how far it is."""
    return (
        f'<p class="note" role="status">{escape(sentence)} <progress max="1" value="{share:.3f}" '
        f'aria-label="{escape(sentence)}"></progress></p>'
    )


def stopped() -> str:
    """What Cancel leaves behind."""
    return '<p class="note" role="status">Cancelled. “Back to the demo scenes” starts it again.</p>'
