// fuse-producers puts the making of a value where the value is read.
//
// Before:
//
//	%y = tensor.comp par(m < M, n < N) red(k < K) in(%a = %x[m, k], %b = %w[k, n]) { .. } by sum(f32) : f32[M, N]
//	%z = tensor.comp par(i < M, j < N) in(%v = %y[i, j]) { yield(max(%v, 0.0: f32)) } : f32[M, N]
//
// After:
//
//	%z = tensor.comp par(i < M, j < N) {
//	  %v = tensor.comp red(k < K) in(%a = %x[i, k], %b = %w[k, j]) { .. } by sum(f32) : f32
//	  yield(max(%v, 0.0: f32)) } : f32[M, N]
//
// It does so for a comp (the producer) with one result that is read by comps
// alone, each read being provably in range, with no value in its subscripts and
// none that depends on it.
//
// Profit: each element of the producer is computed once, as before, where one
// comp reads it, once, and its subscripts are that comp's axes in some order.
// Elsewhere elements are computed again: that pays only if the producer is a few
// cheap ops on one read and the consumer does not reduce. A fused region stays
// under a limit of ops, so that it fits the registers and this pass stays linear.
//
// Every producer gets a remark, which says for what is fused why that is legal and
// why it pays, and for what is stored which of the two fails.
//
// Bits do not change: the same ops are done on the same values. An error that
// only an unread element could raise goes with it.
//
// It does not fuse through loops that carry values, producers of several
// results, or reads of patterns' entries.
package graph

import (
	"fmt"
	"slices"

	"tenon/ir"
	"tenon/ir/affine"
	"tenon/ir/ops/tensor"
	"tenon/ir/sym"
	"tenon/passes/analysis"
	"tenon/passes/pass"
)

// FuseProducers inlines producers into the comps that read them.
var FuseProducers = pass.Register(&pass.Pass{
	Name:    "fuse-producers",
	Doc:     "compute a value where it is read, instead of storing it",
	After:   []string{"inline"},
	Counted: true,
	Options: []pass.Option{
		{Name: "ops", Default: "256", Doc: "the most ops that a fused region may have"},
		{Name: "recompute", Default: "4", Doc: "the most ops of a producer that is computed more than once"},
	},
	Run: func(c *pass.Context) error {
		for _, f := range c.Funcs() {
			if f.Level != ir.LevelTensor || f.IsProc {
				continue
			}
			c.At(f, nil)
			p := &fuser{c: c, f: f, ops: int(c.Int("ops")), again: int(c.Int("recompute"))}
			p.region(f.Body, analysis.AtEntry(f))
		}
		return nil
	},
})

type fuser struct {
	c          *pass.Context
	f          *ir.Func
	ops, again int
	others     map[*ir.Value]int      // uses that are no reads of comps of the region at hand
	gone       map[*ir.Op]bool        // producers that now stand elsewhere
	readers    map[*ir.Value][]*ir.Op // the comps of the region at hand that read a value, inside too
	taken      map[string]bool        // symbols of f
}

// site is a read of a producer: read number at of the comp op, which stands
// inside the comps chain, outermost first and itself last.
type site struct {
	chain []tensor.Comp
	at    int
}

func (s site) comp() tensor.Comp { return s.chain[len(s.chain)-1] }
func (s site) read() ir.Read     { return s.comp().In[s.at] }

// region fuses the comps of r, consumers before what they read, so that a chain
// is taken up from its end and no region is copied twice.
func (p *fuser) region(r *ir.Region, facts *sym.Facts) {
	for _, op := range r.Ops {
		if !tensor.IsComp(op) {
			for _, in := range op.Regions() {
				p.region(in, analysis.Inside(facts, op, in))
			}
		}
	}
	p.others, p.readers, p.taken, p.gone = ir.Uses(p.f), map[*ir.Value][]*ir.Op{}, analysis.Symbols(p.f), map[*ir.Op]bool{}
	for _, op := range r.Ops {
		if tensor.IsComp(op) {
			p.enter(op, op)
		}
	}
	for _, op := range r.Ops {
		for _, v := range op.Results {
			p.others[v] -= len(p.sites(v))
		}
	}
	for i := len(r.Ops) - 1; i >= 0; i-- {
		op := r.Ops[i]
		if !tensor.IsComp(op) || len(op.Results) != 1 || len(p.readers[op.Results[0]]) == 0 {
			continue
		}
		at := p.sites(op.Results[0])
		if why := p.illegal(op, at, facts); why != "" {
			p.c.Decline(op.Loc, "the value is stored: making it where it is read is not legal, %s", why)
			continue
		}
		gain, why := p.profit(op, at)
		if why != "" {
			p.c.Decline(op.Loc, "the value is stored: making it where it is read would not pay, %s", why)
			continue
		}
		if !p.c.Apply(op) {
			continue
		}
		p.c.Done(op.Loc, "the value is made where it is read, always in range: %s", gain)
		for ; len(at) > 0; at = p.sites(op.Results[0]) {
			p.fuse(op, at[0])
		}
		p.gone[op] = true
	}
	r.Ops = slices.DeleteFunc(r.Ops, func(op *ir.Op) bool { return p.gone[op] })
}

