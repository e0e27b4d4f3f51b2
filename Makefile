# make run   sets everything up and opens the page        (make run PORT=7861)
# make test  the same, then every test that guards the product     (make test TESTS=tests/backend/audio)
# make test-all  those, and the slow ones: the built-in encoder's training, an installed copy
# make bench the benchmarks
# make check style and types

PORT ?= 7860
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
# One test process a core, four at most: each may hold a server and a browser. Files in the order of tests/conftest.py.
WORKERS ?= $(shell cores=$$(nproc 2>/dev/null || echo 2); echo $$((cores < 4 ? cores : 4)))
PYTEST := HF_HUB_OFFLINE=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
BENCHES := $(basename $(notdir $(wildcard tests/bench/bench_*.py)))

# Spinning OpenMP threads make a busy small machine up to eight times slower.
export OMP_WAIT_POLICY ?= PASSIVE
export GOMP_SPINCOUNT ?= 0
export HF_HUB_DISABLE_TELEMETRY ?= 1
export GRADIO_ANALYTICS_ENABLED ?= False

.PHONY: run test test-all bench check clean

run: $(VENV)/.ready
	@.ci/system ffmpeg
	UNHEARD_PORT=$(PORT) $(BIN)/python app.py

test: $(VENV)/.ready-dev
	@.ci/system ffmpeg chromium
	$(PYTEST) -m "not slow" $(TESTS)

test-all: $(VENV)/.ready-dev
	@.ci/system ffmpeg chromium
	$(PYTEST) $(TESTS)

bench: $(VENV)/.ready-dev
	@for name in $(BENCHES); do echo "== $$name"; $(BIN)/python -m tests.bench.$$name || exit 1; done

check: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/mypy

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Unheard needs Python 3.11 or newer.")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.ready: requirements.txt | $(VENV)/bin/python
	@echo "Installing Python packages into $(VENV): once, some minutes, about 7 GB."
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

$(VENV)/.ready-dev: requirements-dev.txt $(VENV)/.ready
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@

clean:
	rm -rf $(VENV) .unheard-cache .pytest_cache .hypothesis
