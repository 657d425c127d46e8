package tn

import (
	"tenon/frontend/tn/syntax"
	"tenon/ir"
	"tenon/ir/sym"
)

// calleeDims is what the dims and index parameters of a called func or proc are
// at the call. The callee's names mean nothing in the caller, which may have the
// same ones.
type calleeDims struct {
	f     *fnState
	names map[string]sym.Expr
	refs  map[sym.Ref]sym.Expr
	later []func()
}

func (f *fnState) calleeDims() *calleeDims {
	return &calleeDims{f: f, names: map[string]sym.Expr{}, refs: map[sym.Ref]sym.Expr{}}
}

// of is a callee's expression in the caller's terms.
func (c *calleeDims) of(e sym.Expr) sym.Expr {
	return e.Subst(c.names).SubstRef(func(r sym.Ref) (sym.Expr, bool) {
		x, ok := c.refs[r]
		return x, ok
	})
}

func (c *calleeDims) cond(w sym.Cond) sym.Cond {
	return sym.Cond{L: c.of(w.L), Rel: w.Rel, R: c.of(w.R)}
}

// bind matches a callee's dims to an argument's: a name takes the dim, anything
// else must equal it, which is settled when all names are known.
func (c *calleeDims) bind(at syntax.Node, dims []sym.Expr, t *tensor) {
	for i, x := range dims {
		if n, ok := x.IsName(); ok {
			if _, bound := c.names[n]; !bound {
				c.names[n] = c.f.canon(t.axes[i].ext)
				continue
			}
		}
		c.later = append(c.later, func() { c.f.equate(at, c.of(x), t.axes[i].ext, " in this argument") })
	}
}

// hold makes the dims equal that must be, and the callee's facts true.
func (c *calleeDims) hold(at syntax.Node, callee *ir.Func) {
	for _, equate := range c.later {
		equate()
	}
	for _, w := range callee.Where {
		c.f.require(at, c.cond(w.Cond), callee.Name, w.Cond.String())
	}
}