// enter notes top as a reader of what from reads, inside too.
func (p *fuser) enter(top, from *ir.Op) {
	c := tensor.AsComp(from)
	for _, read := range c.In {
		if !slices.Contains(p.readers[read.Src], top) {
			p.readers[read.Src] = append(p.readers[read.Src], top)
		}
	}
	for _, op := range c.Body.Ops {
		if tensor.IsComp(op) {
			p.enter(top, op)
		}
	}
}

// sites finds the reads of v in the comps of the region at hand.
func (p *fuser) sites(v *ir.Value) []site {
	var out []site
	for _, top := range p.readers[v] {
		if p.gone[top] {
			continue
		}
		out = collect(out, v, []tensor.Comp{tensor.AsComp(top)})
	}
	return out
}

func collect(out []site, v *ir.Value, chain []tensor.Comp) []site {
	c := chain[len(chain)-1]
	for i, read := range c.In {
		if read.Src == v {
			out = append(out, site{chain, i})
		}
	}
	for _, op := range c.Body.Ops {
		if tensor.IsComp(op) {
			out = collect(out, v, append(chain[:len(chain):len(chain)], tensor.AsComp(op)))
		}
	}
	return out
}

// illegal says why the value of op cannot be made at every read; "": it can.
func (p *fuser) illegal(op *ir.Op, at []site, facts *sym.Facts) string {
	c, v := tensor.AsComp(op), op.Results[0]
	switch {
	case c.Out != nil || hasEntries(c):
		return "it is made along the entries of a pattern, or by lists of axes"
	case v.Type.(ir.Tensor).Enc != nil:
		return "it is encoded"
	case p.others[v] > 0:
		return "something but a comp uses it"
	}
	for _, s := range at {
		if why := unfit(c, s, facts); why != "" {
			return why
		}
	}
	return ""
}

// profit says what is gained where op's value is made at every read, or why
// nothing is.
func (p *fuser) profit(op *ir.Op, at []site) (gain, why string) {
	c := tensor.AsComp(op)
	for _, s := range at {
		if n := countOps(s.chain[0].Body) + countOps(c.Body); n > p.ops {
			return "", fmt.Sprintf("the region would have %d ops, more than %d", n, p.ops)
		}
	}
	switch {
	case len(at) == 1 && readOnce(at[0]):
		return "each element is computed once, as before, and neither stored nor loaded", ""
	case p.cheap(c, at):
		return "its few ops cost less than loading the elements", ""
	}
	return "", "its elements would be computed more than once"
}

func hasEntries(c tensor.Comp) bool {
	for _, a := range c.Par {
		if a.Pattern != nil {
			return true
		}
	}
	return false
}

// unfit says why the producer cannot stand at s at all.
func unfit(c tensor.Comp, s site, facts *sym.Facts) string {
	read := s.read()
	if read.Policy != ir.PolicyError {
		return "it is read with a policy"
	}
	for i, sub := range read.Subs {
		if len(sub.Refs()) > 0 {
			return "it is read at a place that data decide"
		}
		if !sub.Equal(sym.Name(c.Par[i].Name)) && !inRange(sub, c.Par[i].Extent, s, facts) {
			return "a subscript is not provably in range"
		}
	}
	if subscripts(s.comp(), read.Res) {
		return "it is used as a subscript"
	}
	return ""
}

func inRange(sub, extent sym.Expr, s site, facts *sym.Facts) bool {
	facts = facts.Clone()
	for _, c := range s.chain {
		analysis.AddAxes(facts, c.Axes())
		for _, k := range c.If {
			facts.Add(k)
		}
	}
	below, above := affine.InRange(sub, extent, nil, facts)
	return below && above
}

