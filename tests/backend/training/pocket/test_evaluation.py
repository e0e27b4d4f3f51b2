"""The evaluation itself: intervals, ranks, scenes whose truth is known, and a command that says what is missing."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.__main__ import main
from backend.audio import Span
from backend.benchmarks.negeval.measures import bootstrap_interval
from backend.errors import InputError
from backend.evidence.localization import temporal_iou
from backend.training.pocket.captions import caption_bank
from backend.training.pocket.evaluation import development, evaluate
from backend.training.pocket.evaluation.catalogue import (
    BACKGROUND_CLASSES,
    ESC10_CLASSES,
    ESC10_SYNONYMS,
    EVENT_CLASSES,
    HARD_CLASSES,
    NEGATION_SOUNDS,
    OTHER_CLASSES,
    bare,
)
from backend.training.pocket.evaluation.development import development_measures, families_of
from backend.training.pocket.evaluation.listening import localised, negation_measures
from backend.training.pocket.evaluation.measures import Measure, mean_measure, table
from backend.training.pocket.evaluation.recordings import Recording, read_esc10, read_pool
from backend.training.pocket.evaluation.scenes import BACKGROUND_RMS, SCENE_SECONDS, SceneMaker, active_part, rms
from backend.training.pocket.evaluation.zeroshot import ranks, retrieval_measures, unit

RATE = 16000


class ToneEncoder:
    """An encoder that hears pitch: a window or a text "tone N" is the unit vector of its strongest band."""

    id, weights, sample_rate, dim, has_text = "tone", "0" * 12, RATE, 64, True

    def embed_audio(self, windows: np.ndarray) -> np.ndarray:
        spectrum = np.abs(np.fft.rfft(windows, axis=1))[:, : windows.shape[1] // 2]
        bands = np.stack([part.sum(axis=1) for part in np.array_split(spectrum, self.dim, axis=1)], axis=1)
        return unit(bands.astype(np.float32) ** 4 + 1e-12)

    def embed_spans(self, signal: np.ndarray, starts: np.ndarray, length: float) -> np.ndarray:
        samples = round(length * RATE)
        begins = np.round(np.asarray(starts) * RATE).astype(int)
        return self.embed_audio(np.stack([signal[begin : begin + samples] for begin in begins]))

    def embed_text(self, texts) -> np.ndarray:
        rows = np.full((len(texts), self.dim), 1e-3, np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.replace(",", " ").split():
                if word.isdigit():
                    row[int(word)] = 1.0
        return unit(rows)


def tone(band: int, seconds: float = 1.0, level: float = 0.3) -> np.ndarray:
    """A sine in the middle of ToneEncoder's band, with silence around it."""
    frequency = (band + 0.5) / 64 * RATE / 2
    sound = level * np.sin(2 * np.pi * frequency * np.arange(int(seconds * RATE)) / RATE)
    return np.pad(sound, RATE // 4).astype(np.float32)


BANDS = {"low": 10, "middle": 25, "high": 40, "hum": 3, "whirr": 55}
CAPTIONS = {name: f"tone {band}" for name, band in BANDS.items()}


@pytest.fixture(scope="module")
def tones() -> list[Recording]:
    return [Recording(tone(band, 1.5), name, name) for name, band in BANDS.items()]


class TestMeasures:
    @settings(deadline=None, max_examples=20)
    @given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(0, 5))
    def test_an_interval_holds_its_mean_and_repeats_with_its_seed(self, values: list[bool], seed: int) -> None:
        measure = mean_measure("k", "n", values, seed=seed)
        assert measure.low - 1e-9 <= measure.value <= measure.high + 1e-9
        assert measure == mean_measure("k", "n", values, seed=seed)

    def test_an_interval_covers_as_often_as_it_says(self) -> None:
        generator = np.random.default_rng(0)
        covered = 0
        for index in range(200):
            low, high = bootstrap_interval((generator.random(80) < 0.4).astype(float), seed=index)
            covered += low <= 0.4 <= high
        assert 0.88 <= covered / 200 <= 0.99

    def test_copies_of_one_recording_do_not_narrow_the_interval(self) -> None:
        values = (np.random.default_rng(1).random(40) < 0.5).astype(float)
        groups = [str(index) for index in range(40)]
        once = bootstrap_interval(values, groups)
        copied = bootstrap_interval(np.repeat(values, 10), list(np.repeat(groups, 10)))
        careless = bootstrap_interval(np.repeat(values, 10))
        assert copied[1] - copied[0] == pytest.approx(once[1] - once[0], rel=0.05)
        assert careless[1] - careless[0] < 0.5 * (once[1] - once[0])

    def test_no_values_no_interval(self) -> None:
        with pytest.raises(ValueError, match="at least one"):
            bootstrap_interval(np.array([]))

    def test_the_table_says_what_is_reached(self) -> None:
        text = table(
            [
                Measure("a", "share", 0.5, 0.4, 0.6, 10, 0.45, True, "%"),
                Measure("b", "time", 50.0, 50.0, 50.0, 0, 40.0, False, "ms"),
                Measure("c", "plain", 1.07, 1.0, 1.1, 80),
            ]
        )
        lines = text.splitlines()
        assert lines[1].split() == "share 50.0 % 40.0 % .. 60.0 % 10 >= 45.0 % reached".split()
        assert lines[2].split() == "time 50.0 ms <= 40.0 ms missed".split()
        assert lines[3].split() == "plain 1.070 1.000 .. 1.100 80".split()


