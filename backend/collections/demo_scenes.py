"""The demo set: scenes of one to three of ten everyday sounds, rendered from ``data/`` by recorded recipes.

``data/demo_scenes.csv`` holds one row a scene: which clips, when each starts (seconds), how much
its level is changed (dB), and the seed these were drawn with. Scenes are rendered in memory when they
are embedded or listened to; ``python -m backend.collections.demo_scenes`` draws the recipes again.
"""

from __future__ import annotations

import csv
import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backend.audio import Clip, resampled
from backend.checks import DEFAULT_SEED
from backend.collections.demo import SAMPLE_RATE, Layer, demo_clip, demo_clips
from backend.composition.baselines import Progress
from backend.composition.combinations import LabelledEmbeddings
from backend.encoders.base import Encoder
from backend.errors import InputError
from backend.files import DATA, OWNER_ONLY, atomic_write
from backend.settings import settings

RECIPES = DATA / "demo_scenes.csv"
SOURCES = (
    "baby crying",
    "birds singing",
    "car engine",
    "church bells",
    "dog barking",
    "footsteps",
    "laughter",
    "rain",
    "siren",
    "thunder",
)
"""Sounds of which ``data/`` holds at least two recordings each."""
SCENE_SECONDS = 5.0
SCENES_PER_COMBINATION = 5
TRIPLES = 65
"""Combinations of three, drawn from the 120 there are; all ten sounds alone and all 45 pairs are in."""
GAIN_DB = (-9.0, -1.0)
FADE_SECONDS = 0.02
"""Fade of a recording that is cut off by the scene's end."""
BATCH = 8


@dataclass(frozen=True)
class SceneRecipe:
    """One scene: its id, its sounds, the seed its layers were drawn with, and the layers."""

    id: str
    labels: tuple[str, ...]
    seed: int
    layers: tuple[Layer, ...]


@lru_cache(maxsize=1)
def recipes() -> tuple[SceneRecipe, ...]:
    """The recorded recipes, in the order of the file."""
    with open(RECIPES, encoding="utf-8", newline="") as stream:
        return tuple(
            SceneRecipe(row["id"], tuple(row["labels"].split(";")), int(row["seed"]), _parse_layers(row["layers"]))
            for row in csv.DictReader(stream)
        )


def recipe(scene: str) -> SceneRecipe:
    """The recipe of one scene. Raises InputError when there is none."""
    for found in recipes():
        if found.id == scene:
            return found
    raise InputError(f"There is no demo scene {scene!r}; scenes are {recipes()[0].id} to {recipes()[-1].id}.")


def render(scene: SceneRecipe) -> Clip:
    """A scene as a Clip: 5 s, 32 kHz, one channel, on the 16-bit grid; what is embedded is what is heard."""
    mix = np.zeros(round(SCENE_SECONDS * SAMPLE_RATE))
    for layer in scene.layers:
        start = round(layer.onset * SAMPLE_RATE)
        samples = _recording(layer.clip)[: len(mix) - start] * 10 ** (layer.gain_db / 20)
        if len(samples) < len(_recording(layer.clip)):
            fade = round(FADE_SECONDS * SAMPLE_RATE)
            samples[-fade:] *= np.linspace(1.0, 0.0, fade)
        mix[start : start + len(samples)] += samples
    whole = np.clip(np.round(mix * 32768), -32768, 32767)
    mono = np.ascontiguousarray((whole / 32768).astype(np.float32))
    digest = hashlib.sha256(mono.tobytes() + f"{SAMPLE_RATE}/1".encode()).hexdigest()[:16]
    return Clip(f"{scene.id}.wav", mono[:, None], SAMPLE_RATE, mono, digest)


def embedded_demo(encoder: Encoder, progress: Progress | None = None) -> LabelledEmbeddings:
    """Every scene embedded as one window of 5 s; computed on first use, then read from the cache folder.

    Parameters
    ----------
    encoder : Encoder
    progress : callable, optional
        Told "Embedding scene 17 of 600" and the share done; raising in it stops the work.
    """
    scenes = recipes()
    path = settings().cache_dir / "compose" / f"{_cache_key(encoder)}.npy"
    embeddings = _stored(path, (len(scenes), encoder.dim))
    if embeddings is None:
        embeddings = np.empty((len(scenes), encoder.dim), dtype=np.float32)
        for start in range(0, len(scenes), BATCH):
            batch = [resampled(render(scene), encoder.sample_rate) for scene in scenes[start : start + BATCH]]
            embeddings[start : start + len(batch)] = encoder.embed_audio(np.stack(batch))
            done = start + len(batch)
            if progress is not None:
                progress(f"Embedding scene {done} of {len(scenes)}", done / len(scenes))
        _store(path, embeddings)
    labels = tuple(frozenset(scene.labels) for scene in scenes)
    return LabelledEmbeddings(tuple(scene.id for scene in scenes), embeddings, labels)


