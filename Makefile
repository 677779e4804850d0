# Needs Python >= 3.10 (with venv), git and make; everything else goes into $(VENV).
#
#   make demo         install, and run the library on outputs of several families
#   make test         install the test extra, and run the whole suite
#   make lint         ruff              make types      mypy and pyright
#   make conformance  public fixtures   make field      field cases and the founding contract
#   make evidence     auto beside the named dialects, texts without a call, BFCL there and back, long strings
#   make fuzz         the laws, 20,000 examples each
#   make bench        cost beside the floors and the peers that make bench-peers installed
#   make bench-quick  toolglot and the floors alone, in a minute
#   make bundle       the dialect files as data that loads at once
#   make wheel-compiled  the wheel with the core compiled by mypyc, in dist/; the pure wheel is the default
#   make test-compiled   the whole suite against it
#   make docs         that and the generated tables; docs-check fails if they are not current
#
# PYTHON chooses the interpreter, VENV the environment's folder, PYTEST_ARGS what pytest is given.

.DEFAULT_GOAL := help

ifndef PYTHON
PYTHON := $(shell for p in python3.13 python3.12 python3.11 python3.10 python3 python; do \
	if $$p -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1; \
	then echo $$p; break; fi; done)
endif

VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PYTEST_ARGS ?= -n auto

# Named after the interpreter, so that another PYTHON makes the environment anew.
MADE := $(VENV)/.made-$(subst /,-,$(PYTHON))

.PHONY: help demo test lint format types conformance field evidence fuzz bench bench-peers bench-quick bundle wheel-compiled test-compiled docs docs-check clean

help:
	@sed -n '1,/^$$/s/^# \{0,1\}//p' Makefile

$(MADE):
	@if [ -z "$(PYTHON)" ]; then echo "no Python >= 3.10 with venv found; pass PYTHON=/path/to/python" >&2; exit 1; fi
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.installed: $(MADE) pyproject.toml
	$(PIP) install --editable .
	@touch $@

# Only the data of bfcl-eval are wanted, and not the engines that it depends on.
BFCL := bfcl-eval==2026.3.23

$(VENV)/.installed-test: $(MADE) pyproject.toml
	$(PIP) install --editable '.[test]'
	$(PIP) install --no-deps $(BFCL)
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-dev: $(MADE) pyproject.toml
	$(PIP) install --editable '.[dev]'
	$(PIP) install --no-deps $(BFCL)
	@touch $@ $(VENV)/.installed $(VENV)/.installed-test

$(VENV)/.installed-bench: $(MADE) pyproject.toml
	$(PIP) install --editable '.[bench]'
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed
	$(BIN)/python examples/demo.py

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.installed-dev
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python

conformance: $(VENV)/.installed-test
	$(BIN)/python -m tests.conformance

field: $(VENV)/.installed-test
	$(BIN)/python -m tests.field

evidence: $(VENV)/.installed-test
	$(BIN)/python -m tests.confusion
	$(BIN)/python -m tests.negatives
	$(BIN)/python -m tests.holding
	$(BIN)/python -m tests.bfcl

fuzz: $(VENV)/.installed-test
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest tests/test_laws.py $(PYTEST_ARGS)

bench: $(VENV)/.installed-bench
	$(BIN)/python -m bench.run $(BENCH_ARGS)

bench-peers:
	$(PYTHON) -m bench.install $(PEERS)

bench-quick: $(VENV)/.installed-bench
	$(BIN)/python -m bench.run --quick $(BENCH_ARGS)

wheel-compiled: $(MADE)
	$(PIP) install build
	rm -rf dist/compiled
	HATCH_BUILD_HOOK_ENABLE_MYPYC=1 $(BIN)/python -m build --wheel --outdir dist/compiled

# In an environment of its own: with src/ not on the path, toolglot is the wheel's.
COMPILED := .venv-compiled

test-compiled: wheel-compiled
	$(PYTHON) -m venv --clear $(COMPILED)
	wheel=$$(ls dist/compiled/*.whl); $(COMPILED)/bin/python -m pip install --quiet "$$wheel[test]"
	$(COMPILED)/bin/python -m pip install --quiet --no-deps $(BFCL)
	$(COMPILED)/bin/python -c "from toolglot import parser; assert not parser.__file__.endswith('.py'), parser"
	$(COMPILED)/bin/python -m pytest $(PYTEST_ARGS)

bundle: $(VENV)/.installed
	$(BIN)/python -m toolglot.bundle

docs: $(VENV)/.installed-test
	$(BIN)/python -m toolglot.bundle
	$(BIN)/python docs/generate.py

docs-check: $(VENV)/.installed-test
	$(BIN)/python -m toolglot.bundle --check
	$(BIN)/python docs/generate.py --check

clean:
	rm -rf $(VENV) .hypothesis .pytest_cache .mypy_cache .ruff_cache build dist
