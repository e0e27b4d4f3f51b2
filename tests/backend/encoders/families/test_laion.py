"""laion: the package's numbers, without its network, its pickles, its crops and its padding."""

import os
import pickle
import socket
import sys

import numpy as np
import pytest
import torch

from backend.encoders.base import forget_encoder, load_encoder
from backend.encoders.families import laion, laion_package, tokens
from backend.encoders.fetching import weights
from backend.errors import InputError
from backend.files import sha256_of
from tests.backend.encoders import tiny


@pytest.fixture(scope="module")
def encoder(every_encoder):
    return every_encoder["laion"]


@pytest.fixture(scope="module")
def package(laion_file):
    """The package's own module on the same weights, untouched."""
    state = weights.read_weights(laion_file)
    tokenizer = tokens.roberta_tokenizer(laion_file.parent, laion_package.sniff(state, "x").vocabulary)
    return laion_package.build(state, tokenizer, "x")


@pytest.mark.parametrize("seconds", [0.4, 1.0, 2.0, 2.5, 3.0, 4.0, 5.0, 10.0])
def test_the_numbers_are_the_packages_own(encoder, package, seconds):
    sounds = tiny.windows(3, seconds, 48_000, seed=round(seconds * 10))
    sounds[0] *= 1e-4  # near silence, where 16 bits show
    with torch.inference_mode():
        theirs = package.get_audio_embedding_from_data(list(sounds))
    assert np.abs(encoder.embed_audio(sounds) - theirs).max() <= 1e-5


