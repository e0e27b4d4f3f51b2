"""Reports for people: the same blocks as Markdown and as a page, and nothing in them becomes markup."""

from __future__ import annotations

from backend.reports.document import markdown, page
from backend.reports.tables import Table

TABLE = Table(("name", "R@5"), [{"name": "<b>raw</b>", "R@5": 0.123456}, {"name": "steered"}])


def test_markdown_has_every_block() -> None:
    text = markdown(["# Title", "A paragraph.", TABLE])
    assert text == "# Title\n\nA paragraph.\n\n| name | R@5 |\n| --- | --- |\n| <b>raw</b> | 0.1235 |\n| steered |  |\n"


def test_a_page_escapes_everything_but_its_figures() -> None:
    text = page("A & B", "## A < B", "one\ntwo", "#hash", TABLE, figures=["<svg></svg>"])
    assert "<title>A &amp; B</title>" in text
    assert "<h2>A &lt; B</h2><pre>one\ntwo</pre><p>#hash</p>" in text
    assert "<td>&lt;b&gt;raw&lt;/b&gt;</td><td>0.1235</td>" in text
    assert "<figure><svg></svg></figure>" in text
    assert "http" not in text and "<script" not in text
