# Everything that a fresh machine with Python 3.11+, pip and make needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev

.PHONY: help quickstart test test-slow test-processes torture lint types format clean bench bench-finetuning

help:
	@echo "make quickstart   set up, then the whole job on text this machine has (~10 minutes)"
	@echo "make test         set up, then the test suite (under 15 minutes)"
	@echo "make test-processes   runs of several processes, kills, full disks, damage, failures of learning"
	@echo "make test-slow    the tests marked slow"
	@echo "make torture      faults and bad input, for long (hours): docs/reliability.md"
	@echo "make lint types   ruff and mypy"
	@echo "make bench DATA=... ROWS='pre-training predict-one'   speed beside other tools and the machine's limit"
	@echo "make bench-finetuning DATA=... ROWS='cola mrpc'   dev scores beside a transformers loop"

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "bertsmith needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)

$(INSTALLED): constraints.txt pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt torch==2.13.0
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(INSTALLED_DEV): $(INSTALLED)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

quickstart: $(INSTALLED)
	$(BIN)/bertsmith quickstart

test: $(INSTALLED_DEV)
	$(BIN)/pytest -m "not slow and not processes" --durations=10

test-processes: $(INSTALLED_DEV)
	$(BIN)/pytest -m "processes and not slow" --durations=10

test-slow: $(INSTALLED_DEV)
	$(BIN)/pytest -m slow --durations=10

# Twenty kills, 10,000 inputs a reader; figures are added to TORTURE_LOG as JSON lines.
TORTURE_LOG ?= torture.jsonl
torture: $(INSTALLED_DEV)
	-$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[fuzz]'
	BERTSMITH_TORTURE=1 BERTSMITH_TORTURE_LOG=$(abspath $(TORTURE_LOG)) $(BIN)/pytest tests/faults tests/fuzz --durations=20

lint: $(INSTALLED_DEV)
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks

types: $(INSTALLED_DEV)
	$(BIN)/mypy

format: $(INSTALLED_DEV)
	$(BIN)/ruff check --fix src tests benchmarks
	$(BIN)/ruff format src tests benchmarks

# DATA is a folder with glue/, or with GLUE's sets themselves; ROWS are rows or groups of
# bertsmith bench --list. Rows that the results file has are not measured again.
bench: $(INSTALLED_DEV)
	$(BIN)/bertsmith bench $(if $(DATA),--data $(DATA)) --out benchmarks/bench-results.json $(ROWS)

# DATA is a folder with glue/, squad/, ner/ and swag/; ROWS are rows of the table, cola for instance.
bench-finetuning: $(INSTALLED_DEV)
	$(BIN)/python benchmarks/finetuning.py --data $(DATA) --out benchmarks/finetuning-results.jsonl $(ROWS)
	$(BIN)/python benchmarks/finetuning.py --out benchmarks/finetuning-results.jsonl --table

clean:
	rm -rf $(VENV) quickstart build dist src/*.egg-info
