# Every goal sets up .venv from the hash-locked requirements first; a second run finds the stamps and does nothing.
VENV ?= .venv
BIN := $(VENV)/bin
CORES ?= $(shell nproc 2>/dev/null || echo 2)
# Arguments for pytest and snakemake: make test TESTS=tests/store, make migrate SNAKEMAKE_FLAGS=--dry-run
TESTS ?= tests
PYTEST_FLAGS ?=
SNAKEMAKE_FLAGS ?=
WORKERS ?= 2

.PHONY: oracles setup migrate test test-full lint bench lock clean help
.DEFAULT_GOAL := help

help:
	@echo 'make setup      .venv from the hash-locked requirements'
	@echo 'make migrate    every workload through the ladder; ends in a table and results/report/index.html'
	@echo 'make oracles    lift the kept oracles again, after a change of the lifter or of a native artifact'
	@echo 'make test       all tests'
	@echo 'make test-full  all tests and the long sweeps'
	@echo 'make lint       ruff, mypy and snakemake --lint'
	@echo 'make bench      compile time, simulator throughput, code quality, workflow overhead'
	@echo 'make clean      remove results and caches (.venv stays)'

$(VENV)/.requirements: requirements.txt
	@set -e; \
	if [ ! -x $(BIN)/python ]; then \
	  for candidate in python3.11 python3.12 python3.13 python3.14 python3; do \
	    if command -v $$candidate >/dev/null 2>&1 && \
	       $$candidate -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	      python=$$candidate; break; \
	    fi; \
	  done; \
	  if [ -z "$$python" ]; then echo 'Python 3.11 or newer with the venv module is needed' >&2; exit 2; fi; \
	  echo "making $(VENV) with $$python"; \
	  $$python -m venv $(VENV); \
	fi; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	@touch $@

$(VENV)/.package: $(VENV)/.requirements pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

setup: $(VENV)/.package

migrate: setup
	@mark=$$(stat --format=%s results/store/journal.jsonl 2>/dev/null || echo 0); status=0; \
	$(BIN)/python -m snakemake --profile=workflow/profiles/local --cores=$(CORES) $(SNAKEMAKE_FLAGS) -- evidence || status=$$?; \
	$(BIN)/python -m loom.tools.loom_stage verdict --since=$$mark || status=$$?; \
	exit $$status

# After a change of the lifter or of a native artifact: the kept oracles, lifted again, to be looked at and committed.
oracles: setup
	@$(BIN)/python -m loom.tools.loom_stage oracles

test: setup
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(PYTEST_FLAGS) $(TESTS)

test-full: setup
	@LOOM_TEST_FULL=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(PYTEST_FLAGS) $(TESTS)

lint: setup
	@$(BIN)/ruff check loom tests benchmarks
	@$(BIN)/mypy --strict loom
	@$(BIN)/python -m snakemake --lint

bench: setup
	@for script in benchmarks/*.py; do \
	  case $$script in */_*) continue;; esac; \
	  echo "== $$script"; $(BIN)/python $$script || exit 1; \
	done

# Needs pip-tools, which is not part of the locked set.
lock:
	@$(BIN)/python -m piptools compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-emit-index-url \
	  --no-emit-find-links --no-emit-trusted-host --no-header --no-annotate --output-file=requirements.txt requirements.in

clean:
	@rm -rf results build .snakemake .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -not -path './$(VENV)/*' -prune -exec rm -rf {} +
