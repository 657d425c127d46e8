package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tenon"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	_ "tenon/ir/ops" // the rows of all ops
	"tenon/ir/sym"
	"tenon/runtime"
)

// Program is a module in the interpreter and as loaded machine code.
type Program struct {
	Source *ir.Module
	Low    *ir.Module // every function a proc of the loop level
	Name   string     // of the build, for messages: native-O0, sve256-O3
	so     []byte
	lib    library

	sanitized bool
}

// Build compiles m for this machine and loads the result. Close it.
func Build(m *ir.Module, opt int) (*Program, error) { return BuildFor(m, Machines[0].At(opt)) }

// BuildFor compiles m and loads the result on a machine. Close it.
func BuildFor(m *ir.Module, on *Machine) (*Program, error) {
	artifact, err := tenon.CompileModule(context.Background(), m, "prog.tn", on.Options)
	if err != nil {
		return nil, err
	}
	so, err := artifact.Library(context.Background())
	if err != nil {
		return nil, err
	}
	p := &Program{Source: m, Low: artifact.Module, so: so, sanitized: on.Options.Sanitize}
	return p.On(on)
}

// On is the same code on another machine.
func (p *Program) On(m *Machine) (*Program, error) {
	lib, err := m.load(p.so)
	if err != nil {
		return nil, err
	}
	return &Program{Source: p.Source, Low: p.Low, Name: m.Name, so: p.so, lib: lib, sanitized: p.sanitized}, nil
}

// Close unloads the code.
func (p *Program) Close() { p.lib.close() }

// Reference runs fn in the interpreter with shadows. Arguments are left as they
// were.
func Reference(m *ir.Module, fn string, args []any) ([]any, error) {
	return interp.New(m, interp.Options{Shadow: true, Seed: 1}).Run(fn, copies(args))
}

func copies(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		out[i] = a
		if x, ok := a.(*ir.Array); ok {
			y := ir.NewArray(x.Elem, x.Shape...)
			copy(y.Mem.Cells, x.Mem.Cells)
			out[i] = y
		}
	}
	return out
}

// Call runs the compiled fn. args are those of the source function (nil for what is
// written alone); shapes are those of the results in order. layout says how
// tensors lie in memory.
func (p *Program) Call(fn string, args []any, shapes [][]int64, layout Layout) ([]any, runtime.Status, error) {
	return p.CallDonated(fn, args, shapes, layout, nil)
}

// CallDonated is Call where the out parameters in donated get the arrays of the
// parameters, before them, that donated names.
func (p *Program) CallDonated(fn string, args []any, shapes [][]int64, layout Layout, donated map[int]int) ([]any, runtime.Status, error) {
	f := ir.Lookup[*ir.Func](p.Low, fn)
	var places []*place
	defer func() {
		for _, x := range places {
			x.free()
		}
	}()
	var native []passed
	at := map[int]*place{}
	for i, prm := range f.Params {
		if t, ok := prm.Value.Type.(ir.Scalar); ok {
			native = append(native, passed{scalar: runtime.Scalar{Elem: t.Elem, Cell: args[i].(interp.Scalar).Cell}})
			continue
		}
		var shape []int64
		var given *ir.Array
		if i < len(args) && args[i] != nil {
			given = args[i].(*ir.Array)
			shape = given.Shape
		}
		if prm.Mode != ir.ModeIn {
			shape, shapes = shapes[0], shapes[1:]
		}
		if in, ok := donated[i]; ok {
			at[i] = at[in]
			native = append(native, passed{place: at[in]})
			continue
		}
		x, err := put(ir.ElemOf(prm.Value.Type), shape, layout.of(i))
		if err != nil {
			return nil, runtime.Status{}, err
		}
		places = append(places, x)
		if given != nil {
			x.write(given)
		}
		at[i] = x
		native = append(native, passed{place: x})
	}
	status, err := p.lib.call(fn, native)
	if err != nil || status.Code != runtime.OK {
		return nil, status, err
	}
	results, err := ir.Written(f, func(i int) any { return at[i].read() })
	if err != nil {
		return nil, status, err
	}
	for _, x := range places {
		if err := x.intact(); err != nil {
			return nil, status, fmt.Errorf("%s: %w", fn, err)
		}
	}
	return results, status, nil
}

