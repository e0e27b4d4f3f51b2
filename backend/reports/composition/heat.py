"""The map of cosines as SVG."""

from __future__ import annotations

from html import escape

from backend.reports.composition.charts import BLUE, VERMILION, HeatMap
from backend.reports.composition.svg_frame import opening, wrapped


def draw_heat_map(chart: HeatMap, width: int, *, alone: bool) -> str:
    names, count = chart.names, len(chart.names)
    label = min(9.0 + 7.0 * max(len(name) for name in names), 0.36 * width)
    # The last slanted name leans out to the right.
    cell = min((width - 1.5 * label - 6.0) / count, 44.0)
    top = (34.0 if alone else 4.0) + 0.75 * label
    lines = wrapped(chart.note, width - 24) if alone else []
    parts = [opening(chart.title, width, top + cell * count + 44 + 18 * len(lines), alone)]
    size = min(13.0, max(6.0, 0.9 * cell))
    most = int(label / (0.54 * size))
    for i, name in enumerate(names):
        y = top + cell * (i + 0.5)
        shown = escape(name if len(name) <= most else name[: most - 1] + "…")
        style = f'style="font-size:{size:.1f}px"'
        parts.append(f'<text {style} x="{label - 6:.1f}" y="{y + 0.35 * size:.1f}" text-anchor="end">{shown}</text>')
        x = label + cell * (i + 0.5)
        parts.append(
            f'<text {style} transform="translate({x + 0.3 * size:.1f} {top - 6:.1f}) rotate(-50)">{shown}</text>'
        )
        for j, other in enumerate(names):
            value = float(chart.values[i, j])
            said = f"{escape(name)} and {escape(other)}: {value:+.3f}"
            parts.append(
                f'<rect x="{label + cell * j:.1f}" y="{top + cell * i:.1f}" width="{cell - 1:.1f}" '
                f'height="{cell - 1:.1f}" fill="{diverging(value)}"><title>{said}</title></rect>'
            )
            if cell >= 34:
                ink = "#ffffff" if abs(value) > 0.55 else "#1c2733"
                middle = label + cell * (j + 0.5) - 0.5
                parts.append(
                    f'<text style="font-size:11px;fill:{ink};pointer-events:none" x="{middle:.1f}" '
                    f'y="{y + 3.5:.1f}" text-anchor="middle">{value:+.2f}</text>'
                )
    foot = top + cell * count
    parts.append(_color_bar(label, foot + 12, min(200.0, cell * count)))
    parts += [f'<text x="12" y="{foot + 58 + 18 * i:.0f}">{escape(line)}</text>' for i, line in enumerate(lines)]
    return "".join(parts) + "</svg>"


def _color_bar(x: float, y: float, width: float) -> str:
    steps = 40
    cells = "".join(
        f'<rect x="{x + width * i / steps:.1f}" y="{y:.1f}" width="{width / steps + 0.5:.1f}" height="10" '
        f'fill="{diverging(2 * i / (steps - 1) - 1)}"/>'
        for i in range(steps)
    )
    labels = "".join(
        f'<text x="{x + width * share:.1f}" y="{y + 25:.1f}" text-anchor="{anchor}">{text}</text>'
        for share, text, anchor in ((0.0, "−1", "start"), (0.5, "0", "middle"), (1.0, "+1", "end"))
    )
    return cells + labels


def diverging(value: float) -> str:
    """Vermilion through near-white to blue, for cosines from -1 to 1."""
    end = BLUE if value > 0 else VERMILION
    share = min(1.0, abs(value))
    mixed = [round(245 + (int(end[at : at + 2], 16) - 245) * share) for at in (1, 3, 5)]
    return "#{:02x}{:02x}{:02x}".format(*mixed)
