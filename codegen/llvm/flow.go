package llvm

import (
	"slices"

	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/value"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// For emits a loop: i runs from lo below hi by step (positive, checked by the
// program), carrying values. Bounds and step are index values that were
// evaluated before. body gets i and the carried values and returns their next
// values. For returns the final ones; without an iteration those are inits.
//
//	cur:   left = (hi - lo - 1) / step + 1; lo < hi ? loop : exit
//	loop:  i, left, carried = phi; ...; i += step; left -= 1; left != 0 ? loop : exit
//
// Counting trips keeps a range that ends near the greatest index right, where
// i + step would wrap; with step 1, i < hi is the test. The test is at the end:
// what a loop repeats then runs if the loop does, so that LLVM moves it before,
// and an iteration has one branch. (Tested at its head, a loop of 44
// instructions with 13 constants took a fifth longer.)
func (f *Func) For(lo, hi, step Value, inits []Value, body func(i Value, carried []Value) []Value) []Value {
	f.want("loop bound", lo, num.Index)
	f.want("loop bound", hi, num.Index)
	f.want("loop step", step, num.Index)
	some := f.Op("lt", lo, hi)
	if s, ok := step.AsInt(); ok && s == 1 {
		return f.loop(some, []Value{lo}, inits, body, func(at []Value) ([]Value, value.Value) {
			inc := f.cur.NewAdd(at[0].v, Index(1).v)
			inc.OverflowFlags = []enum.OverflowFlag{enum.OverflowFlagNSW}
			return []Value{{inc, at[0].t}}, f.cur.NewICmp(enum.IPredSLT, inc, hi.v)
		})
	}
	trips := f.Trips(lo, hi, step)
	return f.loop(some, []Value{lo, trips}, inits, body, func(at []Value) ([]Value, value.Value) {
		left := f.Op("sub", at[1], Index(1))
		return []Value{f.Op("add", at[0], step), left}, f.cur.NewICmp(enum.IPredNE, left.v, Index(0).v)
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

// loop repeats body if some holds, and then as long as advance says, which also
// gives the next place. The first part of a place is the index.
func (f *Func) loop(some Value, at, inits []Value, body func(i Value, carried []Value) []Value,
	advance func(at []Value) (next []Value, more value.Value)) []Value {
	before, inside, exit := f.cur, f.block("loop"), f.block("exit")
	before.NewCondBr(some.v, inside, exit)
	f.cur = inside
	phis := make([]*ir.InstPhi, 0, len(at)+len(inits))
	now := make([]Value, 0, len(at)+len(inits))
	for _, v := range append(slices.Clone(at), inits...) {
		phi := inside.NewPhi(ir.NewIncoming(v.v, before))
		phis, now = append(phis, phi), append(now, Value{phi, v.t})
	}
	next := body(now[0], now[len(at):])
	f.matches("loop", next, inits)
	preds, values := []*ir.Block{before}, [][]Value{inits}
	if !f.Done() {
		places, more := advance(now[:len(at)])
		for n, v := range append(slices.Clone(places), next...) {
			phis[n].Incs = append(phis[n].Incs, ir.NewIncoming(v.v, f.cur))
		}
		preds, values = append(preds, f.cur), append(values, next)
		f.cur.NewCondBr(more, inside, exit)
	}
	f.cur = exit
	return f.merge(preds, values)
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
