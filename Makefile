# make demo: BFS on a real road network (or GRAPH=path).  make test: every test.  make lint: every linter.
# Each sets up its own virtual environment in .venv; Python >= 3.11 and make are all they need.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test test-full lint format bench clean
.DEFAULT_GOAL := demo

demo: $(VENV)/demo.stamp
	$(BIN)/python examples/demo.py $(if $(GRAPH),"$(GRAPH)")

test: $(VENV)/test.stamp
	$(BIN)/python -m pytest -n auto $(ARGS)

# Longer campaigns: the tests marked `full`, and more examples for every property.
test-full: $(VENV)/test.stamp
	HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest -n auto -m "not gpu" $(ARGS)

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/pyright

format: $(VENV)/dev.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/bench.stamp
	$(BIN)/python benchmarks/cpu.py $(ARGS)

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis build dist out

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo 'graphla needs Python 3.11 or newer: make PYTHON=python3.12 ...'; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Numba compiles the hot loops. Where it has no build for this Python, graphla runs on NumPy alone.
# python-graphblas is a second witness in some tests, which are skipped where it cannot be had.
$(VENV)/demo.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e '.[plot,numba]' || $(BIN)/python -m pip install -q -e '.[plot]'
	@touch $@

$(VENV)/test.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e '.[test,numba]' || $(BIN)/python -m pip install -q -e '.[test]'
	-$(BIN)/python -m pip install -q 'python-graphblas>=2025.2'
	@touch $@

$(VENV)/bench.stamp: pyproject.toml $(VENV)/test.stamp
	$(BIN)/python -m pip install -q -e '.[bench]'
	@touch $@

$(VENV)/dev.stamp: pyproject.toml $(VENV)/test.stamp
	$(BIN)/python -m pip install -q -e '.[dev]'
	@touch $@
