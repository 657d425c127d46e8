package cpu

import (
	"slices"

	"tenon/codegen/llvm"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/loop"
	"tenon/ir/sym"
	"tenon/targets"
)

// Buffers that follow from const parameters (loop.prepare) are filled by
// NAME.prepare, not by the body. NAME_open calls it once the parameters are
// bound, by way of NAME.ready, and the state keeps the buffers, in one piece of
// memory; a call without a state has them at the end of its workspace, and the
// entry fills them before the body runs. The body takes each as a parameter.
//
//	NAME.prepare(const data.., const scalars.., const dims.., buffers.., plan, error) -> code
//	NAME.ready(state, error) -> code

// preparedOf are the allocations of the buffers that f prepares, each as a slot
// of its own.
func preparedOf(f *ir.Func) (slots [][]*ir.Op) {
	for _, op := range loop.Prepares(f) {
		for _, v := range op.OperandValues("") {
			slots = append(slots, []*ir.Op{v.Def})
		}
	}
	return slots
}

// keepsPrepared reports that a state of f keeps prepared buffers: without const
// parameters there is no state.
func keepsPrepared(f *ir.Func, fields []Field) bool {
	return len(preparedOf(f)) > 0 && slices.ContainsFunc(fields, func(x Field) bool { return x.Param.Const })
}

// Prepared is the size in bytes of what the state of f keeps beside the mapped
// files, as an expression over the dims of const parameters.
func Prepared(f *ir.Func, desc *targets.Desc) sym.Expr { return bytesIn(preparedOf(f), desc) }

// open are the parameters that NAME.prepare may read: those that are const and,
// of tensors, have dims that const parameters bind.
func open(f *ir.Func, fields []Field) (args []int) {
	for i, x := range fields {
		if loop.Steady(f, x.Param.Value) {
			args = append(args, i)
		}
	}
	return args
}

// emitPrepare emits NAME.prepare; nil where there is nothing to prepare.
func emitPrepare(out *llvm.Module, shared *support, f *ir.Func, fields []Field, o Options) *llvm.Func {
	ops := loop.Prepares(f)
	if len(ops) == 0 {
		return nil
	}
	var params []llvm.Param
	args, dims, made := open(f, fields), loop.ConstDims(f), preparedOf(f)
	for _, i := range args {
		x := llvm.Param{Name: fields[i].Name, Type: llvm.TypeOf(fields[i].Elem)}
		if fields[i].Tensor {
			x = llvm.Param{Name: x.Name + ".data", Type: llvm.Ptr, NoAlias: true, Const: true}
		}
		params = append(params, x)
	}
	for _, d := range dims {
		params = append(params, llvm.Param{Name: "dim." + d, Type: index})
	}
	for _, slot := range made {
		params = append(params, llvm.Param{Name: slot[0].Results[0].Name + ".data", Type: llvm.Ptr, NoAlias: true})
	}
	params = append(params, llvm.Param{Name: "plan", Type: llvm.Ptr, Const: true}, llvm.Param{Name: "error", Type: llvm.Ptr, NoAlias: true})
	fn := out.NewInternal(f.Name+".prepare", i32, params...)
	fn.NoInline() // so that its noalias parameters keep their meaning
	p := newProc(fn, shared, f, fields, o)
	p.opening = true
	p.split = &splitting{shared: shared, plan: fn.Param(len(params) - 2), name: fn.Name()}
	for i, d := range dims {
		p.names[d] = p.Param(len(args) + i)
	}
	p.knowConst()
	for i, arg := range args {
		p.bind(fields[arg], p.Param(i), arg)
	}
	for i, slot := range made {
		v := slot[0].Results[0]
		p.bufs[v] = p.dense(v.Type.(ir.Buf), p.Param(len(args)+len(dims)+i), -1)
	}
	if hasDirective(f.Directives, "contract") {
		p.Flags = llvm.Contract
	}
	p.steadyScalars(ops)
	for _, op := range ops {
		inLoops(bodyOf(op), false, p.looped)
		p.region(bodyOf(op))
	}
	p.finish(fn.Param(len(params) - 1))
	return fn
}

// bind gives a parameter its value or its memory.
func (p *proc) bind(x Field, v llvm.Value, arg int) {
	if x.Tensor {
		p.bufs[x.Param.Value] = p.dense(x.Param.Value.Type.(ir.Buf), v, arg)
	} else {
		p.values[x.Param.Value] = v
	}
}

// knowConst adds what is known of dims once const parameters are bound.
func (p *proc) knowConst() {
	plan := ir.OpenPlan(p.src)
	for _, b := range plan.Bindings {
		p.facts.Add(sym.Le(sym.Const(0), sym.Name(b.Dim)))
	}
	for _, c := range plan.Checks {
		if c.Source < 0 {
			p.facts.Add(c.Cond)
		}
	}
}

