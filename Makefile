# `make run` and `make test` work in a fresh clone; everything lands in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests mostly wait for other processes and use little CPU, so there are two workers for each processor.
PROCESSORS := $(shell getconf _NPROCESSORS_ONLN)
WORKERS ?= $(shell expr 2 \* $(PROCESSORS))
CHANGED = $(shell { git diff --name-only --diff-filter=d HEAD; git ls-files -o --exclude-standard; } 2>/dev/null \
	| grep -E '^(tests|bench|tools|examples)/.*\.py$$')
SPEC ?= ../shared/spec/requirements.md

# Without its cache of compiled test files, every run would compile them anew in every worker.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run setup test all-tests quick quick-lint quick-tests lint lint-text web web-tests dev wheel soak mutants bench bench-peers test-local eval requirements lock clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: $(VENV)/.installed ## set everything up and start coder here
	@$(BIN)/coder

setup: $(VENV)/.ready ## install the product and the development tools into .venv

# Lint and type checks run at the same time as the tests, which mostly wait.
test: setup ## everything; what CI runs
	@$(MAKE) --no-print-directory -j2 lint all-tests

quick: setup ## under a minute, for every commit: all checks of the product, its main journeys
	@$(MAKE) --no-print-directory -j2 quick-lint quick-tests

lint: setup lint-text
	$(BIN)/pyright --warnings >.pyright.log || { cat .pyright.log; exit 1; }

# The types of what was changed in the product, and beside it since the last commit; `make test` looks at all.
quick-lint: lint-text
	$(BIN)/python -m tools.check_types $(CHANGED) >.pyright.log || { cat .pyright.log; exit 1; }

lint-text:
	$(BIN)/ruff check -q .
	$(BIN)/ruff format -q --check .
	$(BIN)/lint-imports --no-logo >.import_linter.log || { cat .import_linter.log; exit 1; }

all-tests: web web-tests
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal

quick-tests:
	$(BIN)/python -m pytest -q -n $(PROCESSORS) --dist worksteal -m quick

# The web app. Where npm is missing or reaches no registry, it is not built: `coder web` serves a bare page, and the
# tests of the app are skipped with that reason.
WEB_APP := src/coderelay/surfaces/web/static/index.html
WEB_TOOLS := web/node_modules/.package-lock.json
NO_WEB = { echo "the web app is neither built nor tested, because npm cannot install what it needs"; exit 0; }
web: ## build the web app into the package
	@$(MAKE) --no-print-directory $(WEB_TOOLS) || $(NO_WEB); $(MAKE) --no-print-directory $(WEB_APP)

web-tests: web
	@[ -f $(WEB_TOOLS) ] || $(NO_WEB); cd web && node_modules/.bin/tsc --noEmit && node_modules/.bin/vitest run --silent

dev: setup $(WEB_TOOLS) ## the web app with live reload on PORT (10087), and the server behind it
	@$(BIN)/python -m tools.dev

$(WEB_APP): $(WEB_TOOLS) $(shell find web -type f -not -path '*/node_modules/*')
	cd web && node node_modules/vite/bin/vite.js build --logLevel warn

$(WEB_TOOLS): web/package-lock.json
	cd web && npm ci --ignore-scripts --no-progress --prefer-offline
	@touch $@

wheel: setup ## dist/coderelay-VERSION.whl, for `pipx install` and `uv tool install`
	@$(BIN)/python -m pip wheel -q --disable-pip-version-check --no-deps -w dist .
	@ls dist/*.whl

soak: setup ## hundreds of random kills, and how many of each kind; an hour or two
	@rm -f .soak_tally
	CODER_SOAK=300 CODER_SOAK_TALLY=$(CURDIR)/.soak_tally $(BIN)/python -m pytest -q -n $(WORKERS) -k "random or many_more_orders or whatever_a_rule" tests/crash tests/asks tests/blocking tests/session tests/policy
	@sort .soak_tally | uniq -c

mutants: setup ## record again which random walk finds each deliberately broken session rule; about five minutes
	CODER_SOAK=record $(BIN)/python -m pytest -q -n $(WORKERS) -k random_search tests/session/test_state_machine.py

bench: setup ## one table, each row beside a floor measured in the same run
	$(BIN)/python -m bench

bench-peers: setup ## the same beside codex, opencode, gemini … , those that are installed; about ten minutes
	$(BIN)/python -m bench peers

test-local: $(VENV)/.local ## with real weights: a tiny model is downloaded once, 93 MB
	$(BIN)/python -m pytest -q -m local tests/local

eval: $(VENV)/.local ## 21 small tasks for MODEL (the small offline model, 1.1 GB, if none is given)
	$(BIN)/python -m bench.eval $(if $(MODEL),--model $(MODEL))

requirements: setup ## ids of the specification that no test names
	@$(BIN)/python tools/requirements.py $(SPEC) $(IDS)

lock: setup ## write constraints.txt from what is installed
	$(BIN)/python -m pip freeze --exclude-editable | grep -v -E '^(pip|setuptools)==' >constraints.txt

clean: ## remove everything made here
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist build

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check --upgrade "pip>=25.1"

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml constraints.txt hatch_build.py web/package-lock.json
	@echo "setting up coderelay in $(VENV) …"
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/.ready: $(VENV)/.installed
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt --no-binary claude-agent-sdk --group dev
	@tools/system_packages
	-@$(BIN)/python -m pytest -q --collect-only >/dev/null  # compiles the tests once, not in every worker
	@touch $@

$(VENV)/.local: $(VENV)/.ready
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[local]'
	@touch $@
