"""Clip sets, cuts, splits, duplicates and mixtures on made-up sounds."""

from __future__ import annotations

import argparse
import csv
import json
import struct
from dataclasses import replace

import numpy as np
import pytest
import soundfile

from backend.errors import InputError
from backend.training.pocket import data
from backend.training.pocket.captions import NEGATION
from backend.training.pocket.data_decode import cuts, describe, trim, walk
from backend.training.pocket.data_duplicates import duplicates_of, same_recording
from backend.training.pocket.data_fetch import qt_resources
from backend.training.pocket.data_labels import EVERYDAY, concepts_of, concepts_of_name
from backend.training.pocket.data_sets import (
    MOST_COPIES,
    SCARCE,
    SCARCE_COPIES,
    copies_wanted,
    copy_at_other_speeds,
    decode_recordings,
    scarce_copies_wanted,
    sources_of_concepts,
    write_mels,
)
from backend.training.pocket.data_split import HELD_PACKAGES, held_groups, is_held, write_development
from backend.training.pocket.data_store import SAMPLE_RATE, ClipRow, ClipSet
from backend.training.pocket.mixtures import KINDS, SECONDS, event_mask, mix, render_mixtures
from backend.training.pocket.teacher import PATCH, class_names, patches
from tests.backend.training.pocket.pocket_sets import class_list, pretend_taught, tone, write_real

CLASSES = {"dog_bark": 12, "rain": 7, "sneeze": 2}


@pytest.fixture()
def real(tmp_path):
    return write_real(tmp_path / "real", CLASSES)


def test_a_set_gives_back_what_was_written(real):
    assert len(real.rows) == 2 * sum(CLASSES.values())
    signals = list(real.signals())
    assert [len(signal) for signal in signals] == [row.samples for row in real.rows]
    assert max(np.abs(signal).max() for signal in signals) == round(0.7 * 32767)


def test_a_missing_set_says_what_to_run(tmp_path):
    with pytest.raises(InputError, match="pocket data"):
        ClipSet(tmp_path)


def test_split_is_source_disjoint(real):
    held = held_groups(real.rows)
    sides = {row.group: {is_held(other, held) for other in real.rows if other.group == row.group} for row in real.rows}
    assert all(len(side) == 1 for side in sides.values())
    by_class = {name: {group for group in held if group.startswith(f"{name}:")} for name in CLASSES}
    assert len(by_class["dog_bark"]) == 2 and len(by_class["rain"]) == 1
    assert by_class["sneeze"] == set(), "a rare class is trained on in full"


def test_an_excluded_file_takes_its_whole_recording_along(real):
    held = held_groups(real.rows, ["sneeze1-0.ogg"])
    assert {row.path for row in real.rows if row.group == "sneeze:1"} == {
        row.path for row in real.rows if "sneeze" in row.path and is_held(row, held)
    }


def test_the_split_does_not_move_when_clips_are_added(real, tmp_path):
    more = write_real(tmp_path / "more", {**CLASSES, "wind": 9})
    assert held_groups(real.rows) == {group for group in held_groups(more.rows) if not group.startswith("wind")}


def test_development_sounds_are_the_held_ones(real, tmp_path):
    held = held_groups(real.rows)
    count = write_development([real], held, tmp_path / "heldout")
    with (tmp_path / "heldout" / "manifest.csv").open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    assert len(rows) == count == sum(is_held(row, held) for row in real.rows)
    assert {row["class"] for row in rows} == {"Bark", "Rain"}
    signal, rate = soundfile.read(tmp_path / "heldout" / rows[0]["file"])
    assert rate == SAMPLE_RATE and len(signal) == real.rows[0].samples


def test_copies_leave_held_groups_alone_and_favour_rare_classes(real, tmp_path):
    held = held_groups(real.rows)
    wanted = copies_wanted(real, held)
    assert not any(is_held(real.rows[index], held) for index in wanted)
    by_class = {real.rows[index].label.partition(":")[0]: count for index, count in wanted.items()}
    assert by_class["sneeze"] > by_class["rain"] >= by_class["dog_bark"] >= 2
    first = next(iter(wanted))
    copy_at_other_speeds(real, tmp_path / "copies", {first: 4})
    copies = ClipSet(tmp_path / "copies").rows
    assert {row.group for row in copies} == {real.rows[first].group}
    assert min(row.samples for row in copies) < real.rows[first].samples < max(row.samples for row in copies)


