package tn

import (
	"slices"

	"tenon/frontend/tn/syntax"
)

// The subscripts of an edge tensor come in any order, e[i, j in A[i], h] or
// e[h, i, j in A[i]]; its storage has the entries first, f32[nnz(A), H]. So an
// axis order is a view: what moves is the subscripts, never the data.

// storageOrder lists the axes that the dims of a tensor store, in the order of
// storage: entries first, the row in front of them left out, then the others.
func storageOrder(axes []dim) []int {
	var first, rest []int
	row := -1
	for _, d := range axes {
		if d.pat != nil && d.row >= 0 {
			row = d.row
		}
	}
	for i, d := range axes {
		switch {
		case d.pat != nil:
			first = append(first, i)
		case i != row:
			rest = append(rest, i)
		}
	}
	return append(first, rest...)
}

// entriesFirst is par in the order of storage, with the row before its entries.
func entriesFirst(par []*index) []*index {
	at := slices.IndexFunc(par, func(ix *index) bool { return ix.entry != "" })
	if at < 0 {
		return par
	}
	row := rowBefore(par, at)
	out := []*index{par[row], par[at]}
	for i, ix := range par {
		if i != at && i != row {
			out = append(out, ix)
		}
	}
	return out
}

// rowBefore is the place of the index whose row par[at] runs over, -1 if it does
// not stand before it.
func rowBefore(par []*index, at int) int {
	return slices.IndexFunc(par[:at], func(ix *index) bool { return ix.entry == "" && ix.value.Equal(par[at].row) })
}

// checkEntryAxes holds `j in A[i]` among the indices of a tensor to what an edge
// tensor can store: the entries of one pattern, and their row.
func (f *fnState) checkEntryAxes(c *site, par []*index) {
	var first *index
	for i, ix := range par {
		if ix.entry == "" {
			continue
		}
		e := c.scope.boundAt(ix)
		switch {
		case first != nil:
			f.p.failWith(e.Errorf("%s and %s both run over entries: an edge tensor has one value an entry", first.name, ix.name).
				WithExpected("one index over the entries of a pattern").
				WithFix("reduce one of them here: sum[%s in %s[..]] ..", ix.name, ix.pat.name))
		case rowBefore(par, i) < 0:
			f.p.failWith(e.Errorf("the row of the index %s over entries is no index before it", ix.name).
				WithExpected("the row's index, then the entries' index").
				WithFix("write for example `e[i, j in %s[i]]`", ix.pat.name))
		default:
			first = ix
		}
	}
}

// boundAt is the place that binds index ix, or its pack.
func (s *scope) boundAt(ix *index) syntax.Node {
	for ; s != nil; s = s.up {
		for _, name := range sortedKeys(s.names) {
			if b := s.names[name]; b.index == ix || slices.Contains(b.pack, ix) {
				return b.at
			}
		}
	}
	return &syntax.Name{}
}

// edgeFirst refuses nnz(A) behind another dim.
func (f *fnState) edgeFirst(list []*syntax.Sub) {
	for i, s := range list {
		if i > 0 && edgeDim(s) != nil {
			f.p.failWith(s.Errorf("the entries of an edge tensor come first").WithExpected("dims such as [nnz(A), H]").
				WithFix("put this dim in front; the subscripts are then w[i, j, ..]"))
		}
	}
}

// equateDims makes two dims equal, which run over the entries of one pattern or
// over none.
func (f *fnState) equateDims(at syntax.Node, a, b dim, why string) {
	if (a.pat == nil) != (b.pat == nil) || a.pat != nil && (a.pat.id != b.pat.id || a.row != b.row) {
		f.p.failWith(at.Errorf("this runs over %s and over %s%s", runsOver(a), runsOver(b), why).
			WithExpected("the same pattern, in the same place"))
	}
	f.equate(at, a.ext, b.ext, why)
}

// permuted is a view of an edge tensor t whose axis i is axis order[i] of t, or
// nil if storage does not have that order.
func permuted(t *tensor, order []int) *tensor {
	view := *t
	view.axes = make([]dim, len(order))
	for i, k := range order {
		view.axes[i] = t.axes[k]
		if d := t.axes[k]; d.pat != nil && d.row >= 0 {
			view.axes[i].row = slices.Index(order, d.row)
		}
	}
	for i, k := range storageOrder(view.axes) {
		if order[k] != storageOrder(t.axes)[i] {
			return nil
		}
	}
	return &view
}

// isEdge reports that some axis of t runs over entries.
func (t *tensor) isEdge() bool {
	return slices.ContainsFunc(t.axes, func(d dim) bool { return d.pat != nil })
}
