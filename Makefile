# Needs Python 3.11 or newer and make; everything else goes into .venv.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
SOURCE := data/demo
OUT    := out
# The tests start many processes of the program, and none should have to compile it again.
unexport PYTHONDONTWRITEBYTECODE
# The newest demo record counts as the present, so that the demo report is the same on any day.
NOW    := last
# Of `make mutants`: the seed, a new one if it is empty, and the number of changes.
SEED   :=
NUMBER := 200
# Of what `make bench` measures: small, about five minutes; large, an hour; huge, two hours.
SIZE   := small

.DEFAULT_GOAL := help
.PHONY: help report test approve bench soak mutants spark lint types imports pytest notebooks dist clean

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

report: $(VENV)/.core  ## rank the demo corpus into out/
	@$(BIN)/vocabgap report $(SOURCE) --out $(OUT) --now $(NOW)

# Two at a time: types and notebooks take one core each, and the tests have the other meanwhile.
test: $(VENV)/.dev  ## lint, types, import rules, every test, the notebooks
	@$(MAKE) --no-print-directory --jobs 2 lint types imports pytest notebooks

approve: $(VENV)/.dev  ## write the approved reports, the manual's reference and what notebooks show anew; look at the diff
	@$(BIN)/pytest --quiet --approve tests/reporting/test_golden.py tests/test_reference.py tests/test_notebooks.py

bench: $(VENV)/.dev  ## what the stages cost, beside others, and how good the groups are; SIZE=large or huge for more
	@PYTHONPATH=tests $(BIN)/python -m benchmarks --size $(SIZE)

soak: $(VENV)/.dev  ## kill, refuse, fill disks, explode, flip bits, make mistakes: for a quarter of an hour, as a table
	@PYTHONPATH=tests $(BIN)/python tests/faults/soak.py

mutants: $(VENV)/.dev  ## change the core in NUMBER random places, one at a time; list the changes that no test notices
	@PYTHONPATH=tests $(BIN)/python -m mutants --number $(NUMBER) $(if $(SEED),--seed $(SEED))

# Spark itself, which needs Java, lies beside the environment: it and its thin client exclude each other there.
spark: $(VENV)/.spark  ## the report on a cluster of Spark
	@SPARK_HOME=$(abspath $(VENV))/spark/pyspark $(BIN)/pytest --quiet tests/engines/test_cluster.py

lint: $(VENV)/.dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(VENV)/.dev
	@$(BIN)/mypy

imports: $(VENV)/.dev
	@$(BIN)/lint-imports

pytest: $(VENV)/.dev
	@$(BIN)/pytest --quiet --numprocesses $$(getconf _NPROCESSORS_ONLN) --max-worker-restart 0 --durations 10 \
		--ignore tests/test_notebooks.py

notebooks: $(VENV)/.dev
	@$(BIN)/pytest --quiet tests/test_notebooks.py

dist:  ## build the sdist, and the wheel from it, into dist/
	@$(PYTHON) -m venv $(VENV)/dist
	@$(VENV)/dist/bin/pip install --quiet --disable-pip-version-check build
	@$(VENV)/dist/bin/python -m build --outdir dist .

clean:  ## remove what make has made
	rm -rf $(VENV) $(OUT) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "vocabgap needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "installing vocabgap into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[embed]' --constraint constraints.txt
	@touch $@

$(VENV)/.dev: $(VENV)/.core
	@echo "installing what the tests need ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' --constraint constraints.txt
	@touch $@

$(VENV)/.spark: $(VENV)/.dev
	@echo "installing Spark ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade --no-deps --target $(VENV)/spark \
		"pyspark==$$(sed -n 's/^pyspark-client==//p' constraints.txt)"
	@touch $@
