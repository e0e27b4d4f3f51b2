"""A new panel is one folder and one line: the page, links and the API take it from its PanelSpec."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import components.panels
from components.page import PANELS

MADE_BY_A_TEST = """
import json
import sys
from dataclasses import dataclass
from typing import ClassVar

import gradio as gr

from components import page
from components.frame.endpoints import Endpoint, a_number, a_record
from components.frame.link_fields import LinkField, one_of
from components.frame.links import link, view_from_link
from components.frame.panel_spec import PanelSpec
from components.frame.view_state import PanelState

@dataclass(frozen=True)
class TinyState(PanelState):
    size: str = "1"
    link_fields: ClassVar = (LinkField("size", ("size",), one_of("123456789"), "1 to 9"),)

def double(number):
    return {"doubled": 2 * number}

TINY = PanelSpec(
    "tiny", "Tiny", lambda frame: gr.HTML("here", elem_id="tiny-part"), TinyState,
    (Endpoint("double", double, (a_number("number", 2),), (a_record(),)),),
)
panels = (*page.PANELS, TINY)
built = page.build_page(panels)
view, notices = view_from_link({"tab": "tiny", "size": "7"}, panels, ("pocket",))
refused, said = view_from_link({"tab": "huge", "size": "70"}, panels, ("pocket",))
json.dump({
    "ids": [part["props"].get("elem_id") for part in built.get_config_file()["components"]],
    "endpoints": sorted(built.get_api_info()["named_endpoints"]),
    "tab": view.tab, "size": view.panel(TinyState).size, "notices": notices, "link": link(view),
    "refused": [refused.tab, refused.panel(TinyState).size], "said": said,
}, sys.stdout)
"""


def test_a_panel_made_here_gets_its_tab_its_part_of_a_link_and_its_endpoint() -> None:
    import json

    # In a process of its own: building the page leaves event loops behind, which are warnings here.
    made = subprocess.run([sys.executable, "-c", MADE_BY_A_TEST], capture_output=True, text=True, check=True).stdout
    found = json.loads(made)
    assert {"tab-tiny", "tiny-part", *(f"tab-{panel.id}" for panel in PANELS)} <= set(found["ids"])
    assert {"/double", "/encoders", "/ask"} <= set(found["endpoints"])
    assert (found["tab"], found["size"], found["notices"]) == ("tiny", "7", [])
    assert "tab=tiny" in found["link"] and "size=7" in found["link"]
    assert found["refused"] == ["listen", "1"]
    assert "one of listen, ask, steer, compose, tiny" in found["said"][0] and "which is not 1 to 9" in found["said"][1]


def test_every_folder_of_a_panel_is_a_line_of_the_page() -> None:
    folders = {folder.parent.name for folder in Path(components.panels.__path__[0]).glob("*/__init__.py")}
    assert folders == {panel.id for panel in PANELS}
    for panel in PANELS:
        assert panel.build.__module__ == f"components.panels.{panel.id}.panel"


def test_no_two_panels_share_a_name_in_a_link_or_in_the_api() -> None:
    from components.frame.links import shared_fields

    fields = [*shared_fields(), *(field for panel in PANELS for field in panel.link_fields)]
    names = [name for field in fields for name in field.names]
    endpoints = [endpoint.name for panel in PANELS for endpoint in panel.endpoints]
    assert len(set(names)) == len(names) and len(set(endpoints)) == len(endpoints)
