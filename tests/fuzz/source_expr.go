package fuzz

import (
	"fmt"
	"strings"

	"tenon/internal/num"
	"tenon/ir/sym"
)

// node is an expression of the language: its text, and its value where every
// name of it has one.
type node struct {
	text  string
	prec  int // how tightly it binds
	elem  num.Elem
	typed bool // its type follows from its parts, not from its surroundings
	open  bool // it ends in the body of a reduction, which takes all that follows
	exact bool // any implementation gives this value
	at    func(m *machine) num.Cell
}

// How tightly expressions bind.
const (
	precAny = iota
	precOr
	precAnd
	precNot
	precCompare
	precSum
	precProduct
	precUnary
	precPostfix
)

// place is where an expression stands.
type place struct {
	*file
	fn      *source
	axes    []*srcAxis
	extra   []local // carried values
	cost    int64   // points at which the expression runs
	gathers int     // how deep in subscripts that are read
}

// source is a function being written.
type source struct {
	*file
	info   *FuncInfo
	sizes  map[string]int64 // those designed for
	lines  []string
	locals []local
	run    []func(m *machine)
	isProc bool
}

// operand is n's text where a tighter binding than its own may be asked for, and
// whether it is open; last says that nothing of the expression follows it.
func (p *place) operand(n node, min int, last bool) (text string, open bool) {
	if n.prec < min || n.open && !last || p.chance(14) {
		return "(" + n.text + ")", false
	}
	return n.text, n.open
}

// expr gives an expression of type e, of at most depth operations.
func (p *place) expr(e num.Elem, depth int) node {
	if depth <= 0 || p.chance(6) {
		return p.leafNode(e)
	}
	switch k := p.IntN(20); {
	case k <= 1:
		return p.castNode(e, depth)
	case k <= 3 && p.cost < 400:
		if n, ok := p.reduction(e, depth); ok {
			return n
		}
	case k == 4:
		c, x, y := p.expr(num.Bool, depth-1), p.typed(p.expr(e, depth-1)), p.expr(e, depth-1)
		return node{text: "select(" + c.text + ", " + x.text + ", " + y.text + ")", prec: precPostfix, elem: e, typed: true,
			exact: c.exact && x.exact && y.exact, at: func(m *machine) num.Cell {
				cond, a, b := c.at(m), x.at(m), y.at(m)
				if num.IsTrue(cond) {
					return a
				}
				return b
			}}
	case k <= 9:
		return p.builtinCall(e, depth)
	case k == 10 && e.IsFloat():
		return p.preludeScalar(e, depth)
	}
	if e == num.Bool {
		return p.logic(depth)
	}
	return p.arithmetic(e, depth)
}

// typed makes sure that n's type does not hang on what surrounds it.
func (p *place) typed(n node) node {
	if n.typed {
		return n
	}
	n.text, n.prec, n.typed, n.open = n.elem.String()+"("+n.text+")", precPostfix, true, false
	return n
}

func (p *place) typedExpr(e num.Elem, depth int) node { return p.typed(p.expr(e, depth)) }

// operators of numbers: the op for floats and for integers.
var operators = []struct {
	text     string
	prec     int
	flt, int string
}{{"+", precSum, "add", "add"}, {"-", precSum, "sub", "sub"}, {"*", precProduct, "mul", "mul"}, {"/", precProduct, "div", "tdiv"}, {"%", precProduct, "", "trem"}}

func (p *place) arithmetic(e num.Elem, depth int) node {
	if p.chance(8) && e.IsSigned() {
		x := p.typedExpr(e, depth-1)
		text, open := p.operand(x, precUnary, true)
		return p.unaryNode("-"+text, "neg", precUnary, open, x)
	}
	o := pick(p.gen, operators)
	op := o.int
	if e.IsFloat() {
		op = o.flt
	}
	if op == "" {
		return p.arithmetic(e, depth)
	}
	return p.binaryNode(o.text, op, o.prec, e, e, depth)
}

func (p *place) unaryNode(text, op string, prec int, open bool, x node) node {
	return node{text: text, prec: prec, elem: x.elem, typed: true, open: open,
		exact: x.exact && (!x.elem.IsFloat() || exactFloatOps[op]),
		at:    func(m *machine) num.Cell { return num.Unary(op, m.carrier(x.elem))(x.at(m)) }}
}

