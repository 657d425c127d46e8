package loop

import (
	"slices"

	"tenon/ir"
	"tenon/ir/ops/access"
	"tenon/ir/sym"
)

// Prepare computes buffers from const parameters, once for all runs.
var Prepare = ir.Register(&ir.OpDef{
	Name: "loop.prepare",
	Doc: "Fills buffers with what follows from const parameters alone; compiled code does so when they are bound.\n" +
		"loop.prepare(%P, ..) { .. }\n" +
		"Stands in the body of the proc itself. The region reads const parameters and writes the buffers, which are\n" +
		"allocated there before it, in C order, with dims that const parameters bind; nothing else touches them before\n" +
		"it, and nothing else writes them.",
	Clauses: []ir.ClauseSpec{{Kind: ir.KindOperands}, {Kind: ir.KindBlock}},
	Traits:  ir.Apart,
	Verify:  checkPrepare,
	Effects: func(op *ir.Op) []ir.Effect { return access.Writes(op.OperandValues("")...) },
	Eval:    func(m ir.Machine, op *ir.Op) ir.Step { return m.Region(bodyOf(op)) },
})

// Prepares lists the ops of f that fill buffers from const parameters.
func Prepares(f *ir.Func) (ops []*ir.Op) {
	for _, op := range f.Body.Ops {
		if op.Def == Prepare {
			ops = append(ops, op)
		}
	}
	return ops
}

// Prepared maps the buffers that f fills from const parameters to the ops that
// do so. Such a buffer outlives a run: its memory is nobody else's.
func Prepared(f *ir.Func) map[*ir.Value]*ir.Op {
	by := map[*ir.Value]*ir.Op{}
	for _, op := range Prepares(f) {
		for _, v := range op.OperandValues("") {
			by[v] = op
		}
	}
	return by
}

// ConstDims are the dims of f that its const parameters bind.
func ConstDims(f *ir.Func) (dims []string) {
	for _, b := range ir.OpenPlan(f).Bindings {
		dims = append(dims, b.Dim)
	}
	return dims
}

func checkPrepare(c *ir.Checker, op *ir.Op) {
	if len(c.Around) > 0 || !c.Func.IsProc {
		c.Errorf(op, "stands inside another op or in a func; its place is the body of a proc")
		return
	}
	if ys := bodyOf(op).Yields(); len(ys) > 0 {
		c.Errorf(op, "yields %%%s, but has no results", ys[0].Name)
	}
	p := &preparation{c: c, op: op, dims: ConstDims(c.Func)}
	if len(op.Args("")) == 0 {
		c.Errorf(op, "fills no buffer")
	}
	for i, a := range op.Args("") {
		p.filled(i, a)
	}
	p.outside()
	p.elsewhere()
}

// preparation is the check of one op.
type preparation struct {
	c    *ir.Checker
	op   *ir.Op
	dims []string // that const parameters bind
}

func (p *preparation) fills(v *ir.Value) bool { return slices.Contains(p.op.OperandValues(""), v) }

// filled checks operand i.
func (p *preparation) filled(i int, a ir.Arg) {
	if _, err := access.Buffer(a); err != nil || a.View != nil {
		p.c.Errorf(p.op, "operand %d is no whole buffer", i+1)
		return
	}
	alloc := a.Value.Def
	if alloc == nil || alloc.Def != Alloc || !slices.Contains(p.c.Func.Body.Ops, alloc) {
		p.c.Errorf(p.op, "%%%s is not allocated in the body of @%s", a.Value.Name, p.c.Func.Name)
		return
	}
	if _, has := Slot(alloc); has || !Dense(a.Value.Type.(ir.Buf)) {
		p.c.Errorf(p.op, "%%%s has a slot, or is not in C order; a prepared buffer has memory of its own", a.Value.Name)
	}
	for _, d := range a.Value.Type.(ir.Buf).Dims {
		p.steadyExpr(d, nil, "a size of %"+a.Value.Name)
		if len(d.Refs()) > 0 {
			p.c.Errorf(p.op, "a size of %%%s uses a value", a.Value.Name)
		}
	}
	if slices.Contains(p.op.OperandValues("")[:i], a.Value) {
		p.c.Errorf(p.op, "%%%s stands twice", a.Value.Name)
	}
}

// steadyExpr checks that e follows from const parameters and what the region
// binds.
func (p *preparation) steadyExpr(e sym.Expr, bound map[string]bool, what string) {
	for _, n := range e.Names() {
		if !bound[n] && !slices.Contains(p.dims, n) {
			p.c.Errorf(p.op, "%s uses the dim %s, which no const parameter binds", what, n)
		}
	}
}

