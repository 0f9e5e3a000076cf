# The short names of what is done often. CMake presets and tools/ do the work.
.NOTPARALLEL:
.PHONY: help demo test dist bench check format

help:
	@echo 'make demo     install what is needed, build, record a small training, analyze a real trace'
	@echo 'make test     install what is needed, build with tests, and run them'
	@echo 'make dist     pack a release: dist/pyrometer-<version>-linux-<arch>.tar.gz'
	@echo 'make bench    speed and memory on a trace of 500 MB'
	@echo 'make check    formatting, clang-tidy, layers, freshness of generated files'
	@echo 'make format   format the C++ sources'

demo:
	tools/setup
	cmake --preset release >/dev/null
	cmake --build --preset release --target pyrometer pyrometer_inject
	tools/demo build/release/src/cli/pyrometer

test:
	tools/setup
	cmake --preset dev
	cmake --build --preset dev
	ctest --preset dev --parallel $$(( 2 * $$(nproc) ))

dist:
	tools/setup
	tools/dist

bench:
	tools/setup
	cmake --preset bench >/dev/null
	cmake --build --preset bench --target gen_trace walk_bench
	build/bench/bench/gen_trace examples/loader_serial.trace.json.gz build/bench/big.json 500
	build/bench/bench/walk_bench build/bench/big.json

check:
	tools/setup
	cmake --preset dev >/dev/null
	tools/format --check
	tools/check_layers
	tools/gen --check
	tools/tidy build/dev

format:
	tools/format
