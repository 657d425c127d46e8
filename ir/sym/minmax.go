package sym

import "slices"

// Min is the smaller of a and b.
func Min(a, b Expr) Expr { return extremum(AtomMin, a, b) }

// Max is the larger of a and b.
func Max(a, b Expr) Expr { return extremum(AtomMax, a, b) }

// extremum flattens nested extrema of the same kind into a list, drops what
// another member decides, and nests the sorted rest to the right.
func extremum(k Kind, a, b Expr) Expr {
	if a.isOver() || b.isOver() {
		return overflowed
	}
	var list []Expr
	for _, x := range leaves(k, b, leaves(k, a, nil)) {
		list = keepExtreme(k, list, x)
	}
	list = absorb(k, list)
	slices.SortFunc(list, cmpExpr)
	e := list[len(list)-1]
	for i := len(list) - 2; i >= 0; i-- {
		e = binary(k, list[i], e)
	}
	return e
}

func leaves(k Kind, e Expr, list []Expr) []Expr {
	if a := e.atom(); a != nil && a.Kind == k {
		return leaves(k, a.Args[1], leaves(k, a.Args[0], list))
	}
	return append(list, e)
}

// keepExtreme adds x to list, unless a member at a constant distance decides.
func keepExtreme(k Kind, list []Expr, x Expr) []Expr {
	for i, y := range list {
		d, ok := Sub(x, y).IsConst()
		if !ok {
			continue
		}
		if (d < 0) == (k == AtomMin) {
			list[i] = x
		}
		return list
	}
	return append(list, x)
}

// absorb drops max(x, y) from the list of a min that has x, and vice versa.
func absorb(k Kind, list []Expr) []Expr {
	dual := AtomMin + AtomMax - k
	out := make([]Expr, 0, len(list))
	for i, e := range list {
		a := e.atom()
		if a == nil || a.Kind != dual || !shares(leaves(dual, e, nil), list, i) {
			out = append(out, e)
		}
	}
	return out
}

func shares(xs, list []Expr, except int) bool {
	for i, y := range list {
		if i != except && slices.ContainsFunc(xs, y.Equal) {
			return true
		}
	}
	return false
}
