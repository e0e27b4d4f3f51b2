"""The training code on made-up sounds: who is drawn, what a batch holds, what each loss wants, three steps."""

from __future__ import annotations

import argparse
import json

import numpy as np
import pytest
import torch

from backend.encoders.families.pocket.checkpoint import renamed
from backend.encoders.families.pocket.encoder import PocketEncoder
from backend.encoders.families.pocket.melspectrogram import log_mel
from backend.encoders.families.pocket.network import AudioTower, TowerShape
from backend.encoders.families.pocket.text import TextHead
from backend.training.pocket import train, train_batches, train_texts
from backend.training.pocket.captions import caption_bank
from backend.training.pocket.data_store import CLASSES
from backend.training.pocket.train_batches import (
    FLOOR,
    LENGTHS,
    MARGIN,
    BatchStream,
    add_strangers,
    patches_within,
    shifted,
)
from backend.training.pocket.train_families import FAMILIES
from backend.training.pocket.train_losses import caption_loss, finding_loss, naming_loss, same_meaning
from backend.training.pocket.train_model import SHAPE, Trained, start_from, widened
from backend.training.pocket.train_pool import EVERYDAY_FACTOR, TrainingPool, balanced, strongest
from backend.training.pocket.train_texts import TextTable
from tests.backend.training.pocket.pocket_sets import class_list, pretend_taught, write_real

SMALL = TowerShape(channels=(4, 8, 8, 8, 16), repeats=(1, 0, 1, 0), hidden=32, expansion=2)


