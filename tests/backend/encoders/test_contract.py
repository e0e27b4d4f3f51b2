"""What every encoder promises, whatever it is made of."""

import numpy as np
import pytest

from backend.encoders.base import Encoder
from backend.errors import InputError
from tests.backend.encoders import tiny

NAMES = ["pocket", "laion", "laion-bf16", "hf", "speech-group", "speech-layer", "m2d", "process", "table"]
TOLERANCE = 1e-5


@pytest.fixture(params=NAMES)
def encoder(request, every_encoder):
    return every_encoder[request.param]


@pytest.fixture
def sounds(encoder):
    return tiny.windows(5, 2.0, encoder.sample_rate)


def test_it_is_an_encoder(encoder):
    assert isinstance(encoder, Encoder)
    assert len(encoder.weights) == 12 and int(encoder.weights, 16) >= 0


def test_sounds_become_unit_vectors(encoder, sounds):
    vectors = encoder.embed_audio(sounds)
    assert vectors.shape == (5, encoder.dim) and vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(5), abs=1e-5)


def test_unlike_sounds_get_unlike_vectors(encoder, sounds):
    # Without this the tests of sameness below could not fail.
    vectors = encoder.embed_audio(sounds)
    assert np.abs(vectors[0] - vectors[1:]).max(axis=1).min() > 100 * TOLERANCE


def test_texts_become_unit_vectors_or_it_says_there_are_none(encoder):
    if not encoder.has_text:
        with pytest.raises(InputError, match="no text side"):
            encoder.embed_text(["a dog"])
        return
    vectors = encoder.embed_text(tiny.TEXTS)
    assert vectors.shape == (len(tiny.TEXTS), encoder.dim) and vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(tiny.TEXTS)), abs=1e-5)
    assert np.abs(vectors[0] - vectors[1:]).max(axis=1).min() > 100 * TOLERANCE


def test_the_same_again(encoder, sounds):
    assert np.array_equal(encoder.embed_audio(sounds), encoder.embed_audio(sounds))
    if encoder.has_text:
        assert np.array_equal(encoder.embed_text(tiny.TEXTS), encoder.embed_text(tiny.TEXTS))


def test_company_and_order_do_not_matter(encoder, sounds):
    # bfloat16 rounds at 2**-8 and its sums depend on the batch; that is why it is opt-in.
    tolerance = 5e-3 if encoder.id.endswith("@bf16") else TOLERANCE
    together = encoder.embed_audio(sounds)
    alone = np.concatenate([encoder.embed_audio(sounds[index : index + 1]) for index in range(5)])
    backwards = encoder.embed_audio(np.ascontiguousarray(sounds[::-1]))[::-1]
    assert np.abs(together - alone).max() <= tolerance
    assert np.abs(together - backwards).max() <= tolerance
    if encoder.has_text:
        texts = encoder.embed_text(tiny.TEXTS)
        single = np.concatenate([encoder.embed_text([text]) for text in tiny.TEXTS])
        assert np.abs(texts - single).max() <= TOLERANCE


def test_nothing_in_nothing_out(encoder, sounds):
    assert encoder.embed_audio(sounds[:0]).shape == (0, encoder.dim)
    if encoder.has_text:
        assert encoder.embed_text([]).shape == (0, encoder.dim)


def test_the_window_at_fault_is_named(every_encoder):
    for name in NAMES[1:]:
        broken = tiny.windows(5, 2.0, every_encoder[name].sample_rate)
        broken[3, 100] = np.nan
        with pytest.raises(InputError, match=r"1 of 5 windows .* window 3"):
            every_encoder[name].embed_audio(broken)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_a_number_is_refused(encoder, sounds, bad):
    broken = sounds.copy()
    broken[3, 100] = bad
    with pytest.raises(InputError, match=r"NaN or infinity"):
        encoder.embed_audio(broken)


@pytest.mark.parametrize(
    "shape, kind", [((1000,), np.float32), ((2, 1000), np.int16), ((2, 0), np.float32), ((1, 2, 3), np.float32)]
)
def test_other_shapes_and_types_are_refused(encoder, shape, kind):
    with pytest.raises(InputError):
        encoder.embed_audio(np.zeros(shape, dtype=kind))


def test_one_string_is_not_a_list_of_texts(encoder):
    with pytest.raises(InputError):
        encoder.embed_text("a dog")
