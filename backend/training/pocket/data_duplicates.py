"""Finding training clips that are the same recording as a test clip, in order to remove them.

Test sounds are read for nothing else. A rough spectrum picks candidates, a normalised cross-correlation decides.
The check finds copies at the same speed only.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.signal import fftconvolve

from backend.encoders.families.pocket.melspectrogram import log_mel
from backend.training.pocket.data_decode import SUFFIXES, cuts
from backend.training.pocket.data_store import ClipSet

SIMILAR_SPECTRUM = 0.985
SAME_WAVEFORM = 0.5
"""Share of a piece's energy explained by the other; chance matches of long noises stay below 0.2."""
LOUDEST_FRAMES = 40


def spectrum(mel: NDArray[np.floating]) -> NDArray[np.float32]:
    """(frames, 64) log-mel -> (64,) centred unit vector, the mean of its forty loudest frames."""
    frames = np.asarray(mel, np.float32)
    loud = frames[np.argsort(-frames.mean(axis=1))[:LOUDEST_FRAMES]].mean(axis=0)
    centred = loud - loud.mean()
    return (centred / max(float(np.linalg.norm(centred)), 1e-9)).astype(np.float32)


def same_recording(first: NDArray[np.int16], second: NDArray[np.int16]) -> float:
    """Greatest normalised cross-correlation of the shorter signal within the longer, 0..1."""
    longer, shorter = sorted((first.astype(np.float64), second.astype(np.float64)), key=len, reverse=True)
    lagged = np.abs(fftconvolve(longer, shorter[::-1], "valid"))
    energy = np.convolve(longer**2, np.ones(len(shorter)), "valid") if len(shorter) < 64 else _running(longer, shorter)
    scale = np.sqrt(np.maximum(energy, 1e-3 * energy.max() + 1e-9) * (shorter**2).sum())
    return float((lagged / scale).max())


def duplicates_of(tests: Path, sets: Sequence[ClipSet]) -> frozenset[str]:
    """Groups of training clips that share a recording with a file below ``tests``."""
    signals = [signal for path in sorted(tests.rglob("*")) if path.suffix in SUFFIXES for _, signal in cuts(path)]
    known = [spectrum(log_mel(torch.from_numpy(s.astype(np.float32) / 32768)[None])[0].numpy()) for s in signals]
    found = set()
    for clips in sets:
        frames, index = clips.mels()
        audio = clips.audio()
        vectors = np.stack([spectrum(frames[first : first + count]) for first, count in index])
        for test, clip in zip(*np.where(np.stack(known) @ vectors.T > SIMILAR_SPECTRUM), strict=True):
            row = clips.rows[clip]
            piece = np.asarray(audio[row.offset : row.offset + row.samples])
            if same_recording(signals[test], piece) >= SAME_WAVEFORM:
                found.add(row.group)
    return frozenset(found)


def _running(signal: NDArray[np.float64], piece: NDArray[np.float64]) -> NDArray[np.float64]:
    """Energy of the signal below each position of the piece."""
    total = np.concatenate([[0.0], np.cumsum(signal**2)])
    return total[len(piece) :] - total[: -len(piece)]
