# Everything a newcomer or CI calls. `make help` lists it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := fixtures/exports/pt_pageable.sqlite

.DEFAULT_GOAL := help
.PHONY: help demo test check lint format golden fuzz mutants rowloss bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/installed ## set up and judge a bundled real trace (it fails, instructively)
	@echo "$$ overlapcheck analyze $(DEMO)"
	@$(BIN)/overlapcheck analyze $(DEMO) || [ $$? -eq 1 ]

test: $(VENV)/installed-dev ## set up and run the full test suite
	$(BIN)/python -m pytest

check: lint test ## ruff, mypy --strict and the tests

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/installed-dev ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

golden: $(VENV)/installed-dev ## rewrite golden outputs, JSON Schemas and the parts in docs; review the diff
	UPDATE_GOLDEN=1 $(BIN)/python -m pytest -q tests/renderers tests/test_saved.py tests/test_docs.py tests/test_pages.py tests/passes/test_rules.py tests/passes/test_measured.py

fuzz: $(VENV)/installed-dev ## judge N=5000 damaged exports; SEED=... repeats the case that a line names
	@$(BIN)/python -m tests.hostile.fuzz $(if $(SEED),--seed $(SEED),--cases $(or $(N),5000))

mutants: $(VENV)/installed-mutants ## change what decides and see which tests notice; M=passes/order, N=200 SEED=1
	@nice -n 10 $(BIN)/python -m tests.mutants $(if $(M),--module $(M)) $(if $(N),--number $(N) --seed $(or $(SEED),0))

bench: $(VENV)/installed-dev ## cost beside a bare SQLite scan and installed peers (12 minutes)
	$(BIN)/python -m bench

rowloss: $(VENV)/installed-dev ## delete rows of bundled exports in all ways, judge what is left
	$(BIN)/python -m tests.hostile.row_loss fixtures/exports/*.sqlite*

clean: ## remove the environment and caches
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/python:
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/installed: $(VENV)/python pyproject.toml $(shell find overlapcheck -name '*.py')
	$(BIN)/python -m pip install --quiet --disable-pip-version-check .
	@touch $@

# Editable, so that the tests see the sources that are being edited.
$(VENV)/installed-dev: $(VENV)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(VENV)/installed-mutants: $(VENV)/installed-dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,mutants]'
	@touch $@
