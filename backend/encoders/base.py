"""The contract of an encoder, and the registry that lists them all.

An encoder maps equal-length windows and texts to unit vectors of one space. It is stateless,
deterministic and batch-invariant (to 1e-5). Adding one is one file with a ``FAMILY`` and one
line in ``FAMILY_MODULES``.
"""

from __future__ import annotations

import importlib
import re
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from backend.errors import InputError
from backend.kept import Kept
from backend.settings import settings

FloatArray = NDArray[np.float32]

FAMILY_MODULES = (
    "backend.encoders.families.pocket",
    "backend.encoders.families.laion",
    "backend.encoders.families.huggingface",
    "backend.encoders.families.speech",
    "backend.encoders.families.m2d",
    "backend.encoders.families.process",
    "backend.encoders.families.table",
)


@runtime_checkable
class Encoder(Protocol):
    """Audio windows and texts to L2-normalised float32 vectors of one space."""

    id: str
    """Registry id, for example ``pocket`` or ``laion:630k-audioset-best``."""
    weights: str
    """Hash of the weights (first 12 hex digits of a SHA-256), part of every cache key and export."""
    sample_rate: int
    """Rate the windows must have, in Hz."""
    dim: int
    """D, the width of an embedding."""
    has_text: bool
    """False for speech encoders, whose ``embed_text`` raises InputError."""

    def embed_audio(self, windows: FloatArray) -> FloatArray:
        """(n, samples) float32 at ``sample_rate`` -> (n, D), L2-normalised."""
        ...

    def embed_text(self, texts: Sequence[str]) -> FloatArray:
        """m texts -> (m, D), L2-normalised."""
        ...


@runtime_checkable
class SpanEncoder(Encoder, Protocol):
    """An encoder that embeds all windows of one signal from a single pass over it."""

    context_seconds: float
    """How far outside a window its embedding listens; a change beyond that leaves it alone."""

    def embed_spans(self, signal: FloatArray, starts: NDArray[np.float64], length: float) -> FloatArray:
        """(samples,) signal, (n,) window starts and one window length in seconds -> (n, D)."""
        ...


@dataclass(frozen=True)
class EncoderInfo:
    """What the registry says of an encoder without reading its weights."""

    id: str
    title: str
    ready: bool
    """Whether it can be loaded HERE, now, without a download."""
    needs: str
    """Empty when ready, else one sentence: what is missing and how to get it."""
    dim: int
    sample_rate: int
    text: bool
    licence: str = ""
    source: str = ""
    size_bytes: int = 0
    """Bytes of a download; 0 when there is none."""
    downloadable: bool = False

    def record(self) -> dict[str, Any]:
        """Every field under its name."""
        return asdict(self)


class EncoderFamily(Protocol):
    """One module's encoders: those known by name, and how an id is loaded."""

    prefix: str
    """``pocket``, or the part before the colon: ``laion``, ``hf``, ``speech`` ..."""

    def listed(self) -> Sequence[EncoderInfo]:
        """Encoders known by name. Reads no weights and opens no connection."""
        ...

    def load(self, encoder_id: str) -> Encoder:
        """The encoder of an id that starts with ``prefix``. Raises InputError when it cannot."""
        ...


def families() -> list[EncoderFamily]:
    """The FAMILY of every registered module, in registry order."""
    return [importlib.import_module(name).FAMILY for name in FAMILY_MODULES]


def encoder_list() -> list[EncoderInfo]:
    """Every encoder known by name, whether or not it is ready here, and those the machine's owner added."""
    known = [info for family in families() for info in family.listed()]
    names, prefixes = {info.id for info in known}, {family.prefix for family in families()}
    added = []
    for name, full in own_encoders().items():
        if name not in names:
            exists = full.partition(":")[0] in prefixes
            needs = "" if exists else f"{full} names no encoder: correct UNHEARD_ENCODER or UNHEARD_MORE_ENCODERS."
            added.append(EncoderInfo(name, f"{name} (added here)", exists, needs, 0, 0, True))
    return known + added


