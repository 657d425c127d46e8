package analysis

import (
	"tenon/ir"
	"tenon/ir/sym"
)

// AtEntry is what is known of f's dims when it is entered: no dim and no extent
// is negative, and its facts hold.
func AtEntry(f *ir.Func) *sym.Facts {
	facts := sym.NewFacts()
	zero := sym.Const(0)
	for _, d := range f.Dims {
		facts.Add(sym.Ge(sym.Name(d), zero))
	}
	for _, p := range f.Params {
		dims, _ := ir.DimsOf(p.Value.Type)
		if t, ok := p.Value.Type.(ir.Pattern); ok {
			dims = []sym.Expr{t.Rows, t.Cols, sym.NNZ(t.ID)}
		}
		for _, d := range dims {
			facts.Add(sym.Ge(d, zero))
		}
	}
	for _, w := range f.Where {
		facts.Add(w.Cond)
	}
	return facts
}

// Inside is what is known in region r of op, given what is known at op: the
// ranges of loops and axes, the conditions of branches and guards.
func Inside(facts *sym.Facts, op *ir.Op, r *ir.Region) *sym.Facts {
	in := facts.Clone()
	for i, c := range op.Clauses {
		switch c := c.(type) {
		case *ir.Range:
			in.AddRange(c.Name, c.Lo, c.Hi)
			if c.Size != "" {
				n := sym.Name(c.Size)
				in.Add(sym.Ge(n, sym.Const(1)))
				in.Add(sym.Le(n, c.Step))
				in.Add(sym.Le(sym.Add(sym.Name(c.Name), n), c.Hi))
			}
		case *ir.Axes:
			AddAxes(in, c.List)
		case *ir.Conds:
			branch(in, c, op, i, r)
		case *ir.Variants:
			for _, v := range c.List {
				for _, w := range v.Where {
					if v.Region == r {
						in.Add(w.Cond)
					}
				}
			}
		}
	}
	return in
}

// AddAxes adds the ranges of axes.
func AddAxes(facts *sym.Facts, axes []ir.Axis) {
	for _, a := range axes {
		if a.Pattern == nil {
			facts.AddRange(a.Name, sym.Const(0), a.Extent)
			continue
		}
		if p, ok := a.Pattern.Type.(ir.Pattern); ok {
			facts.AddRange(a.Name, sym.Const(0), p.Cols)
			facts.AddRange(a.Entry, sym.Const(0), sym.NNZ(p.ID))
		}
	}
}

// branch adds conditions where r is the region that they guard, and the
// opposite of a single one where r is the region for the other case.
func branch(in *sym.Facts, c *ir.Conds, op *ir.Op, at int, r *ir.Region) {
	if kw := op.Def.Clauses[at].KW; kw != "" && kw != "if" {
		return
	}
	for i, b := range op.Clauses {
		block, ok := b.(*ir.Block)
		if !ok || block.Region != r {
			continue
		}
		if op.Def.Clauses[i].KW != "else" {
			for _, k := range c.List {
				in.Add(k)
			}
		} else if len(c.List) == 1 {
			in.Add(c.List[0].Not())
		}
	}
}

// After adds to facts what op, once passed, has established: the bounds of the
// dims it binds, and the conditions it checks.
func After(facts *sym.Facts, op *ir.Op) {
	checks := len(op.Regions()) == 0
	for _, c := range op.Clauses {
		switch c := c.(type) {
		case *ir.Exists:
			for _, d := range c.Dims {
				for _, k := range d.Conds {
					facts.Add(k)
				}
			}
		case *ir.Conds:
			if !checks {
				continue
			}
			for _, k := range c.List {
				facts.Add(k)
			}
		}
	}
}
