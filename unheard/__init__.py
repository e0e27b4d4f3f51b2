"""``import unheard``: the front door of Unheard's backend under the name it is installed by.

Inside, the house has rooms that call each other ``backend``. An installation keeps them within this package's folder,
where they are in nobody's way, and this module puts that folder at the END of Python's search path: a ``backend`` of
your own stays yours. The two cannot be used in one process, and then this says so instead of mixing them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

HOUSE = Path(__file__).resolve().parent
if not (HOUSE / "backend").is_dir():  # in a checkout the rooms lie beside this package
    HOUSE = HOUSE.parent
if str(HOUSE) not in sys.path:
    sys.path.append(str(HOUSE))

import backend  # noqa: E402  (found by the line above)

if Path(backend.__path__[0]).resolve() != HOUSE / "backend":
    raise ImportError(
        f"Unheard's rooms are in a package called backend, and another package of that name, in {backend.__path__[0]}, "
        f"is found first. Use Unheard in a process of its own: the command unheard, or another working folder."
    )

if TYPE_CHECKING:
    from backend import *  # noqa: F403

__version__ = backend.__version__
__all__ = backend.__all__


def __getattr__(name: str) -> Any:
    """A name of the front door, imported now."""
    if name in __all__:
        return getattr(backend, name)
    raise AttributeError(f"module 'unheard' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def main() -> int:
    """The command ``unheard``: the command line of the backend."""
    from backend.__main__ import main as run

    return run()
