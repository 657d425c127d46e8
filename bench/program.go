package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ebitengine/purego"

	"tenon"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
)

//go:embed programs/*.tn
var programs embed.FS

// program is a compiled program of programs/, loaded.
type program struct {
	name     string // of the file
	module   *ir.Module
	f        *ir.Func
	size     int  // bytes of the library
	threaded bool // the library calls an OpenMP runtime
	plan     uintptr
	run      uintptr
}

// options are how everything is compiled: for this machine, as hard as by
// default.
var options = tenon.Options{CPU: "native", Opt: 2}

// load compiles programs/NAME.tn and loads it; dir receives the library.
func load(ctx context.Context, dir, name string) (*program, error) {
	text, err := programs.ReadFile("programs/" + name + ".tn")
	if err != nil {
		return nil, err
	}
	m, err := tenon.Parse(name+".tn", string(text))
	if err != nil {
		return nil, err
	}
	code, err := tenon.CompileModule(ctx, m, name+".tn", options)
	if err != nil {
		return nil, err
	}
	so, err := code.Library(ctx)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, name+".so")
	if err := os.WriteFile(path, so, 0o777); err != nil {
		return nil, err
	}
	h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	p := &program{name: name, module: m, f: exported(m), size: len(so), threaded: bytes.Contains(so, []byte("GOMP_parallel"))}
	if p.plan, err = purego.Dlsym(h, p.f.Name+"_plan"); err != nil {
		return nil, err
	}
	p.run, err = purego.Dlsym(h, p.f.Name+"_run")
	return p, err
}

// exported is the function of the file itself, which comes after those that
// it calls.
func exported(m *ir.Module) *ir.Func {
	fs := m.Funcs()
	return fs[len(fs)-1]
}

// tensors are the arguments of a call, results last, with their shapes.
type tensors struct {
	arrays []*array
	shapes [][]int64
}

func (t *tensors) free() {
	for _, a := range t.arrays {
		a.free()
	}
}

// arguments makes the arguments of p for the given sizes of its dims.
func (p *program) arguments(k *kernels, sizes map[string]int64) (*tensors, error) {
	t := &tensors{}
	add := func(typ ir.Type, made func(int64) *array) error {
		dims, _ := ir.DimsOf(typ)
		shape, n := []int64{}, int64(1)
		for _, d := range dims {
			name, ok := d.IsName()
			if !ok || sizes[name] == 0 {
				return fmt.Errorf("%s: no size for the dim %s", p.name, d)
			}
			shape, n = append(shape, sizes[name]), n*sizes[name]
		}
		t.arrays, t.shapes = append(t.arrays, made(n)), append(t.shapes, shape)
		return nil
	}
	for _, q := range p.f.Params {
		if err := add(q.Value.Type, k.filled); err != nil {
			return nil, err
		}
	}
	for _, r := range p.f.Results {
		if err := add(r.Type, k.array); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// planWords is more than any struct NAME_plan of these programs has.
const planWords = 32

// call prepares a call of p with a plan for so many threads and its workspace:
// struct call of kernels.c.
func (p *program) call(k *kernels, t *tensors, threads int) (work, error) {
	args := k.words(3 * len(t.arrays))
	for i, a := range t.arrays {
		shape := k.words(max(len(t.shapes[i]), 1))
		for d, n := range t.shapes[i] {
			shape[d] = uint64(n)
		}
		args[3*i], args[3*i+1] = uint64(uintptr(a.data)), uint64(uintptr(address(shape)))
	}
	plan, fault := k.words(planWords), k.words(2)
	code, _, _ := purego.SyscallN(p.plan, 0, uintptr(address(args)), uintptr(threads), uintptr(address(plan)), uintptr(address(fault)))
	if int32(code) != 0 {
		return work{}, fmt.Errorf("%s_plan returned code %d", p.f.Name, int32(code))
	}
	call := k.words(8)
	call[0], call[1], call[2] = uint64(p.run), uint64(uintptr(address(args))), uint64(uintptr(address(plan)))
	call[3] = uint64(uintptr(k.alloc(int64(plan[0]) + 64)))
	return work{k.symbol("bench_call"), address(call)}, nil
}

// check holds results that were just computed against the interpreter: of the
// given rows of the first dim of the parameters that have the dim M, with the
// others whole. A row of the program must depend on the same row alone, unless
// rows is nil, which takes everything.
func (p *program) check(t *tensors, rows []int64) error {
	var args []any
	for i, q := range p.f.Params {
		args = append(args, take(t.arrays[i], t.shapes[i], dimAt(q.Value.Type, "M"), rows))
	}
	ref, err := interp.New(p.module, interp.Options{Shadow: true}).Run(p.f.Name, args)
	if err != nil {
		return err
	}
	for i, r := range p.f.Results {
		at := len(p.f.Params) + i
		got := take(t.arrays[at], t.shapes[at], dimAt(r.Type, "M"), rows)
		if _, err := interp.Compare(got, ref[i]); err != nil {
			return fmt.Errorf("%s gives a wrong result: %v", p.name, err)
		}
	}
	return nil
}

// dimAt is the place of a dim in a tensor type, -1 if it is not there.
func dimAt(t ir.Type, name string) int {
	dims, _ := ir.DimsOf(t)
	for i, d := range dims {
		if n, ok := d.IsName(); ok && n == name {
			return i
		}
	}
	return -1
}

// take copies the given places of dim d, everything if rows is nil or d is -1,
// of an array of rank 2 at most.
func take(a *array, shape []int64, d int, rows []int64) *ir.Array {
	from := a.floats()
	out := append([]int64{}, shape...)
	if rows == nil || d < 0 {
		d, rows = -1, nil
	} else {
		out[d] = int64(len(rows))
	}
	to := ir.NewArray(num.F32, out...)
	for i := range to.Mem.Cells {
		at := int64(i)
		if len(shape) == 2 && d >= 0 {
			x := [2]int64{at / out[1], at % out[1]}
			x[d] = rows[x[d]]
			at = x[0]*shape[1] + x[1]
		} else if d == 0 {
			at = rows[i]
		}
		to.Mem.Cells[i] = num.FromFloat(float64(from[at]))
	}
	return to
}
