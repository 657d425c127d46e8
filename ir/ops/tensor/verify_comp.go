package tensor

import (
	"slices"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// compCheck verifies one comp; each method is one rule of ir-text's section 2.
type compCheck struct {
	*ir.Checker
	Comp
}

func verifyComp(ck *ir.Checker, op *ir.Op) {
	c := compCheck{ck, AsComp(op)}
	c.axes()
	c.reads()
	c.region()
	c.reduction()
	if c.InBuffers() {
		c.bufferOuts()
	} else {
		c.valueForm()
	}
}

func (c compCheck) axes() {
	var earlier []ir.Axis
	seen := map[string]bool{}
	for i, a := range c.Axes() {
		isPar := i < len(c.Par)
		for _, n := range Names(a) {
			if seen[n] {
				c.Errorf(c.Op, "axis %s is bound twice", n)
			}
			seen[n] = true
		}
		switch {
		case a.Pattern != nil:
			c.patternAxis(i, a)
		case isPar && UsesAxes(a.Extent, c.Axes()):
			c.Errorf(c.Op, "the extent %s of par axis %s uses an axis of the comp", a.Extent, a.Name)
		case UsesAxes(a.Extent, c.Axes()[i:]):
			c.Errorf(c.Op, "the extent %s of axis %s uses a later axis", a.Extent, a.Name)
		}
		earlier = append(earlier, a)
	}
}

func (c compCheck) patternAxis(i int, a ir.Axis) {
	if _, err := nnzOf(a.Pattern); err != nil {
		c.Errorf(c.Op, "%v", err)
		return
	}
	if UsesAxes(a.Row, c.Axes()[i:]) {
		c.Errorf(c.Op, "row %s of the entries %s:%s uses a later axis", a.Row, a.Name, a.Entry)
	}
	if i >= len(c.Par) {
		return
	}
	row, ok := a.Row.IsName()
	if i == 0 || !ok || c.Par[i-1].Pattern != nil || c.Par[i-1].Name != row {
		c.Errorf(c.Op, "par axis %s:%s runs over row %s, which must be the par axis just before it", a.Name, a.Entry, a.Row)
	}
}

func (c compCheck) reads() {
	bound := map[*ir.Value]bool{}
	for _, r := range c.In {
		c.read(r, bound)
		bound[r.Res] = true
	}
}

func (c compCheck) read(r ir.Read, bound map[*ir.Value]bool) {
	dims, ok := ir.DimsOf(r.Src.Type)
	_, isBuf := r.Src.Type.(ir.Buf)
	switch {
	case !ok:
		c.Errorf(c.Op, "%%%s is %s; only tensors and buffers are read", r.Src.Name, r.Src.Type)
		return
	case !c.readable(r.Src, isBuf):
		c.Errorf(c.Op, "reads %%%s, %s: the value form reads tensors, the buffer form buffers", r.Src.Name, r.Src.Type)
	}
	if len(r.Subs) != len(dims) {
		c.Errorf(c.Op, "%%%s has rank %d, %d subscripts are given", r.Src.Name, len(dims), len(r.Subs))
		return
	}
	if s, ok := r.Res.Type.(ir.Scalar); !ok || s.Elem != ir.ElemOf(r.Src.Type) {
		c.Errorf(c.Op, "%%%s is bound as %s to an element of %s", r.Res.Name, r.Res.Type, r.Src.Type)
	}
	for _, s := range r.Subs {
		c.subscript(s)
	}
}

// readable reports whether a comp of this form may read src. An encoded tensor
// is read in both; a nested comp, which gives scalars, reads what the comp
// around it does. A plan has no form: it reads what its function works on.
func (c compCheck) readable(src *ir.Value, isBuf bool) bool {
	if t, ok := src.Type.(ir.Tensor); ok && t.Enc != nil {
		return true
	}
	if len(c.Op.Results) == 0 && !c.InBuffers() {
		return c.Func == nil || isBuf == c.Func.IsProc
	}
	nested := len(c.Op.Results) > 0 && !c.InBuffers()
	for _, v := range c.Op.Results {
		_, scalar := v.Type.(ir.Scalar)
		nested = nested && scalar
	}
	return nested || c.InBuffers() == isBuf
}

// readsTensors reports the value form; a nested comp reads what there is.
func (c compCheck) readsTensors() bool {
	if c.InBuffers() || len(c.Op.Results) == 0 {
		return false
	}
	_, nested := c.Op.Results[0].Type.(ir.Scalar)
	return !nested
}

// subscript allows an affine expr plus at most one integer value with
// coefficient 1.
func (c compCheck) subscript(e sym.Expr) {
	for _, ref := range e.Refs() {
		v := ref.(*ir.Value)
		if s, ok := v.Type.(ir.Scalar); !ok || !s.Elem.IsInt() {
			c.Errorf(c.Op, "subscript %s uses %%%s of type %s; a subscript is an integer", e, v.Name, v.Type)
		}
	}
	if len(e.Refs()) > 1 {
		c.Errorf(c.Op, "subscript %s uses %d values; at most one may stand in it", e, len(e.Refs()))
	}
}

// region allows pure scalar ops and nested comps without par and out.
func (c compCheck) region() {
	if c.Body == nil || c.Body.Last() == nil {
		c.Errorf(c.Op, "the region does not end in a yield")
		return
	}
	for _, op := range c.Body.Ops[:len(c.Body.Ops)-1] {
		switch {
		case IsComp(op):
			in := AsComp(op)
			if len(in.Par) > 0 || in.Out != nil {
				c.Errorf(op, "a comp inside a region has no par and no out")
			}
			for _, v := range op.Results {
				if _, ok := v.Type.(ir.Scalar); !ok {
					c.Errorf(op, "a comp inside a region yields scalars, not %s", v.Type)
				}
			}
		case !op.Def.Traits.Has(ir.Pure) && op.Def.Name != "load":
			c.Errorf(op, "only pure scalar ops may stand in a comp's region")
		}
	}
	for i, v := range c.Yields() {
		if _, ok := v.Type.(ir.Scalar); !ok {
			c.Errorf(c.Op, "yields %s as value %d; a region yields scalars", v.Type, i+1)
		}
	}
}

func (c compCheck) reduction() {
	switch {
	case c.By == nil && len(c.Red) > 0:
		c.Errorf(c.Op, "has red axes but no by")
	case c.By != nil && len(c.Red) == 0:
		c.Errorf(c.Op, "has by but no red axes")
	}
	if c.By == nil || c.By.Monoid == nil {
		return
	}
	var yields []num.Elem
	for _, v := range c.Yields() {
		yields = append(yields, ir.ElemOf(v.Type))
	}
	if want := c.By.Monoid.Elems(); !slices.Equal(yields, want) {
		c.Errorf(c.Op, "yields %v, the components of %s are %v; casts are written", yields, c.By.Monoid.Name, want)
	}
	if c.By.FromOut && !c.InBuffers() {
		c.Errorf(c.Op, "from(out) needs the buffer form")
	}
	if c.By.FromOut && (c.By.Empty != nil || c.By.EmptyError) {
		c.Errorf(c.Op, "from(out) and empty exclude each other")
	}
}

func (c compCheck) valueForm() {
	if len(c.If) > 0 && len(c.Red) == 0 {
		c.Errorf(c.Op, "an if in value form needs red: values are written whole")
	}
	if len(c.Par) == 0 && c.Out == nil {
		c.scalarOrRank0()
	}
	if c.Out == nil {
		return
	}
	for r := range c.Out.List {
		if c.Out.List[r].Buf != nil {
			c.Errorf(c.Op, "out mixes buffers and axis lists")
			return
		}
		axes, err := c.resultAxes(r)
		if err == nil && len(axes) < len(c.Par) {
			c.independent(r, axes)
		}
	}
}

// scalarOrRank0: inside a region a comp gives scalars, elsewhere rank 0.
func (c compCheck) scalarOrRank0() {
	if c.Func == nil || c.Func.Body == nil || len(c.Op.Results) == 0 {
		return
	}
	_, scalar := c.Op.Results[0].Type.(ir.Scalar)
	outside := standsOutsideScalarRegion(c.Func.Body, c.Op)
	if outside && scalar {
		c.Errorf(c.Op, "gives a scalar outside a scalar region; write rank 0, as in f32[]")
	}
}

func standsOutsideScalarRegion(r *ir.Region, want *ir.Op) bool {
	found := false
	r.Walk(func(op *ir.Op) bool {
		found = found || op == want
		return !found && !IsComp(op) && op.Def.Name != "tensor.plan" && op.Def.Name != "tensor.scatter"
	})
	return found
}

// independent checks that result r does not depend, by data flow and through
// the monoid, on a par axis that its list leaves out.
func (c compCheck) independent(r int, covered []ir.Axis) {
	left := map[string]bool{}
	for _, a := range c.Par {
		in := slices.ContainsFunc(covered, func(b ir.Axis) bool { return a.Name == b.Name })
		next := slices.IndexFunc(c.Par, func(b ir.Axis) bool { return b.Name == a.Name }) + 1
		pairedRow := next < len(c.Par) && c.Par[next].Pattern != nil &&
			slices.ContainsFunc(covered, func(b ir.Axis) bool { return b.Name == c.Par[next].Name })
		if in || pairedRow {
			continue
		}
		for _, n := range Names(a) {
			left[n] = true
		}
	}
	d := flow{left: left, dirty: map[*ir.Value]bool{}}
	if d.comp(c.Comp)[r] {
		c.Errorf(c.Op, "result %d depends on a par axis that its out list leaves out", r+1)
	}
}

func (c compCheck) bufferOuts() {
	yields := c.Yields()
	if len(c.Out.List) != len(yields) {
		c.Errorf(c.Op, "out has %d elements for %d yielded values", len(c.Out.List), len(yields))
		return
	}
	for i, o := range c.Out.List {
		if o.Buf == nil {
			c.Errorf(c.Op, "out mixes buffers and axis lists")
			return
		}
		b, ok := o.Buf.Type.(ir.Buf)
		switch {
		case !ok:
			c.Errorf(c.Op, "out %%%s is %s, not a buffer", o.Buf.Name, o.Buf.Type)
		case len(o.Subs) != len(b.Dims):
			c.Errorf(c.Op, "%%%s has rank %d, %d subscripts are given", o.Buf.Name, len(b.Dims), len(o.Subs))
		case b.Elem != ir.ElemOf(yields[i].Type):
			c.Errorf(c.Op, "yields %s into %%%s of %s; casts are written", ir.ElemOf(yields[i].Type), o.Buf.Name, b.Elem)
		}
		for _, s := range o.Subs {
			c.outSubscript(s)
		}
		c.injective(o)
		c.inPlace(o)
		for _, p := range c.Out.List[:i] {
			if p.Buf == o.Buf && !c.apart(p.Subs, o.Subs) {
				c.Errorf(c.Op, "two of its values may be written to one element of %%%s", o.Buf.Name)
			}
		}
	}
}

// apart reports that a dim free of axes keeps two outs from meeting.
func (c compCheck) apart(a, b []sym.Expr) bool {
	for d := range min(len(a), len(b)) {
		diff, ok := sym.Sub(a[d], b[d]).IsConst()
		if ok && diff != 0 && !UsesAxes(a[d], c.Axes()) {
			return true
		}
	}
	return false
}

func (c compCheck) outSubscript(s sym.Expr) {
	if len(s.Refs()) > 0 {
		c.Errorf(c.Op, "out subscript %s uses a value; it must be affine in the axes", s)
	}
	if UsesAxes(s, c.Red) {
		c.Errorf(c.Op, "out subscript %s uses a red axis", s)
	}
}

// inPlace is the in-place rule: a point reads an out buffer only at the element
// that it writes itself.
func (c compCheck) inPlace(o ir.Out) {
	check := func(op *ir.Op, src *ir.Value, subs []sym.Expr) {
		if src == o.Buf && !slices.EqualFunc(subs, o.Subs, sym.Expr.Equal) {
			c.Errorf(op, "reads %%%s%v, which another point may write as %%%s%v; sequence is loop.for's",
				src.Name, subs, o.Buf.Name, o.Subs)
		}
	}
	for _, r := range c.In {
		check(c.Op, r.Src, r.Subs)
	}
	c.Body.Walk(func(op *ir.Op) bool {
		if IsComp(op) {
			for _, r := range AsComp(op).In {
				check(op, r.Src, r.Subs)
			}
		}
		for _, a := range loadsOf(op) {
			check(op, a.Value, starts(a.View))
		}
		return true
	})
}

// loadsOf are the elements that op loads, if that is what it does.
func loadsOf(op *ir.Op) []ir.Arg {
	if op.Def.Name != "load" {
		return nil
	}
	return op.Args("")
}

func starts(v *ir.View) []sym.Expr {
	var subs []sym.Expr
	if v != nil {
		for _, d := range v.Dims {
			subs = append(subs, d.Start)
		}
	}
	return subs
}
