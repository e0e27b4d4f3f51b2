"""A stretch of a query with one part in the grammar, and the closed classes of English words."""

from __future__ import annotations

from dataclasses import dataclass

from backend.negation.lexicon import Kind
from backend.negation.tokens import Token

AUXILIARIES = frozenset(
    "is are was were be been being am do does did can could will would shall should may might must has have had "
    "get gets getting stays stay remains".split()
)
RELATIVES = frozenset("that which who whose".split())
PRONOUNS = frozenset("it they he she we you i there this these those them him her one".split())
DETERMINERS = frozenset(
    "a an the some any this these those its his her their my your our each every another one single such".split()
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
