"""What the Compose panel does: each event takes what is opened, returns it changed, and shows it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gradio as gr

from backend.composition.explore import (
    best_and_worst,
    checked_combination,
    checked_terms,
    combination_detail,
    sound_arithmetic,
)
from backend.encoders.base import encoder_list
from backend.errors import InputError
from backend.progress import Progress
from components.frame.gradio_repairs import sent_by
from components.frame.links import link
from components.frame.panel import PanelParts, refused_in
from components.frame.running import steps_of
from components.frame.view_state import ViewState
from components.panels.compose import drawer as look
from components.panels.compose import view as say
from components.panels.compose.files import report_files
from components.panels.compose.reports import Opened, demo_report, opened_demo, opened_own, own_report
from components.panels.compose.state import ComposeState
from components.widgets.markup import error_box

NO_SECOND = "no other encoder"


@dataclass
class Parts(PanelParts):
    """The panel's components, in the order its handlers answer."""

    view: gr.State
    address: gr.HTML
    opened: gr.State
    files_wanted: gr.State
    status: gr.HTML
    stop: gr.Button
    error: gr.HTML
    headline: gr.HTML
    table: gr.HTML
    scatter: gr.HTML
    pick: gr.Dropdown
    drawer: gr.HTML
    arithmetic: gr.HTML
    second: gr.Dropdown
    comparison: gr.HTML
    pictures: gr.HTML
    how: gr.HTML
    json: gr.DownloadButton
    csv: gr.DownloadButton
    figures: gr.DownloadButton
    page: gr.DownloadButton


