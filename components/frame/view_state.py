"""What the page shows, as one frozen value, and that value as a link.

The address bar carries parameters, never a server snapshot, so a link means the same on every
machine. Whatever a link says is checked; a bad parameter falls back to its default with a notice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import gradio as gr

from backend.audio import WINDOW_SECONDS, Span, checked_window
from backend.checks import DEFAULT_SEED, checked_seed
from backend.collections.demo import demo_clips
from backend.errors import InputError
from backend.evidence.cut import DEFAULT_DEPTH_DB, checked_depth, checked_region
from backend.evidence.frequency_band import checked_band
from backend.evidence.localization import SoughtConcept
from backend.negation import parse_query
from backend.retrieval.steering import DEFAULT_LAMBDA, checked_lambda
from backend.settings import Settings

TABS = ("listen", "ask", "steer", "compose")
DEFAULT_QUERY = "a dog barking, no rain"
LONGEST_PARAMETER = 2000
MOST_CONCEPTS = 12
"""A query holds at most so many sounds."""
LOST = "lost"
"""Given to the address where the server no longer has the view: the browser opens its link again."""


@dataclass(frozen=True)
class ViewState:
    """Everything that restores a view. Uploaded sounds are named, not linked: they stay on the visitor's side.

    Attributes
    ----------
    clip : str
        Id of a demo clip.
    upload : str
        Server path of the visitor's own sound, or empty; never part of a link.
    shorten : bool
        Take the first part of an upload that is too long.
    concepts : tuple of SoughtConcept or None
        The visitor's correction of the parsed query; None means: as parsed.
    depth : float
        Positive dB of a cut, as in science section 2.
    strength : float
        Steering strength on Ask and Steer.
    selection : str
        What is opened on Compose.
    cut : bool
        Whether the region's cut is shown.
    pin : str
        The query whose result is kept for comparison on Ask, with the visitor's correction of it if there is
        one: a text that :func:`pinned_query` reads.
    """

    tab: str = "listen"
    clip: str = ""
    upload: str = ""
    shorten: bool = False
    query: str = DEFAULT_QUERY
    concepts: tuple[SoughtConcept, ...] | None = None
    encoder: str = Settings.encoder
    window: float = WINDOW_SECONDS
    depth: float = DEFAULT_DEPTH_DB
    region: Span | None = None
    band: tuple[float, float] | None = None
    seed: int = DEFAULT_SEED
    strength: float = DEFAULT_LAMBDA
    selection: str = ""
    pin: str = ""
    cut: bool = False

    def with_query(self, query: str) -> ViewState:
        """The same view for another query; corrections of the old one do not carry over."""
        return replace(self, query=query, concepts=None, region=None, cut=False)

    def with_clip(self, clip: str = "", upload: str = "", *, shorten: bool = False) -> ViewState:
        """The same view of another sound; a region of the old one means nothing there."""
        return replace(self, clip=clip, upload=upload, shorten=shorten, region=None, cut=False)


def is_open(view: ViewState) -> bool:
    """Whether a link was read into it; not before the page is loaded, nor when the server has lost it."""
    return bool(view.clip or view.upload)


def first_clip() -> str:
    """Id of the demo clip a visitor meets first."""
    return demo_clips()[0].id


def concepts_to_text(concepts: tuple[SoughtConcept, ...]) -> str:
    """Concepts as one URL value: "+dog barking|-rain"; a bar inside a name is written %7C, a percent sign %25."""
    return "|".join(
        ("+" if concept.polarity == "present" else "-") + concept.text.replace("%", "%25").replace("|", "%7C")
        for concept in concepts
    )


def concepts_from_text(text: str) -> tuple[SoughtConcept, ...]:
    """The inverse of :func:`concepts_to_text`; raises ValueError on anything else."""
    concepts = []
    for part in text.split("|"):
        if len(part.strip()) < 2 or part[0] not in "+-":
            raise ValueError(part)
        name = part[1:].replace("%7C", "|").replace("%25", "%").strip()[:200]
        concepts.append(SoughtConcept(name, "present" if part[0] == "+" else "absent"))
    if len(concepts) > MOST_CONCEPTS:
        raise ValueError(text)
    return tuple(concepts)


def pinned_query(pin: str) -> tuple[str, tuple[SoughtConcept, ...] | None]:
    """The query in a pin and the visitor's correction of it; raises ValueError where there is none to be asked."""
    values = dict(parse_qsl(pin))
    try:
        parse_query(values["q"])
    except (KeyError, InputError):
        raise ValueError(pin) from None
    return values["q"], concepts_from_text(values["c"]) if "c" in values else None


