"""The clips that training draws from: what each is called, what the teacher heard, how often it is drawn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backend.training.pocket.captions import caption_bank
from backend.training.pocket.data_labels import EVERYDAY, Named, concepts_of
from backend.training.pocket.data_split import is_held
from backend.training.pocket.data_store import ClipRow, ClipSet

UNHEARD_CLASSES = frozenset(
    "Inside, small room|Inside, large room or hall|Inside, public space|Outside, urban or manmade"
    "|Outside, rural or natural|Silence|Field recording|Environmental noise|Sidetone".split("|")
)
"""Classes of the place and the recording, not of a sound: no text is trained on them."""
GENERAL_CLASSES = frozenset(
    "Animal|Domestic animals, pets|Livestock, farm animals, working animals|Wild animals|Music|Musical instrument"
    "|Vehicle|Sound effect|Noise|Plucked string instrument|Percussion|Mechanisms|Tools|Hands".split("|")
)
"""Classes that hold for many sounds at once: they count for little when a sound's most exact name is sought."""
GENERAL_SHARE = 0.05
DRAWN = {"real": 3.0, "effect": 1.0, "music": 0.3, "speech": 0.3, "instrument": 0.5, "mixture": 0.55}
"""Relative rate at which a kind is drawn, before classes are balanced."""
COPY_SHARE, UNNAMED_SHARE = 0.4, 0.5
BALANCE = 0.6
EVERYDAY_FACTOR = 2.0
"""Exponent of a class's size by which its clips are drawn less often."""
BELIEVED_FROM = 0.03
"""Teacher score, of the named class or one whose name is close to it, from which a file name is believed."""
NAMED_TARGET = 0.5
"""Least target of the class that a believed name states."""
MOST_HEARD = 5


@dataclass(frozen=True)
class PoolClip:
    """Where a clip's frames and patches lie and which texts describe it."""

    owner: int
    """Index of its set."""
    first_frame: int
    frames: int
    first_patch: int
    patches: int
    named: tuple[str, ...]
    """Believed concepts, most exact first."""
    heard: tuple[int, ...]
    """Teacher classes, strongest first."""
    heard_weights: tuple[float, ...]
    caption: str
    """A caption of its own (recordings and mixtures); may be empty."""
    in_mixture: bool


class TrainingPool:
    """All clips of the sets that are neither held out nor duplicates of a test."""

    def __init__(self, sets: Sequence[ClipSet], classes: Sequence[str], held: Collection[str]) -> None:
        """``classes`` are the teacher's; ``held`` holds groups that must not be used."""
        self.classes = tuple(classes)
        self._related = related_classes(self.classes)
        self.mels = [clips.mels()[0] for clips in sets]
        taught = [clips.teacher() for clips in sets]
        self.scores, self.features = [one[0] for one in taught], [one[1] for one in taught]
        clips, weights, keys = [], [], []
        for owner, (one, (scores, _, patches)) in enumerate(zip(sets, taught, strict=True)):
            frame_index = one.mels()[1]
            for position, row in enumerate(one.rows):
                if is_held(row, held):
                    continue
                first, count = (int(value) for value in patches[position])
                loudest = scores[first : first + count].astype(np.float32).max(axis=0)
                clip = self._clip(row, owner, frame_index[position], (first, count), loudest)
                clips.append(clip)
                weights.append(_rate(row, clip))
                keys.append(clip.named[0] if clip.named else self.classes[clip.heard[0]])
        self.clips = tuple(clips)
        self.weights = balanced(np.array(weights), keys)
        self._cumulative = np.cumsum(self.weights)
        self.by_concept = {concept: np.array(members) for concept, members in _members(self.clips).items()}

    def draw(self, rng: np.random.Generator) -> int:
        """The index of a clip, drawn by weight."""
        return min(int(np.searchsorted(self._cumulative, rng.random())), len(self.clips) - 1)

    def concept(self, clip: PoolClip, rng: np.random.Generator) -> str:
        """A concept that describes the clip: its name in two of three cases if it has one, else what was heard."""
        if clip.named and rng.random() < 0.67:
            return clip.named[min(int(rng.geometric(0.65)) - 1, len(clip.named) - 1)]
        return self.classes[int(rng.choice(clip.heard, p=clip.heard_weights))]

    def _clip(
        self,
        row: ClipRow,
        owner: int,
        frames: NDArray[np.int64],
        patches: tuple[int, int],
        loudest: NDArray[np.float32],
    ) -> PoolClip:
        if row.kind == "mixture":
            *parts, caption = row.label.split(" ; ")
            named = Named(tuple(parts), True)
        else:
            named, caption = concepts_of(row), row.label.partition(": ")[2] if row.kind == "real" else ""
        believed = named.concepts if named.trusted or self._heard(named.concepts, loudest) else ()
        heard, shares = strongest(loudest, self.classes)
        return PoolClip(
            owner, int(frames[0]), int(frames[1]), *patches, believed, heard, shares, caption, row.kind == "mixture"
        )

    def _heard(self, concepts: Sequence[str], loudest: NDArray[np.float32]) -> bool:
        """Whether the teacher hears any of the concepts, or a class whose name is close."""
        known = [self._related[concept] for concept in concepts if self._related.get(concept)]
        return any(float(loudest[list(classes)].max()) >= BELIEVED_FROM for classes in known) if known else True


