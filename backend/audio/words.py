"""The sentences about files that cannot be used: what came, what is allowed, what to do next."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from typing import Any

from backend.audio.headers import WaveHeader
from backend.audio.limits import MAX_CHANNELS, RATES, Limits
from backend.audio.sniff import Kind
from backend.errors import InputError

OPENED = "WAV, FLAC, Ogg, MP3, M4A, AIFF and WebM files can be opened."


def shown_name(path: str | Path) -> str:
    """A file's name fit for a sentence: no control or direction-changing characters, at most 80 characters."""
    name = os.fspath(path).rstrip("/").rsplit("/", 1)[-1]
    name = "".join("\ufffd" if _unprintable(letter) else letter for letter in name)
    return name if len(name) <= 80 else f"{name[:52]}…{name[-27:]}"


def _unprintable(letter: str) -> bool:
    # The two joiners are format characters as well, but emoji families and Persian are written with them.
    return unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") and letter not in "\u200c\u200d"


def spoken(seconds: float) -> str:
    """A duration for people: "0.3 s", "9.98 s", "2 min 5 s", "3 h"."""
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min" if minutes else f"{hours:,} h"


def unusable(message: str) -> InputError:
    """The InputError of a file that cannot be used."""
    return InputError(message, concerns="file")


def channels_error(name: str, channels: int) -> InputError:
    """The sentence for a header that claims too many channels, or none."""
    return unusable(
        f"The header of {name} claims {channels:,} channels; 1 to {MAX_CHANNELS} are accepted. "
        "It is probably damaged: export it again."
    )


def rate_error(name: str, sample_rate: int) -> InputError:
    """The sentence for a header that claims an impossible sample rate."""
    return unusable(
        f"The header of {name} claims a sample rate of {sample_rate:,} Hz; {RATES[0]:,} to {RATES[1]:,} are accepted. "
        "It is probably damaged: export it again."
    )


def check_wave_header(wave: WaveHeader | None, name: str) -> None:
    """Raise the InputError of a WAV whose header rules out that there is sound."""
    if wave is None or wave.data_bytes is None:
        raise unusable(f"{name} is a WAV file that ends inside its header: no samples follow. Get it again.")
    if not 1 <= wave.channels <= MAX_CHANNELS:
        raise channels_error(name, wave.channels)
    if not RATES[0] <= wave.sample_rate <= RATES[1]:
        raise rate_error(name, wave.sample_rate)


def explained(report: dict[str, Any], kind: Kind, wave: WaveHeader | None, name: str, limits: Limits) -> InputError:
    """The sentence for a decoding that failed, from the child's report (see ``decoding_worker``)."""
    stage = report["stage"]
    if stage == "channels":
        return channels_error(name, report["channels"])
    if stage == "rate":
        return rate_error(name, report["sample_rate"])
    if stage == "no-sound":
        what = "video without a sound track" if "video" in report["kinds"] else "no sound track"
        return unusable(f"{name} is {kind.title}, but it holds {what}. Choose a file with sound.")
    plain = {
        "time": f"{name} could not be decoded within {limits.wall_seconds:g} s. It may be damaged: convert it to WAV, "
        "or cut it shorter.",
        "memory": f"Decoding {name} needs more than {limits.memory_mb:,} MB of memory. It is probably damaged.",
        "disk": f"There is no room to decode {name}: the disk for temporary files is full. Free some and try again.",
        "crash": f"The decoder broke down on {name}. It looks like {kind.title}, but it is damaged: get it again.",
        "no-ffmpeg": f"{name} is {kind.title}, which needs ffmpeg, and ffmpeg is not installed here. "
        "Install ffmpeg, or convert it to WAV, FLAC, Ogg or MP3.",
    }
    return unusable(plain[stage]) if stage in plain else _damaged_or_unknown(report, kind, wave, name)


def _damaged_or_unknown(report: dict[str, Any], kind: Kind, wave: WaveHeader | None, name: str) -> InputError:
    """Every decoder opened the file and none could read it: is it the codec, or the file?"""
    codec = report.get("codec", "")
    # A known tag that libsndfile and ffmpeg both read (PCM, float, A-law, u-law) means a damaged file.
    rare = wave is not None and wave.codec not in (1, 3, 6, 7)
    if wave is not None and rare:
        codec = wave.codec_name
    if rare or report["stage"] == "codec":
        known = codec not in ("", "unknown", "none")
        shown = codec if known else f"an unknown codec (tag {report.get('tag') or 'none'})"
        return unusable(
            f"The sound in {name} is coded as {shown}, which cannot be decoded here. Convert it to WAV or FLAC."
        )
    return unusable(f"{name} looks like {kind.title}, but it is damaged: no sound could be decoded. Get it again.")
