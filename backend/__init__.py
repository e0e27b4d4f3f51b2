"""Unheard's backend: see and hear what audio-language models fail to hear. Usable without the page.

This is the front door: the names that most work needs, from the rooms they live in. Each is imported when it is first
used, so that ``import backend`` costs nothing; every room can be entered by its own name, too.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from backend.audio import Span as Span
    from backend.audio import load_clip as load_clip
    from backend.audio import save_wav as save_wav
    from backend.collections.layouts import open_collection as open_collection
    from backend.collections.store import embed_collection as embed_collection
    from backend.composition import LabelledEmbeddings as LabelledEmbeddings
    from backend.composition import compose as compose
    from backend.encoders.base import encoder_list as encoder_list
    from backend.encoders.base import load_encoder as load_encoder
    from backend.evidence.control_cuts import cut_and_compare as cut_and_compare
    from backend.evidence.cut import gated_clip as gated_clip
    from backend.evidence.localization import localize as localize
    from backend.negation import parse_query as parse_query
    from backend.retrieval.diagnosis import diagnose as diagnose
    from backend.retrieval.ranking import lambda_curve as lambda_curve
    from backend.retrieval.ranking import rank as rank
    from backend.retrieval.scoring import score_query as score_query

__version__ = "0.1.0"

ROOMS = {
    "backend.audio": ("Span", "load_clip", "save_wav"),
    "backend.collections.layouts": ("open_collection",),
    "backend.collections.store": ("embed_collection",),
    "backend.composition": ("LabelledEmbeddings", "compose"),
    "backend.encoders.base": ("encoder_list", "load_encoder"),
    "backend.evidence.control_cuts": ("cut_and_compare",),
    "backend.evidence.cut": ("gated_clip",),
    "backend.evidence.localization": ("localize",),
    "backend.negation": ("parse_query",),
    "backend.retrieval.diagnosis": ("diagnose",),
    "backend.retrieval.ranking": ("lambda_curve", "rank"),
    "backend.retrieval.scoring": ("score_query",),
}
"""Module -> the names of the front door that live in it, as type checkers read them above."""

__all__ = sorted(name for names in ROOMS.values() for name in names)


def __getattr__(name: str) -> Any:
    """A name of the front door, imported now."""
    for room, names in ROOMS.items():
        if name in names:
            value = globals()[name] = getattr(importlib.import_module(room), name)
            return value
    raise AttributeError(f"module 'backend' has no attribute {name!r}; the front door has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
