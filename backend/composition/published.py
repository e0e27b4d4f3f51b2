"""The paper's table I (arXiv 2609.27187), to stand beside what is measured here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PublishedRow:
    """One row: cosine, relative Frobenius error, CKA, KL in bits, Hits@5, as printed.

    ``overlap`` is empty for leave-one-out, where the paper gives none.
    """

    dataset: str
    model: str
    protocol: str
    real: tuple[str, ...]
    permuted: tuple[str, ...]
    overlap: tuple[str, ...] = ()


def _row(dataset: str, model: str, protocol: str, cells: str) -> PublishedRow:
    """A row written as in the table: metrics apart by spaces, real / permuted (/ overlap) by slashes."""
    real, permuted, *overlap = zip(*(cell.split("/") for cell in cells.split()), strict=True)
    return PublishedRow(dataset, model, protocol, real, permuted, overlap[0] if overlap else ())


PUBLISHED = (
    _row("FSD50K", "CLAP", "loo", "0.686/0.270 0.761/1.015 0.579/0.032 0.0007/0.0012 0.43/0.01"),
    _row("FSD50K", "HuBERT", "loo", "0.968/0.957 0.410/0.436 0.042/0.006 0.0093/0.0105 0.06/0.01"),
    _row("FSD50K", "Wav2Vec2", "loo", "0.942/0.930 0.470/0.501 0.055/0.005 0.0065/0.0075 0.04/0.01"),
    _row("CHiME-Home", "CLAP", "loo", "0.899/0.820 0.455/0.586 0.714/0.196 0.0002/0.0004 0.58/0.15"),
    _row("CHiME-Home", "HuBERT", "loo", "0.992/0.988 0.134/0.159 0.415/0.269 0.0009/0.0013 0.15/0.13"),
    _row("CHiME-Home", "Wav2Vec2", "loo", "0.975/0.971 0.239/0.265 0.301/0.212 0.0011/0.0014 0.21/0.15"),
    _row(
        "FSD50K",
        "CLAP",
        "holdout",
        "0.67/0.27/0.61 0.78/1.03/0.81 0.60/0.21/0.52 0.0007/0.0013/0.0008 0.57/0.04/0.52",
    ),
    _row(
        "FSD50K",
        "HuBERT",
        "holdout",
        "0.96/0.96/0.97 0.42/0.43/0.25 0.05/0.01/0.17 0.0097/0.0105/0.0034 0.08/0.04/0.14",
    ),
    _row(
        "FSD50K",
        "Wav2Vec2",
        "holdout",
        "0.93/0.93/0.95 0.48/0.50/0.35 0.06/0.02/0.13 0.0068/0.0073/0.0037 0.07/0.04/0.11",
    ),
    _row(
        "CHiME-Home",
        "CLAP",
        "holdout",
        "0.90/0.85/0.86 0.46/0.54/0.52 0.76/0.73/0.62 0.0002/0.0003/0.0003 0.82/0.63/0.66",
    ),
    _row(
        "CHiME-Home",
        "HuBERT",
        "holdout",
        "0.99/0.99/0.99 0.13/0.13/0.14 0.48/0.59/0.46 0.0009/0.0009/0.0011 0.65/0.62/0.42",
    ),
    _row(
        "CHiME-Home",
        "Wav2Vec2",
        "holdout",
        "0.98/0.98/0.98 0.22/0.22/0.23 0.41/0.56/0.45 0.0010/0.0010/0.0011 0.59/0.59/0.45",
    ),
)
"""In the order of the table; the printed standard deviations of the holdout are left out."""