def own_encoders() -> dict[str, str]:
    """Encoders the owner of this machine named: what they are called here -> their id.

    From UNHEARD_MORE_ENCODERS, ``name=id`` or ``id`` between semicolons, and UNHEARD_ENCODER. A name keeps
    paths and commands out of the page, of links and of exports.
    """
    chosen, own = settings(), {}
    for part in filter(None, (part.strip() for part in chosen.more_encoders.split(";"))):
        name, equals, identifier = part.partition("=")
        if equals and re.fullmatch(r"[\w.-]+", name.strip()) and name.strip() != "pocket":
            own[name.strip()] = identifier.strip()
        else:
            own[part] = part
    own.setdefault(chosen.encoder, chosen.encoder)
    return own


def use_chosen_threads() -> None:
    """Give torch the number of threads the settings name; 0 leaves torch's own choice."""
    if chosen := settings().threads:
        import torch

        torch.set_num_threads(chosen)


_loaded: Kept[str, Encoder] = Kept()
_offered: set[str] = set()
"""Ids found among the listed ones; listing looks at the disk, and events must not wait for that."""
_load_lock = threading.Lock()
"""One at a time: loading sets switches of the whole process. An encoder that is there waits for none of it."""


def load_encoder(encoder_id: str, *, trusted: bool = False) -> Encoder:
    """The encoder of this id, loaded once per process.

    Parameters
    ----------
    encoder_id : str
        Registry id.
    trusted : bool
        An id may name a file, or a program to be run. False, for ids that come from a visitor or from
        anywhere else, loads only what :func:`encoder_list` lists; True loads whatever the owner of the
        machine names.

    Raises
    ------
    InputError
        The id is unknown or not offered, or the encoder cannot be loaded here.
    """
    if encoder_id not in (_loaded if trusted else _offered):
        _check_offered(encoder_id, trusted)
    return _loaded.get(encoder_id, lambda: _load(encoder_id))


def _load(encoder_id: str) -> Encoder:
    full = own_encoders().get(encoder_id, encoder_id)
    family = next((family for family in families() if family.prefix == full.partition(":")[0]), None)
    if family is None and full == encoder_id:
        raise InputError(_unknown(encoder_id, [info.id for info in encoder_list()]))
    if family is None:
        raise InputError(f"UNHEARD_MORE_ENCODERS calls {full!r} {encoder_id}, but there is no such encoder.")
    with _load_lock:
        use_chosen_threads()
        loaded = family.load(full)
    if full != encoder_id:
        loaded.id = encoder_id
    return loaded


def _check_offered(encoder_id: str, trusted: bool) -> None:
    listed = [info.id for info in encoder_list()]
    if encoder_id.removesuffix("@bf16") in listed:
        _offered.add(encoder_id)
        return
    if encoder_id.partition(":")[0] not in {family.prefix for family in families()}:
        raise InputError(_unknown(encoder_id, listed))
    if not trusted:
        raise InputError(
            f"The encoder {encoder_id!r} is not offered here. Offered are {', '.join(listed)}; the owner of this "
            f"machine can add one with UNHEARD_MORE_ENCODERS."
        )


def _unknown(encoder_id: str, listed: Sequence[str]) -> str:
    """There is no such encoder: where the id may come from, and what there is."""
    known = f"Known encoders: {', '.join(name for name in listed if name != encoder_id)}."
    if encoder_id == settings().encoder:
        return f"UNHEARD_ENCODER is {encoder_id!r}, but there is no such encoder. {known}"
    return f"There is no encoder {encoder_id!r}. {known}"


def forget_encoder(encoder_id: str) -> None:
    """Drop a loaded encoder, so that the next use loads it anew (after a download, or a dead worker)."""
    _loaded.forget(encoder_id)
