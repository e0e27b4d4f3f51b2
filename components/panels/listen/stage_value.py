"""Backend results as the sound stage's value: pictures, curves, the cut and its sound."""

from __future__ import annotations

from typing import Any

from backend.audio import Clip, Span
from backend.audio.spectrogram import Picture, picture_of
from backend.errors import InputError
from backend.evidence.control_cuts import CutExperiment
from backend.evidence.localization import Localization
from backend.kept import Kept
from components.frame.serving import served_path
from components.frame.view_state import ViewState
from components.panels.listen.state import ListenState
from components.stage.checks import selected_band, selected_region
from components.stage.view import Best, Control, Curve, Cut, stage_view

_pictures: Kept[str, Picture] = Kept(most=12)


def picture_for(clip: Clip) -> Picture:
    """The clip's waveform and spectrogram, drawn once while it is among the last twelve."""
    return _pictures.get(clip.digest, lambda: picture_of(clip.channels, clip.sample_rate))


def _curves(found: Localization, experiment: CutExperiment | None) -> list[Curve]:
    curves = []
    for index, evidence in enumerate(found.evidence):
        after, control = None, None
        if experiment:
            effect = experiment.effects[index]
            after = experiment.after.evidence[index].scores
            control = Control(effect.control_score, effect.control_sd)
        best = Best(evidence.best.start, evidence.best.end, evidence.score, evidence.z)
        curves.append(
            Curve(
                evidence.concept.text,
                evidence.concept.polarity,
                found.windows.starts,
                evidence.scores,
                best,
                after,
                control,
            )
        )
    return curves


def listen_stage(
    found: Localization,
    *,
    region: Span | None,
    band: tuple[float, float] | None,
    experiment: CutExperiment | None = None,
    pending: str | None = None,
) -> dict[str, Any]:
    """The stage's value for a localisation and, if there is one, its cut."""
    clip, cut = found.clip, None
    picture = picture_for(clip)
    if experiment:
        cut = Cut(
            experiment.span,
            experiment.depth_db,
            served_path(experiment.cut, is_cut=True),
            picture_of(experiment.cut.channels, clip.sample_rate, like=picture),
            experiment.band,
        )
    return stage_view(
        clip,
        picture,
        served_path(clip),
        curves=_curves(found, experiment),
        windows=found.windows,
        region=region,
        band=band,
        cut=cut,
        pending=pending,
    )


def fitted(view: ViewState, clip: Clip) -> tuple[ViewState, str]:
    """The view without a region or a band that its sound cannot have, as a link may ask, and a sentence about it."""
    said, asked = [], view.panel(ListenState)
    try:
        if asked.region:
            view = view.with_panel(ListenState, region=selected_region(vars(asked.region), clip.duration))
    except InputError as error:
        view = view.with_panel(ListenState, region=None)
        said.append(str(error))
    try:
        if asked.band:
            sent = dict(zip(("low", "high"), asked.band, strict=True))
            view = view.with_panel(ListenState, band=selected_band(sent, clip.sample_rate))
    except InputError as error:
        view = view.with_panel(ListenState, band=None)
        said.append(str(error))
    return view, " ".join(said)
