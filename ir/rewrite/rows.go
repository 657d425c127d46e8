package rewrite

import (
	"tenon/internal/num"
)

// Row is an identity: wherever From matches and the operand type meets When, To
// has the same value.
type Row struct {
	Name string
	From *Term
	To   *Term
	When Class
}

// Class is a set of element types, of the operands of From's root.
type Class uint8

// The classes.
const (
	Ints Class = 1 << iota
	Floats
	Bools
	Numbers = Ints | Floats
	Any     = Numbers | Bools
)

// Has reports whether e is in the class.
func (c Class) Has(e num.Elem) bool {
	switch {
	case e == num.Bool:
		return c&Bools != 0
	case e.IsFloat():
		return c&Floats != 0
	}
	return c&Ints != 0 && e.IsInt()
}

func row(name string, when Class, from, to string) Row {
	return Row{name, parseTerm(from), parseTerm(to), when}
}

// Rows are the identities, in the order in which they are tried. Floats keep
// -0.0 and +0.0 apart: only x + (-0.0) and x - (+0.0) are x, and x * 0 is not 0
// (inf, NaN, signs).
var Rows = []Row{
	row("add-zero", Ints, "add(x, 0)", "x"),
	row("add-minus-zero", Floats, "add(x, -0.0)", "x"),
	row("add-zero-square", Floats, "add(mul(x, x), 0.0)", "mul(x, x)"),
	row("add-zero-abs", Floats, "add(abs(x), 0.0)", "abs(x)"),
	row("sub-zero", Ints, "sub(x, 0)", "x"),
	row("sub-plus-zero", Floats, "sub(x, 0.0)", "x"),
	row("sub-self", Ints, "sub(x, x)", "0"),
	row("mul-one", Numbers, "mul(x, 1)", "x"),
	row("mul-zero", Ints, "mul(x, 0)", "0"),
	row("mul-minus-one", Floats, "mul(x, -1.0)", "neg(x)"),
	row("div-one", Floats, "div(x, 1)", "x"),
	row("tdiv-one", Ints, "tdiv(x, 1)", "x"),
	row("trem-one", Ints, "trem(x, 1)", "0"),
	row("floordiv-one", Ints, "floordiv(x, 1)", "x"),
	row("mod-one", Ints, "mod(x, 1)", "0"),
	row("neg-neg", Numbers, "neg(neg(x))", "x"),
	row("sub-neg", Numbers, "sub(x, neg(y))", "add(x, y)"),
	row("add-neg", Numbers, "add(x, neg(y))", "sub(x, y)"),
	row("mul-neg-neg", Numbers, "mul(neg(x), neg(y))", "mul(x, y)"),
	row("abs-abs", Numbers, "abs(abs(x))", "abs(x)"),
	row("abs-neg", Floats, "abs(neg(x))", "abs(x)"),
	row("max-self", Numbers, "max(x, x)", "x"),
	row("min-self", Numbers, "min(x, x)", "x"),
	row("max-max", Numbers, "max(max(x, y), y)", "max(x, y)"),
	row("min-min", Numbers, "min(min(x, y), y)", "min(x, y)"),
	row("floor-floor", Floats, "floor(floor(x))", "floor(x)"),
	row("ceil-ceil", Floats, "ceil(ceil(x))", "ceil(x)"),
	row("trunc-trunc", Floats, "trunc(trunc(x))", "trunc(x)"),
	row("round-round", Floats, "round(round(x))", "round(x)"),

	row("and-self", Ints|Bools, "and(x, x)", "x"),
	row("or-self", Ints|Bools, "or(x, x)", "x"),
	row("xor-self", Ints, "xor(x, x)", "0"),
	row("xor-self-bool", Bools, "xor(x, x)", "false"),
	row("and-zero", Ints, "and(x, 0)", "0"),
	row("or-zero", Ints, "or(x, 0)", "x"),
	row("xor-zero", Ints, "xor(x, 0)", "x"),
	row("shl-zero", Ints, "shl(x, 0)", "x"),
	row("shr-zero", Ints, "shr(x, 0)", "x"),
	row("not-not", Ints|Bools, "not(not(x))", "x"),
	row("and-true", Bools, "and(x, true)", "x"),
	row("and-false", Bools, "and(x, false)", "false"),
	row("or-true", Bools, "or(x, true)", "true"),
	row("or-false", Bools, "or(x, false)", "x"),
	row("xor-true", Bools, "xor(x, true)", "not(x)"),
	row("xor-false", Bools, "xor(x, false)", "x"),

	row("eq-self", Ints|Bools, "eq(x, x)", "true"),
	row("ne-self", Ints|Bools, "ne(x, x)", "false"),
	row("le-self", Ints, "le(x, x)", "true"),
	row("ge-self", Ints, "ge(x, x)", "true"),
	row("lt-self", Numbers, "lt(x, x)", "false"),
	row("gt-self", Numbers, "gt(x, x)", "false"),
	row("not-eq", Bools, "not(eq(x, y))", "ne(x, y)"),
	row("not-ne", Bools, "not(ne(x, y))", "eq(x, y)"),

	row("select-true", Bools, "select(true, x, y)", "x"),
	row("select-false", Bools, "select(false, x, y)", "y"),
	row("select-same", Bools, "select(c, x, x)", "x"),
	row("select-not", Bools, "select(not(c), x, y)", "select(c, y, x)"),
	row("select-bools", Bools, "select(c, true, false)", "c"),
	row("select-not-bools", Bools, "select(c, false, true)", "not(c)"),
}

// byRoot lists the rows by the op at the root of From.
var byRoot = func() map[string][]*Row {
	m := map[string][]*Row{}
	for i := range Rows {
		r := &Rows[i]
		m[r.From.Op] = append(m[r.From.Op], r)
	}
	return m
}()
