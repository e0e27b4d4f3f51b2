"""Places where a cue is none, or where a short form is one: "no. 5", "minus five", "music off", a man saying no."""

from __future__ import annotations

from collections.abc import Sequence

from backend.negation.lexicon import ENGLISH_PHRASES, Kind
from backend.negation.marks import QUOTES, SAID, SAYING
from backend.negation.parts import AUXILIARIES, Item
from backend.negation.tokens import Token
from backend.negation.words import SOUND_NOUNS, is_gerund

_UNITS = frozenset("degrees degree celsius fahrenheit db decibels hz c percent".split())
_NUMBERS = frozenset(
    "one two three four five six seven eight nine ten twelve fifteen twenty thirty forty fifty".split()
)

AFTER_ABSENT = frozenset("and but while when then or from in over with under as yet during on behind though".split())


def trap(tokens: Sequence[Token], place: int, items: Sequence[Item]) -> Item | None:
    """Traps and short forms that a phrase list cannot say."""
    token = tokens[place]
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    word, before = token.word, (items[-1] if items else None)
    if token.mark:
        if word in QUOTES:
            quoted = place + 2 < len(tokens) and tokens[place + 2].word in QUOTES
            if quoted and after is not None and after.word in SAID:
                return Item(Kind.DROP, tuple(tokens[place : place + 3]))
            return Item(Kind.DROP, (token,))
        if word == "¬":
            return Item(Kind.NEG, (token,))
        return None if word in ENGLISH_PHRASES else Item(Kind.DROP, (token,))
    if word in ("nobody's", "no-one's") and after is not None and after.word not in ("fault", "business"):
        return Item(Kind.NOTHING if is_gerund(after.word) else Kind.WORD, (token,))
    if word in ("no", "number") and after is not None:
        numeral = tokens[place + 2] if after.word == "." and place + 2 < len(tokens) else after
        if numeral.word[0].isdigit():
            return Item(Kind.KEEP, tuple(tokens[place : place + (3 if after.word == "." else 2)]))
    if word in ("no", "nope", "never", "not") and before is not None:
        if before.words in SAYING and (
            after is None or after.mark or after.word == word or after.word in ("and", "again")
        ):
            return Item(Kind.DROP, _run_of(tokens, place))
        if word == "no" and (after is None or after.mark or after.word in AFTER_ABSENT):
            if before.kind is Kind.COMMA:
                return Item(Kind.DROP, (token,))
            if before.kind in (Kind.WORD, Kind.KEEP):
                return Item(Kind.ABSENT, (token,))
    if word == "minus" and after is not None and (after.word[0].isdigit() or after.word in _NUMBERS):
        count = 3 if place + 2 < len(tokens) and tokens[place + 2].word in _UNITS else 2
        return Item(Kind.DROP, tuple(tokens[place : place + count]))
    if (
        word in ("0", "zero", "nil")
        and after is not None
        and not after.mark
        and after.word not in _UNITS | {"gravity", "hour"}
    ):
        return Item(Kind.NEG, (token,))
    return _before_off(tokens, place, before) or _comparison(token, items) or _one_word_nothing(token, after)


def _before_off(tokens: Sequence[Token], place: int, before: Item | None) -> Item | None:
    """ "music off, crowd on": off and on close what stands before them; "goes off" is a phrase of its own."""
    token, after = tokens[place], tokens[place + 1] if place + 1 < len(tokens) else None
    ends = after is None or after.mark or after.word in ("and", "but", "while")
    if token.word not in ("off", "on", "out", "in") or not ends or before is None or before.kind is not Kind.WORD:
        return None
    if token.word in ("out", "in") and before.words not in SOUND_NOUNS:
        return None
    if before.words in AUXILIARIES or is_gerund(before.words) or before.words in ("turn", "turns", "goes", "moving"):
        return None
    return Item(Kind.ABSENT if token.word in ("off", "out") else Kind.PRESENT, (token,))


def _comparison(token: Token, items: Sequence[Item]) -> Item | None:
    """ "I'd rather hear A than B", "I prefer A to B": the second is not wanted."""
    asked = [item.words for item in items if item.kind is Kind.REQUEST]
    rather = any("prefer" in words for words in asked) or any("rather" in item.words.split() for item in items)
    if token.word == "than":
        return Item(Kind.PREP if rather else Kind.AND, (token,))
    if token.word in ("to", "over") and any("prefer" in words for words in asked) and items[-1].kind is Kind.WORD:
        return Item(Kind.PREP, (token,))
    return None


def _one_word_nothing(token: Token, after: Token | None) -> Item | None:
    if token.word in ("nothing", "nobody") and after is not None and after.word in ("but",):
        return Item(Kind.NOTHING, (token,))
    return None


def _run_of(tokens: Sequence[Token], place: int) -> tuple[Token, ...]:
    end = place
    while end < len(tokens) and tokens[end].word == tokens[place].word:
        end += 1
    return tuple(tokens[place:end])
