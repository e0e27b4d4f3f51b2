"""Where a network runs: the GPU when there is one that works, else the processor."""

from __future__ import annotations

import logging
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING

from backend.errors import InputError
from backend.settings import DEVICES, settings

if TYPE_CHECKING:
    import torch

log = logging.getLogger(__name__)


def device(wanted: str | None = None) -> torch.device:
    """The torch device encoders are put on.

    Parameters
    ----------
    wanted : "auto", "cpu" or "cuda", optional
        Default: the setting ``UNHEARD_DEVICE``.

    Raises
    ------
    InputError
        An unknown name, or "cuda" where no GPU works.
    """
    wanted = settings().device if wanted is None else wanted
    if wanted not in DEVICES:
        raise InputError(f"UNHEARD_DEVICE is {wanted!r}; it can be {', '.join(DEVICES)}.")
    import torch

    if wanted == "cpu" or (not cuda_works() and wanted == "auto"):
        return torch.device("cpu")
    if not cuda_works():
        raise InputError("UNHEARD_DEVICE is cuda, but no GPU works here. Set it to auto or cpu.")
    return torch.device("cuda")


@lru_cache(maxsize=1)
def cuda_works() -> bool:
    """Whether a GPU not only announces itself but multiplies correctly.

    A driver older than the wheel, or a card newer than it, is announced as available and fails
    at the first kernel; that must not take the page down.
    """
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "CUDA initialization: ..." on machines with half a driver
        if not torch.cuda.is_available():
            return False
        try:
            ones = torch.ones(2, 2, device="cuda")
            return bool((ones @ ones).sum().item() == 8.0)
        except RuntimeError as error:
            log.warning("The GPU is announced but does not work (%s); encoders run on the processor.", error)
            return False
