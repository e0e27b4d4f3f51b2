"""The benchmark from end to end on sounds whose order is known, through the library and the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from backend.__main__ import main
from backend.audio import clip_from_samples
from backend.benchmarks.negeval import run as running
from backend.benchmarks.negeval.report import tables, write_report
from backend.benchmarks.negeval.run import Options, run
from backend.collections import store as collection_store
from backend.collections.layouts import open_collection
from backend.encoders import base
from backend.errors import InputError
from backend.kept import Kept
from backend.retrieval.steering import PAPER_LAMBDAS
from backend.settings import Settings
from tests.fakes import BandEncoder, tone_clip

SMALL = Options(pairs=20, clips=12, seed=3)


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> BandEncoder:
    """An encoder that hears tones; decoding in this process; a cache of its own."""

    def read(path: Path, **options: object):
        if not Path(path).stat().st_size:
            raise InputError(f"{Path(path).name} is empty.", concerns="file")
        samples, rate = soundfile.read(path, dtype="float32")
        return clip_from_samples(samples, rate, name=Path(path).name)

    for module in (collection_store, running):
        monkeypatch.setattr(module, "load_clip", read)
    monkeypatch.setattr(collection_store, "settings", lambda: Settings(cache_dir=tmp_path / "cache"))
    made = BandEncoder(sample_rate=16000)
    monkeypatch.setattr(base, "_loaded", Kept())
    base._loaded.put("band", made)
    return made


def tone_folders(folder: Path, names: str = "{take}-{band}-A.wav") -> Path:
    for band in range(6):
        target = folder / f"band {band}"
        target.mkdir(parents=True)
        for take in range(1, 4):
            clip = tone_clip(band, 0, 5, duration=5.0, sample_rate=16000)
            noise = np.random.default_rng(10 * band + take).normal(scale=0.002, size=len(clip.mono))
            soundfile.write(target / names.format(take=take, band=band), clip.mono + noise, 16000, subtype="PCM_16")
    return folder


@pytest.fixture
def tones(tmp_path: Path) -> Path:
    return tone_folders(tmp_path / "tones")


def test_exclusion_is_right_where_the_sounds_are_plain(tones, encoder):
    record = run(open_collection(tones), encoder, SMALL).record()
    for name in ("clips", "mixtures"):
        choice = record[name]["multiple choice"]
        assert choice["exclusion"]["average"]["value"] > 0.9
        assert choice["exclusion"]["negation"]["value"] > choice["raw"]["negation"]["value"]
    pairs = record["controlled pairs"]
    assert pairs["pairs"] == 20
    assert pairs["negated margin"]["exclusion"]["high"] < 0
    assert pairs["target preferred"]["exclusion"]["value"] == 1.0
    assert pairs["presence of Y higher where Y is"]["value"] == 1.0
    assert record["mixtures"]["retrieval"]["fluent"]["exclusion"]["R@1"]["value"] == 1.0


def test_the_record_says_what_made_it_and_has_every_lambda(tones, encoder):
    record = run(open_collection(tones), encoder, SMALL).record()
    assert record["encoder"] == {"id": "band", "weights": encoder.weights}
    assert record["options"]["seed"] == 3 and record["bootstrap"]["resamples"] == 2000 and record["version"]
    sweep = record["clips"]["multiple choice"]["sweep average"]
    assert list(map(float, sweep)) == list(PAPER_LAMBDAS)
    retrieval = record["mixtures"]["retrieval"]
    assert retrieval["template"]["sweep R@5"]["0.0"] == retrieval["template"]["raw"]["R@5"]
    assert retrieval["template"]["sweep R@5"]["0.2"] == retrieval["template"]["steered"]["R@5"]
    assert retrieval["queries"] == 12 and retrieval["candidates"] == 40


def test_everything_is_written_and_can_be_read_again(tones, encoder, tmp_path):
    result = run(open_collection(tones), encoder, SMALL)
    written = write_report(result, tmp_path / "out")
    names = {path.name for path in written}
    assert names == {
        "negeval.json", "tables.md", "retrieval.jsonl", "mcq.jsonl", "pairs.jsonl", "negeval.png", "negeval.html"
    }  # fmt: skip
    stored = json.loads((tmp_path / "out" / "negeval.json").read_text(), parse_constant=lambda name: pytest.fail(name))
    assert stored == json.loads(json.dumps(result.record()))
    questions = [json.loads(line) for line in (tmp_path / "out" / "mcq.jsonl").read_text().splitlines()]
    assert len(questions) == sum(stored[name]["multiple choice"]["questions"] for name in ("clips", "mixtures"))
    for question in questions:
        right = question["options"][question["answer"]]
        assert set(right["affirmed"]) <= set(question["present"]) and set(right["negated"]) <= set(question["absent"])
    # Whoever counts the item list gets the table.
    for scorer in ("raw", "steered", "exclusion"):
        of = [q for q in questions if q["set"] == "clips" and q["kind"] == "negation"]
        share = np.mean([q["chosen"][scorer] == q["answer"] for q in of])
        assert share == pytest.approx(stored["clips"]["multiple choice"][scorer]["negation"]["value"], abs=1e-6)
    pairs = [json.loads(line) for line in (tmp_path / "out" / "pairs.jsonl").read_text().splitlines()]
    assert np.mean([pair["margins"]["raw"] for pair in pairs]) == pytest.approx(
        stored["controlled pairs"]["negated margin"]["raw"]["value"], abs=1e-5
    )
    page = (tmp_path / "out" / "negeval.html").read_text()
    assert "<table>" in page and 'src="http' not in page and (tmp_path / "out" / "negeval.png").stat().st_size > 10_000
    assert page.count("<svg") == 6 and "<script" not in page, "still pictures: no script, however long the tables"


@pytest.mark.slow
def test_the_same_seed_gives_the_same_numbers_and_embeds_nothing_again(tones, encoder):
    first = run(open_collection(tones), encoder, SMALL).record()
    passes = encoder.audio_passes
    assert run(open_collection(tones), encoder, SMALL).record() == first
    assert encoder.audio_passes == passes
    other = run(open_collection(tones), encoder, Options(pairs=20, clips=12, seed=4)).record()
    assert other["controlled pairs"] != first["controlled pairs"]


@pytest.mark.slow
def test_folds_are_reported_apart_and_calibrated_on_the_rest(tones, encoder):
    record = run(open_collection(tones), encoder, Options(pairs=10, folds=(2, 3), clips=12)).record()
    assert record["collection"]["clips"] == 12 and "folds other than" in record["calibrated on"]
    with pytest.raises(InputError, match="ESC has 1 to 5"):
        run(open_collection(tones), encoder, Options(folds=(9,)))
    with pytest.raises(InputError, match="no folds"):
        run(open_collection("demo"), encoder, Options(folds=(1,)))


def test_captions_alone_are_enough(tones, encoder, tmp_path):
    spoken = ("rain and a violin", "a siren", "wind", "a cow mooing", "church bells", "a drill and a trumpet")
    rows = "".join(f"tones/band {b}/1-{b}-A.wav,{caption}\n" for b, caption in enumerate(spoken))
    table = tmp_path / "captions.csv"
    table.write_text("path,caption\n" + rows)
    record = run(open_collection(table), encoder, Options(pairs=10)).record()
    assert record["clips"]["retrieval"]["queries"] == 6 and record["clips"]["multiple choice"]["questions"] == 18
    assert any("No controlled pairs" in note for note in record["notes"])


def test_what_cannot_be_compared_is_said(tones, encoder, tmp_path):
    flat = tmp_path / "flat"
    flat.mkdir()
    (tones / "band 1" / "1-1-A.wav").rename(flat / "---.wav")
    with pytest.raises(InputError, match="no labels"):
        run(open_collection(flat), encoder, SMALL)
    alone = tmp_path / "alone.csv"
    alone.write_text("path,labels\ntones/band 2/1-2-A.wav,band 2\n")
    with pytest.raises(InputError, match="at least two"):
        run(open_collection(alone), encoder, SMALL)


@pytest.mark.slow
def test_the_command_line_agrees_with_the_library(tones, encoder, tmp_path, capsys):
    out = tmp_path / "out"
    arguments = ["negeval", str(tones), "--encoder", "band", "--out", str(out), "--pairs", "20", "--clips", "12"]
    assert main([*arguments, "--seed", "3", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    record = run(open_collection(tones), encoder, SMALL).record()
    assert {key: printed[key] for key in record} == json.loads(json.dumps(record))
    assert main([*arguments, "--seed", "3"]) == 0
    assert "Table II" in capsys.readouterr().out and "Table II" in tables(record)


@pytest.mark.parametrize(
    ("extra", "code", "says"),
    [
        (["--pairs", "-1"], 2, "pairs"),
        (["--clips", "0"], 2, "--clips"),
        (["--filler", "odd"], 2, "--filler"),
        (["--folds", "x"], 2, "--folds"),
        (["--encoder", "nope:x"], 2, "nope"),
    ],
)
def test_bad_arguments_exit_2_with_one_sentence(tones, encoder, tmp_path, capsys, extra, code, says):
    assert main(["negeval", str(tones), "--encoder", "band", "--out", str(tmp_path / "o"), *extra]) == code
    captured = capsys.readouterr()
    assert says in captured.err and captured.err.count("\n") == 1 and not captured.out


def test_rank_from_the_command_line(tones, encoder, capsys):
    for scorer in ("raw", "steered", "exclusion"):
        call = [
            "rank",
            str(tones),
            "band 1 without band 2",
            "--encoder",
            "band",
            "--scorer",
            scorer,
            "--top",
            "3",
            "--json",
        ]
        assert main(call) == 0
        printed = json.loads(capsys.readouterr().out)
        assert printed["query"]["positives"] == ["band 1"] and printed["query"]["negatives"] == ["band 2"]
        assert [hit["rank"] for hit in printed["hits"]] == [1, 2, 3]
        assert all(hit["ranks"][scorer] == hit["rank"] for hit in printed["hits"])
        assert {hit["labels"][0] for hit in printed["hits"]} == {"band 1"} or scorer != "exclusion"
    assert main(["rank", str(tones), "band 1, no band 2", "--encoder", "band"]) == 0
    assert "of the first" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["nowhere", "rain"], 1),
        (["demo", ""], 2),
        (["demo", "rain", "--scorer", "best"], 2),
        (["demo", "rain", "--lambda", "-1"], 2),
        (["demo", "rain", "--lambda", "nan"], 2),
        (["demo", "rain", "--top", "0"], 2),
        (["demo", "x" * 3000], 2),
    ],
)
def test_rank_refuses_in_one_sentence(encoder, capsys, arguments, code):
    assert main(["rank", *arguments, "--encoder", "band"]) == code
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1 and not captured.out


def small_table(folder: Path, labels: list[str]) -> Path:
    rows = "".join(f"tones/band {b}/1-{b}-A.wav,{label}\n" for b, label in enumerate(labels))
    table = folder / "small.csv"
    table.write_text("path,labels\n" + rows)
    return table


@pytest.mark.parametrize(
    ("labels", "notes"),
    [
        (["dog", "rain"], ["Among 2 clips R@5 and R@10", "three it certainly lacks", "here only dog, rain are"]),
        (["dog", "rain", "car", "piano", "siren"], ["Among 5 clips R@5 and R@10", "--filler any"]),
        (["dog; rain", "car; piano"], ["no clip here has exactly one label", "path, caption, labels"]),
    ],
)
def test_a_small_collection_is_told_what_is_missing(tones, encoder, tmp_path, labels, notes):
    record = run(open_collection(small_table(tmp_path, labels)), encoder, Options(pairs=1)).record()
    assert all(any(note in said for said in record["notes"]) for note in notes), record["notes"]
    shown = tables(record)
    assert "R@1 |" in shown and "R@5 |" not in shown


def test_a_collection_of_one_sound_is_refused(tones, encoder, tmp_path):
    with pytest.raises(InputError, match="too small for the benchmark") as refused:
        run(open_collection(small_table(tmp_path, ["dog", "dog"])), encoder, Options(pairs=5))
    assert refused.value.concerns == "file"


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [1, 2])
def test_few_pairs_make_no_warning_and_no_number_without_meaning(tones, encoder, tmp_path, pairs):
    result = run(open_collection(tones), encoder, Options(pairs=pairs, clips=4))
    record = result.record()["controlled pairs"]
    assert record["margin correlation"] is None
    assert (record["text side"]["normalised affinity, median"] is None) == (pairs == 1)
    assert any("fewer than 30" in note for note in result.record()["notes"])
    assert "correlation of raw margins undefined" in tables(result.record())
    write_report(result, tmp_path / "out")
    json.loads((tmp_path / "out" / "negeval.json").read_text(), parse_constant=lambda name: pytest.fail(name))


def test_one_clip_left_of_several_is_said_with_the_reason(tones, encoder, tmp_path):
    (tmp_path / "broken.wav").write_bytes(b"")
    table = tmp_path / "most.csv"
    table.write_text("path,labels\ntones/band 0/1-0-A.wav,dog\nbroken.wav,rain\nnone.wav,wind\n")
    with pytest.raises(InputError, match=r"one usable clip.* left out, the first: ") as refused:
        run(open_collection(table), encoder, SMALL)
    assert refused.value.concerns == "file"
