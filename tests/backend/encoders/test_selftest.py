"""The self-test must catch encoders that load, answer, and mean nothing."""

import numpy as np
import pytest

from backend.encoders import batches, device, selftest
from backend.encoders.selftest import TEXTS, self_test
from backend.errors import InputError
from backend.progress import Cancelled, Progress
from tests.backend.encoders.test_contract import NAMES


class Fake:
    """A sound encoder unless told otherwise."""

    id, weights, sample_rate, dim, has_text = "fake", "0" * 12, 16_000, 16, True

    def __init__(self, fault=""):
        self.fault, self.calls = fault, 0
        self.mixer = np.random.default_rng(0).normal(size=(64, self.dim))

    def embed_audio(self, windows):
        self.calls += 1
        spectra = np.abs(np.fft.rfft(windows, 4096))[:, :2048].reshape(len(windows), 64, -1).mean(2)
        rows = np.log(spectra + 1e-6) @ self.mixer
        if self.fault == "random":
            rows = rows + np.random.default_rng(self.calls).normal(size=rows.shape)
        if self.fault == "company":
            rows = rows - rows.mean(0) * (len(rows) > 1)
        if self.fault == "deaf":
            rows = np.ones_like(rows) + 1e-6 * rows
        if self.fault == "nan":
            return rows * np.nan
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    def embed_text(self, texts):
        self.calls += 1
        rows = np.stack([np.random.default_rng(list(text.encode())).normal(size=self.dim) for text in texts])
        if self.fault == "collapsed":
            rows = 1 + 0.025 * rows
        if self.fault == "random text":
            rows = rows + np.random.default_rng(self.calls).normal(size=rows.shape)
        if self.fault == "nan text":
            return rows * np.nan
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_nothing_is_said_of_a_sound_one():
    found = self_test(Fake())
    assert found.warnings == () and found.text_cosine < 0.5 and found.sound_cosine < 0.999


@pytest.mark.parametrize(
    "fault, sentence",
    [
        ("random", "same sound gets another vector"),
        ("company", "depends on the sounds beside it"),
        ("deaf", "audio side is broken"),
        ("nan", "answers sounds with something other"),
        ("collapsed", r"text side is collapsed: .* mean cosine \+0\.999"),
        ("random text", "same text gets another vector"),
        ("nan text", "answers texts with something other"),
    ],
)
def test_each_fault_is_one_warning_in_words(fault, sentence):
    import re

    found = self_test(Fake(fault))
    assert len(found.warnings) == 1 and re.search(sentence, found.warnings[0])


def test_the_collapse_of_the_broken_public_checkpoint_is_well_over_the_line():
    fake = Fake("collapsed")
    vectors = fake.embed_text(TEXTS)
    assert 0.999 < (vectors @ vectors.T)[np.triu_indices(len(TEXTS), 1)].mean() < 0.9999


def test_it_is_run_once():
    fake = Fake()
    first = selftest.tested(fake)
    calls = fake.calls
    assert selftest.tested(fake) is first and fake.calls == calls


@pytest.mark.parametrize("name", NAMES)
def test_every_family_can_be_tested(every_encoder, name):
    found = self_test(every_encoder[name])
    assert not [warning for warning in found.warnings if "collapsed" not in warning and "grouped" not in warning]
    assert np.isnan(found.text_cosine) == (not every_encoder[name].has_text or name == "table")


# The batching every encoder shares.


def test_a_watcher_sees_the_batches_and_can_stop_them():
    seen = []

    def watch(step):
        seen.append((step.done, step.total))
        if step.done >= 4:
            progress.cancel()

    progress = Progress(watch)
    with pytest.raises(Cancelled), batches.watching(progress):
        batches.in_batches(np.ones((10, 3), np.float32), 2, lambda part: part, 3, "fake")
    assert seen == [(2, 10), (4, 10)]
    batches.in_batches(np.ones((4, 3), np.float32), 2, lambda part: part, 3, "fake")
    assert len(seen) == 2  # nobody watches any more


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("CUDA out of memory. Tried"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory"),
    ],
)
def test_memory_that_runs_out_halves_the_batch_and_then_is_a_sentence(error):
    sizes = []

    def embed(part):
        sizes.append(len(part))
        if len(part) > fits:
            raise error
        return part

    items = np.arange(1, 31, dtype=np.float32).reshape(10, 3)
    fits = 2
    whole = batches.in_batches(items, 8, embed, 3, "fake")
    assert sizes == [8, 4, 2, 2, 2, 2, 2]
    assert np.array_equal(whole, batches.unit_rows(items, "fake"))
    fits = 0
    with pytest.raises(InputError, match="not enough memory"):
        batches.in_batches(items, 8, embed, 3, "fake")