// ResultShapes evaluates the shapes of what fn writes, given its arguments. A size
// that only the values of arguments tell is that of the reference result.
func ResultShapes(low *ir.Module, fn string, args, ref []any) ([][]int64, error) {
	f := ir.Lookup[*ir.Func](low, fn)
	dims := map[string]int64{}
	for i, a := range args {
		x, ok := a.(*ir.Array)
		if !ok {
			continue
		}
		types, _ := ir.DimsOf(f.Params[i].Value.Type)
		for d, e := range types {
			if n, ok := e.IsName(); ok {
				if _, known := dims[n]; !known {
					dims[n] = x.Shape[d]
				}
			}
		}
	}
	env := sym.Names(dims)
	env.Val = func(r sym.Ref) (int64, bool) {
		for i, p := range f.Params {
			if x, ok := args[i].(interp.Scalar); ok && sym.Ref(p.Value) == r {
				return num.Int(x.Cell), true
			}
		}
		return 0, false
	}
	var out [][]int64
	counts := ir.Counts(f)
	for i, prm := range f.Params {
		if prm.Mode == ir.ModeIn {
			continue
		}
		var known []int64
		if len(ref) > 0 && !slices.Contains(counts, i) {
			if a, ok := ref[0].(*ir.Array); ok {
				known = a.Shape
			}
			ref = ref[1:]
		}
		if i < len(args) && args[i] != nil {
			out = append(out, args[i].(*ir.Array).Shape)
			continue
		}
		types, _ := ir.DimsOf(prm.Value.Type)
		shape := []int64{}
		for d, e := range types {
			n, err := e.Eval(env)
			switch {
			case err == nil:
			case !ir.Planned(f, types):
				return nil, err
			case d < len(known):
				n = known[d]
			}
			shape = append(shape, n)
		}
		out = append(out, shape)
	}
	return out, nil
}

// Check runs fn in both and compares. A fault of the interpreter must be the
// same fault natively.
func (p *Program) Check(fn string, args []any, ref []any, fault error, layout Layout) (total interp.Report, err error) {
	shapes, err := ResultShapes(p.Low, fn, args, ref)
	if err != nil {
		return total, err
	}
	if fault != nil {
		return total, p.sameFault(fn, args, shapes, fault, layout)
	}
	got, status, err := p.Call(fn, args, shapes, layout)
	if err != nil {
		return total, err
	}
	if status.Code != runtime.OK {
		return total, fmt.Errorf("%s of %s returns %+v; the interpreter has no fault", fn, p.Name, status)
	}
	if len(got) != len(ref) {
		return total, fmt.Errorf("%d results; expected %d", len(got), len(ref))
	}
	for i := range ref {
		r, err := interp.Compare(got[i], ref[i])
		if err != nil {
			return total, fmt.Errorf("%s of %s, result %d: %w", fn, p.Name, i, err)
		}
		total.Add(r)
	}
	return total, nil
}

func (p *Program) sameFault(fn string, args []any, shapes [][]int64, fault error, layout Layout) error {
	var f *interp.Fault
	if !errors.As(fault, &f) {
		return fault
	}
	_, status, err := p.Call(fn, args, shapes, layout)
	if err == nil && int(p.plain(status.Code)) != int(f.Code) {
		err = fmt.Errorf("%s of %s returns %+v; the interpreter's fault is code %d: %v", fn, p.Name, status, f.Code, fault)
	}
	return err
}

// plain is the code that c stands for where nothing is sanitized.
func (p *Program) plain(c runtime.Code) runtime.Code {
	if p.sanitized && c == runtime.Bounds {
		return runtime.Index
	}
	return c
}

// IsUsers reports an error that is the user's, such as a program without a
// native form.
func IsUsers(err error) bool { return diag.ExitCode(err) == diag.ExitUser }

// zeroCell is 0 of type e.
func zeroCell(e num.Elem) num.Cell {
	if e.IsFloat() {
		return num.FromFloat(0)
	}
	return num.FromInt(0)
}
