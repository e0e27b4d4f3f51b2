"""The pocket encoder at run time: windows, spans of one signal, and texts to unit vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch.nn import functional

from backend.encoders.base import FloatArray
from backend.encoders.pocket import ENCODER_ID, SENTENCE_FILE, SHIPPED_FILES, TOKENIZER_FILE, TOWERS_FILE
from backend.encoders.pocket.melspectrogram import HOP_SAMPLES, SAMPLE_RATE, log_mel
from backend.encoders.pocket.network import (
    MEL_FRAMES_PER_STEP,
    REACH_FRAMES,
    AudioTower,
    pool,
    shape_of_state,
)
from backend.encoders.pocket.text import SentenceEncoder, TextHead, load_tokenizer
from backend.errors import InputError

SHORTEST_SAMPLES = SAMPLE_RATE
"""A shorter window is followed by silence up to one second (own choice): the tower was trained on
crops of two to four seconds, in which a short sound is surrounded by silence."""
MEL_FRAMES_AT_ONCE = 6000
"""Mel frames convolved together, one minute: bounds the memory of long signals."""
WINDOWS_AT_ONCE = 128
"""Windows pooled together."""
AUDIO_CENTRE, TEXT_CENTRE = "centre.audio", "centre.text"
"""Mean vectors that are subtracted before the last normalisation; absent means zero."""
FRAME_SECONDS = MEL_FRAMES_PER_STEP * HOP_SAMPLES / SAMPLE_RATE
"""80 ms: distance between the tower's output frames."""


