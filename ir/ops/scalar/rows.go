package scalar

import (
	"tenon/internal/num"
	"tenon/ir"
)

// pure is what every scalar op but the terminators is.
const pure = ir.Pure | ir.Elementwise

// arith is the description of an arithmetic op; the row follows from it.
type arith struct {
	name   string
	arity  int
	traits ir.Traits
	doc    string
}

const (
	commAssoc = ir.Commutative | ir.Associative
	lattice   = commAssoc | ir.Idempotent
)

// ariths lists the ops whose operands have one type. Which types an op has is
// asked of package num.
var ariths = []arith{
	{"neg", 1, ir.Linear, "the operand with the sign changed"},
	{"abs", 1, 0, "the magnitude; the least integer stays"},
	{"sign", 1, 0, "-1, 0 or 1; zeros and NaN stay"},
	{"sqrt", 1, ir.Costly, "the square root, correctly rounded"},
	{"rsqrt", 1, ir.Costly, "1/sqrt(x), at most 2 ulp"},
	{"cbrt", 1, ir.Costly, "the cube root, at most 2 ulp"},
	{"exp", 1, ir.Costly, "e to the x, at most 2 ulp"},
	{"exp2", 1, ir.Costly, "2 to the x, at most 2 ulp"},
	{"expm1", 1, ir.Costly, "exp(x) - 1, at most 2 ulp"},
	{"log", 1, ir.Costly, "the natural logarithm, at most 2 ulp"},
	{"log2", 1, ir.Costly, "the logarithm to base 2, at most 2 ulp"},
	{"log1p", 1, ir.Costly, "log(1 + x), at most 2 ulp"},
	{"tanh", 1, ir.Costly, "the hyperbolic tangent, at most 2 ulp"},
	{"erf", 1, ir.Costly, "the error function, at most 2 ulp"},
	{"sigmoid", 1, ir.Costly, "1/(1 + exp(-x)), at most 2 ulp"},
	{"sin", 1, ir.Costly, "the sine of x radians, at most 2 ulp"},
	{"cos", 1, ir.Costly, "the cosine of x radians, at most 2 ulp"},
	{"floor", 1, ir.Idempotent, "rounded towards -inf to an integral value"},
	{"ceil", 1, ir.Idempotent, "rounded towards +inf to an integral value"},
	{"trunc", 1, ir.Idempotent, "rounded towards 0 to an integral value"},
	{"round", 1, ir.Idempotent, "rounded to the nearest integral value, ties to even"},
	{"not", 1, 0, "the complement: of a bool, or of all bits of an integer"},
	{"add", 2, commAssoc | ir.Linear, "the sum; integers wrap"},
	{"sub", 2, ir.Linear, "the difference; integers wrap"},
	{"mul", 2, commAssoc | ir.Linear, "the product; integers wrap"},
	{"div", 2, ir.Costly, "the quotient of floats, correctly rounded"},
	{"pow", 2, ir.Costly, "x to the y with C's special cases, at most 2 ulp"},
	{"max", 2, lattice, "the greater; NaN if either is one, -0.0 < +0.0"},
	{"min", 2, lattice, "the lesser; NaN if either is one, -0.0 < +0.0"},
	{"tdiv", 2, ir.Costly, "the quotient of integers towards 0, as in C; x/0 is 0"},
	{"trem", 2, ir.Costly, "x - tdiv(x, y)*y, with the sign of x; 0 if y is 0"},
	{"floordiv", 2, ir.Costly, "the quotient of integers towards -inf; x//0 is 0"},
	{"mod", 2, ir.Costly, "x - floordiv(x, y)*y, with the sign of y; 0 if y is 0"},
	{"and", 2, lattice, "both, bit by bit"},
	{"or", 2, lattice, "either, bit by bit"},
	{"xor", 2, commAssoc, "exactly one, bit by bit"},
	{"shl", 2, 0, "shifted left; a count outside 0..width-1 gives 0"},
	{"shr", 2, 0, "shifted right, keeping the sign; a count outside 0..width-1 gives 0 or -1"},
	{"fma", 3, 0, "a*b + c, rounded once"},
}