class ComposeHandlers:
    """The panel's events: each takes what is opened, returns it changed, and shows it."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    def on_open(self, view: ViewState, opened: Opened | None) -> Iterator[list[Any]]:
        """The tab is opened, or the encoder changes: the demo scenes under that encoder, unless it is there already."""
        # The browser reports a change of the token when the page opens, whatever is open.
        if view.tab != "compose" or (
            opened is not None and (opened.own or opened.key == ("demo", view.encoder, view.seed))
        ):
            yield self.parts.answer()
            return
        selection = view.panel(ComposeState).selection
        yield from self._computed(view, lambda progress: opened_demo(view.encoder, view.seed, selection, progress))

    @staticmethod
    def asked(_: ViewState) -> Iterator[str]:
        """A new token, which sets the work going."""
        yield secrets.token_hex(4)

    def on_stop(self) -> list[Any]:
        """The work was cancelled; what was there stays."""
        return self.parts.answer(status=say.stopped(), stop=gr.Button(visible=False))

    def on_demo(self, view: ViewState) -> Iterator[list[Any]]:
        """Back to the demo scenes."""
        view = view.with_panel(ComposeState, selection="")
        yield from self._computed(
            view,
            lambda progress: opened_demo(view.encoder, view.seed, "", progress),
            {"view": view, "address": link(view)},
        )

    def on_own(
        self, view: ViewState, embeddings: str | None, labels: str | None, second: str | None, hierarchy: str | None
    ) -> Iterator[list[Any]]:
        """The visitor's own files; a file that cannot be used leaves everything as it was."""

        def work(progress: Progress) -> Opened:
            report = own_report(embeddings, labels, view.seed, hierarchy=hierarchy, progress=progress)
            opened = opened_own(Path(str(embeddings)).name, report)
            if not second:
                return opened
            beside = own_report(second, labels, view.seed, hierarchy=hierarchy, progress=progress)
            name = Path(second).name
            return opened.beside(name if name != opened.names[0] else f"{name} (second)", beside)

        yield from self._computed(view, work)

    def _computed(
        self,
        view: ViewState,
        work: Callable[[Progress], Opened],
        place: dict[str, Any] | None = None,
    ) -> Iterator[list[Any]]:
        """Run something long, showing how far it is; the old result stays until the new one is there.

        ``place`` is the new view and its address, where the request changes it.
        """
        running = steps_of(work)
        yield self.parts.begin(error="", **(place or {}))
        try:
            while True:
                try:
                    step = next(running)
                except StopIteration as finished:
                    yield self._all_of(view, finished.value)
                    return
                yield self.parts.answer(status=say.pending(step.what, step.share), stop=gr.Button(visible=True))
        except InputError as error:
            yield self.parts.answer(error=error_box(error), status="", stop=gr.Button(visible=False))
        finally:
            running.close()

    def _all_of(self, view: ViewState, opened: Opened) -> list[Any]:
        report, names = opened.report, opened.names
        choices = [(report.combinations.name(i), i) for i in range(len(report.combinations))]
        others = [info.id for info in encoder_list() if info.ready and info.id != view.encoder]
        waiting = gr.DownloadButton(value=None, interactive=False)
        return self.parts.answer(
            opened=opened,
            files_wanted=secrets.token_hex(4),
            status="",
            stop=gr.Button(visible=False),
            error="",
            headline=say.headline(report, names[0]),
            table=say.metrics_table(opened.reports),
            scatter=look.scatter(report, opened.chosen),
            pick=gr.Dropdown(choices=choices, value=opened.chosen),
            drawer=self._drawer(opened),
            arithmetic=self._arithmetic(opened),
            second=gr.Dropdown(
                choices=list(dict.fromkeys([NO_SECOND, *others, *(() if opened.own else names[1:])])),
                value=names[1] if len(names) > 1 and not opened.own else NO_SECOND,
                interactive=bool(others) and not opened.own,
                info=None if others else "No other encoder is ready here; the encoder picker says what each needs.",
            ),
            comparison=self._comparison(opened),
            pictures=say.pictures(report),
            how=say.how_computed(report),
            json=waiting,
            csv=waiting,
            figures=waiting,
            page=waiting,
        )

    def on_files(self, opened: Opened | None) -> list[Any]:
        """Write the downloads of what is shown."""
        if opened is None:
            return self.parts.answer()
        return self.parts.answer(**report_files(opened.report))

    def on_second(self, view: ViewState, opened: Opened | None, name: str) -> Iterator[list[Any]]:
        """A second encoder on the same collection, or none."""
        if opened is None or opened.own:
            yield self.parts.answer()
        elif name == NO_SECOND:
            yield self._all_of(view, opened.alone())
        else:
            yield from self._computed(
                view, lambda progress: opened.beside(name, demo_report(name, view.seed, progress)[0])
            )

    def on_mark(self, view: ViewState, opened: Opened | None, event: gr.EventData) -> list[Any]:
        """A combination clicked anywhere."""
        payload = sent_by(event)
        return self.choose(view, opened, payload.get("key") if isinstance(payload, dict) else None)

    @refused_in("error")
    def choose(self, view: ViewState, opened: Opened | None, index: object) -> list[Any]:
        """Open a combination in the drawer; whatever came as its index is checked."""
        if opened is None:
            return self.parts.answer()
        opened = replace(opened, chosen=checked_combination(opened.report, index))
        if not opened.own:
            members = opened.report.combinations.members[opened.chosen]
            view = view.with_panel(ComposeState, selection=";".join(members))
        return self.parts.answer(
            view=view,
            address=link(view),
            opened=opened,
            error="",
            scatter=look.scatter(opened.report, opened.chosen),
            pick=opened.chosen,
            drawer=self._drawer(opened),
        )

    def choose_end(self, which: int) -> Callable[[ViewState, Opened | None], list[Any]]:
        """Handler that opens the best (0) or worst (1) combination."""

        def choose(view: ViewState, opened: Opened | None) -> list[Any]:
            return self.choose(view, opened, best_and_worst(opened.report)[which]) if opened else self.parts.answer()

        return choose

    def on_terms(self, _: ViewState, opened: Opened | None, event: gr.EventData) -> list[Any]:
        """The sum was changed; an empty one is allowed while it is being built.

        The view is taken only so that a page whose view was lost opens again: see components.frame.lost.
        """
        if opened is None:
            return self.parts.answer()
        payload = sent_by(event) if isinstance(sent_by(event), dict) else {}
        terms, edit = payload.get("terms"), payload.get("edit")
        edit = edit if isinstance(edit, int) else 0
        try:
            opened = replace(opened, terms=() if terms == [] else checked_terms(opened.report, terms))
        except InputError as error:
            return self.parts.answer(arithmetic=self._arithmetic(opened, str(error), edit))
        return self.parts.answer(opened=opened, arithmetic=self._arithmetic(opened, edit=edit))

    @staticmethod
    def _drawer(opened: Opened) -> str:
        return look.drawer(opened.report, combination_detail(opened.report, opened.chosen), opened.play)

    @staticmethod
    def _arithmetic(opened: Opened, error: str = "", edit: int = 0) -> str:
        found = None
        try:
            found = sound_arithmetic(opened.report, opened.terms) if opened.terms else None
        except InputError as cancelled:
            error = error or str(cancelled)
        return look.arithmetic(opened.report, opened.terms, found, opened.play, error, edit)

    @staticmethod
    def _comparison(opened: Opened) -> str:
        if len(opened.reports) < 2:
            return ""
        (one, first), (other, second) = opened.reports
        return say.comparison(first, second, (one, other))