// steadyScalars emits the scalars that stand before ops and are used in their
// regions.
func (p *proc) steadyScalars(ops []*ir.Op) {
	used := map[*ir.Op]bool{}
	var use func(v *ir.Value) *ir.Value
	use = func(v *ir.Value) *ir.Value {
		if d := v.Def; d != nil && !used[d] && d.Def.Traits.Has(ir.Pure) && slices.Contains(p.src.Body.Ops, d) {
			used[d] = true
			d.Values(use)
		}
		return v
	}
	for _, op := range ops {
		bodyOf(op).Walk(func(in *ir.Op) bool {
			in.Values(use)
			return true
		})
	}
	for _, op := range p.src.Body.Ops {
		if used[op] {
			p.op(op)
		}
	}
}

// lowerPrepare emits nothing in a body: the buffers are filled when it runs.
func lowerPrepare(*proc, *ir.Op) {}

// prepare emits the call of NAME.prepare for buffers that lie at base, offsets
// from there; value gives what the parameters and dims are.
func (p *proc) prepare(fn *llvm.Func, arg func(i int) llvm.Value, at []llvm.Value, plan, report llvm.Value) {
	var args []llvm.Value
	for _, i := range open(p.src, p.fields) {
		args = append(args, arg(i))
	}
	for _, d := range loop.ConstDims(p.src) {
		args = append(args, p.names[d])
	}
	code := p.Call(fn, append(append(args, at...), plan, report)...)
	p.When(p.Op("ne", code, llvm.Int(num.I32, 0)), func() { p.Jump(p.exit, errorOf(p.Func, code, report)...) })
}

// emitReady emits NAME.ready: it reads the sizes of a state's parameters, checks
// what follows from them alone, and fills the prepared buffers. Their memory is
// noted in the state at once, where NAME_close, or NAME_open after an error,
// finds it.
func emitReady(out *llvm.Module, shared *support, f *ir.Func, fields []Field, prepare *llvm.Func) *llvm.Func {
	fn := out.NewInternal(f.Name+".ready", i32, llvm.Param{Name: "state", Type: llvm.Ptr}, llvm.Param{Name: "error", Type: llvm.Ptr, NoAlias: true})
	p := newProc(fn, shared, f, fields, Options{})
	p.opening = true
	state, report := fn.Param(0), fn.Param(1)
	list, bytes := constantsOf(fields)
	slotOf := map[int]llvm.Value{}
	for _, c := range list {
		slotOf[c.arg] = p.Offset(state, c.slot)
		p.aligned(c, slotOf[c.arg])
	}
	plan := ir.OpenPlan(f)
	for _, s := range plan.Sources {
		p.names[s.Name] = p.LoadElem(num.Index, address(p.Func, slotOf[s.Param], fieldShape), llvm.Index(int64(s.Dim)))
	}
	for _, b := range plan.Bindings {
		p.names[b.Dim] = p.expr(b.Value)
		p.facts.Add(sym.Le(sym.Const(0), sym.Name(b.Dim)))
	}
	for _, c := range plan.Checks {
		if c.Source < 0 {
			p.require(c.Cond)
		} else {
			p.failWhen(p.cond(c.Cond.Not()), ir.TrapShape, c.Param, c.Dim)
		}
	}
	offsets, total := p.layout(preparedOf(f))
	room := p.Malloc(total)
	p.failWhen(p.IsNull(room), ir.TrapMemory, -1, -1)
	p.Store(room, p.Offset(state, bytes))
	data := func(i int) llvm.Value {
		at := address(p.Func, slotOf[i], fieldData)
		if fields[i].Tensor {
			return at
		}
		return p.Load(llvm.TypeOf(fields[i].Elem), at)
	}
	p.prepare(prepare, data, p.places(room, offsets), llvm.Null(), report)
	p.finish(report)
	return fn
}

// keptBy is where a state, which may be null, keeps the prepared buffers of f;
// null where none does.
func keptBy(fn *llvm.Func, f *ir.Func, fields []Field, state llvm.Value) llvm.Value {
	if !keepsPrepared(f, fields) {
		return llvm.Null()
	}
	_, bytes := constantsOf(fields)
	return fn.If(fn.IsNull(state), func() []llvm.Value { return []llvm.Value{llvm.Null()} },
		func() []llvm.Value { return []llvm.Value{address(fn, state, bytes)} })[0]
}

// aligned checks that the elements of a constant begin where a multiple of their
// size is, as any header that is padded the way NumPy does it has them.
func (p *proc) aligned(c constant, slot llvm.Value) {
	at := p.PtrInt(address(p.Func, slot, fieldData))
	odd := p.Op("ne", p.Op("and", at, llvm.Index(int64(c.Elem.Bytes())-1)), llvm.Index(0))
	p.failWhen(odd, ir.TrapAlign, c.arg, -1)
}

// places are the addresses at offsets from base.
func (p *proc) places(base llvm.Value, offsets []llvm.Value) (at []llvm.Value) {
	for _, o := range offsets {
		at = append(at, p.OffsetBy(base, o))
	}
	return at
}