// compares give a bool; so do the tests of one operand.
var compares = []arith{
	{"eq", 2, ir.Commutative, "equal; never with a NaN"},
	{"ne", 2, ir.Commutative, "not equal; always with a NaN"},
	{"lt", 2, 0, "less"},
	{"le", 2, 0, "less or equal"},
	{"gt", 2, 0, "greater"},
	{"ge", 2, 0, "greater or equal"},
	{"isnan", 1, 0, "is a NaN"},
	{"isinf", 1, 0, "is inf or -inf"},
}

func init() {
	for _, a := range ariths {
		ir.Register(a.row(sameType))
	}
	for _, a := range compares {
		a.traits |= ir.Comparison
		ir.Register(a.row(boolType))
	}
}

// operands is the clause list of an op with operands only.
var operands = []ir.ClauseSpec{{Kind: ir.KindOperands}}

func (a arith) row(result func(num.Elem) ir.Type) *ir.OpDef {
	return &ir.OpDef{
		Name:          a.name,
		Doc:           a.doc + "\n" + a.name + [...]string{1: "(%x)", 2: "(%x, %y)", 3: "(%x, %y, %z)"}[a.arity],
		Clauses:       operands,
		Traits:        pure | a.traits,
		TypesInferred: true,
		Infer: func(op *ir.Op, _ []ir.Type) ([]ir.Type, error) {
			e, err := commonElem(op, a.arity)
			if err != nil {
				return nil, err
			}
			if !HasOp(a.name, a.arity, e) {
				return nil, noSuchOp(a.name, e)
			}
			return []ir.Type{result(e)}, nil
		},
		Eval: func(m ir.Machine, op *ir.Op) ir.Step { return stageArith(m, op, a.name) },
	}
}

func sameType(e num.Elem) ir.Type { return ir.Scalar{Elem: e} }
func boolType(num.Elem) ir.Type   { return ir.BoolType }

// Select, Const, Idx, Cast, Bitcast, Yield and Return are the rows that follow no table.
var (
	Select = ir.Register(&ir.OpDef{
		Name:          "select",
		Doc:           "%c ? %x : %y; both operands are evaluated\nselect(%c, %x, %y)",
		Clauses:       operands,
		Traits:        pure,
		TypesInferred: true,
		Infer:         inferSelect,
		Eval:          stageSelect,
	})
	Const = ir.Register(&ir.OpDef{
		Name:    "const",
		Doc:     "a constant\nconst 2.0: f32",
		Clauses: []ir.ClauseSpec{{Kind: ir.KindLiteral}},
		Traits:  pure,
		Infer:   inferConst,
		Eval:    stageConst,
	})
	Idx = ir.Register(&ir.OpDef{
		Name:    "idx",
		Doc:     "an index expression as a number\nidx(2*i + 1): i64",
		Clauses: []ir.ClauseSpec{{Kind: ir.KindOperands, Exprs: true}},
		Traits:  pure,
		Infer:   inferIdx,
		Eval:    stageIdx,
	})
	Cast = ir.Register(&ir.OpDef{
		Name:    "cast",
		Doc:     "conversion: floats round once, float to integer saturates (NaN gives 0), integers wrap\ncast(%x): f32",
		Clauses: operands,
		Traits:  pure,
		Infer:   inferCast,
		Eval:    stageCast,
	})
	Bitcast = ir.Register(&ir.OpDef{
		Name:    "bitcast",
		Doc:     "the bits as they are, read in another type of the same width; not bool\nbitcast(%x): i32",
		Clauses: operands,
		Traits:  pure,
		Infer:   inferBitcast,
		Eval:    stageBitcast,
	})
	Yield = ir.Register(&ir.OpDef{
		Name:    "yield",
		Doc:     "ends a region with its values; stack gives a loop.for's stacked results\nyield(%a, %b) [stack(%c)]",
		Clauses: []ir.ClauseSpec{{Kind: ir.KindOperands}, {Kind: ir.KindOperands, KW: "stack", Optional: true}},
		Traits:  ir.Terminator,
		Verify:  verifyValues,
		Eval:    nothing,
	})
	Return = ir.Register(&ir.OpDef{
		Name:    "return",
		Doc:     "ends a function with its results\nreturn(%a, %b)",
		Clauses: operands,
		Traits:  ir.Terminator,
		Verify:  verifyReturn,
		Eval:    nothing,
	})
)
