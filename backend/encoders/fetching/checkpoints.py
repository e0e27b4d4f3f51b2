"""What each encoder known by name consists of, and how it is fetched: explicitly, and never by loading it."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from backend.encoders.families import huggingface, laion, speech, tokens
from backend.encoders.fetching import downloads
from backend.encoders.fetching.downloads import RemoteFile
from backend.encoders.fetching.hub import download_folder
from backend.errors import InputError
from backend.progress import Progress, Step
from backend.settings import settings

REVISION = "b3708341862f581175dba5c356a4ebf74a9b6651"
"""Of lukewys/laion_clap: the one the known hashes belong to."""
LISTING_BYTES = 4 << 20
ACCOMPANYING = re.compile(r"^(config|preprocessor_config|processor_config|tokenizer|tokenizer_config|vocab|"
                          r"special_tokens_map)\.json$|^merges\.txt$")  # fmt: skip
"""Files beside the weights that a model in the transformers layout needs."""


def downloadable_ids() -> list[str]:
    """Encoders this program can fetch."""
    ids = [f"laion:{checkpoint.name}" for checkpoint in laion.CHECKPOINTS]
    ids += [f"hf:{repo}" for repo in huggingface.KNOWN]
    return [*ids, *(f"speech:{name}" for name in speech.KNOWN)]


def planned(encoder_id: str) -> list[RemoteFile]:
    """The files an encoder still lacks.

    Asks the hub for a repository's list of files where that is not known here.

    Raises
    ------
    InputError
        The id is not one that can be fetched, or the hub cannot be asked.
    """
    prefix, _, name = encoder_id.partition(":")
    if encoder_id not in downloadable_ids():
        raise InputError(f"{encoder_id} cannot be downloaded here. Known: {', '.join(downloadable_ids())}.")
    if prefix == "laion":
        files = _laion_files(name)
    else:
        files = _repository_files(name if prefix == "hf" else speech.KNOWN[name][0])
    return [file for file in files if not file.target.is_file()]


def _laion_files(name: str) -> list[RemoteFile]:
    checkpoint = next(known for known in laion.CHECKPOINTS if known.name == name)
    folder, files = settings().checkpoints_dir, []
    if tokens.vocabulary_folder() is None:
        files = [
            RemoteFile(_address("roberta-base", "main", file), folder / "roberta-base" / file)
            for file in tokens.VOCABULARY_FILES
        ]
    if laion.find_file(name) is None:
        size = checkpoint.size if checkpoint.sha256 else 0
        url = _address(laion.REPOSITORY, REVISION, checkpoint.file)
        files.append(RemoteFile(url, folder / "laion" / checkpoint.file, size, checkpoint.sha256))
    return files


def _repository_files(repo: str) -> list[RemoteFile]:
    """Weights (safetensors where there are) and what must lie beside them, as the hub lists them."""
    listing = _listing(repo)
    revision = listing.get("sha") if re.fullmatch(r"[0-9a-f]{40}", str(listing.get("sha"))) else "main"
    found: dict[str, RemoteFile] = {}
    for entry in listing.get("siblings", []):
        name = entry.get("rfilename") if isinstance(entry, dict) else None
        wanted = isinstance(name, str) and (ACCOMPANYING.match(name) or name.endswith((".safetensors", ".bin")))
        if not isinstance(name, str) or not wanted or "/" in name:
            continue
        lfs = entry.get("lfs") or {}
        size, sha256 = entry.get("size"), lfs.get("sha256", "")
        found[name] = RemoteFile(
            _address(repo, str(revision), name),
            download_folder(repo) / name,
            size if isinstance(size, int) else 0,
            sha256 if re.fullmatch(r"[0-9a-f]{64}", str(sha256)) else "",
        )
    weights = next((name for name in ("model.safetensors", "pytorch_model.bin") if name in found), None)
    if weights is None or "config.json" not in found:
        raise InputError(f"The hub lists no config.json and weights in {repo}. It may have moved.", concerns="file")
    # config.json last: a folder that has it is taken for complete.
    others = [name for name in found if ACCOMPANYING.match(name) and name != "config.json"]
    return [found[name] for name in (*others, weights, "config.json")]


def _listing(repo: str) -> dict[str, Any]:
    url = f"{settings().hub.rstrip('/')}/api/models/{repo}?blobs=true"
    opened = downloads.answered(url, 0, downloads.ANSWER_SECONDS, downloads.SILENCE_SECONDS)
    import httpx

    with contextlib.closing(opened):
        body = bytearray()
        try:
            for chunk in opened.response.iter_raw():
                body += chunk
                if len(body) > LISTING_BYTES:
                    break
        except httpx.HTTPError:
            body = bytearray()
        status = opened.response.status_code
    try:
        found = json.loads(bytes(body)) if status == 200 else None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InputError(
            f"The hub answered HTTP {status} and no list of files for {repo}. Check UNHEARD_HUB, or try later.",
            concerns="file",
        )
    return found


def _address(repo: str, revision: str, file: str) -> str:
    return f"{settings().hub.rstrip('/')}/{repo}/resolve/{revision}/{file}"


def how_far(file: str, done: float, total: float) -> str:
    """For people: "630k-audioset-best.pt: 420 of 1864 MB"; ``done`` and ``total`` are bytes, 0 when unknown."""
    of_all = f" of {total / 1e6:.0f}" if total else ""
    return f"{file}: {done / 1e6:.0f}{of_all} MB"


def download(encoder_id: str, progress: Progress | None = None) -> Sequence[Path]:
    """Fetch everything an encoder lacks.

    Parameters
    ----------
    encoder_id : str
        One of :func:`downloadable_ids`.
    progress : Progress, optional
        Told the bytes of all files after every chunk; when it is cancelled, the part is kept for the next try.

    Returns
    -------
    sequence of Path
        The files that were fetched.

    Raises
    ------
    InputError
        As :func:`backend.encoders.fetching.downloads.fetch`.
    """
    files = planned(encoder_id)
    sizes = [file.size for file in files]
    total = sum(sizes) if all(sizes) else 0
    whole, before, fetched = progress or Progress(), 0, []
    for file in files:

        def report(step: Step, before: int = before) -> None:
            done, of_all = before + step.done, total or before + step.total
            whole.report(how_far(step.what, done, of_all), done, of_all)

        fetched.append(downloads.fetch(file, Progress(report, whole=whole)))
        before += file.target.stat().st_size
    return fetched
