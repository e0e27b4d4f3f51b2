"""Settings of every test: no model hub, one quiet thread, the repository root on the path."""

import os
import tempfile

from hypothesis import settings

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "0")
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
# Embeddings of an earlier run must not answer for today's code.
os.environ["UNHEARD_CACHE_DIR"] = tempfile.mkdtemp(prefix="unheard-tests-")

# The same examples on every run: a failure must be there again for whoever looks. Search wider with
# --hypothesis-profile=default.
settings.register_profile("suite", derandomize=True, deadline=None)
settings.load_profile("suite")
