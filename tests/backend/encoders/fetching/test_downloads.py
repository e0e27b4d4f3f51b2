"""Downloads against a server on the loopback: down, slow, lying, broken off, and well."""

import hashlib
import json
import re
import socket
import threading
import time
from collections import namedtuple
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from backend.encoders.families import huggingface, laion, laion_package, speech, tokens
from backend.encoders.fetching import checkpoints, downloads
from backend.encoders.fetching.downloads import RemoteFile, fetch
from backend.errors import InputError
from backend.progress import Progress
from backend.settings import settings

CONTENT = bytes(range(256)) * 12_000  # 3 MB
SHA = hashlib.sha256(CONTENT).hexdigest()
Disk = namedtuple("Disk", "total used free")


class Server(ThreadingHTTPServer):
    """Serves ``files`` by path; ``how`` says what goes wrong; ``asked`` keeps path and Range."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.how, self.asked = {"/a.pt": CONTENT}, "well", []
        self.stopping = threading.Event()
        self.address = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        server, path = self.server, self.path
        server.asked.append((path, self.headers.get("range")))
        if server.how == "silent":
            server.stopping.wait(20)
            return
        if server.how == "html":
            return self.whole(b"<html>Sign in</html>", 200, {"content-type": "text/html; charset=utf-8"})
        if server.how.isdigit():
            return self.whole(b"no", int(server.how))
        if server.how == "redirect" and not path.startswith("/cdn"):
            etag = hashlib.sha256(server.files[path]).hexdigest()
            headers = {"location": f"{server.address}/cdn{path}", "x-linked-etag": f'"{etag}"'}
            return self.whole(b"", 302, headers)
        body = server.files.get(path.removeprefix("/cdn"))
        if body is None:
            return self.whole(b"no", 404)
        start = self.resume_from(len(body))
        if start is None:
            return self.whole(b"", 416)
        self.send_response(206 if start else 200)
        self.send_header("content-length", str(len(body) - start))
        if start:
            self.send_header("content-range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        self.end_headers()
        self.body(body[start:])

    def resume_from(self, size):
        found = re.match(r"bytes=(\d+)-", self.headers.get("range") or "")
        if not found or self.server.how == "no-range":
            return 0
        return int(found[1]) if int(found[1]) < size else None

    def body(self, data):
        half = len(data) // 2
        try:
            self.wfile.write(data[:half])
            self.wfile.flush()
            if self.server.how == "stalls":
                self.server.stopping.wait(20)
            elif self.server.how == "breaks":
                self.connection.shutdown(socket.SHUT_RDWR)
            else:
                self.wfile.write(data[half:])
        except OSError:
            pass

    def whole(self, body, status, headers=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def server():
    running = Server()
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield running
    running.stopping.set()
    running.shutdown()
    running.server_close()
    thread.join()


@pytest.fixture
def remote(server, tmp_path):
    return RemoteFile(f"{server.address}/a.pt", tmp_path / "folder" / "a.pt", len(CONTENT), SHA)


def part(remote):
    return remote.target.with_name("a.pt.part")


def test_a_file_arrives_with_progress(remote):
    seen = []
    assert fetch(remote, Progress(lambda step: seen.append((step.done, step.total)))) == remote.target
    assert remote.target.read_bytes() == CONTENT and not part(remote).exists()
    assert seen[-1] == (len(CONTENT), len(CONTENT)) and seen == sorted(seen)


def test_what_is_there_is_not_fetched_again(remote, server):
    remote.target.parent.mkdir()
    remote.target.write_bytes(b"mine")
    fetch(remote)
    assert server.asked == [] and remote.target.read_bytes() == b"mine"


def test_a_broken_connection_is_continued(remote, server):
    server.how = "breaks"
    with pytest.raises(InputError, match="kept; press download again"):
        fetch(remote)
    kept = part(remote).stat().st_size
    assert 0 < kept < len(CONTENT) and not remote.target.exists()
    server.how = "well"
    fetch(remote)
    assert server.asked[-1] == ("/a.pt", f"bytes={kept}-")
    assert remote.target.read_bytes() == CONTENT


@pytest.mark.parametrize("how, left", [("no-range", CONTENT[:1000]), ("well", CONTENT), ("well", CONTENT + b"more")])
def test_a_part_that_cannot_be_continued_is_started_over(remote, server, how, left):
    server.how = how
    part(remote).parent.mkdir()
    part(remote).write_bytes(left)
    fetch(remote)
    assert remote.target.read_bytes() == CONTENT


def test_a_damaged_part_is_found_out_by_its_hash(remote):
    part(remote).parent.mkdir()
    part(remote).write_bytes(b"x" * 1000)
    with pytest.raises(InputError, match="arrived damaged or replaced"):
        fetch(remote)
    assert not remote.target.exists() and not part(remote).exists()
    assert fetch(remote).read_bytes() == CONTENT


def test_another_file_under_the_name_is_refused(remote, server):
    server.files["/a.pt"] = CONTENT[::-1]
    with pytest.raises(InputError, match=f"expected {SHA[:12]}"):
        fetch(remote)
    assert not remote.target.exists()


def test_the_hash_a_hub_states_is_checked_too(server, tmp_path):
    server.how = "redirect"
    target = tmp_path / "a.pt"
    unknown = RemoteFile(f"{server.address}/a.pt", target)
    real, server.files["/a.pt"] = server.files["/a.pt"], CONTENT[:-1] + b"!"
    stated = hashlib.sha256(server.files["/a.pt"]).hexdigest()
    assert hashlib.sha256(fetch(unknown).read_bytes()).hexdigest() == stated
    target.unlink()
    server.files = Swapped(server.files["/a.pt"], real)  # states one content, delivers another
    with pytest.raises(InputError, match=f"expected {stated[:12]}"):
        fetch(unknown)


class Swapped(dict):
    def __init__(self, stated, delivered):
        super().__init__({"/a.pt": stated})
        self.delivered = delivered

    def get(self, name, default=None):
        return self.delivered


@pytest.mark.parametrize(
    "how, sentence",
    [("html", "answered with a web page"), ("404", "HTTP 404"), ("403", "HTTP 403"), ("503", "answered HTTP 503")],
)
def test_an_answer_that_is_no_file_is_a_sentence(remote, server, how, sentence):
    server.how = how
    with pytest.raises(InputError, match=sentence) as caught:
        fetch(remote)
    assert not remote.target.exists() and "\n" not in str(caught.value)


def test_a_server_that_does_not_answer_is_given_up(remote, server):
    assert downloads.ANSWER_SECONDS <= 10
    server.how = "silent"
    start = time.monotonic()
    with pytest.raises(InputError, match=r"did not answer within 0\.4 s"):
        fetch(remote, answer_seconds=0.4)
    assert time.monotonic() - start < 3


def test_a_name_that_never_resolves_is_given_up(remote, monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(3))
    with pytest.raises(InputError, match=r"did not answer within 0\.3 s"):
        fetch(RemoteFile("http://hub.invalid/a.pt", remote.target), answer_seconds=0.3)


def test_a_transfer_that_stalls_is_given_up(remote, server):
    server.how = "stalls"
    with pytest.raises(InputError, match="fell silent after"):
        fetch(remote, silence_seconds=0.4)
    assert part(remote).stat().st_size > 0


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/a.pt", "nonsense", "ftp://127.0.0.1/a.pt"])
def test_nobody_there_is_a_sentence(tmp_path, address):
    with pytest.raises(InputError, match=r"cannot be reached|not an address"):
        fetch(RemoteFile(address, tmp_path / "a.pt"))


def test_a_full_disk_is_said_before_anything_is_written(remote, monkeypatch):
    monkeypatch.setattr(downloads.shutil, "disk_usage", lambda _: Disk(10**9, 10**9, 10**6))
    with pytest.raises(InputError, match=r"0\.00 GB are free"):
        fetch(remote)
    assert not part(remote).exists()


def test_a_disk_that_fills_up_is_a_sentence(remote, monkeypatch):
    real = Path.open

    class Full:
        def __init__(self, stream):
            self.stream = stream

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.stream.close()

        def write(self, data):
            raise OSError(28, "No space left on device")

    def opened(path, mode="r", *rest, **named):
        stream = real(path, mode, *rest, **named)
        return Full(stream) if mode == "wb" and path.suffix == ".part" else stream

    monkeypatch.setattr(Path, "open", opened)
    with pytest.raises(InputError, match="No space left on device"):
        fetch(remote)


def test_a_folder_that_cannot_be_made_is_a_sentence(server, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="UNHEARD_CHECKPOINTS_DIR"):
        fetch(RemoteFile(f"{server.address}/a.pt", tmp_path / "file" / "a.pt"))


def test_cancelling_keeps_the_part(remote):
    seen = []

    def cancel_after_two(step):
        seen.append(step)
        if len(seen) == 2:
            progress.cancel()

    progress = Progress(cancel_after_two)
    with pytest.raises(InputError, match="was cancelled"):
        fetch(remote, progress)
    assert len(seen) == 2
    assert 0 < part(remote).stat().st_size < len(CONTENT)
    assert fetch(remote).read_bytes() == CONTENT


def test_a_second_download_of_a_file_waits_for_nobody(remote):
    told = []

    def again(step):
        if not told:
            with pytest.raises(InputError, match="being downloaded already") as caught:
                fetch(remote)
            told.append(str(caught.value))

    fetch(remote, Progress(again))
    assert told


# What the known encoders consist of.


@pytest.fixture
def hub(server, downloads_folder, monkeypatch):
    monkeypatch.setenv("UNHEARD_HUB", server.address)
    settings.cache_clear()
    # A checkpoint that laion_clap itself has downloaded into its folder must not count here.
    monkeypatch.setattr(laion_package, "find_spec", lambda name: None)
    return server


def test_every_downloadable_encoder_is_listed_with_licence_and_size(downloads_folder):
    families = (laion.FAMILY, huggingface.FAMILY, speech.FAMILY)
    listed = {info.id: info for family in families for info in family.listed()}
    assert list(listed) == checkpoints.downloadable_ids()
    for info in listed.values():
        assert info.licence and info.source.startswith("https://") and info.size_bytes > 10**8 and info.downloadable


def test_a_laion_checkpoint_comes_with_the_vocabulary(hub, downloads_folder):
    name = "630k-best"  # one whose hash only the hub knows
    base = f"/{laion.REPOSITORY}/resolve/{checkpoints.REVISION}"
    hub.files = {f"{base}/630k-best.pt": CONTENT} | {
        f"/roberta-base/resolve/main/{file}": file.encode() for file in tokens.VOCABULARY_FILES
    }
    seen = []
    fetched = checkpoints.download(f"laion:{name}", Progress(seen.append))
    assert [path.name for path in fetched] == ["vocab.json", "merges.txt", "630k-best.pt"]
    assert laion.find_file(name) == downloads_folder / "laion" / "630k-best.pt"
    assert tokens.vocabulary_folder() == downloads_folder / "roberta-base"
    assert "630k-best.pt" in seen[-1].what and seen[-1].done > len(CONTENT)
    assert checkpoints.planned(f"laion:{name}") == []
    with pytest.raises(InputError, match="expected 8053c9775516"):
        hub.files[f"{base}/630k-audioset-best.pt"] = CONTENT
        checkpoints.download("laion:630k-audioset-best")


def listing(*names, sizes=100):
    entries = [{"rfilename": name, "size": sizes, "lfs": {"sha256": "0" * 64}} for name in names]
    return json.dumps({"sha": "a" * 40, "siblings": entries}).encode()


def test_a_repository_is_fetched_as_the_hub_lists_it(hub, downloads_folder):
    repo = "laion/larger_clap_general"
    contents = {"config.json": b"{}", "model.safetensors": CONTENT, "vocab.json": b"{}"}
    entries = [
        {
            "rfilename": name,
            "size": len(body),
            **({"lfs": {"sha256": SHA}} if body is CONTENT else {}),
        }
        for name, body in contents.items()
    ]
    noise = [{"rfilename": name, "size": 10**12} for name in ("tf_model.h5", "../evil.json", "a/model.safetensors")]
    noise.append({"rfilename": "pytorch_model.bin", "size": 10**12})
    hub.files = {f"/{repo}/resolve/{'b' * 40}/{name}": body for name, body in contents.items()}
    hub.files[f"/api/models/{repo}?blobs=true"] = json.dumps({"sha": "b" * 40, "siblings": entries + noise}).encode()
    seen = []
    fetched = checkpoints.download(f"hf:{repo}", Progress(seen.append))
    assert [path.name for path in fetched] == ["vocab.json", "model.safetensors", "config.json"]
    assert seen[-1].done == seen[-1].total == sum(map(len, contents.values()))
    assert (downloads_folder / "laion--larger_clap_general" / "model.safetensors").read_bytes() == CONTENT
    assert checkpoints.planned(f"hf:{repo}") == []


def test_the_older_weights_are_taken_where_there_are_no_newer(hub):
    repo = speech.KNOWN["wav2vec2-base-960h"][0]
    hub.files[f"/api/models/{repo}?blobs=true"] = listing(
        "pytorch_model.bin", "config.json", "preprocessor_config.json"
    )
    names = [file.target.name for file in checkpoints.planned("speech:wav2vec2-base-960h")]
    assert names == ["preprocessor_config.json", "pytorch_model.bin", "config.json"]


@pytest.mark.parametrize("body", [b"<html>", b"[]", listing("README.md"), b'{"siblings": [1, {"rfilename": 2}]}'])
def test_a_listing_that_is_none_is_a_sentence(hub, body):
    hub.files["/api/models/laion/larger_clap_music?blobs=true"] = body
    with pytest.raises(InputError, match="hub"):
        checkpoints.planned("hf:laion/larger_clap_music")


def test_a_hub_that_is_down_is_a_sentence(hub, monkeypatch):
    hub.how = "silent"
    monkeypatch.setattr(downloads, "ANSWER_SECONDS", 0.3)
    with pytest.raises(InputError, match=r"did not answer within 0\.3 s.*keep working"):
        checkpoints.planned("hf:laion/larger_clap_music")


@pytest.mark.parametrize("encoder_id", ["pocket", "laion:x", "hf:someone/else", "process:rm -rf /", ""])
def test_only_known_encoders_are_fetched(hub, encoder_id):
    with pytest.raises(InputError, match="cannot be downloaded here"):
        checkpoints.download(encoder_id)
    assert hub.asked == []
