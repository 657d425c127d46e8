package rewrite

import (
	"math"
	"math/rand/v2"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	_ "tenon/ir/ops"
)

// every value of the small types, and what is special of the others with a
// random choice of the rest.
func values(e num.Elem, rng *rand.Rand) []num.Cell {
	var vs []num.Cell
	switch {
	case e == num.Bool:
		return []num.Cell{num.FromBool(false), num.FromBool(true)}
	case e.Bytes() == 1:
		lo, hi := num.IntRange(e)
		for v := lo; v <= hi; v++ {
			vs = append(vs, num.FromInt(v))
		}
		return vs
	case e.IsInt():
		lo, hi := num.IntRange(e)
		for _, v := range []int64{lo, lo + 1, -1, 0, 1, 2, hi - 1, hi} {
			vs = append(vs, num.FromInt(num.Wrap(e, v)))
		}
		for range 40 {
			vs = append(vs, num.FromInt(num.Wrap(e, int64(rng.Uint64()))))
		}
		return vs
	}
	for _, v := range []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -2.5, 3, math.Inf(1), math.Inf(-1), math.NaN(), 1e-7, 65504} {
		vs = append(vs, num.FromFloat(num.Round(e, v)))
	}
	for range 40 {
		vs = append(vs, num.FromBits(e, rng.Uint64()>>(64-8*uint(e.Bytes()))))
	}
	return vs
}

// kinds gives the type of each variable of t, and t's own, where the root's
// operands have type e. Only select and the comparisons mix types.
func kinds(t *Term, want, e num.Elem, of map[string]num.Elem) {
	switch {
	case t.Var != "":
		of[t.Var] = want
	case t.Op == "select":
		kinds(t.Args[0], num.Bool, e, of)
		kinds(t.Args[1], want, e, of)
		kinds(t.Args[2], want, e, of)
	case t.Op != "":
		operand := want
		if isComparison(t.Op) {
			operand = e
		}
		for _, a := range t.Args {
			kinds(a, operand, e, of)
		}
	}
}

func isComparison(op string) bool { return ir.MustOp(op).Traits.Has(ir.Comparison) }

// eval computes t, whose value has type want.
func eval(t *Term, want, e num.Elem, env map[string]num.Cell) num.Cell {
	switch {
	case t.Var != "":
		return env[t.Var]
	case t.Lit != "":
		c, _ := literal(want, t.Lit)
		return c
	}
	operand, cells := want, []num.Cell{}
	if isComparison(t.Op) {
		operand = e
	}
	for i, a := range t.Args {
		w := operand
		if t.Op == "select" && i == 0 {
			w = num.Bool
		}
		cells = append(cells, eval(a, w, e, env))
	}
	c, ok := Eval(t.Op, operand, want, cells)
	if !ok {
		panic("no op " + t.Op + " on " + operand.String())
	}
	return c
}

// defined reports that type e has every op of t.
func defined(t *Term, want, e num.Elem) bool {
	if t.Op == "" {
		if t.Lit == "" {
			return true
		}
		_, err := literal(want, t.Lit)
		return err == nil
	}
	operand := want
	if isComparison(t.Op) {
		operand = e
	}
	if t.Op != "select" {
		switch len(t.Args) {
		case 1:
			if num.Unary(t.Op, operand) == nil {
				return false
			}
		case 2:
			if num.Binary(t.Op, operand) == nil {
				return false
			}
		}
	}
	for i, a := range t.Args {
		w := operand
		if t.Op == "select" && i == 0 {
			w = num.Bool
		}
		if !defined(a, w, e) {
			return false
		}
	}
	return true
}

