"""The child process that decodes one untrusted file. Run as a script, never imported by the application.

It reads one job (JSON on standard input), puts limits on itself, decodes with libsndfile or
ffmpeg, writes raw samples to one file and a report (JSON) to another. Decoders can hang, crash
or eat the machine's memory on a file of 157 bytes; here that ends this process and no other.
Only soundfile and numpy are imported, so that starting it takes a tenth of a second.
"""

from __future__ import annotations

import errno
import io
import json
import os
import struct
import sys
from contextlib import suppress
from typing import Any

Report = dict[str, Any]

AUDIO_CODECS = (
    "aac,aac_fixed,aac_latm,ac3,ac3_fixed,eac3,alac,amrnb,amrwb,ape,dca,flac,gsm,gsm_ms,libgsm,libgsm_ms,"
    "mp1,mp1float,mp2,mp2float,mp3,mp3float,mp3adu,mp3adufloat,nellymoser,opus,libopus,qdm2,qdmc,speex,libspeex,"
    "tta,vorbis,libvorbis,wavpack,wmav1,wmav2,wmapro,wmalossless,wmavoice,adpcm_ima_wav,adpcm_ima_qt,adpcm_ms,"
    "adpcm_g722,adpcm_g726,adpcm_g726le,adpcm_swf,adpcm_yamaha,pcm_alaw,pcm_mulaw,pcm_u8,pcm_s8,pcm_s16le,pcm_s16be,"
    "pcm_u16le,pcm_s24le,pcm_s24be,pcm_s32le,pcm_s32be,pcm_s64le,pcm_s64be,pcm_f32le,pcm_f32be,pcm_f64le,pcm_f64be"
)
"""Decoders ffmpeg may open. Pictures and subtitles inside a file are never decoded."""


DAMAGE = ("ended prematurely", "partial file", "Error while decoding", "Invalid data found")
"""What ffmpeg says of a damaged file that it decodes nevertheless, with exit code 0."""


class CannotDecode(Exception):
    """One decoder gave up; ``report`` says at which stage and why."""

    def __init__(self, stage: str, message: str = "", **details: Any) -> None:
        super().__init__(message)
        self.report: Report = {"ok": False, "stage": stage, "message": message, **details}


def limit_this_process(job: Report) -> None:
    """Bound memory, processor time and written bytes, for this process and what it starts."""
    with suppress(ImportError):
        import resource

        seconds = int(job["wall_seconds"]) + 1
        limits = {
            "RLIMIT_AS": int(job["memory_bytes"]),
            "RLIMIT_CPU": seconds,
            "RLIMIT_FSIZE": int(job["max_bytes"]) + 2**20,
            "RLIMIT_CORE": 0,
            "RLIMIT_NOFILE": 64,
        }
        for name, value in limits.items():
            # A system may lack a limit (macOS has no working RLIMIT_AS) or already have a lower one.
            with suppress(ValueError, OSError, AttributeError):
                resource.setrlimit(getattr(resource, name), (value, value))


def check_shape(job: Report, channels: int, sample_rate: int) -> int:
    """Refuse what a header claims beyond all reason; returns the number of frames that may be kept."""
    if not 1 <= channels <= job["max_channels"]:
        raise CannotDecode("channels", channels=channels)
    if not job["min_rate"] <= sample_rate <= job["max_rate"]:
        raise CannotDecode("rate", sample_rate=sample_rate)
    return int(job["max_seconds"] * sample_rate)


