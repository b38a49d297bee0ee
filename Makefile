# The commands people type. CMake does the work; this file only names it.

BUILD   := build/release
PREFIX  ?= /usr/local
DATA    ?= ../shared/data/perf
FUZZ_SECONDS ?= 3600

.PHONY: help deps build test fuzz format lint clean
.NOTPARALLEL:

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

deps: ## install what is missing from the distribution
	@tools/deps --test

build: ## build
	@tools/deps
	@mkdir -p build
	@cmake --preset release -DCMAKE_INSTALL_PREFIX="$(PREFIX)" > build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build --preset release

test: deps ## everything that must hold: tests, sanitizers, fuzzing, format, lint
	@tools/test

fuzz: deps ## fuzz each target for FUZZ_SECONDS (an hour)
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tools/fuzz

format: ## format all C sources
	@tools/lint --format

lint: deps ## formatting, clang-tidy, module rules
	@tools/lint

clean: ## remove all that was built
	@rm -rf build