def made_up_sentences(texts):
    """A stand-in for the sentence encoder: (n, 384) unit vectors."""
    rows = np.random.default_rng(len(texts)).standard_normal((len(texts), 384)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    folder = tmp_path_factory.mktemp("work")
    names = class_list(folder)
    real = write_real(folder / "sets" / "real", {"dog_bark": 6, "rain": 6, "wind": 5, "velcro": 3})
    pretend_taught(real, names)
    from backend.training.pocket.data_split import held_groups, write_development

    held = held_groups(real.rows)
    (folder / "held.json").write_text(json.dumps(sorted(held)), encoding="utf-8")
    write_development([real], held, folder / "heldout")
    return folder, real, names, held


@pytest.fixture(autouse=True)
def few_pairs(monkeypatch):
    monkeypatch.setattr(train_texts, "PAIRS", 40)


@pytest.fixture(scope="module")
def pool(work):
    _, real, names, held = work
    return TrainingPool([real], names, held)


def test_the_pool_leaves_out_what_is_held(work, pool):
    _, real, _, held = work
    assert len(pool.clips) == sum(row.group not in held for row in real.rows)


def test_weights_balance_classes_and_favour_everyday_sounds():
    weights = balanced(np.ones(40), ["Velcro"] * 10 + ["Slinky"] * 10 + ["Bark"] * 20)
    assert weights.sum() == pytest.approx(1)
    small, large = weights[:10].sum(), weights[20:].sum()
    assert weights[0] == pytest.approx(weights[10])
    assert small < large < 2 * EVERYDAY_FACTOR * small
    assert balanced(np.ones(60), ["Velcro"] * 50 + ["Slinky"] * 10)[0] < weights[0]


def test_strongest_prefers_exact_classes(work):
    names = work[2]
    scores = np.zeros(CLASSES, np.float32)
    for name, score in (("Animal", 0.9), ("Bark", 0.6), ("Silence", 0.9), ("Rain", 0.01)):
        scores[names.index(name)] = score
    heard, shares = strongest(scores, names)
    assert [names[index] for index in heard] == ["Bark"]
    assert sum(shares) == pytest.approx(1)


def test_batches_hold_what_they_promise(pool):
    texts = TextTable(pool, seed=0)
    stream = BatchStream(pool, texts, 16, seed=0)
    batch = stream.batch(np.random.default_rng(0))
    again = stream.batch(np.random.default_rng(0))
    assert torch.equal(batch.mels, again.mels) and torch.equal(batch.captions, again.captions)
    assert batch.mels.shape[0] == 16 and batch.mels.shape[2] == 64 and batch.margin in (0, MARGIN)
    assert batch.mels.shape[1] - 2 * batch.margin in LENGTHS
    assert torch.isfinite(batch.mels).all() and batch.mels.min() > -25
    assert (batch.targets >= 0).all() and (batch.targets <= 1).all()
    assert int(batch.captions.max()) < len(texts.texts) and batch.class_texts.shape == (2, CLASSES)


@pytest.fixture
def plain_sounds(monkeypatch):
    """Crops as they were recorded: no equaliser, nothing moved along the frequencies."""
    monkeypatch.setattr(train_batches, "SHIFT_SHARE", 0.0)
    monkeypatch.setattr(train_batches, "equaliser", lambda rng: np.zeros(64, np.float32))


def test_a_margin_holds_what_came_before_and_after(pool, plain_sounds):
    stream = BatchStream(pool, TextTable(pool, seed=0), 4, seed=0)
    clip = pool.clips[0]
    recorded = np.asarray(pool.mels[clip.owner][clip.first_frame : clip.first_frame + clip.frames], np.float32)
    whole = np.concatenate([np.full((MARGIN, 64), FLOOR), recorded, np.full((MARGIN, 64), FLOOR)])
    rng = np.random.default_rng(0)
    starts = set()
    for _ in range(20):
        mel = stream._crop(clip, 40, MARGIN, rng).mel
        assert mel.shape == (40 + 2 * MARGIN, 64)
        found = [at for at in range(clip.frames - 39) if np.allclose(whole[at : at + len(mel)], mel, atol=1e-6)]
        assert len(found) == 1
        starts.update(found)
    assert len(starts) > 5


def test_a_short_clip_has_silence_around_it(pool, plain_sounds):
    stream = BatchStream(pool, TextTable(pool, seed=0), 4, seed=0)
    clip = pool.clips[0]
    mel = stream._crop(clip, clip.frames + 100, MARGIN, np.random.default_rng(0)).mel
    assert len(mel) == clip.frames + 100 + 2 * MARGIN
    assert (mel[:MARGIN] == np.float32(FLOOR)).all() and (mel[-MARGIN:] == np.float32(FLOOR)).all()
    assert (mel > FLOOR + 0.01).any(axis=1).sum() <= clip.frames


def test_a_window_is_heard_as_at_run_time():
    """A crop with its margin, embedded by the training, is what the encoder makes of that window of the signal."""
    assert MARGIN % 8 == 0 and SHAPE.reach <= MARGIN
    torch.manual_seed(0)
    model = Trained(SMALL).eval()
    with torch.no_grad():
        # Untrained filters let so little through that no border would be noticed.
        for filters in (p for p in model.tower.features.parameters() if p.ndim == 4):
            filters *= 3
    signal = (0.1 * np.random.default_rng(0).standard_normal(6 * 16000)).astype(np.float32)
    sentences = TextHead(SMALL.dim)
    encoder = PocketEncoder(model.centred_tower().fused(), sentences, sentences, "none")  # type: ignore[arg-type]
    mel = log_mel(torch.from_numpy(signal)[None])
    at, frames = 200, 200
    with torch.no_grad():
        crop = model.hear(mel[:, at - MARGIN : at + frames + MARGIN], MARGIN)[0].numpy()
        alone = model.hear(mel[:, at : at + frames])[0].numpy()
    spans = encoder.embed_spans(signal, np.array([2.0]), 2.0)
    assert np.abs(crop - spans).max() < 1e-5
    assert np.abs(alone - spans).max() > 1e-4, "without its margin a crop is another window: one that was cut out"


def test_strangers_stay_outside_the_crop():
    mels = np.random.default_rng(0).normal(-6, 2, (8, 60 + 2 * MARGIN, 64)).astype(np.float32)
    before = mels.copy()
    add_strangers(mels, MARGIN, np.random.default_rng(1))
    assert np.array_equal(mels[:, MARGIN:-MARGIN], before[:, MARGIN:-MARGIN])
    louder = (mels[:, :MARGIN] > before[:, :MARGIN]).all(axis=(1, 2))
    assert 0 < louder.sum() < 8 and np.array_equal(mels[~louder, :MARGIN], before[~louder, :MARGIN])


def test_shifting_moves_bands():
    mel = np.random.default_rng(0).standard_normal((5, 64)).astype(np.float32)
    assert np.array_equal(shifted(mel, 0.0), mel)
    assert np.allclose(shifted(mel, 1.0)[:, 1:], mel[:, :-1])
    assert np.allclose(shifted(mel, -0.5)[:, :-1], (mel[:, 1:] + mel[:, :-1]) / 2)


def test_twins_share_their_first_sound(pool):
    texts = TextTable(pool, seed=0)
    stream = BatchStream(pool, texts, 4, seed=0)
    rng = np.random.default_rng(0)
    overlaid = {pair.row for pair in texts.pairs if not pair.in_turn}
    seen = 0
    for _ in range(20):
        one, other = stream._twins(50, MARGIN, rng)
        assert one.mel.shape == other.mel.shape == (50 + 2 * MARGIN, 64)
        if one.caption in overlaid:
            seen += 1
            assert one.concepts[0] == other.concepts[0]
    assert seen


def test_families_name_known_classes():
    known = caption_bank().phrases
    for name, classes in FAMILIES.items():
        assert set(classes) <= set(known), name
        assert len(classes) == len(set(classes)) >= 8


def test_class_texts_belong_to_their_class(pool):
    texts = TextTable(pool, seed=0)
    rows = texts.class_rows(np.random.default_rng(0))
    for number, name in enumerate(pool.classes):
        assert set(rows[:, number]) <= set(texts.bare[name]) | set(texts.framed[name])


@pytest.mark.parametrize(
    ("count", "start", "length", "expected"), [(4, 0, 400, [0, 1, 2, 3]), (4, 0, 200, [0, 1]), (1, 0, 50, [0])]
)
def test_patches_of_a_crop(count, start, length, expected):
    assert list(patches_within(count, start, length)) == expected


def test_losses_want_the_right_answer():
    own = 10 * torch.eye(4)
    nobody = torch.zeros(4, 4, dtype=torch.bool)
    assert caption_loss(own, nobody) < caption_loss(torch.zeros(4, 4), nobody) < caption_loss(-own, nobody)
    heard = torch.eye(4)
    assert naming_loss(own, heard) < naming_loss(own.roll(1, 0), heard)
    assert finding_loss(own, heard) < finding_loss(own.roll(1, 0), heard)
    assert finding_loss(own, 0.1 * heard) == 0, "a text that no sound answers asks for nothing"


def test_a_hub_costs_only_in_the_finding_direction():
    """A text near to every sound is what the other direction is there for."""
    heard = torch.eye(3)
    hub = torch.tensor([[5.0, 4.0, 0.0], [0.0, 4.0, 0.0], [0.0, 4.0, 5.0]])
    fair = torch.tensor([[5.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 5.0]])
    assert finding_loss(hub, heard) > finding_loss(fair, heard) + 0.3


def test_shared_concepts_are_not_held_against_each_other():
    batch = argparse.Namespace(concepts=torch.tensor([[1, -1], [2, 1], [3, -1], [-1, -1], [-1, -1]]))
    excused = same_meaning(torch.eye(5), batch)
    assert excused.nonzero().tolist() == [[0, 1], [1, 0]]


def test_two_pairs_with_one_sound_in_common_differ():
    """A dog in the rain is not a dog in the wind, however alike the sentences are; the same pair again is excused."""
    batch = argparse.Namespace(concepts=torch.tensor([[1, 2], [1, 3], [2, 1]]))
    alike = torch.tensor([[1.0, 0.7, 0.0], [0.7, 1.0, 0.0], [0.0, 0.0, 1.0]])
    sentences = torch.linalg.cholesky(alike)
    assert same_meaning(sentences, batch).nonzero().tolist() == [[0, 2], [2, 0]]
    single = argparse.Namespace(concepts=torch.tensor([[1, -1], [3, -1], [2, -1]]))
    assert same_meaning(sentences, single).nonzero().tolist() == [[0, 1], [1, 0]]


def test_widening_changes_nothing():
    torch.manual_seed(0)
    narrow = AudioTower(SMALL, 7).eval()
    with torch.no_grad():
        for module in narrow.modules():
            if isinstance(module, torch.nn.BatchNorm1d | torch.nn.BatchNorm2d):
                module.running_mean.normal_(0, 0.1)
                module.running_var.uniform_(0.5, 2)
    wide = AudioTower(TowerShape(SMALL.channels, SMALL.repeats, 48, 4), 7).eval()
    wide.load_state_dict(widened(narrow.state_dict(), wide.state_dict()))
    mels = torch.randn(2, 120, 64)
    with torch.no_grad():
        assert torch.allclose(narrow(mels), wide(mels), atol=1e-5)
        assert torch.allclose(narrow.auxiliary(narrow.pooled(mels)), wide.auxiliary(wide.pooled(mels)), atol=1e-4)


def test_old_names_are_understood():
    old = ("f.2.b.0.0.weight", "out.bias", "minilm.l.bias")
    assert list(renamed({name: torch.zeros(1) for name in old})) == [
        "features.2.layers.0.0.weight",
        "embedding.bias",
        "linear.bias",
    ]


def test_the_centre_is_folded_into_the_bias():
    torch.manual_seed(0)
    model = Trained(SMALL).eval()
    model.centre.normal_()
    mels = torch.randn(2, 100, 64)
    with torch.no_grad():
        assert torch.allclose(model.hear(mels)[0], model.centred_tower().eval()(mels), atol=1e-5)


def test_three_steps_learn_and_leave_a_checkpoint(work, monkeypatch):
    folder = work[0]
    monkeypatch.setattr(train, "Trained", lambda: Trained(SMALL))
    run = train.Run(folder, folder / "yamnet_class_map.csv", 1.0, 16, 5e-3, 0, warm_up=1)
    trainer = train.Trainer(run, made_up_sentences)
    batch = BatchStream(trainer.pool, trainer.texts, 16, 0).batch(np.random.default_rng(0))
    trainer.model.train()
    totals = [sum(train.WEIGHTS[name] * value for name, value in trainer.step_on(batch, 0.0).items()) for _ in range(4)]
    assert totals[-1] < totals[0]
    scores = trainer.evaluate(1.0)
    assert 0 <= scores["top1"] <= scores["top5"] <= 1
    stored = torch.load(folder / "best.pt", weights_only=True)
    assert stored["step"] == 4
    other = Trained(SMALL)
    start_from(other, folder / "best.pt")
    assert torch.equal(other.tower.embedding.bias, stored["net"]["embedding.bias"])
    trainer.resume()
    assert trainer.step == 4
    assert "development step 4" in (folder / "train.log").read_text(encoding="utf-8")


def test_the_shipped_shape_is_the_trained_one():
    assert SHAPE.repeats == TowerShape.repeats and SHAPE.dim == 384
