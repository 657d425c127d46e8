package affine

import (
	"fmt"
	"strings"

	"tenon/ir/sym"
)

// Map takes a point of n named axes to a list of integers. Names in the
// results that are no axes are constants of the map.
type Map struct {
	Axes    []string
	Results []sym.Expr
}

// Identity maps the axes to themselves.
func Identity(axes ...string) Map {
	m := Map{Axes: axes}
	for _, a := range axes {
		m.Results = append(m.Results, sym.Name(a))
	}
	return m
}

// String is `(i, j) -> (i + 1, 2*j)`.
func (m Map) String() string {
	rs := make([]string, len(m.Results))
	for i, r := range m.Results {
		rs[i] = r.String()
	}
	return fmt.Sprintf("(%s) -> (%s)", strings.Join(m.Axes, ", "), strings.Join(rs, ", "))
}

// Apply maps a point, one expression per axis; the axes are replaced all at
// once, so the point may use their names.
func (m Map) Apply(point []sym.Expr) ([]sym.Expr, error) {
	if len(point) != len(m.Axes) {
		return nil, fmt.Errorf("%s takes %d coordinates, not %d", m, len(m.Axes), len(point))
	}
	by := map[string]sym.Expr{}
	for i, a := range m.Axes {
		by[a] = point[i]
	}
	out := make([]sym.Expr, len(m.Results))
	for i, r := range m.Results {
		out[i] = r.Subst(by)
	}
	return out, nil
}

// After is the map that applies first, then m.
func (m Map) After(first Map) (Map, error) {
	rs, err := m.Apply(first.Results)
	return Map{Axes: first.Axes, Results: rs}, err
}

// Forms splits every result over the axes.
func (m Map) Forms() []Form {
	fs := make([]Form, len(m.Results))
	for i, r := range m.Results {
		fs[i] = Linear(r, m.Axes)
	}
	return fs
}

// IsIdentity reports whether the results are the axes in order.
func (m Map) IsIdentity() bool {
	p, ok := m.Permutation()
	for i, k := range p {
		ok = ok && i == k
	}
	return ok
}

// Permutation gives, for each result, the axis that it is, if the results are
// the axes in some order.
func (m Map) Permutation() ([]int, bool) {
	at := map[string]int{}
	for i, a := range m.Axes {
		at[a] = i
	}
	p := make([]int, len(m.Results))
	for i, r := range m.Results {
		name, _ := r.IsName()
		k, ok := at[name]
		if !ok {
			return nil, false
		}
		p[i] = k
		delete(at, name)
	}
	return p, len(at) == 0
}

// Equal reports whether two maps are the same but for the names of their axes.
func (m Map) Equal(o Map) bool {
	if len(m.Axes) != len(o.Axes) || len(m.Results) != len(o.Results) {
		return false
	}
	point := make([]sym.Expr, len(m.Axes))
	for i, a := range m.Axes {
		point[i] = sym.Name(a)
	}
	rs, err := o.Apply(point)
	for i := range rs {
		if err != nil || !rs[i].Equal(m.Results[i]) {
			return false
		}
	}
	return err == nil
}
