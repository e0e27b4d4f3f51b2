"""Embeddings of five demo clips and ten texts as they were when the weights were exported.

``python -m tests.reference.pocket_golden`` writes them anew; do so with every export, in the same commit.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backend.encoders.base import SpanEncoder
from backend.training.pocket.evaluation.recordings import read_signal

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "data" / "pocket_golden.npz"
CLIPS = ("dog-barking-1", "rain-1", "church-bells-1", "rooster-1", "clock-1")
TEXTS = (
    "a dog barking",
    "rain falling on a roof",
    "church bells, with no traffic",
    "birds singing and a train passing",
    "someone is typing on a keyboard",
    "thunder",
    "a baby crying without any music",
    "the sound of footsteps on gravel in an empty hall",
    "GLASS breaking!",
    "Hundegebell",
)


def embeddings(encoder: SpanEncoder) -> dict[str, NDArray[np.float32]]:
    """``clips`` (5, D) and ``texts`` (10, D)."""
    signals = [read_signal(ROOT / "data" / "clips" / f"{name}.flac") for name in CLIPS]
    clips = np.concatenate([encoder.embed_audio(signal[None]) for signal in signals])
    return {"clips": clips, "texts": encoder.embed_text(list(TEXTS))}


def main() -> None:
    """Write GOLDEN from the shipped weights."""
    from backend.encoders.base import load_encoder

    encoder = load_encoder("pocket")
    GOLDEN.parent.mkdir(exist_ok=True)
    np.savez(GOLDEN, weights=np.array(encoder.weights), **embeddings(encoder))
    print(f"{GOLDEN.relative_to(ROOT)}: weights {encoder.weights}")


if __name__ == "__main__":
    main()
