"""Settings of every test: no model hub, one quiet thread, the repository root on the path."""

import os
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "0")
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
# Embeddings of an earlier run must not answer for today's code.
os.environ["UNHEARD_CACHE_DIR"] = tempfile.mkdtemp(prefix="unheard-tests-")
