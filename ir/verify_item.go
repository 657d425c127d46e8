package ir

import (
	"slices"

	"tenon/internal/num"
	"tenon/ir/sym"
)

// typ checks a type: its expressions, edge dims, encoding and distribution.
func (v *verifier) typ(op *Op, t Type) {
	switch t := t.(type) {
	case Tensor:
		v.dims(op, t, t.Dims)
		v.encodingUse(op, t)
	case Buf:
		v.dims(op, t, t.Dims)
		v.exprs(op, t.Strides)
		v.expr(op, t.Offset)
		if t.Strides != nil && len(t.Strides) != len(t.Dims) {
			v.fault(op, "%s has %d strides for %d dims", t, len(t.Strides), len(t.Dims))
		}
		v.distribution(op, t)
	case Pattern:
		v.expr(op, t.Rows)
		v.expr(op, t.Cols)
		if t.Format.Kind == "bsr" && (t.Format.BlockRows < 1 || t.Format.BlockCols < 1) {
			v.fault(op, "%s has blocks of %d x %d; a block has at least one element", t, t.Format.BlockRows, t.Format.BlockCols)
		}
	}
}

// dims: nnz#p is a dim by itself, and only the first one.
func (v *verifier) dims(op *Op, t Type, dims []sym.Expr) {
	v.exprs(op, dims)
	for i, d := range dims {
		if _, ok := d.IsNNZ(); ok && i == 0 {
			continue
		}
		for _, n := range d.Names() {
			if _, ok := sym.Name(n).IsNNZ(); ok {
				v.fault(op, "%s stands in %s; it may only be the first dim, by itself", n, t)
			}
		}
	}
}

func (v *verifier) encodingUse(op *Op, t Tensor) {
	switch {
	case t.Enc == nil:
	case Lookup[*Encoding](v.Module, t.Enc.Name) != t.Enc:
		v.fault(op, "the encoding @%s is no item of this module", t.Enc.Name)
	case len(t.Enc.Dims) != len(t.Dims):
		v.fault(op, "%s has rank %d, the encoding @%s %d", t, len(t.Dims), t.Enc.Name, len(t.Enc.Dims))
	case t.Enc.Elem != t.Elem:
		v.fault(op, "%s has elements of %s, the encoding @%s decodes to %s", t, t.Elem, t.Enc.Name, t.Enc.Elem)
	}
}

func (v *verifier) distribution(op *Op, t Buf) {
	d := t.Dist
	if d == nil {
		return
	}
	g := Lookup[*Grid](v.Module, d.Grid)
	if g == nil {
		v.fault(op, "there is no grid @%s in this module", d.Grid)
		return
	}
	used := map[int]bool{}
	for _, x := range d.Dims {
		switch {
		case x.Axis < 0:
			continue
		case x.Axis >= len(g.Axes):
			v.fault(op, "%s maps a dim to axis %d of @%s, which has %d", t, x.Axis, g.Name, len(g.Axes))
		case used[x.Axis]:
			v.fault(op, "%s maps two dims to axis %d of @%s", t, x.Axis, g.Name)
		}
		used[x.Axis] = true
		v.expr(op, x.Block)
		if b, ok := x.Block.IsConst(); x.Cyclic && ok && b < 1 {
			v.fault(op, "%s deals out blocks of %d; a block has at least one element", t, b)
		}
	}
	if _, builtin := builtinMonoids[d.Partial]; d.Partial != "" && !builtin && Lookup[*Monoid](v.Module, d.Partial) == nil {
		v.fault(op, "there is no monoid %s", d.Partial)
	}
}

// pure checks a region of a monoid or an encoding: it sees params only, has no
// effects and yields the given types.
func (v *verifier) pure(what string, r *Region, params []*Value, want []Type) {
	if r == nil {
		v.itemError("%s has no region", what)
		return
	}
	before := len(v.Errs)
	v.scoped(func() {
		for _, x := range params {
			v.bindValue(nil, x)
		}
		v.region(r)
	})
	if len(v.Errs) > before {
		return
	}
	for _, op := range r.Ops {
		if op.HasEffects() {
			v.Errorf(op, "has effects, but stands in %s", what)
		}
	}
	for _, op := range callsIn(r) {
		v.Errorf(op, "calls @%s, but stands in %s, which calls nothing", CalleeName(op), what)
	}
	v.yields(what, r, want)
}

func (v *verifier) yields(what string, r *Region, want []Type) {
	got := TypesOf(r.Yields())
	switch {
	case r.Last() == nil || r.Last().Def.Name != "yield":
		v.itemError("%s does not end in a yield", what)
	case !slices.EqualFunc(got, want, SameType):
		v.Errorf(r.Last(), "%s yields %s; wanted are %s", what, typesText(got), typesText(want))
	}
}

