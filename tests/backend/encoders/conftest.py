"""Tiny random encoders of the real architectures, built once a session."""

import shutil
import sys
from pathlib import Path

import pytest

from backend.encoders import base
from backend.settings import settings

HERE = Path(__file__).parent
EXAMPLE = f"{sys.executable} {HERE / 'example_worker.py'}"


@pytest.fixture
def downloads_folder(tmp_path, monkeypatch):
    """An empty folder of downloads and an empty hub cache."""
    import huggingface_hub

    monkeypatch.setenv("UNHEARD_CHECKPOINTS_DIR", str(tmp_path / "checkpoints"))
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda *_, **__: None)
    settings.cache_clear()
    yield tmp_path / "checkpoints"
    settings.cache_clear()


@pytest.fixture(scope="session")
def small_package():
    """laion_clap with a 16-wide audio tower, for the session."""
    from tests.backend.encoders import tiny

    with tiny.small_htsat():
        yield


@pytest.fixture(scope="session")
def laion_file(small_package, tmp_path_factory):
    """A training checkpoint of the real architecture, with its vocabulary beside it."""
    from tests.backend.encoders import tiny

    return tiny.laion_checkpoint(tmp_path_factory.mktemp("laion"))


@pytest.fixture(scope="session")
def hf_folder(tmp_path_factory):
    """A ClapModel with its processor."""
    from tests.backend.encoders import tiny

    return tiny.hf_clap(tmp_path_factory.mktemp("hf"))


@pytest.fixture(scope="session")
def speech_folders(tmp_path_factory):
    """wav2vec2 with a group norm, HuBERT with a layer norm."""
    from tests.backend.encoders import tiny

    root = tmp_path_factory.mktemp("speech")
    return {
        "wav2vec2": tiny.speech_model(root / "wav2vec2", "wav2vec2", "group"),
        "hubert": tiny.speech_model(root / "hubert", "hubert", "layer"),
    }


@pytest.fixture(scope="session")
def m2d_folder(tmp_path_factory):
    """A folder laid out as M2D's users lay it out, with a stand-in for its program."""
    import torch

    folder = tmp_path_factory.mktemp("m2d")
    shutil.copy(HERE / "standin_m2d.py", folder / "portable_m2d.py")
    inner = folder / "m2d_clap_vit_base-80x1001p16x16p16kpBpTI-2025"
    inner.mkdir()
    generator = torch.Generator().manual_seed(0)
    state = {
        "audio.weight": torch.randn(6, 80, generator=generator),
        "words.weight": torch.randn(128, 6, generator=generator),
    }
    torch.save({"model": state}, inner / "checkpoint-30.pth")
    return folder


@pytest.fixture(scope="session")
def table_file(tmp_path_factory):
    """A table that answers the windows and texts of the contract's tests."""
    import numpy as np

    from backend.encoders.families.table import window_key, write_table
    from tests.backend.encoders import tiny

    path = tmp_path_factory.mktemp("table") / "study.npz"
    generator = np.random.default_rng(0)
    sounds = tiny.windows(5, 2.0, 16_000)
    write_table(
        path,
        {window_key(sound): generator.normal(size=7) for sound in sounds},
        {text: generator.normal(size=7) for text in tiny.TEXTS},
        16_000,
    )
    return path


@pytest.fixture(scope="session")
def every_encoder(laion_file, hf_folder, speech_folders, m2d_folder, table_file):
    """One loaded encoder of each family, by name."""
    import backend.encoders.families.m2d as m2d

    packages, m2d.PACKAGES = m2d.PACKAGES, ()  # the stand-in needs none of them
    ids = {
        "pocket": "pocket",
        "laion": f"laion:{laion_file}",
        "laion-bf16": f"laion:{laion_file}@bf16",
        "hf": f"hf:{hf_folder}",
        "speech-group": f"speech:{speech_folders['wav2vec2']}",
        "speech-layer": f"speech:{speech_folders['hubert']}",
        "m2d": f"m2d:{m2d_folder}",
        "process": f"process:{EXAMPLE}",
        "table": f"table:{table_file}",
    }
    loaded = {name: base.load_encoder(encoder_id, trusted=True) for name, encoder_id in ids.items()}
    m2d.PACKAGES = packages
    yield loaded
    loaded["process"].close()
    for encoder_id in list(ids.values())[1:]:
        base.forget_encoder(encoder_id)
