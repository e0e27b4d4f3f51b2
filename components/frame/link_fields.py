"""One value of a view as it stands in a link: its names there, how it is read and written, what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from backend.errors import InputError

LONGEST_PARAMETER = 2000
"""A longer text in a link is cut here before it is read."""


def _as_text(value: Any) -> tuple[str, ...]:
    return (f"{value:g}" if isinstance(value, float) else str(value),)


@dataclass(frozen=True)
class LinkField:
    """How one attribute of a state stands in the address.

    Attributes
    ----------
    attribute : str
        Name of the state's attribute; it is left out of a link where it has its default.
    names : tuple of str
        Its parameters in the address.
    read : callable
        One text a name (empty where a link lacks it) -> the value; raises ValueError on anything else.
    allowed : str
        What a link may say, in words, for the notice that a bad one gets; a check that raises InputError needs none.
    write : callable
        The inverse of ``read``: one text a name.
    refused : str
        The whole notice instead, where that is not enough; ``{text}`` is what the link says, ``{error}`` why not.
    longest : int or None
        Longer texts are cut; None: never.
    always : bool
        Written even where it has its default.
    """

    attribute: str
    names: tuple[str, ...]
    read: Callable[..., Any]
    allowed: str = ""
    write: Callable[[Any], Sequence[str]] = _as_text
    refused: str = ""
    longest: int | None = LONGEST_PARAMETER
    always: bool = False

    def written(self, state: object) -> dict[str, str]:
        """This field of a state as parameters; none where it is left out."""
        value = getattr(state, self.attribute)
        if value == getattr(type(state)(), self.attribute) and not self.always:
            return {}
        return dict(zip(self.names, self.write(value), strict=True))

    def notice(self, texts: Sequence[str], error: ValueError) -> str:
        """The sentence for a link whose ``texts`` cannot be read; an InputError says why by itself."""
        text = texts[0] if len(texts[0]) <= 40 else texts[0][:40] + "…"
        if self.refused:
            return self.refused.format(text=text, error=error)
        wrong = f". {error}" if isinstance(error, InputError) else f", which is not {self.allowed}."
        return f"The link asks for {self.names[0]} “{text}”{wrong} The default is shown instead."


def spelled(text: str) -> float | str:
    """The number that a parameter spells, or the text as it came, for its check to refuse."""
    try:
        return float(text)
    except ValueError:
        return text


def number(check: Callable[[Any], Any]) -> Callable[[str], Any]:
    """Reader of a number that ``check`` of the backend allows."""
    return lambda text: check(spelled(text))


def one_of(allowed: Sequence[str]) -> Callable[[str], str]:
    """Reader of one of the texts allowed."""

    def read(text: str) -> str:
        if text not in allowed:
            raise ValueError(text)
        return text

    return read


def switch(text: str) -> bool:
    """Reader of "1" and "0"."""
    return {"0": False, "1": True}[one_of(("0", "1"))(text)]
