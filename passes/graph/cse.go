// cse computes once what is computed twice.
//
// Before:
//
//	%a = exp(%x)
//	%b = exp(%x)
//	%c = mul(%a, %b)
//
// After:
//
//	%a = exp(%x)
//	%c = mul(%a, %a)
//
// An op stands for a later one of the same row with the same clauses, be it a
// scalar op or a whole comp (names bound inside do not count), where the first
// is visible. Legal for ops without effects that bind no dims and no patterns.
//
// It does not merge loads, whose memory may change in between, does not move ops
// out of the region they stand in, and merges nothing across the border of a
// region that runs at another time (loop.prepare).
package graph

import (
	"strconv"

	"tenon/ir"
	"tenon/passes/pass"
)

// CSE merges equal ops.
var CSE = pass.Register(&pass.Pass{
	Name:    "cse",
	Doc:     "compute common subexpressions once",
	Counted: true,
	Run: func(c *pass.Context) error {
		for _, f := range c.Funcs() {
			c.At(f, nil)
			cse(c, f)
		}
		return nil
	},
})

// cse reports whether it changed f.
func cse(at *pass.Context, f *ir.Func) bool {
	m := &merger{at: at, seen: map[string]*ir.Op{}, m: ir.Mapping{Values: map[*ir.Value]*ir.Value{}}}
	m.region(f.Body)
	return len(m.m.Values) > 0
}

type merger struct {
	at   *pass.Context
	seen map[string]*ir.Op // what is visible, by key
	m    ir.Mapping
}

func (m *merger) region(r *ir.Region) {
	var mine []string
	old := r.Ops
	r.Ops = make([]*ir.Op, 0, len(old))
	for _, op := range old {
		op.Values(m.m.Value)
		seen := m.seen
		if op.Def.Traits.Has(ir.Apart) {
			m.seen = map[string]*ir.Op{}
		}
		for _, in := range op.Regions() {
			m.region(in)
		}
		m.seen = seen
		if mergeable(op) {
			k := key(op)
			if first := m.seen[k]; first != nil && m.at.Apply(op) {
				for i, v := range op.Results {
					m.m.Values[v] = first.Results[i]
				}
				continue
			}
			m.seen[k] = op
			mine = append(mine, k)
		}
		r.Ops = append(r.Ops, op)
	}
	for _, k := range mine {
		delete(m.seen, k)
	}
}

// mergeable ops give the same results whenever they are run on the same values.
func mergeable(op *ir.Op) bool {
	if len(op.Results) == 0 || op.Def.Traits&(ir.Terminator|ir.Call|ir.Allocates) != 0 || op.HasEffects() {
		return false
	}
	for _, c := range op.Clauses {
		if _, binds := c.(*ir.Exists); binds {
			return false
		}
	}
	for _, v := range op.Results {
		if _, ok := v.Type.(ir.Pattern); ok {
			return false
		}
	}
	return true
}

// key is the text of op with numbers for the names bound in it and for the
// values it uses, so that two ops share it iff they compute the same.
func key(op *ir.Op) string {
	n := 0
	fresh := func(string) string { n++; return "_" + strconv.Itoa(n) }
	clone := ir.CloneOp(op, &ir.Mapping{FreshValue: fresh, FreshSym: fresh})
	use := ir.Mapping{Values: map[*ir.Value]*ir.Value{}}
	number := func(v *ir.Value) *ir.Value {
		if v == nil || v.Name != "" && v.Name[0] == '_' { // none, or bound inside
			return v
		}
		if use.Values[v] == nil {
			use.Values[v] = &ir.Value{Name: "u" + strconv.FormatUint(v.RefID(), 10), Type: v.Type}
		}
		return use.Values[v]
	}
	(&ir.Region{Ops: []*ir.Op{clone}}).Walk(func(in *ir.Op) bool {
		in.Values(number)
		return true
	})
	return ir.PrintOp(clone)
}
