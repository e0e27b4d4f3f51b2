"""A report for people: headings, paragraphs and tables, as Markdown and as one page that needs no network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from backend.reports.tables import Table

Block = str | Table
"""A paragraph (kept line by line if it has several), a heading that begins with "# " or "## ", or a table."""
STYLE = (
    'body{font:16px/1.5 ui-sans-serif,system-ui,"Segoe UI",Roboto,Arial,sans-serif;max-width:72rem;margin:2rem auto;'
    "padding:0 1rem;color:#1c2733;background:#fff}table{border-collapse:collapse;font-variant-numeric:tabular-nums;"
    "margin:1rem 0;display:block;overflow-x:auto}td,th{padding:.2rem .8rem;text-align:left;"
    "border-bottom:1px solid #dfe4ea}pre{white-space:pre-wrap;background:#f4f6f8;padding:1rem}"
    ".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(28rem,100%),1fr));gap:1.5rem}"
    "figure{margin:0;overflow:auto}svg{max-width:100%;height:auto}"
)


def markdown(blocks: Sequence[Block]) -> str:
    """The blocks as Markdown."""
    return "\n\n".join(block if isinstance(block, str) else _grid(block) for block in blocks) + "\n"


def page(title: str, *body: Block, figures: Sequence[str] = ()) -> str:
    """The blocks and then the figures, each an SVG, as one HTML page; everything in a block is escaped."""
    drawn = "".join(f"<figure>{svg}</figure>" for svg in figures)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>{''.join(map(_html, body))}"
        f'<div class="figures">{drawn}</div></html>\n'
    )


def _cells(table: Table) -> list[list[str]]:
    return [[_cell(row.get(column, "")) for column in table.columns] for row in table.rows]


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _grid(table: Table) -> str:
    lines = [table.columns, ["---"] * len(table.columns), *_cells(table)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _html(block: Block) -> str:
    if isinstance(block, Table):
        head = "".join(f"<th>{escape(column)}</th>" for column in block.columns)
        rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in _cells(block))
        return f"<table><tr>{head}</tr>{rows}</table>"
    marks = len(block) - len(block.lstrip("#"))
    if marks and block[marks : marks + 1] == " ":
        return f"<h{marks}>{escape(block[marks + 1 :])}</h{marks}>"
    kind = "pre" if "\n" in block else "p"
    return f"<{kind}>{escape(block)}</{kind}>"
