"""The development scores, by which every choice is made: held-out sounds, their names, other words for them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
import torch
from numpy.typing import NDArray

from backend.encoders.families.pocket.melspectrogram import log_mel
from backend.training.pocket.captions import caption_bank
from backend.training.pocket.train_model import Trained

OTHER_WORDS = {
    "Bark": ("a hound giving tongue", "a noisy pooch"),
    "Baby cry, infant cry": ("a bawling bairn", "a tiny child howls"),
    "Vehicle horn, car horn, honking": ("an impatient motorist hooting", "klaxon of an automobile"),
    "Thunder": ("the sky rumbles", "a bolt from above strikes"),
    "Moo": ("bovine lowing", "dairy cattle call out"),
    "Caw": ("a raven croaks", "corvids calling"),
    "Screaming": ("a terrified shriek", "somebody in horror"),
    "Explosion": ("something detonates", "dynamite goes off"),
    "Rain": ("a wet and stormy afternoon", "precipitation"),
    "Neigh, whinny": ("a stallion's call", "a mare in the paddock"),
    "Train": ("carriages on rails", "steel wheels on a track"),
    "Meow": ("a feline begging", "a tomcat's plea"),
    "Fire": ("blazing logs", "burning timber"),
    "Walk, footsteps": ("somebody strolls by", "boots on the ground"),
    "Seagull": ("coastal birds", "a shorebird's cry"),
    "Crowing, cock-a-doodle-doo": ("a cock announces daybreak", "a male chicken calls"),
    "Laughter": ("somebody amused", "a giggling person"),
    "Bleat": ("ewes and lambs", "a woolly farm animal"),
    "Snoring": ("a noisy sleeper", "someone asleep sawing logs"),
    "Wind": ("a howling gale", "blustery weather"),
    "Helicopter": ("a whirlybird passes", "spinning rotors aloft"),
    "Quack": ("a mallard on a pond", "a drake calls"),
    "Cluck": ("laying poultry", "a broody bird in a coop"),
    "Croak": ("a toad by the pond", "amphibians at dusk"),
    "Waves, surf": ("breakers at the seaside", "the tide rolling in"),
    "Cricket": ("night insects", "grasshopper song"),
    "Church bell": ("a steeple tolls", "cathedral carillon"),
    "Toilet flush": ("the loo", "a lavatory cistern empties"),
    "Engine": ("a motor turning over", "machinery of a vehicle"),
    "Drip": ("a leaky faucet", "droplets fall"),
    "Hoot": ("a nocturnal bird of prey", "a barn owl calls"),
    "Oink": ("swine in a sty", "a grunting hog"),
    "Glass break": ("a pane smashes", "shards hitting the floor"),
    "Tick": ("a timepiece", "the pendulum swings"),
    "Bird vocalization, bird call, bird song": ("warbling in the trees", "avian song"),
    "Siren": ("blue lights rushing by",),
    "Door": ("somebody enters", "an entrance being shut"),
    "Knock": ("rapping with knuckles", "a caller at the door"),
    "Applause": ("an ovation", "spectators show appreciation"),
    "Hand saw": ("a carpenter cuts a plank", "sawing timber"),
}
"""Wordings that are not in the caption bank."""
FRAMES = ("{}", "the sound of {}", "i can hear {}")
WINDOW, HOP = 400, 200
"""Mel frames: a clip is the mean of its four-second windows."""
Embed = Callable[[Sequence[str]], NDArray[np.float32]]


@dataclass(frozen=True)
class Development:
    """Held-out clips as mels, with their classes, and the frozen sentence embeddings of all prompts."""

    mels: tuple[NDArray[np.float32], ...]
    labels: NDArray[np.int64]
    classes: tuple[str, ...]
    prompts: torch.Tensor
    """(classes, frames, 384)."""
    words: torch.Tensor
    """(wordings, 384)."""
    word_classes: NDArray[np.int64]

    @torch.no_grad()
    def scores(self, model: Trained) -> dict[str, float]:
        """Class-balanced top-1 and top-5 over all classes by name; top-1 by other words; recall of the names at 5."""
        model.eval()
        audio = torch.stack([_embedded(model, mel) for mel in self.mels]).numpy()
        count, frames, width = self.prompts.shape
        heads = model.head(self.prompts.reshape(-1, width)).reshape(count, frames, -1).mean(1)
        names = torch.nn.functional.normalize(heads, dim=1).numpy()
        cosines = audio @ names.T
        rank = (cosines > cosines[np.arange(len(audio)), self.labels][:, None]).sum(1)
        other = self._by_other_words(audio, names, model.head(self.words).numpy())
        best = np.argsort(-cosines, axis=0)[:5]
        found = (self.labels[best] == np.arange(count)).any(0).mean()
        spread = np.bincount(cosines.argmax(1), minlength=count).max() / len(audio)
        return {
            "top1": _balanced(rank < 1, self.labels), "top5": _balanced(rank < 5, self.labels),
            "other_words": other[0], "their_names": other[1], "recall5": float(found), "greatest_hub": float(spread),
        }  # fmt: skip

    def _by_other_words(
        self, audio: NDArray[np.float32], names: NDArray[np.float32], words: NDArray[np.float32]
    ) -> tuple[float, float]:
        """Balanced top-1 among the classes that have other wordings: by a wording (mean of all), and by name."""
        kept = sorted(set(self.word_classes.tolist()))
        member = np.isin(self.labels, kept)
        labels = np.searchsorted(kept, self.labels[member])
        hits = []
        for turn in range(2):
            chosen = [[w for w, c in enumerate(self.word_classes) if c == k] for k in kept]
            texts = words[[options[min(turn, len(options) - 1)] for options in chosen]]
            hits.append(_balanced((audio[member] @ texts.T).argmax(1) == labels, labels))
        return float(np.mean(hits)), _balanced((audio[member] @ names[kept].T).argmax(1) == labels, labels)


def read_development(folder: Path, embed: Embed) -> Development:
    """Read ``manifest.csv`` and its clips as written by ``write_development``."""
    with (folder / "manifest.csv").open(newline="", encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    classes = tuple(sorted({row["class"] for row in rows}))
    bank = caption_bank().phrases
    mels = []
    for row in rows:
        signal, _ = soundfile.read(folder / row["file"], dtype="float32")
        mels.append(log_mel(torch.from_numpy(signal)[None])[0].numpy())
    prompts = embed([frame.format(bank[name][0]) for name in classes for frame in FRAMES])
    wordings = [(words, classes.index(name)) for name, both in OTHER_WORDS.items() if name in classes for words in both]
    return Development(
        mels=tuple(mels),
        labels=np.array([classes.index(row["class"]) for row in rows]),
        classes=classes,
        prompts=torch.from_numpy(prompts).reshape(len(classes), len(FRAMES), -1),
        words=torch.from_numpy(embed([words for words, _ in wordings])),
        word_classes=np.array([number for _, number in wordings]),
    )


def _embedded(model: Trained, mel: NDArray[np.float32]) -> torch.Tensor:
    if len(mel) < 100:
        mel = np.concatenate([mel, np.full((100 - len(mel), mel.shape[1]), -13.8, np.float32)])
    starts = list(range(0, max(1, len(mel) - WINDOW + 1), HOP))
    windows = torch.from_numpy(np.stack([mel[start : start + WINDOW] for start in starts]))
    return torch.nn.functional.normalize(model.hear(windows)[0].mean(0), dim=0)


def _balanced(hits: NDArray[np.bool_], labels: NDArray[np.int64]) -> float:
    """Mean over classes of the share of hits."""
    return float(np.mean([hits[labels == label].mean() for label in np.unique(labels)]))
