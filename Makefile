# Every target that needs the environment makes it first, in .venv; a second run starts at once (tools/setup.sh).
SHELL := /bin/bash
.DEFAULT_GOAL := help
TORCH_PYTHON ?= .venv/bin/python
.PHONY: help setup demo test test-all test-torch golden test-py test-lit lint types format docs site dist walk-torch test-iree clean

# A test that fails is run once more, and the summary says so: the tests start thousands of processes, and a machine
# that is short of memory ends some of them. What fails twice is a failure.
PYTEST := .venv/bin/python -m pytest -n 2 --dist worksteal --reruns 1 -r R
# lit's tests call the programs beside it; the environment need not be activated.
LIT := PATH="$(CURDIR)/.venv/bin:$$PATH" .venv/bin/lit -v

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup:  ## .venv with every library; Mesa's Vulkan driver where it can be installed
	@tools/setup.sh

demo: setup  ## the main job: a quantised convolution that stock IREE refuses, repaired, run and compared
	@.venv/bin/python examples/quantised_conv.py

walk-torch: setup  ## examples/walk_torch.py, in .venv-torch with PyTorch (CPU) and iree-turbine
	@[ -x .venv-torch/bin/python ] || .venv/bin/python -m venv .venv-torch
	@.venv-torch/bin/python -m pip install -q -e . 'torch>=2.6' 'iree-turbine>=3.8'
	@.venv-torch/bin/python examples/walk_torch.py

test: setup  ## every capability, in minutes, the lit tests among them; FULL=1 adds the costly tests (what CI runs)
	$(PYTEST) $(if $(FULL),,--quick)

test-all: setup  ## the long sweeps as well
	$(PYTEST) --slow

test-torch: setup  ## exported programs and models against PyTorch; TORCH_PYTHON names a Python with torch, transformers and iree-turbine
	$(TORCH_PYTHON) -m pytest -p no:cacheprovider tests/py/importers/test_exported_programs.py
	$(TORCH_PYTHON) -m bench.exported_models

golden: setup  ## writes tests/golden/edits.json anew: what is tried and kept for 60 programs
	.venv/bin/python -m bench.golden_edits

test-py: setup  ## the Python tests without the lit tests
	$(PYTEST) --ignore=tests/py/test_lit.py

test-iree:  ## the tests on another version of IREE, e.g. IREE=3.12.0, in an environment of its own
	@[ -n "$(IREE)" ] || { echo "which version? make test-iree IREE=3.12.0" >&2; exit 2; }
	@FISSILE_IREE=$(IREE) tools/setup.sh
	FISSILE_CALIBRATING=$(IREE) .venv-iree-$(IREE)/bin/python -m pytest -n 2 $(TESTS)

test-lit: setup  ## the lit tests alone
	$(LIT) tests/lit

lint: setup  ## ruff: errors, unused names, order of imports, likely bugs, old syntax, layout
	@.venv/bin/ruff check . && .venv/bin/ruff format --check .

types: setup  ## mypy, over the whole package
	@.venv/bin/python tools/types_check.py

format: setup  ## ruff: lays the code out, and repairs what lint finds where that is safe
	@.venv/bin/ruff check -q --fix . ; .venv/bin/ruff format .

docs: setup  ## the tables in docs/ that are generated from declarations
	@.venv/bin/python tools/docs.py

site: setup  ## the pages of docs/ as a site in build/site (MkDocs); a broken anchor ends it
	@.venv/bin/python -m pip install -q -e '.[docs]'
	@.venv/bin/mkdocs build --strict --site-dir build/site

dist: setup  ## a wheel in dist/, checked
	@rm -rf dist build/lib build/bdist.*
	@.venv/bin/python -m pip wheel -q --no-deps --no-build-isolation -w dist . && ls -l dist
	@.venv/bin/python -m pytest tests/py/test_packaging.py

clean:  ## removes the environment and everything that was built
	rm -rf .venv .venv-iree-* .venv-torch build dist *.egg-info .pytest_cache .hypothesis .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	find tests -name Output -type d -prune -exec rm -rf {} +
