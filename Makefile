# What a developer or a newcomer runs; `make help` lists it.
#
#   make demo      deploy the sample overcloud on an embedded undercloud, watched live
#   make test      every test, on an undercloud of its own
#
# Each target does the set-up it needs; what is done already is not done again.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

#: The first Python from 3.11 to 3.13 that is installed.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null \
	&& { echo $$p; break; }; done)
VENV ?= .venv
BIN := $(VENV)/bin
#: Distribution packages of the services that are not Python.
PACKAGES := redis-server rabbitmq-server mariadb-server
#: Where the demo keeps its undercloud, and its first port; empty: the command's defaults.
UNDERCLOUD_DIR ?=
PORT_BASE ?=
#: The same for the tests; never the demo's.
TEST_DIR ?= $(CURDIR)/.undercloud/test
TEST_PORT_BASE ?= 23000
#: Arguments for pytest, e.g. make test-unit PYTEST="-k journal -x"
PYTEST ?=

# Without bytecode every start of a service compiles its sources again.
unexport PYTHONDONTWRITEBYTECODE

WHERE = $(if $(UNDERCLOUD_DIR),--dir $(UNDERCLOUD_DIR)) $(if $(PORT_BASE),--port-base $(PORT_BASE))

##@ Try it

.PHONY: demo
demo: packages venv ## Deploy the sample plan on an embedded undercloud, with live bars
	@$(BIN)/tripleo-worker demo $(WHERE)

.PHONY: demo-down
demo-down: venv ## Stop what `make demo` left running
	@$(BIN)/tripleo-worker undercloud down $(if $(UNDERCLOUD_DIR),--dir $(UNDERCLOUD_DIR))

##@ Check it

.PHONY: test
test: test-unit test-functional ## Run every test

.PHONY: test-unit
test-unit: venv ## Run the tests that need no services
	@$(BIN)/pytest tests/unit $(PYTEST)

.PHONY: test-functional
test-functional: packages venv ## Run the tests on real services: an undercloud of their own
	@undercloud() { $(BIN)/tripleo-worker undercloud "$$@" --dir "$(TEST_DIR)"; }
	# What an earlier run left, were it killed, goes first.
	if [ -e "$(TEST_DIR)" ]; then undercloud down; rm -rf "$(TEST_DIR)"; fi
	trap 'code=$$?; undercloud down || code=1; exit $$code' EXIT
	trap 'exit 130' INT TERM
	undercloud up --worker --port-base $(TEST_PORT_BASE)
	CI=true TRIPLEO_UNDERCLOUD_DIR="$(TEST_DIR)" $(BIN)/pytest tests/functional $(PYTEST)

.PHONY: lint
lint: venv ## Check style, types, the walls between the rooms, and the workbooks
	@set -x
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/tripleo-worker workbooks lint

.PHONY: docs
docs: venv ## Build the documentation and the man pages into doc/build
	@if [ -e .git ]; then $(BIN)/reno lint; fi
	$(BIN)/sphinx-build -q -W --keep-going -b html doc/source doc/build/html
	$(BIN)/sphinx-build -q -W --keep-going -b man doc/source doc/build/man
	echo "doc/build/html/index.html"

.PHONY: bench
bench: packages venv ## Measure; prints a table and writes .bench/NAME.json (NAMES="latency ..." for some)
	@$(BIN)/python tests/benchmarks/bench.py $(NAMES)

##@ Keep it

.PHONY: samples
samples: venv ## Write etc/ again from the options and policies in the code
	@$(BIN)/oslo-config-generator --namespace tripleo_worker --wrap-width 79 \
		--output-file etc/tripleo-worker.conf.sample
	$(BIN)/oslopolicy-sample-generator --namespace tripleo_worker \
		--output-file etc/policy.yaml.sample

