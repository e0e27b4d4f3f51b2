"""An encoder that lives in its own process: ``process:<command>``.

Models such as WAVE-7B pin their own transformers and need their own environment and GPU. Any program that
speaks this protocol on its standard streams can serve, one JSON object a line:

    worker  -> {"hello": "unheard/1", "name": "wave-7b", "sample_rate": 16000, "dim": 1024, "text": true}
    program -> {"id": 1, "wav": ["/tmp/.../0.wav", "/tmp/.../1.wav"]}       float32 mono at sample_rate
    program -> {"id": 2, "text": ["a dog barking"]}
    worker  -> {"id": 1, "embeddings": [[...], [...]]}                      one row an item, any length
    worker  -> {"id": 2, "error": "one sentence"}

"weights" in the greeting (any string) becomes part of every cache key. Lines that are not JSON objects are
taken for chatter and skipped. A worker that dies or hangs is ended and started anew.
"""

from __future__ import annotations

import hashlib
import shlex
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from backend.encoders import batches
from backend.encoders.base import Encoder, EncoderInfo, FloatArray
from backend.encoders.families.worker import Worker, WorkerDied
from backend.errors import InputError
from backend.settings import settings

PROTOCOL = "unheard/1"
TEXT_BATCH = 16
RATES = range(8_000, 96_001)
DIMS = range(2, 65_537)


@dataclass(frozen=True)
class Greeting:
    """What a worker said of itself."""

    name: str
    sample_rate: int
    dim: int
    text: bool
    weights: str


class ProcessEncoder:
    """A running worker. Calls are answered one at a time."""

    def __init__(self, encoder_id: str, command: Sequence[str], seconds: float) -> None:
        self.id, self.command, self.seconds = encoder_id, list(command), seconds
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._counter = 0
        greeting = self._started()[1]
        self.greeting = greeting
        self.sample_rate, self.dim, self.has_text = greeting.sample_rate, greeting.dim, greeting.text
        told = f"{greeting.weights}|{greeting.name}|{greeting.dim}|{greeting.sample_rate}|{self.command}"
        self.weights = hashlib.sha256(told.encode()).hexdigest()[:12]

    def embed_audio(self, windows: FloatArray) -> FloatArray:
        """(n, samples) float32 -> (n, D), L2-normalised; the worker reads WAV files.

        Raises
        ------
        InputError
            NaN or another shape; the worker died twice, hung, refused, or answered something else.
        """
        import soundfile

        windows = batches.checked_windows(windows, self.id, self.sample_rate)

        def batch(part: Any) -> FloatArray:
            with tempfile.TemporaryDirectory(prefix="unheard-") as folder:
                paths = [str(Path(folder) / f"{index}.wav") for index in range(len(part))]
                for path, window in zip(paths, part, strict=True):
                    soundfile.write(path, window, self.sample_rate, subtype="FLOAT")
                return self._asked({"wav": paths}, len(part))

        return batches.in_batches(windows, batches.BATCH, batch, self.dim, self.id)

    def embed_text(self, texts: Sequence[str]) -> FloatArray:
        """m texts -> (m, D), L2-normalised. Raises InputError as ``embed_audio`` does, or without a text side."""
        if not self.has_text:
            raise batches.no_text_side(self.id)
        texts = batches.checked_texts(texts, self.id)
        return batches.in_batches(
            texts, TEXT_BATCH, lambda part: self._asked({"text": list(part)}, len(part)), self.dim, self.id
        )

    def close(self) -> None:
        """End the worker; the next call starts it anew."""
        with self._lock:
            self._stop()

    def _stop(self) -> None:
        if self._worker is not None:
            self._worker.stop()
            self._worker = None

    def _asked(self, request: dict[str, Any], count: int) -> FloatArray:
        with self._lock:
            try:
                answer = self._exchange(request)
            except WorkerDied:
                self._stop()  # once more with a fresh worker: it may have died between two calls
                try:
                    answer = self._exchange(request)
                except WorkerDied as error:
                    self._stop()
                    raise InputError(f"The worker of {self.id} {error}", concerns="file") from None
            return self._checked(answer, count)

    def _exchange(self, request: dict[str, Any]) -> dict[str, Any]:
        worker = self._worker or self._started()[0]
        self._counter += 1
        try:
            worker.send({"id": self._counter, **request})
            return worker.receive(self.seconds, lambda answer: answer.get("id") == self._counter)
        except TimeoutError:
            self._stop()
            raise InputError(
                f"The worker of {self.id} did not answer within {self.seconds:g} s and was ended; the next call starts "
                f"it again. Raise UNHEARD_WORKER_SECONDS if the model is that slow.",
                concerns="file",
            ) from None

    def _started(self) -> tuple[Worker, Greeting]:
        """A new worker that has greeted."""
        worker = Worker(self.command, self.id)
        try:
            greeting = greeted(worker.receive(self.seconds, lambda answer: "hello" in answer), self.id)
        except (WorkerDied, TimeoutError) as error:
            worker.stop()
            how = f"did not greet within {self.seconds:g} s." if isinstance(error, TimeoutError) else str(error)
            raise InputError(f"The worker of {self.id} {how}", concerns="file") from None
        except InputError:
            worker.stop()
            raise
        self._worker = worker
        return worker, greeting

    def _checked(self, answer: dict[str, Any], count: int) -> FloatArray:
        if "error" in answer:
            raise InputError(f"The worker of {self.id} refused: {str(answer['error'])[:300]}", concerns="file")
        try:
            found = np.asarray(answer.get("embeddings"), dtype=np.float32)
        except (TypeError, ValueError):
            found = np.zeros(0, dtype=np.float32)
        if found.shape != (count, self.dim):
            raise InputError(
                f"The worker of {self.id} answered an array of shape {found.shape}; asked were {count} rows of "
                f"{self.dim} numbers.",
                concerns="file",
            )
        return found


def greeted(said: dict[str, Any], encoder_id: str) -> Greeting:
    """A worker's greeting, checked.

    Raises
    ------
    InputError
        Another protocol, or numbers out of range.
    """
    if said.get("hello") != PROTOCOL:
        raise InputError(f"The worker of {encoder_id} speaks {said.get('hello')!r}; needed is {PROTOCOL!r}.")
    rate, dim = said.get("sample_rate"), said.get("dim")
    if not (isinstance(rate, int) and rate in RATES and isinstance(dim, int) and dim in DIMS):
        raise InputError(
            f"The worker of {encoder_id} greeted with sample_rate {rate!r} and dim {dim!r}; needed are whole numbers, "
            f"{RATES.start} to {RATES.stop - 1} Hz and {DIMS.start} to {DIMS.stop - 1}."
        )
    name = str(said.get("name", "unnamed"))[:80]
    return Greeting(name, rate, dim, bool(said.get("text")), str(said.get("weights", ""))[:200])


class Family:
    """``process:<command>``; none is known by name."""

    prefix = "process"

    def listed(self) -> Sequence[EncoderInfo]:
        """Empty: a command is the user's own."""
        return ()

    def load(self, encoder_id: str) -> Encoder:
        """Start the command and wait for its greeting. Raises InputError when it does not come."""
        try:
            command = shlex.split(encoder_id.partition(":")[2])
        except ValueError as error:
            raise InputError(f"{encoder_id} is not a command: {error}.") from None
        if not command:
            raise InputError("process: needs a command, for example process:/opt/wave/bin/python worker.py.")
        return ProcessEncoder(encoder_id, command, settings().worker_seconds)


FAMILY = Family()
