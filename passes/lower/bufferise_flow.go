package lower

import (
	"slices"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/tensor"
	"tenon/ir/sym"
)

// Control flow over buffers: scalars are carried and yielded as before, tensors
// live in buffers that the regions write.

func bodyOf(op *ir.Op) *ir.Region { return ir.GetClause[*ir.Block](op, "").Region }

// loop makes a carried tensor a buffer over the loop's life.
func (b *bufferiser) loop(op *ir.Op) {
	rng, carry, body := ir.GetClause[*ir.Range](op, ""), carryOf(op), bodyOf(op)
	if carry == nil {
		carry = &ir.Carry{}
	}
	nc := len(carry.Params)
	for k, p := range carry.Params {
		if isTensor(p) {
			state := b.place(op.Results[k])
			b.copy(b.m.Value(carry.Inits[k]), state, "a loop starts with it and it is used otherwise, too")
			b.made(p, state)
		}
	}
	for _, v := range op.Results[nc:] {
		b.place(v)
	}
	kept := &ir.Carry{}
	for k, p := range carry.Params {
		if !isTensor(p) {
			q := &ir.Value{Name: p.Name, Type: p.Type}
			kept.Params, kept.Inits = append(kept.Params, q), append(kept.Inits, b.m.Value(carry.Inits[k]))
			b.made(p, q)
		}
	}
	r := *rng
	r.Lo, r.Hi, r.Step = b.m.Expr(r.Lo), b.m.Expr(r.Hi), b.m.Expr(r.Step)
	n := &ir.Region{}
	b.enter(n, true, r.Name, r.Size)
	number := sym.FloorDiv(sym.Sub(sym.Name(r.Name), r.Lo), r.Step)
	if len(body.Last().OperandValues("stack")) > 0 && len(number.Refs()) > 0 {
		number = b.fromZero(&r)
		defer delete(b.m.Syms, r.Name)
	}
	b.nextInPlace(op, body, carry)
	b.region(body)
	b.endIteration(op, number, carry, body)
	b.leave()
	b.addLoop(op, &r, kept, n)
}

// fromZero makes the loop count its iterations: what is stacked goes to places
// that are affine in the loop's index, and one less a scalar is not. It returns
// the number of the iteration; the index is computed from it.
func (b *bufferiser) fromZero(r *ir.Range) sym.Expr {
	number := sym.Name(r.Name)
	index := sym.Add(r.Lo, sym.Mul(r.Step, number))
	if len(r.Step.Refs()) > 0 {
		step := b.here().Idx(r.Step, num.Index)
		far := b.here().Scalar("mul", step, b.here().Idx(number, num.Index))
		index = sym.Add(r.Lo, sym.Val(far))
	}
	if b.m.Syms == nil {
		b.m.Syms = map[string]sym.Expr{}
	}
	b.m.Syms[r.Name] = index
	r.Hi = sym.FloorDiv(sym.Add(sym.Sub(r.Hi, r.Lo), r.Step, sym.Const(-1)), r.Step)
	r.Lo, r.Step = sym.Const(0), sym.Const(1)
	return number
}

// addLoop appends the loop; its results are the carried scalars.
func (b *bufferiser) addLoop(op *ir.Op, r *ir.Range, kept *ir.Carry, body *ir.Region) {
	loop := ir.NewOp("loop.for", op.Loc, r, &ir.Block{Region: body})
	if len(kept.Params) > 0 {
		ir.SetClause(loop, "carry", kept)
	}
	if d := ir.GetClause[*ir.Directives](op, "directives"); d != nil {
		ir.SetClause(loop, "directives", &ir.Directives{List: slices.Clone(d.List)})
	}
	var scalars []*ir.Value
	var names []string
	for _, v := range op.Results {
		if isTensor(v) {
			b.made(v, b.place(v))
		} else {
			scalars, names = append(scalars, v), append(names, v.Name)
		}
	}
	b.here().Add(loop, nil, names...)
	for i, v := range scalars {
		b.made(v, loop.Results[i])
	}
}

// nextInPlace decides which next values are made in the carried buffer itself.
func (b *bufferiser) nextInPlace(loop *ir.Op, body *ir.Region, carry *ir.Carry) {
	for k, y := range body.Yields() {
		p := carry.Params[k]
		if !isTensor(p) || b.places[y] != nil || b.feeds[y] != nil {
			continue
		}
		if at := slices.Index(body.Ops, y.Def); at >= 0 && overwrites(body, at, p) {
			b.places[y] = b.place(loop.Results[k])
		}
	}
}

// overwrites reports that op at of body may write its result over p: it is a
// comp in which a point reads p only at its own element, and nothing after it
// reads p.
func overwrites(body *ir.Region, at int, p *ir.Value) bool {
	op := body.Ops[at]
	if !tensor.IsComp(op) {
		return false
	}
	c := tensor.AsComp(op)
	own, _ := resultSubs(c, 0)
	if c.Out != nil || !readsOnly(op, p, own) {
		return false
	}
	for _, later := range body.Ops[at+1:] {
		if usesValue(later, p) {
			return false
		}
	}
	return true
}

