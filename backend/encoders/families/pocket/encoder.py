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
from backend.encoders.families.pocket import ENCODER_ID, SHIPPED_FILES, TOWERS_FILE
from backend.encoders.families.pocket.melspectrogram import FRAME_SAMPLES, HOP_SAMPLES, SAMPLE_RATE, log_mel
from backend.encoders.families.pocket.network import MEL_FRAMES_PER_STEP, AudioTower, shape_of_state
from backend.encoders.families.pocket.text import SentenceEncoder, TextHead, load_sentence_encoder
from backend.errors import InputError

SHORTEST_SAMPLES = SAMPLE_RATE
"""A shorter window is followed by silence up to one second (own choice): the tower was trained on
crops of two to four seconds, in which a short sound is surrounded by silence."""
MEL_FRAMES_AT_ONCE = 6000
"""Mel frames convolved together, one minute: bounds the memory of long signals."""
FRAMES_AT_ONCE = 1600
"""Frames of the tower that go through its last convolutions together: 64 windows of two seconds."""
PART_FRAMES, PART_STEP = 50, 25
"""Frames of the tower that are read at once, four seconds, and how far such parts of a longer window are apart: the
tower was trained, and its checkpoints were chosen, on four seconds at most. On the development sounds this finds 36 %
of captions' sounds first, where reading ten seconds at once finds 32 %."""
READING = b"windows of more than four seconds are means of their parts"
"""Part of the weights' identity: other readings of the same files give other embeddings."""
FRAME_SECONDS = MEL_FRAMES_PER_STEP * HOP_SAMPLES / SAMPLE_RATE
"""80 ms: distance between the tower's frames."""


@dataclass(eq=False)
class PocketEncoder:
    """A :class:`backend.encoders.base.SpanEncoder`. Stateless and safe to share between threads."""

    tower: AudioTower
    head: TextHead
    sentences: SentenceEncoder
    weights: str
    id: str = ENCODER_ID
    sample_rate: int = SAMPLE_RATE
    dim: int = 384
    has_text: bool = True
    context_seconds: float = 0.53
    """How far outside a window :meth:`embed_spans` listens; a change beyond that leaves its embedding alone."""

    @torch.inference_mode()
    def embed_audio(self, windows: FloatArray) -> FloatArray:
        """Embed windows, each as if silence surrounded it.

        A window of more than four seconds is the mean of its four-second parts, two seconds apart.

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
            The array is not two-dimensional, not of floats, has no samples, or holds a value that is not finite.
        """
        signals = _checked(windows, dimensions=2)
        if signals.shape[1] < SHORTEST_SAMPLES:
            signals = functional.pad(signals, (0, SHORTEST_SAMPLES - signals.shape[1]))
        result = torch.empty((len(signals), self.dim), dtype=torch.float32)
        step = max(1, MEL_FRAMES_AT_ONCE * HOP_SAMPLES // signals.shape[1])
        for first in range(0, len(signals), step):
            result[first : first + step] = self._embedded(self._shared(log_mel(signals[first : first + step])))
        return result.numpy()

    @torch.inference_mode()
    def embed_spans(self, signal: FloatArray, starts: NDArray[np.float64], length: float) -> FloatArray:
        """Embed windows of one signal from a single pass of convolutions over it.

        The windows share the convolutions before the last stride, and so hear up to 0.43 s
        beyond their edges, where :meth:`embed_audio` hears silence; the card states how far the
        two differ. A window starts at the first frame (80 ms) whose centre lies inside it.
        Windows under one second are embedded one by one; those over four seconds are means of their parts.

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
        maps = self._shared(log_mel(samples[None]))[0].transpose(0, 1)
        # The small number keeps a start of 0.56 s, which is not a binary fraction, at frame 7.
        count = min(len(maps), int(np.ceil(length / FRAME_SECONDS - 1e-6)))
        first = np.minimum(np.ceil(begins / FRAME_SECONDS - 1e-6).astype(np.int64), len(maps) - count)
        index = torch.from_numpy(first[:, None]) + torch.arange(count)
        result = torch.empty((len(begins), self.dim), dtype=torch.float32)
        step = max(1, FRAMES_AT_ONCE // count)
        for begin in range(0, len(begins), step):
            chosen = slice(begin, begin + step)
            windows = maps[index[chosen]].transpose(1, 2)
            result[chosen] = self._embedded(windows.contiguous(memory_format=torch.channels_last))
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
        return self.head(self.sentences(texts)).numpy()

    def _shared(self, mel: torch.Tensor) -> torch.Tensor:
        """(n, mel frames, bands) -> shared maps; long signals in pieces, with the same result.

        A piece is convolved together with all the neighbouring frames that its own can see.
        """
        total = mel.shape[1]
        reach = -(-self.tower.shape.reach // MEL_FRAMES_PER_STEP) * MEL_FRAMES_PER_STEP
        if total <= MEL_FRAMES_AT_ONCE + 2 * reach:
            return self.tower.shared(mel)
        pieces = []
        for first in range(0, total, MEL_FRAMES_AT_ONCE):
            last = min(first + MEL_FRAMES_AT_ONCE, total)
            begin, end = max(0, first - reach), min(total, last + reach)
            maps = self.tower.shared(mel[:, begin:end])
            skipped = (first - begin) // MEL_FRAMES_PER_STEP
            kept = -(-(last - first) // MEL_FRAMES_PER_STEP)
            pieces.append(maps[:, :, skipped : skipped + kept])
        return torch.cat(pieces, 2)

    def _embedded(self, maps: torch.Tensor) -> torch.Tensor:
        """Shared maps of windows -> (n, dim) of unit length: read at once, or the mean of overlapping parts."""
        last = maps.shape[2] - PART_FRAMES
        if last <= 0:
            return self._read(maps)
        firsts = np.linspace(0, last, 1 + -(-last // PART_STEP)).round().astype(int)
        total = sum(self._read(maps[:, :, first : first + PART_FRAMES]) for first in firsts)
        return functional.normalize(torch.as_tensor(total), dim=1)

    def _read(self, maps: torch.Tensor) -> torch.Tensor:
        """Shared maps of parts -> (n, dim) of unit length. The mean sound was subtracted on saving the weights."""
        return functional.normalize(self.tower.embedding(self.tower.pooled_maps(maps)), dim=1)

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
    array = np.asarray(samples)
    if not np.issubdtype(array.dtype, np.floating):
        raise InputError(f"The audio is {array.dtype}; the pocket encoder needs floats with a full scale of 1.")
    array = np.ascontiguousarray(array, dtype=np.float32)
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
    """First 12 hex digits of the SHA-256 over the shipped files and how they are read."""
    digest = hashlib.sha256()
    for name in SHIPPED_FILES:
        digest.update((folder / name).read_bytes())
    digest.update(READING)
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
        sentences = load_sentence_encoder(folder)
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
    return PocketEncoder(
        tower=tower.fused(),
        head=head.eval(),
        sentences=sentences,
        weights=digest,
        dim=shape.dim,
        context_seconds=(shape.reach * HOP_SAMPLES + FRAME_SAMPLES / 2) / SAMPLE_RATE + FRAME_SECONDS,
    )