def draw_recipes(seed: int = DEFAULT_SEED) -> list[SceneRecipe]:
    """Recipes from one seed: levels, onsets and recordings differ between the scenes of a combination.

    A scene whose sum would clip is lowered as a whole, in the recorded gains.
    """
    random = np.random.default_rng(seed)
    triples = list(itertools.combinations(SOURCES, 3))
    chosen = sorted(random.permutation(len(triples))[:TRIPLES])
    combinations = [
        *itertools.combinations(SOURCES, 1),
        *itertools.combinations(SOURCES, 2),
        *(triples[index] for index in chosen),
    ]
    drawn: list[SceneRecipe] = []
    for labels in combinations:
        for _ in range(SCENES_PER_COMBINATION):
            scene_seed = int(random.integers(2**31))
            drawn.append(_draw_scene(f"scene-{len(drawn) + 1:03d}", labels, scene_seed))
    return drawn


def _draw_scene(name: str, labels: Sequence[str], seed: int) -> SceneRecipe:
    random = np.random.default_rng(seed)
    layers = []
    for label in labels:
        takes = [clip.id for clip in demo_clips() if clip.labels == (label,)]
        clip = takes[int(random.integers(len(takes)))]
        room = max(0.0, SCENE_SECONDS - len(_recording(clip)) / SAMPLE_RATE)
        layers.append(Layer(clip, round(float(random.uniform(0, room)), 3), round(float(random.uniform(*GAIN_DB)), 1)))
    scene = SceneRecipe(name, tuple(labels), seed, tuple(layers))
    while render(scene).peak > 0.98:
        lowered = tuple(Layer(layer.clip, layer.onset, round(layer.gain_db - 1.0, 1)) for layer in scene.layers)
        scene = SceneRecipe(name, tuple(labels), seed, lowered)
    return scene


@lru_cache(maxsize=64)
def _recording(clip: str) -> NDArray[np.float64]:
    import soundfile

    samples, rate = soundfile.read(demo_clip(clip).path, dtype="float64")
    if rate != SAMPLE_RATE or samples.ndim != 1:
        raise InputError(f"The demo clip {clip} is not {SAMPLE_RATE} Hz mono; restore data/.", concerns="file")
    return np.asarray(samples)


def _parse_layers(text: str) -> tuple[Layer, ...]:
    parts = (layer.split("@") for layer in text.split(" "))
    return tuple(Layer(clip, float(onset), float(gain)) for clip, onset, gain in parts)


def _cache_key(encoder: Encoder) -> str:
    """What the embeddings depend on: the encoder, its weights, the recipes and the recordings."""
    digest = hashlib.sha256(f"{encoder.id}|{encoder.weights}|{encoder.dim}|".encode())
    digest.update(RECIPES.read_bytes())
    for clip in sorted({layer.clip for scene in recipes() for layer in scene.layers}):
        digest.update(demo_clip(clip).path.read_bytes())
    return digest.hexdigest()[:32]


def _stored(path: Path, shape: tuple[int, int]) -> NDArray[np.float32] | None:
    try:
        found = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        # Missing or half-written: worth nothing, so the scenes are embedded again.
        return None
    return found if found.shape == shape and found.dtype == np.float32 and np.isfinite(found).all() else None


def _store(path: Path, embeddings: NDArray[np.float32]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path, mode=OWNER_ONLY) as part, part.open("wb") as stream:
            np.save(stream, embeddings)
    except OSError:
        # A full or read-only disk costs speed, never a result.
        return


def main() -> None:
    """Draw the recipes anew and write them."""
    RECIPES.parent.mkdir(parents=True, exist_ok=True)
    with open(RECIPES, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["id", "labels", "seed", "layers"])
        for scene in draw_recipes():
            layers = " ".join(f"{layer.clip}@{layer.onset:g}@{layer.gain_db:g}" for layer in scene.layers)
            writer.writerow([scene.id, ";".join(scene.labels), scene.seed, layers])


if __name__ == "__main__":
    main()
