package vec

import (
	"math"
	"slices"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// foldable are the operators whose identity the pass knows, with the name that
// a reduction of lanes has.
var foldable = map[string]string{"add": "sum", "mul": "prod", "max": "max", "min": "min", "and": "and", "or": "or", "xor": "xor"}

// fold is one carried value.
type fold struct {
	by     *ir.Op    // the op that combines; nil for a choice
	term   *ir.Value // what is combined with the carried value
	choice []*ir.Op  // a choice: the selects of all carried values
	needs  []*ir.Op  // the ops that decide it, from the carried tuple and the iteration's
}

// findFolds finds how each carried value is combined, or says what is none.
func (l *loop) findFolds() string {
	carry, yields := carryOf(l.op), bodyOf(l.op).Yields()
	if len(carry.Params) == 0 {
		return "its iterations have an order"
	}
	if len(yields) != len(carry.Params) {
		return "it carries on other than it began"
	}
	regroup := hasDirective(l.op, "reassoc")
	if choice := chosen(carry, yields); choice != nil && regroup {
		needs, ok := l.deciders(choice)
		if !ok {
			return "what it keeps is chosen by more than it carries"
		}
		if !l.readBy(append(slices.Clone(needs), choice...)) {
			return "a carried value is read elsewhere"
		}
		l.folds = []fold{{choice: choice, needs: needs}}
		return l.storesApart()
	}
	for i, p := range carry.Params {
		f, why := l.findFold(p, yields[i], regroup)
		if why != "" {
			return why
		}
		l.folds = append(l.folds, f)
	}
	return l.storesApart()
}

// findFold finds the one op that combines p, under guards that else keep it.
func (l *loop) findFold(p, y *ir.Value, regroup bool) (fold, string) {
	by := combiner(p, y)
	if by == nil {
		return fold{}, "a carried value is no fold"
	}
	e := ir.ElemOf(p.Type)
	exact := by.Def.Name != "add" && by.Def.Name != "mul" || !e.IsFloat()
	if !exact && !regroup {
		return fold{}, "the order of its fold is fixed"
	}
	if usesOf(bodyOf(l.op), p) != 1+guardsAround(p, y) || !onlyYielded(bodyOf(l.op), y) {
		return fold{}, "a carried value is read elsewhere"
	}
	f := fold{by: by}
	for _, v := range by.OperandValues("") {
		if v != p {
			f.term = v
		}
	}
	if by.Def.Name == "fma" {
		return f, ""
	}
	if f.term == nil {
		return fold{}, "a carried value is no fold"
	}
	return f, ""
}

// combiner is the op that combines p into y, if there is one.
func combiner(p, y *ir.Value) *ir.Op {
	for y.Def != nil && y.Def.Def.Name == "loop.if" {
		i := slices.Index(y.Def.Results, y)
		arms := y.Def.Regions()
		if len(arms) != 2 || arms[1].Yields()[i] != p {
			return nil
		}
		y = arms[0].Yields()[i]
	}
	op := y.Def
	if op == nil || op.Def.Name != "fma" && foldable[op.Def.Name] == "" {
		return nil
	}
	args := op.OperandValues("")
	if op.Def.Name == "fma" {
		if len(args) == 3 && args[2] == p && args[0] != p && args[1] != p {
			return op
		}
		return nil
	}
	if len(args) != 2 || !slices.Contains(args, p) || args[0] == args[1] {
		return nil
	}
	return op
}

// guardsAround counts the branches that keep p where their condition fails.
func guardsAround(p, y *ir.Value) int {
	n := 0
	for y.Def != nil && y.Def.Def.Name == "loop.if" {
		n++
		y = y.Def.Regions()[0].Yields()[slices.Index(y.Def.Results, y)]
	}
	return n
}

// onlyYielded reports that y, and what makes it inside branches, goes nowhere
// but to the next iteration.
func onlyYielded(body *ir.Region, y *ir.Value) bool {
	for {
		if usesOf(body, y) != 1 {
			return false
		}
		if y.Def == nil || y.Def.Def.Name != "loop.if" {
			return true
		}
		y = y.Def.Regions()[0].Yields()[slices.Index(y.Def.Results, y)]
	}
}

// readBy reports that only ops read the carried values, and that what they make
// of them goes only to themselves and to the next iteration.
func (l *loop) readBy(ops []*ir.Op) bool {
	within := map[*ir.Value]int{}
	count := func(v *ir.Value) *ir.Value {
		within[v]++
		return v
	}
	for _, op := range append(ops, bodyOf(l.op).Last()) {
		op.Values(count)
	}
	mine := slices.Clone(carryOf(l.op).Params)
	for _, op := range ops {
		mine = append(mine, op.Results...)
	}
	for _, v := range mine {
		if usesOf(bodyOf(l.op), v) != within[v] {
			return false
		}
	}
	return true
}

// usesOf counts where v is read in r.
func usesOf(r *ir.Region, v *ir.Value) int {
	n := 0
	r.Walk(func(op *ir.Op) bool {
		for _, c := range op.Clauses {
			one := &ir.Op{Clauses: []ir.Clause{c}}
			if _, isBlock := c.(*ir.Block); isBlock {
				continue
			}
			one.Values(func(u *ir.Value) *ir.Value {
				if u == v {
					n++
				}
				return u
			})
		}
		return true
	})
	return n
}

// chosen are the selects of a fold that keeps the carried tuple or takes the
// iteration's: select(%c, term, carried), one for each carried value, with one
// condition.
func chosen(carry *ir.Carry, yields []*ir.Value) []*ir.Op {
	if len(carry.Params) < 2 {
		return nil
	}
	var out []*ir.Op
	for i, y := range yields {
		op := y.Def
		if op == nil || op.Def.Name != "select" {
			return nil
		}
		args := op.Args("")
		if args[0].Value == nil || args[1].Value == nil || args[2].Value != carry.Params[i] {
			return nil
		}
		if i > 0 && args[0].Value != out[0].Args("")[0].Value {
			return nil
		}
		out = append(out, op)
	}
	return out
}

// deciders are the ops, in order, from which the condition of a choice follows;
// not ok if it depends on more than the carried tuple and the iteration's.
func (l *loop) deciders(choice []*ir.Op) (needs []*ir.Op, ok bool) {
	given, wanted := map[*ir.Value]bool{}, map[*ir.Value]bool{choice[0].Args("")[0].Value: true}
	for _, p := range carryOf(l.op).Params {
		given[p] = true
	}
	for _, s := range choice {
		given[s.Args("")[1].Value] = true
	}
	ops := bodyOf(l.op).Ops
	for i := len(ops) - 1; i >= 0; i-- {
		op := ops[i]
		if !slices.ContainsFunc(op.Results, func(v *ir.Value) bool { return wanted[v] && !given[v] }) {
			continue
		}
		moves := false
		op.Exprs(func(e sym.Expr) sym.Expr {
			moves = moves || l.moves(e)
			return e
		})
		if moves || !op.Def.Traits.Has(ir.Pure) || len(op.Regions()) > 0 {
			return nil, false
		}
		op.Values(func(v *ir.Value) *ir.Value {
			wanted[v] = true
			return v
		})
		needs = append(needs, op)
	}
	slices.Reverse(needs)
	return needs, true
}

func hasDirective(op *ir.Op, name string) bool {
	d := ir.GetClause[*ir.Directives](op, "directives")
	return d != nil && slices.Contains(d.List, name)
}

// storesApart wants every buffer that the loop writes to be touched at one
// element in each iteration, a different one each time.
func (l *loop) storesApart() string {
	written, places := map[*ir.Value]bool{}, map[*ir.Value][][]sym.Expr{}
	why := ""
	bodyOf(l.op).Walk(func(op *ir.Op) bool {
		switch op.Def.Name {
		case "load":
			a := op.Args("")[0]
			places[a.Value] = append(places[a.Value], subsOf(a))
		case "store":
			a := op.Args("")[1]
			places[a.Value], written[a.Value] = append(places[a.Value], subsOf(a)), true
		default:
			if op.HasEffects() && op.Def.Name != "loop.if" {
				why = op.Def.Name + " has an order"
			}
		}
		return true
	})
	for buf := range written { // the answer does not depend on the order
		for _, subs := range places[buf] {
			if !slices.EqualFunc(subs, places[buf][0], sym.Expr.Equal) || !l.distinct(subs) {
				why = "its iterations have an order"
			}
		}
	}
	return why
}

// distinct reports that an element is another one in every iteration.
func (l *loop) distinct(subs []sym.Expr) bool {
	for _, s := range subs {
		if coef, _, ok := l.linear(s); ok && coef != 0 {
			return true
		}
	}
	return false
}

// identity is the value that a fold of lanes starts from.
func identity(by string, e num.Elem) num.Cell {
	if e.IsFloat() {
		x := map[string]float64{"mul": 1, "max": math.Inf(-1), "min": math.Inf(1)}[by]
		return num.Cast(num.F64, e, num.FromFloat(x))
	}
	if e == num.Bool {
		return num.FromBool(by == "mul" || by == "min" || by == "and")
	}
	lo, hi := num.IntRange(e)
	return num.FromInt(num.Wrap(e, map[string]int64{"mul": 1, "max": lo, "min": hi, "and": -1}[by]))
}

// emitFolds emits a loop that carries folds: several accumulators a step, then
// one, then the rest; then the lanes are put together with what the loop began
// with.
func (l *loop) emitFolds(b *ir.Builder) {
	times := l.accumulators()
	acc := l.start(b, times)
	lo := l.r.Lo
	if times > 1 {
		acc, lo = l.foldSteps(b, lo, times, acc)
		acc = l.combineAll(b, acc)
	}
	acc, lo = l.foldSteps(b, lo, 1, acc)
	if !l.whole() && l.masked {
		acc = l.rest(b, lo, acc, func(e *emitter) { e.next = e.foldStep(e.carried, 0) })
	}
	ends := l.lanesTogether(b, acc)
	if !l.whole() && !l.masked {
		op := l.scalarRest(lo)
		carryOf(op).Inits = ends
		b.Region.Ops = append(b.Region.Ops, op)
		ends = op.Results
	}
	l.replace(b, ends)
}

// accumulators is how many a fold keeps at a time: a choice one, and no more
// than there are vectors.
func (l *loop) accumulators() int {
	times := max(1, l.m.accumulators)
	if l.folds[0].choice != nil {
		return 1
	}
	for times > 1 && times*l.ops() > inFlight {
		times /= 2
	}
	if n, ok := l.trips.IsConst(); ok {
		for times > 1 && n < int64(times*l.lanes) {
			times /= 2
		}
	}
	return times
}

// inFlight is how many ops keep the units busy while one addition is under way:
// two units, four cycles, and as much again for loads. A body with more of them
// hides the latency of its fold, and further accumulators would only cost
// registers.
const inFlight = 16

// ops counts the ops of the body that work on vectors.
func (l *loop) ops() int {
	n := 0
	bodyOf(l.op).Walk(func(op *ir.Op) bool {
		if op.Def.Name != "yield" && l.varies(op) {
			n++
		}
		return true
	})
	return n
}

// start emits what the lanes begin with, times over.
func (l *loop) start(b *ir.Builder, times int) []*ir.Value {
	var acc []*ir.Value
	carry := carryOf(l.op)
	for i := 0; i < times*len(carry.Params); i++ {
		p, init := carry.Params[i%len(carry.Params)], carry.Inits[i%len(carry.Params)]
		e := ir.ElemOf(p.Type)
		if l.folds[0].choice != nil {
			op := ir.NewOp("vec.splat", b.Loc, &ir.Operands{Args: []ir.Arg{ir.ValueArg(init)}})
			acc = append(acc, b.Add(op, []ir.Type{l.typeOf(e)}, "acc").Results[0])
			continue
		}
		acc = append(acc, l.constant(b, e, identity(l.folds[i%len(carry.Params)].name(), e)))
	}
	return acc
}

// name is the operator that puts two partial results together.
func (f *fold) name() string {
	if f.by.Def.Name == "fma" {
		return "add"
	}
	return f.by.Def.Name
}

// foldSteps emits the loop that takes times vectors a step.
func (l *loop) foldSteps(b *ir.Builder, lo sym.Expr, times int, acc []*ir.Value) ([]*ir.Value, sym.Expr) {
	width := int64(times * l.lanes)
	end := sym.Add(l.r.Lo, sym.Mul(sym.Const(width), sym.FloorDiv(l.trips, sym.Const(width))))
	if n, ok := sym.Sub(end, lo).IsConst(); ok && n <= 0 {
		return acc, end
	}
	r := &ir.Range{Name: l.r.Name, Lo: lo, Hi: sym.Sub(l.r.Hi, sym.Const(width-1)), Step: sym.Const(width)}
	acc = l.around(b, "loop.for", r, acc, func(e *emitter) []*ir.Value {
		var next []*ir.Value
		each := len(l.op.Results)
		for t := 0; t < times; t++ {
			next = append(next, e.foldStep(e.carried[t*each:(t+1)*each], int64(t*l.lanes))...)
		}
		return next
	})
	return acc, end
}

// foldStep emits the body once, with acc in place of what it carries.
func (e *emitter) foldStep(acc []*ir.Value, offset int64) []*ir.Value {
	e.at(offset)
	for i, p := range carryOf(e.loop.op).Params {
		e.inLanes[p] = acc[i]
	}
	e.region(bodyOf(e.loop.op))
	var next []*ir.Value
	for i, y := range bodyOf(e.loop.op).Yields() {
		v := e.value(y)
		if e.mask != nil {
			v = e.add("vec.select", nil, e.mask, v, acc[i])
		}
		next = append(next, v)
	}
	return next
}

// combineAll puts the accumulators of one step together, pairwise.
func (l *loop) combineAll(b *ir.Builder, acc []*ir.Value) []*ir.Value {
	each := len(l.op.Results)
	acc = slices.Clone(acc)
	for n := len(acc) / each; n > 1; n -= n / 2 {
		for i := 0; i < n/2*each; i++ {
			by := "vec." + l.folds[i%each].name()
			op := ir.NewOp(by, b.Loc, &ir.Operands{Args: []ir.Arg{ir.ValueArg(acc[i]), ir.ValueArg(acc[i+(n-n/2)*each])}})
			acc[i] = b.Add(op, nil, "acc").Results[0]
		}
	}
	return acc[:each]
}

// lanesTogether reduces the lanes to scalars and puts what the loop began with
// before them.
func (l *loop) lanesTogether(b *ir.Builder, acc []*ir.Value) []*ir.Value {
	carry := carryOf(l.op)
	if l.folds[0].choice != nil {
		return l.bestLane(b, acc)
	}
	var ends []*ir.Value
	for i, f := range l.folds {
		by := f.name()
		reduced := ir.NewOp("vec.reduce", b.Loc, &ir.Operands{Args: []ir.Arg{ir.ValueArg(acc[i])}}, &ir.Attr{Value: ir.AttrName, Str: foldable[by]})
		v := b.Add(reduced, nil, "v").Results[0]
		e := ir.ElemOf(carry.Params[i].Type)
		if !isConst(carry.Inits[i], identity(by, e)) {
			v = b.Scalar(by, carry.Inits[i], v)
		}
		ends = append(ends, v)
	}
	return ends
}

// isConst reports that v is the constant c.
func isConst(v *ir.Value, c num.Cell) bool {
	if v.Def == nil || v.Def.Def.Name != "const" {
		return false
	}
	return ir.GetClause[*ir.Literal](v.Def, "").Cell == c
}

// bestLane folds a choice lane by lane: the body's own condition says which of
// two tuples to keep, with a lane in place of what an iteration brings.
func (l *loop) bestLane(b *ir.Builder, acc []*ir.Value) []*ir.Value {
	lane := func(i int) []*ir.Value {
		var out []*ir.Value
		for _, v := range acc {
			ops := &ir.Operands{Args: []ir.Arg{ir.ValueArg(v)}}
			out = append(out, b.Add(ir.NewOp("vec.extract", b.Loc, ops, laneAttr(i)), nil, "x").Results[0])
		}
		return out
	}
	best := lane(0)
	for i := 1; i < l.lanes; i++ {
		m := &ir.Mapping{Values: map[*ir.Value]*ir.Value{}}
		for k, v := range lane(i) {
			m.Values[l.folds[0].choice[k].Args("")[1].Value] = v
			m.Values[carryOf(l.op).Params[k]] = best[k]
		}
		best = l.choose(b, m)
	}
	return best
}

// choose copies the ops that decide a choice, with m in place of the carried
// tuple and the iteration's.
func (l *loop) choose(b *ir.Builder, m *ir.Mapping) []*ir.Value {
	f := l.folds[0]
	var out []*ir.Value
	for _, op := range append(slices.Clone(f.needs), f.choice...) {
		b.Region.Ops = append(b.Region.Ops, ir.CloneOp(op, m))
	}
	for _, s := range f.choice {
		out = append(out, m.Value(s.Results[0]))
	}
	return out
}

// replace lets the values stand for the loop's results.
func (l *loop) replace(b *ir.Builder, ends []*ir.Value) {
	for i, old := range l.op.Results {
		op := ends[i].Def
		for k, v := range op.Results {
			if v == ends[i] {
				op.Results[k] = old
				old.Def = op
			}
		}
	}
}
