"""Processes that a test run started and did not end."""

from __future__ import annotations

import os
from pathlib import Path


def processes_marked(mark: str) -> dict[int, str]:
    """Process id -> command of every process begun with ``mark`` in its environment, without this one.

    A mark in the environment is handed on to whatever is started from there. Python's own resource trackers, which end
    with the process they serve, are left out. Empty where there is no /proc.
    """
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            marked = mark.encode() in (folder / "environ").read_bytes()
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:  # ended meanwhile, or somebody else's
            continue
        if marked and command and int(folder.name) != os.getpid() and "resource_tracker" not in command:
            found[int(folder.name)] = command
    return found
