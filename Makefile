# Two commands do all the set-up: `make demo` runs the main job, `make test` the tests.
JOBS ?= $(shell nproc)

.PHONY: all build demo test setup setup-test asan ubsan tsan fuzz matrix valgrind format check-format install clean

all: build

setup:
	@scripts/setup.sh build
setup-test:
	@scripts/setup.sh test

build: setup
	@cmake --preset release -DTFSDK_TESTS=OFF >build.log 2>&1 || { cat build.log; exit 1; }
	@cmake --build build -j $(JOBS) >>build.log 2>&1 || { tail -n 60 build.log; exit 1; }
	@mkdir -p build && mv build.log build/

# What it writes is looked at by `build/bin/tfsdk board build/demo`.
demo: build
	@rm -rf build/demo
	build/bin/tfsdk run examples/digits.lua build/demo

test: setup-test
	@tests/run.sh

asan ubsan tsan: setup-test
	@tests/run.sh $@

# Damaged files by libFuzzer (needs clang), one target after another: make fuzz SECONDS=1200 TARGETS="npz pth"
SECONDS ?= 180
TARGETS ?=
fuzz: setup-test
	@tests/fuzz/fuzz.sh $(SECONDS) $(TARGETS)

matrix: setup-test
	@tests/matrix.sh

valgrind: setup-test
	@tests/run.sh valgrind

format:
	clang-format -i $$(git ls-files '*.c' '*.h')
check-format: setup-test
	@clang-format --dry-run -Werror $$(git ls-files '*.c' '*.h')

install: build
	cmake --install build

clean:
	rm -rf build build-*

# Figures: ours beside this machine's ceilings, and beside PyTorch, TensorFlow and JAX (see bench/README.md).
.PHONY: bench bench-peers
bench: build
	@cmake --build build --target bench_own >>build/build.log 2>&1 || { tail -n 40 build/build.log; exit 1; }
	@build/tests/bench_own build/bin/tfsdk
bench-peers: build
	@bench/peers.sh
