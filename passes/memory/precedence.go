package memory

import (
	"tenon/ir"
	"tenon/passes/analysis"
)

// precedence asks whether a function is through with each element of a buffer
// when it writes that of another.
type precedence struct {
	acc   *analysis.Accesses
	order *analysis.Order
}

func precedenceIn(f *ir.Func) precedence {
	return precedence{analysis.FindAccesses(f), analysis.OrderIn(f)}
}

// maxPairs bounds the pairs of accesses that are compared for one answer.
const maxPairs = 1024

// precedes reports that every access to a comes before what is written to that
// element of b; depth is that of their region.
func (m *precedence) precedes(a, b *ir.Value, depth int) bool {
	as, bs := m.acc.Of[a], m.acc.Of[b]
	first := m.acc.Place[bs[0].Child(depth)].First
	begin := len(as)
	for begin > 0 && m.acc.Place[as[begin-1].Child(depth)].Last >= first {
		begin--
	}
	late := as[begin:]
	if len(late) == 0 {
		return true
	}
	last := late[len(late)-1].At
	var writes []*analysis.Access
	for _, y := range bs {
		if m.acc.Place[y.Child(depth)].First > last {
			break
		}
		if y.Write {
			writes = append(writes, y)
		}
	}
	return allBefore(m.order, late, writes, depth)
}

func allBefore(o *analysis.Order, as, bs []*analysis.Access, depth int) bool {
	if len(as)*len(bs) > maxPairs {
		return false
	}
	for _, a := range as {
		for _, b := range bs {
			if !o.Before(a, b, depth) {
				return false
			}
		}
	}
	return true
}
