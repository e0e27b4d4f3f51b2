"""Tokens to items: the longest cue phrase at each place that fits its neighbours."""

from __future__ import annotations

from collections.abc import Sequence

from backend.negation.compounds import hidden_absence
from backend.negation.lexicon import ENGLISH_PHRASES, LONGEST_PHRASE, Kind
from backend.negation.marks import answered, unquoted
from backend.negation.parts import DETERMINERS, PRONOUNS, Item
from backend.negation.tokens import Token
from backend.negation.traps import AFTER_ABSENT, trap
from backend.negation.words import SOUND_NOUNS, adjective_of, is_adjective


def itemize(tokens: Sequence[Token]) -> list[Item]:
    """Every token in exactly one item, in order."""
    tokens = answered(unquoted(tokens))
    items: list[Item] = []
    place = 0
    while place < len(tokens):
        item = trap(tokens, place, items) or _phrase(tokens, place, items) or _word(tokens[place])
        items.append(item)
        place += len(item.tokens)
    return _continuing(_no_longer(_left_out(_effect_of_absence(_one_word_excluded(items)))))


def _phrase(tokens: Sequence[Token], place: int, items: Sequence[Item]) -> Item | None:
    ahead = tokens[place : place + LONGEST_PHRASE]
    for length, kind in ENGLISH_PHRASES.matches([token.word for token in ahead]):
        following = tokens[place + length] if place + length < len(tokens) else None
        words = tuple(token.word for token in ahead[:length])
        if _fits(words, kind, following, items):
            if kind is Kind.STOP and _state_of_a_companion(words, items):
                kind = Kind.ABSENT
            return Item(kind, tuple(ahead[:length]))
    return None


def _state_of_a_companion(words: tuple[str, ...], items: Sequence[Item]) -> bool:
    """ "with the radio turned off" is a state all along; "the radio is turned off" may be an event that was heard."""
    if words[0] not in ("turned", "switched", "shut", "powered") or words[-1] != "off":
        return False
    before = next((item for item in reversed(items) if item.kind is not Kind.WORD), None)
    return before is not None and before.words in ("with", "and with")


def _fits(words: tuple[str, ...], kind: Kind, following: Token | None, items: Sequence[Item]) -> bool:
    """Whether a phrase plays its part here; a few need to look at their neighbours."""
    phrase = " ".join(words)
    before = items[-1] if items else None
    starts = before is None or before.kind not in (Kind.WORD, Kind.KEEP)
    ends = following is None or following.mark
    if phrase in (": no", "? no", "? none", "? yes", "? nope", ": zero", ": 0", "no thanks", "no thank you"):
        return ends
    if len(words) > 1 and words[-1] == ":":
        # "absent: rain", not "thunder absent: ..."; but "rain exclude:wind", as search engines read it.
        return (_clause_start(before) or words[0] in _OPERATORS) and not ends
    if phrase == "too" and before is not None and before.words == "not":
        return ends or not (is_adjective(following.word) or adjective_of(following.word))  # type: ignore[union-attr]
    if kind is Kind.ABSENT and len(words) == 1:
        denied = before is not None and before.kind is Kind.NEG and before.words == "not"
        return (not starts or denied) and (ends or following.word in AFTER_ABSENT)  # type: ignore[union-attr]
    if kind is Kind.ABSENT and words[-1] in _STATES and "not" in words:
        return ends or following.word in AFTER_ABSENT  # type: ignore[union-attr]
    if kind is Kind.DROP and words[1:2] == ("not",) and words[-1] in PRONOUNS:
        return before is not None and before.kind is Kind.COMMA and ends
    if kind is Kind.NEG and words[1:2] == ("off",):
        return _clause_start(before)
    if phrase in ("skip", "ditch", "forgo"):
        return _clause_start(before) and not ends
    if phrase == "so":
        return before is not None and before.kind is Kind.COMMA
    if phrase == "dies":
        return (not starts and ends) or (before is not None and before.kind is Kind.AND and ends)
    if phrase in ("yes", "present", "audible", "included", "wanted", "welcome", "allowed", "permitted"):
        return not starts and ends
    if kind in (Kind.REST, Kind.ONLY) and phrase in ("alone", "exclusively"):
        return phrase == "exclusively" or ends or following.word in AFTER_ABSENT  # type: ignore[union-attr]
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
    return word not in ("end", "ending") or following is None or following.mark or following.word in AFTER_ABSENT


def _word(token: Token) -> Item:
    return Item(Kind.WORD, (token,), hidden_absence(token.word))


def _one_word_excluded(items: list[Item]) -> list[Item]:
    """ "-thunder rain": the sign of a search engine reaches over one word, or over a compound, "-car horn"."""
    result: list[Item] = []
    for place, item in enumerate(items):
        signed = place >= 2 and items[place - 2].words == "¬" and items[place - 1].kind is Kind.WORD
        own_sound = item.kind is Kind.WORD and item.words in SOUND_NOUNS - COMPOUND_HEADS
        describes = is_adjective(items[place - 1].words) if place else False
        if signed and own_sound and not describes:
            first = item.tokens[0].start
            result.append(Item(Kind.END, (Token("", first, first, mark=True),)))
        result.append(item)
    return result


COMPOUND_HEADS = frozenset(
    "accompaniment alarm alarms ambience announcement announcements applause bark barking beat beats bell bells "
    "chatter chord chords crowd cheering clapping drum drums drumming echo engine engines fire flute guitar "
    "gunshot horn horns hum keyboard keyboards laughter machine machines motor motors music noise noises organ "
    "percussion phone phones piano radio reverb rhythm road scream siren sirens snoring song sound sounds speech "
    "station static street television toilet train trains truck trucks trumpet vehicle vehicles violin "
    "vocal vocals voice voices water wave waves whistle whistling word words audio conversation "
    "door doors talking singing crying typing".split()
)
"""Sounds that a noun before them may name the source of: "car horn", "church bell"."""


def _effect_of_absence(items: list[Item]) -> list[Item]:
    """ "the absence of thunder makes the rain clear": the verb ends what is absent."""
    for place, item in enumerate(items):
        if item.kind is not Kind.PREP or not {"absence", "lack"} & set(item.words.split()):
            continue
        for later in range(place + 2, len(items)):
            if items[later].kind is not Kind.WORD:
                break
            if items[later].words in _EFFECTS:
                return [*items[:later], Item(Kind.WITH, items[later].tokens), *items[later + 1 :]]
    return items


_EFFECTS = frozenset("makes made making lets means allows reveals exposes gives brings leaves helps emphasizes".split())


def _left_out(items: list[Item]) -> list[Item]:
    """ "leave the drums out": the two halves of a verb that removes."""
    result = list(items)
    for place, item in enumerate(items):
        starts = _clause_start(items[place - 1] if place else None)
        if not starts or item.kind is not Kind.WORD or item.words not in _REMOVING:
            continue
        for later in range(place + 1, len(items)):
            if items[later].kind is not Kind.WORD:
                break
            if items[later].words == "out" and later > place + 1:
                result[place] = Item(Kind.NEG, item.tokens)
                result[later] = Item(Kind.DROP, items[later].tokens)
                break
    return result


_STATES = frozenset("on started begun come arrived happened occurred appeared sounded yet".split())
"""Last words of "is not on", "has not started": what follows must not be a part of the same verb."""
_OPERATORS = frozenset("exclude excluding without omit avoid include including with not".split())
_REMOVING = frozenset("leave keep take cut filter mix edit strip".split())


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
