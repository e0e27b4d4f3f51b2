"""Two encoders on one clip and query."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.audio import Clip
from backend.errors import InputError
from backend.evidence.agreement import compare_encoders, rank_correlation
from backend.negation import Concept
from backend.reports.palette import LIGHT
from components.panels.listen import compare

CONCEPTS = (Concept("dog <b>", "present"), Concept("bell", "present"), Concept("rain", "absent"))


class Fake:
    """Hears loudness; ``sign`` turns it round."""

    sample_rate, dim, has_text = 8_000, 8, True

    def __init__(self, name, sign=1.0):
        self.id, self.weights, self.sign = name, "0" * 12, sign

    def embed_audio(self, windows):
        loud = np.sqrt((windows**2).mean(axis=1))
        rows = np.stack([np.ones_like(loud), self.sign * loud * 4, *[loud * 0] * 6], axis=1)
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    def embed_text(self, texts):
        rows = np.stack([[0.2, 1.0, *np.random.default_rng(list(text.encode())).normal(size=6)] for text in texts])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def clip(request):
    """Six seconds, quiet but for one second from 3.0 s."""
    samples = np.random.default_rng(0).normal(scale=0.01, size=48_000).astype(np.float32)
    samples[24_000:32_000] *= 30
    return Clip("test.wav", samples[:, None], 8_000, samples, f"test-{request.node.name}"[:16])


def test_encoders_that_agree_and_encoders_that_do_not(clip):
    same = compare_encoders(Fake("one"), Fake("two"), clip, CONCEPTS, 1.0)
    for agreement in same.agreements:
        assert agreement.iou == 1.0 and agreement.rank_correlation == pytest.approx(1.0) and agreement.same_place
    turned = compare_encoders(Fake("one"), Fake("other", -1.0), clip, CONCEPTS, 1.0)
    dog = turned.agreements[0]
    assert dog.first.best.start == pytest.approx(3.0) and not dog.same_place
    assert dog.rank_correlation == pytest.approx(-1.0)


def test_what_is_shown(clip):
    value = compare.shown(compare_encoders(Fake("one"), Fake("other", -1.0), clip, CONCEPTS, 1.0))
    html, figures = json.loads(value)["html"], json.loads(value)["figures"]
    assert "They disagree about" in html and "dog &lt;b&gt;" in html and "<b>" not in value
    assert html.count("data-chart=") == 2 and list(figures) == ["first", "second"]
    for figure in figures.values():
        curves, best = figure["data"][::2], figure["data"][1::2]
        assert [(curve["line"]["color"], curve["line"]["dash"]) for curve in curves] == [
            (LIGHT["present"], "solid"), (LIGHT["present"], "dot"), (LIGHT["absent"], "dash")
        ]  # fmt: skip
        above, _, below = (stroke["y"][0] for stroke in best)
        assert above > max(max(curve["y"]) for curve in curves) > min(min(curve["y"]) for curve in curves) > below
    assert figures["first"]["data"][1]["x"][:2] == [3.0, 4.0]
    agreed = compare.shown(compare_encoders(Fake("one"), Fake("two"), clip, CONCEPTS, 1.0))
    assert "Both put" in agreed and "1.00" in agreed
    short = Clip("s.wav", clip.channels[:4000], 8_000, clip.mono[:4000], "short-clip")
    assert "NaN" not in compare.shown(compare_encoders(Fake("one"), Fake("two"), short, CONCEPTS, 1.0)).replace(
        "nan", "NaN"
    )


def test_an_encoder_is_not_compared_with_itself(clip):
    with pytest.raises(InputError, match="Both sides are one"):
        compare_encoders(Fake("one"), Fake("one"), clip, CONCEPTS, 1.0)


@given(st.lists(st.floats(-1, 1, width=32), min_size=3, max_size=30), st.integers(0, 2**32 - 1))
def test_rank_correlation_is_spearmans(values, seed):
    from scipy.stats import spearmanr

    first = np.array(values, dtype=np.float32)
    second = np.random.default_rng(seed).permutation(first)
    found = rank_correlation(first, second)
    if len(set(values)) == 1:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(spearmanr(first, second).statistic, abs=1e-9)
    assert math.isnan(rank_correlation(first[:2], second[:2]))
