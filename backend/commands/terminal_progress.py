"""Progress of long work on a terminal's standard error; silent where nobody watches."""

from __future__ import annotations

import sys

from backend.progress import Progress, Step

_CLEARED = "\r\033[K"
_shown = False
"""Whether a line of progress stands on the terminal, in the way of what comes next."""


def on_terminal() -> Progress | None:
    """Progress that keeps one line up to date, or None when standard error is no terminal."""
    if not sys.stderr.isatty():
        return None

    def show(step: Step) -> None:
        global _shown
        _shown = True
        print(f"\r{100 * step.share:3.0f} %  {step.what}\033[K", end="", file=sys.stderr, flush=True)

    return Progress(show)


def clear() -> None:
    """Take the line of progress away, before a result or an error is printed where it stands."""
    global _shown
    if _shown:
        print(_CLEARED, end="", file=sys.stderr, flush=True)
        _shown = False
