package llvm

import (
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// For emits a loop: i runs from lo below hi by step (positive, checked by the
// program), carrying values. Bounds and step are index values that were
// evaluated before. body gets i and the carried values and returns their next
// values. For returns the final ones; without an iteration those are inits.
//
//	cur:   n = hi > lo ? (hi - lo - 1) / step + 1 : 0     (step 1: i < hi)
//	head:  i, k, carried = phi; k < n ? body : exit
//	body:  ...; i += step; k += 1; -> head
//
// Counting trips keeps a range that ends near the greatest index right, where
// i + step would wrap.
func (f *Func) For(lo, hi, step Value, inits []Value, body func(i Value, carried []Value) []Value) []Value {
	f.want("loop bound", lo, num.Index)
	f.want("loop bound", hi, num.Index)
	f.want("loop step", step, num.Index)
	if s, ok := step.AsInt(); ok && s == 1 {
		return f.loop(lo, hi, inits, func(i Value, carried []Value) []Value { return body(i, carried) })
	}
	trips := f.Trips(lo, hi, step)
	return f.loop(Index(0), trips, inits, func(k Value, carried []Value) []Value {
		return body(f.Op("add", lo, f.Op("mul", k, step)), carried)
	})
}

// Trips is how often a loop from lo below hi by step runs. The difference of
// two indices fits 64 bits without a sign.
func (f *Func) Trips(lo, hi, step Value) Value {
	some := f.cur.NewICmp(enum.IPredSLT, lo.v, hi.v)
	last := f.cur.NewSub(f.cur.NewSub(hi.v, lo.v), Index(1).v)
	n := f.cur.NewAdd(f.cur.NewUDiv(last, step.v), Index(1).v)
	return Value{f.cur.NewSelect(some, n, Index(0).v), TypeOf(num.Index)}
}

// loop is For with step 1.
func (f *Func) loop(lo, hi Value, inits []Value, body func(i Value, carried []Value) []Value) []Value {
	before, head, inside, exit := f.cur, f.block("head"), f.block("loop"), f.block("exit")
	before.NewBr(head)
	i := head.NewPhi(ir.NewIncoming(lo.v, before))
	phis := make([]*ir.InstPhi, len(inits))
	carried := make([]Value, len(inits))
	for n, v := range inits {
		phis[n] = head.NewPhi(ir.NewIncoming(v.v, before))
		carried[n] = Value{phis[n], v.t}
	}
	head.NewCondBr(head.NewICmp(enum.IPredSLT, i, hi.v), inside, exit)
	f.cur = inside
	next := body(Value{i, TypeOf(num.Index)}, carried)
	f.matches("loop", next, inits)
	if !f.Done() {
		inc := f.cur.NewAdd(i, Index(1).v)
		inc.OverflowFlags = []enum.OverflowFlag{enum.OverflowFlagNSW}
		i.Incs = append(i.Incs, ir.NewIncoming(inc, f.cur))
		for n, v := range next {
			phis[n].Incs = append(phis[n].Incs, ir.NewIncoming(v.v, f.cur))
		}
		f.cur.NewBr(head)
	}
	f.cur = exit
	return carried
}

// While repeats body while cond holds. cond and body get the carried values;
// body returns their next ones. The result is their final values.
func (f *Func) While(inits []Value, cond func(carried []Value) Value, body func(carried []Value) []Value) []Value {
	before, head := f.cur, f.block("head")
	before.NewBr(head)
	phis := make([]*ir.InstPhi, len(inits))
	carried := make([]Value, len(inits))
	for n, v := range inits {
		phis[n] = head.NewPhi(ir.NewIncoming(v.v, before))
		carried[n] = Value{phis[n], v.t}
	}
	f.cur = head
	c := cond(carried)
	inside, exit := f.block("loop"), f.block("exit")
	f.cur.NewCondBr(c.v, inside, exit)
	f.cur = inside
	next := body(carried)
	f.matches("loop", next, inits)
	if !f.Done() {
		for n, v := range next {
			phis[n].Incs = append(phis[n].Incs, ir.NewIncoming(v.v, f.cur))
		}
		f.cur.NewBr(head)
	}
	f.cur = exit
	return carried
}

// If emits both arms and returns the values that the arm taken returned. An
// arm may end in Return or Jump instead; els may be nil where there are no
// values.
func (f *Func) If(cond Value, then, els func() []Value) []Value {
	f.want("condition", cond, num.Bool)
	before, yes, join := f.cur, f.block("then"), f.block("join")
	no := join
	if els != nil {
		no = f.block("else")
	}
	before.NewCondBr(cond.v, yes, no)
	var preds []*ir.Block
	var values [][]Value
	arm := func(b *ir.Block, emit func() []Value) {
		f.cur = b
		vs := emit()
		if !f.Done() {
			preds, values = append(preds, f.cur), append(values, vs)
			f.cur.NewBr(join)
		}
	}
	arm(yes, then)
	if els != nil {
		arm(no, els)
	}
	f.cur = join
	if len(preds) == 0 || els == nil {
		if len(preds) == 0 && els != nil {
			join.NewUnreachable()
		}
		return nil
	}
	return f.merge(preds, values)
}

// merge makes a phi of each value that several blocks bring along.
func (f *Func) merge(preds []*ir.Block, values [][]Value) []Value {
	out := make([]Value, len(values[0]))
	for n, v := range values[0] {
		incs := make([]*ir.Incoming, len(preds))
		for p := range preds {
			f.matches("arms", values[p], values[0])
			incs[p] = ir.NewIncoming(values[p][n].v, preds[p])
		}
		out[n] = Value{f.cur.NewPhi(incs...), v.t}
	}
	return out
}

// When emits body under a condition that is expected to fail, such as a check
// that ends in a Jump.
func (f *Func) When(cond Value, body func()) {
	f.If(cond, func() []Value { body(); return nil }, nil)
}

func (f *Func) matches(what string, got, want []Value) {
	if f.Done() {
		return
	}
	if len(got) != len(want) {
		diag.Bugf("%s: %s yields %d values, not %d", f.Name(), what, len(got), len(want))
	}
	for i := range got {
		if got[i].t != want[i].t {
			diag.Bugf("%s: value %d of %s is %v, not %v", f.Name(), i, what, got[i].t, want[i].t)
		}
	}
}

// Label is a place to jump to with values, such as the one exit of a function
// that frees what it allocated.
type Label struct {
	block *ir.Block
	types []Type
	preds []*ir.Block
	vals  [][]Value
}

// NewLabel makes a label that takes values of the given types.
func (f *Func) NewLabel(what string, types ...Type) *Label {
	return &Label{block: f.block(what), types: types}
}

// Used reports whether any Jump goes to l.
func (l *Label) Used() bool { return len(l.preds) > 0 }

// Jump ends the current block by going to l.
func (f *Func) Jump(l *Label, values ...Value) {
	if len(values) != len(l.types) {
		diag.Bugf("%s: jump with %d values, not %d", f.Name(), len(values), len(l.types))
	}
	l.preds, l.vals = append(l.preds, f.cur), append(l.vals, values)
	f.cur.NewBr(l.block)
}

// Bind continues at l and returns its values. Every Jump to l must have been
// emitted.
func (f *Func) Bind(l *Label) []Value {
	f.cur = l.block
	if len(l.preds) == 0 {
		out := make([]Value, len(l.types))
		for i, t := range l.types {
			out[i] = Value{&bits{typ: t.register()}, t}
		}
		return out
	}
	return f.merge(l.preds, l.vals)
}
