"""``python -m backend gate CLIP --start S --end S --depth DB -o OUT.wav``: cut a region, and say what it did."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from backend.commands.common import (
    add_clip,
    add_common,
    checked_by,
    finite_number,
    loaded_encoder,
    print_json,
)
from backend.errors import InputError
from backend.evidence.control_cuts import CONTROL_COUNT, checked_controls
from backend.evidence.cut import DEFAULT_DEPTH_DB


def register(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser("gate", help="cut a region by spectral gating, save it, and score it again")
    add_clip(parser)
    parser.add_argument("--start", type=finite_number, required=True, help="start of the region in seconds")
    parser.add_argument("--end", type=finite_number, required=True, help="end of the region in seconds")
    parser.add_argument(
        "--depth",
        type=finite_number,
        default=DEFAULT_DEPTH_DB,
        help="how far down, in dB; 40 and -40 mean the same (default: %(default)g)",
    )
    parser.add_argument("--band", type=finite_number, nargs=2, metavar=("LOW", "HIGH"), help="gate only this band, Hz")
    parser.add_argument("-o", "--output", required=True, help="the WAV file to write")
    parser.add_argument("--query", help="score this query before and after, with matched controls")
    parser.add_argument(
        "--controls",
        type=checked_by(checked_controls),
        default=CONTROL_COUNT,
        metavar="K",
        help="random cuts to compare with (default: %(default)s)",
    )
    add_common(parser)
    parser.set_defaults(run=run)


def checked_output(output: str, clip: str) -> Path:
    """The file to write: a .wav, in a folder that exists, and not the recording itself."""
    path = Path(output)
    if not output.strip():
        raise InputError("The output has no name; let it end in .wav.")
    if path.suffix.lower() != ".wav":
        raise InputError(f"The output is {output}; a cut is written as WAV, so let its name end in .wav.")
    if not path.absolute().parent.is_dir():
        raise InputError(f"The output is {output}, but there is no folder {path.parent}. Make it first.")
    if path.exists() and Path(clip).exists() and path.samefile(clip):
        raise InputError(f"The output is {output}, which is the recording itself; choose another name.")
    return path


def run(arguments: argparse.Namespace) -> None:
    """Write the cut clip; with --query also score it beside its controls."""
    from backend.audio import Span, save_wav, wav_format
    from backend.collections.demo import demo_or_file
    from backend.evidence.control_cuts import checked_cut, cut_and_compare, cut_record, cut_sentence
    from backend.evidence.cut import gated_clip
    from backend.negation import parse_query

    query = None if arguments.query is None else parse_query(arguments.query)
    concepts = () if query is None else query.concepts
    band = tuple(arguments.band) if arguments.band else None
    output = checked_output(arguments.output, arguments.clip)
    clip = demo_or_file(arguments.clip)
    span, depth = checked_cut(clip, Span(arguments.start, arguments.end), arguments.depth)
    if not concepts:
        cut, record = gated_clip(clip, span, depth, band), cut_record(clip, span, depth, band)
        sentences: list[str] = []
    else:
        encoder = loaded_encoder(arguments.encoder)
        experiment = cut_and_compare(
            encoder,
            clip,
            concepts,
            arguments.window,
            span,
            depth,
            band=band,
            seed=arguments.seed,
            controls=arguments.controls,
        )
        cut = experiment.cut
        record = experiment.record(query)
        sentences = [cut_sentence(effect, span, len(experiment.control_spans)) for effect in experiment.effects]
    record |= {"output": str(output), "sample_format": wav_format(cut)}
    save_wav(cut, output)
    if arguments.json:
        print_json(record)
        return
    print(f"Wrote {output}: {span.start:.2f}-{span.end:.2f} s cut by {depth:g} dB.")
    for sentence in sentences:
        print(sentence)
