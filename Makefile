# make demo: BFS on a real road network (or GRAPH=path).  make test: every test.  make lint: every linter.
# make docs: the documentation site.  make release: a wheel and an sdist, tested.
# Each target sets up the virtual environment .venv that it needs. Only Python >= 3.11 and make are required.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test test-full gpu-test gpu-ready gpu-record gpu-families gpu-suites gpu-traversal gpu-loops gpu-sanitizers release-check resources lint format bench docs links pictures release recipe clean
.DEFAULT_GOAL := demo

demo: $(VENV)/demo.stamp
	$(BIN)/python examples/demo.py $(if $(GRAPH),"$(GRAPH)")

test: $(VENV)/test.stamp
	$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)
	$(if $(ARGS),,$(SIMULATED) $(BIN)/python -m pytest -n auto --dist worksteal $(ON_CUDA) --ignore tests/algorithms/test_known_answers.py)

# Run the tests of `make test` and what `make test` leaves out (tests/effort.py): tests marked
# `full`, all cases of each test, 1000 examples of each property, every schedule and sanitizer of
# the simulated kernels, and CUDA 12 in addition to 13. If nothing fails, write tests/full.json;
# this requires a checkout without uncommitted changes.
test-full: $(VENV)/test-full.stamp
	$(if $(ARGS),,$(BIN)/python tests/records.py ready full)
	HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest -n auto --dist worksteal -m "not gpu" --outcomes out/full.json $(ARGS)
	$(if $(ARGS),,$(SIMULATED_IN_FULL) $(BIN)/python -m pytest -n auto --dist worksteal $(ON_CUDA) --outcomes out/full-simulated.json)
	$(if $(ARGS),,for version in $(OLDER_NETWORKX); do PYTHONPATH=$(VENV)/networkx-$$version \
	  $(BIN)/python -m pytest -n auto --dist worksteal tests/networkx_backend || exit 1; done)
	$(if $(ARGS),,$(BIN)/python tests/records.py write full out/full.json out/full-simulated.json)

# The NetworkX backend is also tested with these older versions of NetworkX, which it supports.
OLDER_NETWORKX := 3.4 3.5

# These tests run a second time with every matrix and vector on CUDA: on a simulated GPU or a real one.
ON_CUDA := $(addprefix tests/,$(addsuffix .py, \
  test_operations test_assign test_aggregators test_construction test_expression test_notation \
  test_identities test_programs test_forms test_larger test_sorting test_symmetry test_docs)) tests/algorithms \
  tests/ladder tests/traversal
SIMULATED := GRAPHLA_TEST_DEVICE=cuda GRAPHLA_SIMULATOR=plain HYPOTHESIS_PROFILE=simulated
SIMULATED_IN_FULL := GRAPHLA_TEST_DEVICE=cuda GRAPHLA_SIMULATOR=plain HYPOTHESIS_PROFILE=card

# To use an installed Python that has CuPy, name it: make gpu-test GPU_PYTHON=python3
# If nothing fails, `make gpu-test` writes tests/gpu/verified.json. This requires a git checkout
# without uncommitted changes or, if there is no git, the variable GRAPHLA_COMMIT.
GPU_PYTHON ?= $(BIN)/python
GPU_ARGS   ?= -p no:benchmark $(shell $(GPU_PYTHON) -c 'import xdist' 2>/dev/null && echo '-n 8')
# The parts of gpu-test can also be run one by one. The target gpu-record then combines their
# results, all of which must come from the same sources.
gpu-test: gpu-ready
	$(MAKE) -j5 gpu-families gpu-suites gpu-traversal gpu-loops gpu-sanitizers
	$(MAKE) gpu-record

gpu-record:
	$(GPU_PYTHON) tests/records.py write gpu out/gpu.json out/on-cuda.json out/traversal.json out/loops.json out/sanitize.json

gpu-ready:
	$(GPU_PYTHON) tests/records.py ready gpu

gpu-families:
	$(GPU_PYTHON) -m pytest $(GPU_ARGS) -m "not full" tests/gpu --ignore tests/gpu/test_compile.py --outcomes out/gpu.json

gpu-suites:
	GRAPHLA_TEST_DEVICE=cuda HYPOTHESIS_PROFILE=card $(GPU_PYTHON) -m pytest $(GPU_ARGS) $(filter-out tests/traversal,$(ON_CUDA)) --outcomes out/on-cuda.json

# This suite runs few Hypothesis examples (profile `quick`), because almost every one needs a new
# kernel for its random combination of a semiring, a dtype and a mask.
gpu-traversal:
	GRAPHLA_TEST_DEVICE=cuda HYPOTHESIS_PROFILE=quick $(GPU_PYTHON) -m pytest $(GPU_ARGS) tests/traversal --outcomes out/traversal.json

