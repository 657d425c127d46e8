package loop

import (
	"fmt"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/access"
	"tenon/ir/sym"
)

// For is the sequential loop.
var For = ir.Register(&ir.OpDef{
	Name: "loop.for",
	Doc: "Runs a region for i = lo, lo + step, .. below hi, in order, carrying values.\n" +
		"[%r, ..] = loop.for i[:n] = lo to hi [step s] [carry(%v = %init, ..)] [directives(..)] { .. yield(..) stack(..) } [: types]\n" +
		"Bounds are evaluated once; the step must be positive; n is min(step, hi - i). Results are the carried values\n" +
		"after the last iteration (the inits if there is none), then one tensor a stacked value with a leading dim of\n" +
		"one element an iteration.",
	Clauses: []ir.ClauseSpec{
		{Kind: ir.KindRange},
		{Kind: ir.KindCarry, KW: "carry", Optional: true},
		{Kind: ir.KindDirectives, KW: "directives", Optional: true},
		{Kind: ir.KindBlock},
	},
	Infer:  inferFor,
	Verify: access.Report(checkFor),
	Eval:   evalFor,
})

// rangeOf, bodyOf and carryOf are the clauses of a loop.
func rangeOf(op *ir.Op) *ir.Range { return ir.GetClause[*ir.Range](op, "") }
func bodyOf(op *ir.Op) *ir.Region { return ir.GetClause[*ir.Block](op, "").Region }
func stacked(op *ir.Op) []*ir.Value {
	last := bodyOf(op).Last()
	if last == nil {
		return nil
	}
	return stackOf(last)
}

// stackOf are the values that a yield stacks. Only a row with that clause has
// any.
func stackOf(yield *ir.Op) []*ir.Value {
	if !yield.Has("stack") {
		return nil
	}
	return yield.OperandValues("stack")
}

func carryOf(op *ir.Op) *ir.Carry {
	if c := ir.GetClause[*ir.Carry](op, "carry"); c != nil {
		return c
	}
	return &ir.Carry{}
}

func inferFor(op *ir.Op, declared []ir.Type) ([]ir.Type, error) {
	types := access.YieldTypes(carryOf(op).Params)
	for i, v := range stacked(op) {
		var written ir.Type
		if k := len(types); k < len(declared) {
			written = declared[k]
		}
		t, err := stackType(rangeOf(op), v, written)
		if err != nil {
			return nil, fmt.Errorf("stacked value %d: %v", i+1, err)
		}
		types = append(types, t)
	}
	return types, nil
}

// stackType is v's type with a leading dim: the trip count. The count is
// clamped at 0 unless what is written leaves that out, as it may where lo <= hi
// is known; running checks it.
func stackType(r *ir.Range, v *ir.Value, written ir.Type) (ir.Type, error) {
	var t ir.Tensor
	switch vt := v.Type.(type) {
	case ir.Scalar:
		t = ir.Tensor{Elem: vt.Elem}
	case ir.Tensor:
		t = ir.Tensor{Elem: vt.Elem, Dims: vt.Dims}
	default:
		return nil, fmt.Errorf("%%%s is a %s; only scalars and tensors can be stacked", v.Name, v.Type)
	}
	whole := t
	for _, trip := range []sym.Expr{unclampedTrip(r), TripCount(r)} {
		whole.Dims = append([]sym.Expr{trip}, t.Dims...)
		if written != nil && ir.SameType(written, whole) {
			return written, nil
		}
	}
	if written == nil && plainlyPositive(sym.Sub(r.Hi, r.Lo)) {
		whole.Dims[0] = unclampedTrip(r)
	}
	return whole, nil
}

// TripCount is the number of iterations of r.
func TripCount(r *ir.Range) sym.Expr {
	if n, ok := sym.Sub(r.Hi, r.Lo).IsConst(); ok && n <= 0 {
		return sym.Const(0)
	}
	return sym.Max(sym.Const(0), unclampedTrip(r))
}

func unclampedTrip(r *ir.Range) sym.Expr {
	return sym.FloorDiv(sym.Add(r.Hi, sym.Neg(r.Lo), r.Step, sym.Const(-1)), r.Step)
}

// plainlyPositive reports a sum of names with positive coefficients: dims are
// never negative. (A name may be the index of a loop from below 0; a count
// that is then negative traps when the program runs.)
func plainlyPositive(e sym.Expr) bool {
	for _, t := range e.Terms() {
		if t.Coef < 0 {
			return false
		}
		for _, a := range t.Factors {
			if a.Kind != sym.AtomName {
				return false
			}
		}
	}
	return e.Constant() >= 0
}

func checkFor(op *ir.Op) error {
	if err := checkRange(op); err != nil {
		return err
	}
	body, carry := bodyOf(op), carryOf(op)
	yields := body.Yields()
	if len(carry.Params) != len(carry.Inits) {
		return fmt.Errorf("%d carried values have %d inits", len(carry.Params), len(carry.Inits))
	}
	if len(yields) != len(carry.Params) {
		return fmt.Errorf("the region yields %d values, but %d are carried", len(yields), len(carry.Params))
	}
	for i, p := range carry.Params {
		if !ir.SameType(p.Type, yields[i].Type) {
			return fmt.Errorf("%%%s is carried as a %s, but %%%s is yielded, a %s", p.Name, p.Type, yields[i].Name, yields[i].Type)
		}
		if _, ok := p.Type.(ir.Buf); ok {
			return fmt.Errorf("%%%s is a buffer, which cannot be carried", p.Name)
		}
	}
	return nil
}

