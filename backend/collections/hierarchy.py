"""Ancestor labels of a hierarchy: kept, or dropped where a descendant of theirs is present."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from backend.collections.csv_table import columns_found, read_text, table_of
from backend.errors import InputError

INFERRED = "inferred"
FEWEST_TO_INFER = 5
"""Clips with the narrower label before the data may say that it implies the wider one (own choice)."""

Parents = Mapping[str, frozenset[str]]
"""Each label's direct parents."""


def read_hierarchy(path: str | Path, codes: Mapping[str, str] | None = None) -> dict[str, frozenset[str]]:
    """Parents by label, from AudioSet's ``ontology.json`` or a CSV ``child,parent``.

    Labels of the ontology are matched by AudioSet id where the label table has them (``codes``),
    else by name, written as FSD50K writes it (``Chirp, tweet`` is ``Chirp_and_tweet``).

    Raises
    ------
    InputError
        The file cannot be read as either.
    """
    path = Path(path)
    text = read_text(path)
    if text.lstrip().startswith("["):
        return _from_ontology(text, path.name, codes or {})
    table = table_of(text, path.name)
    if table.columns[:2] != ("child", "parent"):
        raise InputError(
            f"{path.name} is no hierarchy: {columns_found(table.columns)}. Give AudioSet's ontology.json or a CSV with "
            "the columns child,parent.",
            concerns="file",
        )
    parents: dict[str, set[str]] = {}
    for row in table.rows():
        if not row.cells["parent"]:
            raise InputError(f"{row.place}: {row.cells['child']!r} has no parent. Fill it in.", concerns="file")
        parents.setdefault(row.cells["child"], set()).add(row.cells["parent"])
    return {child: frozenset(names) for child, names in parents.items()}


def _from_ontology(text: str, name: str, codes: Mapping[str, str]) -> dict[str, frozenset[str]]:
    try:
        entries = {str(entry["id"]): entry for entry in json.loads(text)}
        label_of = {code: label for label, code in codes.items()}
        title = {code: label_of.get(code, fsd50k_name(str(entry["name"]))) for code, entry in entries.items()}
        parents: dict[str, set[str]] = {}
        for code, entry in entries.items():
            for child in entry.get("child_ids", []):
                parents.setdefault(title[str(child)], set()).add(title[code])
    except (ValueError, KeyError, TypeError):
        raise InputError(
            f"{name} is JSON, but not AudioSet's ontology (a list of id, name, child_ids).", concerns="file"
        ) from None
    return {child: frozenset(names) for child, names in parents.items()}


def fsd50k_name(title: str) -> str:
    """An AudioSet name as FSD50K writes it."""
    return re.sub(r"\s+", "_", re.sub(r",\s*(and\s+)?", " and ", title.strip()))


def inferred_hierarchy(label_sets: Iterable[frozenset[str]]) -> dict[str, frozenset[str]]:
    """Ancestors by co-occurrence: b is above a when every clip with a has b, but not the reverse (own choice).

    Only labels of at least five clips say anything. FSD50K's ground truth is closed under its
    hierarchy, so this finds it; a coincidence in a small collection looks the same.
    """
    sets = list(label_sets)
    count: dict[str, int] = {}
    shared: dict[str, frozenset[str]] = {}
    for labels in sets:
        for label in labels:
            count[label] = count.get(label, 0) + 1
            shared[label] = shared.get(label, labels) & labels
    return {
        label: above
        for label, common in shared.items()
        if count[label] >= FEWEST_TO_INFER
        and (above := frozenset(other for other in common if other != label and count[other] > count[label]))
    }


def ancestors(label: str, parents: Parents) -> frozenset[str]:
    """Everything above a label; a cycle in the hierarchy ends where it closes."""
    found: set[str] = set()
    waiting = list(parents.get(label, ()))
    while waiting:
        above = waiting.pop()
        if above not in found and above != label:
            found.add(above)
            waiting.extend(parents.get(above, ()))
    return frozenset(found)


def without_ancestors(labels: frozenset[str], parents: Parents) -> frozenset[str]:
    """The labels that are not above another label of the same clip."""
    above = {name for label in labels for name in ancestors(label, parents)}
    return frozenset(labels - above)
