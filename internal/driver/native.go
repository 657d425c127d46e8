package driver

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"tenon/frontend/weights"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	"tenon/ir/sym"
	"tenon/passes/lower"
	"tenon/runtime"
)

// Loaded is compiled code in this process, ready to be called.
type Loaded struct {
	lib      *runtime.Lib
	code     *Artifact
	prepares []string // the functions that compute something when they are opened
}

// Build compiles m and loads the result.
func Build(ctx context.Context, m *ir.Module, name string, o Options) (*Loaded, error) {
	if err := o.runsHere(); err != nil {
		return nil, err
	}
	code, err := Compile(m, name, o)
	if err != nil {
		return nil, err
	}
	so, err := code.Library(ctx)
	if err != nil {
		return nil, err
	}
	lib, err := runtime.OpenBytes(so)
	if err != nil {
		return nil, err
	}
	return &Loaded{lib, code, PreparingFuncs(code.Module)}, nil
}

// Close unloads the code.
func (l *Loaded) Close() error { return l.lib.Close() }

// Native is a call with its arguments in the form of compiled code.
type Native struct {
	loaded  *Loaded
	name    string
	file    string // the source
	args    []runtime.Arg
	names   []string
	plan    *runtime.Plan
	state   *runtime.State // nil: const parameters are arguments like others
	results []*weights.Array
	fresh   []func()       // restore what a run overwrites
	cut     []func() error // give a result the size that a run has found
}

// Native prepares c for the compiled function, on at most so many threads (0: as
// many as there are): parameters in order, then results, which are made here. What the
// function computes from const parameters alone is computed here, once for all
// runs. Close it.
func (c *Call) Native(l *Loaded, threads int) (*Native, error) {
	n := &Native{loaded: l, name: c.Func.Name, file: c.Func.Loc.First().File}
	for i, p := range c.Func.Params {
		n.names = append(n.names, p.Value.Name)
		if t, ok := p.Value.Type.(ir.Scalar); ok {
			n.args = append(n.args, runtime.Scalar{Elem: t.Elem, Cell: c.Args[i].Cell})
			continue
		}
		if p.Mode == ir.ModeIn {
			n.args = append(n.args, tensorOf(c.Args[i].Array))
			continue
		}
		if err := n.output(c.Args[i].Array); err != nil {
			return nil, err
		}
	}
	if slices.Contains(l.prepares, n.name) {
		state, err := OpenState(l.lib, c.Func, n.args, n.names)
		if err != nil {
			return nil, n.located(err)
		}
		n.state = state
	}
	err := n.makeCall(c, threads)
	if err != nil {
		n.Close()
	}
	return n, err
}

func (n *Native) makeCall(c *Call, threads int) error {
	if c.Func.IsProc {
		return n.makePlan(threads)
	}
	return n.makeResults(c, threads)
}

// Close gives back what was prepared for the runs; none may follow.
func (n *Native) Close() error {
	if n.state == nil {
		return nil
	}
	state := n.state
	n.state = nil
	return state.Close()
}

// makePlan asks the function what the call needs.
func (n *Native) makePlan(threads int) error {
	plan, status, err := n.loaded.lib.PlanWith(n.state, n.name, n.args, threads)
	if err == nil {
		err = n.fault(status)
	}
	n.plan = plan
	return err
}

// makeResults adds the results, of the shapes that the plan gives, and the sizes
// that are found while running.
func (n *Native) makeResults(c *Call, threads int) error {
	first, names := len(n.args), ResultNames(c.Func)
	for i, r := range c.Func.Results {
		dims, _ := ir.DimsOf(r.Type)
		if _, err := c.shape("result "+names[i], withoutLate(dims, c.Func.ExDims)); err != nil {
			return err
		}
		n.args, n.names = append(n.args, runtime.Output{Elem: ir.ElemOf(r.Type), Rank: len(dims)}), append(n.names, names[i])
	}
	counts := lower.ResultDims(c.Func)
	for _, d := range counts {
		n.args, n.names = append(n.args, runtime.Output{Elem: num.I64}), append(n.names, d)
	}
	if err := n.makePlan(threads); err != nil {
		return err
	}
	shapes := n.plan.Results
	for i := first; i < len(n.args); i++ {
		out, shape := n.args[i].(runtime.Output), []int64{}
		if out.Rank > 0 {
			shape, shapes = shapes[0].Shape, shapes[1:]
		}
		t, err := runtime.Alloc(out.Elem, shape)
		if err != nil {
			return resultError(n.names[i], err)
		}
		n.args[i] = t
		if i-first < len(names) {
			n.results = append(n.results, weights.FromBytes(t.Elem, t.Shape, t.Data))
		}
	}
	n.cutLate(c, counts, n.args[len(n.args)-len(counts):])
	return nil
}