def test_ranks_count_what_is_better() -> None:
    scores = np.array([[0.1, 0.9, 0.5], [0.2, 0.2, 0.2]], np.float32)
    assert ranks(scores, np.array([2, 0])).tolist() == [1, 0]


def test_the_catalogue_is_whole() -> None:
    assert len(ESC10_CLASSES) == 10 and len({*ESC10_CLASSES.values(), *OTHER_CLASSES}) == 58
    assert ESC10_SYNONYMS.keys() == ESC10_CLASSES.keys()
    assert set(EVENT_CLASSES) | set(BACKGROUND_CLASSES) == set(ESC10_CLASSES)
    assert set(HARD_CLASSES) <= set(ESC10_CLASSES)
    assert len(NEGATION_SOUNDS) == 20
    assert [bare("a dog"), bare("an owl"), bare("rain")] == ["dog", "owl", "rain"]


def test_no_synonym_that_is_tested_is_trained_on() -> None:
    assert not set(ESC10_SYNONYMS.values()) & set(caption_bank().every_phrase())


class TestScenes:
    def test_overlap_ratio(self) -> None:
        assert temporal_iou(Span(0, 2), Span(1, 3)) == pytest.approx(1 / 3)
        assert temporal_iou(Span(0, 2), Span(2, 3)) == 0.0
        assert temporal_iou(Span(1, 2), Span(0, 4)) == pytest.approx(0.25)

    def test_the_active_part_drops_silence_and_keeps_sound(self) -> None:
        part = active_part(tone(20, 1.0))
        assert abs(len(part) - RATE) < 0.06 * RATE
        assert len(active_part(np.zeros(100, np.float32))) == 100

    @pytest.mark.parametrize("decibels", [0.0, 20.0])
    def test_an_event_lies_where_it_says_at_the_level_it_says(self, tones: list[Recording], decibels: float) -> None:
        maker = SceneMaker(tones, ("low", "middle", "high"), ("hum",))
        scene = maker.single_event(np.random.default_rng(4), decibels)
        assert len(scene.signal) == SCENE_SECONDS * RATE and np.abs(scene.signal).max() <= 0.91
        begin, end = (round(edge * RATE) for edge in (scene.span.start, scene.span.end))
        encoder = ToneEncoder()
        spectra = {name: encoder.embed_text([text])[0].argmax() for name, text in CAPTIONS.items()}
        window = scene.signal[begin:end]
        bands = np.array_split(np.abs(np.fft.rfft(window))[: len(window) // 2], 64)
        power = [np.sqrt(np.sum(np.square(bands[spectra[name]]))) for name in (scene.label, "hum")]
        outside = np.concatenate([scene.signal[:begin], scene.signal[end:]])
        gain = rms(outside) / BACKGROUND_RMS
        measured = 20 * np.log10(power[0] / np.sqrt(len(window) / 2) / np.sqrt(len(window)) / gain / BACKGROUND_RMS)
        assert measured == pytest.approx(decibels, abs=1.5)

    def test_two_events_are_of_two_classes_in_two_halves(self, tones: list[Recording]) -> None:
        maker = SceneMaker(tones, ("low", "middle", "high"), ("hum", "whirr"))
        halves = set()
        for generator in np.random.default_rng(0).spawn(12):
            scene = maker.two_events(generator)
            assert scene.span.end <= 5.0 or scene.span.start >= 5.0
            halves.add(scene.span.start < 5.0)
        assert halves == {True, False}

    def test_a_pair_differs_only_in_what_lies_over_it(self, tones: list[Recording]) -> None:
        pair = SceneMaker(tones, (), ()).controlled_pair(np.random.default_rng(2))
        assert pair.forbidden not in pair.positives and len(set(pair.positives)) == 2
        encoder = ToneEncoder()
        text = encoder.embed_text([CAPTIONS[pair.forbidden]])[0]
        starts = np.arange(17) * 0.5
        with_it, without = (encoder.embed_spans(clip, starts, 2.0) @ text for clip in (pair.distractor, pair.target))
        assert with_it.max() > without.max() + 0.1

    def test_a_filler_is_of_the_forbidden_kind(self, tones: list[Recording]) -> None:
        kinds = {"low": "voice", "middle": "voice", "hum": "noise", "whirr": "noise"}
        maker = SceneMaker(tones, (), (), kinds)
        encoder = ToneEncoder()
        texts = encoder.embed_text(list(CAPTIONS.values()))
        forbidden = set()
        for generator in np.random.default_rng(3).spawn(20):
            pair = maker.controlled_pair(generator)
            forbidden.add(pair.forbidden)
            assert not {pair.forbidden} & set(pair.positives)
            heard = (encoder.embed_spans(pair.target, np.arange(17) * 0.5, 2.0) @ texts.T).max(axis=0) > 0.3
            others = {name for name, there in zip(CAPTIONS, heard, strict=True) if there} - set(pair.positives)
            assert {kinds[name] for name in others} == {kinds[pair.forbidden]} and pair.forbidden not in others
        assert forbidden == set(kinds)
        with pytest.raises(ValueError, match="two classes of one kind"):
            SceneMaker(tones, (), (), {"low": "voice"})

    def test_the_same_seed_draws_the_same_scene(self, tones: list[Recording]) -> None:
        maker = SceneMaker(tones, ("low", "high"), ("hum",))
        one, two, other = (maker.two_events(np.random.default_rng(seed)).signal for seed in (5, 5, 6))
        assert np.array_equal(one, two) and not np.array_equal(one, other)

    def test_an_encoder_that_hears_finds_what_the_loudest_window_does_not(self, tones: list[Recording]) -> None:
        maker = SceneMaker(tones, ("low", "middle", "high"), ("hum", "whirr"))
        scenes = [maker.two_events(generator) for generator in np.random.default_rng(1).spawn(30)]
        chosen, loudest, best = localised(ToneEncoder(), scenes, CAPTIONS, 2.0).T
        assert (chosen > 0).all() and (chosen <= best + 1e-9).all()
        assert (loudest == 0).mean() > 0.2


def test_retrieval_of_a_hearing_encoder_is_perfect_and_of_a_deaf_one_is_chance(tones: list[Recording]) -> None:
    pool = [Recording(one.signal, CAPTIONS[one.label], one.group) for one in tones]
    encoder = ToneEncoder()
    audio = np.concatenate([encoder.embed_audio(one.signal[None]) for one in pool])
    assert [measure.value for measure in retrieval_measures(encoder, pool, audio, 0)] == [1.0] * 5
    assert retrieval_measures(encoder, pool, audio[::-1], 0)[0].value == pytest.approx(0.2)


def test_development_scenes_separate_a_hearing_encoder_from_a_deaf_one(tones: list[Recording], monkeypatch) -> None:
    bank = SimpleNamespace(phrases={name: [text] for name, text in CAPTIONS.items()})
    monkeypatch.setattr(development, "caption_bank", lambda: bank)
    monkeypatch.setattr(development, "BACKGROUNDS", ("hum", "whirr"))
    monkeypatch.setattr(development, "FAMILIES", {"beeps": ("low", "middle", "high")})

    class Deaf(ToneEncoder):
        def embed_text(self, texts):
            return unit(np.ones((len(texts), 64), np.float32))

    sounds = [Recording(one.signal, one.label, f"{one.group}{take}") for one in tones for take in range(2)]
    hearing, deaf = (
        {measure.key: measure.value for measure in development_measures(encoder, sounds, scenes=8)}
        for encoder in (ToneEncoder(), Deaf())
    )
    for key in ("development_pairs_presence_max_any", "development_pairs_presence_max_confusable"):
        assert hearing[key] == 1.0 > deaf[key]
    assert hearing["development_two_events_missed"] == 0.0 < deaf["development_two_events_missed"]
    assert hearing["development_window_cosine"] == pytest.approx(1.0, abs=1e-5)
    assert not any("best" in key or "loudest" in key for key in hearing)


def test_the_families_of_classes() -> None:
    assert families_of({"Helicopter": "", "Howl": "", "Velcro": ""}) == {"Helicopter": "engines", "Howl": "voices"}
    assert set(development.BACKGROUNDS) <= set(caption_bank().phrases)


def test_a_text_encoder_without_order_is_blind_to_no() -> None:
    class Bag(ToneEncoder):
        def embed_text(self, texts):
            rows = np.zeros((len(texts), 64), np.float32)
            for row, text in zip(rows, texts, strict=True):
                for word in text.replace(",", " ").split():
                    row[sum(map(ord, word)) % 64] += 0.2 if word in ("no", "with", "without", "any", "is") else 1.0
            return unit(rows)

    affinity, blind = negation_measures(Bag(), 0)
    assert affinity.value > 1.05 and blind.value > 0.8
    assert affinity.low <= affinity.value <= affinity.high


def write_pool(folder: Path, columns: list[str], rows: list[list[str]]) -> None:
    with (folder / "manifest.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([columns, *rows])


class TestFolders:
    def test_a_pool_is_read_by_caption_at_16_khz(self, tmp_path: Path) -> None:
        soundfile.write(tmp_path / "a.wav", np.zeros((44100, 2)), 44100)
        write_pool(tmp_path, ["file", "label", "caption", "package"], [["a.wav", "dog: x", " A dog ", "p"]])
        (recording,) = read_pool(tmp_path)
        assert (recording.label, recording.group, len(recording.signal)) == ("a dog", "p", RATE)
        assert read_pool(tmp_path, column="label")[0].label == "dog: x"
        with pytest.raises(InputError, match="lacks the column 'class'"):
            read_pool(tmp_path, column="class")

    def test_faults_are_named(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"no manifest\.csv"):
            read_pool(tmp_path)
        write_pool(tmp_path, ["file", "label"], [["a.wav", "x"]])
        with pytest.raises(InputError, match="lacks the column 'package'"):
            read_pool(tmp_path)
        (tmp_path / "a.wav").write_text("not audio")
        write_pool(tmp_path, ["file", "label", "package"], [["a.wav", "x", "p"]])
        with pytest.raises(InputError, match="cannot be decoded"):
            read_pool(tmp_path)
        with pytest.raises(InputError, match="ESC-10 is not in"):
            read_esc10(tmp_path)


class TestCommand:
    @pytest.fixture
    def esc10(self, tmp_path: Path) -> Path:
        """Ten folders with one tone each: enough to run, too little to mean anything."""
        for band, name in enumerate(ESC10_CLASSES):
            (tmp_path / name).mkdir()
            soundfile.write(tmp_path / name / f"1-{band}-A.ogg", np.tile(tone(5 * band + 3, 1.0), 3), RATE)
        return tmp_path

    def test_evaluate_prints_every_figure_of_the_card(self, esc10: Path, capsys, monkeypatch) -> None:
        monkeypatch.setattr("backend.training.pocket.evaluation.SCENES", 2)
        monkeypatch.setattr(evaluate, "__kwdefaults__", {**evaluate.__kwdefaults__, "scenes": 2})
        assert main(["pocket", "evaluate", "--esc10", str(esc10), "--json"]) == 0
        record = json.loads(capsys.readouterr().out)
        assert record["encoder"] == "pocket" and len(record["weights"]) == 12
        keys = {measure["key"] for measure in record["measures"]}
        assert {
            "esc10_10way_top1", "esc10_58way_top1", "esc10_synonym_loss", "two_events_iou", "two_events_missed",
            "one_event_iou", "pairs_presence", "negation_affinity", "spans_ms", "text_ms", "shipped_mb",
            *(f"esc10_58way_{name}" for name in ESC10_CLASSES),
        } <= keys  # fmt: skip
        for measure in record["measures"]:
            assert measure["low"] <= measure["value"] <= measure["high"]

    def test_what_is_missing_is_said(self, tmp_path: Path, capsys) -> None:
        assert main(["pocket", "evaluate", "--esc10", str(tmp_path / "nowhere")]) == 1
        assert "pass --esc10 DIR" in capsys.readouterr().err
        assert main(["pocket", "evaluate", "--esc10", str(tmp_path), "--checkpoint", str(tmp_path / "none.pt")]) == 1
        assert main(["pocket", "export", str(tmp_path / "none.pt"), "--to", str(tmp_path)]) == 1
        assert "none.pt does not exist; name the checkpoint file" in capsys.readouterr().err
        (tmp_path / "none.pt").write_bytes(b"not a checkpoint")
        assert main(["pocket", "export", str(tmp_path / "none.pt"), "--to", str(tmp_path)]) == 1
        assert "is not a pocket checkpoint" in capsys.readouterr().err
        assert main(["pocket", "fly"]) == 2
        assert main(["pocket"]) == 2

    @pytest.mark.parametrize("step", ["data", "train"])
    def test_training_without_its_packages_says_which(self, capsys, monkeypatch, step: str) -> None:
        given = []

        def lacking(arguments) -> None:
            given.append(arguments.work)
            raise ModuleNotFoundError("No module named 'ai_edge_litert'", name="ai_edge_litert")

        module = SimpleNamespace(
            __doc__="", add_arguments=lambda parser: parser.add_argument("--work", type=Path), main=lacking
        )
        monkeypatch.setitem(sys.modules, f"backend.training.pocket.{step}", module)
        assert main(["pocket", step, "--work", "folder"]) == 2
        error = capsys.readouterr().err
        assert given == [Path("folder")]
        assert "'ai_edge_litert'" in error and error.count("\n") == 1
