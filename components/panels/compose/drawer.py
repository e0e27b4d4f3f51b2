"""The parts of the Compose panel that are clicked and heard: the scatter, one combination, sound arithmetic."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from html import escape

from backend.composition import Report
from backend.composition.explore import SHOWN_NEIGHBOURS, CombinationDetail, Sum, ends
from backend.reports.composition.charts import combinations_chart
from components.widgets.markup import Markup, error_box
from components.widgets.numbers import signed
from components.widgets.plotly_chart import chart_place, charts_value
from components.widgets.tables import Row, table

Play = Callable[[int], str]
"""Address of a clip's sound, by the clip's index; empty where only numbers are known."""

MANY_SOURCES = 24
CLIPS_TO_HEAR = 5


def scatter(report: Report, chosen: int) -> str:
    """Every combination a point to click; the chosen one ringed."""
    chart = combinations_chart(report)
    said = f"{chart.title}: {len(report.combinations)} combinations; Enter opens the one pointed at"
    words = (
        f'<div class="compose"><h3>{escape(chart.title)}</h3><figure>{chart_place(chart, said)}'
        f"<figcaption>{escape(chart.note)} Click one to open it.</figcaption></figure>"
        f"{_ends(report)}</div>"
    )
    return charts_value(words, chart, chosen=chosen)


def _ends(report: Report) -> str:
    """The worst and the best rebuilt combinations, as buttons."""
    worst, best = ends(report)
    rows = [
        Row(
            Markup(f'<button type="button" data-key="{i}">{escape(report.combinations.name(i))}</button>'),
            [
                signed(report.loo.cosines[i]),
                f"{report.loo.residuals[i]:.2f}",
                str(report.loo.ranks[i]),
                str(report.combinations.counts[i]),
            ],
        )
        for i in (*worst, *best)
    ]
    return (
        f"<details class='how'><summary>The {len(worst)} worst rebuilt, and the best</summary>"
        f"{table(('combination', 'cosine', 'residual', 'rank', 'clips'), rows)}</details>"
    )


def drawer(report: Report, detail: CombinationDetail, play: Play) -> str:
    """One combination: what its parts contribute, what the prediction lies next to, and how it all sounds."""
    combinations, index, count = report.combinations, detail.index, len(report.combinations)
    placed = "its prediction lies nearest to the combination itself" if not detail.nearer else (
        f"{detail.nearer} other combination{' lies' if detail.nearer == 1 else 's lie'} nearer to its prediction"
    )  # fmt: skip
    parts = [
        f"<h3>{escape(combinations.name(index))}</h3>",
        f"<p>Rebuilt from the other {detail.others} combinations at cosine <b>{signed(detail.actual.cosine)}</b>; "
        f"{placed} (rank {detail.actual.rank} of {count}). What the sum misses is {detail.residual:.2f} of its "
        "length.</p>",
        _contributions(detail),
        "<h4>Nearest to the prediction</h4>",
        _near_list(report, detail),
        _sounds("Hear it", combinations.name(index), detail.clips, play),
    ]
    if detail.nearest_other:
        nearest = detail.nearest_other.index
        parts.append(_sounds("Hear the nearest other", combinations.name(nearest), combinations.clips(nearest), play))
    return f'<div class="compose">{"".join(parts)}</div>'


def _contributions(detail: CombinationDetail) -> str:
    rows = []
    for part in detail.contributions:
        said = signed(part.along, 2) if part.known else "unknown: it occurs nowhere else"
        kind = "" if part.along >= 0 else " against"
        rows.append(
            f"<span>{escape(part.source)}</span><span class='track'><span class='fill{kind}' "
            f"style='width:{part.bar:.0%}'></span></span><span>{said}</span>"
        )
    return (
        f"<h4>What each part contributes</h4><div class='bars'>{''.join(rows)}</div><p class='note'>Along the actual "
        f"embedding, as a share of its length, learned from the other combinations; together "
        f"{detail.recovered:.2f}, where 1 would be all of it.</p>"
    )


def _near_list(report: Report, detail: CombinationDetail) -> str:
    rows = "".join(
        f'<li{" class=actual" if near.index == detail.index else ""}><span>{near.rank}</span><button type="button" '
        f'data-key="{near.index}">{escape(report.combinations.name(near.index))}'
        f"{' (itself)' if near.index == detail.index else ''}</button><span>{signed(near.cosine)}</span></li>"
        for near in detail.listed
    )
    return f'<ol class="near">{rows}</ol>'


def _sounds(title: str, name: str, clips: Iterable[int], play: Play) -> str:
    addresses = [address for clip in list(clips)[:CLIPS_TO_HEAR] if (address := play(int(clip)))]
    head = f"<h4>{escape(title)}: {escape(name)}</h4>"
    if not addresses:
        return head + '<p class="note">Only numbers are known of this collection, so there is nothing to hear.</p>'
    buttons = "".join(
        _player(address, str(number), f"Play clip {number} of {name}")
        for number, address in enumerate(addresses, start=1)
    )
    return f'{head}<div class="sounds">{buttons}</div>'


def _player(address: str, shown: str, said: str) -> str:
    return (
        f'<button type="button" class="play" aria-pressed="false" data-play="{escape(address)}" '
        f'aria-label="{escape(said)}">{shown}</button>'
    )


def arithmetic(
    report: Report,
    terms: Sequence[tuple[int, str]],
    found: Sum | None,
    play: Play,
    error: str = "",
    edit: int = 0,
) -> str:
    """Sounds to add and subtract, the sum so far, and what lies next to it.

    ``edit`` is the browser's own number of the edit this answers, 0 if none: it keeps what was clicked since.
    """
    sources = report.combinations.sources
    palette = "".join(f"<div><span>{escape(name)}</span>{_adder(1, name)}{_adder(-1, name)}</div>" for name in sources)
    chips = "".join(_chip(at, sign, name) for at, (sign, name) in enumerate(terms))
    shown = chips or '<p class="note">Add a sound to begin.</p>'
    clear = '<button type="button" class="chip" data-clear="1">Clear</button>' if terms else ""
    result = error_box(error) or _sum_found(report, found, play)
    many = " many" if len(sources) > MANY_SOURCES else ""
    so_far = escape(json.dumps([list(term) for term in terms]))
    return (
        f'<div class="compose"><h3>Sound arithmetic</h3><p>Add and subtract what sounds contribute, and hear what lies '
        f"nearest to the sum.</p>"
        f'<div class="expression" data-terms="{so_far}" data-edit="{edit}">{shown}{clear}</div>'
        f'<div class="compose-two"><div class="palette{many}">{palette}</div><div>{result}</div></div></div>'
    )


def _adder(sign: int, name: str) -> str:
    word, shown = ("add", "+") if sign > 0 else ("subtract", "−")
    return (
        f'<button type="button" data-sign="{sign}" data-source="{escape(name)}" aria-label="{word} {escape(name)}">'
        f"{shown}</button>"
    )


def _chip(at: int, sign: int, name: str) -> str:
    kind, word, shown = ("", "plus", "+") if sign > 0 else (" minus", "minus", "−")
    return (
        f'<button type="button" class="term{kind}" data-remove="{at}" aria-label="remove {word} {escape(name)}">'
        f"{shown} {escape(name)} ×</button>"
    )


def _sum_found(report: Report, found: Sum | None, play: Play) -> str:
    if found is None:
        return ""
    combinations = report.combinations
    if found.exact is not None:
        name = escape(combinations.name(found.exact.index))
        said = (
            f"The sum lies at cosine <b>{signed(found.exact.cosine)}</b> to {name}, "
            f"which ranks {found.exact.rank} of {len(combinations)}."
        )
    else:
        nearest = found.combinations[0]
        said = f"Nearest is {escape(combinations.name(nearest.index))}, at cosine <b>{signed(nearest.cosine)}</b>."
    rows = []
    for near in found.clips[:SHOWN_NEIGHBOURS]:
        of = int(combinations.clip_combination[near.index])
        address = play(near.index)
        button = _player(address, "play", f"Play {combinations.name(of)}") if address else ""
        rows.append(Row(combinations.name(of), [signed(near.cosine), Markup(button)]))
    return f"<p>{said}</p><h4>Nearest clips</h4>{table((), rows)}"
