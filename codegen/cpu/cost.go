package cpu

import (
	"maps"

	"tenon/ir"
	"tenon/ir/ops/access"
	"tenon/ir/ops/loop"
	"tenon/ir/sym"
)

// costOf counts the scalar operations in an iteration of op, over names that are
// in scope where op stands. It decides how a loop is split, so it must depend on
// sizes alone.
func (p *proc) costOf(op *ir.Op) sym.Expr {
	return p.regionCost(bodyOf(op), inside(rangeOf(op), nil))
}

// dear are operations that cost as much as several: those that divide, and
// those that call the mathematical library.
var dear = map[string]int64{"div": 4, "sqrt": 4, "rsqrt": 4, "tdiv": 8, "trem": 8, "floordiv": 8, "mod": 8, "exp": 16, "exp2": 16, "expm1": 16,
	"log": 16, "log2": 16, "log1p": 16, "pow": 32, "sin": 16, "cos": 16, "tanh": 16, "erf": 16, "cbrt": 16, "sigmoid": 16}

// unknownTrips stands for the trips of a loop whose bounds are computed values.
const unknownTrips = 16

// regionCost counts with the indices of the loops around at their middle.
func (p *proc) regionCost(r *ir.Region, middle map[string]sym.Expr) sym.Expr {
	total := sym.Const(0)
	for _, op := range r.Ops {
		if op.Def.Traits.Has(ir.Call) {
			total = sym.Add(total, p.callCost(op, middle))
		} else {
			total = sym.Add(total, sym.Const(opCost(op)))
		}
		rng := anyRange(op)
		for _, in := range op.Regions() {
			if rng == nil {
				total = sym.Add(total, p.regionCost(in, middle))
			} else {
				total = sym.Add(total, sym.Mul(p.trips(rng, middle), p.regionCost(in, inside(rng, middle))))
			}
		}
	}
	return total
}

// callCost counts the points that the body of a micro-kernel goes over, two
// operations each: the sizes of its views.
func (p *proc) callCost(op *ir.Op, middle map[string]sym.Expr) sym.Expr {
	k := p.shared.kernels[loop.Callee(op)]
	if k == nil {
		return sym.Const(1)
	}
	cost, counted := sym.Const(2), map[string]bool{}
	for i, a := range op.Args("") {
		t, ok := k.src.Params[i].Value.Type.(ir.Buf)
		if !ok {
			continue
		}
		sizes := access.ViewDims(a)
		for d, e := range t.Dims {
			n, bare := e.IsName()
			if !bare || counted[n] || d >= len(sizes) {
				continue
			}
			counted[n] = true
			size := sizes[d].Subst(middle)
			if !p.known(size) {
				size = sym.Const(unknownTrips)
			}
			cost = sym.Mul(cost, size)
		}
	}
	return cost
}

// known reports that e has a value where the parallel loop stands.
func (p *proc) known(e sym.Expr) bool {
	for _, r := range e.Refs() {
		v, ok := r.(*ir.Value)
		if !ok || !p.hasValue(v) {
			return false
		}
	}
	for _, n := range e.Names() {
		if !p.inScope(n) {
			return false
		}
	}
	return true
}

func (p *proc) hasValue(v *ir.Value) bool {
	_, ok := p.values[v]
	return ok || p.part != nil && p.part.body.hasValue(v)
}

func opCost(op *ir.Op) int64 {
	cost := max(dear[op.Def.Name], 1)
	if len(op.Results) > 0 {
		if v, ok := op.Results[0].Type.(ir.Vec); ok {
			cost *= int64(v.Lanes)
		}
	}
	return cost
}

func anyRange(op *ir.Op) *ir.Range {
	for _, c := range op.Clauses {
		if r, ok := c.(*ir.Range); ok {
			return r
		}
	}
	return nil
}

// inside adds the names that a loop binds, at their middle.
func inside(r *ir.Range, middle map[string]sym.Expr) map[string]sym.Expr {
	out := maps.Clone(middle)
	if out == nil {
		out = map[string]sym.Expr{}
	}
	out[r.Name] = sym.FloorDiv(sym.Add(r.Lo, r.Hi).Subst(middle), sym.Const(2))
	if r.Size != "" {
		out[r.Size] = r.Step.Subst(middle)
	}
	return out
}

// trips is about how often a loop runs.
func (p *proc) trips(r *ir.Range, middle map[string]sym.Expr) sym.Expr {
	span := sym.Sub(r.Hi, r.Lo).Subst(middle)
	if !p.known(span) {
		return sym.Const(unknownTrips)
	}
	span = sym.Max(sym.Const(0), span)
	if n, ok := r.Step.IsConst(); ok && n > 0 {
		return sym.FloorDiv(sym.Add(span, sym.Const(n-1)), sym.Const(n))
	}
	if step := r.Step.Subst(middle); p.known(step) {
		step = sym.Max(sym.Const(1), step)
		return sym.FloorDiv(sym.Sub(sym.Add(span, step), sym.Const(1)), step)
	}
	return span
}

func (p *proc) inScope(name string) bool {
	_, ok := p.names[name]
	return ok || p.part != nil && p.part.body.inScope(name)
}
