"""A child process that is spoken to in JSON lines, with limits on time and on what it may say."""

from __future__ import annotations

import atexit
import json
import os
import queue
import signal
import subprocess
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import IO, Any

from backend.errors import InputError

LONGEST_LINE = 64 << 20
"""Bytes; a longer line is taken for a worker gone wrong."""
CHATTER = 10_000
"""Lines that are not JSON objects a worker may print before one answer."""
LAST_WORDS = 5
"""Lines of standard error kept for the message."""

_running: weakref.WeakSet[Worker] = weakref.WeakSet()


class WorkerDied(Exception):
    """The worker ended, or can no longer be understood; the message completes "The worker ..."."""


class Worker:
    """One child process in its own process group.

    Parameters
    ----------
    command : sequence of str
        Program and arguments; no shell.
    encoder_id : str
        For messages.

    Raises
    ------
    InputError
        The program cannot be started.
    """

    def __init__(self, command: Sequence[str], encoder_id: str) -> None:
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"{encoder_id} cannot be started: {reason}. Check the path of the program.") from None
        self._lines: queue.Queue[bytes | None] = queue.Queue(maxsize=1000)
        self._said: deque[str] = deque(maxlen=LAST_WORDS)
        self._stopping = threading.Event()
        self._outbox: queue.Queue[bytes | None] = queue.Queue()
        # Each stream has its own thread: a full pipe on one of them must not block the others.
        self._threads = [
            threading.Thread(target=work, daemon=True, name=f"worker-{name}")
            for name, work in (("out", self._read), ("err", self._listen), ("in", self._write))
        ]
        for thread in self._threads:
            thread.start()
        _running.add(self)

    def send(self, message: dict[str, Any]) -> None:
        """Hand one line over. Raises WorkerDied when the process has ended."""
        if self._process.poll() is not None:
            raise WorkerDied(self._obituary())
        self._outbox.put((json.dumps(message) + "\n").encode())

    def receive(self, seconds: float, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next JSON object that is ``wanted``; other lines are skipped.

        Raises
        ------
        TimeoutError
            Nothing wanted came within ``seconds``.
        WorkerDied
            The process ended, or printed too much that is not an answer.
        """
        limit, skipped = time.monotonic() + seconds, 0
        while True:
            left = limit - time.monotonic()
            try:
                line = self._lines.get(timeout=max(0.0, left))
            except queue.Empty:
                raise TimeoutError from None
            if line is None:
                raise WorkerDied(self._obituary())
            answer = _parsed(line)
            if answer is not None and wanted(answer):
                return answer
            skipped += 1
            if skipped > CHATTER or len(line) >= LONGEST_LINE:
                shown = line[:60].decode(errors="replace").strip()
                raise WorkerDied(f"writes something other than JSON answers to standard output, the last is {shown!r}.")

    def stop(self) -> None:
        """End the process and everything it started."""
        self._stopping.set()
        self._outbox.put(None)
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join(timeout=2)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            _closed(stream)
        _running.discard(self)

    def _obituary(self) -> str:
        try:
            code = self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            return "closed its standard output."
        words = " ".join(self._said)[-300:].strip()
        return f"ended with exit code {code}" + (f": {words.rstrip('.')}." if words else " and said nothing.")

    def _read(self) -> None:
        stream = self._process.stdout
        while stream is not None and (line := stream.readline(LONGEST_LINE)):
            if not self._put(line):
                return
        self._put(None)

    def _put(self, line: bytes | None) -> bool:
        while not self._stopping.is_set():
            try:
                self._lines.put(line, timeout=0.2)
                return True
            except queue.Full:
                continue
        return False

    def _listen(self) -> None:
        stream = self._process.stderr
        while stream is not None and (line := stream.readline(1000)):
            text = line.decode(errors="replace").strip()
            if text:
                self._said.append(text)

    def _write(self) -> None:
        stream = self._process.stdin
        while stream is not None and (data := self._outbox.get()) is not None:
            try:
                stream.write(data)
                stream.flush()
            except (OSError, ValueError):
                return  # it ended; the reader notices


def _parsed(line: bytes) -> dict[str, Any] | None:
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _closed(stream: IO[bytes] | None) -> None:
    try:
        if stream is not None:
            stream.close()
    except OSError:
        pass  # a broken pipe at the last flush


@atexit.register
def stop_all() -> None:
    """End every worker when the program ends."""
    for worker in list(_running):
        worker.stop()
