"""What every encoder does around its network: check the input, run it in batches, normalise.

Between two batches an encoder reports to whoever watches, which is how a long embedding is cancelled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from backend.encoders.base import FloatArray
from backend.errors import InputError
from backend.progress import Progress

BATCH = 4
"""Windows a batch on a processor: larger ones are no faster (measured) and cost memory."""
GPU_BATCH = 32
"""Windows a batch on a GPU."""

_watched_by: ContextVar[Progress | None] = ContextVar("unheard_embedding_progress", default=None)


@contextmanager
def watching(progress: Progress) -> Iterator[None]:
    """Within this block, encoders report each batch to ``progress``, which may be cancelled."""
    token = _watched_by.set(progress)
    try:
        yield
    finally:
        _watched_by.reset(token)


def checked_windows(windows: FloatArray, encoder_id: str, sample_rate: int, longest: float = 600.0) -> FloatArray:
    """Checked audio: (n, samples) finite floats, unchanged.

    Parameters
    ----------
    windows : np.ndarray, shape (n, samples), float
        Full scale 1.0 at ``sample_rate``.
    encoder_id : str
        For the message.
    sample_rate : int
        Hz.
    longest : float
        Longest window the network takes, in seconds.

    Raises
    ------
    InputError
        Another shape, an integer type (whose full scale is not 1), an empty or too long window, NaN or infinity.
    """
    windows = np.asarray(windows)
    if windows.ndim != 2 or not np.issubdtype(windows.dtype, np.floating):
        raise InputError(
            f"{encoder_id} was given audio of shape {windows.shape} and type {windows.dtype}; it takes floats of "
            f"shape (windows, samples) with full scale 1.0 at {sample_rate} Hz."
        )
    samples = windows.shape[1]
    if len(windows) and not 0 < samples <= round(longest * sample_rate):
        raise InputError(
            f"{encoder_id} was given windows of {samples / sample_rate:.2f} s; it takes more than 0 s and at most "
            f"{longest:g} s. Choose another window length."
        )
    if not np.isfinite(windows).all():
        bad = np.flatnonzero(~np.isfinite(windows).all(axis=1))
        raise InputError(
            f"{len(bad)} of {len(windows)} windows hold samples that are not numbers (NaN or infinity), the first is "
            f"window {bad[0]}. Repair the recording and try again.",
            concerns="file",
        )
    return np.ascontiguousarray(windows, dtype=np.float32)


def checked_texts(texts: Sequence[str], encoder_id: str) -> list[str]:
    """Checked texts: a sequence of str, as a list.

    Raises
    ------
    InputError
        A bare string (which would be embedded letter by letter), or something that is not text.
    """
    if isinstance(texts, str):
        raise InputError(f"{encoder_id} was given one string; it takes a list of texts. Write [text].")
    listed = list(texts)
    for text in listed:
        if not isinstance(text, str):
            raise InputError(f"{encoder_id} was given {type(text).__name__} among its texts; each must be text.")
    return listed


def no_text_side(encoder_id: str) -> InputError:
    """The error of ``embed_text`` where there is no text side."""
    return InputError(
        f"{encoder_id} has no text side: it compares sounds with sounds. Choose an encoder such as pocket or laion "
        f"to search by words."
    )


def unit_rows(vectors: FloatArray, encoder_id: str) -> FloatArray:
    """Rows scaled to length one, float32.

    Raises
    ------
    InputError
        A row is zero or not finite: the network or its weights are broken.
    """
    vectors = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 1e-12).all()):
        raise InputError(
            f"{encoder_id} answered with a vector that has no direction (zero or not a number). Its weights are "
            f"damaged or do not belong to this architecture; use another encoder.",
            concerns="file",
        )
    return np.asarray(vectors / lengths, dtype=np.float32)


def in_batches(
    items: FloatArray | Sequence[object],
    size: int,
    embed: Callable[[FloatArray | Sequence[object]], FloatArray],
    dim: int,
    encoder_id: str,
) -> FloatArray:
    """Embed ``items`` a batch at a time; when memory runs out, with half the batch.

    Parameters
    ----------
    items : sequence of length n
        Windows (n, samples) or texts.
    size : int
        Largest batch.
    embed : callable
        (k, ...) items -> (k, dim) vectors, not yet normalised.
    dim : int
        D, for the empty answer.
    encoder_id : str
        For messages.

    Returns
    -------
    np.ndarray, shape (n, D), float32
        L2-normalised.

    Raises
    ------
    InputError
        One item alone does not fit into memory, or the answer has no direction.
    Cancelled
        Whoever watches does not wait any more.
    """
    total, done, parts = len(items), 0, []
    progress = _watched_by.get() or Progress()
    while done < total:
        try:
            part = embed(items[done : done + size])
        except (MemoryError, RuntimeError) as error:
            if not ran_out_of_memory(error):
                raise
            if size == 1:
                raise InputError(
                    f"There is not enough memory here to run {encoder_id} on one item. Close other programs, "
                    f"choose a shorter window, or use the encoder pocket."
                ) from None
            size = max(1, size // 2)
            continue
        parts.append(unit_rows(part, encoder_id))
        done += len(part)
        progress.report(f"Embedding with {encoder_id}", done, total)
    return np.concatenate(parts) if parts else np.zeros((0, dim), dtype=np.float32)


def ran_out_of_memory(error: BaseException) -> bool:
    """Whether an exception of torch or Python says that memory ran out."""
    if isinstance(error, MemoryError):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and ("out of memory" in text or "can't allocate memory" in text)
