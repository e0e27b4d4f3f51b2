"""The demo collection in ``data/``: its clips, its composed scenes, and how the scenes are rendered.

``data/manifest.json`` holds one entry a clip. A scene's entry also holds its recipe, from which
``python -m backend.collections.demo`` renders the file again, sample for sample, and derives the event times.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.audio import Clip, Span, load_clip
from backend.errors import InputError
from backend.files import DATA

DEMO = "demo"
"""Name of this collection, wherever a collection is named."""
MANIFEST = DATA / "manifest.json"
SAMPLE_RATE = 32000
"""Rate of every demo file, in Hz."""
CROSSFADE_SECONDS = 1.0
"""Overlap of the pieces a background bed is made of."""
LICENCES = {
    "CC0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/",
    "CC-BY-3.0": "https://creativecommons.org/licenses/by/3.0/",
    "CC-BY-4.0": "https://creativecommons.org/licenses/by/4.0/",
    "Public domain": "",
    "ODbL-1.0 / DbCL-1.0": "https://opendatacommons.org/licenses/dbcl/1-0/",
}
"""Licences a demo clip may have, with their texts."""


@dataclass(frozen=True)
class Event:
    """One sound event: its label and when it sounds, in seconds from the clip's start."""

    label: str
    span: Span


@dataclass(frozen=True)
class Layer:
    """One clip laid into a scene: at ``onset`` seconds, its level changed by ``gain_db``."""

    clip: str
    onset: float
    gain_db: float


@dataclass(frozen=True)
class Recipe:
    """How a scene is made: a bed of one background clip, looped for the whole length, and layers on it.

    ``seed`` chooses where in the background clip the looped pieces start.
    """

    duration: float
    seed: int
    bed: str
    bed_gain_db: float
    layers: tuple[Layer, ...]


@dataclass(frozen=True)
class DemoClip:
    """One entry of the manifest.

    Attributes
    ----------
    id, caption : str
        Name in links and on the command line; one affirmative sentence fragment.
    path : Path
        The file: 32 kHz mono FLAC.
    labels : tuple of str
        What can be heard, in order of appearance.
    events : tuple of Event
        When each of it can be heard.
    source, author, licence : str
        Where the recording comes from; of a scene: the ids it is made of.
    recipe : Recipe or None
        Of a composed scene.
    """

    id: str
    path: Path
    caption: str
    labels: tuple[str, ...]
    events: tuple[Event, ...]
    source: str
    author: str
    licence: str
    recipe: Recipe | None = None

    @property
    def is_scene(self) -> bool:
        """Whether this is a composed scene rather than one recording."""
        return self.recipe is not None


def _parse_recipe(entry: dict[str, Any]) -> Recipe:
    layers = tuple(Layer(layer["clip"], layer["onset"], layer["gain_db"]) for layer in entry["layers"])
    return Recipe(entry["duration"], entry["seed"], entry["bed"], entry["bed_gain_db"], layers)


def _parse_clip(entry: dict[str, Any], folder: Path) -> DemoClip:
    events = tuple(Event(event["label"], Span(event["start"], event["end"])) for event in entry["events"])
    recipe = _parse_recipe(entry["recipe"]) if "recipe" in entry else None
    return DemoClip(
        id=entry["id"],
        path=folder / entry["file"],
        caption=entry["caption"],
        labels=tuple(entry["labels"]),
        events=events,
        source=entry["source"],
        author=entry["author"],
        licence=entry["licence"],
        recipe=recipe,
    )