# These suites run few Hypothesis examples too, because each example is a loop that needs its own
# kernel.
gpu-loops:
	GRAPHLA_TEST_DEVICE=cuda HYPOTHESIS_PROFILE=quick $(GPU_PYTHON) -m pytest $(GPU_ARGS) $(addprefix tests/program/test_,cuda_engine.py cuda_products.py sources_on_cuda.py stored_programs_on_cuda.py launches.py library.py) --outcomes out/loops.json

gpu-sanitizers:
	$(GPU_PYTHON) tests/gpu/sanitize.py out/sanitize.json

# Fail unless `make gpu-test` has passed with the current kernels, and `make test-full` has passed
# with the current sources.
release-check:
	$(PYTHON) tests/records.py check

# Measure how many registers, how much stack and how much shared memory each kernel uses. Record
# these numbers in resources.json, as limits that the tests check.
resources: $(VENV)/test.stamp
	$(BIN)/python tests/gpu/campaign.py

CUDA_SOURCES := $(wildcard graphla/backends/cuda/*.cu* graphla/ladder/*.cu*)

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/pyright
	$(BIN)/clang-format --dry-run --Werror $(CUDA_SOURCES)
	$(BIN)/python tests/prose.py

format: $(VENV)/dev.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CUDA_SOURCES)

bench: $(VENV)/bench.stamp
	$(BIN)/python benchmarks/cpu.py $(ARGS)

# Build the documentation site in out/site, and run the notebooks. Any warning, such as a broken
# link within the site, is an error. `make links` checks the links to other sites.
docs: $(VENV)/docs.stamp
	rm -rf docs/reference/generated
	$(BIN)/python -m sphinx -q -E -W --keep-going -b html -d out/doctrees docs out/site
	@echo 'open out/site/index.html'

links: $(VENV)/docs.stamp
	$(BIN)/python -m sphinx -q -b linkcheck -D nb_execution_mode=off -d out/doctrees-links docs out/links

# Draw the pictures in docs/images that can be drawn without a GPU. The charts of the ladder come
# from `graphla ladder GRAPH --chart FILE` on a GPU.
pictures: $(VENV)/demo.stamp
	for name in chip clubs isochrones; do $(BIN)/python examples/$$name.py && cp out/$$name.png docs/images/; done
	$(BIN)/python examples/demo.py --output docs/images/road-NY.png
	$(BIN)/python benchmarks/draw_levels.py docs/images/levels.json docs/images/levels.svg

# Build the wheel and the sdist, install the wheel in an environment with only NumPy and SciPy, and
# test it.
release: $(VENV)/release.stamp
	rm -rf dist out/release
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*
	$(PYTHON) -m venv out/release
	out/release/bin/python -m pip install -q dist/graphla-*.whl
	cd out && release/bin/python ../tests/smoke.py
	@version=$$(out/release/bin/python -c 'import graphla; print(graphla.__version__)') && echo \
	  "dist/ holds graphla $$version. After \`make release-check\` has passed on this commit:" && echo \
	  "  git tag -a v$$version -m 'graphla $$version' && git push origin v$$version" && echo \
	  "  $(BIN)/python -m twine upload dist/*"

# Render the conda recipe, and compare it with pyproject.toml. Building the package would need a
# conda channel.
recipe: $(VENV)/release.stamp
	$(BIN)/python conda/check.py

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis build dist out

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo 'graphla needs Python 3.11 or newer: make PYTHON=python3.12 ...'; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Numba compiles the hot loops. If Numba does not support this Python, graphla uses NumPy alone.
# Some tests compare results with python-graphblas, and some compile the kernels with NVRTC. If one
# of these two packages cannot be installed, the tests that need it are skipped. The limits in
# resources.json hold for NVRTC 13.0.
$(VENV)/demo.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e '.[plot,numba]' || $(BIN)/python -m pip install -q -e '.[plot]'
	@touch $@

$(VENV)/test.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e '.[test,numba]' || $(BIN)/python -m pip install -q -e '.[test]'
	-$(BIN)/python -m pip install -q 'python-graphblas>=2025.2'
	-$(BIN)/python -m pip install -q 'nvidia-cuda-nvrtc==13.0.*'
	@touch $@

$(VENV)/test-full.stamp: $(VENV)/test.stamp
	-$(BIN)/python -m pip install -q 'nvidia-cuda-nvrtc-cu12>=12.8'
	for version in $(OLDER_NETWORKX); do $(BIN)/python -m pip install -q --no-deps \
	  --target $(VENV)/networkx-$$version "networkx==$$version.*" || exit 1; done
	@touch $@

$(VENV)/bench.stamp: pyproject.toml $(VENV)/test.stamp
	$(BIN)/python -m pip install -q -e '.[bench]'
	@touch $@

$(VENV)/dev.stamp: pyproject.toml $(VENV)/test.stamp
	$(BIN)/python -m pip install -q -e '.[dev]'
	@touch $@

$(VENV)/docs.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e '.[docs,numba]' || $(BIN)/python -m pip install -q -e '.[docs]'
	@touch $@

$(VENV)/release.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e '.[release]'
	@touch $@
