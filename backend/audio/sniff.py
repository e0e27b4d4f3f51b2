"""What an untrusted file looks like, read in pure Python: nothing is decoded here.

The answer forces the decoder (ffmpeg never guesses, so a playlist or a script named .wav is
never followed), and names what came when it is not audio.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

HEAD_BYTES = 65536
"""How much of a file is looked at."""


@dataclass(frozen=True)
class Kind:
    """What a file looks like.

    Attributes
    ----------
    title : str
        For people, with its article: "a WAV file", "an HTML page".
    decoders : tuple of str
        What may decode it, in order: "libsndfile", or the name of the ffmpeg demuxer that is
        forced. Empty when it is not audio.
    hint : str
        For what is not audio: what to do instead, a whole sentence, or empty.
    """

    title: str
    decoders: tuple[str, ...] = ()
    hint: str = ""


WAV = Kind("a WAV file", ("libsndfile", "wav"))
OGG = Kind("an Ogg file", ("libsndfile", "ogg"))
FLAC = Kind("a FLAC file", ("libsndfile", "flac"))
AIFF = Kind("an AIFF file", ("libsndfile", "aiff"))
MP3 = Kind("an MP3 file", ("libsndfile", "mp3"))
MP3_WITHOUT_LENGTH = Kind("an MP3 file", ("mp3", "libsndfile"))
"""libsndfile stops at a length it GUESSES when no Xing, Info or VBRI header tells it; ffmpeg reads on."""
AAC = Kind("an AAC file", ("aac",))
MP4 = Kind("an MP4 file", ("mov",))
MATROSKA = Kind("a WebM or Matroska file", ("matroska",))

_AUDIO_STARTS: tuple[tuple[bytes, Kind], ...] = (
    (b"fLaC", FLAC),
    (b"OggS", OGG),
    (b"RF64", WAV),
    (b"RIFX", Kind("a big-endian WAV file", ("libsndfile",))),
    (b"riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\x00\x00", Kind("a Wave64 file", ("libsndfile", "w64"))),
    (b".snd", Kind("an AU file", ("libsndfile", "au"))),
    (b"caff", Kind("a CAF file", ("libsndfile", "caf"))),
    (b"NIST_1A", Kind("a NIST SPHERE file", ("libsndfile", "nistspeech"))),
    (b"Creative Voice File", Kind("a VOC file", ("libsndfile", "voc"))),
    (b"\x1aE\xdf\xa3", MATROSKA),
    (b"#!AMR", Kind("an AMR file", ("amr",))),
    (b"wvpk", Kind("a WavPack file", ("wv",))),
    (b"0&\xb2u\x8ef\xcf\x11\xa6\xd9\x00\xaa\x00b\xcel", Kind("a Windows Media file", ("asf",))),
    (b"\x0bw", Kind("an AC-3 file", ("ac3",))),
    (b"FLV\1", Kind("a Flash video", ("flv",))),
    (b"TTA1", Kind("a True Audio file", ("tta",))),
    (b"MAC ", Kind("a Monkey's Audio file", ("ape",))),
)

_LFS_HINT = "The sound itself is still on the server: run 'git lfs pull', or download the file itself."
_DOWNLOAD_HINT = "It is probably an error page saved instead of the sound: download the sound itself."
_UNPACK_HINT = "Unpack it and open the sound inside."

_OTHER_STARTS: tuple[tuple[bytes, Kind], ...] = (
    (b"version https://git-lfs", Kind("a Git LFS pointer", hint=_LFS_HINT)),
    (b"%PDF", Kind("a PDF document")),
    (b"PK\x03\x04", Kind("a ZIP archive", hint=_UNPACK_HINT)),
    (b"PK\x05\x06", Kind("an empty ZIP archive")),
    (b"\x1f\x8b", Kind("a gzip archive", hint=_UNPACK_HINT)),
    (b"BZh", Kind("a bzip2 archive", hint=_UNPACK_HINT)),
    (b"\xfd7zXZ", Kind("an xz archive", hint=_UNPACK_HINT)),
    (b"7z\xbc\xaf\x27\x1c", Kind("a 7-Zip archive", hint=_UNPACK_HINT)),
    (b"Rar!", Kind("a RAR archive", hint=_UNPACK_HINT)),
    (b"\x89PNG", Kind("a PNG image")),
    (b"\xff\xd8\xff", Kind("a JPEG image")),
    (b"GIF8", Kind("a GIF image")),
    (b"BM", Kind("a BMP image")),
    (b"II*\x00", Kind("a TIFF image")),
    (b"MM\x00*", Kind("a TIFF image")),
    (b"\x7fELF", Kind("a program")),
    (b"MZ", Kind("a Windows program")),
    (b"MThd", Kind("a MIDI file", hint="It holds notes, not sound: render it to WAV first.")),
    (b"SQLite format 3", Kind("an SQLite database")),
    (b"\x93NUMPY", Kind("a NumPy array", hint="Write it as WAV first, with its sample rate.")),
    (b"\x89HDF", Kind("an HDF5 file")),
)

_PICTURE_BRANDS = (b"heic", b"heix", b"mif1", b"msf1", b"avif", b"crx ")
_MP4_ATOMS = (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot", b"styp", b"moof")


def look_at(head: bytes) -> Kind:
    """What a file looks like from its first bytes (at most HEAD_BYTES are used).

    Never raises; what is not recognised is "binary data that no decoder here knows".
    """
    head = head[:HEAD_BYTES]
    return (
        _container_kind(head)
        or _started_kind(head, _AUDIO_STARTS)
        or _mpeg_kind(head)
        or _started_kind(head, _OTHER_STARTS)
        or _text_kind(head)
        or _mpeg_after_garbage(head)
        or Kind("nothing but zero bytes" if not head.strip(b"\0") else "binary data of an unknown kind")
    )


def _started_kind(head: bytes, table: tuple[tuple[bytes, Kind], ...]) -> Kind | None:
    return next((kind for start, kind in table if head.startswith(start)), None)


def _container_kind(head: bytes) -> Kind | None:
    """RIFF, IFF and MP4 say what they hold a few bytes in."""
    form = head[8:12]
    if head.startswith(b"RIFF"):
        known = {
            b"": Kind("a WAV file that breaks off in its first bytes", hint="Get it again."),
            b"WAVE": WAV,
            b"AVI ": Kind("an AVI file", ("avi",)),
            b"WEBP": Kind("a WebP image"),
        }
        return known.get(form, Kind("a RIFF file that is not WAV"))
    if head.startswith(b"FORM") and form in (b"AIFF", b"AIFC"):
        return AIFF
    if len(head) > 376 and {head[0], head[188], head[376]} == {0x47}:
        return Kind("an MPEG transport stream", ("mpegts",))
    if head[4:8] in _MP4_ATOMS:
        return Kind("an HEIF or AVIF image") if form in _PICTURE_BRANDS else MP4
    return None


def mpeg_frame(head: bytes, at: int) -> tuple[int, str] | None:
    """Length in bytes and kind ("mp3" or "aac") of the MPEG audio frame whose header is at ``at``, else None."""
    if at + 7 > len(head) or head[at] != 0xFF or head[at + 1] & 0xE0 != 0xE0:
        return None
    version, layer = head[at + 1] >> 3 & 3, head[at + 1] >> 1 & 3
    if layer == 0:  # ADTS
        length = (head[at + 3] & 3) << 11 | head[at + 4] << 3 | head[at + 5] >> 5
        valid = head[at + 1] & 0xF6 == 0xF0 and head[at + 2] >> 2 & 15 < 13 and length > 7
        return (length, "aac") if valid else None
    rate_index, bitrate_index = head[at + 2] >> 2 & 3, head[at + 2] >> 4
    if version == 1 or rate_index == 3 or bitrate_index in (0, 15):
        return None
    first = version == 3
    tables = {
        (True, 3): (0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448),
        (True, 2): (0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
        (True, 1): (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
        (False, 3): (0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256),
    }
    kilobits = tables.get((first, layer), (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160))[bitrate_index]
    rate = (44100, 48000, 32000)[rate_index] >> {3: 0, 2: 1, 0: 2}[version]
    padding = head[at + 2] >> 1 & 1
    if layer == 3:
        return (12000 * kilobits // rate + padding) * 4, "mp3"
    return (144000 if first or layer == 2 else 72000) * kilobits // rate + padding, "mp3"


def _frames_in_a_row(head: bytes, at: int, count: int) -> str | None:
    """The kind of the frames at ``at`` when ``count`` of them follow each other (fewer when the file ends with one)."""
    kind = None
    for index in range(count):
        if index and at == len(head) < HEAD_BYTES:
            return kind
        frame = mpeg_frame(head, at)
        if frame is None or kind not in (None, frame[1]):
            return None
        at, kind = at + frame[0], frame[1]
    return kind


def _mpeg_at(head: bytes, at: int, count: int) -> Kind | None:
    kind = _frames_in_a_row(head, at, count)
    if kind is None:
        return None
    if kind == "aac":
        return AAC
    first_frame = head[at : at + 200]
    return MP3 if any(tag in first_frame for tag in (b"Xing", b"Info", b"VBRI")) else MP3_WITHOUT_LENGTH


def _mpeg_kind(head: bytes) -> Kind | None:
    """MP3 and AAC streams, behind an ID3 tag or bare."""
    if head.startswith(b"ID3") and len(head) >= 10:
        size = head[6] << 21 | head[7] << 14 | head[8] << 7 | head[9]
        at = 10 + size + (10 if head[5] & 0x10 else 0)
        if at + 7 > len(head):
            return MP3  # a large cover picture comes first: the frames lie beyond what is looked at
        return _mpeg_at(head, at, 2) or _mpeg_after_garbage(head[at:]) or MP3
    return _mpeg_at(head, 0, 2)


def _mpeg_after_garbage(head: bytes) -> Kind | None:
    """MPEG frames that begin after some other bytes: five in a row, so that chance cannot make them."""
    for found in re.finditer(b"\xff[\xe0-\xff]", head):
        kind = _frames_in_a_row(head, found.start(), 5) if found.start() + 2000 < len(head) else None
        if kind:
            return Kind("an MP3 file", ("mp3",)) if kind == "mp3" else AAC
    return None


def _text_kind(head: bytes) -> Kind | None:
    """HTML, JSON, playlists and other text; None for binary data."""
    for encoding in ("utf-16",) if head[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig",):
        try:
            # The last character may be cut in two where the head ends.
            text = head[: len(head) // 2 * 2].decode(encoding) if encoding == "utf-16" else _utf8(head)
        except UnicodeDecodeError:
            return None
    if re.search("[\x00-\x08\x0e-\x1a\x1c-\x1f]", text) or not text.strip():
        return None
    start = text.lstrip("\ufeff \t\r\n")[:400].lower()
    if start.startswith(("<!doctype html", "<html", "<head", "<body")) or "<html" in start:
        return Kind("an HTML page", hint=_DOWNLOAD_HINT)
    if start.startswith("<svg") or "<svg" in start:
        return Kind("an SVG image")
    if start.startswith("<?xml") or re.match("<[a-z]+[ >]", start):
        return Kind("an XML document", hint=_DOWNLOAD_HINT)
    if start.startswith(("#extm3u", "[playlist]", "ffconcat")):
        return Kind("a playlist", hint="It only names other files: open one of those.")
    if re.match(r'[{\[]\s*(["\d{\[\-]|true|false|null|[}\]])', start):
        return Kind("JSON text", hint=_DOWNLOAD_HINT)
    return Kind("plain text")


def _utf8(head: bytes) -> str:
    """Decode UTF-8 whose last character may be cut in two."""
    for cut in range(4):
        try:
            return head[: len(head) - cut].decode("utf-8-sig")
        except UnicodeDecodeError as error:
            if error.start < len(head) - 4:
                raise
    return head.decode("utf-8-sig")
