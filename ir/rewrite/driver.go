package rewrite

import (
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// Driver simplifies scalar ops: it folds constants and applies rows until none
// matches. One forward walk over a region suffices, since an op's simplified
// form depends on its operands' definitions alone.
type Driver struct {
	Replaced map[*ir.Value]*ir.Value // results that are gone, and what stands for them
	Counts   map[string]int          // how often each row (and "fold") applied
}

// NewDriver is a driver that has replaced nothing yet.
func NewDriver() *Driver {
	return &Driver{map[*ir.Value]*ir.Value{}, map[string]int{}}
}

// Value is what stands for v.
func (d *Driver) Value(v *ir.Value) *ir.Value {
	if n, ok := d.Replaced[v]; ok {
		return n
	}
	return v
}

// Op simplifies op, whose operands are simplified, and appends what is needed
// to b. It reports whether op is replaced; if not, the caller keeps op.
func (d *Driver) Op(b *ir.Builder, op *ir.Op) bool {
	if len(op.Results) != 1 || !op.Def.Traits.Has(ir.Pure|ir.Elementwise) || op.Def.Name == "const" {
		return false
	}
	v := d.simplify(b, op)
	if v == nil {
		return false
	}
	d.Replaced[op.Results[0]] = v
	return true
}

// simplify gives the value that stands for op's result, nil if op is in
// simplest form.
func (d *Driver) simplify(b *ir.Builder, op *ir.Op) *ir.Value {
	result := op.Results[0]
	if c, ok := fold(op); ok {
		d.Counts["fold"]++
		return b.Add(ir.NewOp("const", op.Loc, &ir.Literal{Elem: ir.ElemOf(result.Type), Cell: c}), []ir.Type{result.Type}, result.Name).Results[0]
	}
	if v := d.cast(b, op); v != nil {
		return v
	}
	for _, r := range byRoot[op.Def.Name] {
		bound := map[string]*ir.Value{}
		if !r.When.Has(ir.ElemOf(op.Operand(0).Type)) || !r.From.match(result, bound) {
			continue
		}
		d.Counts[r.Name]++
		return d.build(b, r.To, bound, result)
	}
	return nil
}

// build makes t with its variables bound; its numbers have result's type.
func (d *Driver) build(b *ir.Builder, t *Term, bound map[string]*ir.Value, result *ir.Value) *ir.Value {
	switch {
	case t.Var != "":
		return bound[t.Var]
	case t.Lit != "":
		e := ir.ElemOf(result.Type)
		c, _ := literal(e, t.Lit)
		return b.Const(e, c)
	}
	args := &ir.Operands{}
	for _, a := range t.Args {
		args.Args = append(args.Args, ir.ValueArg(d.build(b, a, bound, result)))
	}
	return d.add(b, ir.NewOp(t.Op, b.Loc, args), nil, result.Name)
}

// add appends a new op, or what it simplifies to.
func (d *Driver) add(b *ir.Builder, op *ir.Op, types []ir.Type, name string) *ir.Value {
	b.Add(op, types, name)
	b.Region.Ops = b.Region.Ops[:len(b.Region.Ops)-1]
	if v := d.simplify(b, op); v != nil {
		return v
	}
	b.Region.Ops = append(b.Region.Ops, op)
	return op.Results[0]
}

// cast drops a cast to the operand's type, and the first of two casts that
// loses nothing.
func (d *Driver) cast(b *ir.Builder, op *ir.Op) *ir.Value {
	if op.Def.Name != "cast" {
		return nil
	}
	x, to := op.Operand(0), ir.ElemOf(op.Results[0].Type)
	if ir.ElemOf(x.Type) == to {
		d.Counts["cast-same"]++
		return x
	}
	if x.Def == nil || x.Def.Def.Name != "cast" {
		return nil
	}
	first := x.Def.Operand(0)
	if !Through(ir.ElemOf(first.Type), ir.ElemOf(x.Type), to) {
		return nil
	}
	d.Counts["cast-cast"]++
	return d.add(b, ir.NewOp("cast", op.Loc, &ir.Operands{Args: []ir.Arg{ir.ValueArg(first)}}), []ir.Type{ir.Scalar{Elem: to}}, op.Results[0].Name)
}

// Through reports that a cast from a to b to c is a cast from a to c. A float
// saturates on its way to an integer where an integer wraps.
func Through(a, b, c num.Elem) bool {
	saturates := b.IsFloat() && !a.IsFloat() && c.IsInt()
	return Exact(a, b) && (!saturates || Exact(a, c))
}

// precision is the number of bits that a float type's significand has.
var precision = map[num.Elem]int{num.F64: 53, num.F32: 24, num.F16: 11, num.BF16: 8}

// Exact reports whether every value of type from is a value of type to, so that
// a cast back gives it again.
func Exact(from, to num.Elem) bool {
	switch {
	case from == to:
		return true
	case from.IsFloat() && to.IsFloat():
		return to == num.F64 || to == num.F32 && from != num.F64
	case from.IsFloat() || to == num.Bool:
		return false
	case from == num.Bool:
		return true
	}
	lo, hi := num.IntRange(from)
	if to.IsFloat() {
		limit := int64(1) << precision[to]
		return -limit <= lo && hi <= limit
	}
	l, h := num.IntRange(to)
	return l <= lo && hi <= h
}

// fold evaluates an op on constants.
func fold(op *ir.Op) (num.Cell, bool) {
	if op.Def.Name == "idx" {
		return foldIndex(op)
	}
	args := op.OperandValues("")
	if len(args) == 0 || len(args) != len(op.Args("")) {
		return 0, false
	}
	cells := make([]num.Cell, len(args))
	for i, v := range args {
		l, ok := constant(v)
		if !ok {
			return 0, false
		}
		cells[i] = l.Cell
	}
	return Eval(op.Def.Name, ir.ElemOf(args[0].Type), ir.ElemOf(op.Results[0].Type), cells)
}

func foldIndex(op *ir.Op) (num.Cell, bool) {
	a := op.Args("")[0]
	if a.Expr == nil {
		return 0, false
	}
	n, ok := (*a.Expr).IsConst()
	if !ok || (*a.Expr).Overflowed() {
		return 0, false
	}
	return num.FromInt(num.Wrap(ir.ElemOf(op.Results[0].Type), n)), true
}

// Eval computes the scalar op of that name on cells, the first of type e; ok is
// false if there is no such op.
func Eval(name string, e, result num.Elem, cells []num.Cell) (c num.Cell, ok bool) {
	switch {
	case name == "cast":
		return num.Cast(e, result, cells[0]), true
	case name == "bitcast":
		return num.Bitcast(e, result, cells[0]), true
	case name == "select":
		return num.Select(cells[0], cells[1], cells[2]), true
	case len(cells) == 1:
		if f := num.Unary(name, e); f != nil {
			return f(cells[0]), true
		}
	case len(cells) == 2:
		if f := num.Binary(name, e); f != nil {
			return f(cells[0], cells[1]), true
		}
	case len(cells) == 3:
		if f := num.Ternary(name, e); f != nil {
			return f(cells[0], cells[1], cells[2]), true
		}
	}
	return 0, false
}

// Decide says whether c holds, where its two sides differ by a constant.
func Decide(c sym.Cond) (holds, known bool) {
	n, ok := sym.Sub(c.L, c.R).IsConst()
	if !ok {
		return false, false
	}
	return c.Rel.Holds(n, 0), true
}