def strongest(loudest: NDArray[np.float32], classes: Sequence[str]) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """The classes a clip is described by and their shares: at most five, none far below the first.

    Classes of the place are left out and general ones count for 5 %.
    """
    scores = loudest.copy()
    scores[[index for index, name in enumerate(classes) if name in UNHEARD_CLASSES]] = 0
    scores[[index for index, name in enumerate(classes) if name in GENERAL_CLASSES]] *= GENERAL_SHARE
    order = np.argsort(-scores)[:MOST_HEARD]
    kept = [int(index) for index in order if scores[index] > max(0.08, 0.25 * scores[order[0]])] or [int(order[0])]
    shares = scores[kept].astype(np.float64) + 1e-3
    return tuple(kept), tuple(float(share) for share in shares / shares.sum())


def related_classes(classes: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Concept -> teacher classes that would support it: itself and classes that share a telling word with it."""
    bank = caption_bank()
    words = {name: _telling(f"{name} {' '.join(bank.phrases[name][:4])}") for name in bank.phrases}
    return {
        concept: tuple(
            index
            for index, name in enumerate(classes)
            if name == concept or (words[concept] & words[name] and name not in UNHEARD_CLASSES | GENERAL_CLASSES)
        )
        for concept in bank.phrases
    }


def balanced(rates: NDArray[np.float64], keys: Sequence[str]) -> NDArray[np.float64]:
    """Draw rates divided by their class's size to the power 0.6, doubled for EVERYDAY, summing to one.

    Size is the sum of the class's rates, so that copies, drawn rarely, do not count in full.
    """
    sizes: dict[str, float] = defaultdict(float)
    for rate, key in zip(rates, keys, strict=True):
        sizes[key] += float(rate)
    weights = rates * np.array([_everyday(key) / (sizes[key] + 3.0) ** BALANCE for key in keys])
    return weights / weights.sum()


def _rate(row: ClipRow, clip: PoolClip) -> float:
    rate = DRAWN[row.kind] * (COPY_SHARE if "#x" in row.path else 1.0)
    return rate if clip.named or row.kind in ("music", "speech") else rate * UNNAMED_SHARE


def _everyday(key: str) -> float:
    return EVERYDAY_FACTOR if key in EVERYDAY else 1.0


def _members(clips: Sequence[PoolClip]) -> dict[str, list[int]]:
    members: dict[str, list[int]] = defaultdict(list)
    for index, clip in enumerate(clips):
        for concept in () if clip.in_mixture else clip.named:
            members[concept].append(index)
    return members


_COMMON = frozenset(
    "the and with person people someone man woman playing sound sounds noise being music making two loud small large"
    " big hitting moving running open close etc for from into off over down out water metal wood".split()
)


def _telling(text: str) -> frozenset[str]:
    """Words of a name that tell sounds apart, cut to their first five letters (bark, barki(ng))."""
    cleaned = "".join(letter if letter.isalpha() else " " for letter in text.lower())
    return frozenset(word[:5] for word in cleaned.split() if len(word) > 2 and word not in _COMMON)
