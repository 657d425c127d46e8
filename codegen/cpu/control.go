package cpu

import (
	"slices"

	"tenon/codegen/llvm"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// region emits the ops of a region and frees the memory that they allocated.
// Its terminator is left to the owner, which reads the yielded values.
func (p *proc) region(r *ir.Region) {
	outer, pins := p.owned, p.pins
	p.owned, p.pins = nil, p.pinned(r)
	for _, op := range r.Ops {
		p.op(op)
	}
	p.pins = pins
	for _, slot := range p.owned {
		p.Free(p.Load(llvm.Ptr, slot))
		p.Store(llvm.Null(), slot)
	}
	p.owned = outer
}

func rangeOf(op *ir.Op) *ir.Range { return ir.GetClause[*ir.Range](op, "") }
func bodyOf(op *ir.Op) *ir.Region { return ir.GetClause[*ir.Block](op, "").Region }

// bounds evaluates a range; its step is checked.
func (p *proc) bounds(r *ir.Range) (lo, hi, step llvm.Value) {
	lo, hi, step = p.expr(r.Lo), p.expr(r.Hi), p.expr(r.Step)
	if !p.facts.Prove(sym.Lt(sym.Const(0), r.Step)) {
		p.failWhen(p.Op("le", step, llvm.Index(0)), ir.TrapShape, -1, -1)
	}
	return lo, hi, step
}

// each emits the loop of a range and calls body with names and facts in place.
func (p *proc) each(r *ir.Range, inits []llvm.Value, body func(carried []llvm.Value) []llvm.Value) []llvm.Value {
	lo, hi, step := p.bounds(r)
	return p.For(lo, hi, step, inits, func(iv llvm.Value, carried []llvm.Value) (next []llvm.Value) {
		p.iteration(r, iv, hi, step, func() { next = body(carried) })
		return next
	})
}

// iteration emits the iteration of r at iv.
func (p *proc) iteration(r *ir.Range, iv, hi, step llvm.Value, body func()) {
	outer := p.multiple
	p.multiple = p.multiples(r)
	defer func() { p.multiple = outer }()
	i := sym.Name(r.Name)
	facts := []sym.Cond{sym.Le(r.Lo, i), sym.Lt(i, r.Hi)}
	names := map[string]llvm.Value{r.Name: iv}
	if r.Size != "" {
		n := sym.Name(r.Size)
		names[r.Size] = p.Op("min", step, p.Op("sub", hi, iv))
		facts = append(facts, sym.Le(sym.Const(1), n), sym.Le(n, r.Step), sym.Le(sym.Add(i, n), r.Hi))
	}
	p.under(facts, names, body)
}

func lowerFor(p *proc, op *ir.Op) { p.unlessDonated(op, func() { p.forLoop(op) }) }

func (p *proc) forLoop(op *ir.Op) {
	var inits []llvm.Value
	carry := ir.GetClause[*ir.Carry](op, "carry")
	if carry == nil {
		carry = &ir.Carry{}
	}
	for _, v := range carry.Inits {
		inits = append(inits, p.value(v))
	}
	if len(op.Results) != len(inits) {
		refuse(op) // stacked values are tensors
	}
	if d := ir.GetClause[*ir.Directives](op, "directives"); d != nil && hasDirective(d.List, "reassoc") {
		p.markFolds(carry, bodyOf(op))
	}
	if len(inits) == 0 {
		p.versions(op, func() { p.inOrder(op) })
		return
	}
	results := p.each(rangeOf(op), inits, func(carried []llvm.Value) []llvm.Value {
		for i, v := range carry.Params {
			p.values[v] = carried[i]
		}
		return p.yields(bodyOf(op))
	})
	for i, r := range op.Results {
		p.values[r] = results[i]
	}
}

// inOrder emits a loop that carries nothing.
func (p *proc) inOrder(op *ir.Op) {
	p.each(rangeOf(op), nil, func([]llvm.Value) []llvm.Value {
		p.region(bodyOf(op))
		return nil
	})
}

// markFolds finds the ops that fold a value into a carried one: those that
// yield the next value and read the last, also under a guard whose other side
// keeps the value. A product that they fold in may fuse with them.
func (p *proc) markFolds(carry *ir.Carry, body *ir.Region) {
	for i, y := range body.Yields() {
		if i >= len(carry.Params) {
			continue
		}
		op := guarded(y)
		if op == nil || llvm.OpArgs(op.Def.Name) == 0 || !slices.Contains(op.OperandValues(""), carry.Params[i]) {
			continue
		}
		p.fold[op] = llvm.Reassoc | llvm.Contract
		for _, v := range op.OperandValues("") {
			if v.Def != nil && v.Def.Def.Name == "mul" {
				p.fold[v.Def] |= llvm.Contract
			}
		}
	}
}

// guarded is the op that makes v, inside the branches that yield it.
func guarded(v *ir.Value) *ir.Op {
	for v.Def != nil && v.Def.Def.Name == "loop.if" {
		i := slices.Index(v.Def.Results, v)
		v = bodyOf(v.Def).Yields()[i]
	}
	return v.Def
}

// yields emits a region and returns what it yields.
func (p *proc) yields(r *ir.Region) []llvm.Value {
	p.region(r)
	if p.Done() {
		return nil
	}
	var out []llvm.Value
	for _, v := range r.Yields() {
		out = append(out, p.value(v))
	}
	return out
}

func lowerIf(p *proc, op *ir.Op) {
	conds := ir.GetClause[*ir.Conds](op, "").List
	otherwise := ir.GetClause[*ir.Block](op, "else")
	arm := func(r *ir.Region, facts []sym.Cond) func() []llvm.Value {
		return func() (out []llvm.Value) {
			p.under(facts, nil, func() { out = p.yields(r) })
			return out
		}
	}
	if otherwise == nil {
		p.If(p.all(conds), arm(bodyOf(op), conds), nil)
		return
	}
	var not []sym.Cond
	if len(conds) == 1 {
		not = []sym.Cond{conds[0].Not()}
	}
	results := p.If(p.all(conds), arm(bodyOf(op), conds), arm(otherwise.Region, not))
	for i, r := range op.Results {
		p.values[r] = results[i]
	}
}

// lowerCheck stops with a shape error unless the conditions hold.
func lowerCheck(p *proc, op *ir.Op) {
	for _, c := range ir.GetClause[*ir.Conds](op, "").List {
		p.require(c)
	}
}

func (p *proc) require(c sym.Cond) {
	if p.facts.Prove(c) {
		return
	}
	arg, dim := p.blame(c)
	p.failWhen(p.cond(c.Not()), ir.TrapShape, arg, dim)
	p.facts = p.facts.Clone()
	p.facts.Add(c)
}

// blame names the first argument at hand one of whose dims is a name in c.
func (p *proc) blame(c sym.Cond) (arg, dim int) {
	for i, x := range p.fields {
		if p.opening && !x.Param.Const {
			continue
		}
		dims, _ := ir.DimsOf(x.Param.Value.Type)
		for d, e := range dims {
			if n, ok := e.IsName(); ok && (c.L.Uses(n) || c.R.Uses(n)) {
				return i, d
			}
		}
	}
	return -1, -1
}

// lowerPlan evaluates the shape program: dims from other dims and from small
// integer tensors, and what is said of them.
func lowerPlan(p *proc, op *ir.Op) {
	if p.planned[op] {
		return
	}
	if reads := ir.GetClause[*ir.Reads](op, "in"); reads != nil {
		for _, r := range reads.List {
			if r.Policy != ir.PolicyError {
				refuse(op)
			}
			b := p.buffer(r.Src)
			p.values[r.Res] = p.LoadElem(b.typ.Elem, b.data, p.element(b, r.Subs))
		}
	}
	dims := existsOf(op).Dims
	for i, v := range p.yields(bodyOf(op)) {
		p.names[dims[i].Name] = p.Cast(v, num.Index)
	}
	for _, d := range dims {
		for _, c := range d.Conds {
			p.require(c)
		}
	}
}

func existsOf(op *ir.Op) *ir.Exists {
	for _, c := range op.Clauses {
		if x, ok := c.(*ir.Exists); ok {
			return x
		}
	}
	return nil
}

// assume adds what is said of dims, which has been checked.
func (p *proc) assume(x *ir.Exists) {
	for _, d := range x.Dims {
		for _, c := range d.Conds {
			p.facts.Add(c)
		}
	}
}
