"""The cut and its matched controls on a clip whose answer is known."""

from dataclasses import replace

import numpy as np
import pytest

from backend.audio import Span, load_clip, sliding_windows
from backend.collections.demo import demo_clips
from backend.encoders.base import load_encoder
from backend.encoders.cached import EmbeddingCache, window_embeddings
from backend.errors import InputError
from backend.evidence.control_cuts import (
    CutExperiment,
    clip_scores,
    cut_and_compare,
    cut_sentence,
    cut_steps,
    embeddings_after_cut,
)
from backend.evidence.cut import gated_clip
from backend.negation import Concept
from backend.progress import Step
from tests.fakes import BandEncoder, OnePassBandEncoder, tone_clip

CONCEPTS = (Concept("band 3", "present"), Concept("band 6", "absent"))


def memory_cache() -> EmbeddingCache:
    return EmbeddingCache(None, memory_bytes=1 << 24, disk_bytes=0)


@pytest.fixture(scope="module")
def experiment() -> CutExperiment:
    return cut_and_compare(
        BandEncoder(), tone_clip(3, 4.0, 6.0), CONCEPTS, 2.0, Span(4.0, 6.0), 40.0, cache=memory_cache()
    )


def test_cutting_the_only_tone_is_grounded(experiment: CutExperiment) -> None:
    tone, other = experiment.effects
    assert tone.before > 0.95
    assert tone.drop > 0.3
    assert tone.grounded
    assert tone.drop > tone.control_mean + 2 * tone.control_sd
    assert abs(other.drop) < tone.drop


def test_controls_have_the_size_of_the_cut_and_are_seeded(experiment: CutExperiment) -> None:
    assert len(experiment.control_spans) == 20
    for span in experiment.control_spans:
        assert span.length == pytest.approx(2.0, abs=1e-6)
        assert span.start >= 0
        assert span.end <= 10 + 1e-6
    again = cut_and_compare(
        BandEncoder(), tone_clip(3, 4.0, 6.0), CONCEPTS, 2.0, Span(4.0, 6.0), 40.0, cache=memory_cache()
    )
    np.testing.assert_array_equal(again.effects[0].control_drops, experiment.effects[0].control_drops)
    other = cut_and_compare(
        BandEncoder(), tone_clip(3, 4.0, 6.0), CONCEPTS, 2.0, Span(4.0, 6.0), 40.0, cache=memory_cache(), seed=1
    )
    assert [span.start for span in other.control_spans] != [span.start for span in experiment.control_spans]


@pytest.mark.parametrize("kind", [BandEncoder, OnePassBandEncoder])
@pytest.mark.parametrize("span", [Span(0.0, 2.0), Span(3.3, 5.3), Span(28.0, 30.0), Span(13.7, 14.2)])
def test_only_the_windows_a_cut_reaches_are_computed_and_nothing_is_lost(kind: type, span: Span) -> None:
    encoder, clip, cache = kind(), tone_clip(3, 4.0, 26.0, duration=30.0), memory_cache()
    windows = sliding_windows(clip.duration, 2.0)
    original = window_embeddings(encoder, clip, windows, cache=cache)
    before = encoder.audio_passes
    quick = embeddings_after_cut(encoder, clip, windows, original, span, 40.0)
    computed = encoder.audio_passes - before
    whole = window_embeddings(encoder, gated_clip(clip, span, 40.0), windows, cache=memory_cache())
    np.testing.assert_allclose(quick, whole, atol=1e-4)
    assert computed <= 10 < len(windows)


def test_a_blank_clip_is_embedded_as_one_window() -> None:
    encoder = BandEncoder()
    cut_and_compare(
        encoder, tone_clip(3, 4.0, 6.0), CONCEPTS, 2.0, Span(4.0, 6.0), 40.0, cache=memory_cache(), controls=1
    )
    assert encoder.audio_passes <= 17 + 17 + 9 + 1


def test_steps_say_what_is_done_and_can_be_cancelled() -> None:
    encoder = BandEncoder()
    steps = cut_steps(encoder, tone_clip(3, 4.0, 6.0), CONCEPTS, 2.0, Span(4.0, 6.0), 40.0, cache=memory_cache())
    first, second = next(steps), next(steps)
    assert isinstance(first, Step) and first.what == "Scoring the cut clip"
    assert isinstance(second, Step) and second.what == "Scoring random cut 1 of 20"
    passes = encoder.audio_passes
    steps.close()
    assert encoder.audio_passes == passes


def test_the_sentence_states_the_drop_and_its_control(experiment: CutExperiment) -> None:
    effect = experiment.effects[0]
    sentence = cut_sentence(effect, experiment.span, 20)
    assert sentence.startswith(f"Cutting 4.00–6.00 s lowered “band 3” by {effect.drop:.3f};")
    assert f"± {effect.control_sd:.3f} (n = 20)" in sentence


def test_nothing_is_raised_by_nothing(experiment: CutExperiment) -> None:
    effect = replace(experiment.effects[0], after=experiment.effects[0].before + 1e-5)
    assert effect.drop < 0 and " lowered “band 3” by 0.000;" in cut_sentence(effect, experiment.span, 20)


def test_a_clip_score_is_its_best_window() -> None:
    embeddings = np.eye(3, dtype=np.float32)
    np.testing.assert_allclose(clip_scores(embeddings, np.array([[0.2, 0.9, 0.1]], dtype=np.float32)), [0.9], atol=1e-6)


@pytest.mark.parametrize(
    ("span", "depth", "said"),
    [
        (Span(6, 4), 40, "start must be below end"),
        (Span(-1, 4), 40, "not a stretch of time"),
        (Span(8, 12), 40, "is 10.00 s long"),
        (Span(float("nan"), 4), 40, "not a stretch of time"),
        (Span(4, 6), 300, "between 0 and 120"),
        (Span(4, 6), float("inf"), "between 0 and 120"),
        (Span(4, 6), -121, "between 0 and 120"),
    ],
)
def test_what_cannot_be_cut_is_said(span: Span, depth: float, said: str) -> None:
    with pytest.raises(InputError, match=said):
        cut_and_compare(BandEncoder(), tone_clip(3, 4.0, 6.0), CONCEPTS, 2.0, span, depth, cache=memory_cache())


@pytest.mark.parametrize("start", [0.0, 2.37, 12.0])
def test_pockets_one_pass_loses_nothing_either(start: float) -> None:
    encoder, clip = load_encoder("pocket"), load_clip(demo_clips()[0].path)
    windows, span = sliding_windows(clip.duration, 2.0), Span(start, start + 2.0)
    original = window_embeddings(encoder, clip, windows, cache=memory_cache())
    quick = embeddings_after_cut(encoder, clip, windows, original, span, 40.0)
    whole = window_embeddings(encoder, gated_clip(clip, span, 40.0), windows, cache=memory_cache())
    np.testing.assert_allclose(quick, whole, atol=1e-5)
