"""How far long work is, and whether anybody still waits for it: the one object that every long function takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


class Cancelled(Exception):
    """Raised inside the work when nobody waits for it any more."""


@dataclass(frozen=True)
class Step:
    """How far something is."""

    what: str
    """What is being done, for people."""
    done: float
    total: float
    """In the unit of ``done``: clips, windows, bytes; 0 when unknown."""

    @property
    def share(self) -> float:
        """The part done, 0 to 1; 0 when the total is unknown."""
        return self.done / self.total if self.total else 0.0


class Progress:
    """Told by the work how far it is; cancelled, by any thread, when the result is not wanted any more.

    Parameters
    ----------
    show : callable, optional
        Called with each Step, in the thread of the work.
    whole : Progress, optional
        The work that this is a part of: cancelled with it.

    Attributes
    ----------
    latest : Step or None
        The last that was reported, for whoever looks from outside.
    """

    def __init__(self, show: Callable[[Step], None] | None = None, *, whole: Progress | None = None) -> None:
        self.latest: Step | None = None
        self._show, self._whole = show, whole
        self._cancelled = False

    def report(self, what: str, done: float, total: float) -> None:
        """Say how far the work is. Raises Cancelled as :meth:`check` does."""
        self.check()
        self.latest = Step(what, done, total)
        if self._show is not None:
            self._show(self.latest)

    def check(self) -> None:
        """For work that has nothing new to say. Raises Cancelled when nobody waits any more."""
        if self.cancelled:
            raise Cancelled

    def cancel(self) -> None:
        """Let the work stop at its next report or check."""
        self._cancelled = True

    @property
    def cancelled(self) -> bool:
        """Whether this, or the work it is a part of, is to stop."""
        return self._cancelled or (self._whole is not None and self._whole.cancelled)

    def part(self, start: float, end: float) -> Progress:
        """Progress for a part of the work: its 0 to 1 is the whole's ``start`` to ``end``; cancelled with the whole."""
        return Progress(lambda step: self.report(step.what, start + (end - start) * step.share, 1.0), whole=self)

    def silent_part(self) -> Progress:
        """Progress for a part of the work that says nothing; cancelled with the whole."""
        return Progress(whole=self)
