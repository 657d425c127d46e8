// lower-comps turns the comprehensions of a proc into loops and brings it from
// tile to loop level.
//
// Before:
//
//	tensor.comp par(i < M) red(k < K) in(%a = %x[i, k]) out(%y[i]) { yield(%a) } by sum(f32)
//
// After:
//
//	loop.parallel i = 0 to M {
//	  %c = const 0.0 : f32
//	  %s = loop.for k = 0 to K carry(%v = %c) directives("reassoc") { %a = load(%x[i, k]); yield(add(%v, %a)) } : f32
//	  store(%s, %y[i])
//	}
//
// A par axis becomes a parallel loop, a red axis a loop that carries the
// accumulators from the monoid's identity (from the old elements under
// from(out)); a guard becomes a branch as soon as its axes are there,
// or in a loop program, whose triangles were loops once, a bound of a loop; a nested
// comp becomes loops where it stands; a choice becomes branches, loops over tiles
// become loops (see lower_tiles.go). A read that may leave its buffer is a
// load, which is checked while running; under `zero` a branch that gives 0,
// under `clamp` a load at the subscripts moved into range. empty(..) becomes a
// branch on the extents, or a flag carried beside the accumulators where guards
// decide. The innermost loop of a fold says `reassoc` where the monoid is
// associative and the use is not ordered: code may then be generated that takes
// several points at a time.
//
// Legal always: points are taken and values folded in the order of the comp's
// meaning, so results keep every bit, but for those of micro-kernels.
//
// It leaves comps over the entries of a pattern and comps that read encoded
// tensors as they are, in buffer form, which loop level allows; and it does not
// split, reorder or fuse loops.
package lower

import (
	"tenon/internal/diag"
	"tenon/ir"
	"tenon/ir/ops/tensor"
	"tenon/ir/sym"
	"tenon/passes/analysis"
	"tenon/passes/pass"
)

// LowerComps turns comprehensions over buffers into loops.
var LowerComps = pass.Register(&pass.Pass{
	Name:    "lower-comps",
	Doc:     "turn comprehensions over buffers into loops, tile level into loop level",
	After:   []string{"bufferise"},
	Counted: true,
	// A micro-kernel fuses multiply and add, and adds a block of products at a time.
	Reassociates: true,
	Options:      []pass.Option{{Name: "watch", Default: "0", Doc: "1: variants of choices can be forced and are counted"}},
	Run: func(c *pass.Context) error {
		var errs diag.List
		for _, f := range c.Funcs() {
			if !f.IsProc || f.Level != ir.LevelTile && f.Level != ir.LevelLoop || !c.May() {
				continue
			}
			c.At(f, nil)
			l := &lowerer{c: c, m: ir.Mapping{Values: map[*ir.Value]*ir.Value{}}, inLoops: f.Level == ir.LevelLoop, watch: c.Int("watch") != 0}
			l.region(f.Body, analysis.AtEntry(f))
			errs = append(errs, notAtLoopLevel(f)...)
			f.Level = ir.LevelLoop
		}
		return errs.Err()
	},
})

// notAtLoopLevel refuses ops of tile level that no pass lowers yet.
func notAtLoopLevel(f *ir.Func) (errs diag.List) {
	spec := ir.SpecOf(ir.LevelLoop)
	f.Body.Walk(func(op *ir.Op) bool {
		if !spec.Allows(op.Def) && op.Def.Family() == "tile" {
			errs = append(errs, diag.Errorf(op.Loc.First(), "%s has no native code yet; run it with --interp", op.Def.Name))
			return false
		}
		return true
	})
	return errs
}

// lowerer is the state of one function. m maps what lowered comps bound to what
// stands for it now.
type lowerer struct {
	c       *pass.Context
	m       ir.Mapping
	inLoops bool // the proc is a loop program
	watch   bool // choices are watched
	choices int  // how many were so far
}

// region lowers the comps of r in place.
func (l *lowerer) region(r *ir.Region, facts *sym.Facts) {
	old := r.Ops
	r.Ops = make([]*ir.Op, 0, len(old))
	b := ir.NewBuilder(r)
	for _, op := range old {
		b.Loc = op.Loc
		op.Values(l.m.Value)
		if tensor.IsComp(op) && l.lowers(op) && l.c.Apply(op) {
			l.comp(b, op, facts)
			continue
		}
		if op.Def.Name == "tile.choose" {
			l.choose(b, op, facts)
			continue
		}
		if op.Def.Family() == "tile" {
			l.tile(b, op, facts)
			continue
		}
		r.Ops = append(r.Ops, op)
		if tensor.IsComp(op) {
			(&ir.Region{Ops: []*ir.Op{op}}).Walk(func(in *ir.Op) bool { in.Values(l.m.Value); return true })
			continue
		}
		for _, in := range op.Regions() {
			l.region(in, analysis.Inside(facts, op, in))
		}
		analysis.After(facts, op)
	}
}

// tile lowers an op over tiles, and before that the body of a loop.
func (l *lowerer) tile(b *ir.Builder, op *ir.Op, facts *sym.Facts) {
	for _, in := range op.Regions() {
		if op.Def.Name == "tile.for" {
			l.region(in, analysis.Inside(facts, op, in))
		} else {
			in.Walk(func(in *ir.Op) bool { in.Values(l.m.Value); return true })
		}
	}
	if !(&tiler{l.c, l.c.Module}).lower(b, op) { // not counted: the loop level has no such ops
		b.Region.Ops = append(b.Region.Ops, op)
	}
}

