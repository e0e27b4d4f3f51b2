"""The one error a user can cause. Its message is shown as it is, on the page and on the command line."""

from __future__ import annotations

from typing import Literal

Concerns = Literal["argument", "file"]


class InputError(ValueError):
    """Something a person gave cannot be used.

    The message is one or two sentences: what came, what is allowed, what to do next.

    Parameters
    ----------
    message : str
        Shown unchanged.
    concerns : "argument" or "file"
        What was wrong: a value someone typed (the command line exits 2) or the
        content of a file (the command line exits 1).
    """

    def __init__(self, message: str, *, concerns: Concerns = "argument") -> None:
        super().__init__(message)
        self.concerns: Concerns = concerns
