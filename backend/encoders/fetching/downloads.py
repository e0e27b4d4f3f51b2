"""One file from the network to the disk: resumable, hashed, bounded, cancellable, and only when asked.

Why not ``huggingface_hub.hf_hub_download``, which other programs use? Read in version 2.4.0, the one pinned here:

- It does not resume. A download goes to a temporary name of its own, which is deleted when the download fails; within
  one call it tries five times, and the next call begins at the first byte. LAION's checkpoints have 1.9 GB.
- It does not hash what it fetches over HTTP: it compares the size. A checkpoint here is a pickle, and whether it may be
  unpickled is decided by its SHA-256 (``backend.encoders.fetching.weights``).
- It is not bounded. ``etag_timeout`` limits the first request's connection and pauses, not the resolving of a name
  (which can hang for minutes), and the pause within a transfer is an environment variable read at import.
- It has no way to cancel but an exception out of a progress bar's ``update``; where ``hf_xet`` is installed, as
  it is here, the transfer is native code behind that bar.
- A full disk is a warning, and then the write fails. Here it is a sentence before the first byte.
- A mirror has to answer with the hub's own headers (``X-Repo-Commit``, an ETag); here any HTTP server will do.
- It lays locks and metadata beside the files, and fetches nothing under ``HF_HUB_OFFLINE``, which owners set so that no
  library fetches of its own accord; a download that somebody asked for is another thing.

What others have put into the hub's cache is used nevertheless: ``backend.encoders.fetching.hub`` looks there first.
``tests/backend/encoders/fetching/test_downloads.py`` holds this file to what is said of it above.
"""

from __future__ import annotations

import hashlib
import queue
import re
import shutil
import threading
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.errors import InputError
from backend.files import folder_is_writable, move_into_place
from backend.progress import Cancelled, Progress

ANSWER_SECONDS = 10.0
"""Longest wait for the first byte of an answer, name resolution included."""
SILENCE_SECONDS = 30.0
"""Longest pause within a transfer."""
CHUNK = 1 << 20
SPARE_BYTES = 200 << 20
"""Bytes left free on the disk beside the file."""

_busy: set[Path] = set()
_busy_lock = threading.Lock()


@dataclass(frozen=True)
class RemoteFile:
    """A file to fetch."""

    url: str
    target: Path
    size: int = 0
    """Bytes; 0 when only the server knows."""
    sha256: str = ""
    """Empty when only the server knows (a model hub states it in its answer)."""


def fetch(
    file: RemoteFile,
    progress: Progress | None = None,
    *,
    answer_seconds: float = ANSWER_SECONDS,
    silence_seconds: float = SILENCE_SECONDS,
) -> Path:
    """Download one file; what an earlier try left behind is continued.

    Parameters
    ----------
    file : RemoteFile
        From where, to where, and what it must be.
    progress : Progress, optional
        Told the file's name and its bytes after every chunk; when it is cancelled, the part so far is kept.
    answer_seconds, silence_seconds : float
        Time limits.

    Returns
    -------
    Path
        ``file.target``, complete and checked.

    Raises
    ------
    InputError
        The server is down, slow or answers something else; the disk is full; the hash is wrong; cancelled;
        another download of this file is running.
    """
    target = file.target
    with _busy_lock:
        if target in _busy:
            raise InputError(f"{target.name} is being downloaded already. Wait for it to finish.")
        _busy.add(target)
    try:
        if target.is_file():
            return target
        if not folder_is_writable(target.parent):
            raise InputError(
                f"{target.parent} cannot be written to. Set UNHEARD_CHECKPOINTS_DIR to a folder that can.",
                concerns="file",
            )
        return _Transfer(file, progress or Progress(), answer_seconds, silence_seconds).run()
    finally:
        with _busy_lock:
            _busy.discard(target)


