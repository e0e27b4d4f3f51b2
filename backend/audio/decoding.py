"""Untrusted bytes to samples: look at the file, decode it in a child process, explain what went wrong.

libsndfile decodes what it can, ffmpeg the rest. Both run in ``decoding_worker.py``, a child with
limits on time, memory, written bytes and decoded seconds.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.audio import headers as headers
from backend.audio.limits import MAX_CHANNELS, MAX_DECODED_BYTES, RATES, Limits, TooLong, default_limits
from backend.audio.sniff import AIFF, HEAD_BYTES, MP3, OGG, WAV, Kind, look_at
from backend.audio.words import OPENED, check_wave_header, explained, shown_name, spoken, unusable

_WORKER = Path(__file__).with_name("worker.py")
_at_once = threading.BoundedSemaphore(max(2, os.cpu_count() or 2))


@dataclass(frozen=True, eq=False)
class Decoded:
    """What a file holds.

    Attributes
    ----------
    samples : np.ndarray, shape (frames, channels), float32 or float64
        Full scale is 1.0. float64 only where the file stores more than float32 holds (PCM_32, DOUBLE).
    sample_rate : int
        In Hz.
    sample_format, container : str
        soundfile subtype or ffmpeg codec; soundfile major format or ffmpeg demuxer.
    notes : tuple of str
        Whole sentences: truncated, shortened, joined.
    """

    samples: NDArray[Any]
    sample_rate: int
    sample_format: str
    container: str
    notes: tuple[str, ...]


def decode(
    path: str | Path, limits: Limits | None = None, *, shorten: bool = False, name: str | None = None
) -> Decoded:
    """Decode one untrusted file.

    Parameters
    ----------
    path : str or Path
        A regular file.
    limits : Limits, optional
        Those of the settings by default.
    shorten : bool
        Take the first part of a recording that is too long, instead of raising TooLong.
    name : str, optional
        What to call the file in sentences; by default its own name.

    Raises
    ------
    TooLong
        More than ``limits.seconds``, and not ``shorten``.
    InputError
        The file is missing, empty, too large, not audio, damaged, of an unsupported codec,
        claims an impossible shape, or takes too long to decode. ``concerns`` is "file".
    """
    limits = limits or default_limits()
    name = shown_name(name or path)
    file, head = _opened(path, name, limits)
    kind = look_at(head)
    if not kind.decoders:
        raise unusable(f"{name} is not audio: it looks like {kind.title}. {kind.hint or OPENED}")
    wave = headers.wave_header(file) if kind is WAV else None
    if kind is WAV:
        check_wave_header(wave, name)
    pages = headers.ogg_pages(file) if kind is OGG else None
    with tempfile.TemporaryDirectory(prefix="unheard-") as folder:
        report = _run_worker(file, Path(folder), kind, _parts(wave, pages), limits)
        if not report["ok"]:
            raise explained(report, kind, wave, name, limits)
        shape = (report["frames"], report["channels"])
        if not report["frames"]:
            raise unusable(f"{name} holds no sound: it is {kind.title} of zero samples. Record or export it again.")
        samples = np.fromfile(
            report["output"], dtype=report["dtype"], count=shape[0] * shape[1], offset=report.get("offset", 0)
        ).reshape(shape)
    announced = _announced_seconds(report, kind, wave, head)
    notes = _length_notes(report, kind, wave, pages, announced, name, limits, shorten)
    container = "WAV" if report["container"] in ("WAVEX", "RF64", "wav") else report["container"]
    return Decoded(samples, report["sample_rate"], _sample_format(report), container, notes)


def _opened(path: str | Path, name: str, limits: Limits) -> tuple[Path, bytes]:
    """The file's whole path and its first bytes, once it is a regular file of a fair size."""
    file = Path(path)
    try:
        status = file.stat()
    except FileNotFoundError:
        raise unusable(f"There is no file {name}. Check its name and folder.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise unusable(f"{name} cannot be opened: {reason}. Check its name and folder.") from None
    if stat.S_ISDIR(status.st_mode):
        raise unusable(f"{name} is a folder. Choose one sound file inside it.")
    if not stat.S_ISREG(status.st_mode):
        raise unusable(f"{name} is a device or a pipe, not a file. Save the sound to a file first.")
    if status.st_size == 0:
        raise unusable(f"{name} is empty (0 bytes). The recording or the download failed: get it again.")
    if status.st_size > limits.file_mb * 2**20:
        raise unusable(
            f"{name} is {status.st_size / 2**20:,.1f} MB large; at most {limits.file_mb:g} MB are accepted. "
            "Cut it shorter, or save it as FLAC or MP3."
        )
    try:
        with file.open("rb") as opened:
            return file.resolve(), opened.read(HEAD_BYTES)
    except OSError as error:
        raise unusable(
            f"{name} cannot be read: {error.strerror or error}. Change its permissions or copy it."
        ) from None


def _parts(wave: headers.WaveHeader | None, pages: headers.OggPages | None) -> list[tuple[str, int, int]]:
    """What libsndfile is given instead of the file itself: (header in hex, offset, length), one after the other."""
    if pages and len(pages.links) > 1:
        return [("", offset, length) for offset, length in pages.links]
    if wave and not (wave.plain and wave.length_known) and wave.present_bytes < 2**31:
        header, offset, length = wave.rebuilt()
        return [(header.hex(), offset, length)]
    return []


def _run_worker(
    file: Path, folder: Path, kind: Kind, parts: list[tuple[str, int, int]], limits: Limits
) -> dict[str, Any]:
    """Start the child, wait for it, end it with everything it started when the time is over."""
    job = {
        "path": str(file), "output": str(folder / "samples"), "report": str(folder / "report"),
        "decoders": kind.decoders, "parts": parts, "max_seconds": limits.seconds, "max_bytes": MAX_DECODED_BYTES,
        "max_channels": MAX_CHANNELS, "min_rate": RATES[0], "max_rate": RATES[1],
        "wall_seconds": limits.wall_seconds, "memory_bytes": limits.memory_mb * 2**20,
    }  # fmt: skip
    environment = {"PATH": os.environ.get("PATH", os.defpath), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with _at_once:
        child = subprocess.Popen(
            [sys.executable, "-I", str(_WORKER)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=environment, start_new_session=True, cwd=folder,
        )  # fmt: skip
        try:
            child.communicate(json.dumps(job).encode(), timeout=limits.wall_seconds)
        except subprocess.TimeoutExpired:
            return {"ok": False, "stage": "time"}
        finally:
            # The child leads its own process group, so that an ffmpeg it started ends with it.
            if child.poll() is None or child.returncode < 0:
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()
    try:
        report: dict[str, Any] = json.loads((folder / "report").read_bytes())
    except (OSError, ValueError):
        over = child.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
        return {"ok": False, "stage": "time" if over else "crash"}
    return report


def _announced_seconds(
    report: dict[str, Any], kind: Kind, wave: headers.WaveHeader | None, head: bytes
) -> float | None:
    """How long the header says the sound is; None where it does not say or only an estimate is known."""
    rate, frames = report["sample_rate"], report["frames"]
    if wave is not None:
        if report["more"] and wave.frame_bytes and wave.codec in (1, 3, 6, 7):
            return min(wave.data_bytes or 0, wave.present_bytes) / wave.frame_bytes / rate or None
        return frames / (1.0 - wave.missing_share) / rate if 0 < wave.missing_share < 1 else None
    if kind is AIFF:
        claimed = headers.aiff_frames(head)
        return claimed / rate if claimed else None
    estimated = kind.decoders[0] in ("mp3", "aac") or (kind is MP3 and report["decoder"] == "ffmpeg")
    if estimated or not 0 < report["claimed"] < 2**40:
        return None
    return float(report["claimed"] / rate)


def _length_notes(
    report: dict[str, Any], kind: Kind, wave: headers.WaveHeader | None, pages: headers.OggPages | None,
    announced: float | None, name: str, limits: Limits, shorten: bool,
) -> tuple[str, ...]:  # fmt: skip
    """Sentences about what is missing or was cut; raises TooLong."""
    held = report["frames"] / report["sample_rate"]
    notes: list[str] = []
    if report["more"]:
        long = f"is {spoken(announced)} long" if announced and announced > held else f"is longer than {spoken(held)}"
        if not shorten:
            why = (
                ""
                if held >= limits.seconds - 1
                else f" with {report['channels']} channels at {report['sample_rate']:,} Hz"
            )
            raise TooLong(
                f"{name} {long}; at most {spoken(held)} are analysed{why}. Take its first {spoken(held)}, "
                "or cut out the part you want.", held,
            )  # fmt: skip
        notes.append(f"Shortened: the recording {long}; only its first {spoken(held)} were loaded.")
    elif announced and announced - held > max(0.1, 0.002 * announced):
        if report["broke"] and report["decoder"] == "ffmpeg" and held > 0.9 * announced:
            how = f"{spoken(held)} could be decoded; times behind the damage may be shifted"
            notes.append(f"Damaged: of the {spoken(announced)} that the header announces, {how}.")
        else:
            how = f"the file breaks off after {spoken(held)}; that much was loaded"
            notes.append(f"Truncated: the header announces {spoken(announced)}, but {how}.")
    elif wave and not wave.length_known:
        notes.append("Unfinished header: it does not say how long the recording is; all that follows it was loaded.")
    elif pages and not pages.complete:
        notes.append(f"Truncated: the Ogg stream breaks off after {spoken(held)}; that much was loaded.")
    elif report["broke"]:
        what = kind.title.split(maxsplit=1)[1]
        notes.append(f"Damaged: not all of the {what} could be decoded; {spoken(held)} were loaded.")
    if report["parts"] > 1:
        notes.append(f"Joined: the file holds {report['parts']} recordings one behind the other; all were loaded.")
    if "changed" in report:
        notes.append("Only the first part was loaded: the recordings in this file differ in sample rate or channels.")
    return tuple(notes)


def _sample_format(report: dict[str, Any]) -> str:
    """soundfile's subtype, also for the PCM that ffmpeg takes out of MP4 and the like."""
    codec = str(report["subtype"])
    if report["decoder"] == "libsndfile":
        return codec
    pcm = {"pcm_u8": "PCM_U8", "pcm_s8": "PCM_S8", "pcm_alaw": "ALAW", "pcm_mulaw": "ULAW", "pcm_s16": "PCM_16",
           "pcm_s24": "PCM_24", "pcm_s32": "FLOAT", "pcm_f32": "FLOAT", "pcm_f64": "FLOAT"}  # fmt: skip
    return pcm.get(codec.removesuffix("le").removesuffix("be"), codec)
