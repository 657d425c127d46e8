package vec

import (
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// emit gives the ops that stand for the loop: the steps of whole vectors, the
// rest, and for folds what puts the lanes together.
func (l *loop) emit() []*ir.Op {
	out := &ir.Region{}
	b := ir.NewBuilder(out)
	b.Loc = l.op.Loc
	if len(l.folds) > 0 {
		l.emitFolds(b)
		return out.Ops
	}
	done := l.steps(b, l.r.Lo, 1, func(e *emitter) { e.region(bodyOf(l.op)) })
	switch {
	case l.whole():
	case l.masked:
		l.rest(b, done, nil, func(e *emitter) { e.region(bodyOf(l.op)) })
	default:
		b.Region.Ops = append(b.Region.Ops, l.scalarRest(done))
	}
	return out.Ops
}

// whole reports that no element is left over.
func (l *loop) whole() bool {
	n, ok := sym.Mod(l.trips, sym.Const(int64(l.lanes))).IsConst()
	return ok && n == 0
}

// steps emits the loop over whole vectors, each times together, from lo on, and
// returns where it ends.
func (l *loop) steps(b *ir.Builder, lo sym.Expr, times int, fill func(e *emitter)) sym.Expr {
	width := int64(times * l.lanes)
	r := &ir.Range{Name: l.r.Name, Lo: lo, Hi: sym.Sub(l.r.Hi, sym.Const(width-1)), Step: sym.Const(width)}
	end := sym.Add(l.r.Lo, sym.Mul(sym.Const(width), sym.FloorDiv(l.trips, sym.Const(width))))
	if n, ok := l.trips.IsConst(); !ok || n >= width {
		l.around(b, "loop.parallel", r, nil, func(e *emitter) []*ir.Value {
			fill(e)
			return nil
		})
	}
	return end
}

// rest emits the masked step for the elements from lo on, fewer than a vector.
func (l *loop) rest(b *ir.Builder, lo sym.Expr, inits []*ir.Value, fill func(e *emitter)) []*ir.Value {
	r := &ir.Range{Name: l.r.Name, Lo: lo, Hi: l.r.Hi, Step: sym.Const(int64(l.lanes))}
	kind := "loop.parallel"
	if inits != nil {
		kind = "loop.for"
	}
	return l.around(b, kind, r, inits, func(e *emitter) []*ir.Value {
		left := sym.Sub(l.r.Hi, sym.Name(l.r.Name))
		op := ir.NewOp("vec.first", l.op.Loc, &ir.Operands{Args: []ir.Arg{ir.ExprArg(left)}})
		e.mask = e.b.Add(op, []ir.Type{ir.Mask{Lanes: l.lanes}}, "m").Results[0]
		fill(e)
		return e.next
	})
}

// scalarRest is the loop as it was, from lo on; the directive says that it has
// fewer iterations than a vector lanes.
func (l *loop) scalarRest(lo sym.Expr) *ir.Op {
	op := ir.CloneOp(l.op, &ir.Mapping{})
	rangeOf(op).Lo = lo
	list := []string{"rest"}
	if d := ir.GetClause[*ir.Directives](op, "directives"); d != nil {
		list = append(list, d.List...)
	}
	ir.SetClause(op, "directives", &ir.Directives{List: list})
	return op
}

// around emits one loop of vectors that carries values, and returns their last.
func (l *loop) around(b *ir.Builder, kind string, r *ir.Range, inits []*ir.Value, body func(e *emitter) []*ir.Value) []*ir.Value {
	region := &ir.Region{}
	e := &emitter{loop: l, b: b.In(region), uniform: &ir.Mapping{Values: map[*ir.Value]*ir.Value{}}, inLanes: map[*ir.Value]*ir.Value{}, turned: map[*columns][]*ir.Value{}}
	clauses := []ir.Clause{r}
	var types []ir.Type
	if inits != nil {
		carry := &ir.Carry{Inits: inits}
		for _, v := range inits {
			carry.Params = append(carry.Params, &ir.Value{Name: "acc", Type: v.Type})
			types = append(types, v.Type)
		}
		e.carried = carry.Params
		clauses = append(clauses, carry)
	}
	next := body(e)
	if inits != nil {
		e.b.Yield(next...)
	}
	op := b.Add(ir.NewOp(kind, l.op.Loc, append(clauses, &ir.Block{Region: region})...), types, "acc")
	return op.Results
}

// emitter writes the body of a loop for all lanes at once. It stands at the
// index plus offset.
type emitter struct {
	*loop
	b       *ir.Builder
	offset  int64
	mask    *ir.Value // the lanes that take part, nil: all
	carried []*ir.Value
	next    []*ir.Value

	uniform *ir.Mapping              // copies of what is the same for all lanes
	inLanes map[*ir.Value]*ir.Value  // vectors of what is not, and of spread scalars
	turned  map[*columns][]*ir.Value // a vector a column
}

// at moves on to another vector of the same step.
func (e *emitter) at(offset int64) {
	e.offset = offset
	e.inLanes = map[*ir.Value]*ir.Value{}
	e.turned = map[*columns][]*ir.Value{}
	e.uniform.Syms = map[string]sym.Expr{e.r.Name: sym.Add(sym.Name(e.r.Name), sym.Const(offset))}
}

// typeOf is the type of so many lanes of e.
func (l *loop) typeOf(e num.Elem) ir.Type {
	if e == num.Bool {
		return ir.Mask{Lanes: l.lanes}
	}
	return ir.Vec{Lanes: l.lanes, Elem: e}
}

// add emits an op of the vec family with values as operands; types may be nil
// where the row infers them.
func (e *emitter) add(name string, types []ir.Type, args ...*ir.Value) *ir.Value {
	ops := &ir.Operands{}
	for _, a := range args {
		ops.Args = append(ops.Args, ir.ValueArg(a))
	}
	return e.b.Add(ir.NewOp(name, e.b.Loc, ops), types, "v").Results[0]
}

// region emits the ops of r but its terminator.
func (e *emitter) region(r *ir.Region) {
	for _, op := range r.Ops {
		e.b.Loc = op.Loc
		switch {
		case op.Def.Name == "yield":
		case !e.varies(op):
			e.b.Region.Ops = append(e.b.Region.Ops, ir.CloneOp(op, e.uniform))
		default:
			e.one(op)
		}
	}
}

// one emits one op that differs from lane to lane.
func (e *emitter) one(op *ir.Op) {
	switch op.Def.Name {
	case "load":
		if g := e.columns[op]; g != nil {
			e.inLanes[op.Results[0]] = e.readColumn(op, g)
			return
		}
		if e.ahead[op] && e.mask == nil {
			e.prefetch(op.Args("")[0])
		}
		e.inLanes[op.Results[0]] = e.load(op.Args("")[0], op.Results[0].Name)
	case "store":
		if g := e.columns[op]; g != nil {
			e.writeColumn(op, g)
			return
		}
		e.store(op)
	case "loop.if":
		e.branch(op)
	case "idx":
		e.inLanes[op.Results[0]] = e.numbers(*op.Args("")[0].Expr, ir.ElemOf(op.Results[0].Type))
	case "cast":
		e.inLanes[op.Results[0]] = e.cast(op)
	case "bitcast":
		to := e.typeOf(ir.ElemOf(op.Results[0].Type))
		e.inLanes[op.Results[0]] = e.add("vec.bitcast", []ir.Type{to}, e.operands(op)...)
	default:
		e.inLanes[op.Results[0]] = e.add("vec."+op.Def.Name, nil, e.operands(op)...)
	}
}

// operands are the vectors of op's operands.
func (e *emitter) operands(op *ir.Op) []*ir.Value {
	var of num.Elem
	for _, a := range op.Args("") {
		if a.Value != nil {
			of = ir.ElemOf(a.Value.Type)
		}
	}
	if op.Def.Name == "select" {
		of = ir.ElemOf(op.Results[0].Type)
	}
	var out []*ir.Value
	for i, a := range op.Args("") {
		if op.Def.Name == "select" && i == 0 {
			out = append(out, e.arg(a, num.Bool))
			continue
		}
		out = append(out, e.arg(a, of))
	}
	return out
}

// arg is the vector of an operand of type of.
func (e *emitter) arg(a ir.Arg, of num.Elem) *ir.Value {
	switch {
	case a.Value != nil:
		return e.value(a.Value)
	case a.Lit != nil:
		return e.splatOf(ir.LitArg(*a.Lit), of)
	}
	return e.numbers(*a.Expr, of)
}

// value is the vector of a scalar value.
func (e *emitter) value(v *ir.Value) *ir.Value {
	if x := e.inLanes[v]; x != nil {
		return x
	}
	x := e.splatOf(ir.ValueArg(e.uniform.Value(v)), ir.ElemOf(v.Type))
	e.inLanes[v] = x
	return x
}

func (e *emitter) splatOf(a ir.Arg, of num.Elem) *ir.Value {
	op := ir.NewOp("vec.splat", e.b.Loc, &ir.Operands{Args: []ir.Arg{a}})
	return e.b.Add(op, []ir.Type{e.typeOf(of)}, "v").Results[0]
}

// constant is a constant in every lane.
func (l *loop) constant(b *ir.Builder, of num.Elem, c num.Cell) *ir.Value {
	op := ir.NewOp("vec.splat", b.Loc, &ir.Operands{Args: []ir.Arg{ir.LitArg(ir.Literal{Elem: of, Cell: c})}})
	return b.Add(op, []ir.Type{l.typeOf(of)}, "v").Results[0]
}

// numbers is an index expression in each lane, as type of.
func (e *emitter) numbers(x sym.Expr, of num.Elem) *ir.Value {
	coef, _, _ := e.linear(x)
	start := e.uniform.Expr(x)
	if coef == 0 {
		return e.splatOf(ir.ValueArg(e.b.Idx(start, of)), of)
	}
	iota := func(from sym.Expr) *ir.Value {
		op := ir.NewOp("vec.iota", e.b.Loc, &ir.Operands{Args: []ir.Arg{ir.ExprArg(from)}})
		return e.b.Add(op, []ir.Type{e.typeOf(of)}, "n").Results[0]
	}
	if coef == 1 {
		return iota(start)
	}
	steps := e.add("vec.mul", nil, iota(sym.Const(0)), e.constant(e.b, of, num.FromInt(num.Wrap(of, coef))))
	return e.add("vec.add", nil, steps, e.splatOf(ir.ValueArg(e.b.Idx(start, of)), of))
}

// cast converts; bools are masks.
func (e *emitter) cast(op *ir.Op) *ir.Value {
	a, to := op.Args("")[0], ir.ElemOf(op.Results[0].Type)
	from := to
	if a.Value != nil {
		from = ir.ElemOf(a.Value.Type)
	}
	x := e.arg(a, from)
	switch {
	case from == to:
		return x
	case from == num.Bool:
		one, zero := num.Cast(num.F64, to, num.FromFloat(1)), num.Cast(num.F64, to, num.FromFloat(0))
		return e.add("vec.select", nil, x, e.constant(e.b, to, one), e.constant(e.b, to, zero))
	case to == num.Bool:
		return e.add("vec.ne", nil, x, e.constant(e.b, from, num.Cast(num.F64, from, num.FromFloat(0))))
	}
	return e.add("vec.cast", []ir.Type{e.typeOf(to)}, x)
}

// mapped is an element with other values and names in its subscripts.
func (e *emitter) mapped(a ir.Arg, m *ir.Mapping) ir.Arg {
	var subs []sym.Expr
	for _, s := range subsOf(a) {
		subs = append(subs, m.Expr(s))
	}
	return ir.ElemArg(m.Value(a.Value), subs...)
}

// load reads the lanes' elements.
func (e *emitter) load(a ir.Arg, name string) *ir.Value {
	t := e.typeOf(ir.ElemOf(a.Value.Type))
	switch e.shapeOf(a) {
	case row:
		op := maskedOp("vec.load", e.b.Loc, e.mask, e.mapped(a, e.uniform))
		return e.b.Add(op, []ir.Type{t}, name).Results[0]
	case picked:
		if ir.ElemOf(a.Value.Type) != num.Bool {
			return e.gather(a)
		}
	}
	return e.oneByOne(a, name)
}

// oneByOne loads the lanes' elements for themselves. Bools, whose vectors are
// masks, go through numbers: a mask takes no single lane.
func (e *emitter) oneByOne(a ir.Arg, name string) *ir.Value {
	of := ir.ElemOf(a.Value.Type)
	if of == num.Bool {
		of = num.U8
	}
	var v *ir.Value
	for i := 0; i < e.lanes; i++ {
		x := e.b.Add(ir.NewOp("load", e.b.Loc, &ir.Operands{Args: []ir.Arg{e.laneArg(a, i)}}), nil, name).Results[0]
		x = e.b.Cast(x, of)
		if v == nil {
			v = e.splatOf(ir.ValueArg(x), of)
			continue
		}
		v = e.insert(v, x, i)
	}
	if ir.ElemOf(a.Value.Type) == num.Bool {
		return e.add("vec.ne", nil, v, e.constant(e.b, num.U8, 0))
	}
	return v
}

func (e *emitter) insert(v, x *ir.Value, i int) *ir.Value {
	ops := &ir.Operands{Args: []ir.Arg{ir.ValueArg(v), ir.ValueArg(x)}}
	return e.b.Add(ir.NewOp("vec.insert", e.b.Loc, ops, laneAttr(i)), nil, "v").Results[0]
}

func (e *emitter) extract(v *ir.Value, i int) *ir.Value {
	ops := &ir.Operands{Args: []ir.Arg{ir.ValueArg(v)}}
	return e.b.Add(ir.NewOp("vec.extract", e.b.Loc, ops, laneAttr(i)), nil, "x").Results[0]
}

// laneArg is the element of lane i, with the lane of each vector in its
// subscripts.
func (e *emitter) laneArg(a ir.Arg, i int) ir.Arg {
	m := &ir.Mapping{Values: map[*ir.Value]*ir.Value{}, Syms: map[string]sym.Expr{
		e.r.Name: sym.Add(sym.Name(e.r.Name), sym.Const(e.offset+int64(i)))}}
	for v, u := range e.uniform.Values {
		m.Values[v] = u
	}
	for _, s := range subsOf(a) {
		for _, ref := range s.Refs() {
			if v, ok := ref.(*ir.Value); ok && e.varying[v] {
				m.Values[v] = e.extract(e.inLanes[v], i)
			}
		}
	}
	return e.mapped(a, m)
}

// gather reads the elements of a row that a vector of numbers picks.
func (e *emitter) gather(a ir.Arg) *ir.Value {
	subs := subsOf(a)
	last := len(subs) - 1
	at, rest, _ := e.pickedBy(subs[last])
	var out []sym.Expr
	for _, s := range subs[:last] {
		out = append(out, e.uniform.Expr(s))
	}
	base := ir.ElemArg(e.uniform.Value(a.Value), append(out, e.uniform.Expr(rest))...)
	op := maskedOp("vec.gather", e.b.Loc, e.mask, base, ir.ValueArg(e.inLanes[at]))
	return e.b.Add(op, nil, "v").Results[0]
}

// store writes the lanes' elements; those that are not neighbours one by one,
// in the order of lanes.
func (e *emitter) store(op *ir.Op) {
	args := op.Args("")
	of := ir.ElemOf(args[1].Value.Type)
	v := e.arg(args[0], of)
	if e.shapeOf(args[1]) == row {
		to := maskedOp("vec.store", e.b.Loc, e.mask, ir.ValueArg(v), e.mapped(args[1], e.uniform))
		if e.mask == nil && e.stream.allows(args[1].Value) {
			ir.SetClause(to, "stream", &ir.Attr{Value: ir.AttrInt, Int: e.stream.above})
		}
		e.b.Add(to, nil)
		return
	}
	if of == num.Bool { // a mask gives no single lane
		v = e.add("vec.select", nil, v, e.constant(e.b, num.U8, num.FromInt(1)), e.constant(e.b, num.U8, 0))
	}
	for i := 0; i < e.lanes; i++ {
		x := ir.ValueArg(e.b.Cast(e.extract(v, i), of))
		e.b.Add(ir.NewOp("store", e.b.Loc, &ir.Operands{Args: []ir.Arg{x, e.laneArg(args[1], i)}}), nil)
	}
}

func laneAttr(i int) *ir.Attr { return &ir.Attr{Value: ir.AttrInt, Int: int64(i)} }

func maskedOp(name string, loc ir.Loc, mask *ir.Value, args ...ir.Arg) *ir.Op {
	op := ir.NewOp(name, loc, &ir.Operands{Args: args})
	if mask != nil {
		ir.SetClause(op, "mask", &ir.Operands{Args: []ir.Arg{ir.ValueArg(mask)}})
	}
	return op
}

// branch runs both arms, each on its own lanes, and picks the results.
func (e *emitter) branch(op *ir.Op) {
	outer := e.mask
	var cond *ir.Value
	for _, c := range condsOf(op) {
		m := e.compare(c)
		if cond != nil {
			m = e.add("vec.and", nil, cond, m)
		}
		cond = m
	}
	arm := func(r *ir.Region, on *ir.Value) []*ir.Value {
		e.mask = on
		if outer != nil {
			e.mask = e.add("vec.and", nil, on, outer)
		}
		e.region(r)
		e.mask = outer
		var out []*ir.Value
		for _, v := range r.Yields() {
			out = append(out, e.value(v))
		}
		return out
	}
	regions := op.Regions()
	then := arm(regions[0], cond)
	if len(regions) == 1 {
		return
	}
	others := arm(regions[1], e.add("vec.not", nil, cond))
	for i, v := range op.Results {
		e.inLanes[v] = e.add("vec.select", nil, cond, then[i], others[i])
	}
}

var relations = map[sym.Rel]string{sym.EQ: "vec.eq", sym.NE: "vec.ne", sym.LT: "vec.lt", sym.LE: "vec.le", sym.GT: "vec.gt", sym.GE: "vec.ge"}

// compare is the mask of a condition.
func (e *emitter) compare(c sym.Cond) *ir.Value {
	return e.add(relations[c.Rel], nil, e.numbers(c.L, num.Index), e.numbers(c.R, num.Index))
}
