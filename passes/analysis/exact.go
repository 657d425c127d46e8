package analysis

import (
	"math/big"
	"math/rand/v2"

	"tenon/internal/num"
	"tenon/ir"
)

// Exact evaluates a region of scalar ops over the rationals: what the program
// would give if floats did not round. ok is false where an op has no exact value
// (an exponential, a division by 0, an infinity).
func Exact(r *ir.Region, params []*ir.Value, args []*big.Rat) (out []*big.Rat, ok bool) {
	e := exact{numbers: map[*ir.Value]*big.Rat{}, bools: map[*ir.Value]bool{}}
	for i, p := range params {
		e.numbers[p] = args[i]
	}
	for _, op := range r.Ops {
		if op.Def.Traits.Has(ir.Terminator) {
			break
		}
		if !e.op(op) {
			return nil, false
		}
	}
	for _, v := range r.Yields() {
		x := e.numbers[v]
		if x == nil {
			return nil, false
		}
		out = append(out, x)
	}
	return out, true
}

type exact struct {
	numbers map[*ir.Value]*big.Rat
	bools   map[*ir.Value]bool
}

// arithmetic, order and logic are the ops that have exact values.
var arithmetic = map[string]func(x, y *big.Rat) *big.Rat{
	"add": func(x, y *big.Rat) *big.Rat { return new(big.Rat).Add(x, y) },
	"sub": func(x, y *big.Rat) *big.Rat { return new(big.Rat).Sub(x, y) },
	"mul": func(x, y *big.Rat) *big.Rat { return new(big.Rat).Mul(x, y) },
	"div": func(x, y *big.Rat) *big.Rat {
		if y.Sign() == 0 {
			return nil
		}
		return new(big.Rat).Quo(x, y)
	},
	"max": func(x, y *big.Rat) *big.Rat {
		if x.Cmp(y) < 0 {
			return y
		}
		return x
	},
	"min": func(x, y *big.Rat) *big.Rat {
		if x.Cmp(y) > 0 {
			return y
		}
		return x
	},
}

var order = map[string]func(c int) bool{
	"eq": func(c int) bool { return c == 0 }, "ne": func(c int) bool { return c != 0 },
	"lt": func(c int) bool { return c < 0 }, "le": func(c int) bool { return c <= 0 },
	"gt": func(c int) bool { return c > 0 }, "ge": func(c int) bool { return c >= 0 },
}

var logic = map[string]func(x, y bool) bool{
	"and": func(x, y bool) bool { return x && y }, "or": func(x, y bool) bool { return x || y },
	"xor": func(x, y bool) bool { return x != y },
}

// op evaluates one op; false if it has no exact value.
func (e exact) op(op *ir.Op) bool {
	if op.Def.Name == "const" {
		return e.literal(op)
	}
	if len(op.Results) != 1 || !op.Def.Traits.Has(ir.Elementwise) {
		return false
	}
	vs, v := op.OperandValues(""), op.Results[0]
	if len(vs) != len(op.Args("")) {
		return false
	}
	switch op.Def.Name {
	case "select":
		return e.choose(v, vs)
	case "neg":
		if x := e.numbers[vs[0]]; x != nil {
			e.numbers[v] = new(big.Rat).Neg(x)
		}
		return e.numbers[v] != nil
	case "not":
		b, ok := e.bools[vs[0]]
		e.bools[v] = !b
		return ok
	}
	return len(vs) == 2 && e.binary(op.Def.Name, v, vs[0], vs[1])
}

func (e exact) literal(op *ir.Op) bool {
	v, l := op.Results[0], ir.GetClause[*ir.Literal](op, "")
	switch t := ir.ElemOf(v.Type); {
	case t == num.Bool:
		e.bools[v] = num.Int(l.Cell) != 0
	case t.IsFloat():
		e.numbers[v] = new(big.Rat).SetFloat64(num.Float(l.Cell)) // nil unless finite
		return e.numbers[v] != nil
	default:
		e.numbers[v] = new(big.Rat).SetInt64(num.Int(l.Cell))
	}
	return true
}

func (e exact) choose(v *ir.Value, vs []*ir.Value) bool {
	c, ok := e.bools[vs[0]]
	from := vs[2]
	if c {
		from = vs[1]
	}
	if b, isBool := e.bools[from]; isBool {
		e.bools[v] = b
		return ok
	}
	if x := e.numbers[from]; x != nil {
		e.numbers[v] = x
	}
	return ok && e.numbers[v] != nil
}

func (e exact) binary(name string, v, a, b *ir.Value) bool {
	x, y := e.numbers[a], e.numbers[b]
	switch {
	case arithmetic[name] != nil && x != nil && y != nil:
		if z := arithmetic[name](x, y); z != nil {
			e.numbers[v] = z
		}
		return e.numbers[v] != nil
	case order[name] != nil && x != nil && y != nil:
		e.bools[v] = order[name](x.Cmp(y))
		return true
	case logic[name] != nil:
		p, ok := e.bools[a]
		q, also := e.bools[b]
		e.bools[v] = logic[name](p, q)
		return ok && also
	}
	return false
}

// WeightedMean says which components of a monoid are a weight and the mean of
// what has been folded in, weighted.
type WeightedMean struct{ Weight, Mean int }

// samples is how many random points an identity is tested on. Two different
// quotients of polynomials of small degree agree at a random point of this size
// with a probability below 1e-3.
const samples = 8

// AsWeightedMean reports that m folds pairs of a weight n and a mean u to
// (n1 + n2, (n1 u1 + n2 u2) / (n1 + n2)), in whatever form it is written: it is
// evaluated exactly at random points, and where one weight is 0, which leaves
// the other pair alone.
func AsWeightedMean(m *ir.Monoid) (w WeightedMean, ok bool) {
	if m.Base != nil || len(m.Params) != 2 || !m.Assoc || !ir.ElemOf(m.Params[0].Type).IsFloat() ||
		!ir.SameType(m.Params[0].Type, m.Params[1].Type) {
		return w, false
	}
	for _, w := range []WeightedMean{{0, 1}, {1, 0}} {
		if zero, ok := Exact(m.Identity, nil, nil); !ok || zero[w.Weight].Sign() != 0 {
			continue
		}
		if w.holds(m) {
			return w, true
		}
	}
	return w, false
}

func (w WeightedMean) holds(m *ir.Monoid) bool {
	r := rand.New(rand.NewPCG(1, 2))
	draw := func(lo int64) *big.Rat { return big.NewRat(lo+r.Int64N(1000), 1+r.Int64N(1000)) }
	for k := range samples {
		n1, u1, n2, u2 := draw(1), draw(-500), draw(1), draw(-500)
		switch k {
		case 0:
			n1 = new(big.Rat)
		case 1:
			n2 = new(big.Rat)
		}
		args := make([]*big.Rat, 4)
		args[w.Weight], args[w.Mean], args[2+w.Weight], args[2+w.Mean] = n1, u1, n2, u2
		got, ok := Exact(m.Combine, m.CombineParams, args)
		if !ok {
			return false
		}
		n := new(big.Rat).Add(n1, n2)
		u := new(big.Rat).Add(new(big.Rat).Mul(n1, u1), new(big.Rat).Mul(n2, u2))
		if got[w.Weight].Cmp(n) != 0 || got[w.Mean].Cmp(u.Quo(u, n)) != 0 {
			return false
		}
	}
	return true
}