def test_scarce_everyday_sounds_get_further_copies(real):
    held = held_groups(real.rows)
    sizes = sources_of_concepts([real], held)
    assert sum(sizes.values()) == sum(row.group not in held for row in real.rows)
    wanted = scarce_copies_wanted(real, sizes, held)
    first = {index: concepts_of(real.rows[index]).concepts[0] for index in wanted}
    assert first and set(first.values()) <= EVERYDAY
    assert all(real.rows[index].group not in held for index in wanted)
    assert wanted == {index: min(MOST_COPIES, round(SCARCE_COPIES / sizes[name])) for index, name in first.items()}
    assert not scarce_copies_wanted(real, {name: SCARCE + 1 for name in sizes}, held)


def test_a_telling_folder_names_its_files():
    row = ClipRow("game/sounds/chainsaw/idle.ogg", "game", "CC0-1.0", "idle", "effect", "game", 0.0, 0, 16000)
    assert concepts_of(row).concepts == ("Chainsaw",)
    assert concepts_of(replace(row, path="game/sounds/car/idle.ogg")).concepts == ("Engine",)
    assert concepts_of_name("tree cutting").concepts == ("Chainsaw",)
    assert concepts_of_name("helicopter wheel screech").concepts == ("Skidding",)


def test_silence_is_trimmed_and_long_files_are_cut(tmp_path):
    rng = np.random.default_rng(0)
    quiet = np.zeros(8000, np.float32)
    loud = rng.standard_normal(8000).astype(np.float32)
    assert 8000 <= len(trim(np.concatenate([quiet, loud, quiet]))) <= 10_000
    assert len(trim(quiet)) == 0
    path = tmp_path / "long.wav"
    soundfile.write(path, 0.1 * rng.standard_normal(45 * 8000), 8000)
    pieces = list(cuts(path))
    assert len(pieces) == 3
    assert all(abs(len(signal) - 10 * SAMPLE_RATE) < 2000 and signal.dtype == np.int16 for _, signal in pieces)


@pytest.mark.parametrize("content", [b"", b"RIFF\x00\x00", b"OggS" + bytes(200)])
def test_broken_files_are_passed_over(tmp_path, content):
    path = tmp_path / "broken.ogg"
    path.write_bytes(content)
    assert list(cuts(path)) == []


@pytest.mark.parametrize(
    ("package", "name", "expected"),
    [
        ("some-game", "some-game/usr/share/sounds/DogBark_03.wav", ("dog bark", "effect")),
        ("some-game", "some-game/usr/share/music/theme.ogg", ("music", "music")),
        ("some-game", "some-game/usr/share/voices/yes_sir.ogg", ("speech", "speech")),
        ("some-game", "some-game/usr/share/thunder/01.wav", ("thunder", "effect")),
    ],
)
def test_paths_are_described(package, name, expected):
    assert describe(package, name) == expected


def test_walk_reads_a_package_the_same_way_each_time(tmp_path):
    for name in ("bark", "rain", "wind", "meow"):
        path = tmp_path / "pack" / f"{name}.wav"
        path.parent.mkdir(exist_ok=True)
        soundfile.write(path, np.zeros(2000), 8000)
    first, second = (walk(tmp_path, "pack", seed=3) for _ in range(2))
    assert [file.name for file in first] == [file.name for file in second]
    assert {file.label for file in first} == {"bark", "rain", "wind", "meow"}


def test_recordings_carry_licence_and_source(tmp_path):
    (tmp_path / "clips").mkdir()
    rng = np.random.default_rng(0)
    for number in (1, 2, 3):
        soundfile.write(tmp_path / "clips" / f"c{number}.ogg", tone(1.0, 300 * number, rng) / 32768, SAMPLE_RATE)
    head = "file,label,class,source_repo,path,licence,freesound_id,start\n"
    row = "clips/c{n}.ogg,a dog barking,dog_bark,repo,dog_{n}.wav,CC0-1.0,{freesound},0.0"
    lines = [row.format(n=n, freesound="77" if n == 3 else "") for n in (1, 2, 3)]
    (tmp_path / "manifest.csv").write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
    decode_recordings(tmp_path, tmp_path / "set", left_out=["c2.ogg"])
    rows = ClipSet(tmp_path / "set").rows
    assert [row.group for row in rows] == ["repo:dog", "freesound:77"]
    assert {row.licence for row in rows} == {"CC0-1.0"}
    assert concepts_of(rows[0]).concepts[0] == "Bark"


