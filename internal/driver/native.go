package driver

import (
	"context"
	"fmt"

	"tenon/frontend/weights"
	"tenon/internal/diag"
	"tenon/ir"
	"tenon/ir/interp"
	"tenon/runtime"
)

// Loaded is compiled code in this process, ready to be called.
type Loaded struct {
	lib  *runtime.Lib
	code *Artifact
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
	return &Loaded{lib, code}, nil
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
	results []*weights.Array
	fresh   []func() // restore what a run overwrites
}

// Native prepares c for the compiled function, on at most so many threads (0: as
// many as there are): parameters in order, then results, which are made here.
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
	for i, name := range ResultNames(c.Func) {
		if c.Func.IsProc {
			break
		}
		if err := c.nativeResult(n, i, name); err != nil {
			return nil, err
		}
	}
	return n, n.makePlan(threads)
}

// makePlan asks the function what the call needs.
func (n *Native) makePlan(threads int) error {
	plan, status, err := n.loaded.lib.Plan(n.name, n.args, threads)
	if err == nil {
		err = n.fault(status)
	}
	n.plan = plan
	return err
}

func (c *Call) nativeResult(n *Native, i int, name string) error {
	t := c.Func.Results[i].Type
	dims, _ := ir.DimsOf(t)
	for _, d := range dims {
		for _, x := range d.Names() {
			if !c.known(x) {
				return diag.Errorf(c.Func.Loc.First(), "the size %s of a result of %s is known only while it runs, which has no native form", x, c.Func.Name).
					WithFix("run it with --interp")
			}
		}
	}
	shape, err := c.shape("result "+name, dims)
	if err != nil {
		return err
	}
	a, err := weights.New(ir.ElemOf(t), shape)
	if err != nil {
		return diag.Errorf(diag.Pos{}, "result %s: %v", name, err).WithFix("use smaller sizes")
	}
	n.names = append(n.names, name)
	return n.output(a)
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
	if err != nil {
		return err
	}
	return n.fault(status)
}

func (n *Native) fault(s runtime.Status) error {
	err := s.Err(n.name, n.names)
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
