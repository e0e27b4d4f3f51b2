"""The one table of the page: numbers under heads that explain themselves, scrolling sideways where it is narrow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from components.widgets.markup import Markup, safe


@dataclass(frozen=True)
class Row:
    """What a row is about, its cells, and a class for its look; text is escaped, Markup is not."""

    name: str
    cells: Sequence[str]
    kind: str = ""


@dataclass(frozen=True)
class Part:
    """A line across the table that says what the rows under it are."""

    title: str


def table(heads: Sequence[str], rows: Sequence[Row | Part], *, groups: Sequence[tuple[str, int]] = ()) -> Markup:
    """A table as HTML.

    Parameters
    ----------
    heads : sequence of str
        The first stands over the rows' names. None at all: no head.
    rows : sequence of Row or Part
    groups : sequence of (str, int)
        Titles over several heads at once, each with how many it spans; the rows' names have none.
    """
    over = "".join(f'<th colspan="{span}">{safe(title)}</th>' for title, span in groups)
    named = "".join(f'<th scope="col">{safe(head)}</th>' for head in heads)
    head = f"<thead>{f'<tr><th></th>{over}</tr>' if groups else ''}<tr>{named}</tr></thead>" if heads else ""
    body = "".join(_line(row, len(heads)) for row in rows)
    return Markup(f'<div class="scroll"><table class="numbers">{head}<tbody>{body}</tbody></table></div>')


def _line(row: Row | Part, columns: int) -> str:
    if isinstance(row, Part):
        return f'<tr class="part"><th scope="colgroup" colspan="{columns}">{safe(row.title)}</th></tr>'
    kind = f' class="{row.kind}"' if row.kind else ""
    cells = "".join(f"<td>{safe(cell)}</td>" for cell in row.cells)
    return f'<tr{kind}><th scope="row">{safe(row.name)}</th>{cells}</tr>'
