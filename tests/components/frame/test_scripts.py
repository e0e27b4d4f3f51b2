"""What several scripts need stands once in the page's head."""

from __future__ import annotations

from backend.files import ASSETS
from components.frame.scripts import SHARED, page_head


def test_the_head_carries_every_shared_script() -> None:
    head = page_head()
    for name in SHARED:
        assert (ASSETS / "frame" / f"{name}.js").read_text(encoding="utf-8") in head


def test_sounds_are_made_by_one_player_and_by_the_stages_clock() -> None:
    makers = {
        str(path.relative_to(ASSETS))
        for path in ASSETS.rglob("*.js")
        if "new Audio(" in path.read_text(encoding="utf-8")
    }
    assert makers == {"frame/player.js", "stage/sound.js"}


def test_edits_travel_by_one_protocol() -> None:
    scripts = {str(path.relative_to(ASSETS)): path.read_text(encoding="utf-8") for path in ASSETS.rglob("*.js")}
    sent = ("trigger('input'", "trigger('strength'")
    editors = {name for name, script in scripts.items() if any(call in script for call in sent)}
    assert editors == {"widgets/chips.js", "panels/ask/board.js", "panels/compose/compose.js", "panels/steer/lines.js"}
    assert all("window.unheardEdits(" in scripts[name] for name in editors)
