package fuzz

import (
	"tenon/internal/num"
	"tenon/ir"
)

// Coverage counts the programs that use an op, by its name, and a kind of type.
type Coverage struct{ Ops, Types map[string]int }

func newCoverage() Coverage { return Coverage{Ops: map[string]int{}, Types: map[string]int{}} }

// uses counts the ops and types of a module, once each.
func (c Coverage) uses(m *ir.Module) {
	ops, types := map[string]bool{}, map[string]bool{}
	typed := func(vs ...*ir.Value) {
		for _, v := range vs {
			for _, k := range typeKinds(v.Type) {
				types[k] = true
			}
		}
	}
	walk := func(g *ir.Region) {
		if g != nil {
			g.Walk(func(op *ir.Op) bool { ops[op.Def.Name] = true; typed(op.Results...); return true })
		}
	}
	params := func(ps []*ir.Param) {
		for _, p := range ps {
			typed(p.Value)
		}
	}
	for _, it := range m.Items {
		switch it := it.(type) {
		case *ir.Func:
			params(it.Params)
			walk(it.Body)
		case *ir.Monoid:
			typed(it.Params...)
			walk(it.Combine)
			walk(it.Identity)
			walk(it.Act)
		case *ir.Encoding:
			params(it.Parts)
			walk(it.Decode)
		case *ir.Kernel:
			params(it.Params)
			walk(it.Meaning)
		}
	}
	for name := range ops {
		c.Ops[name]++
	}
	for name := range types {
		c.Types[name]++
	}
}

// typeKinds are the words that a type is counted under.
func typeKinds(t ir.Type) []string {
	switch t := t.(type) {
	case ir.Scalar:
		return []string{t.Elem.String()}
	case ir.Tensor:
		kinds := []string{"tensor of " + t.Elem.String()}
		if t.Enc != nil {
			kinds = append(kinds, "encoded tensor")
		}
		if len(t.Dims) > 0 {
			if _, edge := t.Dims[0].IsNNZ(); edge {
				kinds = append(kinds, "edge tensor")
			}
		}
		return kinds
	case ir.Pattern:
		return []string{"pattern " + t.Format.Kind}
	case ir.Buf:
		kinds := []string{"buffer of " + t.Elem.String()}
		if t.Space != "" {
			kinds = append(kinds, "buffer in "+t.Space)
		}
		if t.Dist != nil {
			kinds = append(kinds, "distributed buffer")
		}
		if t.Strides != nil {
			kinds = append(kinds, "strided buffer")
		}
		return kinds
	case ir.Vec:
		return []string{"vector of " + t.Elem.String()}
	case ir.Mask:
		return []string{"mask"}
	}
	return nil
}

// allTypeKinds is what typeKinds can give.
func allTypeKinds() []string {
	var kinds []string
	for _, of := range []string{"", "tensor of ", "buffer of ", "vector of "} {
		for _, e := range num.Elems {
			if of != "vector of " || e != num.Bool && e != num.Index { // lanes are numbers; bools are masks
				kinds = append(kinds, of+e.String())
			}
		}
	}
	return append(kinds, "mask", "encoded tensor", "edge tensor", "pattern csr", "pattern csc", "pattern coo", "pattern bsr",
		"buffer in shared", "distributed buffer", "strided buffer")
}

// UnusedOps lists the rows of the op table that no program used.
func (c Coverage) UnusedOps() []string {
	var names []string
	for _, d := range ir.AllOps() {
		if c.Ops[d.Name] == 0 {
			names = append(names, d.Name)
		}
	}
	return names
}

// UnusedTypes lists the kinds of types that no program used.
func (c Coverage) UnusedTypes() []string {
	var kinds []string
	for _, k := range allTypeKinds() {
		if c.Types[k] == 0 {
			kinds = append(kinds, k)
		}
	}
	return kinds
}
