package cpu

import (
	"errors"

	"tenon/codegen/llvm"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// entry is a function that reads and checks what the caller passed, under
// construction: NAME.enter, which then calls the body, or NAME_plan, which says
// what a run needs.
type entry struct {
	*proc
	plan    *ir.EntryPlan
	args    llvm.Value // address of struct NAME_args
	tensors []*tensorArg
	records llvm.Value
	// planning leaves out what is said of outputs: they need not be there yet.
	planning bool
}

// tensorArg is a tensor as the caller described it.
type tensorArg struct {
	field  Field
	arg    int
	at     llvm.Value // address of its tenon_tensor
	record llvm.Value
}

// written reports an argument that the function writes.
func (t *tensorArg) written() bool { return t.field.Param.Mode != ir.ModeIn }

func (t *tensorArg) rank() llvm.Value { return llvm.Index(int64(t.field.Rank)) }

// newEntry starts to fill in fn, whose last parameter is the tenon_error. args
// is the address of the argument struct. A null error pointer is tolerated: its
// place is taken by a local one.
func newEntry(fn *llvm.Func, shared *support, f *ir.Func, fields []Field, args llvm.Value, planning bool) (e *entry, report llvm.Value) {
	plan, err := ir.Entry(f)
	if err != nil {
		panic(refusal{err})
	}
	e = &entry{proc: newProc(fn, shared, f, fields, Options{}), plan: plan, args: args, planning: planning}
	last := e.Params()[len(e.Params())-1]
	report = e.Select(e.IsNull(last), e.Alloca(errorBytes), last)
	e.locate()
	if len(fields) > 0 {
		e.failWhen(e.IsNull(args), ir.TrapNull, -1, -1)
	}
	return e, report
}

// emitEnter emits NAME.enter(args, plan, workspace, error): read and check the
// arguments, find room for temporaries, make dense copies where strides ask for
// it, call the body, copy results back. plan and workspace may be null. Where
// buffers are prepared one more parameter, before the error, says where a state
// keeps them; it may be null, and prepare fills them then.
func emitEnter(out *llvm.Module, shared *support, f *ir.Func, fields []Field, body, prepare *llvm.Func) *llvm.Func {
	params := []llvm.Param{{Name: "args", Type: llvm.Ptr, Const: true}, {Name: "plan", Type: llvm.Ptr, Const: true}, {Name: "workspace", Type: llvm.Ptr}}
	if prepare != nil {
		params = append(params, llvm.Param{Name: "prepared", Type: llvm.Ptr})
	}
	fn := out.NewInternal(f.Name+".enter", i32, append(params, llvm.Param{Name: "error", Type: llvm.Ptr})...)
	fn.NoInline()
	e, report := newEntry(fn, shared, f, fields, fn.Param(0), false)
	e.readArgs()
	e.checkSizes()
	e.checkOverlaps()
	scratch, prepared := e.scratch(e.Param(1), e.Param(2), e.Param(3))
	e.densify()
	if prepare != nil {
		e.When(e.IsNull(e.Param(3)), func() { e.prepare(prepare, e.inBody, prepared, e.Param(1), report) })
	}
	code := e.Call(body, append(e.bodyArgs(append(scratch, prepared...)), e.Param(1), report)...)
	e.When(e.Op("ne", code, llvm.Int(num.I32, 0)), func() { e.Jump(e.exit, errorOf(e.Func, code, report)...) })
	for _, t := range e.tensors {
		if t.written() && t.field.Rank > 0 {
			e.Call(shared.restore(int64(t.field.Elem.Bytes())), t.at, t.rank(), t.record)
		}
	}
	e.finish(report)
	return fn
}

// The layout of a tenon_error.
const errorBytes = 12

// errorOf is a code with the argument and dim that report has beside it.
func errorOf(f *llvm.Func, code, report llvm.Value) []llvm.Value {
	return []llvm.Value{code, f.Load(i32, f.Offset(report, 4)), f.Load(i32, f.Offset(report, 8))}
}

// locate lays out the records, with no copy yet, so that the exit may be taken
// from anywhere.
func (e *entry) locate() {
	for i, x := range e.fields {
		if x.Tensor {
			e.tensors = append(e.tensors, &tensorArg{field: x, arg: i, at: e.Offset(e.args, x.Offset)})
		}
	}
	if len(e.tensors) == 0 {
		return
	}
	e.records = e.Alloca(recordBytes * int64(len(e.tensors)))
	for i, t := range e.tensors {
		t.record = e.Offset(e.records, recordBytes*int64(i))
		e.Store(llvm.Null(), e.Offset(t.record, recCopy))
	}
	if !e.planning {
		e.cleanup = func() { e.Call(e.shared.release(), e.records, llvm.Index(int64(len(e.tensors)))) }
	}
}

// readArgs loads the argument struct and the extents, and binds the dims.
func (e *entry) readArgs() {
	for _, x := range e.fields {
		if !x.Tensor {
			e.values[x.Param.Value] = e.Load(llvm.TypeOf(x.Elem), e.Offset(e.args, x.Offset))
		}
	}
	binding := e.binding()
	for _, t := range e.tensors {
		switch {
		case !e.planning || t.field.Param.Mode != ir.ModeOut:
			e.examine(t)
		case binding[t.arg]: // the shape of an output is asked for where nothing else says it
			shape := address(e.Func, t.at, fieldShape)
			e.failWhen(e.IsNull(shape), ir.TrapNull, t.arg, -1)
		}
	}
	for _, s := range e.plan.Sources {
		if e.given(s.Param, binding) {
			t := e.tensorOf(s.Param)
			e.names[s.Name] = e.LoadElem(num.Index, address(e.Func, t.at, fieldShape), llvm.Index(int64(s.Dim)))
		}
	}
	for _, b := range e.plan.Bindings {
		e.names[b.Dim] = e.expr(b.Value)
	}
}

// runShapeProgram computes the dims that follow from elements of arguments.
func (e *entry) runShapeProgram() {
	for _, op := range ir.ShapeProgram(e.src) {
		for _, c := range op.Clauses {
			if r, ok := c.(*ir.Reads); ok {
				for _, x := range r.List {
					e.argument(x.Src)
				}
			}
		}
		e.op(op)
	}
}

// argument makes a tensor readable as the caller has it.
func (e *entry) argument(v *ir.Value) {
	for _, t := range e.tensors {
		if t.field.Param.Value != v {
			continue
		}
		b := e.dense(v.Type.(ir.Buf), address(e.Func, t.at, fieldData), t.arg)
		strides := address(e.Func, t.at, fieldStrides)
		for d := range b.strides {
			given := e.If(e.IsNull(strides), func() []llvm.Value { return []llvm.Value{b.strides[d]} },
				func() []llvm.Value { return []llvm.Value{e.LoadElem(num.Index, strides, llvm.Index(int64(d)))} })
			b.strides[d] = given[0]
		}
		e.bufs[v] = b
	}
}

// binding are the arguments whose shapes bind dims.
func (e *entry) binding() map[int]bool {
	args := map[int]bool{}
	for _, b := range e.plan.Bindings {
		args[e.plan.Sources[b.Source].Param] = true
	}
	return args
}

// inBody is what the body gets for argument i.
func (e *entry) inBody(i int) llvm.Value {
	if x := e.fields[i]; !x.Tensor {
		return e.values[x.Param.Value]
	}
	return address(e.Func, e.tensorOf(i).record, recDense)
}

// given reports that the shape of an argument is there to be read.
func (e *entry) given(arg int, binding map[int]bool) bool {
	return !e.planning || e.fields[arg].Param.Mode != ir.ModeOut || binding[arg]
}

func (e *entry) tensorOf(arg int) *tensorArg {
	for _, t := range e.tensors {
		if t.arg == arg {
			return t
		}
	}
	diag.Bugf("%s: parameter %d is no tensor", e.src.Name, arg)
	return nil
}

func (e *entry) examine(t *tensorArg) {
	use := map[ir.Mode]int64{ir.ModeIn: reads, ir.ModeOut: writes, ir.ModeInOut: updates}[t.field.Param.Mode]
	e.Store(llvm.Index(use), e.Offset(t.record, recWritten))
	e.Store(llvm.Index(int64(t.arg)), e.Offset(t.record, recArg))
	e.Store(t.at, e.Offset(t.record, recField))
	e.Store(t.rank(), e.Offset(t.record, recRank))
	e.Store(llvm.Index(int64(t.field.Elem)), e.Offset(t.record, recElem))
	e.Store(llvm.Index(0), e.Offset(t.record, recShares))
	code := e.Call(e.shared.examine(), t.at, t.rank(), llvm.Index(int64(t.field.Elem.Bytes())), t.record)
	e.failIf(code, t.arg, func() llvm.Value { return e.Cast(word(e.Func, t.record, recDim), num.I32) })
}

// failIf leaves with a code that is not 0.
func (e *entry) failIf(code llvm.Value, arg int, dim func() llvm.Value) {
	e.When(e.Op("ne", code, llvm.Int(num.I32, 0)), func() {
		e.Jump(e.exit, code, llvm.Int(num.I32, int64(arg)), dim())
	})
}

// checkSizes compares every extent with its declaration, and checks the facts.
// The sizes of outputs come last: they may follow from what arguments hold.
func (e *entry) checkSizes() {
	for _, d := range e.src.Dims {
		e.facts.Add(sym.Le(sym.Const(0), sym.Name(d)))
	}
	binding := e.binding()
	check := func(outputs bool) {
		for _, c := range e.plan.Checks {
			switch {
			case c.Source < 0 && !outputs:
				e.require(c.Cond)
			case c.Source >= 0 && outputs == (e.fields[c.Param].Param.Mode == ir.ModeOut) && e.given(c.Param, binding):
				e.failWhen(e.cond(c.Cond.Not()), ir.TrapShape, c.Param, c.Dim)
			}
		}
	}
	check(false)
	e.runShapeProgram()
	check(true)
}

// checkOverlaps refuses a written tensor that shares memory with another, but
// for an output that is an input.
func (e *entry) checkOverlaps() {
	written := false
	for _, t := range e.tensors {
		written = written || t.written()
	}
	if !written || len(e.tensors) < 2 {
		return
	}
	arg := e.Call(e.shared.overlap(), e.records, llvm.Index(int64(len(e.tensors))))
	e.When(e.Op("ge", arg, llvm.Index(0)), func() {
		e.Jump(e.exit, code(ir.TrapAlias), e.Cast(arg, num.I32), llvm.Int(num.I32, -1))
	})
}

// densify finds or makes the dense arrays.
func (e *entry) densify() {
	for _, t := range e.tensors {
		if t.field.Rank == 0 { // in C order whatever its strides
			e.Store(address(e.Func, t.at, fieldData), e.Offset(t.record, recDense))
			continue
		}
		fill := int64(1)
		if t.field.Param.Mode == ir.ModeOut {
			fill = 0
		}
		code := e.Call(e.shared.densify(int64(t.field.Elem.Bytes())), t.at, t.rank(), llvm.Index(fill), t.record)
		e.failIf(code, t.arg, func() llvm.Value { return llvm.Int(num.I32, -1) })
	}
	for _, t := range e.tensors {
		e.keepInput(t)
	}
}

// bodyArgs are the body's parameters but the last two, the plan and the error.
func (e *entry) bodyArgs(scratch []llvm.Value) []llvm.Value {
	var args []llvm.Value
	for i := range e.fields {
		args = append(args, e.inBody(i))
	}
	for _, d := range dimsOf(e.src) {
		args = append(args, e.names[d])
	}
	return append(args, scratch...)
}

// failure makes err the refusal of a proc.
func failure(err error) diag.List {
	var list diag.List
	var one *diag.Error
	switch {
	case errors.As(err, &list):
		return list
	case errors.As(err, &one):
		return diag.List{one}
	}
	diag.Bugf("a refusal is %v", err)
	return nil
}
