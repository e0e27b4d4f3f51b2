"""What a collection is too small for: refused, or said in a note beside the tables that it leaves out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backend.benchmarks.negeval.concepts import present_concepts
from backend.benchmarks.negeval.wording import listed
from backend.collections.collection import Collection, Skipped
from backend.errors import InputError

RANKS = (1, 5, 10)
"""K of R@K."""
FEW_PAIRS = 30
"""Below this many controlled pairs a bootstrap interval says little (own choice)."""
FEW_CLIPS = 30
"""From about this many clips on the tables mean something (own choice)."""


def named_sounds(collection: Collection) -> list[str]:
    """Every sound that labels or captions name, sorted. Raises InputError when there is none."""
    vocabulary = sorted({name for item in collection.items for name in present_concepts(item)})
    if not vocabulary:
        raise InputError(
            f"{collection.name} has no labels and no captions, so nothing is known of its clips. Give a CSV with the "
            "columns path, caption, labels, or one folder per class.",
            concerns="file",
        )
    return vocabulary


def check_enough(name: str, usable: int, skipped: Sequence[Skipped]) -> None:
    """Refuse, by InputError, fewer than two clips: why some were left out, and what to do."""
    if usable >= 2:
        return
    left = f" {len(skipped)} left out, the first: {skipped[0].reason}" if skipped else ""
    raise InputError(
        f"{name} has {'one usable clip' if usable else 'no usable clip'}; the benchmark compares at least two, and its "
        f"tables mean something from about {FEW_CLIPS} on. Add clips, or try it on the collection demo.{left}",
        concerns="file",
    )


def shortfalls(section: Mapping[str, Any], vocabulary: Sequence[str]) -> list[str]:
    """One sentence for each table that a small collection leaves out, or leaves without meaning."""
    notes = []
    names = f"The sounds named here are {', '.join(vocabulary[:8])}{' and more' if len(vocabulary) > 8 else ''}."
    if "retrieval" not in section:
        notes.append(f"No retrieval: it needs a clip that certainly lacks a sound another clip has. {names}")
    elif (count := section["retrieval"]["candidates"]) <= max(RANKS):
        trivial = listed([f"R@{k}" for k in RANKS if k >= count])
        notes.append(f"Among {count} clips {trivial} would be 100 % whatever is heard: left out of the tables.")
    if "multiple choice" not in section:
        notes.append(f"No multiple choice: it needs a clip with a sound and three it certainly lacks. {names}")
    return notes


def few_pairs(pairs: int) -> list[str]:
    """A sentence when too few controlled pairs were asked for to believe their intervals."""
    if pairs >= FEW_PAIRS:
        return []
    return [
        f"--pairs is {pairs}; an interval over fewer than {FEW_PAIRS} controlled pairs says little. Pass 500 or more."
    ]