// roots are the (result, operand) types that a row is used with: select's arms
// and the operands of a comparison have types of their own.
func roots(r *Row) (pairs [][2]num.Elem) {
	for _, e := range num.Elems {
		switch inner := hasComparison(r.From); {
		case r.From.Op == "select":
			pairs = append(pairs, [2]num.Elem{e, num.Bool})
		case isComparison(r.From.Op):
			if r.When.Has(e) {
				pairs = append(pairs, [2]num.Elem{num.Bool, e})
			}
		case inner: // not(eq(x, y))
			pairs = append(pairs, [2]num.Elem{num.Bool, e})
		case r.When.Has(e):
			pairs = append(pairs, [2]num.Elem{e, e})
		}
	}
	return pairs
}

func hasComparison(t *Term) bool {
	if t.Op == "" {
		return false
	}
	found := isComparison(t.Op)
	for _, a := range t.Args {
		found = found || hasComparison(a)
	}
	return found
}

// Both sides of every row have the same value: for all values of the 8-bit
// types and bool, and for special and random ones of the others.
func TestRowsAreIdentities(t *testing.T) {
	for i := range Rows {
		r := &Rows[i]
		t.Run(r.Name, func(t *testing.T) {
			tried := 0
			for _, p := range roots(r) {
				if !defined(r.From, p[0], p[1]) || !defined(r.To, p[0], p[1]) {
					continue
				}
				tried++
				rng := rand.New(rand.NewPCG(7, uint64(i)))
				of := map[string]num.Elem{}
				kinds(r.From, p[0], p[1], of)
				check(t, r, p[0], p[1], of, rng)
			}
			if tried == 0 {
				t.Fatalf("%s is for no type", r.From)
			}
		})
	}
}

// check runs over all combinations of values of the variables.
func check(t *testing.T, r *Row, want, e num.Elem, of map[string]num.Elem, rng *rand.Rand) {
	var names []string
	var pools [][]num.Cell
	for _, n := range []string{"c", "x", "y"} {
		if k, ok := of[n]; ok {
			names, pools = append(names, n), append(pools, values(k, rng))
		}
	}
	env := map[string]num.Cell{}
	var each func(d int)
	each = func(d int) {
		if d < len(names) {
			for _, v := range pools[d] {
				env[names[d]] = v
				each(d + 1)
			}
			return
		}
		if a, b := eval(r.From, want, e, env), eval(r.To, want, e, env); !num.Same(want, a, b) && !t.Failed() {
			t.Errorf("%s on %s: %s is %s, %s is %s at %v", r.Name, e, r.From, ir.FormatLiteral(want, a), r.To, ir.FormatLiteral(want, b), env)
		}
	}
	each(0)
}

// The result of a row is never worse than what it matches.
func TestRowsDoNotGrow(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rows {
		if seen[r.Name] {
			t.Errorf("two rows are called %s", r.Name)
		}
		seen[r.Name] = true
		if r.To.Size() > r.From.Size() {
			t.Errorf("%s: %s has %d ops, %s %d", r.Name, r.From, r.From.Size(), r.To, r.To.Size())
		}
	}
}

// Exact casts come back, and casting on from them is casting directly.
func TestExactCasts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	exact := 0
	for _, a := range num.Elems {
		for _, b := range num.Elems {
			if !Exact(a, b) {
				continue
			}
			exact++
			for _, v := range values(a, rng) {
				m := num.Cast(a, b, v)
				if back := num.Cast(b, a, m); !num.Same(a, v, back) {
					t.Errorf("%s to %s and back: %s became %s", a, b, ir.FormatLiteral(a, v), ir.FormatLiteral(a, back))
				}
				for _, c := range num.Elems {
					if !Through(a, b, c) {
						continue
					}
					if x, y := num.Cast(b, c, m), num.Cast(a, c, v); !num.Same(c, x, y) {
						t.Fatalf("%s to %s to %s: %s gives %s, directly %s", a, b, c,
							ir.FormatLiteral(a, v), ir.FormatLiteral(c, x), ir.FormatLiteral(c, y))
					}
				}
			}
		}
	}
	if exact < 20 {
		t.Errorf("only %d exact casts", exact)
	}
}
