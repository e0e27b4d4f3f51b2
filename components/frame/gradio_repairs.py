"""Every repair of Gradio, and every place that reaches behind its public interface. An upgrade begins here.

For each: what is wrong in Gradio 6.31, how to see whether it is still so, and the test that shows it. Nothing else in
this project imports a part of ``gradio`` or sets an attribute of it (``tests/test_house.py``).

In the browser the same is done by ``assets/frame/order.js``: events that leave the page together may overtake each
other, and the answer to one that leaves while the stream of answers ends is never read. Leave the file out of
``components.frame.scripts.SHARED`` to see whether that is still so: ``tests/browser/test_order.py`` shows both, and
``tests/browser/test_compose.py::test_clicks_without_a_pause_are_all_counted_and_in_order`` fails now and then.
"""

from __future__ import annotations

import os
from abc import ABCMeta
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gradio as gr
from gradio import processing_utils, utils
from gradio.component_meta import ComponentMeta, updateable

from backend.files import OWNER_ONLY, atomic_write

EVERY_EVENT: dict[str, Any] = {"trigger_mode": "multiple"}
"""For events that carry something, as a selection or an edit does.

Wrong: by default Gradio drops an event made while the handler of the last one runs, and with "always_last" it repeats
the FIRST one's data. Still so? Drag twice on the stage with "always_last": the second selection is lost.
Test: ``tests/browser/test_stage.py::test_drag_selects_and_the_server_is_told_once``.
"""


class NotStarted(Exception):
    """Gradio's server gave up before it listened, for a reason other than a port that is taken."""


def launch(page: gr.Blocks, **options: Any) -> None:
    """Start serving; raises OSError where the port is taken and NotStarted where Gradio gives up.

    Wrong: Gradio asks its own server once whether it answers, and ends with a ValueError of many lines on a machine
    too busy to answer in time. Still so? Launch under ``stress``. Test:
    ``tests/components/frame/test_gradio_repairs.py``.
    """
    try:
        page.launch(prevent_thread_lock=True, **options)
    except ValueError as error:
        raise NotStarted(str(error).splitlines()[0]) from None


def send_whole_answers() -> None:
    """Let Gradio send each answer of a handler whole, and not as edits of the answer before.

    Wrong: the browser carries such edits out on the very objects of the earlier answer. One that was not drawn yet is
    changed or emptied by the next: a button stayed disabled on 4 of 12 openings of the page. Still so? Open the page
    twelve times without this. Test: ``tests/components/frame/test_gradio_repairs.py``, which also says whether Gradio
    still makes its edits there.
    """
    utils.diff = _whole


def _whole(old: Any, new: Any) -> list[list[Any]]:
    """The edit that replaces everything, in the form of ``gradio.utils.diff``."""
    return [["replace", [], new]]


def unchanged(outputs: Sequence[Any]) -> Any:
    """The answer that changes none of the outputs; the last one of every handler that answers more than once.

    Wrong: Gradio blanks every output of a handler that answered nothing, and sends the last answer once more when a
    handler ends, which would undo what a visitor typed since. Still so? Let ``answers_in_turn`` end without it.
    Test: ``tests/components/frame/test_turns.py``.
    """
    return gr.skip() if len(outputs) == 1 else [gr.skip()] * len(outputs)


def sent_by(event: gr.EventData) -> Any:
    """What a component's script gave to ``trigger``: anything at all, to be checked by whoever takes it.

    Wrong: gr.EventData has no public name for it. Still so? Look for one in ``gradio.EventData``.
    """
    return event._data


def wrap_handlers(page: gr.Blocks, wrap: Callable[[Any], Callable[..., Any] | None]) -> None:
    """Put another function before the handler of each event of a page; ``wrap`` is given the event, None leaves it.

    Wrong: Gradio offers no hook that runs before every handler. Still so? Look for one in ``gr.Blocks``.
    Test: ``tests/components/frame/test_lost.py``.
    """
    for event in page.fns.values():
        function = wrap(event)
        if function is not None:
            event.fn = function


class Unstubbed(ComponentMeta):
    """Metaclass of our own components.

    Wrong: Gradio's writes a .pyi file beside each component's source, which type checkers then believe instead of the
    source. This one makes the class updatable, as Gradio's does, and leaves it at that. Still so? Give ``Stage``
    Gradio's own metaclass and import it. Test: ``tests/components/frame/test_gradio_repairs.py``.
    """

    def __new__(cls, name: str, bases: tuple[type, ...], attributes: dict[str, Any]) -> type:
        attributes["__init__"] = updateable(attributes["__init__"])
        return ABCMeta.__new__(cls, name, bases, attributes)


class ForgivingSlider(gr.Slider, metaclass=Unstubbed):
    """A slider that hands on whatever was typed in its box, an empty box as the minimum; the handler checks it.

    Wrong: Gradio's own answers a number out of range with an error across every output of the event. Still so?
    ``gr.Slider(0, 8).preprocess(99)`` raises. Test: ``tests/components/frame/test_gradio_repairs.py``.
    """

    # Named one by one: Gradio reads the settings it sends to the page off this signature.
    def __init__(
        self, *, minimum: float = 0, maximum: float = 100, value: float | None = None, **keywords: Any
    ) -> None:
        super().__init__(minimum=minimum, maximum=maximum, value=value, **keywords)

    def get_config(self, cls: type[gr.blocks.Block] | None = None) -> dict[str, Any]:
        """The settings of any slider."""
        return super().get_config(cls or gr.Slider)

    def preprocess(self, payload: float | None) -> float:
        """The number as it came."""
        return float(self.minimum if payload is None else payload)

    def get_block_name(self) -> str:
        """Drawn as any slider."""
        return "slider"


def cached_copy(path: str, folder: str) -> str:
    """A copy of a file in a component's cache, from where Gradio serves it.

    Wrong: only Gradio's own components can hand files to the page; a value of our own has to be put there by hand.
    Test: ``tests/components/stage/test_stage.py``.
    """
    return processing_utils.save_file_to_cache(path, folder)


def cached_bytes(data: bytes, folder: str, name: str) -> str:
    """The same for bytes, written once and whole: another visitor may be reading the file right now."""
    path = Path(folder) / processing_utils.hash_bytes(data) / name
    if path.exists():
        os.utime(path)  # the cache drops the files that were used longest ago
        return str(path.resolve())
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path, mode=OWNER_ONLY) as part:
        part.write_bytes(data)
    return str(path.resolve())


def file_value(path: str) -> dict[str, Any]:
    """A cached file as part of a component's value: Gradio adds its URL."""
    return {"path": path, "meta": {"_type": "gradio.FileData"}}
