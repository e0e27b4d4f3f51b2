"""Values computed once and kept, within bounds, for whoever asks next or at the same time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from backend.progress import Progress

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

LOOK_SECONDS = 0.25
"""How often one who waits for another's computation looks how far it is."""


class _Running(Generic[Value]):
    """A computation that is going on."""

    def __init__(self, progress: Progress | None) -> None:
        self.progress = progress
        self.over = threading.Event()
        self.found: list[Value] = []
        """The value, once there is one; empty when the computation failed."""

    def wait(self, progress: Progress | None) -> None:
        """Until it is over; whoever waits is told how far it is. Raises Cancelled when they no longer want it."""
        while not self.over.wait(None if progress is None else LOOK_SECONDS):
            if progress is not None and self.progress is not None and (step := self.progress.latest) is not None:
                progress.report(step.what, step.done, step.total)
            elif progress is not None:
                progress.check()


class Kept(Generic[Key, Value]):
    """A bounded store of computed values; those used longest ago go first. Safe to use from several threads.

    Parameters
    ----------
    most : int, optional
        Values kept; None for any number.
    most_bytes : int, optional
        Bytes kept, as ``size`` counts them; None for any number.
    size : callable, optional
        A value's bytes; needed with ``most_bytes``.
    least : int
        So many of the latest values are kept even if they are larger than ``most_bytes``.
    dropped : callable, optional
        Told the key of a value that went because of the bounds.
    """

    def __init__(
        self,
        most: int | None = None,
        *,
        most_bytes: int | None = None,
        size: Callable[[Value], int] = lambda value: 0,
        least: int = 0,
        dropped: Callable[[Key], None] = lambda key: None,
    ) -> None:
        self._most, self._most_bytes, self._least = most, most_bytes, least
        self._size, self._dropped = size, dropped
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._bytes = 0
        self._running: dict[Key, _Running[Value]] = {}
        self._lock = threading.RLock()

    def get(self, key: Key, make: Callable[[], Value], progress: Progress | None = None) -> Value:
        """The value of ``key``, computed if it is not there: once, however many ask at the same time.

        Parameters
        ----------
        key : hashable
            Everything the value depends on.
        make : callable
            Computes the value. What it raises reaches the caller and is not kept: the next one computes again.
        progress : Progress, optional
            What ``make`` reports to. One who finds the value being computed is told the same and may cancel
            their own waiting; it does not cancel the computation.

        Raises
        ------
        Cancelled
            ``progress`` was cancelled while waiting.
        """
        while True:
            with self._lock:
                if key in self._values:
                    self._values.move_to_end(key)
                    return self._values[key]
                running = self._running.get(key)
                if running is None:
                    mine = self._running[key] = _Running(progress)
                    break
            running.wait(progress)
            if running.found:
                return running.found[0]
        try:
            mine.found = [make()]
            with self._lock:
                # Forgotten meanwhile: good for those who asked before that, out of date for the next.
                if self._running.get(key) is mine:
                    self.put(key, mine.found[0])
            return mine.found[0]
        finally:
            with self._lock:
                if self._running.get(key) is mine:
                    del self._running[key]
            mine.over.set()

    def put(self, key: Key, value: Value) -> None:
        """Keep a value that was computed elsewhere."""
        with self._lock:
            self._take(key)
            self._values[key] = value
            self._bytes += self._size(value)
            while len(self._values) > self._least and self._over():
                oldest = next(iter(self._values))
                self._take(oldest)
                self._dropped(oldest)

    def found(self, key: Key) -> Value | None:
        """The value of ``key`` if it is there, which counts as a use of it; else None."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def __contains__(self, key: object) -> bool:
        with self._lock:
            return key in self._values

    def __len__(self) -> int:
        with self._lock:
            return len(self._values)

    @property
    def bytes_held(self) -> int:
        """Bytes of all values, as ``size`` counts them."""
        with self._lock:
            return self._bytes

    def forget(self, key: Key) -> None:
        """Drop one value; one that is being computed now is not kept."""
        with self._lock:
            self._running.pop(key, None)
            self._take(key)

    def clear(self) -> None:
        """Drop all values; those being computed now are not kept."""
        with self._lock:
            self._running.clear()
            self._values.clear()
            self._bytes = 0

    def _over(self) -> bool:
        too_many = self._most is not None and len(self._values) > self._most
        return too_many or (self._most_bytes is not None and self._bytes > self._most_bytes)

    def _take(self, key: Key) -> None:
        if key in self._values:
            self._bytes -= self._size(self._values.pop(key))
