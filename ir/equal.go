package ir

import "strconv"

// Equal reports whether a and b are the same program: names of values, dims,
// axes and patterns, and locations, do not count; names of items do.
func Equal(a, b *Module) bool { return canonical(a) == canonical(b) }

// EqualFunc does the same for two functions, their own names included.
func EqualFunc(a, b *Func) bool {
	return canonical(&Module{Items: []Item{a}}) == canonical(&Module{Items: []Item{b}})
}

// canonical prints m with names that say only when a thing is bound.
func canonical(m *Module) string {
	values, syms := 0, 0
	c := cloneWith(m, &Mapping{
		FreshValue: func(string) string { values++; return strconv.Itoa(values) },
		FreshSym:   func(string) string { syms++; return "s" + strconv.Itoa(syms) },
	})
	for _, f := range c.Funcs() {
		for i := range f.Results {
			f.Results[i].Name = ""
		}
	}
	return Print(c)
}

// Uses counts for each value how often the ops of f use it.
func Uses(f *Func) map[*Value]int {
	n := map[*Value]int{}
	f.Body.Walk(func(op *Op) bool {
		op.Values(func(v *Value) *Value {
			n[v]++
			return v
		})
		return true
	})
	return n
}

// ReplaceUses puts new in place of every use of old in r and the regions inside.
func ReplaceUses(r *Region, old, new *Value) {
	m := &Mapping{Values: map[*Value]*Value{old: new}}
	r.Walk(func(op *Op) bool {
		op.Values(m.Value)
		for _, v := range op.Results {
			v.Type = MapType(v.Type, m.Expr)
		}
		return true
	})
}
