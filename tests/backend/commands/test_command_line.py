"""The command line: exact JSON, exit codes, one sentence on standard error."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from backend.__main__ import COMMANDS, main
from backend.collections.demo import demo_clips
from backend.collections.layouts import open_collection
from backend.collections.store import embed_collection
from backend.commands import terminal_progress as progress
from backend.encoders.base import encoder_list, load_encoder
from backend.evidence.localization import localize
from backend.negation import parse_query
from backend.retrieval.ranking import rank
from backend.retrieval.scoring import SCORERS, score_query
from backend.retrieval.search import SearchResult
from tests.fakes import tone_clip

QUERY = "a dog barking, no rain"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):
    def call(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def wav(tmp_path: Path) -> Path:
    path = tmp_path / "tone.wav"
    soundfile.write(path, tone_clip(3, 1.0, 2.0, duration=5.0).channels, 8000, subtype="PCM_24")
    return path


def test_localize_prints_one_object_that_is_the_backends(run) -> None:
    scene = demo_clips()[0]
    code, out, err = run("localize", scene.path, QUERY, "--json")
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert set(record["encoder"]) == {"id", "weights"}
    assert {"duration", "sample_rate", "digest", "notes"} <= set(record["clip"])
    assert (record["window"], record["hop"]) == (2.0, 0.5)
    assert [concept["polarity"] for concept in record["concepts"]] == ["present", "absent"]
    from backend.audio import load_clip

    found = localize(load_encoder("pocket"), load_clip(scene.path), parse_query(QUERY).concepts, 2.0)
    for concept, evidence in zip(record["concepts"], found.evidence, strict=True):
        assert set(concept) >= {"text", "polarity", "starts", "scores", "best"}
        assert len(concept["starts"]) == len(concept["scores"]) == len(found.windows)
        np.testing.assert_allclose(concept["scores"], evidence.scores, atol=1e-6)
        best = concept["best"]
        assert best["score"] == max(concept["scores"])
        assert best["start"] == concept["starts"][int(np.argmax(concept["scores"]))]
        assert best["end"] - best["start"] == pytest.approx(2.0)


def test_a_demo_clip_can_be_named_by_its_id(run) -> None:
    scene = demo_clips()[0]
    by_id, by_path = (json.loads(run("localize", name, QUERY, "--json")[1]) for name in (scene.id, scene.path))
    assert by_id["clip"]["digest"] == by_path["clip"]["digest"]


def test_gate_keeps_rate_channels_and_format_and_cuts_only_inside(run, wav: Path, tmp_path: Path) -> None:
    out = tmp_path / "cut.wav"
    code, printed, err = run("gate", wav, "--start", 1, "--end", 2, "--depth", -40, "-o", out, "--json")
    assert (code, err) == (0, "")
    before, after = soundfile.info(wav), soundfile.info(out)
    assert (after.samplerate, after.channels, after.subtype, after.frames) == (8000, 1, "PCM_24", before.frames)
    original, cut = soundfile.read(wav, dtype="int32")[0], soundfile.read(out, dtype="int32")[0]
    np.testing.assert_array_equal(original[:8000], cut[:8000])
    np.testing.assert_array_equal(original[16000:], cut[16000:])
    middle = slice(11_000, 13_000)
    drop = 20 * np.log10(np.std(original[middle].astype(float)) / np.std(cut[middle].astype(float)))
    assert drop == pytest.approx(40, abs=0.5)
    record = json.loads(printed)
    assert record["region"] == {"start": 1.0, "end": 2.0}
    assert record["depth_db"] == -40


def test_gate_with_a_query_scores_beside_controls(run, wav: Path, tmp_path: Path) -> None:
    arguments = ("gate", wav, "--start", 1, "--end", 2, "-o", tmp_path / "c.wav", "--query", QUERY, "--controls", 3)
    first, second = (json.loads(run(*arguments, "--seed", 7, "--json")[1]) for _ in range(2))
    assert first == second
    assert len(first["effects"]) == 2
    for effect in first["effects"]:
        assert effect["drop"] == pytest.approx(effect["before"] - effect["after"], abs=2e-6)
        assert len(effect["control_drops"]) == 3
    assert first["provenance"]["seed"] == 7


def test_encoders_lists_pocket_as_ready(run) -> None:
    code, out, _ = run("encoders", "--json")
    listed = json.loads(out)
    assert code == 0
    for info in listed:
        assert {"id", "title", "ready", "needs", "dim", "sample_rate", "text"} <= set(info)
    pocket = next(info for info in listed if info["id"] == "pocket")
    assert pocket["ready"] is True
    assert pocket["needs"] == ""
    assert all(info["needs"] for info in listed if not info["ready"])


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["localize", "no-such-file.wav", QUERY], 1, "neither a file nor a demo clip"),
        (["localize", "README.md", QUERY], 1, "README.md"),
        (["localize", "CLIP", ""], 2, ""),
        (["localize", "CLIP", QUERY, "--window", "zero"], 2, "not a finite number"),
        (["localize", "CLIP", QUERY, "--window", "-2"], 2, "between 0.1 and 10 s"),
        (["localize", "CLIP", QUERY, "--encoder", "nope"], 2, "no encoder 'nope'"),
        (["gate", "CLIP", "--start", "3", "--end", "1", "-o", "x.wav"], 2, "start must be below end"),
        (["gate", "CLIP", "--start", "3", "--end", "1000", "-o", "x.wav"], 2, "s long"),
        (["gate", "CLIP", "--start", "nan", "--end", "1", "-o", "x.wav"], 2, "finite"),
        (["gate", "CLIP", "--start", "1", "--end", "2"], 2, "-o/--output"),
        (["gate", "CLIP", "--start", "-1", "--end", "2", "-o", "x.wav"], 2, "0 s or later"),
        (["gate", "CLIP", "--start", "1", "--end", "2", "-o", "x.mp3"], 2, "end in .wav"),
        (["gate", "CLIP", "--start", "1", "--end", "2", "-o", "no/such/folder/x.wav"], 2, "no folder"),
        (["localize", "data", QUERY], 1, "is a folder"),
        (["sing"], 2, "invalid choice"),
        ([], 2, "required"),
    ],
)
def test_a_bad_argument_is_one_sentence(run, arguments: list[str], code: int, said: str) -> None:
    clip = str(demo_clips()[0].path)
    got, out, err = run(*[clip if argument == "CLIP" else argument for argument in arguments])
    assert got == code
    assert out == ""
    assert said in err
    assert len(err.strip().splitlines()) == 1


def test_a_cut_never_overwrites_the_recording(run, wav: Path) -> None:
    before = wav.read_bytes()
    code, _, err = run("gate", wav, "--start", 1, "--end", 2, "-o", wav)
    assert code == 2
    assert "the recording itself" in err
    assert wav.read_bytes() == before


def test_a_wrong_setting_is_one_sentence(run, monkeypatch: pytest.MonkeyPatch) -> None:
    from backend.settings import settings

    monkeypatch.setenv("UNHEARD_PORT", "99999")
    settings.cache_clear()
    code, _, err = run("encoders")
    monkeypatch.undo()
    settings.cache_clear()
    assert code == 2
    assert "65535" in err


def test_what_the_parser_noticed_is_said(run) -> None:
    record = json.loads(run("localize", demo_clips()[0].id, "собака лает", "--json")[1])
    assert record["query"] == "собака лает"
    assert any("Cyrillic" in note for note in record["query_notes"])


def test_every_sub_command_tells_its_exit_codes(run) -> None:
    for command in ([], *([name] for name in COMMANDS), ["pocket", "evaluate"], ["pocket", "data"]):
        code, out, _ = run(*command, "--help")
        assert code == 0 and "Exit codes: 0 done; 1 a file" in " ".join(out.split()), command


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        # A place to write to is an argument, whatever is wrong with it; what is read is a file.
        (["gate", "CLIP", "--start", "1", "--end", "2", "-o", "/proc/no/x.wav"], 2, "no folder"),
        (["negeval", "demo", "--pairs", "0", "--out", "FILE"], 2, "is a file; --out must name a folder"),
        (["compose", "demo", "--out", "FILE"], 2, "is a file; --out must name a folder"),
        (["compose", "demo", "--memory-mb", "0"], 2, "must be above 0"),
        (["rank", "FILE", "rain"], 1, "is a sound, not a table"),
        (["compose", "FILE"], 1, "is a sound, not a table"),
        (["rank", "demo", "rain", "--seed", "-1"], 2, "a whole number, at least 0"),
        (
            ["gate", "CLIP", "--start", "1", "--end", "2", "-o", "x.wav", "--seed", "-1"],
            2,
            "a whole number, at least 0",
        ),
        (["negeval", "demo", "--out", "x", "--seed", "1.5"], 2, "not a whole number"),
        (["rank", "demo", "rain", "--top", "many"], 2, "'many' is not a whole number"),
        (["localize", "CLIP", "rain", "--encoder", "LACKING"], 1, "encoders --download LACKING"),
        (["encoders", "--test", "LACKING"], 1, "encoders --download LACKING"),
        (["encoders", "--download", "nope"], 2, "cannot be downloaded here"),
        (["pocket", "export", "/nowhere.pt"], 1, "does not exist"),
        (["pocket", "export", "FILE"], 1, "is not a pocket checkpoint"),
        (["pocket", "evaluate", "--checkpoint", "data"], 1, "is a folder"),
        (["pocket", "train"], 2, "are required"),
    ],
)
def test_odd_input_is_one_sentence(run, wav: Path, arguments: list[str], code: int, said: str) -> None:
    lacking = next(info.id for info in encoder_list() if info.downloadable and not info.ready)
    named = {"CLIP": demo_clips()[0].path, "FILE": wav, "LACKING": lacking}
    got, out, err = run(*[named.get(argument, argument) for argument in arguments])
    assert (got, out) == (code, "")
    assert said.replace("LACKING", lacking) in err and len(err.splitlines()) == 1


def test_what_is_missing_is_said_as_a_command(run) -> None:
    needs = {info["id"]: info["needs"] for info in json.loads(run("encoders", "--json")[1])}
    lines = run("encoders")[1]
    for info in encoder_list():
        if info.downloadable and not info.ready:
            assert needs[info.id] == f"Needs a download: python -m backend encoders --download {info.id}"
            assert needs[info.id] in lines
    assert "download them here" not in lines


@pytest.mark.parametrize(
    ("name", "value", "command", "said"),
    [
        ("UNHEARD_ENCODER", "foo", "localize", "UNHEARD_ENCODER is 'foo', but there is no such encoder"),
        ("UNHEARD_THREADS", "100000", "localize", "between 0 and 256"),
        ("UNHEARD_DEVICE", "tpu", "localize", "auto, cpu, cuda"),
        ("UNHEARD_MAX_SECONDS", "0", "localize", "above 0"),
        ("UNHEARD_MAX_FILE_MB", "nan", "localize", "finite"),
        ("UNHEARD_PORT", "abc", "encoders", "not a whole number"),
    ],
)
def test_a_setting_that_cannot_be_is_named(
    run, monkeypatch: pytest.MonkeyPatch, name: str, value: str, command: str, said: str
) -> None:
    from backend.settings import settings

    monkeypatch.setenv(name, value)
    settings.cache_clear()
    code, out, err = run(command, *([demo_clips()[0].path, "rain"] if command == "localize" else []))
    monkeypatch.undo()
    settings.cache_clear()
    assert (code, out) == (2, "") and name in err and said in err and err.count("\n") == 1


def test_a_full_disk_and_too_little_memory_are_one_sentence(run, monkeypatch: pytest.MonkeyPatch) -> None:
    for error, said in (
        (OSError(28, "No space left on device", "x.npy"), "x.npy: No space left"),
        (MemoryError(), "memory"),
    ):
        monkeypatch.setattr("backend.collections.store.embed_collection", lambda *_, error=error, **__: fail(error))
        code, out, err = run("rank", "demo", "rain")
        assert (code, out) == (1, "") and said in err and err.count("\n") == 1


def fail(error: Exception) -> None:
    raise error


def test_a_reader_that_leaves_early_is_no_error() -> None:
    ran = subprocess.run(
        f"yes rain | {sys.executable} -m backend parse | head -1", shell=True, capture_output=True, check=False
    )
    assert ran.returncode == 0 and ran.stderr == b"" and ran.stdout.count(b"\n") == 1


def test_rank_answers_as_the_page_does(run) -> None:
    """One function makes both; here its parts are checked against the rankings themselves."""
    query = "a dog barking, no rain"
    printed = json.loads(run("rank", "demo", query, "--scorer", "steered", "--lambda", 0.5, "--top", 4, "--json")[1])
    encoder = load_encoder("pocket")
    parsed = parse_query(query)
    scores = score_query(embed_collection(open_collection("demo"), encoder), encoder, parsed)
    rankings = [rank(scores, scorer, 0.5) for scorer in SCORERS]
    record = SearchResult(scores, 0.5).record("steered", 4)
    assert printed == json.loads(json.dumps(record))
    assert [hit["id"] for hit in printed["hits"]] == [hit.id for hit in rankings[SCORERS.index("steered")].hits(4)]
    assert set(printed["rankings"]) == set(printed["violations"]) == set(SCORERS)
    for ranking in rankings:
        assert printed["rankings"][ranking.scorer][0]["id"] == ranking.hits(1)[0].id
        assert printed["violations"][ranking.scorer] == ranking.violations(4)


def test_progress_leaves_the_line_before_a_result_or_an_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    show = progress.on_terminal()
    assert show is not None
    show.report("Embedding clip 1 of 2", 1, 2)
    progress.clear()
    progress.clear()
    assert capsys.readouterr().err == "\r 50 %  Embedding clip 1 of 2\033[K\r\033[K"
    monkeypatch.setattr(
        "backend.collections.store.embed_collection", lambda *_, **__: (show.report("x", 0, 1), fail(MemoryError()))
    )
    assert main(["rank", "demo", "rain"]) == 1
    assert "\r\033[KThere is not enough memory" in capsys.readouterr().err


def test_progress_is_silent_where_nobody_watches() -> None:
    assert progress.on_terminal() is None


def test_many_rows_left_out_are_counted(run, wav: Path) -> None:
    table = wav.parent / "clips.csv"
    table.write_text(f"path,caption\n{wav.name},a tone\n" + "".join(f"gone-{i}.wav,x\n" for i in range(30)))
    code, out, err = run("rank", table, "a tone")
    assert (code, err) == (0, "") and out.count("there is no file gone-") == 10 and "20 more rows" in out
    assert len(json.loads(run("rank", table, "a tone", "--json")[1])["collection"]["skipped"]) == 30
