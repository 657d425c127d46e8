package vec

import (
	"errors"
	"fmt"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/access"
)

// lanewise is a row that does the scalar op of the same name in each lane.
type lanewise struct {
	name  string
	arity int
	doc   string
}

var lanewiseOps = []lanewise{
	{"add", 2, "the sum"}, {"sub", 2, "the difference"}, {"mul", 2, "the product"}, {"div", 2, "the quotient of floats"},
	{"max", 2, "the greater one; NaN if either is"}, {"min", 2, "the lesser one; NaN if either is"},
	{"fma", 3, "a*b + c, rounded once"},
	{"neg", 1, "the negation"}, {"abs", 1, "the absolute value"}, {"sqrt", 1, "the square root"},
	{"rsqrt", 1, "the reciprocal square root"}, {"floor", 1, "rounded down"}, {"ceil", 1, "rounded up"},
	{"trunc", 1, "rounded towards 0"}, {"round", 1, "rounded to even"},
	{"and", 2, "bits or lanes of both"}, {"or", 2, "bits or lanes of either"}, {"xor", 2, "bits or lanes of one"},
	{"not", 1, "the complement"}, {"shl", 2, "shifted left"}, {"shr", 2, "shifted right, with the sign"},
	{"eq", 2, "equal"}, {"ne", 2, "not equal"}, {"lt", 2, "less"}, {"le", 2, "less or equal"},
	{"gt", 2, "greater"}, {"ge", 2, "greater or equal"},
	{"sign", 1, "-1, 0 or 1; zeros and NaN stay"}, {"isnan", 1, "is a NaN"}, {"isinf", 1, "is infinite"},
	{"tdiv", 2, "the quotient of integers towards 0"}, {"trem", 2, "its remainder"},
	{"floordiv", 2, "the quotient of integers rounded down"}, {"mod", 2, "its remainder"},
}

// commutes and compares are the traits that rows of the table have.
var (
	commutes = map[string]bool{"add": true, "mul": true, "max": true, "min": true, "and": true, "or": true, "xor": true, "eq": true, "ne": true}
	compares = map[string]bool{"eq": true, "ne": true, "lt": true, "le": true, "gt": true, "ge": true, "isnan": true, "isinf": true}
	operands = [...]string{1: "%a", 2: "%a, %b", 3: "%a, %b, %c"}
)

// Lanewise lists the rows that work lane by lane.
var Lanewise = registerLanewise()

func registerLanewise() []*ir.OpDef {
	var rows []*ir.OpDef
	for _, r := range lanewiseOps {
		traits := ir.Pure
		if commutes[r.name] {
			traits |= ir.Commutative
		}
		if compares[r.name] {
			traits |= ir.Comparison
		}
		rows = append(rows, ir.Register(&ir.OpDef{
			Name:          "vec." + r.name,
			Doc:           fmt.Sprintf("Gives in each lane: %s.\n%%r = vec.%s(%s)", r.doc, r.name, operands[r.arity]),
			Clauses:       []ir.ClauseSpec{operandsClause},
			Traits:        traits,
			TypesInferred: true,
			Infer:         func(op *ir.Op, _ []ir.Type) ([]ir.Type, error) { return one(lanewiseType(r, op)) },
			Eval:          func(m ir.Machine, op *ir.Op) ir.Step { return evalLanewise(m, op, r.name) },
		}))
	}
	return rows
}

// lanesOf is the number of lanes and their type, of a vector or a mask.
func lanesOf(t ir.Type) (int, num.Elem, error) {
	switch t := t.(type) {
	case ir.Vec:
		return t.Lanes, t.Elem, nil
	case ir.Mask:
		return t.Lanes, num.Bool, nil
	}
	return 0, num.Invalid, fmt.Errorf("a %s is neither a vector nor a mask", t)
}

func lanewiseType(r lanewise, op *ir.Op) (ir.Type, error) {
	args := op.Args("")
	if len(args) != r.arity {
		return nil, fmt.Errorf("%d operands given, want %d", len(args), r.arity)
	}
	for _, a := range args {
		if a.Value == nil || a.View != nil {
			return nil, errors.New("operands must be vectors or masks; spread a scalar by vec.splat")
		}
		if !ir.SameType(a.Value.Type, args[0].Value.Type) {
			return nil, fmt.Errorf("operands have different types, %s and %s", args[0].Value.Type, a.Value.Type)
		}
	}
	n, e, err := lanesOf(args[0].Value.Type)
	switch {
	case err != nil:
		return nil, err
	case !access.HasOp(r.name, r.arity, e):
		return nil, fmt.Errorf("lanes of %s have no %s", e, r.name)
	case compares[r.name]:
		return ir.Mask{Lanes: n}, nil
	}
	return args[0].Value.Type, nil
}

func evalLanewise(m ir.Machine, op *ir.Op, name string) ir.Step {
	var slots []int
	for _, v := range op.OperandValues("") {
		slots = append(slots, m.Object(v))
	}
	n, e, _ := lanesOf(op.Operand(0).Type)
	dst, do := m.Object(op.Results[0]), access.Op(name, len(slots), e)
	return func(f *ir.Frame) {
		r := fresh(f, n)
		var in [3]*ir.Lanes
		for k, s := range slots {
			in[k] = lanes(f, s)
		}
		var c [3]cell
		var s [3]shadow
		for i := 0; i < n; i++ {
			for k := range slots {
				c[k], s[k] = get(in[k], i)
			}
			x, xs := do(f, &c, &s)
			set(r, i, x, xs)
		}
		f.O[dst] = r
	}
}
