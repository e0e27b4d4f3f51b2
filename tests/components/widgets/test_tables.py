"""The page's one table, and the markup that goes into it."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

from components.widgets.markup import Markup, concept, explained, how_list
from components.widgets.tables import Part, Row, table

COMPONENTS = Path(__file__).resolve().parents[3] / "components"


def test_a_table_is_well_formed_and_its_numbers_stand_in_cells() -> None:
    made = ElementTree.fromstring(
        table(
            ["", explained("cosine", "Not a <probability>.")],
            [Part("measured"), Row("pocket", ["+0.123"]), Row("other", [Markup("<b>−0.5</b>")], kind="published")],
            groups=[("first & second", 1)],
        )
    )
    assert made.get("class") == "scroll" and made.find("table").get("class") == "numbers"  # type: ignore[union-attr]
    assert [len(row) for row in made.iter("tr")] == [2, 2, 1, 2, 2]
    assert [cell.text for cell in made.iter("td")] == ["+0.123", None]
    assert made.find(".//tr[@class='published']/td/b").text == "−0.5"  # type: ignore[union-attr]
    assert made.find(".//tr[@class='part']/th").get("colspan") == "2"  # type: ignore[union-attr]
    assert made.find(".//abbr").get("title") == "Not a <probability>."  # type: ignore[union-attr]


def test_words_from_outside_cannot_become_markup() -> None:
    hostile = '<img src=x onerror="alert(1)">'
    shown = table([hostile], [Row(hostile, [hostile]), Part(hostile)], groups=[(hostile, 1)])
    shown += concept(hostile, "present") + explained(hostile, hostile) + how_list([hostile])
    assert "<img" not in shown and 'onerror="' not in shown


def test_no_table_of_the_page_is_built_anywhere_else() -> None:
    built = [path.name for path in COMPONENTS.rglob("*.py") if "<td" in path.read_text(encoding="utf-8")]
    assert built == ["tables.py"]