// binaryNode writes x op y on operands of type on.
func (p *place) binaryNode(text, op string, prec int, on, result num.Elem, depth int) node {
	x, y := p.expr(on, depth-1), p.expr(on, depth-1)
	if !x.typed && !y.typed {
		x = p.typed(x)
	}
	left, right := prec, prec+1
	if prec == precCompare {
		left = prec + 1
	}
	l, _ := p.operand(x, left, false)
	r, open := p.operand(y, right, true)
	return node{text: l + " " + text + " " + r, prec: prec, elem: result, typed: true,
		open: open, exact: x.exact && y.exact && (!on.IsFloat() || result == num.Bool),
		at: func(m *machine) num.Cell {
			a, b := x.at(m), y.at(m)
			return num.Binary(op, m.carrier(on))(a, b)
		}}
}

var comparisons = []struct{ text, op string }{{"==", "eq"}, {"!=", "ne"}, {"<", "lt"}, {"<=", "le"}, {">", "gt"}, {">=", "ge"}}

// logic gives a bool.
func (p *place) logic(depth int) node {
	switch p.IntN(6) {
	case 0:
		x := p.expr(num.Bool, depth-1)
		text, open := p.operand(x, precNot, true)
		return p.unaryNode("not "+text, "not", precNot, open, x)
	case 1:
		return p.binaryNode("and", "and", precAnd, num.Bool, num.Bool, depth)
	case 2:
		return p.binaryNode("or", "or", precOr, num.Bool, num.Bool, depth)
	case 3:
		if len(p.axes) > 0 {
			return p.indexCompare()
		}
	}
	c := pick(p.gen, comparisons)
	on := pick(p.gen, p.elems())
	if on == num.Bool && c.op != "eq" && c.op != "ne" {
		on = num.F32
	}
	return p.binaryNode(c.text, c.op, precCompare, on, num.Bool, depth)
}

// elems are the types that the locals have, so that they get used.
func (p *place) elems() []num.Elem {
	es := []num.Elem{num.F32, num.I64}
	for _, t := range p.fn.locals {
		es = append(es, t.elem)
	}
	return es
}

func (p *place) indexCompare() node {
	x, y, c := p.index(), p.index(), pick(p.gen, comparisons)
	return node{text: p.indexOperand(x, precSum) + " " + c.text + " " + p.indexOperand(y, precSum), prec: precCompare, elem: num.Bool,
		typed: true, exact: true, at: func(m *machine) num.Cell {
			return num.Binary(c.op, num.Index)(num.FromInt(x.at(m)), num.FromInt(y.at(m)))
		}}
}

// castNode converts another type, or an index.
func (p *place) castNode(e num.Elem, depth int) node {
	if p.chance(3) && len(p.axes) > 0 && e != num.Bool {
		x := p.index()
		return node{text: e.String() + "(" + x.text + ")", prec: precPostfix, elem: e, typed: true, exact: true,
			at: func(m *machine) num.Cell { return num.Cast(num.I64, e, num.FromInt(x.at(m))) }}
	}
	x := p.typedExpr(pick(p.gen, p.elems()), depth-1)
	from := x.elem
	return node{text: e.String() + "(" + x.text + ")", prec: precPostfix, elem: e, typed: true, exact: x.exact, at: func(m *machine) num.Cell {
		if from == e {
			return x.at(m)
		}
		return num.Cast(m.carrier(from), e, x.at(m))
	}}
}

// leafNode reads something, or is a literal.
func (p *place) leafNode(e num.Elem) node {
	if !p.chance(5) {
		if n, ok := p.someRead(e); ok {
			return n
		}
	}
	if p.chance(2) && len(p.locals()) > 0 {
		if n, ok := p.someRead(pick(p.gen, p.locals()).elem); ok {
			from := n.elem
			return node{text: e.String() + "(" + n.text + ")", prec: precPostfix, elem: e, typed: true, exact: n.exact, at: func(m *machine) num.Cell {
				if from == e {
					return n.at(m)
				}
				return num.Cast(m.carrier(from), e, n.at(m))
			}}
		}
	}
	return p.literalNode(e)
}

func (p *place) locals() []local {
	return append(p.fn.locals[:len(p.fn.locals):len(p.fn.locals)], p.extra...)
}