// subscripts reports that v stands in a subscript of c or inside it.
func subscripts(c tensor.Comp, v *ir.Value) bool {
	found := false
	look := func(e sym.Expr) sym.Expr {
		for _, r := range e.Refs() {
			found = found || r == sym.Ref(v)
		}
		return e
	}
	c.Op.Exprs(look)
	c.Body.Walk(func(op *ir.Op) bool {
		op.Exprs(look)
		return !found
	})
	return found
}

// readOnce reports that every element is read at one point of the chain: the
// subscripts are all its axes, in some order.
func readOnce(s site) bool {
	axes := map[string]bool{}
	for _, c := range s.chain {
		for _, a := range c.Axes() {
			if a.Pattern != nil {
				return false
			}
			axes[a.Name] = true
		}
	}
	for _, sub := range s.read().Subs {
		n, ok := sub.IsName()
		if !ok || !axes[n] {
			return false
		}
		delete(axes, n)
	}
	return len(axes) == 0
}

// cheap reports that computing the producer again costs no more than loading
// its value, in consumers that do not reduce.
func (p *fuser) cheap(c tensor.Comp, at []site) bool {
	if c.By != nil || len(c.In) > 1 || countOps(c.Body) > p.again {
		return false
	}
	for _, op := range c.Body.Ops {
		if op.Def.Traits.Has(ir.Costly) || len(op.Regions()) > 0 {
			return false
		}
	}
	for _, s := range at {
		for _, k := range s.chain {
			if k.By != nil {
				return false
			}
		}
	}
	return true
}

func countOps(r *ir.Region) int {
	n := 0
	r.Walk(func(*ir.Op) bool { n++; return true })
	return n
}

// fuse puts a copy of producer op in place of the read at s.
func (p *fuser) fuse(op *ir.Op, s site) {
	c, user := tensor.AsComp(op), s.comp()
	read := s.read()
	m := &ir.Mapping{Values: map[*ir.Value]*ir.Value{}, Syms: map[string]sym.Expr{}, FreshSym: p.freshAt(s)}
	for i, a := range c.Par {
		m.Syms[a.Name] = read.Subs[i]
	}
	body := &ir.Region{}
	var reads []ir.Read
	var v *ir.Value
	if c.By != nil {
		inner := c
		inner.Par = nil
		nested := ir.CloneOp(tensor.New(op.Loc, inner), m)
		b := ir.NewBuilder(body)
		v = b.Add(nested, nil, read.Res.Name).Results[0]
	} else {
		reads = cloneReads(c.In, m)
		for _, o := range c.Body.Ops[:len(c.Body.Ops)-1] {
			body.Ops = append(body.Ops, ir.CloneOp(o, m))
		}
		v = m.Value(c.Yields()[0])
	}
	ir.ReplaceUses(user.Body, read.Res, v)
	user.Body.Ops = append(body.Ops, user.Body.Ops...)
	list := append(append(append([]ir.Read{}, user.In[:s.at]...), reads...), user.In[s.at+1:]...)
	setReads(user.Op, list)
	user.Op.Loc = ir.Fuse(user.Op.Loc, op.Loc)
	p.enter(s.chain[0].Op, op)
}

func cloneReads(in []ir.Read, m *ir.Mapping) []ir.Read {
	var out []ir.Read
	for _, r := range in {
		v := &ir.Value{Name: r.Res.Name, Type: r.Res.Type}
		n := ir.Read{Res: v, Src: m.Value(r.Src), Policy: r.Policy}
		for _, e := range r.Subs {
			n.Subs = append(n.Subs, m.Expr(e))
		}
		m.Values[r.Res] = v
		out = append(out, n)
	}
	return out
}

func setReads(op *ir.Op, list []ir.Read) {
	if len(list) == 0 {
		ir.SetClause[*ir.Reads](op, "in", nil)
		return
	}
	ir.SetClause(op, "in", &ir.Reads{List: list})
}

// freshAt renames the axes that a copy binds where the site has the name.
func (p *fuser) freshAt(s site) func(string) string {
	visible := map[string]bool{}
	for _, d := range p.f.Dims {
		visible[d] = true
	}
	for _, c := range s.chain {
		for _, a := range c.Axes() {
			for _, n := range tensor.Names(a) {
				visible[n] = true
			}
		}
	}
	return func(name string) string {
		if !visible[name] {
			return name
		}
		for k := 'a'; ; k++ {
			if n := name + "_" + string(k); !p.taken[n] {
				p.taken[n] = true
				return n
			}
		}
	}
}
