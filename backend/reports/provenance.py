"""What made a result: the one stamp of every file, answer and command."""

from __future__ import annotations

from typing import Any

from backend import __version__


def provenance(
    encoder: str | None = None, weights: str | None = None, seed: int | None = None, **parameters: Any
) -> dict[str, Any]:
    """Version, encoder, hash of its weights, seed, and whatever else a result depends on.

    Parameters
    ----------
    encoder, weights : str, optional
        The encoder's id and the first 12 hex digits of its weights' hash; None where none was asked.
    seed : int, optional
        None where nothing was drawn.
    **parameters
        JSON-able values, kept under their names.
    """
    return {"version": __version__, "encoder": encoder, "weights": weights, "seed": seed, **parameters}
