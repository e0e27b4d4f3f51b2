"""How much memory an analysis needs, and a refusal in time."""

from __future__ import annotations

import resource
from pathlib import Path

from backend.errors import InputError

GIB = 2**30
SHARE = 0.8
"""Share of the free memory that one analysis may take (own choice)."""


def bytes_needed(clips: int, dim: int, itemsize: int, sources: int, combinations: int, *, mapped: bool = False) -> int:
    """Upper estimate of the peak, in bytes.

    The embeddings themselves (nothing for a memory map), one block of clips in float64 and its QR, the
    design matrix and its decomposition, and about ten arrays of combinations x dim.
    """
    embeddings = 0 if mapped else clips * dim * itemsize
    blocks = 3 * min(clips, 8192) * dim * 8 + 4 * dim * dim * 8
    products = max(128 * 2**20, 2 * sources * dim * 8)
    design = 4 * combinations * sources * 8
    reconstructions = 10 * combinations * dim * 8 + 4 * 1024 * combinations * 8
    kernels = 3 * min(combinations, dim) ** 2 * 8
    return embeddings + blocks + products + design + reconstructions + kernels + 64 * clips


def require_memory(needed: int, what: str, limit: int | None = None) -> None:
    """Refuse what will not fit.

    Parameters
    ----------
    needed : int
        Bytes, from ``bytes_needed``.
    what : str
        What it is for: ``200,000 clips x 1,024 numbers``.
    limit : int, optional
        Bytes allowed; by default 80 % of what is free now.

    Raises
    ------
    InputError
        More is needed than there is.
    """
    allowed = int(SHARE * available_memory()) if limit is None else limit
    if needed > allowed:
        raise InputError(
            f"{what} need {needed / GIB:.2f} GiB of memory and {allowed / GIB:.2f} GiB may be used. "
            f"Use a larger machine, fewer clips, or an uncompressed .npz, which is read in blocks.",
            concerns="file",
        )


def out_of_memory(needed: int, what: str) -> InputError:
    """The refusal for what was let in and did not fit after all."""
    return InputError(
        f"Memory ran out: {what} need about {needed / GIB:.2f} GiB. Use a larger machine or fewer clips.",
        concerns="file",
    )


def available_memory() -> int:
    """Bytes free for this process: the system's, or what its control group or address-space limit leaves it."""
    free = 4 * GIB
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            free = int(line.split()[1]) * 1024
    limit, used = _lines("/sys/fs/cgroup/memory.max"), _lines("/sys/fs/cgroup/memory.current")
    if limit and used and limit[0].isdigit():
        free = min(free, max(0, int(limit[0]) - int(used[0])))
    bound, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = _lines("/proc/self/statm")
    if bound != resource.RLIM_INFINITY and pages:
        free = min(free, max(0, bound - int(pages[0].split()[0]) * resource.getpagesize()))
    return free


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