.PHONY: constraints
constraints: venv ## Resolve constraints.txt again (UPGRADE=1: to the newest releases)
	@$(BIN)/uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 \
		--no-annotate --no-header $(if $(UPGRADE),--upgrade) --quiet --output-file constraints.txt
	# What pyproject.toml says of the environment is true of every line; it need not stand there.
	sed -i -E "s/platform_python_implementation == 'CPython' and //; s/ (and|;) sys_platform == 'linux'$$//" \
		constraints.txt
	sed -i '1i # Every release that tripleo-worker is tested with, on Python 3.11 to 3.13.' constraints.txt
	sed -i '2i # Made by `make constraints`; see CONTRIBUTING.rst.' constraints.txt

.PHONY: clean
clean: ## Remove what was built; stop the demo first
	@if [ -e "$(TEST_DIR)" ] && [ -x $(BIN)/tripleo-worker ]; then
		$(BIN)/tripleo-worker undercloud down --dir "$(TEST_DIR)"
	fi
	rm -rf $(VENV) .bench .undercloud dist doc/build .hypothesis
	rm -rf .mypy_cache .pytest_cache .ruff_cache .import_linter_cache

.PHONY: help
help: ## Show this
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

##@

.PHONY: venv
venv: $(VENV)/.installed

# uv is much quicker than pip; where it cannot reach an index that pip is set up for, pip does it.
$(VENV)/.installed: pyproject.toml constraints.txt
	@if [ -z "$(PYTHON)" ]; then
		echo "Python 3.11, 3.12 or 3.13 is needed; install it, or name it: make PYTHON=/path/to/python3" >&2
		exit 1
	fi
	if [ ! -x $(BIN)/python ]; then
		$(PYTHON) -m venv $(VENV) || {
			echo "$(PYTHON) cannot make a virtual environment; on Debian: apt-get install python3-venv" >&2
			rm -rf $(VENV); exit 1
		}
	fi
	echo "Installing tripleo-worker into $(VENV)"
	$(BIN)/python -m pip install --quiet "uv>=0.5" 2> /dev/null || true
	if ! $(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode \
			-c constraints.txt -e '.[test,doc]'; then
		echo "uv could not install; trying pip, which takes longer" >&2
		$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[test,doc]'
	fi
	touch $@

.PHONY: packages
packages:
	@missing=()
	for package in $(PACKAGES); do
		dpkg-query -W -f '$${db:Status-Status}' $$package 2>/dev/null | grep -qx installed \
			|| missing+=($$package)
	done
	[ $${#missing[@]} -gt 0 ] || exit 0
	sudo=()
	if ! command -v apt-get > /dev/null; then
		echo "These are needed, by their Debian names: $${missing[*]}" >&2; exit 1
	elif [ $$(id -u) != 0 ]; then
		sudo -n true 2> /dev/null || [ -t 0 ] && command -v sudo > /dev/null || {
			echo "Debian packages are missing; install them with:" >&2
			echo "    sudo apt-get install --no-install-recommends $${missing[*]}" >&2
			exit 1
		}
		sudo=(sudo)
	fi
	echo "Installing Debian packages: $${missing[*]}"
	# The distribution's own services are not wanted: policy-rc.d keeps them from starting now,
	# and they are disabled for the next boot.
	policy=/usr/sbin/policy-rc.d
	if [ ! -e $$policy ]; then
		trap '"$${sudo[@]}" rm -f $$policy' EXIT
		printf '#!/bin/sh\nexit 101\n' | "$${sudo[@]}" tee $$policy > /dev/null
		"$${sudo[@]}" chmod 755 $$policy
	fi
	"$${sudo[@]}" apt-get update -qq
	"$${sudo[@]}" env DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes apt-get install -qq -y --no-install-recommends \
		"$${missing[@]}" > /dev/null
	if [ -d /run/systemd/system ]; then
		for unit in redis-server rabbitmq-server mariadb; do
			[[ " $${missing[*]} " == *" $$unit"* ]] && "$${sudo[@]}" systemctl --quiet disable $$unit || true
		done
	fi
