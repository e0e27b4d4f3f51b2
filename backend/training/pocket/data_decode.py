"""From the files of a package to clips: which files, what their names say, and at most three ten-second cuts each."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from backend.training.pocket.data_store import SAMPLE_RATE, to_int16

SUFFIXES = (".ogg", ".oga", ".wav", ".flac", ".mp3", ".opus", ".aiff", ".aif", ".au")
LONGEST = 10
"""Seconds of one clip; longer files give several cuts."""
LIMITS = {
    "klettres-data": 60, "ktuberling-data": 140, "kajongg": 40, "fillets-ng-data": 90,
    "asterisk-core-sounds-en-wav": 120, "planetblupi-common": 40, "bucklespring-data": 110, "emacspeak": 80,
    "megaglest-data": 700, "hedgewars-data": 420, "hydrogen-drumkits": 300, "hydrogen-drumkits-effects": 90,
    "freedroidrpg-data": 120, "hyperrogue-music": 60, "warzone2100-music": 60, "wesnoth-1.16-music": 90,
}  # fmt: skip
"""Most files of one package: speech prompts and drum samples would crowd out everything else."""
OTHERWISE = 500
SPEECH = re.compile(
    r"/voices?/|_ack\d|_select\d|klettres|ktuberling|festvox|kajongg|asterisk-core|planetblupi"
    r"|fillets-ng-data/.*/en/|desc|mk-viii|tcas|announcer|/speech/|symbols/(alph|math)|\.ready|completed"
)
MUSIC = re.compile(r"/music/|-music/|moh|Music Loops|anthem|/ogg/music|soundtrack|/themes?/")
_EMPTY = """
sound sounds sfx snd wav ogg default loop the of a an and data share usr games game misc other effect effects fx new
old tmp test small medium large big long short high low left right start stop end on off l r x in out to no my it is
at for with by from final cut version mono stereo file sample samples normal hard soft ver v lo hi mid max min type
orig original mix pad noise audio media theme stamps stamp en us gb series required your turn generic
"""
EMPTY_WORDS = frozenset(_EMPTY.split())
"""Words of file names that say nothing of the sound."""


@dataclass(frozen=True)
class SourceFile:
    """A file chosen for decoding, and what its path says of it."""

    path: Path
    name: str
    """Path below the folder of packages."""
    package: str
    label: str
    kind: str


def walk(root: Path, package: str, seed: int) -> list[SourceFile]:
    """The files of one unpacked package, shuffled by ``seed`` and limited by LIMITS."""
    rng = np.random.default_rng(seed)
    chosen = []
    for path in sorted((root / package).rglob("*")):
        if path.suffix.lower() not in SUFFIXES or path.is_symlink() or path.stat().st_size < 600:
            continue
        name = str(path.relative_to(root))
        spoken = re.search(r"desc|symbols/", name) if package == "tuxpaint-stamps-default" else None
        # Spoken names of pictures in forty languages, and taunts in one voice: a few say it all.
        if (spoken and rng.random() > 0.04) or (
            package == "hedgewars-data" and "/voices/" in name and rng.random() > 0.25
        ):
            continue
        chosen.append(SourceFile(path, name, package, *describe(package, name)))
    rng.shuffle(chosen)  # type: ignore[arg-type]
    return chosen[: LIMITS.get(package, OTHERWISE)]


def words_of(text: str) -> list[str]:
    """Lower-case words of a file name: camel case and punctuation separate, digits vanish."""
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", text)
    return re.sub(r"[^A-Za-z]+", " ", spaced).lower().split()


def describe(package: str, name: str) -> tuple[str, str]:
    """(label, kind) from a path: what the file name says once empty words are gone."""
    stem, parent = Path(name).stem, Path(name).parent.name
    if package == "bucklespring-data":
        return "keyboard typing key press", "effect"
    if SPEECH.search(name):
        if re.search(r"laugh", stem, re.I):
            return "a person laughing", "effect"
        if re.search(r"cough", stem, re.I):
            return "a person coughing", "effect"
        return "speech", "speech"
    if MUSIC.search(name):
        return "music", "music"
    words = list(dict.fromkeys(w for w in words_of(stem) if w not in EMPTY_WORDS and len(w) > 1))
    if package.startswith("hydrogen"):
        words = [*words[:3], "drum"]
    label = " ".join(words[:6])
    if len(label) < 3:
        outer = words_of(parent)
        label = " ".join(w for w in outer if w not in EMPTY_WORDS and len(w) > 2)[:40] if len(outer) < 3 else ""
    return label, "effect"


def cuts(path: Path, music: bool = False) -> Iterator[tuple[float, NDArray[np.int16]]]:
    """Yield (start in s, 16 kHz int16 signal) for one file, silence trimmed; nothing for unreadable or silent files."""
    try:
        with soundfile.SoundFile(path) as source:
            seconds = source.frames / source.samplerate
            if seconds < 0.08:
                return
            for start in _starts(seconds, music):
                source.seek(int(start * source.samplerate))
                block = source.read(LONGEST * source.samplerate, dtype="float32", always_2d=True).mean(1)
                signal = trim(soxr.resample(block, source.samplerate, SAMPLE_RATE, "MQ"))
                if len(signal) >= 1000:
                    yield float(start), to_int16(signal)
    except (soundfile.SoundFileError, OSError, RuntimeError):
        # Packages hold fragments and odd codecs; one bad file must not end an hour's work.
        return


def trim(signal: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cut leading and trailing silence (below 0.7 % of the peak), leaving 25 ms before and 100 ms after."""
    peak = float(np.abs(signal).max(initial=0.0))
    if peak < 2e-3 or not np.isfinite(peak):
        return signal[:0]
    loud = np.flatnonzero(np.abs(signal) > 0.007 * peak)
    return signal[max(0, loud[0] - 400) : loud[-1] + 1600]


def fingerprint(signal: NDArray[np.int16]) -> str:
    """A digest that is equal for bit-identical clips only."""
    return hashlib.sha256((signal[::7] >> 7).tobytes()).hexdigest()


def _starts(seconds: float, music: bool) -> list[float]:
    count = min(4 if music else 3, int(seconds // LONGEST))
    if seconds <= LONGEST + 0.5 or count <= 1:
        return [0.0]
    return list(np.linspace(0.05 * seconds, max(0.05 * seconds, 0.95 * seconds - LONGEST), count))