def test_other_errors_are_not_taken_for_memory():
    def embed(part):
        raise RuntimeError("shape mismatch")

    with pytest.raises(RuntimeError, match="shape"):
        batches.in_batches(np.ones((1, 3), np.float32), 8, embed, 3, "fake")


# Where networks run.


def test_the_device_is_the_processor_where_no_gpu_works(monkeypatch):
    monkeypatch.setattr(device, "cuda_works", lambda: False)
    assert device.device("auto").type == "cpu" and device.device("cpu").type == "cpu"
    with pytest.raises(InputError, match="no GPU works"):
        device.device("cuda")
    with pytest.raises(InputError, match="can be auto, cpu, cuda"):
        device.device("tpu")


def test_the_gpu_is_used_when_it_works(monkeypatch):
    monkeypatch.setattr(device, "cuda_works", lambda: True)
    assert device.device("auto").type == "cuda" and device.device("cpu").type == "cpu"


def test_a_gpu_that_fails_at_the_first_kernel_counts_as_none(monkeypatch):
    import torch

    def fails(*_, **__):
        raise RuntimeError("CUDA error: no kernel image is available")

    device.cuda_works.cache_clear()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch, "ones", fails)
    assert not device.cuda_works()
    device.cuda_works.cache_clear()


# Packed layers.


@pytest.mark.parametrize("bias", [True, False])
def test_packed_layers_give_the_numbers_of_plain_ones(bias):
    import torch

    from backend.encoders import packed

    if not packed.works():
        pytest.skip("This build of torch has no packed layers")
    torch.manual_seed(0)
    plain = torch.nn.Sequential(torch.nn.Linear(96, 384, bias), torch.nn.GELU(), torch.nn.Linear(384, 40, bias))
    copy = torch.nn.Sequential(torch.nn.Linear(96, 384, bias), torch.nn.GELU(), torch.nn.Linear(384, 40, bias))
    copy.load_state_dict(plain.state_dict())
    packed.pack(copy, torch.device("cpu"))
    assert all(isinstance(copy[index], packed.PackedLinear) for index in (0, 2))
    with torch.inference_mode():
        for shape in ((1, 96), (7, 96), (3, 50, 96), (2000, 96)):
            rows = torch.randn(shape)
            assert (copy(rows) - plain(rows)).abs().max() < 1e-5
            assert (copy[0].then_gelu(rows) - plain[1](plain[0](rows))).abs().max() < 1e-5


def test_shared_small_and_parametrised_layers_are_left_alone():
    import torch

    from backend.encoders import packed

    first, second = torch.nn.Linear(64, 64), torch.nn.Linear(64, 64)
    second.weight = first.weight
    normed = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(64, 64))
    model = torch.nn.ModuleList([first, second, normed, torch.nn.Linear(8, 64)])
    packed.pack(model, torch.device("cpu"))
    assert not [layer for layer in model if isinstance(layer, packed.PackedLinear)]


def test_where_packing_does_not_work_nothing_changes(monkeypatch):
    import torch

    from backend.encoders import packed

    model = torch.nn.Sequential(torch.nn.Linear(64, 64))
    monkeypatch.setattr(packed, "works", lambda: False)
    assert type(packed.pack(model, torch.device("cpu"))[0]) is torch.nn.Linear
    monkeypatch.undo()
    packed.works.cache_clear()

    def missing(*_):
        raise RuntimeError("no such operator")

    monkeypatch.setattr(packed, "PackedLinear", missing)
    assert not packed.works()
    packed.works.cache_clear()
