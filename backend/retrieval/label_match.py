"""Whether a label names the sound that a phrase asks for. Decides violations and correct answers.

Own choice, deliberately strict: content words are compared after light stemming. The labels
"dog barking", "barking dog" and "Dog" all answer "a dog barking"; "train" does not answer "train horn".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_FILLERS = frozenset(
    "a an the some any of in on at by with and or to from sound sounds noise noises audio recording someone somebody "
    "person is are being be it its can heard hear there that while".split()
)
_SAME_WORD = {
    "sea": "ocean",
    "thunderstorm": "thunder",
    "telephon": "phone",
    "phon": "phone",
    "applaus": "applaud",
    "cockerel": "rooster",
    "infant": "baby",
    "laughter": "laugh",
    "speech": "talk",
    "speak": "talk",
    "voic": "talk",
    "peopl": "human",
    "step": "footstep",
    "kitten": "cat",
    "puppy": "dog",
    "automobil": "car",
    "cattl": "cow",
    "chick": "chicken",
    "hen": "chicken",
}
_IRREGULAR = {"geese": "goose", "children": "child", "men": "man", "women": "woman", "wolves": "wolf", "mice": "mouse"}
# The bird and the verb: a crowing rooster is no crow.
_IRREGULAR |= {"crowing": "cockadoodle", "crows": "crow"}


def _stem(word: str) -> str:
    word = _IRREGULAR.get(word, word)
    for suffix in ("ing", "ies", "es", "ed", "s", "e"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3 and not word.endswith(("ss", "us")):
            word = word[: -len(suffix)] + ("y" if suffix == "ies" else "")
            break
    if len(word) >= 4 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return _SAME_WORD.get(word, word)


_MODIFIERS = frozenset(
    _stem(word)
    for word in "loud quiet soft heavy light gentle distant close nearby far small big large little strong slow fast "
    "single several many low high long short brief faint old".split()
)
_SOUNDING = frozenset(
    _stem(word)
    for word in "barking meowing purring crowing mooing bleating neighing clucking honking quacking hooting howling "
    "chirping singing croaking cawing buzzing roaring growling crying laughing sneezing coughing snoring talking "
    "ringing ticking slamming knocking creaking falling pouring dripping crackling burning blowing rumbling clapping "
    "exploding running passing wailing beeping cheering breaking shattering flying crashing flowing pounding".split()
)


@lru_cache(maxsize=8192)
def content_words(phrase: str) -> frozenset[str]:
    """The stems of a phrase's content words: without articles, prepositions and "sound of"."""
    words = re.findall(r"[^\W_]+", phrase.lower().replace("'s", ""))
    return frozenset(_stem(word) for word in words if word not in _FILLERS)


def same_sound(concept: str, label: str) -> bool:
    """Whether a clip with this label certainly contains the sound that a concept phrase names.

    True when the concept's content words all occur in the label, or when the label's words all
    occur in the concept and the rest only says how it sounds ("heavy", "barking").
    """
    wanted, given = content_words(concept), content_words(label)
    if not wanted or not given:
        return concept.strip().lower() == label.strip().lower()
    core = given - _SOUNDING - _MODIFIERS
    if wanted <= given:
        # "crying" alone must not match every crying thing's label core: the rest may only say how it sounds.
        return bool(wanted - _MODIFIERS) and (not core or bool(core & wanted) or wanted <= _SOUNDING)
    return given <= wanted and wanted - given <= _MODIFIERS | _SOUNDING


def any_same_sound(concept: str, labels: Iterable[str]) -> bool:
    """Whether one of the labels names the concept."""
    return any(same_sound(concept, label) for label in labels)


def label_truth(phrases: Sequence[str], labels: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """Which labelled clips contain which phrases, shape (n, k): 1, 0, or NaN where no label names the phrase."""
    vocabulary = sorted({label for clip in labels for label in clip})
    truth = np.full((len(labels), len(phrases)), np.nan)
    for column, phrase in enumerate(phrases):
        naming = {label for label in vocabulary if any_same_sound(phrase, [label])}
        if naming:
            truth[:, column] = [not naming.isdisjoint(clip) if clip else np.nan for clip in labels]
    return truth