// outside checks what the region has from outside: the buffers that it fills,
// const parameters, and scalars that follow from those and constants.
func (p *preparation) outside() {
	values, names := boundIn(bodyOf(p.op))
	bodyOf(p.op).Walk(func(op *ir.Op) bool {
		op.Values(func(v *ir.Value) *ir.Value {
			if !values[v] && !p.fills(v) && !Steady(p.c.Func, v) {
				p.c.Errorf(p.op, "the region uses %%%s, which does not follow from const parameters", v.Name)
			}
			return v
		})
		look := func(e sym.Expr) sym.Expr {
			p.steadyExpr(e, names, "the region")
			return e
		}
		op.Exprs(look)
		for _, v := range op.Results {
			ir.MapType(v.Type, look)
		}
		return true
	})
}

// boundIn are the values and names that r binds.
func boundIn(r *ir.Region) (values map[*ir.Value]bool, names map[string]bool) {
	names = map[string]bool{}
	m := &ir.Mapping{FreshSym: func(n string) string { names[n] = true; return n }}
	ir.CloneRegion(r, m)
	values = map[*ir.Value]bool{}
	for v := range m.Values {
		values[v] = true
	}
	return values, names
}

// Steady reports that v, which is visible in the body of f, is the same in all
// runs for const parameters that are: one of them, its sizes included, or a scalar
// computed from such scalars, and dims that they bind, alone.
func Steady(f *ir.Func, v *ir.Value) bool {
	return (&steadiness{f, ConstDims(f), map[*ir.Value]bool{}}).holds(v)
}

type steadiness struct {
	f     *ir.Func
	dims  []string
	known map[*ir.Value]bool
}

func (s *steadiness) holds(v *ir.Value) bool {
	steady, done := s.known[v]
	if !done {
		steady = s.find(v)
		s.known[v] = steady
	}
	return steady
}

// sized reports a scalar, or a buffer whose sizes const parameters bind.
func (s *steadiness) sized(t ir.Type) bool {
	b, ok := t.(ir.Buf)
	if !ok {
		_, ok = t.(ir.Scalar)
		return ok
	}
	for _, d := range b.Dims {
		ok = ok && len(d.Refs()) == 0 && s.bound(d)
	}
	return ok
}

// bound reports that const parameters bind the dims in e.
func (s *steadiness) bound(e sym.Expr) bool {
	for _, n := range e.Names() {
		if !slices.Contains(s.dims, n) {
			return false
		}
	}
	return true
}

func (s *steadiness) find(v *ir.Value) bool {
	for _, q := range s.f.Params {
		if q.Value == v {
			return q.Const && q.Mode == ir.ModeIn && s.sized(v.Type)
		}
	}
	if v.Def == nil || !v.Def.Def.Traits.Has(ir.Pure) || len(v.Def.Regions()) > 0 {
		return false
	}
	steady := true
	v.Def.Values(func(u *ir.Value) *ir.Value {
		steady = steady && s.holds(u)
		return u
	})
	v.Def.Exprs(func(e sym.Expr) sym.Expr {
		steady = steady && s.bound(e)
		return e
	})
	return steady
}

// elsewhere checks that nothing uses the filled buffers before the op, and
// nothing else writes them.
func (p *preparation) elsewhere() {
	before := true
	p.c.Func.Body.Walk(func(op *ir.Op) bool {
		if op == p.op {
			before = false
			return false
		}
		if before {
			op.Values(func(v *ir.Value) *ir.Value {
				if p.fills(v) {
					p.c.Errorf(p.op, "%%%s is used before it, by %s", v.Name, op.Def.Name)
				}
				return v
			})
			return true
		}
		if v := p.written(op); v != nil {
			p.c.Errorf(p.op, "%%%s is written behind it too, by %s", v.Name, op.Def.Name)
		}
		return true
	})
	p.writes()
}

// written is the filled buffer that op may write, nil if there is none.
func (p *preparation) written(op *ir.Op) *ir.Value {
	if op.Def.Effects == nil {
		return nil
	}
	for _, e := range op.Def.Effects(op) {
		if e.Kind == ir.EffectWrite && e.Value != nil && p.fills(e.Value) && !p.c.OnlyReads(op, e.Value) {
			return e.Value
		}
	}
	return nil
}

// writes checks that the region writes nothing but the filled buffers and its
// own.
func (p *preparation) writes() {
	own, _ := boundIn(bodyOf(p.op))
	bodyOf(p.op).Walk(func(op *ir.Op) bool {
		if op.Def.Effects == nil {
			return true
		}
		for _, e := range op.Def.Effects(op) {
			switch {
			case e.Kind == ir.EffectSync:
				p.c.Errorf(p.op, "%s in the region waits for others", op.Def.Name)
			case e.Kind == ir.EffectWrite && e.Value != nil && !own[e.Value] && !p.fills(e.Value) && !p.c.OnlyReads(op, e.Value):
				p.c.Errorf(p.op, "the region writes %%%s, which it does not name", e.Value.Name)
			}
		}
		return true
	})
}
