"""Tokens to items: the longest cue phrase at each place, and the traps where a cue phrase is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.negation.lexicon import ENGLISH_PHRASES, Kind
from backend.negation.tokens import Token
from backend.negation.words import (
    GERUNDS,
    NOT_FREE,
    NOT_LESS,
    NOT_NO,
    NOT_NON,
    SOUND_NOUNS,
    STEMS,
    is_gerund,
)

AUXILIARIES = frozenset(
    "is are was were be been being am do does did can could will would shall should may might must has have had "
    "get gets getting stays stay remains".split()
)
RELATIVES = frozenset("that which who whose".split())
PRONOUNS = frozenset("it they he she we you i there this these those them him her one".split())
DETERMINERS = frozenset(
    "a an the some any this these those its his her their my your our each every another one single such".split()
)
_SAYING = frozenset(
    "say says saying said shout shouts shouting scream screams screaming yell yells yelling chant chants chanting "
    "whisper whispers whispering repeat repeats repeating answer answers answering cry cries crying "
    "sing sings singing".split()
)
_QUOTES = frozenset("\"“”„«»'‘’")
_SAID = frozenset("no not never nothing nobody none".split())
_UNITS = frozenset("degrees degree celsius fahrenheit db decibels hz c percent".split())
_NUMBERS = frozenset(
    "one two three four five six seven eight nine ten twelve fifteen twenty thirty forty fifty".split()
)


@dataclass(frozen=True)
class Item:
    """A stretch of tokens with one part in the grammar."""

    kind: Kind
    tokens: tuple[Token, ...]
    hidden: str = ""
    """For a word such as "traffic-free": the concept it makes absent."""

    @property
    def words(self) -> str:
        """The item's words, corrected and lower-case."""
        return " ".join(token.word for token in self.tokens)

    @property
    def start(self) -> int:
        """First character."""
        return self.tokens[0].start

    @property
    def end(self) -> int:
        """One past the last character."""
        return self.tokens[-1].end


def itemize(tokens: Sequence[Token]) -> list[Item]:
    """Every token in exactly one item, in order."""
    tokens = _unquoted(tokens)
    items: list[Item] = []
    place = 0
    while place < len(tokens):
        item = _special(tokens, place, items) or _phrase(tokens, place, items) or _word(tokens[place])
        items.append(item)
        place += len(item.tokens)
    return _continuing(_no_longer(items))


def _unquoted(tokens: Sequence[Token]) -> list[Token]:
    """Without marks that mean nothing here, and without quotation marks, except around a lone negation, which is then something said: a man saying "no"."""
    kept: list[Token] = []
    inside = False
    for place, token in enumerate(tokens):
        if token.word in _QUOTES and token.mark:
            inside = not inside
            said = [t.word for t in tokens[place + 1 : place + 3]]
            before = [t.word for t in kept[-2:]]
            opens = inside and len(said) == 2 and said[0] in _SAID and said[1] in _QUOTES
            closes = not inside and len(before) == 2 and before[0] in _QUOTES and before[1] in _SAID
            if not (opens or closes):
                continue
        elif token.mark and token.word != "¬" and token.word not in ENGLISH_PHRASES:
            continue
        kept.append(token)
    return kept


def _phrase(tokens: Sequence[Token], place: int, items: Sequence[Item]) -> Item | None:
    for words, kind in ENGLISH_PHRASES.get(tokens[place].word, ()):
        matched = tokens[place : place + len(words)]
        if len(matched) == len(words) and all(t.word == w for t, w in zip(matched, words, strict=True)):
            following = tokens[place + len(words)] if place + len(words) < len(tokens) else None
            if _fits(words, kind, following, items):
                return Item(kind, tuple(matched))
    return None


def _fits(words: tuple[str, ...], kind: Kind, following: Token | None, items: Sequence[Item]) -> bool:
    """Whether a phrase plays its part here; a few need to look at their neighbours."""
    phrase = " ".join(words)
    before = items[-1] if items else None
    starts = before is None or before.kind not in (Kind.WORD, Kind.KEEP)
    ends = following is None or following.mark
    if phrase in (": no", ": zero", ": 0", "no thanks", "no thank you"):
        return ends
    if kind is Kind.ABSENT and len(words) == 1:
        denied = before is not None and before.kind is Kind.NEG and before.words == "not"
        return (not starts or denied) and (ends or following.word in _AFTER_ABSENT)  # type: ignore[union-attr]
    if kind is Kind.DROP and words[1:2] == ("not",) and words[-1] in PRONOUNS:
        return before is not None and before.kind is Kind.COMMA and ends
    if phrase == "so":
        return before is not None and before.kind is Kind.COMMA
    if phrase == "dies":
        return (not starts and ends) or (before is not None and before.kind is Kind.AND and ends)
    if phrase in ("yes", "present", "audible", "included", "wanted"):
        return not starts and ends
    if kind in (Kind.REST, Kind.ONLY) and phrase in ("alone", "exclusively"):
        return phrase == "exclusively" or ends or following.word in _AFTER_ABSENT  # type: ignore[union-attr]
    if phrase in ("has", "have", "having", "add", "contains", "contain", "containing") and following is not None:
        return following.word != "been" and following.word != "not"
    if phrase in ("hate", "ban", "avoid", "exclude", "omit", "remove") or (
        kind is Kind.REQUEST and phrase in ("keep", "allow")
    ):
        return not ends
    if (
        kind is Kind.REQUEST
        and words[0] in ("is", "are", "was", "were", "does", "do", "did")
        and words[1:2] == ("not",)
    ):
        return _clause_start(before)
    if phrase in ("is it", "is that", "is this", "was it", "it is", "it has") and not _clause_start(before):
        return False
    if kind is Kind.STOP and len(words) == 1:
        return _stops(words[0], before, following)
    return not (kind is Kind.STOP and following is not None and following.word == "of")


