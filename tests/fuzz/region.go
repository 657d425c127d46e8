package fuzz

import (
	"fmt"
	"math"
	"strings"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/scalar"
	"tenon/ir/sym"
)

// region writes the ops of one scalar region, or (lines nil) of a proc's body.
type region struct {
	*gen
	out     *strings.Builder
	vals    []sval
	axes    []axis
	tensors []tval // what comps and reads may read
	env     map[string]int64
	cost    int64 // points at which the region runs
	flat    bool  // no comps inside
	loads   bool  // elements of tensors (buffers) are loaded
}

// sval is a scalar in scope. text is a %name, or an op in the shorthand for
// operands, which is used once.
type sval struct {
	text  string
	elem  num.Elem
	exact bool
	deps  uint      // the par axes it depends on, a bit each
	bound *sym.Expr // values lie in 0..bound-1

	literal bool // the text is a literal and its type
}

// axis is an index in scope: name runs over lo..hi at the sizes designed for.
type axis struct {
	name   string
	extent sym.Expr // the index is below it and not negative, where plain
	plain  bool
	lo, hi int64  // hi < lo: runs over nothing
	edge   string // the index numbers entries of this pattern
	deps   uint
}

func (r *region) line(format string, args ...any) { fmt.Fprintf(r.out, format+"\n", args...) }

// scalarOp is an op of the scalar family on operands of one type.
type scalarOp struct {
	name    string
	arity   int
	on      num.Elem
	compare bool
}

// scalarOps lists, by result type, what the op table has: a new row of a scalar
// op is generated without being named here.
var scalarOps = func() map[num.Elem][]scalarOp {
	ops := map[num.Elem][]scalarOp{}
	for _, d := range ir.AllOps() {
		if d.Family() != "scalar" || !d.Traits.Has(ir.Elementwise) {
			continue
		}
		for arity := 1; arity <= 3; arity++ {
			for _, e := range num.Elems {
				if !scalar.HasOp(d.Name, arity, e) {
					continue
				}
				o := scalarOp{d.Name, arity, e, d.Traits.Has(ir.Comparison)}
				if result := e; o.compare {
					ops[num.Bool] = append(ops[num.Bool], o)
				} else {
					ops[result] = append(ops[result], o)
				}
			}
		}
	}
	return ops
}()

// exactFloatOps give the same bits in any implementation if their operands do.
var exactFloatOps = map[string]bool{"neg": true, "abs": true, "sign": true, "max": true, "min": true,
	"floor": true, "ceil": true, "trunc": true, "round": true}

func (o scalarOp) exact() bool { return o.compare || !o.on.IsFloat() || exactFloatOps[o.name] }

// scalar gives a value of type e, made of at most depth ops on what is there.
func (r *region) scalar(e num.Elem, depth int) sval {
	if depth <= 0 || r.chance(5) {
		return r.leaf(e)
	}
	switch n := r.IntN(20); {
	case n == 0:
		return r.selected(e, depth)
	case n <= 3:
		return r.cast(e, depth)
	case n == 6 && e != num.Bool:
		return r.bitcast(e, depth)
	case n == 4 && e.IsInt():
		return r.idx(e)
	case n == 5 && len(r.tensors) > 0 && r.cost < 300 && !r.flat:
		if v, ok := r.nested(e); ok {
			return v
		}
	}
	return r.apply(e, depth)
}

func (r *region) leaf(e num.Elem) sval {
	if r.loads && r.chance(2) {
		if v, ok := r.load(e); ok {
			return v
		}
	}
	var found []sval
	for _, v := range r.vals {
		if v.elem == e {
			found = append(found, v)
		}
	}
	if len(found) > 0 && !r.chance(5) {
		return pick(r.gen, found)
	}
	if len(r.vals) > 0 && r.chance(2) {
		from := pick(r.gen, r.vals)
		return r.emit(fmt.Sprintf("cast(%s): %s", from.text, e), e, from.exact, from.deps)
	}
	if e.IsInt() && r.chance(2) {
		return r.idx(e)
	}
	return r.literal(e)
}

// emit writes an op, or hands it on as an operand in shorthand.
func (r *region) emit(text string, e num.Elem, exact bool, deps uint) sval {
	v := sval{text: text, elem: e, exact: exact, deps: deps}
	if !r.chance(4) {
		v.text = r.fresh("%e")
		r.line("%s = %s", v.text, text)
		r.vals = append(r.vals, v)
	}
	return v
}

