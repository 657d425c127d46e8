package lower

import (
	"slices"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// Ops whose results have a size that is known only when they are done write
// into buffers of the greatest size, count, and bind the count to the dim by a
// shape program of their own: tensor.plan exists(c: ..) { yield(%count) }.

// nonzero writes the subscripts of the elements that are not 0.
func (b *bufferiser) nonzero(op *ir.Op) {
	x := op.Operand(0)
	to := b.roomFor(op, op.Results[0])
	if to == nil {
		return
	}
	from, dims := b.m.Value(x), x.Type.(ir.Tensor).Dims
	e := b.emitter()
	count := e.each(dims, []*ir.Value{e.named("count", 0)}, func(e emitter, at []sym.Expr, c []*ir.Value) []*ir.Value {
		v := e.load(from, at...)
		some := v
		if t := ir.ElemOf(v.Type); t != num.Bool {
			some = e.Scalar("ne", v, e.Const(t, zero(t)))
		}
		return e.when(some, func(e emitter) []*ir.Value {
			for d, i := range at {
				e.put(e.Idx(i, num.I64), to, sym.Const(int64(d)), e.index(c[0]))
			}
			return []*ir.Value{e.Scalar("add", c[0], e.int(1))}
		}, func(emitter) []*ir.Value { return c })
	})
	b.counted(op, count[0])
	b.made(op.Results[0], to)
}

// unique sorts a vector and walks over it: an element that differs from the one
// before begins the next value.
func (b *bufferiser) unique(op *ir.Op) {
	x := op.Operand(0)
	var to []*ir.Value // values, first places, inverse, counts
	for _, v := range op.Results {
		p := b.roomFor(op, v)
		if p == nil {
			return
		}
		to = append(to, p)
	}
	n := x.Type.(ir.Tensor).Dims[0]
	s := b.newSorter(x, n, false)
	e := b.emitter()
	row := s.row(e, func(k sym.Expr) []sym.Expr { return []sym.Expr{k} })
	one := sym.Const(1)
	count := e.loop("k", sym.Const(0), n, one, []*ir.Value{e.named("count", 0)}, func(e emitter, k sym.Expr, c []*ir.Value) []*ir.Value {
		v, at := e.load(s.values, row, k), e.Cast(e.load(s.numbers, row, k), num.I64)
		last := e.load(s.values, row, sym.Max(sym.Const(0), sym.Sub(k, one)))
		fresh := e.Scalar("or", e.Scalar("eq", e.Idx(k, num.Index), e.int(0)), before(e, last, v))
		next := e.Scalar("add", c[0], e.Cast(fresh, num.Index))
		place := sym.Sub(e.index(next), one)
		e.when(fresh, func(e emitter) []*ir.Value {
			e.put(v, to[0], place)
			e.put(at, to[1], place)
			e.put(e.Idx(sym.Const(0), num.I64), to[3], place)
			return nil
		}, nil)
		e.put(e.Idx(place, num.I64), to[2], e.index(at))
		e.put(e.Scalar("add", e.load(to[3], place), e.Idx(one, num.I64)), to[3], place)
		return []*ir.Value{next}
	})
	b.counted(op, count[0])
	for i, v := range op.Results {
		b.made(v, to[i])
	}
}

// named is an index constant with a name that the loops that carry it take on.
func (e emitter) named(name string, n int64) *ir.Value {
	return e.Add(ir.NewOp("idx", e.Loc, &ir.Operands{Args: []ir.Arg{ir.ExprArg(sym.Const(n))}}), []ir.Type{ir.Scalar{Elem: num.Index}}, name).Results[0]
}

// counted binds the dim of op to a count.
func (b *bufferiser) counted(op *ir.Op, count *ir.Value) {
	body := &ir.Region{}
	b.here().In(body).Yield(count)
	x := ir.GetClause[*ir.Exists](op, "exists")
	list := &ir.Exists{}
	for _, d := range x.Dims {
		d.Conds = slices.Clone(d.Conds)
		for i := range d.Conds {
			d.Conds[i] = b.m.Cond(d.Conds[i])
		}
		list.Dims = append(list.Dims, d)
	}
	b.binds(op)
	b.here().Add(ir.NewOp("tensor.plan", op.Loc, list, &ir.Block{Region: body}), nil)
}

// roomFor is the buffer in which result v of op is made: where a size is op's to
// find, it is the greatest one. nil if that is not known, which is refused.
func (b *bufferiser) roomFor(op *ir.Op, v *ir.Value) *ir.Value {
	if p := b.places[v]; p != nil {
		return p
	}
	t := bufType(v.Type).(ir.Buf)
	own := map[string]*sym.Expr{}
	for _, d := range ir.GetClause[*ir.Exists](op, "exists").Dims {
		own[d.Name] = upperBound(d)
	}
	most, ok := greatest(t.Dims, own)
	if !ok {
		b.refuse(op, " without a greatest size")
		return nil
	}
	p := b.alloc(v.Name, ir.Buf{Elem: t.Elem, Dims: most})
	b.places[v], b.extents[p] = p, t.Dims
	return p
}

// upperBound is the greatest value that is said of a dim, nil if none is.
func upperBound(d ir.ExDim) *sym.Expr {
	for _, c := range d.Conds {
		left, isName := c.L.IsName()
		if !isName || left != d.Name {
			continue
		}
		switch c.Rel {
		case sym.LE, sym.EQ:
			return &c.R
		case sym.LT:
			e := sym.Sub(c.R, sym.Const(1))
			return &e
		}
	}
	return nil
}

// greatest replaces what is bound late in dims by its greatest value. ok is
// false where that is not known, or a dim does not grow with it.
func greatest(dims []sym.Expr, late map[string]*sym.Expr) (most []sym.Expr, ok bool) {
	for _, d := range dims {
		for again := true; again; {
			again = false
			for _, n := range d.Names() {
				bound, isLate := late[n]
				if !isLate {
					continue
				}
				coef, _, linear := d.Linear(n)
				c, isConst := coef.IsConst()
				if !linear || !isConst || c < 0 || bound == nil {
					return nil, false
				}
				d, again = d.Subst(map[string]sym.Expr{n: *bound}), true
			}
		}
		most = append(most, d)
	}
	return most, true
}

// lateDims are the dims of f that its shape program does not find, with their
// greatest values.
func lateDims(f *ir.Func) map[string]*sym.Expr {
	planned, late := ir.PlannedDims(f), map[string]*sym.Expr{}
	f.Body.Walk(func(op *ir.Op) bool {
		for _, c := range op.Clauses {
			if x, ok := c.(*ir.Exists); ok {
				for _, d := range x.Dims {
					if !slices.Contains(planned, d.Name) {
						late[d.Name] = upperBound(d)
					}
				}
			}
		}
		return true
	})
	return late
}