@pytest.mark.parametrize("samples", [4_800, 24_000, 48_000, 96_000, 120_000, 240_000, 480_000, 144_000, 12_345])
def test_mel_once_is_exact(encoder, package, samples):
    """Also where rounding shows most: a pure tone, an impulse and silence have empty bands."""
    from backend.encoders.families.htsat import repeated

    time = np.arange(samples) / 48_000
    tone, impulse = 0.9 * np.sin(2 * np.pi * 440 * time), np.zeros(samples)
    impulse[samples // 3] = 1
    sounds = np.stack([tone, impulse, np.zeros(samples), np.random.default_rng(0).normal(size=samples) * 0.1])
    waves = torch.from_numpy(laion.quantised(sounds.astype(np.float32)))
    branch = package.model.audio_branch
    full = branch.logmel_extractor(branch.spectrogram_extractor(repeated(waves)))
    mine = encoder.tower.log_mel(waves)
    assert mine.shape == full.shape
    assert (mine - full).abs().max() < 1e-4  # decibels, of a range of 100


def test_unpadded_texts_equal_padded_ones(encoder, package):
    texts = [*tiny.TEXTS, "", "a" * 400, "dog " * 200]
    with torch.inference_mode():
        theirs = package.get_text_embedding(texts)
    assert np.abs(encoder.embed_text(texts) - theirs).max() <= 1e-5


def test_the_last_16_bits_are_kept(encoder):
    faint = tiny.windows(1, 2.0, 48_000) * 2e-5  # below 1/32767: the package hears silence
    assert np.array_equal(encoder.embed_audio(faint), encoder.embed_audio(np.zeros_like(faint)))


def test_longer_than_ten_seconds_is_refused_not_cropped(encoder):
    with pytest.raises(InputError, match="at most 10 s"):
        encoder.embed_audio(np.zeros((1, 480_001), dtype=np.float32))


def test_bfloat16_is_another_encoder(every_encoder):
    sounds = tiny.windows(4, 2.0, 48_000)
    exact, fast = (every_encoder[name].embed_audio(sounds) for name in ("laion", "laion-bf16"))
    assert every_encoder["laion-bf16"].id.endswith("@bf16")
    assert 1e-5 < np.abs(exact - fast).max() < 0.05
    assert (exact * fast).sum(axis=1).min() > 0.999


def test_no_gradient_is_kept(encoder):
    assert not any(parameter.requires_grad for parameter in encoder.module.parameters())
    assert not encoder.module.training


def test_loading_opens_no_connection_and_leaves_no_names_behind(laion_file, monkeypatch, capsys):
    def forbidden(*_, **__):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", forbidden)
    monkeypatch.setattr(socket, "getaddrinfo", forbidden)
    laion.load_file("laion:x", laion_file)
    assert capsys.readouterr().out == ""
    assert not [path for path in sys.path if path.endswith("laion_clap")]
    import transformers

    for name in ("BertTokenizer", "BartTokenizer", "RobertaTokenizer", "RobertaModel"):
        assert "lambda" not in repr(getattr(transformers, name).from_pretrained)


def test_a_stripped_checkpoint_is_smaller_and_the_same(laion_file, tmp_path):
    import shutil

    for name in tokens.VOCABULARY_FILES:
        shutil.copy(laion_file.parent / name, tmp_path)
    raw = torch.load(laion_file, weights_only=False)
    raw["optimizer"] = {"exp_avg": {name: value.clone() for name, value in raw["state_dict"].items()}}
    torch.save(raw, tmp_path / "fat.pt")
    saved = weights.strip_optimizer(tmp_path / "fat.pt", tmp_path / "lean.safetensors")
    assert saved > 0.45 * (tmp_path / "fat.pt").stat().st_size
    fat, lean = (laion.load_file("laion:x", tmp_path / name) for name in ("fat.pt", "lean.safetensors"))
    assert fat.weights == lean.weights
    sounds = tiny.windows(2, 2.0, 48_000)
    assert np.array_equal(fat.embed_audio(sounds), lean.embed_audio(sounds))
    with pytest.raises(InputError, match="must end in"):
        weights.strip_optimizer(laion_file, tmp_path / "lean.pt")


class Hostile:
    """A pickle that would leave a mark."""

    def __init__(self, mark):
        self.mark = str(mark)

    def __reduce__(self):
        return (os.mkdir, (self.mark,))


def test_a_hostile_checkpoint_is_not_run(tmp_path, laion_file):
    mark = tmp_path / "ran"
    torch.save({"state_dict": {"a": torch.zeros(1)}, "extra": Hostile(mark)}, tmp_path / "hostile.pt")
    (tmp_path / "plain.pt").write_bytes(pickle.dumps(Hostile(mark)))
    with pytest.raises(InputError, match="more than weights"):
        laion.load_file("laion:x", tmp_path / "hostile.pt")
    with pytest.raises(InputError):
        laion.load_file("laion:x", tmp_path / "plain.pt")
    assert not mark.exists()
    # Known by its hash, the same file may be unpickled: what that means is shown here.
    known = sha256_of(tmp_path / "hostile.pt")
    weights.read_weights(tmp_path / "hostile.pt", {known})
    assert mark.exists()


def test_bad_files_get_a_sentence_each(tmp_path, laion_file, hf_folder):
    whole = laion_file.read_bytes()
    (tmp_path / "cut.pt").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "page.pt").write_bytes(b"<!doctype html><title>Sign in</title>")
    (tmp_path / "pointer.pt").write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    (tmp_path / "empty.pt").write_bytes(b"")
    (tmp_path / "cut.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0{}")
    torch.save(torch.zeros(3), tmp_path / "tensor.pt")
    cases = {
        "cut.pt": "damaged or incomplete",
        "page.pt": "text page",
        "pointer.pt": "Git LFS pointer",
        "empty.pt": "damaged or incomplete",
        "cut.safetensors": "damaged or incomplete",
        "tensor.pt": "holds no weights",
        "none.pt": "no checkpoint file",
    }
    for name, sentence in cases.items():
        with pytest.raises(InputError, match=sentence) as caught:
            laion.load_file("laion:x", tmp_path / name)
        assert caught.value.concerns == "file" and "\n" not in str(caught.value), name
    with pytest.raises(InputError, match="not a LAION-CLAP checkpoint"):
        laion.load_file("laion:x", hf_folder / "model.safetensors")


@pytest.mark.parametrize(
    "change, sentence",
    [
        (lambda state: state.update({laion_package.FUSION: torch.zeros(1)}), "fusion checkpoint"),
        (lambda state: state.update({laion_package.PATCHES: torch.zeros(64, 1, 4, 4)}), "width 64"),
        (lambda state: state.pop("audio_projection.0.weight"), "does not fit"),
        (lambda state: state.update({"audio_projection.0.weight": torch.zeros(512, 7)}), "does not fit"),
        (lambda state: state.update({"stray.weight": torch.zeros(1)}), "does not fit"),
        (lambda state: state.update({laion_package.WORDS: torch.zeros(9, 768)}), "vocabulary .* tokens"),
    ],
)
def test_other_architectures_get_a_sentence(laion_file, tmp_path, change, sentence):
    import shutil

    state = weights.read_weights(laion_file)
    change(state)
    torch.save(state, tmp_path / "other.pt")
    for name in tokens.VOCABULARY_FILES:
        shutil.copy(laion_file.parent / name, tmp_path)
    with pytest.raises(InputError, match=sentence):
        laion.load_file("laion:x", tmp_path / "other.pt")