func checkRange(op *ir.Op) error {
	if s, ok := rangeOf(op).Step.IsConst(); ok && s <= 0 {
		return fmt.Errorf("the step is %d, but must be positive", s)
	}
	return nil
}

// Bounds stages the bounds of a range; a step that is not positive traps.
func Bounds(m ir.Machine, op *ir.Op, r *ir.Range) func(*ir.Frame) (lo, hi, step int64) {
	lo, hi, step := m.Expr(r.Lo), m.Expr(r.Hi), m.Expr(r.Step)
	return func(f *ir.Frame) (int64, int64, int64) {
		s := step(f)
		if s <= 0 {
			m.Trap(op, ir.TrapShape, "the step is %d, but must be positive", s)
		}
		return lo(f), hi(f), s
	}
}

// Enter stages the binding of a range's names at start i of a range to hi.
func Enter(m ir.Machine, r *ir.Range) func(f *ir.Frame, i, hi, step int64) {
	start := m.Symbol(r.Name)
	if r.Size == "" {
		return func(f *ir.Frame, i, _, _ int64) { access.SetInt(f, start, i) }
	}
	size := m.Symbol(r.Size)
	return func(f *ir.Frame, i, hi, step int64) {
		access.SetInt(f, start, i)
		access.SetInt(f, size, max(0, min(step, hi-i)))
	}
}

// Run calls body for each step of a range; the last one may be short, and the
// index does not overflow.
func Run(lo, hi, step int64, body func(i int64)) {
	for i := lo; i < hi; {
		body(i)
		if hi-i <= step {
			return
		}
		i += step
	}
}

func evalFor(m ir.Machine, op *ir.Op) ir.Step {
	r, carry := rangeOf(op), carryOf(op)
	bounds, enter := Bounds(m, op, r), Enter(m, r)
	start := access.Moves(m, carry.Inits, carry.Params)
	body := m.Region(bodyOf(op))
	next := access.Moves(m, bodyOf(op).Yields(), carry.Params)
	stacks := make([]*stack, 0)
	for i, v := range stacked(op) {
		stacks = append(stacks, newStack(m, op, v, op.Results[len(carry.Params)+i]))
	}
	end := access.Moves(m, carry.Params, op.Results[:len(carry.Params)])
	return func(f *ir.Frame) {
		lo, hi, step := bounds(f)
		start(f)
		for _, s := range stacks {
			s.open(f, trips(lo, hi, step))
		}
		n := int64(0)
		Run(lo, hi, step, func(i int64) {
			m.Poll(op, 1)
			enter(f, i, hi, step)
			body(f)
			for _, s := range stacks {
				s.push(f, n)
			}
			next(f)
			n++
		})
		end(f)
	}
}

// trips is the number of iterations, without overflow for hi - lo in int64.
func trips(lo, hi, step int64) int64 {
	if lo >= hi {
		return 0
	}
	return (hi-lo-1)/step + 1
}

// stack collects one yielded value over the iterations.
type stack struct {
	m        ir.Machine
	op       *ir.Op
	elem     num.Elem
	scalar   bool
	src, dst int
	dims     []func(*ir.Frame) int64
}

func newStack(m ir.Machine, op *ir.Op, v, result *ir.Value) *stack {
	t := result.Type.(ir.Tensor)
	s := &stack{m: m, op: op, elem: t.Elem, scalar: access.IsScalar(v), dst: m.Object(result), dims: access.Exprs(m, t.Dims[1:])}
	if s.scalar {
		s.src = m.Scalar(v)
	} else {
		s.src = m.Object(v)
	}
	return s
}

func (s *stack) open(f *ir.Frame, n int64) {
	shape := []int64{n}
	for _, d := range s.dims {
		shape = append(shape, d(f))
	}
	f.O[s.dst] = s.m.Array(f, s.elem, shape)
}

func (s *stack) push(f *ir.Frame, n int64) {
	whole := f.O[s.dst].(*ir.Array)
	row := &ir.Array{Elem: s.elem, Shape: whole.Shape[1:], Strides: whole.Strides[1:], Off: whole.Off + n*whole.Strides[0], Mem: whole.Mem}
	if s.scalar {
		c, e := access.Get(f, s.src)
		access.Write(f, s.op, row, row.Off, c, e)
		return
	}
	part := f.O[s.src].(*ir.Array)
	for d := range row.Shape {
		if part.Shape[d] != row.Shape[d] {
			s.m.Trap(s.op, ir.TrapShape, "iteration %d stacks a tensor of shape %v, want %v", n, part.Shape, row.Shape)
		}
	}
	access.Copy(f, s.op, part, row)
}
