"""``python -m backend pocket train``: the loop, its checkpoints and its development scores."""

from __future__ import annotations

import argparse
import copy
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import DataLoader

from backend.errors import InputError
from backend.files import atomic_write
from backend.training.pocket.data_store import ClipSet
from backend.training.pocket.teacher import class_names
from backend.training.pocket.train_batches import BatchStream
from backend.training.pocket.train_development import read_development
from backend.training.pocket.train_losses import WEIGHTS, ClassTexts, FeatureScale, losses
from backend.training.pocket.train_model import Average, Trained, start_from
from backend.training.pocket.train_pool import GENERAL_CLASSES, UNHEARD_CLASSES, TrainingPool
from backend.training.pocket.train_texts import TextTable

SETS = (
    "real", "packages", "real_copies", "package_copies", "instruments", "mixtures", "more_packages", "more_mixtures",
    "scarce_real", "scarce_packages", "scarce_more", "scarce_mixtures",
)  # fmt: skip
WARM_UP = 150
LAST_RATE = 0.01
"""Learning rate at the end, relative to the greatest."""
GENERAL_WEIGHT = 0.4
"""How much a general class (Animal, Vehicle) counts beside an exact one when a sound is named."""
CLIP_NORM = 2.0
LOG_EVERY = 50


@dataclass(frozen=True)
class Run:
    """Settings of one leg of training."""

    work: Path
    """Folder with ``sets/``, ``heldout/`` and ``held.json``, as ``pocket data`` leaves it."""
    classes: Path
    minutes: float
    size: int
    rate: float
    seed: int
    decay: float = 0.998
    evaluate_minutes: float = 7.0
    warm_up: int = WARM_UP
    done: float = 0.0
    """Share of the learning-rate schedule that earlier legs have used."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``pocket train``."""
    parser.add_argument("--work", type=Path, required=True, help="folder that 'pocket data' wrote")
    parser.add_argument("--teacher", type=Path, required=True, help="folder with yamnet_class_map.csv")
    parser.add_argument("--minutes", type=float, default=85.0, help="wall-clock length (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=64, help="sounds in a batch (default: %(default)s)")
    parser.add_argument("--rate", type=float, default=2e-3, help="greatest learning rate (default: %(default)s)")
    parser.add_argument("--decay", type=float, default=0.998, help="of the moving average (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=Path, help="checkpoint to start from; widened where it is narrower")
    parser.add_argument("--resume", action="store_true", help="go on from WORK/live.pt, optimiser included")
    parser.add_argument("--done", type=float, default=0.0, help="share of the schedule used by earlier legs, 0..1")


def main(arguments: argparse.Namespace) -> None:
    """Train; writes WORK/last.pt, WORK/best.pt (by the development sounds) and WORK/train.log.

    Raises
    ------
    InputError
        The working folder lacks the sets that ``pocket data`` writes.
    """
    torch.set_num_threads(1)
    run = Run(
        arguments.work, arguments.teacher / "yamnet_class_map.csv", arguments.minutes, arguments.batch,
        arguments.rate, arguments.seed, arguments.decay, done=arguments.done,
    )  # fmt: skip
    embed = sentence_embedder()
    trainer = Trainer(run, embed)
    if arguments.resume:
        trainer.resume()
    elif arguments.start is not None:
        start_from(trainer.model, arguments.start)
        trainer.average = Average(copy.deepcopy(trainer.model), run.decay)
    trainer.train()


def sentence_embedder() -> Callable[[Sequence[str]], NDArray[np.float32]]:
    """The frozen sentence encoder exactly as it ships."""
    from backend.encoders.families.pocket import FOLDER
    from backend.encoders.families.pocket.text import load_sentence_encoder

    encoder = load_sentence_encoder(FOLDER)

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        with torch.inference_mode():
            return encoder(list(texts)).numpy()

    return embed


class Trainer:
    """One run: its pool, texts, model, optimiser and moving average."""

    def __init__(self, run: Run, embed: Callable[[Sequence[str]], NDArray[np.float32]]) -> None:
        """Reads the sets; raises InputError where they are missing."""
        torch.manual_seed(run.seed)
        self.run = run
        # A set that the teacher has not heard to the end is left for a later leg.
        folders = [run.work / "sets" / name for name in SETS]
        sets = [ClipSet(folder) for folder in folders if (folder / "patches.npy").is_file()]
        if not sets:
            raise InputError(f"{run.work} holds no training sets. Run first: python -m backend pocket data")
        held = frozenset(json.loads((run.work / "held.json").read_text(encoding="utf-8")))
        self.pool = TrainingPool(sets, class_names(run.classes), held)
        self.texts = TextTable(self.pool, run.seed)
        self.texts.embed(embed, run.work / "texts.npz")
        self.sentences = torch.from_numpy(self.texts.embeddings)
        self.classes = class_texts(self.pool.classes)
        self.scale = feature_scale(self.pool)
        self.model = Trained()
        self.average = Average(copy.deepcopy(self.model), run.decay)
        self.optimiser = optimiser_of(self.model, run.rate)
        self.development = read_development(run.work / "heldout", embed)
        self.step = 0
        self.best = -math.inf
        self.log = run.work / "train.log"
        self._say(f"{len(self.pool.clips)} clips; {self.texts.summary()}")

    def train(self) -> None:
        """Train for ``run.minutes`` with a cosine of the learning rate over the clock."""
        stream = BatchStream(self.pool, self.texts, self.run.size, self.run.seed + self.step)
        batches = iter(DataLoader(stream, batch_size=None, num_workers=1, prefetch_factor=8))
        shown: dict[str, float] = {}
        begun = evaluated = time.monotonic()
        self.evaluate(self.run.done)
        self.model.train()
        while (part := (time.monotonic() - begun) / 60 / self.run.minutes) < 1:
            done = self.run.done + (1 - self.run.done) * part
            found = self.step_on(next(batches), done)
            shown = {name: 0.97 * shown.get(name, value) + 0.03 * value for name, value in found.items()}
            if self.step % LOG_EVERY == 0:
                numbers = " ".join(f"{name} {value:.3f}" for name, value in shown.items())
                self._say(f"step {self.step} {60 * part * self.run.minutes:.0f} s {numbers}")
            if time.monotonic() - evaluated > 60 * self.run.evaluate_minutes:
                self.evaluate(done)
                evaluated = time.monotonic()
        self.evaluate(1.0)

    def step_on(self, batch: object, done: float) -> dict[str, float]:
        """One step of the optimiser; returns the losses."""
        warm = min(1.0, (self.step + 1) / self.run.warm_up)
        rate = self.run.rate * warm * (LAST_RATE + (1 - LAST_RATE) * 0.5 * (1 + math.cos(math.pi * done)))
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        parts = losses(self.model, batch, self.sentences, self.classes, self.scale)  # type: ignore[arg-type]
        total = sum(WEIGHTS[name] * value for name, value in parts.items())
        self.optimiser.zero_grad(set_to_none=True)
        total.backward()  # type: ignore[union-attr]
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), CLIP_NORM)
        self.optimiser.step()
        self.step += 1
        self.average.update(self.model)
        return {name: float(value.detach()) for name, value in parts.items()}

    def evaluate(self, done: float) -> dict[str, float]:
        """Score the moving average on the development sounds and save it; the best one also as best.pt."""
        scores = self.development.scores(self.average.module)
        scores["mean"] = (scores["top1"] + scores["top5"] + scores["other_words"] + scores["their_names"]) / 4
        rounded = {name: round(value, 4) for name, value in scores.items()}
        self._say(f"development step {self.step} ({done:.0%}) {json.dumps(rounded)}")
        self._save("last.pt", scores)
        if scores["mean"] > self.best:
            self.best = scores["mean"]
            self._save("best.pt", scores)
        live = {"model": self.model.state_dict(), "average": self.average.module.state_dict(), "step": self.step,
                "optimiser": self.optimiser.state_dict(), "best": self.best}  # fmt: skip
        _write(live, self.run.work / "live.pt")
        return scores

    def resume(self) -> None:
        """Go on from ``live.pt``, perhaps with other sets."""
        live = torch.load(self.run.work / "live.pt", map_location="cpu", weights_only=True)
        self.model.load_state_dict(live["model"])
        self.average = Average(copy.deepcopy(self.model), self.run.decay, live["step"])
        self.average.module.load_state_dict(live["average"])
        self.optimiser.load_state_dict(live["optimiser"])
        self.step, self.best = live["step"], live["best"]

    def _save(self, name: str, scores: dict[str, float]) -> None:
        module = self.average.module
        scales = {key: getattr(module, key).detach() for key in ("contrast_scale", "presence_scale", "presence_offset")}
        stored = {"net": module.centred_tower().state_dict(), "heads": module.head.state_dict(), "sc": scales,
                  "regressor": module.regressor.state_dict(), "step": self.step, "development": scores}  # fmt: skip
        _write(stored, self.run.work / name)

    def _say(self, line: str) -> None:
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"{time.strftime('%H:%M:%S')} {line}\n")


def optimiser_of(model: Trained, rate: float) -> torch.optim.AdamW:
    """AdamW; only matrices and filters decay."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": 0.03},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.98), fused=True)


def class_texts(classes: Sequence[str]) -> ClassTexts:
    """All classes but those of the place; general ones count less."""
    kept = [index for index, name in enumerate(classes) if name not in UNHEARD_CLASSES]
    shares = [GENERAL_WEIGHT if classes[index] in GENERAL_CLASSES else 1.0 for index in kept]
    return ClassTexts(torch.tensor(kept), torch.tensor(shares))


def feature_scale(pool: TrainingPool) -> FeatureScale:
    """Mean and spread of the teacher's features over at most 20,000 patches of each set."""
    sample = np.concatenate([features[:: max(1, len(features) // 20_000)] for features in pool.features])
    values = torch.from_numpy(sample.astype(np.float32))
    return FeatureScale(values.mean(0), values.std(0) + 0.05)


def _write(stored: dict[str, object], path: Path) -> None:
    """Write whole or not at all: training may be stopped at any moment."""
    with atomic_write(path) as part:
        torch.save(stored, part)
