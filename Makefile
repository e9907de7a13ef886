# Each target does all of its own set-up; `make` alone lists them.
.DEFAULT_GOAL := help
.PHONY: help setup demo test test-heavy asan tsan clang cuda test-cuda arm python studio test-studio bench-studio test-peers test-frameworks bench bench-peers profile fuzz coverage format lint clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /make \1\t/' | expand -t 18

setup: ## install what is missing (packages by name)
	@tools/setup

demo: setup ## build, then a 3-D filter gradient computed and printed
	@tools/build release --target example_01_filter_gradient
	@build/release/examples/example_01_filter_gradient

test: setup ## build everything and run all tests
	@tools/setup --python
	@tools/build release
	@ctest --preset release

test-heavy: setup ## tensors of more than 2^31 elements: 14 GiB of memory, 80 s of CPU time
	@tools/build release
	@ctest --test-dir build/release -C heavy -L heavy --output-on-failure

# Rooms whose code handles memory that callers hand over. The others would cost 5 minutes more:
# `make asan checked="$(all)"` has them too.
all := base geometry reference engines pairs_plan cuda_machine cuda_kernels cuda_runtime planner api allocation c_api no_memory graph face pages cli studio
checked := $(filter-out reference pairs_plan planner face cli studio,$(all))
fuzzed := problem call page
asan: setup ## the tests of the library under AddressSanitizer and UndefinedBehaviorSanitizer
	@tools/build asan --target $(checked:%=%_tests) c_api_plain_c $(fuzzed:%=%_replay)
	@ctest --preset asan -R '^($(shell echo $(checked:%=%/) $(fuzzed:%=fuzz/%) | tr ' ' '|'))' -E /program_

# Rooms whose code runs on several threads; the others would cost 4 minutes and test nothing more.
threaded := base engines pairs_plan planner api allocation c_api no_memory face
tsan: setup ## the tests of rooms with threads under ThreadSanitizer
	@tools/build tsan --target $(threaded:%=%_tests) c_api_plain_c
	@ctest --preset tsan -R '^($(shell echo $(threaded) | tr ' ' '|'))/' -E /program_

clang: setup ## all tests built by clang
	@tools/setup --dev
	@tools/build clang
	@ctest --preset clang

cuda: setup ## build the CUDA engine's kernels too, and run all tests
	@tools/setup --cuda
	@tools/build cuda
	@ctest --preset cuda

test-cuda: setup ## the CUDA engine alone, without a GPU: its tests, and what ptxas says of its kernels
	@tools/setup --cuda
	@tools/build cuda --target cuda_machine_tests cuda_kernels_tests cuda_runtime_tests cuda_host_driver gpu_check gpu_time
	@ctest --preset cuda -R '^cuda_'
	@tools/check_cuda_kernels

arm: setup ## the tests built for 64-bit Arm, run under emulation
	@tools/setup --arm
	@tools/build arm
	@ctest --preset arm

python: setup ## build the Python package in build/release/python, and its wheel in build/wheels
	@tools/setup --python
	@tools/build release --target _core convgrad_cli
	@CC=cc CXX=c++ build/python-env/bin/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/wheels .
	@ls -l build/wheels

studio: setup ## build the page of the studio into the program, and open it (ARGS: options of convgrad studio)
	@tools/setup --studio
	@cd studio && npm ci --silent --no-audit --no-fund && npm run --silent build
	@tools/build release --target convgrad_cli
	@build/release/cli/convgrad studio $(ARGS)

# The packages of the page are installed again when their list is newer than they are.
studio/node_modules/.package-lock.json: studio/package-lock.json
	@cd studio && npm ci --silent --no-audit --no-fund
	@touch $@

test-studio: setup ## the tests of the studio's page, alone and in a browser with the real program (pictures: build/studio/shots)
	@tools/setup --studio
	@$(MAKE) --no-print-directory studio/node_modules/.package-lock.json
	@cd studio && npm test --silent && npm run --silent build
	@tools/build release --target convgrad_cli
	@cd studio && npm run --silent e2e

bench-studio: setup ## size of the studio's page, first interaction, frames while dragging, edit to shape
	@tools/setup --studio
	@$(MAKE) --no-print-directory studio/node_modules/.package-lock.json
	@cd studio && npm run --silent build
	@tools/build release --target convgrad_cli
	@cd studio && npm run --silent bench

test-peers: setup ## convgrad against TensorFlow, PyTorch and JAX (ARGS=--write: renew golden vectors and docs/coverage.md)
	@tools/frameworks prepare
	@PYTHONPATH=build/release/python:bench/peers PYTHONDONTWRITEBYTECODE=1 CONVGRAD_PEER_LOGS=build/peers \
		build/peers/bin/python tests/peers/run.py $(ARGS)
	@tools/frameworks examples

test-frameworks: setup ## all tests of the plug-ins inside TensorFlow, JAX and PyTorch (15 minutes)
	@tools/frameworks prepare
	@tools/frameworks tests

bench: setup ## time validation and a tiny call, then the layers of bench/shapes.json (ARGS: options of convgrad bench)
	@tools/build release --target validate_bench tiny_bench convgrad_cli
	@build/release/bench/validate_bench
	@build/release/bench/tiny_bench
	@build/release/cli/convgrad bench $(ARGS)

bench-peers: setup ## the same layers against TensorFlow, PyTorch, JAX and oneDNN (ARGS: options of bench/compare.py)
	@tools/setup --peers
	@tools/build release --target convgrad_cli
	@bench/peers/install build/peers
	@build/peers/bin/python bench/compare.py $(ARGS)

profile: setup ## where the time of SHAPE goes (ARGS: options of convgrad bench)
	@tools/setup --profile
	@tools/build dev --target convgrad_cli
	@tools/profile $(SHAPE) $(ARGS)

fuzz: setup ## each fuzzer for SECONDS (60)
	@tools/setup --dev
	@tools/build fuzz
	@tools/fuzz $(or $(SECONDS),60)

coverage: setup ## line and branch coverage of the validator and the planner
	@tools/setup --dev
	@tools/build coverage
	@ctest --preset coverage
	@tools/coverage

format: ## format all sources
	@tools/setup --dev
	@clang-format-19 -i $$(git ls-files '*.h' '*.cc' '*.c')

lint: setup ## format check, clang-tidy, include table, ruff and mypy
	@tools/setup --dev
	@tools/setup --python
	@tools/lint

clean: ## remove all build folders
	@rm -rf build
