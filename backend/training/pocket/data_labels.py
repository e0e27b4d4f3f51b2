"""From the name of a sound to concepts of the caption bank, and what the teacher must hear to believe a name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

from backend.training.pocket.data_store import ClipRow

TABLE = Path(__file__).with_name("labels.txt")
NOTHING = "-"
_EVERYDAY = """
Bark|Dog|Bow-wow|Meow|Cat|Crowing, cock-a-doodle-doo|Cluck|Hen|Chicken, rooster|Oink|Pig|Moo|Cattle, bovinae|Croak|Frog
Bleat|Sheep|Insect|Cicada|Bee, wasp, etc.|Fly, housefly|Cricket|Caw|Crow|Chirp, tweet|Bird
Bird vocalization, bird call, bird song|Rain|Rain on surface|Raindrop|Waves, surf|Ocean|Sea waves|Fire|Crackle
Crackling fire|Drip|Wind|Pour|Toilet flush|Thunder|Thunderstorm|Baby cry, infant cry|Sneeze|Clapping|Breathing|Cough
Walk, footsteps|Laughter|Toothbrush|Electric toothbrush|Snoring|Drinking, sipping|Gargling|Knock|Wooden door knock
Mouse click|Clicking|Computer keyboard|Typing|Creak|Wooden door creak|Can opening|Washing machine|Vacuum cleaner
Alarm clock|Tick|Tick-tock|Clock|Glass break|Shatter|Helicopter|Chainsaw|Siren|Police car (siren)
Vehicle horn, car horn, honking|Engine|Idling|Train|Train whistle|Church bell|Jet engine
Fixed-wing aircraft, airplane|Fireworks|Hand saw|Sawing
"""
EVERYDAY = frozenset(name for line in _EVERYDAY.split("\n") for name in line.split("|") if name)
"""Sounds that visitors ask for; drawn more often than a sound of the workshop or a game."""


@dataclass(frozen=True)
class NameRule:
    """A pattern among the words of a file name and the concepts it stands for."""

    pattern: re.Pattern[str]
    concepts: tuple[str, ...]
    trusted: bool
    """Believed without the teacher, which does not know such sounds."""


@dataclass(frozen=True)
class Named:
    """What a clip's name says: concepts of the caption bank, most exact first; none when it says nothing."""

    concepts: tuple[str, ...]
    trusted: bool


FOLDERS = {"chainsaw": Named(("Chainsaw",), False)}
"""Folders of packages that say what their files (idle, attack) do not."""


@lru_cache(maxsize=1)
def label_tables() -> tuple[dict[str, tuple[str, ...]], tuple[NameRule, ...]]:
    """(class of a licensed recording -> concepts, rules for file names in order of precedence)."""
    recordings: dict[str, tuple[str, ...]] = {}
    rules: list[NameRule] = []
    section = ""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            section = line
            continue
        key, _, value = line.partition(" = ")
        concepts = tuple(part.strip() for part in value.split(";"))
        if section == "[recordings]":
            recordings[key] = concepts
        else:
            trusted = key.startswith("!")
            rules.append(NameRule(re.compile(rf"(?<![a-z])(?:{key.lstrip('!')})(?![a-z])"), concepts, trusted))
    return recordings, tuple(rules)


@lru_cache(maxsize=20_000)
def concepts_of_name(label: str) -> Named:
    """The first rule that matches the words of a file name."""
    for rule in label_tables()[1]:
        if rule.pattern.search(label):
            return Named(() if rule.concepts == (NOTHING,) else rule.concepts, rule.trusted)
    return Named((), False)


def concepts_of(row: ClipRow) -> Named:
    """The concepts that a clip's label names.

    Recordings carry their class, instruments their concepts in full, and everything else a file name.
    """
    if row.kind == "real":
        return Named(label_tables()[0].get(row.label.partition(":")[0], ()), True)
    if row.kind == "instrument":
        return Named(tuple(row.label.split("; ")), True)
    if row.kind == "speech":
        return Named(("Speech",), False)
    if row.kind == "music":
        return Named(("Music",), False)
    return FOLDERS.get(PurePosixPath(row.path).parent.name) or concepts_of_name(row.label)
