"""m2d: the authors' file, which is a program, on weights, which must not be one."""

import os
import shutil
import sys

import numpy as np
import pytest
import torch

from backend.encoders.families import m2d
from backend.errors import InputError
from tests.backend.encoders import tiny

NAME = "m2d_clap_vit_base-80x1001p16x16p16kpBpTI-2025"


@pytest.fixture
def folder(m2d_folder, tmp_path, monkeypatch):
    """A copy that may be spoilt; the stand-in needs none of M2D's packages."""
    monkeypatch.setattr(m2d, "PACKAGES", ())
    return shutil.copytree(m2d_folder, tmp_path / "m2d")


def test_it_is_the_programs_output_normalised(every_encoder):
    encoder = every_encoder["m2d"]
    sounds = tiny.windows(2, 2.0, 16_000)
    padded = torch.zeros(2, 160_000)
    padded[:, :32_000] = torch.from_numpy(sounds)
    with torch.inference_mode():
        theirs = encoder.runtime.encode_clap_audio(padded)
    assert theirs.norm(dim=1).min() > 2  # not normalised by the program
    expected = torch.nn.functional.normalize(theirs, dim=1).numpy()
    assert np.abs(encoder.embed_audio(sounds) - expected).max() < 1e-6


def test_loading_prints_nothing_and_leaves_torch_as_it_was(folder, capsys):
    load, path = torch.load, list(sys.path)
    m2d.FAMILY.load(f"m2d:{folder}")
    assert torch.load is load and sys.path == path and capsys.readouterr().out == ""


class Hostile:
    def __init__(self, mark):
        self.mark = str(mark)

    def __reduce__(self):
        return (os.mkdir, (self.mark,))


def test_hostile_weights_are_not_run(folder, tmp_path):
    torch.save({"model": Hostile(tmp_path / "ran")}, folder / NAME / "checkpoint-30.pth")
    with pytest.raises(InputError, match="more than weights"):
        m2d.FAMILY.load(f"m2d:{folder}")
    # Nor when the program itself asks torch to unpickle.
    with pytest.raises(InputError, match="cannot load"):
        m2d.started(folder / "portable_m2d.py", folder / NAME / "checkpoint-30.pth")
    assert not (tmp_path / "ran").exists()


def spoil(folder, what):
    program, weights = folder / "portable_m2d.py", folder / NAME
    match what:
        case "no program":
            program.unlink()
        case "no python":
            program.write_text("<html>")
        case "before CLAP":
            program.write_text("class PortableM2D:\n    def encode_lms(self): ...\n")
        case "no weights":
            (weights / "checkpoint-30.pth").unlink()
        case "two weights":
            shutil.copy(weights / "checkpoint-30.pth", weights / "checkpoint-31.pth")
        case "renamed":
            weights.rename(folder / "weights")
        case "cut":
            whole = (weights / "checkpoint-30.pth").read_bytes()
            (weights / "checkpoint-30.pth").write_bytes(whole[:200])
        case "other weights":
            torch.save({"model": {"a": torch.zeros(1)}}, weights / "checkpoint-30.pth")


@pytest.mark.parametrize(
    "what, sentence",
    [
        ("no program", r"has no portable_m2d\.py"),
        ("no python", "not a Python file"),
        ("before CLAP", "encode_clap_audio and encode_clap_text"),
        ("no weights", "it holds 0"),
        ("two weights", "it holds 2"),
        ("renamed", "does not state its input size"),
        ("cut", "damaged or incomplete"),
        ("other weights", "cannot load"),
    ],
)
def test_a_folder_that_is_not_ready_gets_a_sentence(folder, what, sentence):
    spoil(folder, what)
    with pytest.raises(InputError, match=sentence) as caught:
        m2d.FAMILY.load(f"m2d:{folder}")
    assert "\n" not in str(caught.value)


def test_missing_packages_are_named(folder, monkeypatch):
    monkeypatch.setattr(m2d, "PACKAGES", ("numpy", "no_such_package"))
    with pytest.raises(InputError, match="pip install no_such_package"):
        m2d.FAMILY.load(f"m2d:{folder}")