def kept_frames(job: Report, frames: int, channels: int, item_bytes: int) -> int:
    """Frames that may be kept, bounded by the decoded size as well."""
    return min(frames, int(job["max_bytes"]) // (channels * item_bytes))


def decode_with_libsndfile(job: Report) -> Report:
    """The file, or its parts (the links of a chained Ogg, a WAV's data), through libsndfile in blocks."""
    report: Report = {"ok": True, "decoder": "libsndfile", "frames": 0, "claimed": 0, "more": False, "broke": None}
    report["parts"] = 0
    with open(job["output"], "wb") as output:
        for part in job["parts"] or [None]:
            try:
                source = opened_by_libsndfile(job["path"], part)
            except CannotDecode as failure:
                if not report["parts"]:
                    raise
                report["broke"] = str(failure)
                break
            with source:
                if report["parts"] and (source.samplerate, source.channels) != tuple(report["shape"]):
                    report["changed"] = True
                    break
                read_to_end(source, job, report, output)
            if report["broke"] or report["more"]:
                break
    return report


def opened_by_libsndfile(path: str, part: list[Any] | None) -> Any:
    """A soundfile.SoundFile that reads straight on, of the file or of (header in hex, offset, length)."""
    import soundfile

    class Stream(soundfile.SoundFile):  # type: ignore[misc]
        """soundfile seeks after each block of a seekable file, which costs time and trust."""

        def seekable(self) -> bool:
            return False

    try:
        if part is None:
            return Stream(os.fsencode(path))
        header, offset, length = part
        with open(path, "rb") as file:
            file.seek(offset)
            return Stream(io.BytesIO(bytes.fromhex(header) + file.read(length)))
    except (soundfile.SoundFileError, TypeError) as error:
        raise CannotDecode("open", getattr(error, "error_string", str(error))) from None


def read_to_end(source: Any, job: Report, report: Report, output: Any) -> None:
    """Append one source's samples to the output, as far as they may be kept, and add them to the report."""
    import numpy as np
    import soundfile

    dtype = "float64" if source.subtype in ("PCM_32", "DOUBLE") else "float32"
    allowed = check_shape(job, source.channels, source.samplerate)
    allowed = kept_frames(job, allowed, source.channels, 8 if dtype == "float64" else 4)
    report |= {"sample_rate": source.samplerate, "channels": source.channels, "dtype": dtype, "allowed": allowed}
    report |= {"subtype": source.subtype, "container": source.format, "parts": report["parts"] + 1}
    report |= {"claimed": report["claimed"] + source.frames, "shape": [source.samplerate, source.channels]}
    # A FLAC block that breaks is lost whole, so FLAC is read in its own small blocks.
    block = np.empty((4096 if source.format == "FLAC" else 65536, source.channels), dtype=dtype)
    while not report["more"]:
        try:
            got = source.buffer_read_into(block.data.cast("B"), dtype)
        except soundfile.SoundFileError as error:
            report["broke"] = getattr(error, "error_string", str(error)) or "the stream is damaged"
            return
        if got <= 0:
            return
        kept = min(got, allowed - report["frames"])
        if kept > 0:
            output.write(block[:kept].data.cast("B"))
        report |= {"frames": report["frames"] + kept, "more": got > kept}


def run_tool(*arguments: str) -> tuple[int, bytes, str]:
    """Exit code, standard output and the last error lines of ffmpeg or ffprobe; it inherits the limits."""
    import subprocess

    try:
        done = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except FileNotFoundError:
        raise CannotDecode("no-ffmpeg", arguments[0]) from None
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")[-2000:]


def described_streams(job: Report, demuxer: str) -> tuple[list[Report], float]:
    """The tracks as the container describes them, and the duration it announces in seconds (0: none).

    Nothing is decoded for this (-nofind_stream_info), so that pictures in the file stay shut.
    """
    with suppress(CannotDecode, ValueError, TypeError):
        _, output, _ = run_tool(
            *("ffprobe", "-v", "error", "-nofind_stream_info", "-protocol_whitelist", "file,pipe", "-f", demuxer),
            *("-show_entries", "format=duration:stream=codec_type,codec_name,codec_tag_string,duration"),
            *("-of", "json", "file:" + job["path"]),
        )
        found = json.loads(output)
        tracks = found.get("streams", [])
        sounds = [track for track in tracks if track.get("codec_type") == "audio"]
        durations = [sounds[0].get("duration") if sounds else None, found.get("format", {}).get("duration")]
        return tracks, next((float(text) for text in durations if text not in (None, "N/A")), 0.0)
    return [], 0.0


def decode_with_ffmpeg(job: Report, demuxer: str) -> Report:
    """The first sound track through ffmpeg, as 32-bit float WAV, whose header tells rate and channels.

    The demuxer is forced, only this one local file may be read, and only sound may be decoded.
    """
    # Half a second more than is kept: what lies beyond shows that the recording goes on.
    code, _, errors = run_tool(
        *("ffmpeg", "-nostdin", "-v", "error", "-protocol_whitelist", "file,pipe"),
        *("-codec_whitelist", AUDIO_CODECS, "-threads", "1", "-f", demuxer, "-i", "file:" + job["path"]),
        *("-map", "0:a:0", "-map_metadata", "-1", "-t", f"{job['max_seconds'] + 0.5:.6f}"),
        *("-fs", str(job["max_bytes"] + 2**19), "-c:a", "pcm_f32le", "-bitexact", "-f", "wav"),
        *("-y", "file:" + job["output"]),
    )
    tracks, announced = described_streams(job, demuxer)
    sounds = [track for track in tracks if track.get("codec_type") == "audio"]
    codec = str(sounds[0].get("codec_name", "unknown")) if sounds else "unknown"
    details = {"decoder": "ffmpeg", "codec": codec, "tag": str(sounds[0].get("codec_tag_string")) if sounds else ""}
    try:
        with open(job["output"], "rb") as file:
            head = file.read(4096)
            size = file.seek(0, io.SEEK_END)
        channels, sample_rate = struct.unpack_from("<HI", head, head.index(b"fmt ") + 10)
        offset = head.index(b"data") + 8
    except (OSError, ValueError, struct.error):
        if tracks and not sounds:
            kinds = sorted({str(track.get("codec_type", "unknown")) for track in tracks})
            raise CannotDecode("no-sound", errors, kinds=kinds) from None
        undecodable = ("not on whitelist", "not found", "could not find codec", "Unsupported codec", "no decoder")
        stage = "codec" if any(text in errors for text in undecodable) else "read"
        raise CannotDecode(stage if sounds else "open", errors, **details) from None
    allowed = kept_frames(job, check_shape(job, channels, sample_rate), channels, 4)
    frames = (size - offset) // (4 * channels)
    if frames == 0 and code != 0:
        raise CannotDecode("read", errors, **details)
    return {
        "ok": True, "decoder": "ffmpeg", "sample_rate": sample_rate, "channels": channels, "dtype": "float32",
        "subtype": codec, "container": demuxer, "frames": min(frames, allowed), "more": frames > allowed,
        "allowed": allowed, "claimed": round(announced * sample_rate),
        "broke": errors if code != 0 or any(text in errors for text in DAMAGE) else None,
        "offset": offset, "parts": 1,
    }  # fmt: skip


def decode(job: Report) -> Report:
    """Try the job's decoders in order: the first that reads all of it wins, else the one that reads most."""
    results: list[Report] = []
    for number, decoder in enumerate(job["decoders"]):
        attempt = {**job, "output": f"{job['output']}-{number}"}
        try:
            by_libsndfile = decoder == "libsndfile"
            result = decode_with_libsndfile(attempt) if by_libsndfile else decode_with_ffmpeg(attempt, decoder)
            result["output"] = attempt["output"]
        except CannotDecode as failure:
            result = failure.report
            if result["stage"] in ("channels", "rate"):
                return result
        results.append(result)
        if result["ok"] and result["frames"] and not (result["broke"] and result["frames"] < result["claimed"]):
            break
    decoded = [result for result in results if result["ok"]]
    if decoded:
        return max(decoded, key=lambda result: result["frames"])
    # What the last decoder says is the most telling, unless there is no such decoder here.
    return ([result for result in results if result["stage"] != "no-ffmpeg"] or results)[-1]


def main() -> None:
    """Do the one job on standard input."""
    job: Report = json.load(sys.stdin)
    limit_this_process(job)
    try:
        report = decode(job)
    except MemoryError:
        report = {"ok": False, "stage": "memory", "message": ""}
    except OSError as error:
        report = {"ok": False, "stage": "disk" if error.errno == errno.ENOSPC else "read", "message": str(error)}
    with open(job["report"], "w", encoding="ascii") as file:
        json.dump(report, file)


if __name__ == "__main__":
    main()
