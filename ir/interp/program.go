package interp

import (
	"context"
	"fmt"
	"math/rand/v2"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
)

// Options says how to run.
type Options struct {
	Shadow    bool   // carry shadows; results have Mem.Shadow
	Seed      uint64 // of every order and extern that is drawn
	Ranks     int    // number of ranks of a grid without a shape here; 0: 1
	Grids     map[string][]int64
	Externs   map[string]func(args []int64) []float64
	Data      func(d *ir.Data) (*ir.Array, error) // reads data items kept in files
	Variant   *int                                // forces a variant of every tile.choose
	Unchecked bool                                // pattern arguments are taken as valid
	MaxBytes  int64                               // of the arrays made in a run; 0: half the machine's memory
	MaxEvals  int64                               // evaluations of comp regions and loop bodies; 0: no limit
	Context   context.Context                     // cancels a run
}

// Scalar is a scalar argument or result. Shadow is set on results of runs with
// shadows.
type Scalar struct {
	Elem   num.Elem
	Cell   num.Cell
	Shadow num.Shadow
}

// Program is a module made ready to run. Functions are staged when first run.
// It is not for concurrent use.
type Program struct {
	module *ir.Module
	opts   Options
	funcs  map[string]*staged
	data   map[string]*ir.Array
	run    *run
}

// run is the state of one call of Run.
type run struct {
	random *rand.Rand
	bytes  int64
	evals  int64
	poll   int64 // evals at which the context is asked next

	depth    int          // of parallel loops and crews
	watchers []*conflicts // one a depth
	fresh    *conflicts   // watches the arrays made inside a crew that shares memory
}

// New makes a program of m. The module must have passed the verifier.
func New(m *ir.Module, opts Options) *Program {
	if opts.MaxBytes == 0 {
		opts.MaxBytes = machineMemory() / 2
	}
	return &Program{module: m, opts: opts, funcs: map[string]*staged{}, data: map[string]*ir.Array{}}
}

// Run runs the func or proc named fn. An argument is an *ir.Array for a tensor
// or buffer, an *ir.PatternValue, an *ir.Encoded, or a Scalar. A func gives its
// results. A proc works on the arrays it is given; an `out` argument may be nil,
// and is then made; its results are its out and inout buffers, in order.
func (p *Program) Run(fn string, args []any) (results []any, err error) {
	f := ir.Lookup[*ir.Func](p.module, fn)
	if f == nil {
		return nil, fmt.Errorf("there is no function @%s", fn)
	}
	defer catch(&err)
	p.run = &run{random: rand.New(rand.NewPCG(p.opts.Seed, 0x74656e6f6e))}
	if len(args) != len(f.Params) {
		return nil, &Fault{ir.TrapShape, diag.Errorf(f.Loc.First(), "@%s takes %d arguments, %d are given", fn, len(f.Params), len(args))}
	}
	st := p.stage(f)
	fr := st.newFrame(&ir.Thread{Ranks: 1})
	if err := st.enter(fr, args, true); err != nil {
		return nil, err
	}
	st.body(fr)
	return st.results(fr), nil
}

// staged is a function made ready to run.
type staged struct {
	s    *stager
	f    *ir.Func
	body ir.Step
	out  []*ir.Value // what its return gives
	*entry
}

// stage stages f, once.
func (p *Program) stage(f *ir.Func) *staged {
	if st := p.funcs[f.Name]; st != nil {
		if st.body == nil {
			raise(nil, ir.TrapShape, "@%s calls itself; recursion is not supported", f.Name)
		}
		return st
	}
	st := &staged{s: newStager(p, f), f: f}
	p.funcs[f.Name] = st
	defer func() {
		if st.body == nil {
			delete(p.funcs, f.Name) // staging was stopped
		}
	}()
	for _, prm := range f.Params {
		st.s.slotOf(prm.Value)
	}
	body := st.onRanks(st.s.Region(f.Body))
	if last := f.Body.Last(); last != nil && !f.IsProc {
		st.out = last.OperandValues("")
		for _, v := range st.out {
			st.s.slotOf(v)
		}
	}
	st.stageEntry()
	st.body = body
	return st
}

func (st *staged) newFrame(t *ir.Thread) *ir.Frame {
	l := st.s.layout
	f := &ir.Frame{S: make([]num.Cell, l.scalars), O: make([]any, l.objects), T: t}
	if st.s.Shadowed() {
		f.E = make([]num.Shadow, l.scalars)
	}
	return f
}

// get is the value of v in frame f, as results and arguments are passed.
func (st *staged) get(f *ir.Frame, v *ir.Value) any {
	t, ok := v.Type.(ir.Scalar)
	if !ok {
		return f.O[st.s.Object(v)]
	}
	slot := st.s.Scalar(v)
	r := Scalar{Elem: t.Elem, Cell: f.S[slot]}
	if f.E != nil {
		r.Shadow = f.E[slot]
	}
	return r
}

// results are what the caller gets. A proc that stands for a func gives what that
// gives.
func (st *staged) results(f *ir.Frame) []any {
	if st.f.IsProc {
		rs, err := ir.Written(st.f, func(i int) any { return st.get(f, st.f.Params[i].Value) })
		if err != nil {
			raise(nil, ir.TrapShape, "%v", err)
		}
		return rs
	}
	var rs []any
	for _, v := range st.out {
		rs = append(rs, st.get(f, v))
	}
	return rs
}
