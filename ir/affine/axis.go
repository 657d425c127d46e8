package affine

import "tenon/ir/sym"

// Axis is a name that runs over Lo <= Name < Extent. Both bounds may use
// earlier axes of the same list (triangles); the zero Lo is 0.
type Axis struct {
	Name   string
	Extent sym.Expr // exclusive
	Lo     sym.Expr
}

// Names lists the names of axes.
func Names(axes []Axis) []string {
	out := make([]string, len(axes))
	for i, a := range axes {
		out[i] = a.Name
	}
	return out
}

// Bind is a copy of facts (nil: none) that also knows the ranges of the axes.
func Bind(facts *sym.Facts, axes []Axis) *sym.Facts {
	f := sym.NewFacts()
	if facts != nil {
		f = facts.Clone()
	}
	for _, a := range axes {
		f.AddRange(a.Name, a.Lo, a.Extent)
	}
	return f
}

// InRange reports whether 0 <= sub (below) and sub < extent (above) are proved
// for every point of the axes under the facts; facts may speak of the axes, as
// guards do.
func InRange(sub, extent sym.Expr, axes []Axis, facts *sym.Facts) (below, above bool) {
	f := Bind(facts, axes)
	return f.Prove(sym.Ge(sub, sym.Const(0))), f.Prove(sym.Lt(sub, extent))
}