// readsOnly reports that op reads p, also inside, at the subscripts own alone.
func readsOnly(op *ir.Op, p *ir.Value, own []sym.Expr) bool {
	ok := true
	(&ir.Region{Ops: []*ir.Op{op}}).Walk(func(in *ir.Op) bool {
		if !tensor.IsComp(in) {
			return true
		}
		for _, r := range tensor.AsComp(in).In {
			ok = ok && (r.Src != p || slices.EqualFunc(r.Subs, own, sym.Expr.Equal))
		}
		return true
	})
	return ok
}

// usesValue reports that op or an op inside it uses v.
func usesValue(op *ir.Op, v *ir.Value) bool {
	found := false
	(&ir.Region{Ops: []*ir.Op{op}}).Walk(func(in *ir.Op) bool {
		in.Values(func(u *ir.Value) *ir.Value {
			found = found || u == v
			return u
		})
		return true
	})
	return found
}

// endIteration stacks, then moves the next values into the carried buffers, all
// of them read before any is written. number counts iterations from 0.
func (b *bufferiser) endIteration(op *ir.Op, number sym.Expr, carry *ir.Carry, body *ir.Region) {
	yield := body.Last()
	b.here().Loc = yield.Loc
	for i, v := range yield.OperandValues("stack") {
		to := b.place(op.Results[len(carry.Params)+i])
		if isTensor(v) {
			b.copyAt(b.m.Value(v), to, []sym.Expr{number}, "each iteration stacks it")
		} else {
			b.putAt(b.m.Value(v), to, number)
		}
	}
	yields := body.Yields()
	from := make([]*ir.Value, len(yields))
	for k, y := range yields {
		from[k] = b.m.Value(y)
		if j := slices.Index(carry.Params, y); isTensor(y) && j >= 0 && j != k {
			from[k] = b.alloc(y.Name, bufType(y.Type).(ir.Buf))
			b.copy(b.m.Value(y), from[k], "the next iteration has it as another value, which is written first")
		}
	}
	var scalars []*ir.Value
	for k, y := range yields {
		if isTensor(y) {
			b.copy(from[k], b.place(op.Results[k]), "the loop carries it, and what it replaces is read until it is complete")
		} else {
			scalars = append(scalars, from[k])
		}
	}
	if len(scalars) > 0 {
		b.here().Yield(scalars...)
	}
}

// putAt writes a scalar to one element of a vector.
func (b *bufferiser) putAt(v, to *ir.Value, at sym.Expr) {
	body := &ir.Region{}
	b.here().In(body).Yield(v)
	b.here().Add(tensor.New(b.here().Loc, tensor.Comp{
		Out: &ir.Outs{List: []ir.Out{{Buf: to, Subs: []sym.Expr{at}}}}, Body: body}), nil)
}

// branch lets both arms write the buffers of the results.
func (b *bufferiser) branch(op *ir.Op) {
	for _, v := range op.Results {
		if isTensor(v) {
			b.place(v)
		}
	}
	conds := &ir.Conds{}
	for _, c := range ir.GetClause[*ir.Conds](op, "").List {
		conds.List = append(conds.List, b.m.Cond(c))
	}
	n := ir.NewOp("loop.if", op.Loc, conds, &ir.Block{Region: b.arm(op, bodyOf(op))})
	if e := ir.GetClause[*ir.Block](op, "else"); e != nil {
		ir.SetClause(n, "else", &ir.Block{Region: b.arm(op, e.Region)})
	}
	b.addBranch(op, n)
}

// addBranch appends n, which stands for op; its results are op's scalars.
func (b *bufferiser) addBranch(op, n *ir.Op) {
	var scalars []*ir.Value
	var names []string
	for _, v := range op.Results {
		if isTensor(v) {
			b.made(v, b.place(v))
		} else {
			scalars, names = append(scalars, v), append(names, v.Name)
		}
	}
	b.here().Add(n, nil, names...)
	for i, v := range scalars {
		b.made(v, n.Results[i])
	}
}

// choose lets all variants write the buffers of the results.
func (b *bufferiser) choose(op *ir.Op) {
	for _, v := range op.Results {
		if isTensor(v) {
			b.place(v)
		}
	}
	vs := ir.GetClause[*ir.Variants](op, "")
	list := &ir.Variants{Pick: ir.CloneRegion(vs.Pick, &b.m)}
	for _, v := range vs.List {
		where := slices.Clone(v.Where)
		for i := range where {
			where[i].Cond = b.m.Cond(where[i].Cond)
		}
		list.List = append(list.List, ir.Variant{Name: v.Name, Where: where, Region: b.arm(op, v.Region)})
	}
	n := ir.CloneOp(op, &ir.Mapping{Values: b.m.Values})
	ir.SetClause(n, "", list)
	b.addBranch(op, n)
}

func (b *bufferiser) arm(op *ir.Op, r *ir.Region) *ir.Region {
	n := &ir.Region{}
	b.enter(n, false)
	yields := r.Yields()
	for k, y := range yields {
		if isTensor(y) && b.uses[y] == 1 && slices.Contains(r.Ops, y.Def) && b.places[y] == nil {
			b.places[y] = b.place(op.Results[k])
		}
	}
	b.region(r)
	var scalars []*ir.Value
	for k, y := range yields {
		if isTensor(y) {
			b.copy(b.m.Value(y), b.place(op.Results[k]), "a branch yields it and it is not made there for that alone")
		} else {
			scalars = append(scalars, b.m.Value(y))
		}
	}
	if len(scalars) > 0 {
		b.here().Yield(scalars...)
	}
	b.leave()
	return n
}
