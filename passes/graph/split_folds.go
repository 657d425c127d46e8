// split-folds folds a rescaled monoid part by part: first the base of a part,
// then, over the same points, what is rescaled to it.
//
// Before:
//
//	%n, %u, %v = tensor.comp par(m < M) red(d < D) in(%a = %x[m, d]) { yield(1.0, %a, 0.0) } by @moments
//
// After, in short:
//
//	%n, %u, %v = tile.choose dims(D)
//	  variant whole where(guarded D <= 4096) { tensor.comp par(m < M) {
//	    %n, %u = (the count; the mean of x[m, d] over d < D); %v = (the sum of (x[m, d] - %u)^2) .. } }
//	  variant parts { tensor.comp par(m < M) {
//	    .. = tensor.comp red(c < (D + 4095)//4096) { (the same over the part 4096*c ..) } by @moments .. } }
//
// Legal by the laws of a rescaled monoid: with b the base over a part, the fold
// of the part is (b, the over-fold of T(v; g, b)), for (g, v) of each point; and
// parts combine in any brackets. A base that is a weighted mean (found by what
// it computes, not by its form) is folded as s + sum(w (x - s)) / sum(w) about
// the first value s: no division a point, and equal values have exactly their
// value as mean. Results change within the bounds of the agreement rule.
//
// Profit: folding point by point rescales at every point, which costs a
// division or an exponential and makes each point wait for the last. A part is
// read twice instead, which is cheap as long as it stays in the first cache:
// the option bytes says how much of it a part may take. A fold that fits into
// one part needs no combination; where sizes decide that while running, both
// forms are there.
//
// It leaves folds over the entries of a pattern, folds in a given order, folds
// whose points are costly to compute twice, and half precision alone.
package graph

import (
	"fmt"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/tensor"
	"tenon/ir/sym"
	"tenon/passes/analysis"
	"tenon/passes/pass"
)

// SplitFolds folds rescaled monoids and weighted means part by part.
var SplitFolds = pass.Register(&pass.Pass{
	Name:         "split-folds",
	Doc:          "fold the base of a part first, then what is rescaled to it",
	After:        []string{"inline", "fuse-producers"},
	Counted:      true,
	Reassociates: true,
	Options: []pass.Option{
		{Name: "bytes", Default: "16384", Doc: "what a part of a fold may take of the first cache"},
	},
	Run: func(c *pass.Context) error {
		for _, f := range c.Funcs() {
			if f.Level != ir.LevelTensor || f.IsProc {
				continue
			}
			c.At(f, nil)
			s := &foldSplitter{c: c, f: f, bytes: c.Int("bytes"), taken: analysis.Symbols(f)}
			s.region(f.Body, analysis.AtEntry(f))
		}
		return nil
	},
})

type foldSplitter struct {
	c     *pass.Context
	f     *ir.Func
	bytes int64
	taken map[string]bool // symbols of f
}

func (s *foldSplitter) region(r *ir.Region, facts *sym.Facts) {
	for i, op := range r.Ops {
		for _, in := range op.Regions() {
			s.region(in, analysis.Inside(facts, op, in))
		}
		if n := s.split(op, facts); n != nil {
			n.Results = op.Results
			for _, v := range n.Results {
				v.Def = n
			}
			r.Ops[i] = n
		}
	}
}

// split is the op that takes the place of op, nil where op stays.
func (s *foldSplitter) split(op *ir.Op, facts *sym.Facts) *ir.Op {
	if !tensor.IsComp(op) {
		return nil
	}
	c := tensor.AsComp(op)
	if c.By == nil || !s.inParts(c.By.Monoid) {
		return nil
	}
	if why := staysWhole(c); why != "" {
		s.c.Decline(op.Loc, "the fold goes point by point: %s", why)
		return nil
	}
	if !s.c.Apply(op) {
		return nil
	}
	switch p := s.partition(c, facts); {
	case p == nil:
		s.c.Done(op.Loc, "the base of the fold first, then what is rescaled to it: all its points fit into the first cache")
		return s.over(c, s.whole)
	case p.guard == nil || len(c.Par) == 0 && !s.stands(op):
		s.c.Done(op.Loc, "the base first, then what is rescaled to it, in parts of %d points that fit into the first cache", p.points)
		return s.over(c, p.parts)
	default:
		s.c.Done(op.Loc, "the base first, then what is rescaled to it, at once where %s, else in parts of %d points that fit into the first cache",
			*p.guard, p.points)
		return s.either(c, p)
	}
}

// stands reports that op is in the body of the function or of control flow, not
// inside a comp.
func (s *foldSplitter) stands(op *ir.Op) bool {
	_, isScalar := op.Results[0].Type.(ir.Scalar)
	return !isScalar
}

// inParts reports a monoid that gains from being folded part by part.
func (s *foldSplitter) inParts(m *ir.Monoid) bool {
	_, mean := analysis.AsWeightedMean(m)
	return m.Base != nil || mean
}

// staysWhole says why the fold of c must go point by point.
func staysWhole(c tensor.Comp) string {
	switch {
	case c.By.Ordered || !c.By.Monoid.Assoc:
		return "its points have a given order"
	case c.By.EmptyError || c.By.Empty != nil:
		return "it has a value of its own over no point"
	}
	for _, a := range c.Axes() {
		if a.Pattern != nil {
			return "it runs over the entries of a pattern"
		}
	}
	for _, e := range c.By.Monoid.Elems() {
		if e != num.F32 && e != num.F64 {
			return fmt.Sprintf("a component is %s", e)
		}
	}
	for _, op := range c.Body.Ops {
		if op.Def.Traits.Has(ir.Costly) || len(op.Regions()) > 0 {
			return "its points are costly to compute twice"
		}
	}
	return ""
}