def test_an_empty_tokenizer_is_refused(tmp_path, laion_file):
    import shutil

    shutil.copy(laion_file, tmp_path / "tiny.pt")
    (tmp_path / "vocab.json").write_text("{}")
    (tmp_path / "merges.txt").write_text("#version: 0.2\n")
    with pytest.raises(InputError, match="vocabulary"):
        laion.load_file("laion:x", tmp_path / "tiny.pt")


def test_a_missing_vocabulary_is_asked_for(tmp_path, laion_file, downloads_folder):
    import shutil

    shutil.copy(laion_file, tmp_path / "tiny.pt")
    with pytest.raises(InputError, match=r"vocab\.json and merges\.txt"):
        laion.load_file("laion:x", tmp_path / "tiny.pt")
    # Once it lies among the downloads it is found.
    tiny.vocabulary(downloads_folder / "roberta-base")
    assert laion.load_file("laion:x", tmp_path / "tiny.pt").dim == 512


def test_named_checkpoints_say_what_they_need(downloads_folder, laion_file, monkeypatch):
    listed = {info.id: info for info in laion.FAMILY.listed()}
    assert list(listed) == [
        "laion:630k-audioset-best",
        "laion:630k-best",
        "laion:music-audioset",
        "laion:music-speech-audioset",
        "laion:music-speech",
    ]
    best = listed["laion:630k-audioset-best"]
    assert not best.ready and best.downloadable and best.licence and best.size_bytes == 1_863_587_645
    with pytest.raises(InputError, match="download"):
        load_encoder("laion:630k-audioset-best")
    with pytest.raises(InputError, match="There is no checkpoint"):
        load_encoder("laion:630k", trusted=True)
    # With the file and the vocabulary in place it is ready, and loads by its name.
    import shutil

    (downloads_folder / "laion").mkdir(parents=True)
    shutil.copy(laion_file, downloads_folder / "laion" / "630k-audioset-best.pt")
    assert "vocabulary" in laion.FAMILY.listed()[0].needs
    tiny.vocabulary(downloads_folder / "roberta-base")
    assert laion.FAMILY.listed()[0].ready
    assert load_encoder("laion:630k-audioset-best").sample_rate == 48_000
    forget_encoder("laion:630k-audioset-best")
    monkeypatch.setattr(laion_package, "find_spec", lambda name: None)
    assert "pip install laion-clap" in laion.FAMILY.listed()[0].needs


def test_a_failed_load_leaves_the_previous_encoder_working(every_encoder, tmp_path):
    (tmp_path / "bad.pt").write_bytes(b"PK\x03\x04")
    sounds = tiny.windows(1, 2.0, 48_000)
    before = every_encoder["laion"].embed_audio(sounds)
    with pytest.raises(InputError):
        load_encoder(f"laion:{tmp_path / 'bad.pt'}", trusted=True)
    assert np.array_equal(every_encoder["laion"].embed_audio(sounds), before)


@pytest.mark.parametrize("published, amodel", [(96, "HTSAT-tiny"), (128, "HTSAT-base"), (256, "HTSAT-large")])
def test_the_audio_tower_is_read_from_the_checkpoint(published, amodel):
    state = {
        laion_package.PATCHES: torch.empty(published, 1, 4, 4),
        laion_package.WORDS: torch.empty(50265, 768, device="meta"),
        laion_package.POSITIONS: torch.empty(514, 768, device="meta"),
        "text_branch.encoder.layer.0.intermediate.dense.weight": torch.empty(3072, 768, device="meta"),
        "text_branch.encoder.layer.11.output.dense.weight": torch.empty(768, 3072, device="meta"),
    }
    found = laion_package.sniff(state, "x")
    assert (found.amodel, found.layers, found.vocabulary, found.feed_forward) == (amodel, 12, 50265, 3072)