def link(view: ViewState) -> str:
    """The query string that restores this view, "?clip=...&query=...". Defaults are left out."""
    plain = ViewState()
    values: dict[str, str] = {}
    if view.tab != plain.tab:
        values["tab"] = view.tab
    if view.upload:
        values["own"] = "1"
    elif view.clip:
        values["clip"] = view.clip
    values["query"] = view.query
    if view.concepts is not None:
        values["concepts"] = concepts_to_text(view.concepts)
    for name in ("encoder", "window", "depth", "seed", "selection", "pin"):
        if getattr(view, name) != getattr(plain, name):
            value = getattr(view, name)
            values[name] = f"{value:g}" if isinstance(value, float) else str(value)
    if view.cut:
        values["cut"] = "1"
    if view.strength != plain.strength:
        values["lambda"] = f"{view.strength:g}"
    if view.region:
        values["start"], values["end"] = f"{view.region.start:.3f}", f"{view.region.end:.3f}"
    if view.band:
        values["band"] = f"{view.band[0]:g}-{view.band[1]:g}"
    return "?" + urlencode(values, quote_via=quote)


def _number(text: str) -> float | str:
    """The number that a parameter spells, or the text as it came, for its check to refuse."""
    try:
        return float(text)
    except ValueError:
        return text


def _one_of(text: str, allowed: tuple[str, ...]) -> str:
    if text not in allowed:
        raise ValueError(text)
    return text


def _band(text: str) -> tuple[float, float] | None:
    low, high = map(_number, text.split("-"))
    return checked_band((low, high))


def view_from_link(parameters: Mapping[str, str], encoders: tuple[str, ...]) -> tuple[ViewState, list[str]]:
    """The view a link asks for, and a notice for every parameter that could not be used.

    Parameters
    ----------
    parameters : mapping of str to str
        The query parameters as they came.
    encoders : tuple of str
        Ids known to the registry.
    """
    known_clips = tuple(record.id for record in demo_clips())
    readers: dict[str, tuple[str, Any, str]] = {
        "tab": ("tab", lambda text: _one_of(text, TABS), "one of " + ", ".join(TABS)),
        "clip": ("clip", lambda text: _one_of(text, known_clips), "the id of a demo clip"),
        "query": ("query", str, "text"),
        "concepts": ("concepts", concepts_from_text, f"like +dog barking|-rain, with at most {MOST_CONCEPTS} sounds"),
        "encoder": ("encoder", lambda text: _one_of(text, encoders), "one of " + ", ".join(encoders)),
        "window": ("window", lambda text: checked_window(_number(text)), ""),
        "depth": ("depth", lambda text: checked_depth(_number(text)), ""),
        "lambda": ("strength", lambda text: checked_lambda(_number(text)), ""),
        "seed": ("seed", lambda text: checked_seed(_number(text)), ""),
        "band": ("band", _band, "like 300-3000 (Hz)"),
        "selection": ("selection", str, "text"),
        "cut": ("cut", lambda text: _one_of(text, ("0", "1")) == "1", "0 or 1"),
    }
    view, notices = ViewState(clip=first_clip()), []
    for name, (attribute, read, allowed) in readers.items():
        if name not in parameters:
            continue
        text = parameters[name][:LONGEST_PARAMETER]
        try:
            view = replace(view, **{attribute: read(text)})
        except ValueError as error:
            shown = text if len(text) <= 40 else text[:40] + "…"
            wrong = f". {error}" if isinstance(error, InputError) else f", which is not {allowed}."
            notices.append(f"The link asks for {name} “{shown}”{wrong} The default is shown instead.")
    if "own" in parameters:
        notices.append("The link is of a visitor's own sound, which no link carries; a demo sound is shown instead.")
    if "start" in parameters or "end" in parameters:
        try:
            start, end = (_number(parameters.get(name, "")) for name in ("start", "end"))
            view = replace(view, region=checked_region(start, end))
        except InputError as error:
            notices.append(f"{error} The link's region is left out.")
    if pin := parameters.get("pin", ""):
        try:
            pinned_query(pin)
            view = replace(view, pin=pin)
        except ValueError:
            notices.append(f"The pinned query in the link, “{pin[:40]}”, cannot be read; nothing is pinned.")
    return view, notices


ADDRESS_SCRIPT = """
let opened = null, shown = null;
const apply = () => {
  const value = props.value || '';
  // While a page opens, its first events meet a view that is not there yet; only later is one lost.
  if (value === 'lost' && opened !== null && performance.now() - opened > 3000) window.location.reload();
  if (value.startsWith('?')) opened ??= performance.now();
  if (value.startsWith('?') && value !== window.location.search) {
    const parameters = new URLSearchParams(value);
    const theme = new URLSearchParams(window.location.search).get('__theme');
    if (theme) parameters.set('__theme', theme);
    const search = '?' + parameters.toString().replaceAll('+', '%20');
    // Another tab is a place to come back from; another query or region is not.
    const place = (text) => new URLSearchParams(text).get('tab') || 'listen';
    const moved = shown !== null && place(search) !== place(window.location.search);
    history[moved ? 'pushState' : 'replaceState'](history.state, '', search);
  }
  if (opened !== null) shown = window.location.search;
};
window.addEventListener('popstate', () => { if (window.location.search !== shown) window.location.reload(); });
watch('value', apply);
apply();
"""


def address() -> gr.HTML:
    """An invisible component: the query string it is given becomes the address bar's."""
    return gr.HTML("", html_template="<span hidden></span>", js_on_load=ADDRESS_SCRIPT, elem_classes="address")
