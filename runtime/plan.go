package runtime

import (
	"errors"
	goruntime "runtime"
	"unsafe"

	"github.com/ebitengine/purego"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// Output stands for a result that is not allocated yet, in the arguments of
// Plan.
type Output struct {
	Elem num.Elem
	Rank int
}

func (o Output) pack(b *block) {
	b.align(8)
	for range 3 {
		b.pointer(nil)
	}
}

// Plan says what a call needs, for all arguments of the sizes it was made for.
type Plan struct {
	Workspace int64        // bytes of temporaries
	Results   []PlannedOut // one an Output of rank 1 and more, in order

	state *State   // nil: without one
	raw   []uint64 // struct NAME_plan
	room  []byte   // the workspace, once there has been a run
}

// PlannedOut is the shape that a result has.
type PlannedOut struct {
	Shape   []int64
	Bounded int64 // a bit for each dim of which the size is an upper bound
}

// The layout of struct NAME_plan: workspace, parallel_for, pool, threads; then
// for each result of rank 1 and more its shape and a word with the bounded dims.
const planHead = 4

// Plan calls NAME_plan. At most threads threads will be used; 0 leaves their
// number to OpenMP. An out parameter of a proc is given as it is in Call, for its
// shape.
func (l *Lib) Plan(name string, args []Arg, threads int) (*Plan, Status, error) {
	return l.PlanWith(nil, name, args, threads)
}

// PlanWith is Plan with a state, which may be nil: it and the runs of the plan
// take const parameters from there, whatever args have in their places.
func (l *Lib) PlanWith(state *State, name string, args []Arg, threads int) (*Plan, Status, error) {
	fn, err := purego.Dlsym(l.handle, name+"_plan")
	if err != nil {
		return nil, Status{}, diag.Errorf(diag.Pos{}, "the library %s has no function %s_plan", l.path, name)
	}
	words := planHead
	for _, a := range args {
		words += 1 + max(rankOf(a), 0)
	}
	p := &Plan{state: state, raw: make([]uint64, words)}
	var c frame
	defer c.end()
	c.begin(args)
	c.b.pins.Pin(&p.raw[0])
	code, _, _ := purego.SyscallN(fn, state.word(), c.args(), uintptr(threads), uintptr(unsafe.Pointer(&p.raw[0])), c.report())
	goruntime.KeepAlive(args)
	status := c.status(code)
	if status.Code == OK {
		p.read(args)
	}
	return p, status, nil
}

func rankOf(a Arg) int {
	switch a := a.(type) {
	case Output:
		return a.Rank
	case *Tensor:
		return len(a.Shape)
	}
	return 0
}

// read takes the shapes out of raw. Only the results that a plan has in its
// struct are Outputs; those are the last fields.
func (p *Plan) read(args []Arg) {
	p.Workspace = int64(p.raw[0])
	at := planHead
	for _, a := range args {
		o, isOut := a.(Output)
		if !isOut || o.Rank == 0 {
			continue
		}
		out := PlannedOut{Shape: make([]int64, o.Rank)}
		for d := range out.Shape {
			out.Shape[d] = int64(p.raw[at+d])
		}
		out.Bounded = int64(p.raw[at+o.Rank])
		p.Results, at = append(p.Results, out), at+o.Rank+1
	}
}

// Run calls NAME_run with a plan that Plan made; two calls with one plan must
// not overlap, for they share its workspace.
func (l *Lib) Run(name string, args []Arg, p *Plan) (Status, error) {
	fn, err := purego.Dlsym(l.handle, name+"_run")
	if err != nil {
		return Status{}, diag.Errorf(diag.Pos{}, "the library %s has no function %s_run", l.path, name)
	}
	if p.room == nil {
		t, err := Alloc(num.U8, []int64{max(p.Workspace, 1)})
		if err != nil {
			return Status{}, err
		}
		p.room = t.Data
	}
	var c frame
	defer c.end()
	c.begin(args)
	c.b.pins.Pin(&p.raw[0])
	c.b.pins.Pin(&p.room[0])
	code, _, _ := purego.SyscallN(fn, p.state.word(), c.args(), uintptr(unsafe.Pointer(&p.raw[0])), uintptr(unsafe.Pointer(&p.room[0])), c.report())
	goruntime.KeepAlive(args)
	return c.status(code), nil
}

// frame is the C form of one call: its arguments and its tenon_error, in memory
// that stays in place until the end.
type frame struct {
	b     block
	words []uint64
	error Status
}

func (c *frame) begin(args []Arg) {
	for _, a := range args {
		a.pack(&c.b)
	}
	c.words = make([]uint64, (len(c.b.bytes)+15)/8) // aligned to 8, never empty
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&c.words[0])), len(c.words)*8), c.b.bytes)
	c.b.pins.Pin(&c.words[0])
	c.b.pins.Pin(&c.error)
}

func (c *frame) end()            { c.b.pins.Unpin() }
func (c *frame) args() uintptr   { return uintptr(unsafe.Pointer(&c.words[0])) }
func (c *frame) report() uintptr { return uintptr(unsafe.Pointer(&c.error)) }

// status is what was returned; a library that fails to fill in the error still
// fails.
func (c *frame) status(code uintptr) Status {
	c.error.Code = Code(int32(code))
	return c.error
}

// Prepared is a call whose C form is made once, for many runs in quick
// succession over the same memory.
type Prepared struct {
	fn uintptr
	c  frame
	p  *Plan
	a  []Arg
}

// Prepare makes NAME_run ready with a plan; Release ends it.
func (l *Lib) Prepare(name string, args []Arg, p *Plan) (*Prepared, error) {
	if status, err := l.Run(name, args, p); err != nil || status.Code != OK { // makes the workspace
		return nil, errors.Join(err, status.Err(name, nil))
	}
	fn, err := purego.Dlsym(l.handle, name+"_run")
	if err != nil {
		return nil, err
	}
	r := &Prepared{fn: fn, p: p, a: args}
	r.c.begin(args)
	r.c.b.pins.Pin(&p.raw[0])
	r.c.b.pins.Pin(&p.room[0])
	return r, nil
}

// Run calls the function; what it found wrong is in the Status.
func (r *Prepared) Run() Status {
	code, _, _ := purego.SyscallN(r.fn, r.p.state.word(), r.c.args(), uintptr(unsafe.Pointer(&r.p.raw[0])), uintptr(unsafe.Pointer(&r.p.room[0])), r.c.report())
	return r.c.status(code)
}

// Release lets the memory go.
func (r *Prepared) Release() { r.c.end() }
