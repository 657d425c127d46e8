package tensor

import (
	"maps"
	"slices"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// Callee is the item that a tensor.call or tensor.data names.
func Callee(op *ir.Op) string {
	if a := ir.GetClause[*ir.Attr](op, ""); a != nil {
		return a.Str
	}
	return ""
}

func verifyCall(c *ir.Checker, op *ir.Op) {
	if c.Module == nil {
		return
	}
	f := ir.Lookup[*ir.Func](c.Module, Callee(op))
	switch {
	case f == nil:
		c.Errorf(op, "there is no func @%s", Callee(op))
		return
	case f.IsProc:
		c.Errorf(op, "@%s is a proc; tensor.call takes a func", f.Name)
		return
	case len(op.Args("")) != len(f.Params):
		c.Errorf(op, "@%s takes %d arguments, not %d", f.Name, len(f.Params), len(op.Args("")))
		return
	case len(op.Results) != len(f.Results):
		c.Errorf(op, "@%s has %d results, not %d", f.Name, len(f.Results), len(op.Results))
		return
	}
	if n := len(boundDims(op)); n != len(f.ExDims) {
		c.Errorf(op, "@%s has %d existential dims, exists names %d", f.Name, len(f.ExDims), n)
	}
	for i, a := range op.Args("") {
		if a.Value == nil || !sameKind(a.Value.Type, f.Params[i].Value.Type) {
			c.Errorf(op, "argument %d does not fit parameter %%%s: %s", i+1, f.Params[i].Value.Name, f.Params[i].Value.Type)
		}
	}
	dims := calleeDims(op, f)
	for i, r := range op.Results {
		want := f.Results[i].Type
		if !sameKind(r.Type, want) {
			c.Errorf(op, "result %d is %s, @%s gives %s", i+1, r.Type, f.Name, want)
		} else if !sameDims(c, r.Type, want, dims) {
			c.Errorf(op, "result %d is %s, @%s gives %s here", i+1, r.Type, f.Name, substituted(want, dims))
		}
	}
}

// calleeDims says what the callee's dims are here, as far as its parameters
// have them as extents; its existential dims have the names that exists gives.
func calleeDims(op *ir.Op, f *ir.Func) map[string]sym.Expr {
	dims := map[string]sym.Expr{}
	bind := func(e, value sym.Expr) {
		if n, ok := e.IsName(); ok {
			if _, bound := dims[n]; bound {
				return
			}
			dims[n] = value
		}
	}
	for i, d := range boundDims(op) {
		if i < len(f.ExDims) {
			dims[f.ExDims[i]] = sym.Name(d)
		}
	}
	for i, a := range op.Args("") {
		if a.Value == nil || !sameKind(a.Value.Type, f.Params[i].Value.Type) {
			continue
		}
		switch t := a.Value.Type.(type) {
		case ir.Tensor:
			for d, e := range f.Params[i].Value.Type.(ir.Tensor).Dims {
				bind(e, t.Dims[d])
			}
		case ir.Pattern:
			p := f.Params[i].Value.Type.(ir.Pattern)
			bind(p.Rows, t.Rows)
			bind(p.Cols, t.Cols)
			bind(sym.NNZ(p.ID), sym.NNZ(t.ID))
		}
	}
	solveDims(op, f, dims)
	return dims
}

// solveDims adds the callee's dims that stand in no extent by themselves, as
// its entry finds them.
func solveDims(op *ir.Op, f *ir.Func, dims map[string]sym.Expr) {
	bound := func(n string) bool { _, ok := dims[n]; return ok }
	if !slices.ContainsFunc(f.Dims, func(n string) bool { return !bound(n) }) {
		return
	}
	plan, err := ir.Entry(f)
	if err != nil {
		return // reported at the callee
	}
	// One table, so that a dim of the caller is not taken for one of the callee.
	known := maps.Clone(dims)
	for _, s := range plan.Sources {
		a := op.Args("")[s.Param].Value
		if a == nil || s.Stride {
			continue
		}
		if t, ok := a.Type.(ir.Tensor); ok && t.Enc == nil && s.Dim < len(t.Dims) {
			known[s.Name] = t.Dims[s.Dim]
		}
	}
	for _, b := range plan.Bindings {
		if !bound(b.Dim) && allIn(b.Value, known) {
			dims[b.Dim] = b.Value.Subst(known)
			known[b.Dim] = dims[b.Dim]
		}
	}
}

// allIn says whether the table has every name of e.
func allIn(e sym.Expr, table map[string]sym.Expr) bool {
	return !slices.ContainsFunc(e.Names(), func(n string) bool { _, ok := table[n]; return !ok })
}

// sameDims holds the dims written at a call against the callee's, where all
// names of one are known.
func sameDims(c *ir.Checker, got, want ir.Type, dims map[string]sym.Expr) bool {
	a, _ := ir.DimsOf(got)
	b, _ := ir.DimsOf(want)
	for i := range b {
		if allIn(b[i], dims) && !c.Facts.Prove(sym.Eq(a[i], b[i].Subst(dims))) {
			return false
		}
	}
	return true
}

// sameKind compares types up to their dims, which the call binds and checks.
func sameKind(a, b ir.Type) bool {
	switch a := a.(type) {
	case ir.Tensor:
		b, ok := b.(ir.Tensor)
		return ok && a.Elem == b.Elem && len(a.Dims) == len(b.Dims) && a.Enc == b.Enc
	case ir.Pattern:
		b, ok := b.(ir.Pattern)
		return ok && a.Format == b.Format
	}
	return ir.SameType(a, b)
}

func verifyData(c *ir.Checker, op *ir.Op) {
	if c.Module == nil {
		return
	}
	d := ir.Lookup[*ir.Data](c.Module, Callee(op))
	switch {
	case d == nil:
		c.Errorf(op, "there is no data @%s", Callee(op))
	case len(op.Results) != 1 || !ir.SameType(op.Results[0].Type, d.Type):
		c.Errorf(op, "@%s has type %s", d.Name, d.Type)
	}
}

// verifyReshape wants the sizes equal, or a check that says so.
func verifyReshape(c *ir.Checker, op *ir.Op) {
	x, err := tensorOperand(op, 0)
	if err != nil || len(op.Results) != 1 {
		return
	}
	y, ok := op.Results[0].Type.(ir.Tensor)
	if !ok {
		return
	}
	same := sym.Eq(product(x.Dims), product(y.Dims))
	facts := sym.NewFacts()
	if c.Facts != nil {
		facts = c.Facts.Clone()
	}
	if k := ir.GetClause[*ir.Conds](op, "check"); k != nil {
		for _, cond := range k.List {
			facts.Add(cond)
		}
	}
	if !same.L.Equal(same.R) && !facts.Prove(same) {
		c.Errorf(op, "%s and %s need not have the same size; add check(%s)", x, y, same)
	}
}

func product(dims []sym.Expr) sym.Expr {
	p := sym.Const(1)
	for _, d := range dims {
		p = sym.Mul(p, d)
	}
	return p
}

func verifyScatter(c *ir.Checker, op *ir.Op) {
	outs, body := ir.GetClause[*ir.Outs](op, "out"), ir.GetClause[*ir.Block](op, "")
	if outs == nil || body == nil || body.Region.Last() == nil {
		c.Errorf(op, "needs out(..) and a region that ends in a yield")
		return
	}
	verifyPoints(c, op, body.Region)
	yields := body.Region.Yields()
	if len(yields) != len(op.Results) || len(outs.List) != len(op.Results) {
		c.Errorf(op, "has %d operands, %d out lists and %d yielded values; the numbers must agree",
			len(op.Results), len(outs.List), len(yields))
		return
	}
	by := ir.GetClause[*ir.By](op, "by")
	if by != nil && len(by.Monoid.Elems()) != len(yields) {
		c.Errorf(op, "%s has %d components, %d values are yielded", by.Monoid.Name, len(by.Monoid.Elems()), len(yields))
		return
	}
	for i, o := range outs.List {
		t := op.Results[i].Type.(ir.Tensor)
		switch {
		case len(o.Subs) != len(t.Dims):
			c.Errorf(op, "out list %d has %d subscripts for rank %d", i+1, len(o.Subs), len(t.Dims))
		case !ir.SameType(yields[i].Type, ir.Scalar{Elem: t.Elem}):
			c.Errorf(op, "yields %s into %s; casts are written", yields[i].Type, t)
		case by != nil && by.Monoid.Elems()[i] != t.Elem:
			c.Errorf(op, "component %d of %s is %s, not %s", i+1, by.Monoid.Name, by.Monoid.Elems()[i], t.Elem)
		case by != nil && !sameSubs(o.Subs, outs.List[0].Subs):
			c.Errorf(op, "with by, all out lists must be the same: a tuple is combined at one place")
		}
	}
}

// verifyPoints holds axes, reads and region to the rules of a comp.
func verifyPoints(c *ir.Checker, op *ir.Op, body *ir.Region) {
	k := compCheck{c, Comp{Op: op, Body: body, Par: parOf(op)}}
	if x := ir.GetClause[*ir.Reads](op, "in"); x != nil {
		k.In = x.List
	}
	k.axes()
	k.reads()
	k.region()
}

// parOf are the axes of a scatter; a plan has none.
func parOf(op *ir.Op) []ir.Axis {
	if !op.Has("par") {
		return nil
	}
	return ir.GetClause[*ir.Axes](op, "par").List
}

func sameSubs(a, b []sym.Expr) bool {
	for i := range a {
		if i >= len(b) || !a[i].Equal(b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}

func verifyPlan(c *ir.Checker, op *ir.Op) {
	body := ir.GetClause[*ir.Block](op, "")
	if body == nil || body.Region.Last() == nil {
		c.Errorf(op, "the region does not end in a yield")
		return
	}
	verifyPoints(c, op, body.Region)
	yields := body.Region.Yields()
	if len(yields) != len(boundDims(op)) {
		c.Errorf(op, "binds %d dims, yields %d values", len(boundDims(op)), len(yields))
	}
	for i, v := range yields {
		if s, ok := v.Type.(ir.Scalar); !ok || !s.Elem.IsInt() {
			c.Errorf(op, "value %d is %s; a dim is an integer", i+1, v.Type)
		}
	}
}

// encodedOperand finds the encoding of the op's encoded side.
func encodingOf(t ir.Type) *ir.Encoding {
	if x, ok := t.(ir.Tensor); ok {
		return x.Enc
	}
	return nil
}

func verifyParts(c *ir.Checker, op *ir.Op) {
	v, err := operand(op, 0)
	if err != nil || encodingOf(v.Type) == nil {
		c.Errorf(op, "takes one encoded tensor")
		return
	}
	verifyPartList(c, op, encodingOf(v.Type), op.Results)
	dims := ir.EncodingDims(v.Type.(ir.Tensor)).Syms
	for i, p := range encodingOf(v.Type).Parts {
		if i < len(op.Results) && sameKind(op.Results[i].Type, p.Value.Type) && !sameDims(c, op.Results[i].Type, p.Value.Type, dims) {
			c.Errorf(op, "part %%%s of %%%s is %s here, not %s", p.Value.Name, v.Name, substituted(p.Value.Type, dims), op.Results[i].Type)
		}
	}
}

// substituted is t with the names in dims replaced.
func substituted(t ir.Type, dims map[string]sym.Expr) ir.Type {
	return ir.MapType(t, func(e sym.Expr) sym.Expr { return e.Subst(dims) })
}

func verifyEncoded(c *ir.Checker, op *ir.Op) {
	if len(op.Results) != 1 || encodingOf(op.Results[0].Type) == nil {
		c.Errorf(op, "gives one encoded tensor: write its type with enc @name")
		return
	}
	verifyPartList(c, op, encodingOf(op.Results[0].Type), op.OperandValues(""))
}

func verifyPartList(c *ir.Checker, op *ir.Op, enc *ir.Encoding, vs []*ir.Value) {
	if len(vs) != len(enc.Parts) {
		c.Errorf(op, "@%s has %d parts, not %d", enc.Name, len(enc.Parts), len(vs))
		return
	}
	for i, v := range vs {
		if !sameKind(v.Type, enc.Parts[i].Value.Type) {
			c.Errorf(op, "part %%%s of @%s is %s, not %s", enc.Parts[i].Value.Name, enc.Name, enc.Parts[i].Value.Type, v.Type)
		}
	}
}

// verifyPatternOp checks the two results of transpose, convert and coalesce.
func verifyPatternOp(c *ir.Checker, op *ir.Op) {
	p, err := patternOperand(op, 0)
	if err != nil {
		c.Errorf(op, "%v", err)
		return
	}
	if len(op.Results) != 2 {
		c.Errorf(op, "gives a pattern and an edge tensor of i64")
		return
	}
	q, isPattern := op.Results[0].Type.(ir.Pattern)
	at, isTensor := op.Results[1].Type.(ir.Tensor)
	if !isPattern || !isTensor || at.Elem != num.I64 || len(at.Dims) != 1 {
		c.Errorf(op, "gives a pattern and an edge tensor of i64, not %s, %s", op.Results[0].Type, op.Results[1].Type)
		return
	}
	rows, cols, edges := p.Rows, p.Cols, q.ID
	if op.Def.Name == "tensor.pattern_transpose" {
		rows, cols = cols, rows
	}
	if op.Def.Name == "tensor.coalesce" {
		edges = p.ID
	}
	if !q.Rows.Equal(rows) || !q.Cols.Equal(cols) {
		c.Errorf(op, "gives a pattern of %s x %s, not %s x %s", rows, cols, q.Rows, q.Cols)
	}
	if q.ID == p.ID {
		c.Errorf(op, "the new pattern needs an identity of its own, not #%s", p.ID)
	}
	if id, ok := at.Dims[0].IsNNZ(); !ok || id != edges {
		c.Errorf(op, "the map is an edge tensor of #%s, not %s", edges, at)
	}
}