class _Transfer:
    """The state of one download."""

    def __init__(self, file: RemoteFile, progress: Progress, answer_seconds: float, silence_seconds: float) -> None:
        self.file, self.progress = file, progress
        self.answer_seconds, self.silence_seconds = answer_seconds, silence_seconds
        # Not atomic_write's nameless part: this one outlives a failure, to be continued.
        self.part = file.target.with_name(file.target.name + ".part")
        self.host = re.sub(r"^https?://([^/]+).*$", r"\1", file.url)
        self.wanted = file.sha256.lower()

    def run(self) -> Path:
        have = self.part.stat().st_size if self.part.is_file() else 0
        with suppress(_StartOver):
            return self._attempt(have)
        self.part.unlink(missing_ok=True)  # the server cannot continue, or its file has changed
        return self._attempt(0)

    def _attempt(self, have: int) -> Path:
        opened = answered(self.file.url, have, self.answer_seconds, self.silence_seconds)
        with closing(opened):
            response = opened.response
            self._check_answer(response, have)
            resumed = have if response.status_code == 206 else 0
            length = response.headers.get("content-length", "")
            total = resumed + int(length) if length.isdigit() else self.file.size
            linked = [step.headers.get("x-linked-etag", "").strip('"') for step in (*response.history, response)]
            self.wanted = self.wanted or next((tag for tag in linked if re.fullmatch(r"[0-9a-f]{64}", tag)), "")
            self._check_disk(total - resumed)
            got, found = self._write(response, resumed, total)
        if total and got != total:
            raise InputError(
                f"The connection to {self.host} ended after {got / 1e6:.1f} of {total / 1e6:.1f} MB. The part is "
                f"kept; press download again to continue.",
                concerns="file",
            )
        self._check_hash(found)
        move_into_place(self.part, self.file.target)
        return self.file.target

    def _check_answer(self, response: Any, have: int) -> None:
        status, kind = response.status_code, response.headers.get("content-type", "")
        if status == 416 or (have and status == 206 and not _continues(response, have)):
            raise _StartOver
        if status in (401, 403, 404, 410):
            raise InputError(
                f"{self.host} has no {self.file.target.name} for us (HTTP {status}). It may have moved; fetch it by "
                f"hand into {self.file.target.parent}.",
                concerns="file",
            )
        if status not in (200, 206):
            raise InputError(f"{self.host} answered HTTP {status}. Try again later.", concerns="file")
        if kind.startswith("text/html"):
            raise InputError(
                f"{self.host} answered with a web page instead of {self.file.target.name}: a sign-in page or a proxy "
                f"is in between. Sign in, or fetch the file by hand into {self.file.target.parent}.",
                concerns="file",
            )

    def _check_disk(self, needed: int) -> None:
        free = shutil.disk_usage(self.file.target.parent).free
        if needed + SPARE_BYTES > free:
            raise InputError(
                f"{self.file.target.name} needs {needed / 1e9:.2f} GB and {SPARE_BYTES / 1e9:.1f} GB to spare; "
                f"{free / 1e9:.2f} GB are free. Free some space, or set UNHEARD_CHECKPOINTS_DIR to another disk.",
                concerns="file",
            )

    def _write(self, response: Any, got: int, total: int) -> tuple[int, str]:
        import httpx

        digest = hashlib.sha256()
        if got:
            with self.part.open("rb") as stream:
                while chunk := stream.read(CHUNK):
                    digest.update(chunk)
        try:
            with self.part.open("ab" if got else "wb") as stream:
                for chunk in response.iter_raw(CHUNK):
                    self.progress.check()
                    stream.write(chunk)
                    digest.update(chunk)
                    got += len(chunk)
                    self.progress.report(self.file.target.name, got, total)
                    if total and got > total:
                        break
        except Cancelled:
            raise InputError(
                f"The download of {self.file.target.name} was cancelled. The part is kept; press download again to "
                f"continue."
            ) from None
        except httpx.HTTPError:
            raise InputError(
                f"{self.host} fell silent after {got / 1e6:.1f} MB of {self.file.target.name}. The part is kept; "
                f"press download again to continue.",
                concerns="file",
            ) from None
        except OSError as error:
            raise InputError(
                f"{self.file.target.name} could not be written: {error.strerror or error}. Free some space and press "
                f"download again.",
                concerns="file",
            ) from None
        return got, digest.hexdigest()

    def _check_hash(self, found: str) -> None:
        if self.wanted and found != self.wanted:
            self.part.unlink(missing_ok=True)
            raise InputError(
                f"{self.file.target.name} arrived damaged or replaced: its SHA-256 is {found[:12]}…, expected "
                f"{self.wanted[:12]}…. It was deleted; try again, or fetch it from another place.",
                concerns="file",
            )


class _StartOver(Exception):
    """What is on the disk cannot be continued."""


def _continues(response: Any, have: int) -> bool:
    return str(response.headers.get("content-range", "")).startswith(f"bytes {have}-")


@dataclass(frozen=True)
class Opened:
    """An answer whose body has not been read."""

    client: Any
    response: Any

    def close(self) -> None:
        """Close the connection; the client alone would leave a half-read one open."""
        self.response.close()
        self.client.close()


def answered(url: str, have: int, answer_seconds: float, silence_seconds: float) -> Opened:
    """Ask for a file from byte ``have`` on, and give up after ``answer_seconds`` whatever hangs.

    The request runs in a thread of its own because resolving a name cannot be interrupted.

    Raises
    ------
    InputError
        Nobody answers in time, or the address is not one.
    """
    import httpx

    host = re.sub(r"^https?://([^/]+).*$", r"\1", url)
    answers: queue.Queue[Opened | Exception] = queue.Queue()
    given_up = threading.Event()

    def ask() -> None:
        client = httpx.Client(
            follow_redirects=True,
            timeout=httpx.Timeout(silence_seconds, connect=answer_seconds),
            headers={"user-agent": "unheard", "accept-encoding": "identity"},
        )
        try:
            headers = {"range": f"bytes={have}-"} if have else {}
            response = client.send(client.build_request("GET", url, headers=headers), stream=True)
        except Exception as error:  # handed to the waiting thread
            client.close()
            answers.put(error)
            return
        opened = Opened(client, response)
        if given_up.is_set():
            opened.close()
        answers.put(opened)

    threading.Thread(target=ask, daemon=True, name="download").start()
    try:
        answer = answers.get(timeout=answer_seconds)
    except queue.Empty:
        given_up.set()
        raise InputError(
            f"{host} did not answer within {answer_seconds:g} s. Check the connection, or set UNHEARD_HUB to a "
            f"mirror; the encoders that are ready keep working.",
            concerns="file",
        ) from None
    if isinstance(answer, Opened):
        return answer
    if isinstance(answer, httpx.InvalidURL | httpx.UnsupportedProtocol):
        raise InputError(f"{url} is not an address. Correct UNHEARD_HUB.") from None
    if isinstance(answer, httpx.HTTPError):
        raise InputError(
            f"{host} cannot be reached ({type(answer).__name__}). Check the connection, or set UNHEARD_HUB to a "
            f"mirror; the encoders that are ready keep working.",
            concerns="file",
        ) from None
    raise answer
