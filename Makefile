# Each target sets up what it needs in .venv, from pyproject.toml and constraints.txt.
# ARGS goes to the program: make test ARGS="-k configure -x".

# The newest tested Python that runs here; a name that exists but fails (as a shim may) is passed over.
RUNS := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c '$(RUNS)' >/dev/null 2>&1 && { echo $$p; break; }; done)
RUN := .venv/bin/python
READY := .venv/.ready

.PHONY: help setup peers demo test test-all fuzz bench lint format docs wheel clean

help:
	@echo "make demo      set up, then design a fast WRMMA that can be built (the main job)"
	@echo "make test      set up, then run the fast tests"
	@echo "make test-all  all tests, slow ones included"
	@echo "make fuzz      random inputs of every device, ARGS=\"wrmma --count 100000\""
	@echo "make bench     speed, as ratios to C compiled on this machine"
	@echo "make lint      ruff and pyright"
	@echo "make format    let ruff rewrite the files"
	@echo "make docs      build the site into site/"
	@echo "make wheel     build the wheel, install it elsewhere and run the README's example there"
	@echo "make setup     only the environment, .venv"
	@echo "make clean     remove .venv and everything built"

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or newer with venv found. Install one, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "Setting up .venv with $(PYTHON): downloads about 300 MB of packages, takes a minute or more ..."
	@$(RUN) -c "" 2>/dev/null || { rm -rf .venv; $(PYTHON) -m venv .venv; }
	@PIP_CONSTRAINT=constraints.txt $(RUN) -m pip install --quiet --disable-pip-version-check --progress-bar off -e '.[dev,docs]'
	@touch $@
	@echo "Set up: .venv is ready."

peers: $(READY)
	@$(RUN) -c "import diffrax, mujoco, nlopt, playwright, pymoo" 2>/dev/null || PIP_CONSTRAINT=constraints.txt $(RUN) -m pip install --quiet --disable-pip-version-check -e '.[peers]'

demo: $(READY)
	$(RUN) -m optimize wrmma_buildable $(ARGS)

test: $(READY)
	$(RUN) -m pytest -n 2 --dist loadfile $(ARGS)

test-all: peers
	$(RUN) -m pytest -n 2 --dist loadfile -m "slow or not slow" $(ARGS)

fuzz: $(READY)
	$(RUN) -m tests.fuzz $(ARGS)

bench: peers
	$(RUN) -m benchmarks $(ARGS)

lint: $(READY)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m basedpyright --warnings

format: $(READY)
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .

docs: $(READY)
	$(RUN) -m tools.pictures
	NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict

wheel: $(READY)
	tools/check_wheel.sh

clean:
	rm -rf .venv dist build site .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