def read_manifest(path: Path) -> tuple[DemoClip, ...]:
    """The clips of a manifest file, scenes first, in the order they are offered.

    Raises
    ------
    InputError
        The file is missing or is not such a manifest.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return tuple(_parse_clip(entry, path.parent) for entry in content["clips"])
    except FileNotFoundError:
        raise InputError(f"{path} is missing; the demo clips cannot be listed without it.", concerns="file") from None
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is not a manifest of demo clips: {error!r}.", concerns="file") from None


@lru_cache(maxsize=1)
def demo_clips() -> tuple[DemoClip, ...]:
    """Every demo clip, scenes first; the first one opens with the page."""
    return read_manifest(MANIFEST)


def demo_clip(clip_id: str) -> DemoClip:
    """The demo clip of this id.

    Raises
    ------
    InputError
        There is none; the message lists the scenes.
    """
    for clip in demo_clips():
        if clip.id == clip_id:
            return clip
    scenes = ", ".join(clip.id for clip in demo_clips() if clip.is_scene)
    raise InputError(f"There is no demo clip {clip_id!r}. Scenes to start with: {scenes}.")


def demo_or_file(name: str | Path) -> Clip:
    """The decoded demo clip of this id or, when there is none, the audio file of this path.

    Raises
    ------
    InputError
        Neither exists, or the file cannot be decoded.
    """
    for clip in demo_clips():
        if clip.id == str(name):
            return load_clip(clip.path)
    if Path(name).is_dir():
        raise InputError(f"{str(name)!r} is a folder; name one audio file in it, or a demo clip.", concerns="file")
    if not Path(name).is_file():
        scenes = ", ".join(clip.id for clip in demo_clips() if clip.is_scene)
        raise InputError(f"{str(name)!r} is neither a file nor a demo clip. Demo scenes: {scenes}.", concerns="file")
    return load_clip(name)


def _looped_bed(samples: NDArray[np.float64], length: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """``length`` samples of background: pieces of ``samples`` joined by equal-power crossfades."""
    fade = int(CROSSFADE_SECONDS * SAMPLE_RATE)
    rise = np.sin(np.linspace(0, np.pi / 2, fade, endpoint=False))
    bed = np.zeros(length + len(samples))
    at = 0
    while at < length:
        # A piece is at least half the recording, so that the loop is not heard as one.
        start = int(rng.integers(0, len(samples) // 2))
        piece = samples[start:].copy()
        if at > 0:
            piece[:fade] *= rise
        piece[-fade:] *= rise[::-1]
        bed[at : at + len(piece)] += piece
        at += len(piece) - fade
    return bed[:length]


def render_scene(recipe: Recipe, clips: dict[str, DemoClip]) -> NDArray[np.int16]:
    """The samples of a scene, (frames,) int16 at ``SAMPLE_RATE``: deterministic, no dither.

    Raises
    ------
    InputError
        A layer does not fit into the scene, or the sum clips.
    """
    import soundfile

    def samples_of(clip_id: str) -> NDArray[np.float64]:
        return np.asarray(soundfile.read(clips[clip_id].path, dtype="float64")[0])

    length = round(recipe.duration * SAMPLE_RATE)
    rng = np.random.default_rng(recipe.seed)
    mix = _looped_bed(samples_of(recipe.bed), length, rng) * 10 ** (recipe.bed_gain_db / 20)
    for layer in recipe.layers:
        samples = samples_of(layer.clip) * 10 ** (layer.gain_db / 20)
        start = round(layer.onset * SAMPLE_RATE)
        if start < 0 or start + len(samples) > length:
            raise InputError(f"{layer.clip} at {layer.onset} s does not fit into {recipe.duration} s.")
        mix[start : start + len(samples)] += samples
    if np.max(np.abs(mix)) > 1.0:
        raise InputError(f"The scene clips: its peak is {np.max(np.abs(mix)):.2f}. Lower the gains.")
    return np.round(mix * 32767).astype(np.int16)


def scene_events(recipe: Recipe, clips: dict[str, DemoClip]) -> tuple[Event, ...]:
    """When each sound of a scene can be heard: the bed throughout, then the layers by onset."""
    events = [Event(label, Span(0.0, recipe.duration)) for label in clips[recipe.bed].labels]
    for layer in sorted(recipe.layers, key=lambda layer: layer.onset):
        for event in clips[layer.clip].events:
            span = Span(round(layer.onset + event.span.start, 3), round(layer.onset + event.span.end, 3))
            events.append(replace(event, span=span))
    return tuple(events)


def main() -> None:
    """Render every scene of the manifest again and write its events."""
    import soundfile

    content = json.loads(MANIFEST.read_text(encoding="utf-8"))
    clips = {entry["id"]: _parse_clip(entry, DATA) for entry in content["clips"] if "recipe" not in entry}
    for entry in content["clips"]:
        if "recipe" not in entry:
            continue
        recipe = _parse_recipe(entry["recipe"])
        soundfile.write(DATA / entry["file"], render_scene(recipe, clips), SAMPLE_RATE, subtype="PCM_16")
        events = scene_events(recipe, clips)
        entry["events"] = [{"label": e.label, "start": e.span.start, "end": e.span.end} for e in events]
        entry["labels"] = list(dict.fromkeys(event.label for event in events))
        print(f"{entry['id']}: {recipe.duration} s, {', '.join(entry['labels'])}")
    MANIFEST.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