def test_duplicates_are_found_by_their_waveform(real, tmp_path):
    write_mels(real)
    signal = next(iter(real.signals()))
    (tmp_path / "tests").mkdir()
    padded = np.concatenate([np.zeros(3000, np.int16), signal, np.zeros(3000, np.int16)])
    soundfile.write(tmp_path / "tests" / "test.wav", padded, SAMPLE_RATE)
    assert duplicates_of(tmp_path / "tests", [real]) == {real.rows[0].group}


def test_correlation_tells_copies_from_other_noise():
    rng = np.random.default_rng(0)
    noise = (8000 * rng.standard_normal(20_000)).astype(np.int16)
    other = (8000 * rng.standard_normal(20_000)).astype(np.int16)
    assert same_recording(noise, noise[4000:12_000]) > 0.99
    assert same_recording(noise, other[4000:12_000]) < 0.1


def test_the_event_mask_covers_the_event():
    signal = np.zeros(16_000, np.float32)
    signal[6000:9000] = 0.5
    active = np.flatnonzero(event_mask(signal))
    assert 5500 <= active[0] <= 6000 and 9000 <= active[-1] + 1 <= 9500
    assert event_mask(np.zeros(100, np.float32)).sum() >= 1


@pytest.mark.parametrize("kind", KINDS)
def test_mixtures_hold_both_sounds(kind):
    rng = np.random.default_rng(0)
    time = np.arange(4 * SAMPLE_RATE, dtype=np.float32) / SAMPLE_RATE
    first, second = np.sin(2 * np.pi * 1000 * time[:32_000]), np.sin(2 * np.pi * 3000 * time)
    mixed = mix(first.astype(np.float32), second.astype(np.float32), kind, rng)
    assert len(mixed) == SECONDS * SAMPLE_RATE
    power = np.abs(np.fft.rfft(mixed)) ** 2
    line = [power[int(f * SECONDS) - 20 : int(f * SECONDS) + 20].sum() / power.sum() for f in (1000, 3000)]
    assert min(line) > 0.02
    if kind == "in turn":
        half = np.abs(np.fft.rfft(mixed[: len(mixed) // 2])) ** 2
        assert half[6000 - 20 : 6000 + 20].sum() < 1e-3 * half.sum()


def test_rendered_mixtures_are_labelled_and_respect_the_split(tmp_path):
    real = write_real(tmp_path / "real", {"dog_bark": 6, "rain": 6, "wind": 6}, seconds=3.5)
    held = held_groups(real.rows)
    render_mixtures([real], held, 12, tmp_path / "mixtures", seed=0)
    for row in ClipSet(tmp_path / "mixtures").rows:
        first, second, caption = row.label.split(" ; ")
        assert {first, second} <= {"Bark", "Rain", "Wind"} and first != second
        assert caption and not NEGATION.search(caption)
        assert not set(row.group.split(" + ")) & held
        assert row.licence == "CC0-1.0 + CC0-1.0"


@pytest.mark.parametrize(
    ("samples", "expected"), [(1, 1), (PATCH, 1), (PATCH + 3000, 1), (PATCH + 5000, 2), (3 * PATCH, 3)]
)
def test_patches(samples, expected):
    cut = patches(np.ones(samples, np.float32))
    assert len(cut) == expected
    assert all(len(patch) == PATCH for patch in cut)


def test_class_names_are_counted(tmp_path):
    names = class_list(tmp_path)
    assert class_names(tmp_path / "yamnet_class_map.csv") == names
    (tmp_path / "short.csv").write_text("index,mid,display_name\n0,/m/0,Speech\n", encoding="utf-8")
    with pytest.raises(ValueError, match="521"):
        class_names(tmp_path / "short.csv")


def test_qt_resources_are_unpacked():
    """A bundle of one folder with one stored sound, laid out by hand as the format says."""
    names = b"".join(struct.pack(">HI", len(n), 0) + n.encode("utf-16-be") for n in ("folder", "a.ogg"))
    second_name = 6 + 2 * len("folder")
    tree = struct.pack(">IHII", 0, 2, 1, 1) + struct.pack(">IHII", 0, 2, 1, 2)
    tree += struct.pack(">IHHHI", second_name, 0, 0, 0, 0)
    data = struct.pack(">I", 4) + b"OggS"
    offset = 20
    head = b"qres" + struct.pack(">4I", 1, offset, offset + len(tree), offset + len(tree) + len(data))
    assert dict(qt_resources(head + tree + data + names)) == {"folder/a.ogg": b"OggS"}


@pytest.fixture()
def sources(tmp_path, monkeypatch):
    """A folder of recordings, two unpacked packages, and stand-ins for the network, the teacher and the synthesiser."""
    rng = np.random.default_rng(0)
    names = class_list(tmp_path / "teacher")
    (tmp_path / "teacher" / "yamnet.tflite").write_bytes(b"stand-in")
    (tmp_path / "recordings" / "clips").mkdir(parents=True)
    lines = ["file,label,class,source_repo,path,licence,freesound_id,start"]
    for name in ("dog_bark", "rain", "wind"):
        for number in range(6):
            file = f"clips/{name}{number}.wav"
            soundfile.write(tmp_path / "recordings" / file, tone(3.2, 200 + 40 * number, rng) / 32768, SAMPLE_RATE)
            lines.append(f"{file},a {name},{name},repo,{name}/{chr(97 + number)}.wav,CC0-1.0,,0.0")
    (tmp_path / "recordings" / "manifest.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for package in ("some-game", "more-game", *HELD_PACKAGES):
        folder = tmp_path / "work" / "packages" / package / "usr" / "share"
        folder.mkdir(parents=True)
        soundfile.write(folder / "cow.wav", tone(1.0, 90 + len(package), rng) / 32768, SAMPLE_RATE)
    fakes = {
        "fetch": lambda packages, root: [],
        "package_names": lambda more=False: ("more-game",) if more else ("some-game", *HELD_PACKAGES),
        "render_instruments": lambda root, target, seed: write_real(target, {"bell": 1}),
        "teach": lambda clips, model, processes: pretend_taught(clips, names),
        "MIXTURES": 4,
        "MORE_MIXTURES": 3,
        "SCARCE_MIXTURES": 3,
    }
    for name, fake in fakes.items():
        monkeypatch.setattr(data, name, fake)
    return tmp_path


def test_the_whole_preparation(sources, capsys):
    parser = argparse.ArgumentParser()
    data.add_arguments(parser)
    places = [f"--{name}={sources / name}" for name in ("work", "recordings", "teacher")]
    (sources / "left_out.txt").write_text("rain0.wav\n", encoding="utf-8")
    arguments = parser.parse_args([*places, f"--leave-out={sources / 'left_out.txt'}", "--processes=1"])
    data.main(arguments)
    shown = capsys.readouterr().out
    made = (
        "real_copies",
        "package_copies",
        "mixtures",
        "more_mixtures",
        *data.SCARCE_COPIED.values(),
        "scarce_mixtures",
    )
    for name in ("real", "held", "packages", "more_packages", *made):
        assert f"{name}: " in shown
        assert ClipSet(sources / "work" / "sets" / name).complete
    held = set(json.loads((sources / "work" / "held.json").read_text(encoding="utf-8")))
    assert any("rain/a" in group for group in held)
    trained = ClipSet(sources / "work" / "sets" / "mixtures").rows
    assert not {group for row in trained for group in row.group.split(" + ")} & held
    written = (sources / "work" / "sets" / "mixtures" / "audio.i16").stat().st_mtime_ns
    data.main(arguments)
    assert (sources / "work" / "sets" / "mixtures" / "audio.i16").stat().st_mtime_ns == written, "done steps are kept"


def test_missing_inputs_are_named(tmp_path):
    places = {name: tmp_path / name for name in ("work", "recordings", "teacher")}
    with pytest.raises(InputError, match=r"manifest\.csv"):
        data.main(argparse.Namespace(**places, tests=None, leave_out=None, processes=1))