// partition is how the points of a fold are split: parts of step along axis
// number at; guard: the condition under which there is at most one.
type partition struct {
	s            *foldSplitter
	at           int
	step, points int64
	guard        *sym.Cond
}

// partition finds the axis to split: the last one whose extent is not known; nil
// where all points make one part.
func (s *foldSplitter) partition(c tensor.Comp, facts *sym.Facts) *partition {
	facts = facts.Clone()
	analysis.AddAxes(facts, c.Par)
	most := max(1, s.bytes/bytesAPoint(c))
	at, inner := len(c.Red)-1, int64(1)
	for ; at > 0; at-- {
		n, known := c.Red[at].Extent.IsConst()
		if !known || n == 0 {
			break
		}
		inner *= min(n, most)
	}
	step := max(1, most/inner)
	if at == 0 && facts.Prove(sym.Le(c.Red[0].Extent, sym.Const(step))) {
		return nil
	}
	p := &partition{s: s, at: at, step: step, points: step * inner}
	guard := sym.Le(c.Red[0].Extent, sym.Const(step))
	if at == 0 && !tensor.UsesAxes(c.Red[0].Extent, c.Par) && !facts.Prove(guard.Not()) {
		p.guard = &guard
	}
	return p
}

// bytesAPoint is what the reads of c that move with its red axes take a point.
func bytesAPoint(c tensor.Comp) int64 {
	n := int64(0)
	for _, r := range c.In {
		for _, e := range r.Subs {
			if tensor.UsesAxes(e, c.Red) || len(e.Refs()) > 0 {
				n += int64(ir.ElemOf(r.Res.Type).Bytes())
				break
			}
		}
	}
	return max(1, n)
}

// fill emits a fold of c, its par axes fixed, and gives the components.
type fill func(b *ir.Builder, c tensor.Comp) []*ir.Value

// over makes the comp over the par axes of c that gives what make emits. A comp
// without par inside another one needs a region of its own all the same: a fold
// over one point.
func (s *foldSplitter) over(c tensor.Comp, make fill) *ir.Op {
	body := &ir.Region{}
	b := ir.NewBuilder(body)
	b.Loc = c.Op.Loc
	b.Yield(make(b, c)...)
	return tensor.New(c.Op.Loc, tensor.Comp{Par: c.Par, Out: c.Out, Body: body})
}

// either makes the choice between one part and several.
func (s *foldSplitter) either(c tensor.Comp, p *partition) *ir.Op {
	var list []ir.Variant
	for _, v := range []struct {
		name  string
		where []ir.Fact
		make  fill
	}{
		{"whole", []ir.Fact{{Provenance: ir.Guarded, Cond: *p.guard}}, s.whole},
		{"parts", nil, p.parts},
	} {
		r := &ir.Region{}
		b := ir.NewBuilder(r)
		b.Loc = c.Op.Loc
		op := b.Add(s.over(c, v.make), ir.TypesOf(c.Op.Results))
		b.Yield(op.Results...)
		list = append(list, ir.Variant{Name: v.name, Where: v.where, Region: r})
	}
	pick := &ir.Region{}
	b := ir.NewBuilder(pick)
	b.Loc = c.Op.Loc
	b.Yield(b.Const(num.I64, num.FromInt(0)))
	dims := &ir.Operands{}
	for _, n := range p.guard.L.Names() {
		dims.Args = append(dims.Args, ir.ExprArg(sym.Name(n)))
	}
	return ir.NewOp("tile.choose", c.Op.Loc, dims, &ir.Variants{List: list, Pick: pick})
}

// whole folds all points as one part.
func (s *foldSplitter) whole(b *ir.Builder, c tensor.Comp) []*ir.Value {
	return (&part{b: b, c: c, red: c.Red, conds: c.If}).fold(c.By.Monoid, all(c.Yields()))
}

// parts folds the parts in order.
func (p *partition) parts(b *ir.Builder, c tensor.Comp) []*ir.Value {
	axis := p.s.fresh("c")
	split := c.Red[p.at]
	n := sym.Const(p.step)
	start := sym.Mul(n, sym.Name(axis))
	outer := append(c.Red[:p.at:p.at], ir.Axis{Name: axis,
		Extent: sym.FloorDiv(sym.Add(split.Extent, sym.Const(p.step-1)), n)})
	red := append([]ir.Axis{{Name: split.Name, Extent: sym.Min(n, sym.Sub(split.Extent, start))}}, c.Red[p.at+1:]...)
	body := &ir.Region{}
	in := b.In(body)
	one := &part{b: in, c: c, red: red, conds: c.If,
		shift: map[string]sym.Expr{split.Name: sym.Add(start, sym.Name(split.Name))}}
	in.Yield(one.fold(c.By.Monoid, all(c.Yields()))...)
	op := tensor.New(c.Op.Loc, tensor.Comp{Red: outer, Body: body, By: &ir.By{Monoid: c.By.Monoid}})
	return b.Add(op, nil).Results
}

// fresh is a symbol that f does not have.
func (s *foldSplitter) fresh(base string) string {
	name := base
	for k := 2; s.taken[name]; k++ {
		name = fmt.Sprintf("%s_%d", base, k)
	}
	s.taken[name] = true
	return name
}
