# Everything in a virtual environment of its own; `make demo` and `make test` need nothing but Python and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DATA ?=
# A checkout of an earlier version, for benchmarks/streams.py
BEFORE ?=

.PHONY: demo test coverage lint docs dist fuzz bench clean

demo: $(VENV)/.installed
	$(BIN)/perceptrons demo

test: $(VENV)/.tested
	$(BIN)/python -m pytest -n 2 --dist loadscope

# The settings in pyproject.toml tell what is left out, and why. One test forbids large files: coverage writes one.
NO_LARGE_FILES := tests/cli/test_processes.py::test_output_is_whole_or_an_error
coverage: $(VENV)/.tested
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n 2 --dist loadscope --deselect $(NO_LARGE_FILES)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage json --quiet --include='src/*' -o - | $(BIN)/python .ci/by_folder.py

lint: $(VENV)/.linted
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The site, in docs/_build/html: all examples run, warnings are errors, every link is followed, and nothing may come from
# a network.
SITE := docs/_build/html
docs: $(VENV)/.documented
	rm -rf $(SITE) docs/gallery docs/reference/api docs/reference/backreferences
	$(BIN)/python -m pytest -n 2 docs tests/docs/test_commands.py
	$(BIN)/python -m sphinx -W --keep-going -q -j 2 docs $(SITE)
	$(BIN)/python docs/check.py $(SITE)

# A wheel and a source archive. The wheel is installed into an empty environment, where the README's first example runs.
dist: $(VENV)/.built
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(PYTHON) -m venv dist/.empty
	dist/.empty/bin/python -m pip install --quiet dist/*.whl
	cd dist && .empty/bin/python ../.ci/first_example.py ../README.md
	rm -rf dist/.empty
	ls -l dist

# Malformed input of every kind, for as long as CASES says: 100,000 cases of each kind take hours, 10,000 half an hour.
CASES ?= 10000
fuzz: $(VENV)/.tested
	$(BIN)/python tests/fuzz/harness.py --cases $(CASES)

bench: $(VENV)/.installed
	$(BIN)/python benchmarks/linear.py
	$(BIN)/python benchmarks/stopping.py $(DATA)
	$(BIN)/python benchmarks/theory.py $(DATA)
	$(BIN)/python benchmarks/second_order.py $(DATA)
	$(BIN)/python benchmarks/rules.py $(DATA)
	$(BIN)/python benchmarks/choose.py $(DATA)
	$(BIN)/python benchmarks/defaults.py $(DATA)
	$(BIN)/python benchmarks/drifting.py $(DATA)
	$(BIN)/python benchmarks/shapes.py
	$(BIN)/python benchmarks/streams.py $(BEFORE)
	$(BIN)/python benchmarks/calibration.py $(DATA)
	$(BIN)/python benchmarks/regression.py
	$(BIN)/python benchmarks/budget.py
	$(BIN)/python benchmarks/kernel.py $(DATA)
	$(BIN)/python benchmarks/files.py
	$(BIN)/python benchmarks/tables.py $(DATA)
	$(BIN)/python benchmarks/text.py $(DATA)
	$(BIN)/python benchmarks/tagging.py $(DATA)
	$(BIN)/python benchmarks/tagger_defaults.py $(DATA)
	$(BIN)/python benchmarks/parsing.py $(DATA)
	$(BIN)/python benchmarks/cluster.py $(DATA)
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/serve.py
	$(BIN)/python benchmarks/serve_faults.py
	$(BIN)/python benchmarks/lab.py

clean:
	rm -rf $(VENV) demo dist docs/_build docs/gallery docs/reference/api docs/reference/backreferences .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage .coverage.*
	find . -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[all]"
	touch $@

$(VENV)/.tested: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	touch $@

$(VENV)/.linted: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable ".[lint]"
	touch $@

$(VENV)/.documented: $(VENV)/.tested
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch $@

$(VENV)/.built: $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet build
	touch $@
