"""The resampler is the one that librosa uses by default, called without librosa's two seconds of import."""

from __future__ import annotations

import librosa
import numpy as np
import pytest

from backend.audio import clip_from_samples, resampled


@pytest.mark.parametrize(("rate", "wanted"), [(44_100, 16_000), (8_000, 48_000)])
def test_resampling_is_librosa_s_to_the_bit(rate: int, wanted: int) -> None:
    samples = np.random.default_rng(rate).normal(scale=0.1, size=rate).astype(np.float32)
    twin = librosa.resample(samples, orig_sr=rate, target_sr=wanted)
    np.testing.assert_array_equal(resampled(clip_from_samples(samples, rate), wanted), twin)
