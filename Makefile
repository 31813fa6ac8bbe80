# Concord. `make` lists all targets.
PYTHON ?= python3
PORT ?= 8000
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
MANAGE := DEBUG=1 $(BIN)/python manage.py

.DEFAULT_GOAL := help
.PHONY: help run test lint format frontend schema soak drill bench pictures clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Concord needs Python 3.11 or newer.")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements.txt requirements/parquet.txt | $(BIN)/python
	$(BIN)/python -m pip install -q -r requirements.txt -r requirements/parquet.txt
	$(BIN)/python -m pip install -q --no-deps --editable .
	@touch $@

$(VENV)/.test: requirements.txt requirements/test.txt requirements/gpu.txt requirements/figures.txt requirements/tokens.txt requirements/parquet.txt requirements/splits.txt | $(BIN)/python
	@# A test run imports a third of the installed modules, so compile them on import.
	$(BIN)/python -m pip install -q --no-compile -r requirements/test.txt
	$(BIN)/python -m pip install -q --no-deps --editable .
	@touch $@ $(VENV)/.runtime

run: $(VENV)/.runtime ## install, build, seed the illustrative project and serve it on PORT (8000): one command on a fresh machine
	@$(MANAGE) frontend
	@$(MANAGE) demo --port $(PORT)

test: $(VENV)/.test ## run every check; ONLY="style sqlite" selects stages, ONLY=changed tests of changes since SINCE
	@$(BIN)/python -m tests.stages $(ONLY)

lint: $(VENV)/.test ## the quick checks: style, types, import order
	@$(BIN)/python -m tests.stages style types imports

format: $(VENV)/.test ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

frontend: $(VENV)/.runtime ## build the pages
	$(MANAGE) frontend

schema: $(VENV)/.runtime ## write the OpenAPI schema from the code
	$(MANAGE) spectacular --validate --fail-on-warn --file frontend/schema.yml

soak: $(VENV)/.test ## everything on both databases, including long tests: 200 kills of the web server, 500 contests, 20 restarts, drills of 10 minutes, a data set of 60 reviews
	SOAK=1 KILLS=200 CONTESTS=500 RESTARTS=20 DRILL_SECONDS=600 SCALE=200000 SLOW=60 REVIEWS=60 $(BIN)/python -m tests.stages soak

drill: $(VENV)/.runtime ## back up, restore into a temporary database, and verify the result
	@$(MANAGE) backup_drill

bench: $(VENV)/.test ## run the benchmarks in a few minutes; QUICK=1 is shorter, ONLY="loop start" selects some
	@$(MANAGE) frontend
	@$(BIN)/python -m benchmarks $(ONLY) $(if $(QUICK),--quick)

pictures: $(VENV)/.test ## take pictures of every page and check them; ONLY="rounds corpus" picks
	@$(MANAGE) frontend
	@$(BIN)/python -m tests.pictures $(ONLY)

clean: ## remove installed and built files (not your data in var/)
	rm -rf $(VENV) frontend/node_modules frontend/dist .cache .mypy_cache .ruff_cache .pytest_cache
