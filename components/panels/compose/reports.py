"""Where the Compose panel's reports come from: the demo scenes by encoder, or a visitor's own embeddings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from backend.collections.composition_sources import Sound, load_source, refuse_large
from backend.collections.demo_scenes import DEMO_SCENES
from backend.collections.label_options import LabelOptions
from backend.collections.ready import SUFFIXES
from backend.composition import Report, compose
from backend.composition.explore import best_and_worst, combination_named
from backend.encoders.base import load_encoder
from backend.errors import InputError
from backend.kept import Kept
from backend.progress import Progress
from components.frame.serving import served_url

KEPT_REPORTS = 4
"""Reports of the demo scenes kept for the next visitor, one an encoder and seed."""

_reports: Kept[tuple[str, int], tuple[Report, Sound | None]] = Kept(KEPT_REPORTS)


@dataclass(frozen=True, eq=False)
class Opened:
    """What the panel shows.

    Attributes
    ----------
    key : tuple
        What decides the reports; a panel that shows another key is out of date.
    reports : tuple of (str, Report)
        One, or two side by side, each with its encoder's name.
    sound : callable or None
        A clip's id to its sound.
    chosen : int
        The combination in the drawer.
    terms : tuple of (int, str)
        Sound arithmetic.
    own : bool
        A visitor's own embeddings, which no change of encoder replaces.
    """

    key: tuple[object, ...]
    reports: tuple[tuple[str, Report], ...]
    sound: Sound | None
    chosen: int
    terms: tuple[tuple[int, str], ...]
    own: bool = False

    @property
    def report(self) -> Report:
        """The first report, which everything but the comparison is about."""
        return self.reports[0][1]

    @property
    def names(self) -> tuple[str, ...]:
        """The encoders' names."""
        return tuple(name for name, _ in self.reports)

    def play(self, clip: int) -> str:
        """Address of a clip's sound; empty where there is none."""
        if self.sound is None:
            return ""
        try:
            return served_url(self.sound(self.report.data.ids[clip]))
        except InputError:
            return ""

    def beside(self, name: str, report: Report) -> Opened:
        """The same with a second report next to the first."""
        return replace(self, reports=(self.reports[0], (name, report)))

    def alone(self) -> Opened:
        """The same without a second report."""
        return replace(self, reports=self.reports[:1])


def demo_report(encoder_id: str, seed: int, progress: Progress | None = None) -> tuple[Report, Sound | None]:
    """The demo scenes under an encoder, and its sounds; kept while among the last four. Raises InputError."""

    def make() -> tuple[Report, Sound | None]:
        source = load_source(DEMO_SCENES, (), load_encoder(encoder_id), progress=progress)
        report = compose(source.data, seed=seed, provenance=source.provenance, notes=source.notes, progress=progress)
        return report, source.sound

    return _reports.get((encoder_id, seed), make, progress)


def own_report(
    embeddings: str | None,
    labels: str | None,
    seed: int,
    *,
    hierarchy: str | None = None,
    progress: Progress | None = None,
) -> Report:
    """A visitor's own embeddings and labels; ancestors are dropped when a hierarchy is given. Raises InputError."""
    if not embeddings or not labels:
        raise InputError("Give both files: embeddings (.npz or .parquet) and labels (CSV with id,labels).")
    if not embeddings.lower().endswith(SUFFIXES):
        raise InputError(f"{Path(embeddings).name} is not .npz or .parquet. Sounds are embedded on the command line.")
    options = LabelOptions("drop", hierarchy) if hierarchy else None
    source = load_source(embeddings, [labels], options=options)
    refuse_large(source.data)
    return compose(source.data, seed=seed, provenance=source.provenance, notes=source.notes, progress=progress)


def opened_demo(encoder_id: str, seed: int, selection: str = "", progress: Progress | None = None) -> Opened:
    """The demo scenes as the panel opens it: at the linked combination, or at the one that adds up best."""
    report, sound = demo_report(encoder_id, seed, progress)
    return _opened(("demo", encoder_id, seed), encoder_id, report, sound, selection)


def opened_own(name: str, report: Report) -> Opened:
    """A visitor's own embeddings as the panel opens them."""
    return replace(_opened(("own", name, report.seed), name, report, None, ""), own=True)


def _opened(key: tuple[object, ...], name: str, report: Report, sound: Sound | None, selection: str) -> Opened:
    best, _ = best_and_worst(report)
    linked = combination_named(report, selection) if selection else None
    terms = tuple((1, source) for source in report.combinations.members[best])
    return Opened(key, ((name, report),), sound, best if linked is None else linked, terms)