// resultError says which result an error is about. What to do stays a part of its own.
func resultError(name string, err error) error {
	e := diag.Errorf(diag.Pos{}, "result %s: %v", name, err).WithFix("use smaller sizes")
	var cause *diag.Error
	if errors.As(err, &cause) {
		e.Msg = fmt.Sprintf("result %s: %s", name, cause.Msg)
	}
	return e
}

// withoutLate leaves out the dims that are found while running.
func withoutLate(dims []sym.Expr, late []string) (known []sym.Expr) {
	for _, d := range dims {
		if !slices.ContainsFunc(d.Names(), func(n string) bool { return slices.Contains(late, n) }) {
			known = append(known, d)
		}
	}
	return known
}

// cutLate arranges for results to get the shapes that follow from the counts.
func (n *Native) cutLate(c *Call, names []string, counts []runtime.Arg) {
	for i, r := range c.Func.Results {
		dims, _ := ir.DimsOf(r.Type)
		if len(withoutLate(dims, names)) == len(dims) {
			continue
		}
		whole := n.results[i]
		n.cut = append(n.cut, func() error {
			sizes := maps.Clone(c.Sizes)
			for k, name := range names {
				sizes[name] = int64(binary.NativeEndian.Uint64(counts[k].(*runtime.Tensor).Data))
			}
			part, env := *whole, c.env()
			part.Shape, env.Name = nil, sym.Names(sizes).Name
			for _, d := range dims {
				size, err := d.Eval(env)
				if err != nil {
					return err
				}
				part.Shape = append(part.Shape, size)
			}
			n.results[i] = &part
			return nil
		})
	}
}

// output adds an array that the function writes: memory of our own, filled
// before each run with what was given.
func (n *Native) output(given *weights.Array) error {
	t, err := runtime.Alloc(given.Elem, given.Shape)
	if err != nil {
		return err
	}
	n.args = append(n.args, t)
	n.fresh = append(n.fresh, func() { copy(t.Data, given.Contiguous()) })
	n.results = append(n.results, weights.FromBytes(t.Elem, t.Shape, t.Data))
	return nil
}

func tensorOf(a *weights.Array) *runtime.Tensor {
	if a.IsContiguous() {
		return &runtime.Tensor{Elem: a.Elem, Shape: a.Shape, Data: a.Contiguous()}
	}
	b := a.Ordered()
	return &runtime.Tensor{Elem: b.Elem, Shape: b.Shape, Data: b.Contiguous()}
}

// Reset puts inout buffers back to what was given.
func (n *Native) Reset() {
	for _, f := range n.fresh {
		f()
	}
}

// Run calls the function once; Results has what it wrote.
func (n *Native) Run() error {
	status, err := n.loaded.lib.Run(n.name, n.args, n.plan)
	if err == nil {
		err = n.fault(status)
	}
	for _, cut := range n.cut {
		if err == nil {
			err = cut()
		}
	}
	return err
}

func (n *Native) fault(s runtime.Status) error { return n.located(s.Err(n.name, n.names)) }

// located adds what is known of the place of an error of compiled code.
func (n *Native) located(err error) error {
	if e, ok := err.(*diag.Error); ok {
		if e.Pos.IsValid() { // sanitized code knows the line
			e.Pos.File = n.file
			return e
		}
		return e.WithNote(diag.Pos{}, "tenon run --interp shows the line of the program")
	}
	return err
}

// Results are the results of the last run.
func (n *Native) Results() []*weights.Array { return n.results }

// Agreement says how native results compare with the interpreter's.
type Agreement = interp.Report

// Verify holds native results against those of a run of the interpreter with
// shadows. A difference is a fault of ours.
func (c *Call) Verify(native []*weights.Array, reference []any) (*Agreement, error) {
	total := &Agreement{}
	for i, a := range native {
		r, err := interp.Compare(toArray(a), reference[i])
		if err != nil {
			label := (&Result{Name: ResultNames(c.Func)[i]}).Label(i)
			return nil, &diag.Bug{Func: c.Func.Name, Msg: fmt.Sprintf("compiled code and interpreter differ in the result %s: %v", label, err)}
		}
		total.Add(r)
	}
	return total, nil
}
