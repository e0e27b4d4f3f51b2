"""Which sounds a clip has, and which plausible ones it certainly lacks (negation paper, III-B and III-C).

The paper proposes absent sounds with a language model and verifies them with an audio one. Here
both are rules (own choice): plausible is what belongs to the same kind of scene; absent is what
the labels, taken as complete, do not name and what does not usually come along with them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from backend.collections.collection import Item
from backend.errors import InputError
from backend.negation import parse_query
from backend.retrieval.label_match import content_words, same_sound

_CATEGORIES = {
    "animals": "dog cat rooster chicken cow horse sheep goat pig duck goose bird crow owl wolf frog bee insect cricket "
    "cicada lion monkey animal seagull turkey pigeon",
    "nature": "rain thunder wind ocean wave water stream river fire waterfall drip storm leaves",
    "people": "baby child man woman human person talk laugh cry cough sneeze snore scream clap applause cheering crowd "
    "footstep singing breathing whisper choir",
    "home": "door doorbell bell clock alarm phone telephone glass toilet vacuum keyboard typing dishes kettle knock "
    "zipper keys drawer smoke shower tap microwave",
    "city": "car engine horn siren train helicopter airplane chainsaw drill saw traffic truck motorcycle bus firework "
    "explosion gunshot hammer jackhammer bicycle",
    "music": "music piano guitar drum violin flute trumpet organ",
}
CATEGORIES = {category: content_words(words) for category, words in _CATEGORIES.items()}
"""Coarse kinds of sounds, after ESC-50's five with music beside."""
_TOGETHER = (
    "rain|thunder|storm|wind|drip|water",
    "water|stream|river|waterfall|ocean|wave|shower|tap|toilet|splash",
    "wind|ocean|leaves",
    "rooster|chicken|bird",
    "bird|crow|owl|seagull|goose|duck|pigeon",
    "crowd|cheering|applause|clap|talk|laugh|human|man|woman|child|singing",
    "car|engine|traffic|horn|truck|bus|motorcycle|siren",
    "train|horn|whistle|bell",
    "alarm|clock|phone|smoke|beep|bell|doorbell",
    "door|knock|doorbell|footstep",
    "firework|explosion|gunshot|thunder|crowd",
    "cricket|insect|cicada|owl|frog|bird",
    "drill|saw|chainsaw|hammer|tool",
    "dog|wolf",
    "baby|child|cry",
)
TOGETHER = tuple(content_words(group.replace("|", " ")) for group in _TOGETHER)
"""Sounds that often come along unnamed: never used as a certain absence of one another."""


def category(label: str) -> str:
    """The coarse kind of a sound, ``other`` if no word of the label is known."""
    words = content_words(label)
    return next((name for name, known in CATEGORIES.items() if words & known), "other")


def certainly_absent(candidate: str, present: Sequence[str], captions: Sequence[str] = ()) -> bool:
    """Whether a clip with these sounds, and these captions, certainly lacks the candidate."""
    words = content_words(candidate)
    for label in present:
        if same_sound(candidate, label) or same_sound(label, candidate):
            return False
        if any(words & group and content_words(label) & group for group in TOGETHER):
            return False
    return not any(words & content_words(caption) for caption in captions)


def present_concepts(item: Item) -> tuple[str, ...]:
    """P of a clip: its labels or, where it has none, the sounds that its first caption names."""
    if item.labels:
        return tuple(dict.fromkeys(item.labels))
    try:
        return tuple(dict.fromkeys(parse_query(item.caption).present))
    except InputError:
        # An empty caption, or one that no query could be: nothing is known of the clip.
        return ()


def absent_concepts(
    present: Sequence[str], vocabulary: Sequence[str], rng: np.random.Generator, captions: Sequence[str] = ()
) -> tuple[str, ...]:
    """N of a clip: certainly absent sounds, those of the same kind as a present one first, shuffled within."""
    kinds = {category(label) for label in present}
    candidates = [name for name in vocabulary if certainly_absent(name, present, captions)]
    shuffled = [candidates[place] for place in rng.permutation(len(candidates))]
    return tuple(sorted(shuffled, key=lambda name: category(name) not in kinds))
