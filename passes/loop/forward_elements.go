// forward-elements uses a value that is at hand instead of loading it.
//
// Before:
//
//	store(%v, %e[i, j])
//	%a = load(%e[i, j])
//	%b = load(%x[j])
//	%c = load(%x[j])
//
// After:
//
//	store(%v, %e[i, j])
//	%b = load(%x[j])
//
// with %v for %a and %b for %c.
//
// Legal where the buffer and every subscript are the same and nothing between
// the two writes to the buffer, other elements included; a value from before a
// loop serves inside it if the loop does not write to the buffer. Bits do not
// change.
//
// It follows no value from one iteration to the next. What is then stored
// without being read is dead code.
package loop

import (
	"maps"
	"slices"

	"tenon/ir"
	"tenon/ir/sym"
	"tenon/passes/pass"
)

// ForwardElements replaces loads by values at hand.
var ForwardElements = pass.Register(&pass.Pass{
	Name:    "forward-elements",
	Doc:     "use a value at hand instead of loading it",
	Counted: true,
	Run: func(c *pass.Context) error {
		for _, f := range c.Funcs() {
			if f.Level == ir.LevelLoop {
				c.At(f, nil)
				w := &forwarder{c: c, m: ir.Mapping{Values: map[*ir.Value]*ir.Value{}}}
				w.region(f.Body, map[*ir.Value][]element{})
			}
		}
		return nil
	},
})

// element is what one element of a buffer holds.
type element struct {
	subs []sym.Expr
	v    *ir.Value
}

type forwarder struct {
	c *pass.Context
	m ir.Mapping
}

// region rewrites r, at whose start the elements in held are known.
func (w *forwarder) region(r *ir.Region, held map[*ir.Value][]element) {
	kept := make([]*ir.Op, 0, len(r.Ops))
	for _, op := range r.Ops {
		op.Values(w.m.Value)
		if op.Def.Name == "load" && w.load(op, held) {
			continue
		}
		kept = append(kept, op)
		w.inside(op, held)
		for _, v := range written(op) {
			delete(held, v)
		}
		if op.Def.Name == "store" {
			a := op.Args("")
			held[a[1].Value] = []element{{starts(a[1].View), a[0].Value}}
		}
	}
	r.Ops = kept
}

// load reports that another value stands for what op loads; else that value is
// at hand from now on.
func (w *forwarder) load(op *ir.Op, held map[*ir.Value][]element) bool {
	a := op.Args("")[0]
	subs := starts(a.View)
	for _, e := range held[a.Value] {
		if slices.EqualFunc(e.subs, subs, sym.Expr.Equal) && w.c.Apply(op) {
			w.m.Values[op.Results[0]] = e.v
			return true
		}
	}
	held[a.Value] = append(slices.Clip(held[a.Value]), element{subs, op.Results[0]})
	return false
}

// inside rewrites the regions of op. In a loop a buffer that it writes may have
// changed before any of its ops.
func (w *forwarder) inside(op *ir.Op, held map[*ir.Value][]element) {
	for _, r := range op.Regions() {
		in := maps.Clone(held)
		if op.Def.Traits.Has(ir.Apart) {
			clear(in)
		}
		if rangeOf(op) != nil {
			for _, v := range written(op) {
				delete(in, v)
			}
		}
		w.region(r, in)
	}
}

// written lists the buffers that op writes, inside too.
func written(op *ir.Op) []*ir.Value {
	var out []*ir.Value
	(&ir.Region{Ops: []*ir.Op{op}}).Walk(func(in *ir.Op) bool {
		if in.Def.Effects == nil {
			return true
		}
		for _, e := range in.Def.Effects(in) {
			if e.Kind == ir.EffectWrite && e.Value != nil {
				out = append(out, e.Value)
			}
		}
		return true
	})
	return out
}