// monoid: identity, combine and act have the arities and types of the
// components; a rescaled monoid splits its components into base and over.
func (v *verifier) monoid(m *Monoid) {
	v.loc = m.Loc
	types := TypesOf(m.Params)
	if len(types) == 0 {
		v.itemError("monoid @%s has no components", m.Name)
	}
	for _, p := range m.Params {
		if _, ok := p.Type.(Scalar); !ok {
			v.itemError("monoid @%s: component %%%s is %v, not a scalar", m.Name, p.Name, p.Type)
		}
	}
	if uses(m, m, map[*Monoid]bool{}) {
		v.itemError("monoid @%s is defined by itself", m.Name)
		return
	}
	if m.Base != nil {
		v.rescaled(m)
		return
	}
	v.pure("identity of @"+m.Name, m.Identity, nil, types)
	v.paramTypes("combine of @"+m.Name, m.CombineParams, slices.Concat(types, types))
	v.pure("combine of @"+m.Name, m.Combine, m.CombineParams, types)
}

func (v *verifier) paramTypes(what string, params []*Value, want []Type) {
	if got := TypesOf(params); !slices.EqualFunc(got, want, SameType) {
		v.itemError("%s takes %s; wanted are %s", what, typesText(got), typesText(want))
	}
}

func (v *verifier) rescaled(m *Monoid) {
	if m.Over == nil {
		v.itemError("monoid @%s has a base, but nothing over it", m.Name)
		return
	}
	seen := map[*Value]int{}
	for _, p := range slices.Concat(m.Base.Params, m.Over.Params) {
		seen[p]++
	}
	for _, p := range m.Params {
		if seen[p] != 1 {
			v.itemError("monoid @%s: component %%%s stands %d times in base and over; once is wanted", m.Name, p.Name, seen[p])
		}
	}
	if len(seen) != len(m.Params) {
		v.itemError("monoid @%s: base and over name what is no component", m.Name)
	}
	v.monoidUse(m, "base", m.Base, false)
	v.monoidUse(m, "over", m.Over, true)
	over, base := TypesOf(m.Over.Params), TypesOf(m.Base.Params)
	v.paramTypes("act of @"+m.Name, m.ActParams, slices.Concat(over, base, base))
	v.pure("act of @"+m.Name, m.Act, m.ActParams, over)
}

// uses reports whether m is built on target, as its base, over it, or by a fold
// in one of its regions.
func uses(m, target *Monoid, seen map[*Monoid]bool) bool {
	if seen[m] {
		return false
	}
	seen[m] = true
	for _, u := range usedMonoids(m) {
		if u == target || uses(u, target, seen) {
			return true
		}
	}
	return false
}

func usedMonoids(m *Monoid) []*Monoid {
	var out []*Monoid
	for _, u := range []*MonoidUse{m.Base, m.Over} {
		if u != nil && u.Monoid != nil {
			out = append(out, u.Monoid)
		}
	}
	for _, r := range []*Region{m.Identity, m.Combine, m.Act} {
		if r == nil {
			continue
		}
		r.Walk(func(op *Op) bool {
			for _, c := range op.Clauses {
				if by, ok := c.(*By); ok && by != nil && by.Monoid != nil {
					out = append(out, by.Monoid)
				}
			}
			return true
		})
	}
	return out
}

// monoidUse: the components named have the types of the monoid applied; over
// applies it to each group of its arity.
func (v *verifier) monoidUse(m *Monoid, word string, u *MonoidUse, each bool) {
	elems := u.Monoid.Elems()
	k := len(elems)
	if k == 0 || len(u.Params)%k != 0 || !each && len(u.Params) != k {
		v.itemError("monoid @%s: %s has %d components, %s takes %d", m.Name, word, len(u.Params), u.Monoid.Name, k)
		return
	}
	for i, p := range u.Params {
		if e := elems[i%k]; ElemOf(p.Type) != e {
			v.itemError("monoid @%s: %%%s is %s, %s folds %s", m.Name, p.Name, p.Type, u.Monoid.Name, e)
		}
	}
}

func (v *verifier) encoding(e *Encoding) {
	v.loc = e.Loc
	if len(e.Subs) != len(e.Dims) {
		v.itemError("encoding @%s has %d dims, decode takes %d subscripts", e.Name, len(e.Dims), len(e.Subs))
		return
	}
	for _, p := range e.Parts {
		if t, ok := p.Value.Type.(Tensor); !ok || t.Enc != nil {
			v.itemError("encoding @%s: part %%%s is %v, not a plain tensor", e.Name, p.Value.Name, p.Value.Type)
			return
		}
	}
	v.header(e.Dims, e.Parts, e.Where)
	for i, s := range e.Subs {
		v.bindSym(nil, s, &binding{axis: true})
		v.Facts.AddRange(s, sym.Const(0), sym.Name(e.Dims[i]))
	}
	v.pure("decode of @"+e.Name, e.Decode, nil, []Type{Scalar{e.Elem}})
}

