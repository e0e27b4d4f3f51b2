"""The demo scenes: one to three of ten everyday sounds at a time, rendered from ``data/`` by recorded recipes.

``data/demo_scenes.csv`` holds one row a scene: which clips, when each starts (seconds), how much
its level is changed (dB), and the seed these were drawn with. Scenes are rendered in memory when they
are embedded or listened to; ``python -m backend.collections.demo_scenes`` draws the recipes again.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from backend.audio import HOP_SECONDS, Clip
from backend.checks import DEFAULT_SEED
from backend.collections.csv_table import read_table
from backend.collections.demo import SAMPLE_RATE, Layer, demo_clip, demo_clips
from backend.collections.store import embed_keyed, embedding_store
from backend.composition.combinations import LabelledEmbeddings
from backend.encoders.base import Encoder
from backend.errors import InputError
from backend.files import DATA
from backend.progress import Progress
from backend.settings import settings

DEMO_SCENES = "demo-scenes"
"""Name of this set. ``demo`` is the collection of recordings and scenes that lie in ``data/`` as files."""
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
    rows = (row.cells for row in read_table(RECIPES).rows())
    return tuple(
        SceneRecipe(row["id"], tuple(row["labels"].split(";")), int(row["seed"]), _parse_layers(row["layers"]))
        for row in rows
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


def embedded_scenes(encoder: Encoder, progress: Progress | None = None) -> LabelledEmbeddings:
    """Every scene embedded as a whole; computed on first use, then read from the cache folder.

    Parameters
    ----------
    encoder : Encoder
    progress : Progress, optional
        Told "Embedding scene 17 of 600"; when it is cancelled, the scenes embedded so far are kept.
    """
    scenes = {scene.id: scene for scene in recipes()}
    folder = settings().cache_dir / "compose"
    store = embedding_store(encoder, DEMO_SCENES, [_made_of()], None, HOP_SECONDS, folder)
    arrays, _ = embed_keyed(
        store, encoder, list(scenes), lambda name: render(scenes[name]), None, progress=progress, noun="scene"
    )
    return LabelledEmbeddings(tuple(scenes), arrays.clips, tuple(frozenset(one.labels) for one in scenes.values()))


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


def _made_of() -> str:
    """Digest of what the scenes are made of: the recipes and the recordings."""
    digest = hashlib.sha256(RECIPES.read_bytes())
    for clip in sorted({layer.clip for scene in recipes() for layer in scene.layers}):
        digest.update(demo_clip(clip).path.read_bytes())
    return digest.hexdigest()


def main() -> None:
    """Draw the recipes anew and write them."""
    import pandas

    rows = [
        (
            scene.id,
            ";".join(scene.labels),
            scene.seed,
            " ".join(f"{layer.clip}@{layer.onset:g}@{layer.gain_db:g}" for layer in scene.layers),
        )
        for scene in draw_recipes()
    ]
    pandas.DataFrame(rows, columns=["id", "labels", "seed", "layers"]).to_csv(RECIPES, index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