func (p *place) literalNode(e num.Elem) node {
	c := p.cell(e)
	n := node{prec: precPostfix, elem: e, exact: true, typed: e == num.Bool, at: func(*machine) num.Cell { return c }}
	switch v := num.Int(c); {
	case e == num.Bool:
		n.text = fmt.Sprint(num.IsTrue(c))
	case e.IsFloat():
		f := num.Float(c)
		n.text = num.FormatFloat(e, c)
		if f == float64(int64(f)) && f > 0 && f < 200 && p.chance(3) {
			n.text = fmt.Sprint(int64(f))
		}
		if f != f {
			n.text = "nan"
		}
	case v >= 0 && p.chance(6):
		n.text = fmt.Sprintf("0x%x", v)
	default:
		n.text = fmt.Sprint(v)
	}
	if strings.HasPrefix(n.text, "-") {
		n.prec = precUnary
	}
	return n
}

// builtins of scalars: the name, the op of the IR, the number of operands, and
// what they are defined on.
var builtins = []struct {
	name, op string
	arity    int
	on       string // float, int, bits (integers and bools), number
}{
	{"exp", "exp", 1, "float"}, {"log", "log", 1, "float"}, {"pow", "pow", 2, "float"}, {"tanh", "tanh", 1, "float"},
	{"erf", "erf", 1, "float"}, {"sigmoid", "sigmoid", 1, "float"}, {"sin", "sin", 1, "float"}, {"cos", "cos", 1, "float"},
	{"sqrt", "sqrt", 1, "float"}, {"rsqrt", "rsqrt", 1, "float"}, {"cbrt", "cbrt", 1, "float"},
	{"floor", "floor", 1, "float"}, {"ceil", "ceil", 1, "float"}, {"trunc", "trunc", 1, "float"}, {"round", "round", 1, "float"},
	{"fma", "fma", 3, "float"}, {"abs", "abs", 1, "number"}, {"sign", "sign", 1, "number"},
	{"min", "min", 2, "number"}, {"max", "max", 2, "number"},
	{"floordiv", "floordiv", 2, "int"}, {"mod", "mod", 2, "int"}, {"shl", "shl", 2, "int"}, {"shr", "shr", 2, "int"},
	{"bitand", "and", 2, "bits"}, {"bitor", "or", 2, "bits"}, {"bitxor", "xor", 2, "bits"}, {"bitnot", "not", 1, "bits"},
}

func definedOn(kind string, e num.Elem) bool {
	switch kind {
	case "float":
		return e.IsFloat()
	case "int":
		return e.IsInt()
	case "bits":
		return e.IsInt() || e == num.Bool
	}
	return e != num.Bool
}

func (p *place) builtinCall(e num.Elem, depth int) node {
	if e == num.Bool && p.chance(2) {
		x := p.typedExpr(p.floatElem(), depth-1)
		op := pick(p.gen, []string{"isnan", "isinf"})
		n := p.unaryNode(op+"("+x.text+")", op, precPostfix, false, x)
		n.elem, n.exact = num.Bool, x.exact
		return n
	}
	b := pick(p.gen, builtins)
	for !definedOn(b.on, e) {
		b = pick(p.gen, builtins)
	}
	var args []node
	var texts []string
	exact := !e.IsFloat() || exactFloatOps[b.op]
	for i := range b.arity {
		a := p.expr(e, depth-1)
		if i == 0 {
			a = p.typed(a)
		}
		args, texts, exact = append(args, a), append(texts, a.text), exact && a.exact
	}
	return node{text: b.name + "(" + strings.Join(texts, ", ") + ")", prec: precPostfix, elem: e, typed: true, exact: exact,
		at: func(m *machine) num.Cell {
			var v []num.Cell
			for _, a := range args {
				v = append(v, a.at(m))
			}
			switch ce := m.carrier(e); len(v) {
			case 1:
				return num.Unary(b.op, ce)(v[0])
			case 2:
				return num.Binary(b.op, ce)(v[0], v[1])
			default:
				return num.Ternary(b.op, ce)(v[0], v[1], v[2])
			}
		}}
}

