"""Text to tokens with their places: contractions split, shorthand expanded, typing errors corrected."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from backend.negation.words import ADJECTIVES, GERUNDS, SOUND_NOUNS, THIRD_PERSONS, VERBS


@dataclass(frozen=True)
class Token:
    """One word or mark.

    ``word`` is what the grammar reads (lower case, corrected); ``text[start:end]`` is what was typed.
    """

    word: str
    start: int
    end: int
    mark: bool = False
    fixed: bool = False
    """True when a typing error was corrected."""


_PATTERN = re.compile(
    r"[wW]/[oO](?:[uU][tT])?\b|[wW]/(?=\s|$)"
    r"|\d+(?:[.,]\d+)?"
    r"|[^\W_]+(?:['’‘`´][^\W_]+)*(?:-[^\W_]+(?:['’][^\W_]+)*)*['’]?"
    r"|\.\.\.|…|[-–—−]{1,2}|[^\w\s]|\n",
)

_PLUS = re.compile(r"\+\s*[^\W\d_]")
_SUBTRACTED = re.compile(r"\s[-–−]\s+(?!(?:no|not|without|never|nothing|none|only|just|but)\b)[^\W\d_]", re.IGNORECASE)
""" "rain + wind - thunder" is a sum, where the dash takes away; a dash between words without a plus is a dash."""
_OPENING = tuple('"“„«')
_EXCLUDING_MARKS = frozenset("-–−!")

_SHORTHAND = {
    "w/o": "without",
    "w/out": "without", "wo": "without", "wout": "without", "w/": "with", "w": "with", "u": "you", "ppl": "people",
    "pls": "please", "plz": "please", "r": "are", "nothin": "nothing", "nuthin": "nothing", "nuffin": "nothing",
    "musik": "music", "speach": "speech", "noone": "nobody", "gimme": "give me", "lemme": "let me", "wanna": "want to",
    "thx": "thanks", "wiht": "with", "anythin": "anything", "sumthin": "something", "bg": "background", "n": "and",
    "tho": "though", "cuz": "because", "cos": "because", "thru": "through", "ur": "your", "everythin": "everything",
    "vox": "vocals", "neigther": "neither", "nether": "neither", "niether": "neither",
}  # fmt: skip

_CONTRACTIONS = {
    "dont": "do not", "doesnt": "does not", "didnt": "did not", "isnt": "is not", "arent": "are not",
    "wasnt": "was not", "werent": "were not", "cant": "can not", "couldnt": "could not", "wont": "will not",
    "wouldnt": "would not", "shouldnt": "should not", "hasnt": "has not", "havent": "have not", "aint": "is not",
    "cannot": "can not", "theres": "there is", "thats": "that is", "im": "i am", "id": "i would",
    "ive": "i have", "whats": "what is", "wheres": "where is",
}  # fmt: skip

_CUES = ("without", "nothing", "except", "instead", "neither", "excluding", "absence", "nobody", "lacking")
_NEAR_CUES = frozenset(
    "within noting accept expect excerpt exempt either including essence absences backing hacking cracking tacking "
    "packing racking slacking blacking licking locking lucking clacking quacking noticing nothings exceed".split()
)
_REAL_WORDS = frozenset("having plans signing filling trans roster noses fling".split())
"""Common words one slip away from a sound; found by trying 18,000 words of a text encoder's vocabulary."""
_KNOWN = _REAL_WORDS | VERBS | GERUNDS.keys() | THIRD_PERSONS.keys() | SOUND_NOUNS | ADJECTIVES
_FIXABLE: dict[tuple[str, int], list[str]] = {}
for _known in sorted(SOUND_NOUNS | GERUNDS.keys()):
    if len(_known) >= 5:
        _FIXABLE.setdefault((_known[0], len(_known)), []).append(_known)


