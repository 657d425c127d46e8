# Tenon. `make demo` and `make test` install what they need on a fresh Debian 12
# that has Go 1.25 or newer, make and git; see README.md.

GO      ?= go
TENON   := bin/tenon
VENV    ?= .venv
PYTHON  ?= python3
MINUTES ?= 5

# NumPy and SciPy are wanted by tests alone; these versions are the ones tried.
PIP_PACKAGES := numpy==2.2.6 scipy==1.15.3
DEBIAN_PACKAGES = llvm-19 lld-19 gcc libc6-dev libgomp1 qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross
PROGRAMS = opt-19 llc-19 ld.lld-19 gcc qemu-aarch64 aarch64-linux-gnu-gcc

.PHONY: all demo build test check bench fuzz conformance tools python-env prerequisites clean

all: build

# One line that says what is missing, before anything else fails in a riddle.
prerequisites:
	@minor=$$(GOTOOLCHAIN=local $(GO) env GOVERSION 2>/dev/null | sed -n 's/^go1\.\([0-9]*\).*/\1/p'); \
	if ! command -v git >/dev/null || [ "$${minor:-0}" -lt 25 ]; then \
	  echo "Tenon needs Go 1.25 or newer, make and git (Go: $$($(GO) version 2>/dev/null || echo none)); get Go from https://go.dev/dl" >&2; exit 1; fi

build: prerequisites
	$(GO) build -o $(TENON) ./cmd/tenon

# The tools of LLVM 19 for native code, a C compiler for the tests of the C
# interface, and QEMU with a C compiler and library for those of AArch64. Without
# them `tenon run --interp` works, and tests say what they skip.
tools:
	@missing=; for t in $(PROGRAMS); do command -v $$t >/dev/null || missing="$$missing $$t"; done; \
	[ -n "$$missing" ] || exit 0; \
	echo "installing $(DEBIAN_PACKAGES) (absent:$$missing)"; \
	as_root=; [ "$$(id -u)" = 0 ] || as_root="sudo -n"; \
	{ $$as_root apt-get update -q && DEBIAN_FRONTEND=noninteractive $$as_root apt-get install -q -y --no-install-recommends $(DEBIAN_PACKAGES); } \
	|| echo "could not install them; do it by hand: apt-get install $(DEBIAN_PACKAGES)" >&2

# A virtual environment with NumPy and SciPy for the tests that compare with
# them. Those tests take TENON_PYTHON, else this one, else /usr/bin/python3.
python-env:
	@if [ -x $(VENV)/bin/python ] && $(VENV)/bin/python -c 'import numpy, scipy' 2>/dev/null; then exit 0; fi; \
	$(PYTHON) -m venv $(VENV) && $(VENV)/bin/python -m pip install -q $(PIP_PACKAGES) \
	|| { rm -rf $(VENV); echo "no virtual environment with NumPy: tests that need it are skipped (Debian: apt-get install python3-venv)" >&2; exit 1; }

# The digits example, compiled and run on 500 images it has not seen.
demo: DEBIAN_PACKAGES = llvm-19 lld-19
demo: PROGRAMS = opt-19 llc-19 ld.lld-19
demo: build tools
	@examples/digits/demo.sh $(TENON)

test: build tools
	@$(MAKE) --no-print-directory python-env || true
	$(GO) test -timeout 20m ./...

# What a reviewer would complain about first.
check: build
	@bad=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$bad" ] || { echo "not formatted: $$bad"; exit 1; }
	$(GO) vet ./...
	$(TENON) fmt --check $$(git ls-files 'examples/*.tn' 'frontend/tn/prelude/*.tn')
	$(TENON) check $$(git ls-files 'examples/*.tn')
	$(GO) test ./tests -run 'Layers|Style'

bench: prerequisites
	$(GO) test -run '^$$' -bench . -benchtime 1s ./...

# Random programs: text round trips, passes, interpreter against native code. What
# is found goes to a temporary folder that the run names.
fuzz: prerequisites tools
	$(GO) run ./tests/fuzz/cmd -minutes $(MINUTES)

# Elementary functions against higher precision: every f32 for functions of one
# argument, 10^8 points in all; and their coefficients, fitted again. Compiled
# code on every machine that is here: the levels of x86-64, NEON, SVE of three
# lengths. One library called from 16 threads for a minute.
conformance: prerequisites tools
	$(GO) run ./passes/math/minimax/gen | diff - passes/math/coefficients.go
	TENON_CONFORMANCE=1 $(GO) test -count=1 -timeout 60m -v -run 'Conformance' ./tests/conformance
	TENON_CONFORMANCE=1 $(GO) test -count=1 -timeout 60m -v ./tests/run

clean:
	rm -rf bin
