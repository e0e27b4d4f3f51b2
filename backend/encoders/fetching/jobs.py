"""Downloads that outlive the click that started them: a second visitor sees the first one's progress."""

from __future__ import annotations

import threading

from backend.encoders.base import forget_encoder
from backend.encoders.fetching import checkpoints
from backend.errors import InputError
from backend.progress import Progress
from backend.settings import settings

_jobs: dict[str, DownloadJob] = {}
_lock = threading.Lock()


class DownloadJob:
    """One encoder's download in a thread of its own."""

    def __init__(self, encoder_id: str) -> None:
        self.encoder_id = encoder_id
        self.progress = Progress()
        self.error = ""
        """A sentence once it has failed or was cancelled."""
        self._thread = threading.Thread(target=self._run, daemon=True, name=f"download-{encoder_id}")

    def start(self) -> DownloadJob:
        """Begin; call it once."""
        self._thread.start()
        return self

    @property
    def running(self) -> bool:
        """Whether it is neither finished nor failed."""
        return self._thread.is_alive()

    @property
    def cancelled(self) -> bool:
        """Whether somebody asked to stop it."""
        return self.progress.cancelled

    def cancel(self) -> None:
        """Stop after the current chunk; what has arrived is kept."""
        self.progress.cancel()

    def wait(self, seconds: float) -> bool:
        """Wait for the end, at most ``seconds``; whether it has come."""
        self._thread.join(seconds)
        return not self.running

    def _run(self) -> None:
        try:
            checkpoints.download(self.encoder_id, self.progress)
            forget_encoder(self.encoder_id)
        except InputError as error:
            self.error = str(error)
        except Exception as error:  # a thread's exception would only reach the log
            self.error = f"The download of {self.encoder_id} failed unexpectedly ({type(error).__name__}). Try again."


def running_job(encoder_id: str) -> DownloadJob | None:
    """The download of an encoder that is going on, or None."""
    with _lock:
        job = _jobs.get(encoder_id)
        return job if job is not None and job.running else None


def start_job(encoder_id: str) -> DownloadJob:
    """The running download of an encoder, started if there is none.

    Raises
    ------
    InputError
        Downloads are switched off here.
    """
    if not settings().downloads:
        raise InputError("Downloads are switched off here (UNHEARD_DOWNLOADS is 0). Ask the owner of this page.")
    with _lock:
        job = _jobs.get(encoder_id)
        if job is None or not job.running:
            job = _jobs[encoder_id] = DownloadJob(encoder_id).start()
        return job
