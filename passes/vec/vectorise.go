// vectorise turns innermost loops over elements into loops over vectors.
//
// Before:
//
//	%s = loop.for j = 0 to N carry(%a = %z) directives("reassoc") {
//	  yield(add(%a, load(%x[i, j]))) } : f32
//
// After, with 16 lanes, masked memory and one accumulator:
//
//	%v0 = vec.splat(0.0) : vec<16 x f32>
//	%v1 = loop.for j = 0 to N - 15 step 16 carry(%a = %v0) {
//	  yield(vec.add(%a, vec.load(%x[i, j]))) } : vec<16 x f32>
//	%v2 = loop.for j = 16*(N floordiv 16) to N step 16 carry(%a = %v1) {
//	  %m = vec.first(N - j) : mask<16>
//	  yield(vec.select(%m, vec.add(%a, vec.load(%x[i, j]) mask(%m)), %a)) } : vec<16 x f32>
//	%s = add(%z, vec.reduce(%v2) op=sum)
//
// Legal for a parallel loop, whose iterations may run in any order and so side
// by side, and for a loop that carries folds which may be regrouped: every
// carried value is combined with one that does not depend on it, by an operator
// whose identity is known (sum, product, extremes, bits) or by choosing one of
// the two (argmax). Guards inside become masks. What a loop stores must be an
// element of its own in every iteration.
//
// Profit: an access to neighbours costs one load for all lanes, any other one
// for each lane; a loop that would spend more on those than it saves stays.
//
// Without masked memory (option masked=0) the elements left over go through the
// loop as it was. Where a parallel loop holds loops of fewer iterations than lanes,
// whose number is known, lanes go across its rows (see packed). Stores to buffers
// that the function does not read are marked to go around the caches where those
// are large (option stream).
package vec

import (
	"tenon/ir"
	"tenon/ir/sym"
	"tenon/passes/analysis"
	"tenon/passes/pass"
)

// Vectorise makes loops of vectors.
var Vectorise = pass.Register(&pass.Pass{
	Name:  "vectorise",
	Doc:   "turn innermost loops over elements into loops over vectors",
	After: []string{"lower-comps", "interchange-folds", "fuse-loops", "contract-buffers", "lower-math", "tile-transposes", "prefetch-rows"},
	Options: []pass.Option{
		{Name: "bytes", Default: "64", Doc: "bytes of a vector register"},
		{Name: "masked", Default: "1", Doc: "1 if loads and stores can leave out lanes"},
		{Name: "accumulators", Default: "4", Doc: "how many partial results a fold keeps"},
		streamOption,
	},
	Counted:      true,
	Reassociates: true,
	Run: func(c *pass.Context) error {
		m := machine{int(c.Int("bytes")), c.Int("masked") != 0, int(c.Int("accumulators"))}
		for _, f := range c.Funcs() {
			if f.Level != ir.LevelLoop && f.Level != ir.LevelVec || !fits(f) {
				continue
			}
			c.At(f, nil)
			v := &vectoriser{c: c, m: m, stream: streamingOf(f, c.Int("stream"))}
			v.region(f.Body, analysis.AtEntry(f))
			f.Level = ir.LevelVec
		}
		return nil
	},
})

// fits reports that all ops of f may stand at the vec level; a comp that was not
// lowered may not.
func fits(f *ir.Func) bool {
	spec, ok := ir.SpecOf(ir.LevelVec), true
	f.Body.Walk(func(op *ir.Op) bool {
		ok = ok && spec.Allows(op.Def)
		return ok
	})
	return ok
}

// machine is what the pass knows of the target.
type machine struct {
	bytes        int
	masked       bool
	accumulators int
}

type vectoriser struct {
	c      *pass.Context
	m      machine
	stream *streaming
	row    *ir.Range // of the loop around
}

func (v *vectoriser) region(r *ir.Region, facts *sym.Facts) {
	ahead := aheadOf(r, v.row)
	for i := 0; i < len(r.Ops); i++ {
		op := r.Ops[i]
		if rangeOf(op) != nil && !hasLoops(op) {
			l, why := v.analyse(op, facts)
			if why != "" {
				v.c.Decline(op.Loc, "the loop stays scalar: %s", why)
				continue
			}
			if !v.c.Apply(op) {
				continue
			}
			l.row, l.ahead = v.row, ahead
			ops := l.emit()
			r.Ops = append(r.Ops[:i:i], append(ops, r.Ops[i+1:]...)...)
			i += len(ops) - 1
			continue
		}
		if ops := v.packed(op, facts); ops != nil {
			r.Ops = append(r.Ops[:i:i], append(ops, r.Ops[i+1:]...)...)
			i += len(ops) - 1
			continue
		}
		outer := v.row
		if over := rangeOf(op); over != nil {
			v.row = over
		}
		for _, in := range op.Regions() {
			v.region(in, analysis.Inside(facts, op, in))
		}
		v.row = outer
	}
}

// hasLoops reports a loop inside op.
func hasLoops(op *ir.Op) bool {
	found := false
	for _, in := range op.Regions() {
		in.Walk(func(op *ir.Op) bool {
			found = found || rangeOf(op) != nil
			return !found
		})
	}
	return found
}

func rangeOf(op *ir.Op) *ir.Range {
	for _, c := range op.Clauses {
		if r, ok := c.(*ir.Range); ok {
			return r
		}
	}
	return nil
}

func bodyOf(op *ir.Op) *ir.Region { return op.Regions()[0] }

func carryOf(op *ir.Op) *ir.Carry {
	for _, c := range op.Clauses {
		if c, ok := c.(*ir.Carry); ok {
			return c
		}
	}
	return &ir.Carry{}
}
