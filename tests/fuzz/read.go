package fuzz

import (
	"fmt"
	"strings"

	"tenon/ir/sym"
)

// span is the range of an index expression, at the sizes designed for.
type span struct{ lo, hi int64 }

// reads writes the in(..) clause: up to n reads of the tensors in scope, whose
// values join the region's.
func (r *region) reads(n int) string {
	var parts []string
	for range n {
		if len(r.tensors) == 0 {
			break
		}
		if text, ok := r.read(pick(r.gen, r.tensors)); ok {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " in(" + strings.Join(parts, ", ") + ")"
}

// read binds a value to an element of t: subscripts in range where the policy
// is to fail, any ones with zero or clamp.
func (r *region) read(t tval) (string, bool) {
	v := sval{text: r.fresh("%r"), elem: t.elem, exact: t.exact, bound: t.bound}
	var subs []string
	inRange, allPositive := true, true
	for i, d := range t.dims {
		if i < len(t.owned) {
			subs = append(subs, t.owned[i])
			continue
		}
		if id, ok := d.IsNNZ(); ok {
			if g, ok := r.entryValue(d); ok && r.chance(2) {
				subs, v.deps = append(subs, g.text), v.deps|g.deps
				continue
			}
			a, ok := r.entryOf(id)
			if !ok {
				return "", false
			}
			subs, v.deps = append(subs, a.name), v.deps|a.deps
			continue
		}
		n, known := eval(d, r.env)
		text, deps, in := r.subscript(d, n, known)
		inRange = inRange && in
		allPositive = allPositive && known && n > 0
		subs, v.deps = append(subs, text), v.deps|deps
	}
	policy := ""
	switch {
	case !inRange && allPositive && r.chance(2):
		policy = " clamp"
	case !inRange && !r.chance(60):
		policy = " zero"
	case inRange && r.chance(12):
		policy = " zero"
	}
	if policy != "" {
		v.bound = nil
	}
	r.vals = append(r.vals, v)
	return fmt.Sprintf("%s = %s[%s]%s", v.text, t.name, strings.Join(subs, ", "), policy), true
}

// entryValue is a value that numbers entries of the pattern with these edges.
func (r *region) entryValue(edges sym.Expr) (sval, bool) {
	for _, v := range r.vals {
		if v.exact && strings.HasPrefix(v.text, "%r") && v.boundedBy(edges) {
			return v, true
		}
	}
	return sval{}, false
}

// entryOf is an index over the entries of the pattern #id.
func (r *region) entryOf(id string) (axis, bool) {
	var found []axis
	for _, a := range r.axes {
		if a.edge == id {
			found = append(found, a)
		}
	}
	if len(found) == 0 {
		return axis{}, false
	}
	return pick(r.gen, found), true
}

// subscript is an expression for a dim of n elements (unknown: an existential
// one), and whether it lies in range wherever it is evaluated.
func (r *region) subscript(dim sym.Expr, n int64, known bool) (text string, deps uint, in bool) {
	if v, ok := r.gather(dim); ok && r.chance(2) {
		if !v.boundedBy(dim) || r.chance(10) {
			x := sym.Const(r.Int64N(3) - 1)
			return plus(v.text, x), v.deps, false
		}
		return v.text, v.deps, true
	}
	var same []axis
	for _, a := range r.axes {
		if a.plain && a.extent.Equal(dim) {
			same = append(same, a)
		}
	}
	if len(same) > 0 && !r.chance(4) {
		a := pick(r.gen, same)
		if known && r.chance(6) {
			return sym.Sub(sym.Add(dim, sym.Const(-1)), sym.Name(a.name)).String(), a.deps, true
		}
		return a.name, a.deps, true
	}
	x, at, deps := r.affine()
	for range 4 {
		if known && at.lo >= 0 && at.hi < n {
			break
		}
		x, at, deps = r.affine()
	}
	if known && n > 0 && r.chance(4) {
		c := sym.Const(r.Int64N(n))
		return c.String(), 0, true
	}
	return x.String(), deps, known && at.lo >= 0 && at.hi < n
}

func plus(value string, x sym.Expr) string {
	c, _ := x.IsConst()
	switch {
	case c > 0:
		return fmt.Sprintf("%s + %d", value, c)
	case c < 0:
		return fmt.Sprintf("%s - %d", value, -c)
	}
	return value
}

// gather is an integer that may stand in a subscript: one that any
// implementation computes alike, bounded by dim if there is such a one.
func (r *region) gather(dim sym.Expr) (sval, bool) {
	var found []sval
	for _, v := range r.vals {
		if !v.exact || !v.elem.IsInt() || !strings.HasPrefix(v.text, "%r") {
			continue
		}
		if v.boundedBy(dim) {
			return v, true
		}
		found = append(found, v)
	}
	if len(found) == 0 {
		return sval{}, false
	}
	return pick(r.gen, found), true
}

func (v sval) boundedBy(dim sym.Expr) bool { return v.bound != nil && v.bound.Equal(dim) }

// affine is an expression over one or two indices and its range.
func (r *region) affine() (sym.Expr, span, uint) {
	if len(r.axes) == 0 {
		c := r.Int64N(4)
		return sym.Const(c), span{c, c}, 0
	}
	a := pick(r.gen, r.axes)
	x, at, deps := sym.Name(a.name), span{a.lo, a.hi}, a.deps
	if k := int64(1 + r.IntN(3)); r.chance(3) {
		x, at = sym.Mul(sym.Const(k), x), span{k * at.lo, k * at.hi}
	}
	if r.chance(6) {
		x, at = sym.Neg(x), span{-at.hi, -at.lo}
	}
	if b := pick(r.gen, r.axes); r.chance(3) {
		x, at, deps = sym.Add(x, sym.Name(b.name)), span{at.lo + b.lo, at.hi + b.hi}, deps|b.deps
	}
	if c := r.Int64N(5) - 2; r.chance(2) {
		x, at = sym.Add(x, sym.Const(c)), span{at.lo + c, at.hi + c}
	}
	if k := int64(2 + r.IntN(3)); r.chance(6) {
		x, at = sym.FloorDiv(x, sym.Const(k)), span{floor(at.lo, k), floor(at.hi, k)}
	}
	if k := int64(1 + r.IntN(4)); r.chance(10) {
		x, at = sym.Mod(x, sym.Const(k)), span{0, k - 1}
	}
	return x, at, deps
}

func floor(a, k int64) int64 {
	q := a / k
	if a%k < 0 {
		q--
	}
	return q
}