@dataclass(eq=False)
class PocketEncoder:
    """A :class:`backend.encoders.base.SpanEncoder`. Stateless and safe to share between threads."""

    tower: AudioTower
    head: TextHead
    sentences: SentenceEncoder
    audio_centre: torch.Tensor
    text_centre: torch.Tensor
    weights: str
    id: str = ENCODER_ID
    sample_rate: int = SAMPLE_RATE
    dim: int = 384
    has_text: bool = True
    context_seconds: float = REACH_FRAMES * HOP_SAMPLES / SAMPLE_RATE + FRAME_SECONDS
    """How far outside a window :meth:`embed_spans` listens; a change beyond that leaves its embedding alone."""

    @torch.inference_mode()
    def embed_audio(self, windows: FloatArray) -> FloatArray:
        """Embed windows, each as if silence surrounded it.

        Parameters
        ----------
        windows : np.ndarray, shape (n, samples), float32
            Samples at 16 kHz, full scale 1.0; any length from one sample on.

        Returns
        -------
        np.ndarray, shape (n, 384), float32, L2-normalised.

        Raises
        ------
        InputError
            The array is not two-dimensional, has no samples, or holds a value that is not finite.
        """
        signals = _checked(windows, dimensions=2)
        if signals.shape[1] < SHORTEST_SAMPLES:
            signals = functional.pad(signals, (0, SHORTEST_SAMPLES - signals.shape[1]))
        result = torch.empty((len(signals), self.dim), dtype=torch.float32)
        step = max(1, MEL_FRAMES_AT_ONCE * HOP_SAMPLES // signals.shape[1])
        for first in range(0, len(signals), step):
            frames = self._frames(log_mel(signals[first : first + step]))
            result[first : first + step] = self._embedded(pool(frames, self.tower.attention(frames)))
        return result.numpy()

    @torch.inference_mode()
    def embed_spans(self, signal: FloatArray, starts: NDArray[np.float64], length: float) -> FloatArray:
        """Embed windows of one signal from a single pass of convolutions over it.

        A window's vector pools the output frames whose centres lie inside it. A frame within
        0.67 s of a window's edge also sees what lies beyond that edge, where
        :meth:`embed_audio` sees silence; the card states how far the two differ. Windows under
        one second are embedded one by one.

        Parameters
        ----------
        signal : np.ndarray, shape (samples,), float32
            Samples at 16 kHz.
        starts : np.ndarray, shape (n,), float64
            Window starts in seconds, within the signal.
        length : float
            Length of every window in seconds.

        Returns
        -------
        np.ndarray, shape (n, 384), float32, L2-normalised.

        Raises
        ------
        InputError
            The signal cannot be used, or a window does not lie within it.
        """
        samples = _checked(signal, dimensions=1)
        begins = np.asarray(starts, dtype=np.float64)
        _check_spans(begins, length, len(samples) / SAMPLE_RATE)
        if round(length * SAMPLE_RATE) < SHORTEST_SAMPLES:
            return self._embed_slices(samples, begins, length)
        frames = self._frames(log_mel(samples[None]))
        logits = self.tower.attention(frames)
        frames, logits = frames[0].T.contiguous(), logits[0].T.contiguous()
        # The small number keeps a start of 0.56 s, which is not a binary fraction, at frame 7.
        first = np.ceil(begins / FRAME_SECONDS - 1e-6).astype(np.int64)
        last = np.minimum(np.ceil((begins + length) / FRAME_SECONDS - 1e-6).astype(np.int64), len(frames))
        first = np.minimum(first, last - 1)
        result = torch.empty((len(begins), self.dim), dtype=torch.float32)
        offsets = torch.arange(int((last - first).max(initial=1)))
        for begin in range(0, len(begins), WINDOWS_AT_ONCE):
            chosen = slice(begin, begin + WINDOWS_AT_ONCE)
            index = torch.from_numpy(first[chosen, None]) + offsets
            valid = (index < torch.from_numpy(last[chosen, None])).unsqueeze(1)
            index = index.clamp(max=len(frames) - 1)
            pooled = pool(frames[index].transpose(1, 2), logits[index].transpose(1, 2), valid)
            result[chosen] = self._embedded(pooled)
        return result.numpy()

    @torch.inference_mode()
    def embed_text(self, texts: Sequence[str]) -> FloatArray:
        """Embed texts as they are written: no prompt is added, nothing is averaged.

        Parameters
        ----------
        texts : sequence of str
            English; case does not matter. Words beyond 256 word pieces are not read.

        Returns
        -------
        np.ndarray, shape (m, 384), float32, L2-normalised.

        Raises
        ------
        InputError
            A text holds no word at all.
        """
        for text in texts:
            if not isinstance(text, str) or not text.strip():
                raise InputError(f"The text {text!r} is empty; write at least one word, such as 'a dog barking'.")
        if not len(texts):
            return np.zeros((0, self.dim), np.float32)
        return functional.normalize(self.head(self.sentences(texts)) - self.text_centre, dim=1).numpy()

    def _frames(self, mel: torch.Tensor) -> torch.Tensor:
        """(n, mel frames, bands) -> (n, hidden, steps); long signals in pieces, with the same result.

        A piece is convolved together with all the neighbouring frames that its own can see.
        """
        total = mel.shape[1]
        if total <= MEL_FRAMES_AT_ONCE + 2 * REACH_FRAMES:
            return self.tower.frames(mel)
        pieces = []
        for first in range(0, total, MEL_FRAMES_AT_ONCE):
            last = min(first + MEL_FRAMES_AT_ONCE, total)
            begin, end = max(0, first - REACH_FRAMES), min(total, last + REACH_FRAMES)
            frames = self.tower.frames(mel[:, begin:end])
            skipped = (first - begin) // MEL_FRAMES_PER_STEP
            kept = -(-(last - first) // MEL_FRAMES_PER_STEP)
            pieces.append(frames[:, :, skipped : skipped + kept])
        return torch.cat(pieces, 2)

    def _embedded(self, pooled: torch.Tensor) -> torch.Tensor:
        """(n, 2 hidden) -> (n, dim): embedded, centred on the mean sound, of unit length."""
        raw = functional.normalize(self.tower.embedding(pooled), dim=1)
        return functional.normalize(raw - self.audio_centre, dim=1)

    def _embed_slices(self, samples: torch.Tensor, begins: NDArray[np.float64], length: float) -> FloatArray:
        """Short windows, cut out and embedded one by one."""
        count = max(1, round(length * SAMPLE_RATE))
        first = np.clip(np.round(begins * SAMPLE_RATE).astype(np.int64), 0, max(0, len(samples) - count))
        windows = [samples[begin : begin + count] for begin in first]
        if not windows:
            return np.zeros((0, self.dim), np.float32)
        return self.embed_audio(torch.stack(windows).numpy())


def _checked(samples: FloatArray, dimensions: int) -> torch.Tensor:
    """Samples as a float32 tensor, or the reason why not."""
    array = np.ascontiguousarray(samples, dtype=np.float32)
    if array.ndim != dimensions or array.shape[-1] == 0:
        wanted = "(windows, samples)" if dimensions == 2 else "(samples,)"
        raise InputError(
            f"The audio has the shape {array.shape}; the pocket encoder needs {wanted} with samples in it."
        )
    if not np.isfinite(array).all():
        raise InputError("The audio holds values that are not finite numbers (NaN or infinity); decode the file again.")
    return torch.from_numpy(array)


def _check_spans(starts: NDArray[np.float64], length: float, duration: float) -> None:
    """Windows must lie within the signal, to a millisecond."""
    if starts.ndim != 1 or not np.isfinite(starts).all() or not (np.isfinite(length) and length > 0):
        raise InputError("Window starts and length must be finite numbers of seconds, the length positive.")
    if starts.size and (starts.min() < -1e-3 or starts.max() + length > duration + 1e-3):
        raise InputError(
            f"Windows from {starts.min():g} s to {starts.max() + length:g} s do not lie within the signal "
            f"of {duration:g} s; choose starts from 0 to {max(0.0, duration - length):g} s."
        )


def weights_hash(folder: Path) -> str:
    """First 12 hex digits of the SHA-256 over the shipped files."""
    digest = hashlib.sha256()
    for name in SHIPPED_FILES:
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()[:12]


def load_pocket(folder: Path) -> PocketEncoder:
    """The encoder stored in a folder of SHIPPED_FILES.

    Raises
    ------
    InputError
        A file is missing or cannot be read.
    """
    try:
        digest = weights_hash(folder)
        towers = load_file(folder / TOWERS_FILE)
        sentence_weights = load_file(folder / SENTENCE_FILE)
        tokenizer = load_tokenizer(folder / TOKENIZER_FILE)
    except (OSError, SafetensorError) as error:
        raise InputError(
            f"The pocket encoder's weights in {folder} cannot be read ({error}); check the files out again.",
            concerns="file",
        ) from error
    audio = {key[6:]: value.float() for key, value in towers.items() if key.startswith("audio.")}
    text = {key[5:]: value.float() for key, value in towers.items() if key.startswith("text.")}
    shape = shape_of_state(audio)
    tower = AudioTower(shape)
    tower.load_state_dict(audio)
    head = TextHead(shape.dim, text["correction.0.weight"].shape[0])
    head.load_state_dict(text)
    for module in (tower, head):
        module.requires_grad_(False)
    nowhere = torch.zeros(shape.dim)
    return PocketEncoder(
        tower=tower.fused(),
        head=head.eval(),
        sentences=SentenceEncoder(sentence_weights, tokenizer),
        audio_centre=towers.get(AUDIO_CENTRE, nowhere),
        text_centre=towers.get(TEXT_CENTRE, nowhere),
        weights=digest,
        dim=shape.dim,
    )
