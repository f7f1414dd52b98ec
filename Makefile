# Everything a developer runs. Needs Python 3.10 or newer and make; the rest is installed into $(VENV).

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PLAIN := $(VENV)-plain
FOLDER ?= tests/cases

.PHONY: test lint demo docs bench clean

test: lint  ## formatting, types and tests: what CI runs
	$(BIN)/pytest

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Exit status 1 means that there was something to report, which is the point of the examples; 2 would be an error.
demo: $(READY)
	@echo '== What flake8 says of the examples'
	@$(BIN)/flake8 --isolated --select TRP examples; status=$$?; \
	echo "(exit status $$status)"; test $$status -le 1
	@echo
	@echo '== How torchrepro-fix would repair them'
	@$(BIN)/torchrepro-fix --isolated --diff --unsafe-fixes examples; status=$$?; \
	echo "(exit status $$status)"; test $$status -le 1

docs: $(READY)  ## rewrite the pages and the table that are made from the rules
	$(BIN)/python docs/generate.py

bench: $(READY) $(PLAIN)/.ready  ## make bench FOLDER=path/to/code
	$(BIN)/python benchmarks/speed.py --with $(BIN)/python --without $(PLAIN)/bin/python $(FOLDER)

clean:
	rm -rf $(VENV) $(PLAIN) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.10 or newer is needed: make PYTHON=..." if sys.version_info < (3, 10) else 0)'
	@echo 'Installing into $(VENV) ...'
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# The same flake8 without the plugin, to measure what the plugin adds.
$(PLAIN)/.ready: $(READY)
	@echo 'Installing into $(PLAIN) ...'
	@rm -rf $(PLAIN)
	@$(PYTHON) -m venv $(PLAIN)
	@$(PLAIN)/bin/python -m pip install --quiet --disable-pip-version-check \
		"flake8==$$($(BIN)/python -c 'from importlib.metadata import version; print(version("flake8"))')"
	@touch $@
