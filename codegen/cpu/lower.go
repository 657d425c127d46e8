package cpu

import (
	"fmt"
	"slices"

	"tenon/codegen/llvm"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
	"tenon/targets"
)

// Options changes what is generated.
type Options struct {
	Unchecked bool  // no checks of subscripts while running
	NoOpenMP  bool  // no threads but those of a caller's parallel_for
	PartOps   int64 // replaces that of the machine where it is not 0
	// StreamBytes replaces, where it is not 0, the sizes of buffers from which on
	// stores go around the caches.
	StreamBytes int64
}

// Lower makes an LLVM module of the procs of m, at the loop or vec level. name is kept in the
// object as that of the source. What has no native form is the user's error;
// all of them are reported at once.
func Lower(m *ir.Module, desc *targets.Desc, name string, o Options) (*llvm.Module, error) {
	out := llvm.NewModule(name, desc)
	shared := newSupport(out, !o.NoOpenMP)
	faults := twice(m)
	bodies := m.Bodies()
	for _, f := range m.Funcs() {
		if bodies[f.Name] {
			shared.kernel(f, o)
		}
	}
	for _, f := range m.Funcs() {
		switch {
		case bodies[f.Name]:
		case !f.IsProc || f.Level != ir.LevelLoop && f.Level != ir.LevelVec:
			diag.Bugf("%s is at level %s; code is generated from procs of the loop and vec levels", f.Name, f.Level)
		default:
			faults = append(faults, lowerProc(out, shared, f, o)...)
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

// lowerProc emits the two functions of a proc. An op without a native form
// ends the proc's body; the next proc still gets its turn.
func lowerProc(out *llvm.Module, shared *support, f *ir.Func, o Options) (faults diag.List) {
	fields, err := exported(f)
	if err != nil {
		return diag.List{err}
	}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(refusal)
			if !ok {
				panic(r)
			}
			faults = failure(e.err)
		}
	}()
	prepare := emitPrepare(out, shared, f, fields, o)
	body := emitBody(out, shared, f, fields, o)
	enter := emitEnter(out, shared, f, fields, body, prepare)
	emitInterface(out, shared, f, fields, enter, prepare)
	return nil
}

// refusal carries a user's error out of the middle of a body.
type refusal struct{ err error }

// refuse stops the proc at hand.
func refuse(op *ir.Op) {
	panic(refusal{notNative(op.Loc.First(), "op "+op.Def.Name)})
}

// proc is a body under construction.
type proc struct {
	*llvm.Func
	src    *ir.Func
	fields []Field
	opts   Options
	shared *support

	values map[*ir.Value]llvm.Value // scalars
	bufs   map[*ir.Value]*buffer
	names  map[string]llvm.Value // dims and loop indices in scope
	facts  *sym.Facts            // what holds at the current op

	exit    *llvm.Label           // takes code, arg, dim
	slots   []llvm.Value          // of pointers to free at the exit
	cleanup func()                // more to do there
	owned   []llvm.Value          // slots of the region at hand
	scratch map[*ir.Op]llvm.Value // addresses of the slots of allocations
	looped  map[*ir.Op]bool       // the ops inside loops
	planned map[*ir.Op]bool       // shape programs that the entry has run
	pins    bool                  // whether constants of the region at hand are pinned
	fold    map[*ir.Op]llvm.Flags // what an op may do beyond the proc's own flags

	multiple map[string]int64 // what the indices of loops around are multiples of, where it is known
	around   map[*buffer]bool // what the loop at hand writes around the caches, see versions
	stream   llvm.Value       // see streamSlot

	opening bool       // of a function that has const parameters alone
	split   *splitting // in a body: how its parallel loops become parts
	part    *part      // in a part: what it takes from the body
}

var (
	i32   = llvm.TypeOf(num.I32)
	index = llvm.TypeOf(num.Index)
)

func newProc(fn *llvm.Func, shared *support, src *ir.Func, fields []Field, o Options) *proc {
	p := &proc{Func: fn, shared: shared, src: src, fields: fields, opts: o, facts: sym.NewFacts(),
		values: map[*ir.Value]llvm.Value{}, bufs: map[*ir.Value]*buffer{}, names: map[string]llvm.Value{},
		fold: map[*ir.Op]llvm.Flags{}, scratch: map[*ir.Op]llvm.Value{}, looped: map[*ir.Op]bool{}, planned: map[*ir.Op]bool{}, multiple: map[string]int64{}}
	p.Source(src.Loc.First())
	p.exit = p.NewLabel("exit", i32, i32, i32)
	return p
}

// fail ends the current block with an error.
func (p *proc) fail(code ir.TrapCode, arg, dim int) {
	p.Jump(p.exit, llvm.Int(num.I32, int64(code)), llvm.Int(num.I32, int64(arg)), llvm.Int(num.I32, int64(dim)))
}

// failWhen emits a check.
func (p *proc) failWhen(bad llvm.Value, code ir.TrapCode, arg, dim int) {
	p.When(bad, func() { p.fail(code, arg, dim) })
}

// finish emits the exit: free what was allocated, report, return the code.
func (p *proc) finish(report llvm.Value) {
	if !p.Done() {
		p.fail(ir.TrapOK, -1, -1)
	}
	v := p.Bind(p.exit)
	p.fence()
	for _, slot := range p.slots {
		p.Free(p.Load(llvm.Ptr, slot))
	}
	if p.cleanup != nil {
		p.cleanup()
	}
	for i, x := range v {
		p.Store(x, p.Offset(report, int64(4*i)))
	}
	p.Return(v[0])
}

// slot reserves room for a pointer that the exit frees.
func (p *proc) slot() llvm.Value {
	s := p.NullSlot()
	p.slots = append(p.slots, s)
	return s
}

// emitBody emits NAME.body(data.., scalars, dims.., slots.., prepared.., plan,
// error) -> code. plan may be null.
func emitBody(out *llvm.Module, shared *support, f *ir.Func, fields []Field, o Options) *llvm.Func {
	slots := append(slotsOf(f), preparedOf(f)...)
	fn := out.NewInternal(f.Name+".body", i32, bodyParams(f, fields, len(slots))...)
	fn.NoInline() // so that its noalias parameters keep their meaning
	p := newProc(fn, shared, f, fields, o)
	p.split = &splitting{shared: shared, plan: p.Params()[len(p.Params())-2], name: f.Name}
	dims := dimsOf(f)
	for i, d := range dims {
		p.names[d] = p.Param(len(fields) + i)
		p.facts.Add(sym.Le(sym.Const(0), sym.Name(d)))
	}
	for _, w := range f.Where {
		p.facts.Add(w.Cond)
	}
	for _, op := range ir.ShapeProgram(f) {
		if x := existsOf(op); x != nil { // the entry has bound its dims
			p.planned[op] = true
			p.assume(x)
		}
	}
	for _, tensors := range []bool{false, true} { // sizes may use scalars
		for i, x := range fields {
			if x.Tensor == tensors {
				p.bind(x, p.Param(i), i)
			}
		}
	}
	for i, ops := range slots {
		for _, op := range ops {
			p.scratch[op] = p.Param(len(fields) + len(dims) + i)
		}
	}
	if hasDirective(f.Directives, "contract") {
		p.Flags = llvm.Contract
	}
	inLoops(f.Body, false, p.looped)
	p.region(f.Body)
	p.finish(p.Params()[len(p.Params())-1])
	return fn
}

// dimsOf are the dims that are known when the body begins: those bound at entry,
// and those that the shape program finds.
func dimsOf(f *ir.Func) []string { return append(slices.Clone(f.Dims), ir.PlannedDims(f)...) }

func bodyParams(f *ir.Func, fields []Field, slots int) (params []llvm.Param) {
	shared := sharedParams(f)
	for i, x := range fields {
		if x.Tensor {
			params = append(params, llvm.Param{Name: x.Name + ".data", Type: llvm.Ptr, NoAlias: !shared[i], Const: x.Param.Mode == ir.ModeIn})
		} else {
			params = append(params, llvm.Param{Name: x.Name, Type: llvm.TypeOf(x.Elem)})
		}
	}
	for _, d := range dimsOf(f) {
		params = append(params, llvm.Param{Name: "dim." + d, Type: index})
	}
	for i := range slots {
		params = append(params, llvm.Param{Name: fmt.Sprintf("slot.%d", i), Type: llvm.Ptr, NoAlias: true})
	}
	return append(params, llvm.Param{Name: "plan", Type: llvm.Ptr, Const: true}, llvm.Param{Name: "error", Type: llvm.Ptr, NoAlias: true})
}

func hasDirective(list []string, name string) bool {
	for _, d := range list {
		if d == name {
			return true
		}
	}
	return false
}
