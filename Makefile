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

# What `make bench` compares with, and where it is installed.
BENCH_ENV           ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/tenon/bench
BENCH_ONEDNN        := onednn==2026.1.0 onednn-devel==2026.1.0 tbb==2023.2.0 tcmlib==1.6.0 umf==1.2.0 intel-sycl-rt==2026.2.0 \
                       intel-cmplr-lib-rt==2026.2.0 intel-cmplr-lib-ur==2026.2.0 intel-opencl-rt==2026.2.0
BENCH_ONEDNN_OPENMP := onednn-cpu-gomp==2023.2.0 onednn-devel-cpu-gomp==2023.2.0
BENCH_NUMPY         := numpy==2.4.6
BENCH_OPENBLAS      := scipy-openblas32==0.3.34.481.3
BENCH_MKL           := mkl==2026.2.1
# What `make bench-tuning` compares with.
BENCH_TORCH         := torch==2.15.0 numpy==2.4.6
BENCH_HALIDE        := halide==21.0.0 numpy==2.4.6
BENCH_TVM           := apache-tvm==0.27.0.post1 numpy==2.4.6 xgboost==3.2.0 scipy psutil cloudpickle tornado

.PHONY: all demo build test check bench bench-helix bench-tuning bench-env bench-tuning-env fuzz conformance tools python-env prerequisites clean

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

# Tables of what is measured, beside what bounds it and what others reach.
# BENCH='-only softmax' and the like choose; -doc FILE keeps the tables.
bench: build tools
	@$(MAKE) --no-print-directory bench-env || true
	$(GO) run ./bench -env $(BENCH_ENV) $(BENCH)

# Matrix products on many shapes, beside OpenBLAS, oneDNN and MKL, in about 20
# minutes. BENCH='-only warm' chooses tables, -quick takes a part of the shapes,
# -doc FILE keeps the tables.
bench-helix: build tools
	@$(MAKE) --no-print-directory bench-env || true
	BENCH_ENV=$(BENCH_ENV) $(GO) run ./bench/helix $(BENCH)

# What is gained by knowing sizes beforehand: Tenon beside its own tuner,
# TorchInductor, Halide's autoscheduler and TVM's tuner, given 1, 4 and 16 sizes.
# BENCH=-quick takes few contractions, -only halide one of them.
bench-tuning: build tools
	@$(MAKE) --no-print-directory bench-tuning-env || true
	BENCH_ENV=$(BENCH_ENV) $(GO) run ./bench/tuning $(BENCH)

# The newest of each, about 7 GB in a folder outside this tree.
bench-tuning-env:
	@set -e; mkdir -p $(BENCH_ENV); \
	get() { dir=$(BENCH_ENV)/$$1; shift; \
	  [ "$$(cat $$dir/packages 2>/dev/null)" = "$$*" ] && return; \
	  rm -rf $$dir; $(PYTHON) -m venv $$dir; \
	  $$dir/bin/python -m pip install -q "$$@" && echo "$$*" > $$dir/packages \
	  || { rm -rf $$dir; echo "could not install $$*: make bench-tuning leaves it out" >&2; }; }; \
	get halide $(BENCH_HALIDE); get tvm $(BENCH_TVM); get torch $(BENCH_TORCH)

# What the benchmark compares with: the newest oneDNN that a registry serves,
# which runs on SYCL, the newest of its builds that runs on plain threads (a
# call costs it less), NumPy, and the newest OpenBLAS and MKL. About 3 GB, in a folder outside this tree.
bench-env:
	@set -e; mkdir -p $(BENCH_ENV); \
	get() { dir=$(BENCH_ENV)/$$1; shift; \
	  [ "$$(cat $$dir/packages 2>/dev/null)" = "$$*" ] && return; \
	  rm -rf $$dir; $(PYTHON) -m venv $$dir; \
	  $$dir/bin/python -m pip install -q --no-deps "$$@" && echo "$$*" > $$dir/packages \
	  || { rm -rf $$dir; echo "could not install $$*: make bench leaves it out" >&2; }; }; \
	get onednn $(BENCH_ONEDNN); get onednn-openmp $(BENCH_ONEDNN_OPENMP); get numpy $(BENCH_NUMPY); get openblas $(BENCH_OPENBLAS); \
	get mkl $(BENCH_MKL)

# Random programs: text round trips, passes, interpreter against native code. What
# is found goes to a temporary folder that the run names.
fuzz: prerequisites tools
	$(GO) run ./tests/fuzz/cmd -minutes $(MINUTES)

# Elementary functions against higher precision: every f32 for exp and log, 10^8
# points for each function and type; and their coefficients, fitted again. Compiled
# code on every machine that is here: the levels of x86-64, NEON, SVE of three
# lengths. One library called from 16 threads for a minute.
conformance: prerequisites tools
	$(GO) run ./passes/math/minimax/gen | diff - passes/math/coefficients.go
	TENON_CONFORMANCE=1 $(GO) test -count=1 -timeout 120m -v -run 'Conformance' ./tests/conformance
	TENON_CONFORMANCE=1 $(GO) test -count=1 -timeout 120m -v ./tests/run

clean:
	rm -rf bin
