"""Start the server: settings, page, launch."""

from __future__ import annotations

import sys
import threading

from backend.errors import InputError
from backend.settings import settings


def main() -> int:
    """Open the page and serve it until interrupted."""
    try:
        chosen = settings()
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    from components.frame.gradio_repairs import NotStarted, launch
    from components.page import build_page, launch_options, warm_up

    threading.Thread(target=warm_up, args=(chosen.encoder,), daemon=True).start()
    page = build_page()
    page.queue(max_size=chosen.queue_size, default_concurrency_limit=4)
    try:
        launch(page, **launch_options())
    except OSError:
        print(f"Port {chosen.port} is taken. Choose another one: make run PORT={chosen.port + 1}", file=sys.stderr)
        return 1
    except NotStarted as error:
        print(f"The server did not start: {error} Start it again.", file=sys.stderr)
        return 1
    print(f"Unheard is open at http://{chosen.host}:{chosen.port}", flush=True)
    page.block_thread()
    return 0


if __name__ == "__main__":
    sys.exit(main())
