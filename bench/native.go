package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"

	_ "embed"
)

//go:embed native/kernels.c
var kernelsC []byte

// kernels are the loops of native/kernels.c, loaded.
type kernels struct {
	handle uintptr

	cpus   []int32 // that this process may use
	lanes  int     // f32 in a vector
	alloc  func(bytes int64) unsafe.Pointer
	free   func(unsafe.Pointer)
	pin    func(cpu int32) int32
	repeat func(f uintptr, context unsafe.Pointer, n int64) float64
	wall   func(f uintptr, context unsafe.Pointer, n int64) float64
	pair   func(p unsafe.Pointer, n int64) float64
}

// loadKernels builds and loads them. dir receives the files.
func loadKernels(dir string) (*kernels, error) {
	src, so := filepath.Join(dir, "kernels.c"), filepath.Join(dir, "kernels.so")
	if err := os.WriteFile(src, kernelsC, 0o666); err != nil {
		return nil, err
	}
	if err := compileC(src, so, "-shared", "-fPIC", "-march=native", "-ffp-contract=fast", "-lpthread"); err != nil {
		return nil, err
	}
	h, err := purego.Dlopen(so, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	k := &kernels{handle: h}
	var lanes func() int32
	var cpus func(list unsafe.Pointer, n int32) int32
	for name, f := range map[string]any{
		"bench_alloc": &k.alloc, "bench_free": &k.free, "bench_pin": &k.pin, "bench_repeat": &k.repeat,
		"bench_wall": &k.wall, "bench_pair": &k.pair, "bench_lanes": &lanes, "bench_cpus": &cpus,
	} {
		purego.RegisterLibFunc(f, h, name)
	}
	list := make([]int32, 1024)
	k.cpus = list[:cpus(unsafe.Pointer(&list[0]), int32(len(list)))]
	k.lanes = int(lanes())
	if len(k.cpus) == 0 {
		return nil, fmt.Errorf("no processor that this process may use")
	}
	return k, nil
}

// compileC runs the C compiler.
func compileC(src, out string, flags ...string) error {
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "gcc"
	}
	cmd := exec.Command(cc, append([]string{"-O3", src, "-o", out}, flags...)...)
	if msg, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %v\n%s", cc, filepath.Base(src), err, msg)
	}
	return nil
}

func (k *kernels) symbol(name string) uintptr {
	f, err := purego.Dlsym(k.handle, name)
	if err != nil {
		panic(err) // kernels.c and this file belong together
	}
	return f
}

// last is the processor that rows with one thread run on: the first is where a
// system puts its own work.
func (k *kernels) last() int32 { return k.cpus[len(k.cpus)-1] }

// array is memory of C's, which stays where it is.
type array struct {
	k    *kernels
	data unsafe.Pointer
	n    int64
}

func (k *kernels) array(n int64) *array {
	p := k.alloc(max(n, 1) * 4)
	if p == nil {
		panic("no memory for an array of the benchmark")
	}
	return &array{k, p, n}
}

func (a *array) floats() []float32 { return unsafe.Slice((*float32)(a.data), a.n) }
func (a *array) free()             { a.k.free(a.data) }

// filled is an array of the values that the peers fill theirs with.
func (k *kernels) filled(n int64) *array {
	a := k.array(n)
	for i, f := 0, a.floats(); i < len(f); i++ {
		f[i] = float32(i*7919%1009)/252.25 - 2
	}
	return a
}

// words is memory of C's for a struct of pointers and 64-bit integers.
func (k *kernels) words(n int) []uint64 {
	return unsafe.Slice((*uint64)(k.alloc(int64(n)*8)), n)
}

func address(w []uint64) unsafe.Pointer { return unsafe.Pointer(&w[0]) }

// work is what a contender repeats: a function of kernels.c and its context.
type work struct {
	f       uintptr
	context unsafe.Pointer
}

// over is one of the kernels over n elements of arrays, struct range of
// kernels.c; to may be nil.
func (k *kernels) over(kernel string, from, to *array, n int64) work {
	w := k.words(3)
	w[2] = uint64(n)
	if from != nil {
		w[0] = uint64(uintptr(from.data))
	}
	if to != nil {
		w[1] = uint64(uintptr(to.data))
	}
	return work{k.symbol(kernel), address(w)}
}

// seconds repeats w n times on one processor.
func (k *kernels) seconds(w work, n int) (float64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	k.pin(k.last())
	t := k.repeat(w.f, w.context, int64(n))
	k.pin(-1)
	if t < 0 {
		return 0, fmt.Errorf("the function returned code %.0f", -t)
	}
	return t, nil
}

// wallSeconds repeats w n times on whatever threads it uses itself.
func (k *kernels) wallSeconds(w work, n int) (float64, error) {
	t := k.wall(w.f, w.context, int64(n))
	if t < 0 {
		return 0, fmt.Errorf("the function returned code %.0f", -t)
	}
	return t, nil
}

// pairSeconds repeats two pieces of work of one kernel at once, each on a
// processor of its own.
func (k *kernels) pairSeconds(a, b work, n int) (float64, error) {
	p := k.words(4)
	p[0], p[1], p[2] = uint64(a.f), uint64(uintptr(a.context)), uint64(uintptr(b.context))
	p[3] = uint64(uint32(k.cpus[0])) | uint64(uint32(k.last()))<<32
	t := k.pair(address(p), int64(n))
	if t < 0 {
		return 0, fmt.Errorf("two threads at once failed")
	}
	return t, nil
}

// from is the part of a from element i on.
func (a *array) from(i int64) *array {
	if i >= a.n {
		return a
	}
	return &array{a.k, unsafe.Pointer(&a.floats()[i]), a.n - i}
}
