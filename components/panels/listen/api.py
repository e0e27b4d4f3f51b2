"""The same questions the command line answers, as named endpoints for programs.

They answer with the results' own records, so page, API and command line agree to the digit.
"""

from __future__ import annotations

from typing import Any

from backend.audio import WINDOW_SECONDS, Clip, Span, checked_window_choice, save_wav
from backend.checks import DEFAULT_SEED, checked_seed
from backend.collections.demo import demo_clip
from backend.encoders.base import load_encoder
from backend.evidence.control_cuts import cut_and_compare
from backend.evidence.cut import DEFAULT_DEPTH_DB
from backend.evidence.localization import localize
from backend.negation import parse_query
from components.frame.endpoints import Endpoint, a_file, a_number, a_record, a_text, an_encoder, answers_in_words
from components.frame.exports import export_file
from components.frame.serving import loaded_clip


def _clip(file: str | None, demo: str) -> Clip:
    return loaded_clip(file) if file else loaded_clip(demo_clip(demo).path)


@answers_in_words
def localize_endpoint(file: str | None, demo: str, query: str, encoder: str, window: float) -> dict[str, Any]:
    """Where each concept of a query is found in a clip: the object of ``localize --json``."""
    parsed, loaded = parse_query(query), load_encoder(encoder)
    return localize(loaded, _clip(file, demo), parsed.concepts, checked_window_choice(window)).record(parsed)


@answers_in_words
def gate_endpoint(
    file: str | None,
    demo: str,
    query: str,
    encoder: str,
    window: float,
    start: float,
    end: float,
    depth_db: float,
    seed: float,
) -> tuple[str, dict[str, Any]]:
    """Cut a region by spectral gating and score it again beside random cuts and silence."""
    parsed, clip, loaded = parse_query(query), _clip(file, demo), load_encoder(encoder)
    experiment = cut_and_compare(
        loaded, clip, parsed.concepts, checked_window_choice(window), Span(start, end), depth_db,
        seed=checked_seed(seed),
    )  # fmt: skip
    path = export_file("cut.wav")
    save_wav(experiment.cut, path)
    return str(path), experiment.record(parsed)


_ASKED = (
    a_file("file"),
    a_text("demo"),
    a_text("query"),
    an_encoder,
    a_number("window", WINDOW_SECONDS),
)
_CUT = (a_number("start"), a_number("end"), a_number("depth_db", DEFAULT_DEPTH_DB), a_number("seed", DEFAULT_SEED))
ENDPOINTS = (
    Endpoint("localize", localize_endpoint, _ASKED, (a_record(),)),
    Endpoint("gate", gate_endpoint, (*_ASKED, *_CUT), (a_file("cut"), a_record())),
)