_AFTER_ABSENT = frozenset("and but while when then or from in over with under as yet during on behind though".split())


def _clause_start(before: Item | None) -> bool:
    return before is None or before.kind in (
        Kind.END,
        Kind.REQUEST,
        Kind.DROP,
        Kind.COMMA,
        Kind.BUT,
        Kind.AND,
        Kind.WHILE,
    )


def _stops(word: str, before: Item | None, following: Token | None) -> bool:
    """Whether "stop", "ends" and the like are a verb here: something must be there to end."""
    if before is None or before.kind not in (
        Kind.WORD,
        Kind.KEEP,
        Kind.NEG,
        Kind.DROP,
        Kind.COMMA,
        Kind.WHILE,
        Kind.AND,
    ):
        return False
    if before.words in DETERMINERS or (following is not None and following.word in ("of", "sign", "credits", "to")):
        return False
    return word not in ("end", "ending") or following is None or following.mark or following.word in _AFTER_ABSENT


def _special(tokens: Sequence[Token], place: int, items: Sequence[Item]) -> Item | None:
    """Traps and short forms that a phrase list cannot say."""
    token = tokens[place]
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    word, before = token.word, (items[-1] if items else None)
    if token.mark:
        if word in _QUOTES:
            quoted = place + 2 < len(tokens) and tokens[place + 2].word in _QUOTES
            if quoted and after is not None and after.word in _SAID:
                return Item(Kind.DROP, tuple(tokens[place : place + 3]))
            return Item(Kind.DROP, (token,))
        if word == "¬":
            return Item(Kind.NEG, (token,))
        return None if word in ENGLISH_PHRASES else Item(Kind.DROP, (token,))
    if word in ("no", "number") and after is not None:
        numeral = tokens[place + 2] if after.word == "." and place + 2 < len(tokens) else after
        if numeral.word[0].isdigit():
            return Item(Kind.KEEP, tuple(tokens[place : place + (3 if after.word == "." else 2)]))
    if word in ("no", "nope", "never", "not") and before is not None:
        if before.words in _SAYING and (
            after is None or after.mark or after.word == word or after.word in ("and", "again")
        ):
            return Item(Kind.DROP, _run_of(tokens, place))
        if word == "no" and (after is None or after.mark or after.word in _AFTER_ABSENT):
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
    if token.word not in ("off", "on") or not ends or before is None or before.kind is not Kind.WORD:
        return None
    if before.words in AUXILIARIES or is_gerund(before.words) or before.words in ("turn", "turns", "goes", "moving"):
        return None
    return Item(Kind.ABSENT if token.word == "off" else Kind.PRESENT, (token,))


def _comparison(token: Token, items: Sequence[Item]) -> Item | None:
    """ "I'd rather hear A than B", "I prefer A to B": the second is not wanted."""
    asked = [item.words for item in items if item.kind is Kind.REQUEST]
    rather = any("rather" in words or "prefer" in words for words in asked)
    if token.word == "than":
        return Item(Kind.PREP if rather else Kind.DROP, (token,))
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


def _word(token: Token) -> Item:
    return Item(Kind.WORD, (token,), hidden_absence(token.word))


def hidden_absence(word: str) -> str:
    """The concept a compound makes absent, or "": traffic-free -> traffic, wordless -> words, non-vocal -> vocals."""
    if word == "unaccompanied":
        return "accompaniment"
    head, _, tail = word.partition("-")
    if tail == "free" and head not in NOT_FREE:
        return head
    if tail == "less" and head:
        return STEMS.get(head, head)
    if head == "non" and tail and tail not in NOT_NON:
        return STEMS.get(tail, tail.replace("-", " "))
    if head == "no" and tail and tail not in NOT_NO and "-" not in tail:
        return tail
    if word.endswith("less") and word not in NOT_LESS and (word[:-4] in SOUND_NOUNS or word[:-4] in STEMS):
        return STEMS.get(word[:-4], word[:-4])
    if word.startswith("non") and (word[3:] in STEMS or word[3:] in SOUND_NOUNS):
        return STEMS.get(word[3:], word[3:])
    return ""


def _continuing(items: list[Item]) -> list[Item]:
    """A negated ending is continuity: "won't stop barking", "never ends"."""
    result: list[Item] = []
    for item in items:
        if item.kind is Kind.STOP and result and result[-1].kind is Kind.NEG and result[-1].words in ("not", "never"):
            result[-1] = Item(Kind.DROP, result[-1].tokens + item.tokens)
        else:
            result.append(item)
    return result


def _no_longer(items: list[Item]) -> list[Item]:
    """ "not barking any more": what no longer sounds was heard before."""
    result = list(items)
    for place, item in enumerate(items):
        if item.kind is Kind.WORD and item.words in ("anymore", "longer"):
            result[place] = Item(Kind.DROP, item.tokens)
        more = (item.words == "more" and place > 0 and items[place - 1].words == "any") or item.words == "anymore"
        if not more:
            continue
        result[place] = Item(Kind.DROP, item.tokens)
        for back in range(place - 1, -1, -1):
            if items[back].kind in (Kind.END, Kind.COMMA, Kind.BUT):
                break
            if items[back].kind is Kind.NEG and items[back].words in ("not", "never"):
                result[back] = Item(Kind.NO_LONGER, items[back].tokens)
                break
    return result


def starts_verb(word: str) -> bool:
    """Whether a word is a verb in -ing that the grammar knows or can guess."""
    return word in GERUNDS or is_gerund(word)
