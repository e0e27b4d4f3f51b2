"""table: precomputed embeddings as an encoder."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.encoders.base import load_encoder
from backend.encoders.families.table import TableEncoder, read_table, window_key, write_requests, write_table
from backend.errors import InputError
from tests.backend.encoders import tiny


def test_a_study_there_and_back(tmp_path):
    """Write the questions out, answer them elsewhere from the files alone, load the answers."""
    import soundfile

    sounds = tiny.windows(4, 0.5, 32_000)
    keys = write_requests(tmp_path / "requests", sounds, 32_000, ["a dog", "no dog"])
    write_requests(tmp_path / "requests", sounds[:1], 32_000, ["no dog", "ein Hund, schön"])

    rate = int((tmp_path / "requests" / "rate.txt").read_text())
    texts = (tmp_path / "requests" / "texts.txt").read_text(encoding="utf-8").splitlines()
    assert texts == ["a dog", "no dog", "ein Hund, schön"]
    audio = {path.stem: spectrum(soundfile.read(path)[0]) for path in (tmp_path / "requests").glob("*.wav")}
    write_table(tmp_path / "answers.npz", audio, {text: np.arange(1.0, 6.0) * len(text) for text in texts}, rate)

    encoder = load_encoder(f"table:{tmp_path / 'answers.npz'}", trusted=True)
    assert (encoder.sample_rate, encoder.dim, encoder.has_text) == (32_000, 5, True)
    expected = np.stack([spectrum(sound) for sound in sounds])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.abs(encoder.embed_audio(sounds) - expected).max() < 1e-6
    assert np.abs(encoder.rows(keys) - expected).max() < 1e-6
    assert set(encoder.keys()) == set(keys) and encoder.texts() == texts


def spectrum(samples):
    return np.abs(np.fft.rfft(samples))[:5] + 0.1


@given(seed=st.integers(0, 2**32 - 1), samples=st.integers(1, 200))
def test_a_key_survives_16_bits_and_tells_windows_apart(seed, samples):
    generator = np.random.default_rng(seed)
    window = generator.uniform(-1, 1, samples).astype(np.float32)
    through_a_file = (np.rint(window.astype(np.float64) * 32767) / 32767).astype(np.float32)
    assert window_key(window) == window_key(through_a_file)
    other = window.copy()
    other[generator.integers(samples)] *= -1
    if np.abs(other - window).max() > 2 / 32767:
        assert window_key(window) != window_key(other)


def test_what_is_not_in_the_table_is_named(table_file):
    encoder = load_encoder(f"table:{table_file}", trusted=True)
    with pytest.raises(InputError, match=r"1 of the 2 asked for .* 'a cat'"):
        encoder.embed_text([tiny.TEXTS[0], "a cat"])
    with pytest.raises(InputError, match="1 of the 1 asked for"):
        encoder.embed_audio(np.zeros((1, 100), dtype=np.float32))
    with pytest.raises(InputError, match=r"'street\.wav'"):
        encoder.rows(["street.wav"])


def test_rows_by_any_id(tmp_path):
    write_table(tmp_path / "t.npz", {"1-100032-A-0.wav": np.ones(4), "digest": np.arange(4.0)}, {})
    encoder = load_encoder(f"table:{tmp_path / 't.npz'}", trusted=True)
    assert np.allclose(encoder.rows(["1-100032-A-0.wav"]), 0.5)
    with pytest.raises(InputError, match="no text side"):
        encoder.embed_text(["a"])


def test_a_changed_table_has_another_hash(tmp_path):
    hashes = set()
    for value in (1.0, 2.0):
        write_table(tmp_path / f"{value}.npz", {"a": np.array([value, 1.0])}, {})
        hashes.add(load_encoder(f"table:{tmp_path / f'{value}.npz'}", trusted=True).weights)
    assert len(hashes) == 2


ONE = np.ones((1, 3), dtype=np.float32)


@pytest.mark.parametrize(
    "arrays, sentence",
    [
        ({"audio_keys": ["a"]}, "come in pairs"),
        ({"audio_keys": ["a", "b"], "audio_embeddings": ONE}, "one row a key"),
        ({"audio_keys": ["a"], "audio_embeddings": ONE[0]}, "one row a key"),
        ({"audio_keys": ["a", "a"], "audio_embeddings": np.ones((2, 3))}, "twice"),
        ({"audio_keys": ["a"], "audio_embeddings": ONE * np.nan}, "NaN"),
        ({"audio_keys": ["a"], "audio_embeddings": [["x", "y"]]}, "not numbers"),
        ({"audio_keys": ["a"], "audio_embeddings": ONE, "texts": ["t"], "text_embeddings": np.ones((1, 4))}, "widths"),
        ({"other": ONE}, "no embeddings"),
        ({"audio_keys": ["a"], "audio_embeddings": ONE, "sample_rate": 3}, "sample_rate"),
        ({"audio_keys": np.array(["a"], dtype=object), "audio_embeddings": ONE}, "as strings, not as objects"),
    ],
)
def test_other_contents_get_a_sentence(tmp_path, arrays, sentence):
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(InputError, match=sentence):
        load_encoder(f"table:{tmp_path / 't.npz'}", trusted=True)


@pytest.mark.parametrize(
    "name, content, sentence",
    [
        ("t.npz", b"PK\x03\x04 cut", "not a readable .npz"),
        ("t.npz", b"", "not a readable .npz"),
        ("t.csv", b"a,b", "neither .npz nor .parquet"),
        ("t.parquet", b"PAR1", r"pyarrow|\.parquet"),
        ("none.npz", None, "no table"),
    ],
)
def test_other_files_get_a_sentence(tmp_path, name, content, sentence):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        load_encoder(f"table:{tmp_path / name}", trusted=True)


def test_parquet_holds_the_same(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="Pyarrow is not installed", exc_type=ImportError)
    from pyarrow import parquet

    columns = {
        "kind": ["audio", "text"],
        "key": ["a", "b"],
        "embedding": [[3.0, 4.0], [1.0, 0.0]],
        "sample_rate": [16000] * 2,
    }
    parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    encoder = TableEncoder("table:t", table, "0" * 12)
    assert encoder.rows(["a"]) == pytest.approx(np.array([[0.6, 0.8]])) and encoder.sample_rate == 16_000
    assert encoder.embed_text(["b"]) == pytest.approx(np.array([[1.0, 0.0]]))
    parquet.write_table(pyarrow.table({"key": ["a"]}), tmp_path / "u.parquet")
    with pytest.raises(InputError, match="no column kind"):
        read_table(tmp_path / "u.parquet")


def test_a_text_of_two_lines_cannot_be_written_out(tmp_path):
    with pytest.raises(InputError, match="line break"):
        write_requests(tmp_path, np.zeros((0, 10), dtype=np.float32), 16_000, ["a\nb"])
