"""Progress of long work on a terminal's standard error; silent where nobody watches."""

from __future__ import annotations

import sys
from collections.abc import Callable

_CLEARED = "\r\033[K"
_shown = False
"""Whether a line of progress stands on the terminal, in the way of what comes next."""


def on_terminal() -> Callable[[str, float], None] | None:
    """A progress callback that keeps one line up to date, or None when standard error is no terminal."""
    if not sys.stderr.isatty():
        return None

    def show(message: str, fraction: float) -> None:
        global _shown
        _shown = True
        print(f"\r{100 * fraction:3.0f} %  {message}\033[K", end="", file=sys.stderr, flush=True)

    return show


def clear() -> None:
    """Take the line of progress away, before a result or an error is printed where it stands."""
    global _shown
    if _shown:
        print(_CLEARED, end="", file=sys.stderr, flush=True)
        _shown = False