// lowers reports whether loops can stand for op: all axes are dense, and every
// element is in a plain buffer.
func (l *lowerer) lowers(op *ir.Op) bool {
	why := ""
	(&ir.Region{Ops: []*ir.Op{op}}).Walk(func(in *ir.Op) bool {
		if !tensor.IsComp(in) {
			return true
		}
		c := tensor.AsComp(in)
		for _, a := range c.Axes() {
			if a.Pattern != nil {
				why = "it runs over the entries of %" + a.Pattern.Name
			}
		}
		for _, r := range c.In {
			if t, ok := r.Src.Type.(ir.Buf); !ok || t.Dist != nil {
				why = "it reads %" + r.Src.Name + ", " + r.Src.Type.String()
			}
		}
		return true
	})
	if why != "" {
		l.c.Decline(op.Loc, "%s stays as it is: %s", op.Def.Name, why)
	}
	return why == ""
}

// comp emits the loops of a comp that stands in the body of a proc.
func (l *lowerer) comp(b *ir.Builder, op *ir.Op, facts *sym.Facts) {
	c := tensor.AsComp(op)
	if !c.InBuffers() {
		for i, v := range l.nested(b, op, facts) {
			l.m.Values[op.Results[i]] = v
		}
		return
	}
	for _, a := range c.Par {
		if ok := sym.Ge(a.Extent, sym.Const(0)); !facts.Prove(ok) {
			b.Add(ir.NewOp("tensor.check", op.Loc, &ir.Conds{List: []sym.Cond{ok}}), nil)
		}
	}
	conds := byAxis(c.RedFree(), c.Par)
	l.par(b, c, 0, conds, facts)
}

// byAxis sorts conditions by how many of the axes they need, so that each is
// decided as early as it can be.
func byAxis(conds []sym.Cond, axes []ir.Axis) [][]sym.Cond {
	at := make([][]sym.Cond, len(axes)+1)
	for _, k := range conds {
		d := len(axes)
		for d > 0 && !tensor.UsesAxes(k.L, axes[d-1:d]) && !tensor.UsesAxes(k.R, axes[d-1:d]) {
			d--
		}
		at[d] = append(at[d], k)
	}
	return at
}

// par emits the loop over par axis d and what is inside it, under the
// conditions that can be decided there.
func (l *lowerer) par(b *ir.Builder, c tensor.Comp, d int, conds [][]sym.Cond, facts *sym.Facts) {
	if len(conds[d]) > 0 {
		facts = with(facts, conds[d])
		then := &ir.Region{}
		b.Add(ir.NewOp("loop.if", c.Op.Loc, &ir.Conds{List: l.conds(conds[d])}, &ir.Block{Region: then}), nil)
		b = b.In(then)
	}
	if d == len(c.Par) {
		l.point(b, c, facts)
		return
	}
	r, body := l.over(c.Par[d]), &ir.Region{}
	b.Add(ir.NewOp("loop.parallel", c.Op.Loc, r, &ir.Block{Region: body}), nil)
	inner := facts.Clone()
	analysis.AddAxes(inner, c.Par[d:d+1])
	inner = with(inner, conds[d+1])
	conds[d+1] = l.bound(r, conds[d+1], facts)
	l.par(b.In(body), c, d+1, conds, inner)
}

// over is the range of a loop over an axis.
func (l *lowerer) over(a ir.Axis) *ir.Range {
	return &ir.Range{Name: a.Name, Lo: sym.Const(0), Hi: l.m.Expr(a.Extent), Step: sym.Const(1)}
}

func with(facts *sym.Facts, conds []sym.Cond) *sym.Facts {
	facts = facts.Clone()
	for _, k := range conds {
		facts.Add(k)
	}
	return facts
}

func (l *lowerer) conds(list []sym.Cond) []sym.Cond {
	out := make([]sym.Cond, len(list))
	for i, k := range list {
		out[i] = l.m.Cond(k)
	}
	return out
}

func (l *lowerer) exprs(list []sym.Expr) []sym.Expr {
	out := make([]sym.Expr, len(list))
	for i, e := range list {
		out[i] = l.m.Expr(e)
	}
	return out
}

// point emits one point of par: its values, then the stores.
func (l *lowerer) point(b *ir.Builder, c tensor.Comp, facts *sym.Facts) {
	values := l.values(b, c, facts)
	for i, o := range c.Out.List {
		b.Add(ir.NewOp("store", c.Op.Loc, &ir.Operands{Args: []ir.Arg{
			ir.ValueArg(values[i]), ir.ElemArg(l.m.Value(o.Buf), l.exprs(o.Subs)...)}}), nil)
	}
}

// values emits what a comp gives at one point of par.
func (l *lowerer) values(b *ir.Builder, c tensor.Comp, facts *sym.Facts) []*ir.Value {
	if c.By == nil {
		return l.body(b, c, facts)
	}
	return l.fold(b, c, facts)
}

// nested emits a comp without par where it stands and gives its values. Its
// guards, where it has no red axes, are not allowed in value form.
func (l *lowerer) nested(b *ir.Builder, op *ir.Op, facts *sym.Facts) []*ir.Value {
	return l.values(b, tensor.AsComp(op), facts)
}

// body emits the reads and the region of c, and gives what it yields.
func (l *lowerer) body(b *ir.Builder, c tensor.Comp, facts *sym.Facts) []*ir.Value {
	for _, r := range c.In {
		v := l.read(b, c.Op, r, facts)
		l.m.Values[r.Res] = v
	}
	last := c.Body.Last()
	for _, op := range c.Body.Ops {
		switch {
		case op == last:
		case tensor.IsComp(op):
			for i, v := range l.nested(b, op, facts) {
				l.m.Values[op.Results[i]] = v
			}
		default:
			b.Region.Ops = append(b.Region.Ops, ir.CloneOp(op, &l.m))
		}
	}
	var out []*ir.Value
	for _, v := range c.Yields() {
		out = append(out, l.m.Value(v))
	}
	return out
}