func (v *verifier) kernel(k *Kernel) {
	v.loc = k.Loc
	if len(k.Tile) != len(k.Dims) {
		v.itemError("kernel @%s has %d dims, its tile %d", k.Name, len(k.Dims), len(k.Tile))
	}
	for _, n := range k.Tile {
		if n < 1 {
			v.itemError("kernel @%s: a tile of %d elements", k.Name, n)
		}
	}
	if Lookup[*Extern](v.Module, k.Cost) == nil {
		v.itemError("kernel @%s: there is no extern @%s for its cost", k.Name, k.Cost)
	}
	v.header(k.Dims, k.Params, nil)
	v.region(k.Meaning)
	v.plainMeaning(k)
	body := Lookup[*Func](v.Module, k.Body)
	if body == nil || !body.IsProc {
		v.itemError("kernel @%s: there is no proc @%s for its body", k.Name, k.Body)
		return
	}
	v.signature(k, body)
}

// plainMeaning: what a kernel means calls nothing and runs no kernel.
func (v *verifier) plainMeaning(k *Kernel) {
	if k.Meaning == nil {
		return
	}
	k.Meaning.Walk(func(op *Op) bool {
		for _, c := range op.Clauses {
			a, ok := c.(*Attr)
			if !ok || a == nil || a.Value != AttrItem {
				continue
			}
			if Lookup[*Kernel](v.Module, a.Str) != nil || op.Def.Traits.Has(Call) {
				v.Errorf(op, "runs @%s, but stands in the meaning of kernel @%s, which runs nothing else", a.Str, k.Name)
			}
		}
		return true
	})
}

// signature: body and meaning agree up to strides. For a dim that the tile fixes
// the body has that size, or a dim of its own if it takes smaller tiles too. One
// further parameter, an index, says whether accumulators start empty (not 0) or
// from the output, which the body then updates.
func (v *verifier) signature(k *Kernel, body *Func) {
	updates := len(body.Params) == len(k.Params)+1 && SameType(body.Params[len(k.Params)].Value.Type, IndexType)
	if len(k.Params) != len(body.Params) && !updates {
		v.itemError("kernel @%s has %d parameters, its body @%s %d", k.Name, len(k.Params), body.Name, len(body.Params))
		return
	}
	fixed, names := map[string]sym.Expr{}, map[string]sym.Expr{}
	for i, d := range k.Dims {
		if i < len(k.Tile) && k.Tile[i] > 1 {
			fixed[d] = sym.Const(k.Tile[i])
		}
	}
	for i, p := range k.Params {
		q := body.Params[i]
		mode := p.Mode
		if updates && mode == ModeOut {
			mode = ModeInOut
		}
		if mode != q.Mode || !sameTile(p.Value.Type, q.Value.Type, fixed, names) {
			v.itemError("kernel @%s: parameter %%%s is %s %s, its body @%s takes %s %s", k.Name,
				p.Value.Name, mode, p.Value.Type, body.Name, q.Mode, q.Value.Type)
		}
	}
}

// sameTile compares shapes; names holds what the body calls the dims of the
// meaning.
func sameTile(meaning, body Type, fixed, names map[string]sym.Expr) bool {
	a, okA := DimsOf(meaning)
	b, okB := DimsOf(body)
	if !okA || !okB {
		return SameType(meaning, body)
	}
	if ElemOf(meaning) != ElemOf(body) || len(a) != len(b) {
		return false
	}
	for i := range a {
		n, bare := a[i].IsName()
		if _, known := names[n]; bare && !known {
			names[n] = bound(b[i], fixed[n])
		}
	}
	for i := range a {
		if !a[i].Subst(names).Equal(b[i]) {
			return false
		}
	}
	return true
}

// bound is what a dim of the meaning stands for: what the body has in its place,
// but no other number than that of the tile.
func bound(dim, tile sym.Expr) sym.Expr {
	if size, ok := tile.IsConst(); ok && size > 1 {
		if _, own := dim.IsName(); !own {
			return tile
		}
	}
	return dim
}

func (v *verifier) data(d *Data) {
	v.loc = d.Loc
	t, ok := d.Type.(Tensor)
	if !ok || t.Enc != nil {
		v.itemError("data @%s is %s, not a plain tensor", d.Name, d.Type)
		return
	}
	n := int64(1)
	for _, x := range t.Dims {
		c, ok := x.IsConst()
		if !ok || c < 0 {
			v.itemError("data @%s has the dim %s; its dims are integers", d.Name, x)
			return
		}
		n *= min(c, 1<<31)
		if n > 1<<31 && d.List == nil {
			return
		}
		if n > 1<<31 {
			v.itemError("data @%s is too large to stand in the text; keep it in a file", d.Name)
			return
		}
	}
	if d.List != nil && int64(len(d.List)) != n {
		v.itemError("data @%s has %d elements, its type %s wants %d", d.Name, len(d.List), t, n)
	}
	for _, l := range d.List {
		if l.Elem != t.Elem && l.Elem != num.Invalid {
			v.itemError("data @%s holds %s of %s in %s", d.Name, l, l.Elem, t)
			return
		}
	}
}