def tokenize(text: str) -> list[Token]:
    """Tokens of ``text`` in order."""
    tokens: list[Token] = []
    sum_of_sounds = bool(_PLUS.search(text) and _SUBTRACTED.search(text))
    for match in _PATTERN.finditer(text):
        piece, start, end = match.group(), match.start(), match.end()
        if not (piece[0].isalnum() or piece in ("w/", "W/")):
            # "rain -thunder" and "rain !thunder", as search engines read them; "rain - thunder" is a dash.
            before, after = text[max(0, start - 1) : start], text[end : end + 1]
            excludes = piece in _EXCLUDING_MARKS and (after.isalpha() or after in _OPENING) and before in ("", " ", "(")
            excludes = excludes or (sum_of_sounds and piece in "-–−" and bool(_SUBTRACTED.match(text, start - 1)))
            if sum_of_sounds and piece == "+":
                tokens.append(Token("plus", start, end))
                continue
            tokens.append(Token("¬" if excludes else piece, start, end, mark=True))
            continue
        tokens += _words(piece.lower().translate(_APOSTROPHES), start, end)
    return tokens


_APOSTROPHES = str.maketrans("’‘`´", "''''")


def _words(word: str, start: int, end: int) -> list[Token]:
    """The tokens of one typed word: don't -> do + not, there's -> there + is."""
    word = re.sub(r"(.)\1{2,}", r"\1\1", word)
    if word.endswith("n't") and len(word) > 3:
        base = {"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}.get(word[:-3], word[:-3])
        return [Token(base, start, end - 3), Token("not", end - 3, end)]
    bare = word.rstrip("'")
    if bare in _CONTRACTIONS:
        parts = _CONTRACTIONS[bare].split()
        middle = max(start + 1, end - (3 if parts[-1] == "not" else 1))
        return [Token(parts[0], start, middle), Token(parts[1], middle, end)]
    stem, _, ending = word.partition("'")
    expanded = {"s": "is", "m": "am", "re": "are", "ve": "have", "d": "would", "ll": "will"}.get(ending)
    if expanded and (ending != "s" or stem in _IS_STEMS):
        return [Token(stem, start, end - len(ending) - 1), Token(expanded, end - len(ending), end)]
    if bare in _SHORTHAND:
        return [Token(part, start, end) for part in _SHORTHAND[bare].split()]
    corrected = corrected_word(bare)
    return [Token(corrected, start, end - (len(word) - len(bare)), fixed=corrected != bare)]


_IS_STEMS = frozenset("there it that what where who here he she".split())


@lru_cache(maxsize=4096)
def corrected_word(word: str) -> str:
    """The cue or sound a word is one slip of the finger away from, or the word itself.

    Cues allow any single slip. Sound words allow only slips that seldom make another
    word: a letter dropped, doubled or swapped with its neighbour, a g dropped at the end.
    """
    if len(word) < 5 or word in _KNOWN or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("z") and word[:-1] + "s" in _KNOWN:
        return word[:-1] + "s"
    if word.endswith("in") and word + "g" in GERUNDS:
        return word + "g"
    if word not in _NEAR_CUES:
        for cue in _CUES:
            if word[0] == cue[0] and _one_slip(word, cue):
                return cue
    lengths = (len(word) - 1, len(word), len(word) + 1)
    near = [
        known for length in lengths for known in _FIXABLE.get((word[0], length), ()) if _mechanical_slip(word, known)
    ]
    return near[0] if len(near) == 1 else word


def _one_slip(word: str, target: str) -> bool:
    if abs(len(word) - len(target)) > 1 or word == target:
        return False
    if len(word) == len(target):
        wrong = [i for i, (a, b) in enumerate(zip(word, target, strict=True)) if a != b]
        swapped = len(wrong) == 2 and wrong[1] == wrong[0] + 1 and word[wrong[0]] == target[wrong[1]]
        return len(wrong) == 1 or (swapped and word[wrong[1]] == target[wrong[0]])
    short, long = sorted((word, target), key=len)
    return any(long[:i] + long[i + 1 :] == short for i in range(len(long)))


def _mechanical_slip(word: str, target: str) -> bool:
    if not _one_slip(word, target) or word[-1] != target[-1]:
        return False
    if len(word) == len(target):
        return sorted(word) == sorted(target)
    if len(word) > len(target):
        return any(word[i] == word[i + 1] and word[:i] + word[i + 1 :] == target for i in range(len(word) - 1))
    vowels_lost = sum(c in "aeiou" for c in word) < sum(c in "aeiou" for c in target)
    doubled = any(target[i] == target[i + 1] and target[:i] + target[i + 1 :] == word for i in range(len(target) - 1))
    return doubled or (vowels_lost and len(target) >= 6)