// preludeScalar calls a function of the prelude on a scalar: what it computes is
// written out here a second time.
func (p *place) preludeScalar(e num.Elem, depth int) node {
	x := p.typedExpr(e, depth-1)
	bin := func(m *machine, op string, a, b num.Cell) num.Cell { return num.Binary(op, m.carrier(e))(a, b) }
	zero := num.FromFloat(0)
	switch p.IntN(3) {
	case 0:
		return node{text: "relu(" + x.text + ")", prec: precPostfix, elem: e, typed: true, exact: x.exact,
			at: func(m *machine) num.Cell { return bin(m, "max", x.at(m), zero) }}
	case 1:
		slope := p.literalNode(e)
		return node{text: "leaky_relu(" + x.text + ", " + slope.text + ")", prec: precPostfix, elem: e, typed: true, at: func(m *machine) num.Cell {
			v := x.at(m)
			if num.Float(v) >= 0 {
				return v
			}
			return bin(m, "mul", slope.at(m), v)
		}}
	}
	return node{text: "silu(" + x.text + ")", prec: precPostfix, elem: e, typed: true, at: func(m *machine) num.Cell {
		v := x.at(m)
		return bin(m, "mul", v, num.Unary("sigmoid", m.carrier(e))(v))
	}}
}

// index is an expression over indices and dims, a number of the type index.
type index struct {
	text   string
	prec   int
	lo, hi int64 // at the sizes designed for
	at     func(m *machine) int64
}

func (p *place) indexOperand(x index, min int) string {
	if x.prec < min || p.chance(14) {
		return "(" + x.text + ")"
	}
	return x.text
}

// index draws an index expression.
func (p *place) index() index {
	x := p.indexAtom()
	for p.chance(2) {
		x = p.indexStep(x)
	}
	return x
}

func (p *place) indexAtom() index {
	if len(p.axes) > 0 && !p.chance(4) {
		return pick(p.gen, p.axes).value()
	}
	if names := p.fn.info.dims; len(names) > 0 && p.chance(2) {
		d := pick(p.gen, names)
		n := p.fn.sizes[d]
		return index{d, precPostfix, n, n, func(m *machine) int64 { return m.idx[d] }}
	}
	return constIndex(p.Int64N(5))
}

func constIndex(c int64) index {
	return index{fmt.Sprint(c), precPostfix, c, c, func(*machine) int64 { return c }}
}

// indexStep applies an operation to x.
func (p *place) indexStep(x index) index {
	c := 1 + p.Int64N(4)
	apply := func(text string, prec int, f func(v int64) int64) index {
		lo, hi := f(x.lo), f(x.hi)
		return index{text, prec, min(lo, hi), max(lo, hi), func(m *machine) int64 { return f(x.at(m)) }}
	}
	switch p.IntN(8) {
	case 0:
		y := p.indexAtom()
		return index{p.indexOperand(x, precSum) + " + " + p.indexOperand(y, precProduct), precSum, x.lo + y.lo, x.hi + y.hi,
			func(m *machine) int64 { return x.at(m) + y.at(m) }}
	case 1:
		return apply(p.indexOperand(x, precSum)+fmt.Sprintf(" + %d", c), precSum, func(v int64) int64 { return v + c })
	case 2:
		return apply(p.indexOperand(x, precSum)+fmt.Sprintf(" - %d", c), precSum, func(v int64) int64 { return v - c })
	case 3:
		return apply(fmt.Sprintf("%d * ", c)+p.indexOperand(x, precUnary), precProduct, func(v int64) int64 { return v * c })
	case 4:
		return apply(p.indexOperand(x, precProduct)+fmt.Sprintf(" / %d", c), precProduct, func(v int64) int64 { return v / c })
	case 5:
		return apply(fmt.Sprintf("floordiv(%s, %d)", x.text, c), precPostfix, func(v int64) int64 { return floor(v, c) })
	case 6:
		y := apply(fmt.Sprintf("mod(%s, %d)", x.text, c), precPostfix, func(v int64) int64 { return v - c*floor(v, c) })
		y.lo, y.hi = 0, c-1
		return y
	}
	f := pick(p.gen, []string{"min", "max"})
	return apply(fmt.Sprintf("%s(%s, %d)", f, x.text, c), precPostfix, func(v int64) int64 {
		if f == "min" {
			return min(v, c)
		}
		return max(v, c)
	})
}

// dimIndex is a dim as an index expression.
func dimIndex(e sym.Expr, sizes map[string]int64) index {
	n := extentOf(e, sizes)
	prec := precSum
	if _, ok := e.IsName(); ok {
		prec = precPostfix
	}
	return index{srcExpr(e), prec, n, n, func(m *machine) int64 { return m.dim(e) }}
}
