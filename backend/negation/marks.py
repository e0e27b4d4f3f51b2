"""What marks and lone answers mean, before any phrase is looked up: quotation marks, "rain - thunder", "rain yes"."""

from __future__ import annotations

from collections.abc import Sequence

from backend.negation.lexicon import ENGLISH_PHRASES
from backend.negation.parts import DETERMINERS
from backend.negation.tokens import Token
from backend.negation.words import SOUND_NOUNS, is_adjective, is_gerund

QUOTES = frozenset("\"“”„«»'‘’")
SAID = frozenset("no not never nothing nobody none".split())
SAYING = frozenset(
    "say says saying said shout shouts shouting scream screams screaming yell yells yelling chant chants chanting "
    "whisper whispers whispering repeat repeats repeating answer answers answering cry cries crying "
    "sing sings singing".split()
)
_ANSWERS = ("yes", "no")
_SCENES = frozenset(
    "forest street road kitchen river sea ocean church station storm thunderstorm rainstorm traffic crowd".split()
)
"""Sounds that are as often a place: in "forest - birds" the dash opens what is heard there."""
_DASHES = frozenset("-−")
"""What a keyboard has for minus; the longer dashes of a printed text only separate."""


def unquoted(tokens: Sequence[Token]) -> list[Token]:
    """Without marks that mean nothing, and without quotation marks, except around a lone negation: it is said.

    What a sign excludes ends where its quotation does: ``-"church bell" rain``.
    """
    kept: list[Token] = []
    inside = signed = False
    for place, token in enumerate(tokens):
        if token.word in QUOTES and token.mark:
            inside = not inside
            said = [t.word for t in tokens[place + 1 : place + 3]]
            before = [t.word for t in kept[-2:]]
            opens = inside and len(said) == 2 and said[0] in SAID and said[1] in QUOTES
            closes = not inside and len(before) == 2 and before[0] in QUOTES and before[1] in SAID
            if signed and not inside:
                kept.append(Token(";", token.start, token.start, mark=True))
            signed = inside and bool(kept) and kept[-1].word == "¬"
            if not (opens or closes):
                continue
        elif token.mark and token.word != "¬" and token.word not in ENGLISH_PHRASES:
            continue
        kept.append(token)
    return kept


def subtracted(text: str, tokens: list[Token]) -> tuple[list[Token], tuple[str, ...]]:
    """ "rain - thunder", two sounds and nothing else around a lone minus: a sum that takes the second away.

    A dash in any longer text separates: "waves - a boat engine starts", "forest - birds, wind".
    """
    dashes = [t for t in tokens if t.mark and t.word in _DASHES]
    if not dashes or any(t.mark and t not in dashes for t in tokens):
        return tokens, ()
    segments: list[list[str]] = [[]]
    for token in tokens:
        if token.mark:
            segments.append([])
        else:
            segments[-1].append(token.word)
    first, *others = segments
    if not _is_sound(first) or first[-1] in _SCENES or not all(_is_sound(words) for words in others):
        return tokens, ()
    signed = [Token("¬", t.start, t.end, mark=True) if t in dashes else t for t in tokens]
    named = text[dashes[0].end :].strip()
    return signed, (f"The lone dash was read as minus: “{named}” must not be heard. Flip it if the dash separates.",)


def _is_sound(words: Sequence[str]) -> bool:
    """Whether words are one short noun phrase that names a sound and hold no cue."""
    bare = [word for word in words if word not in DETERMINERS]
    cues = any(next(ENGLISH_PHRASES.matches(bare[place:]), None) for place in range(len(bare)))
    if not 1 <= len(bare) <= 3 or cues:
        return False
    describes = is_adjective(bare[-1]) or (is_gerund(bare[-1]) and len(bare) == 1)
    return bare[-1] in SOUND_NOUNS and not describes


def separating_dash(text: str, tokens: Sequence[Token]) -> bool:
    """Whether a dash between two words was read as a mere break, though it might have been meant as minus."""
    dashes = [t for t in tokens if t.mark and t.word in _DASHES]
    return any(text[: t.start].strip() and text[t.end :].strip() for t in dashes)


def answered(tokens: list[Token]) -> list[Token]:
    """ "birds, yes; rain, no" and "birds yes rain no": beside a yes, a lone no answers the words at its side."""
    if not set(_ANSWERS) <= {token.word for token in tokens}:
        return tokens
    tokens = _joined(tokens)
    places = [place for place, token in enumerate(tokens) if token.word in _ANSWERS]
    before = [tokens[place - 1].word for place in places if place > 0]
    if any(word in SAYING or word in ("and", "or", *_ANSWERS) for word in before):
        return tokens
    words = [token.word for token in tokens if not token.mark]
    leads, ends = words[0] in _ANSWERS, words[-1] in _ANSWERS
    if leads == ends:
        return tokens
    result: list[Token] = []
    for place, token in enumerate(tokens):
        if token.word not in _ANSWERS:
            if token.word != ":" or place == 0 or tokens[place - 1].word != "yes" or not leads:
                result.append(token)
        elif leads:
            if result and not result[-1].mark:
                result.append(Token(";", token.start, token.start, mark=True))
            if token.word == "no":
                result.append(token)
        else:
            result += [token, Token(";", token.end, token.end, mark=True)]
    return result


def _joined(tokens: list[Token]) -> list[Token]:
    """ "birds, yes; rain, no": without the commas between the sounds and their answers."""
    words = ["", *(token.word for token in tokens), "", ""]
    ends = [True, *(token.mark for token in tokens), True, True]
    drops = [word == "," and words[place + 1] in _ANSWERS and ends[place + 2] for place, word in enumerate(words[:-2])]
    return [token for token, drop in zip(tokens, drops[1:], strict=False) if not drop]