func (r *region) apply(e num.Elem, depth int) sval {
	ops := scalarOps[e]
	if len(ops) == 0 {
		return r.leaf(e)
	}
	o := pick(r.gen, ops)
	exact, deps := o.exact(), uint(0)
	var args []string
	for range o.arity {
		a := r.scalar(o.on, depth-1)
		args, exact, deps = append(args, a.text), exact && a.exact, deps|a.deps
	}
	return r.emit(fmt.Sprintf("%s(%s)", o.name, strings.Join(args, ", ")), e, exact, deps)
}

func (r *region) selected(e num.Elem, depth int) sval {
	c, x, y := r.scalar(num.Bool, depth-1), r.scalar(e, depth-1), r.scalar(e, depth-1)
	return r.emit(fmt.Sprintf("select(%s, %s, %s)", c.text, x.text, y.text), e, c.exact && x.exact && y.exact, c.deps|x.deps|y.deps)
}

func (r *region) cast(e num.Elem, depth int) sval {
	x := r.scalar(r.elem(), depth-1)
	return r.emit(fmt.Sprintf("cast(%s): %s", x.text, e), e, x.exact, x.deps)
}

// bitcast reads the bits of a type of the same width. A NaN's bits differ
// between machines.
func (r *region) bitcast(e num.Elem, depth int) sval {
	from := e
	for from == e || from == num.Bool || from.Bytes() != e.Bytes() {
		from = pick(r.gen, num.Elems)
	}
	x := r.scalar(from, depth-1)
	if from.IsFloat() {
		x = r.named(x)
		x.text = fmt.Sprintf("select(isnan(%s), 1.0: %s, %s)", x.text, from, x.text)
	}
	return r.emit(fmt.Sprintf("bitcast(%s): %s", x.text, e), e, x.exact, x.deps)
}

// idx is an index expression as a number.
func (r *region) idx(e num.Elem) sval {
	x, deps := r.indexExpr()
	return r.emit(fmt.Sprintf("idx(%s): %s", x, e), e, true, deps)
}

// indexExpr is some expression over indices and dims; its size is not limited.
func (r *region) indexExpr() (sym.Expr, uint) {
	var x sym.Expr
	deps := uint(0)
	for range 1 + r.IntN(3) {
		t := sym.Const(r.Int64N(7) - 3)
		switch {
		case len(r.axes) > 0 && !r.chance(3):
			a := pick(r.gen, r.axes)
			t, deps = sym.Name(a.name), deps|a.deps
		case len(r.dimNames()) > 0:
			t = sym.Name(pick(r.gen, r.dimNames()))
		}
		switch r.IntN(8) {
		case 0:
			t = sym.FloorDiv(t, sym.Const(1+r.Int64N(4)))
		case 1:
			t = sym.Mod(t, sym.Const(1+r.Int64N(4)))
		case 2:
			t = sym.Min(t, sym.Const(r.Int64N(9)-4))
		case 3:
			t = sym.Max(t, sym.Const(r.Int64N(9)-4))
		case 4:
			t = sym.Mul(sym.Const(r.Int64N(5)-2), t)
		}
		x = sym.Add(x, t)
	}
	return x, deps
}

// dimNames are the dims with a size known to the generator, in order.
func (r *region) dimNames() []string {
	var names []string
	for _, d := range append(append([]string{}, dimNames...), "P", "Q") {
		if _, ok := r.env[d]; ok {
			names = append(names, d)
		}
	}
	return names
}

func (r *region) literal(e num.Elem) sval {
	return sval{text: ir.FormatLiteral(e, r.cell(e)) + ": " + e.String(), elem: e, exact: true, literal: true}
}

var floatLiterals = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 2, 3, -2.5, 10, 0.1, 1e-5, 1e4}

// cell is a value that programs write down.
func (g *gen) cell(e num.Elem) num.Cell {
	switch {
	case e.IsFloat():
		f := pick(g, floatLiterals)
		if g.chance(12) {
			f = pick(g, []float64{math.Inf(1), math.Inf(-1), math.NaN(), 1e-40, 65504, 3e38, 1e300})
		}
		return num.FromFloat(num.Round(e, f))
	case e == num.Bool:
		return num.FromBool(g.chance(2))
	}
	lo, hi := num.IntRange(e)
	switch g.IntN(10) {
	case 0:
		return num.FromInt(lo)
	case 1:
		return num.FromInt(hi)
	case 2:
		return num.FromInt(num.Wrap(e, int64(g.Uint64())))
	}
	return num.FromInt(max(lo, g.Int64N(12)-3))
}
