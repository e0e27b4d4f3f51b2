"""Progress of long work on a terminal's standard error; silent where nobody watches."""

from __future__ import annotations

import sys
from collections.abc import Callable


def on_terminal() -> Callable[[str, float], None] | None:
    """A progress callback that keeps one line up to date, or None when standard error is no terminal."""
    if not sys.stderr.isatty():
        return None

    def show(message: str, fraction: float) -> None:
        print(f"\r{100 * fraction:3.0f} %  {message}\033[K", end="", file=sys.stderr, flush=True)

    return show
