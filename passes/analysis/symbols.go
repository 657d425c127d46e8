package analysis

import (
	"tenon/ir"
	"tenon/ir/sym"
)

// Symbols are the names of all symbolic integers in f: dims, axes, loop
// indices, sizes and block parameters, bound or only mentioned.
func Symbols(f *ir.Func) map[string]bool {
	names := map[string]bool{}
	for _, d := range f.Dims {
		names[d] = true
	}
	for _, d := range f.ExDims {
		names[d] = true
	}
	mention := func(e sym.Expr) sym.Expr {
		for _, n := range e.Names() {
			names[n] = true
		}
		return e
	}
	for _, p := range f.Params {
		ir.MapType(p.Value.Type, mention)
	}
	f.Body.Walk(func(op *ir.Op) bool {
		for _, n := range Bound(op) {
			names[n] = true
		}
		op.Exprs(mention)
		return true
	})
	return names
}

// Bound lists the symbols that op's own clauses bind.
func Bound(op *ir.Op) []string {
	var names []string
	for _, c := range op.Clauses {
		switch c := c.(type) {
		case *ir.Axes:
			for _, a := range c.List {
				names = append(names, a.Name)
				if a.Entry != "" {
					names = append(names, a.Entry)
				}
			}
		case *ir.Range:
			names = append(names, c.Name)
			if c.Size != "" {
				names = append(names, c.Size)
			}
		case *ir.Exists:
			for _, d := range c.Dims {
				names = append(names, d.Name)
			}
		case *ir.Block:
			for _, p := range c.Params {
				if p.Val == nil {
					names = append(names, p.Sym)
				}
			}
		}
	}
	return names
}
