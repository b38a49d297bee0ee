# The commands people type. CMake does the work; this file only names it.

BUILD   := build/release
STROBE  := $(BUILD)/bin/strobe
PREFIX  ?= /usr/local
DATA    ?= ../shared/data/perf
FUZZ_SECONDS ?= 3600
FAULT_KILLS ?= 200

.PHONY: help deps build demo test tsan gpu parity bench fuzz faults format lint install clean
.NOTPARALLEL:

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

deps: ## install what is missing from the distribution
	@tools/deps --test

build: ## build the strobe binary
	@tools/deps
	@mkdir -p build
	@cmake --preset release -DCMAKE_INSTALL_PREFIX="$(PREFIX)" > build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build --preset release

$(STROBE):
	@$(MAKE) build

demo: build ## run a small transformer on the built-in device, and say where its time went
	@echo
	$(STROBE) run -r -v --sync-host-device -o build/demo $(BUILD)/bin/tiny_gpt --layers 1
	@echo
	@echo "A report of real hardware: $(STROBE) perf examples/perf/decoder_wormhole --top 15"

test: deps ## everything that must hold: tests, sanitizers, fuzzing, format, lint
	@tools/test

tsan: deps ## what threads share (client, recorder, viewer, CUDA) under ThreadSanitizer
	@tools/tsan

gpu: build ## all that needs an NVIDIA GPU and nvcc (skipped without them)
	@tools/gpu $(BUILD)/bin || [ $$? = 77 ]

parity: build ## compare with the real tt-perf-report, byte for byte
	@python3 tests/parity/parity.py --strobe $(STROBE) --data "$(DATA)"
	@python3 tests/parity/report_parity.py --strobe $(STROBE) --data "$(DATA)/../report"

bench: build ## measure beside the real tools
	@python3 bench/perf.py --strobe $(STROBE) --data "$(DATA)"
	@echo
	@python3 bench/trace.py --strobe $(STROBE)
	@echo
	@python3 bench/report.py --strobe $(STROBE)
	@echo
	@$(BUILD)/bin/bench_emu
	@echo
	@$(BUILD)/bin/bench_device
	@echo
	@python3 bench/view.py --strobe $(STROBE)
	@echo
	@python3 bench/python.py --strobe $(STROBE)

fuzz: deps ## fuzz each target for FUZZ_SECONDS (an hour)
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tools/fuzz

faults: build ## kill recorders and programs FAULT_KILLS times (200), fill disks, cut connections
	@STROBE_FAULT_KILLS=$(FAULT_KILLS) python3 tests/faults/capture_faults.py $(BUILD)/bin

format: ## format all C sources
	@tools/lint --format

lint: deps ## formatting, clang-tidy, module rules
	@tools/lint

install: $(STROBE) ## install to PREFIX (/usr/local)
	@cmake --install $(BUILD) --prefix "$(PREFIX)"

clean: ## remove all that was built
	@rm -rf build
