"""M2D-CLAP (Niizumi et al. 2024, 2025) through its authors' own file: ``m2d:<folder>``.

Their runtime is one file, ``portable_m2d.py``, under a licence that does not let it be passed on, so the user
fetches it. The folder holds that file and, in a sub-folder whose name states the input size, the weights::

    m2d/portable_m2d.py
    m2d/m2d_clap_vit_base-80x1001p16x16p16kpBpTI-2025/checkpoint-30.pth

The file is a program and is run as one: an id of this family is never taken from a visitor of the page.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import re
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from backend.encoders import batches
from backend.encoders.base import Encoder, EncoderInfo, FloatArray
from backend.encoders.device import device
from backend.encoders.fetching.weights import read_weights, weights_digest
from backend.errors import InputError
from backend.files import sha256_of

FILE = "portable_m2d.py"
METHODS = ("encode_clap_audio", "encode_clap_text")
PACKAGES = ("timm", "einops", "nnAudio")
RATES = {"16k": 16_000, "32k": 32_000}
LONGEST_SECONDS = 10.0
NAME = re.compile(r"-\d+x\d+p\d+x\d+p(\d+k)")
TEXT_BATCH = 16
_import_lock = threading.Lock()


class M2DEncoder:
    """A loaded PortableM2D with a CLAP head."""

    has_text = True

    def __init__(self, encoder_id: str, runtime: Any, weights: str, sample_rate: int) -> None:
        self.id, self.weights, self.sample_rate = encoder_id, weights, sample_rate
        self.device = device()
        self.runtime = runtime.to(self.device).eval().requires_grad_(False)
        probe = self._audio_batch(np.zeros((1, sample_rate), dtype=np.float32))
        self.dim = int(probe.shape[1])

    def embed_audio(self, windows: FloatArray) -> FloatArray:
        """(n, samples) float32, at most 10 s -> (n, D), L2-normalised.

        Raises
        ------
        InputError
            NaN, another type or shape, windows over 10 s.
        """
        windows = batches.checked_windows(windows, self.id, self.sample_rate, LONGEST_SECONDS)
        return batches.in_batches(windows, batches.BATCH, self._audio_batch, self.dim, self.id)

    def _audio_batch(self, windows: Any) -> FloatArray:
        import torch

        # Padded with silence to 10 s, as the authors' examples do.
        padded = np.zeros((len(windows), round(LONGEST_SECONDS * self.sample_rate)), dtype=np.float32)
        padded[:, : windows.shape[1]] = windows
        with torch.inference_mode(), silenced():
            found = self.runtime.encode_clap_audio(torch.from_numpy(padded).to(self.device))
        return np.asarray(found.float().cpu().numpy())

    def embed_text(self, texts: Sequence[str]) -> FloatArray:
        """m texts -> (m, D), L2-normalised. Raises InputError when its text encoder is not on this machine."""
        import torch

        def batch(part: Any) -> FloatArray:
            with torch.inference_mode(), silenced():
                return np.asarray(self.runtime.encode_clap_text(list(part)).float().cpu().numpy())

        texts = batches.checked_texts(texts, self.id)
        try:
            return batches.in_batches(texts, TEXT_BATCH, batch, self.dim, self.id)
        except OSError:
            raise InputError(
                f"{self.id} needs the tokenizer and text model its weights were trained with (bert-base-uncased or "
                f"gte-base) in the hub's cache. Fetch them with: hf download google-bert/bert-base-uncased.",
                concerns="file",
            ) from None


class Family:
    """``m2d:<folder>``; none is known by name."""

    prefix = "m2d"

    def listed(self) -> Sequence[EncoderInfo]:
        """Empty: the file and the weights are the user's own."""
        return ()

    def load(self, encoder_id: str) -> Encoder:
        """The encoder of ``m2d:<folder>``. Raises InputError when the file, weights or packages are missing."""
        folder = Path(encoder_id.partition(":")[2]).expanduser()
        program, checkpoint = checked_folder(folder)
        missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
        if missing:
            raise InputError(f"m2d: needs {' and '.join(missing)}: pip install {' '.join(missing)}.")
        rate = NAME.search(checkpoint.parent.name)
        if rate is None or rate[1] not in RATES:
            raise InputError(
                f"The folder {checkpoint.parent.name} does not state its input size as M2D's releases do "
                f"(for example m2d_clap_vit_base-80x1001p16x16p16kpBpTI-2025). Keep the name it was released under.",
                concerns="file",
            )
        state = {"weights": read_weights(checkpoint)}["weights"]
        weights = weights_digest(state, sha256_of(program))
        return M2DEncoder(encoder_id, started(program, checkpoint), weights, RATES[rate[1]])


def checked_folder(folder: Path) -> tuple[Path, Path]:
    """The authors' file and the weights in a folder.

    Raises
    ------
    InputError
        One is missing, there are several weights, or the file is not M2D's runtime.
    """
    program = folder / FILE
    if not program.is_file():
        raise InputError(
            f"{folder} has no {FILE}. Fetch it from examples/ of github.com/nttcslab/m2d (read its licence), and put "
            f"a released checkpoint folder beside it.",
            concerns="file",
        )
    try:
        tree = ast.parse(program.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError):
        raise InputError(f"{program} is not a Python file. Fetch it again.", concerns="file") from None
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    methods = {node.name for node in getattr(classes.get("PortableM2D"), "body", []) if hasattr(node, "name")}
    if not set(METHODS) <= methods:
        raise InputError(
            f"{program} has no class PortableM2D with {' and '.join(METHODS)}; releases before CLAP lack them. "
            f"Fetch the current file.",
            concerns="file",
        )
    found = sorted(folder.glob("*/*.pth"))
    if len(found) != 1:
        raise InputError(
            f"{folder} must hold one checkpoint in a sub-folder (*/*.pth); it holds {len(found)}.", concerns="file"
        )
    return program, found[0]


def started(program: Path, checkpoint: Path) -> Any:
    """PortableM2D on a checkpoint, its ``torch.load`` held to weights.

    Raises
    ------
    InputError
        The program fails on these weights.
    """
    with _import_lock, silenced(), weights_only():
        try:
            module = imported(program)
            return module.PortableM2D(weight_file=str(checkpoint), flat_features=True)
        except InputError:
            raise
        except Exception as error:  # someone else's program: anything can come
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:200].rstrip(".")
            raise InputError(f"{program.name} cannot load {checkpoint.name}: {reason}.", concerns="file") from error


def imported(program: Path) -> ModuleType:
    """The authors' file as a module of its own name, without leaving its folder on the search path."""
    known = list(sys.path)
    spec = importlib.util.spec_from_file_location("portable_m2d", program)
    if spec is None or spec.loader is None:
        raise InputError(f"{program} cannot be imported.", concerns="file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path[:] = known
    return module


@contextlib.contextmanager
def weights_only() -> Iterator[None]:
    """Within this block ``torch.load`` never unpickles more than weights."""
    import torch

    original = torch.load

    def held(*arguments: Any, **options: Any) -> Any:
        return original(*arguments, **{**options, "weights_only": True})

    torch.load = held
    try:
        yield
    finally:
        torch.load = original


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Without the runtime's prints and deprecation warnings."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


FAMILY = Family()
