package llvm

import (
	"slices"

	"github.com/llir/llvm/ir/value"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// emit appends the instructions of one operator to the current block. It gets
// operands of element type e in registers.
type emit func(f *Func, e num.Elem, a []value.Value) value.Value

// row is one scalar operator: what it is on floats, integers and bools. A nil
// cell is a combination that the IR does not have. Compares yield bool, all
// else the type of the operands.
type row struct {
	args    int
	flt     emit
	integer emit
	boolean emit
	compare bool
}

// rows holds every operator, under the name that it has in the IR.
var rows = map[string]row{
	"add": {2, wide(fadd), bin("add"), nil, false},
	"sub": {2, wide(fsub), bin("sub"), nil, false},
	"mul": {2, wide(fmul), bin("mul"), nil, false},
	"div": {2, wide(fdiv), nil, nil, false},
	"max": {2, floatMax, intMax, bin("or"), false},
	"min": {2, floatMin, intMin, bin("and"), false},
	"fma": {3, fma, intFMA, nil, false},
	"neg": {1, floatNeg, intNeg, nil, false},
	"abs": {1, floatAbs, intAbs, nil, false},

	"sign":  {1, floatSign, intSign, nil, false},
	"isnan": {1, wide(isNaN), nil, nil, true},
	"isinf": {1, wide(isInf), nil, nil, true},

	"tdiv":     {2, nil, tdiv, nil, false},
	"trem":     {2, nil, trem, nil, false},
	"floordiv": {2, nil, floordiv, nil, false},
	"mod":      {2, nil, mod, nil, false},

	"and": {2, nil, bin("and"), bin("and"), false},
	"or":  {2, nil, bin("or"), bin("or"), false},
	"xor": {2, nil, bin("xor"), bin("xor"), false},
	"not": {1, nil, not, not, false},
	"shl": {2, nil, shl, nil, false},
	"shr": {2, nil, shr, nil, false},

	"eq": {2, wide(fcmp("oeq")), icmp("eq", "eq"), icmp("eq", "eq"), true},
	"ne": {2, wide(fcmp("une")), icmp("ne", "ne"), icmp("ne", "ne"), true},
	"lt": {2, wide(fcmp("olt")), icmp("slt", "ult"), icmp("ult", "ult"), true},
	"le": {2, wide(fcmp("ole")), icmp("sle", "ule"), icmp("ule", "ule"), true},
	"gt": {2, wide(fcmp("ogt")), icmp("sgt", "ugt"), icmp("ugt", "ugt"), true},
	"ge": {2, wide(fcmp("oge")), icmp("sge", "uge"), icmp("uge", "uge"), true},

	"sqrt":  {1, wide(intrinsic("sqrt")), nil, nil, false},
	"floor": {1, wide(intrinsic("floor")), nil, nil, false},
	"ceil":  {1, wide(intrinsic("ceil")), nil, nil, false},
	"trunc": {1, wide(intrinsic("trunc")), nil, nil, false},
	"round": {1, wide(intrinsic("roundeven")), nil, nil, false},

	"exp":     {1, wide(libm("exp")), nil, nil, false},
	"exp2":    {1, wide(libm("exp2")), nil, nil, false},
	"expm1":   {1, wide(libm("expm1")), nil, nil, false},
	"log":     {1, wide(libm("log")), nil, nil, false},
	"log2":    {1, wide(libm("log2")), nil, nil, false},
	"log1p":   {1, wide(libm("log1p")), nil, nil, false},
	"pow":     {2, wide(libm("pow")), nil, nil, false},
	"sin":     {1, wide(libm("sin")), nil, nil, false},
	"cos":     {1, wide(libm("cos")), nil, nil, false},
	"tanh":    {1, wide(inDouble(tanh)), nil, nil, false},
	"erf":     {1, wide(inDouble(libm("erf"))), nil, nil, false},
	"cbrt":    {1, wide(inDouble(cbrt)), nil, nil, false},
	"sigmoid": {1, wide(inDouble(sigmoid)), nil, nil, false},
	"rsqrt":   {1, wide(inDouble(rsqrt)), nil, nil, false},
}

func (r row) emitter(e num.Elem) emit {
	switch {
	case e.IsFloat():
		return r.flt
	case e.IsInt():
		return r.integer
	}
	return r.boolean
}

// HasOp reports whether the operator exists on operands of type e.
func HasOp(name string, e num.Elem) bool { return rows[name].emitter(e) != nil }

// OpArgs is the number of operands of an operator, 0 if there is none.
func OpArgs(name string) int { return rows[name].args }

// OpNames lists the operators in order.
func OpNames() []string {
	var names []string
	for name := range rows {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Op emits an operator of the IR on operands of one type, scalars or vectors.
func (f *Func) Op(name string, args ...Value) Value {
	r := rows[name]
	if r.args == 0 || len(args) != r.args {
		diag.Bugf("%s: no operator %s of %d operands", f.Name(), name, len(args))
	}
	e := args[0].Elem()
	for _, a := range args {
		if a.t != args[0].t {
			diag.Bugf("%s: operands of %s are %v and %v", f.Name(), name, args[0].t, a.t)
		}
	}
	emitter := r.emitter(e)
	if emitter == nil {
		diag.Bugf("%s: no operator %s on %v", f.Name(), name, args[0].t)
	}
	result := args[0].t
	if r.compare {
		result = result.of(num.Bool)
	}
	var out Value
	f.lanewise(result.lanes, func() { out = Value{emitter(f, e, raw(args)), result} })
	return out
}

// Select is a if cond, else b, lane by lane if cond is a vector of bools; both
// are evaluated.
func (f *Func) Select(cond, a, b Value) Value {
	if cond.Elem() != num.Bool || cond.t.lanes != 0 && cond.t.lanes != a.t.lanes {
		diag.Bugf("%s: select of %v by %v", f.Name(), a.t, cond.t)
	}
	if a.t != b.t {
		diag.Bugf("%s: select between %v and %v", f.Name(), a.t, b.t)
	}
	return Value{f.cur.NewSelect(cond.v, a.v, b.v), a.t}
}

// pick is Select on raw values.
func (f *Func) pick(cond, a, b value.Value) value.Value { return f.cur.NewSelect(cond, a, b) }

// wide lets an emitter for f32 and f64 serve f16 and bf16: operands widen to
// f32, the result rounds back once. A compare's result stays as it is.
func wide(inner emit) emit {
	return func(f *Func, e num.Elem, a []value.Value) value.Value {
		if e.Bytes() > 2 {
			return inner(f, e, a)
		}
		w := make([]value.Value, len(a))
		for i, x := range a {
			w[i] = f.widen(e, x)
		}
		r := inner(f, num.F32, w)
		if isBool(r.Type()) {
			return r
		}
		return f.narrow(e, r)
	}
}
