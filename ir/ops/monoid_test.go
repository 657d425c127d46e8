package ops_test

import (
	"math"
	"math/rand"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
)

// run evaluates a region of scalar ops.
func run(t *testing.T, r *ir.Region, params []*ir.Value, args []num.Cell) []num.Cell {
	t.Helper()
	env := map[*ir.Value]num.Cell{}
	for i, p := range params {
		env[p] = args[i]
	}
	var out []num.Cell
	for _, op := range r.Ops {
		var xs []num.Cell
		var e num.Elem
		if op.Def.Name != "const" {
			for _, v := range op.OperandValues("") {
				x, ok := env[v]
				if !ok {
					t.Fatalf("%s uses a value from elsewhere", op.Def.Name)
				}
				xs = append(xs, x)
				e = ir.ElemOf(v.Type)
			}
		}
		switch op.Def.Name {
		case "yield":
			out = xs
		case "const":
			env[op.Results[0]] = ir.GetClause[*ir.Literal](op, "").Cell
		case "select":
			env[op.Results[0]] = num.Select(xs[0], xs[1], xs[2])
		default:
			env[op.Results[0]] = arith(op.Def.Name, e, xs)
		}
	}
	return out
}

func arith(name string, e num.Elem, xs []num.Cell) num.Cell {
	if len(xs) == 1 {
		return num.Unary(name, e)(xs[0])
	}
	return num.Binary(name, e)(xs[0], xs[1])
}

// fold runs m over tuples from the left.
func fold(t *testing.T, m *ir.Monoid, tuples [][]num.Cell) []num.Cell {
	identity, params, combine := m.Derived()
	acc := run(t, identity, nil, nil)
	for _, x := range tuples {
		acc = run(t, combine, params, append(append([]num.Cell(nil), acc...), x...))
	}
	return acc
}

func builtin(t *testing.T, name string, elems ...num.Elem) *ir.Monoid {
	t.Helper()
	m, err := ir.BuiltinMonoid(name, elems...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The built-in monoids against plain loops, on every type they fold.
func TestBuiltinMonoids(t *testing.T) {
	i32 := func(v int64) num.Cell { return num.FromInt(v) }
	ints := [][]num.Cell{{i32(3)}, {i32(-7)}, {i32(5)}}
	for name, want := range map[string]int64{"sum": 1, "prod": -105, "max": 5, "min": -7} {
		if got := fold(t, builtin(t, name, num.I32), ints)[0]; got != i32(want) {
			t.Errorf("%s gives %d, want %d", name, num.Int(got), want)
		}
	}
	empty := map[string]num.Cell{
		"sum": num.FromFloat(0), "prod": num.FromFloat(1), "max": num.FromFloat(math.Inf(-1)), "min": num.FromFloat(math.Inf(1))}
	for name, want := range empty {
		if got := fold(t, builtin(t, name, num.F16), nil)[0]; got != want {
			t.Errorf("identity of %s is %v", name, num.Float(got))
		}
	}
	for name, want := range map[string]int64{"max": 0, "min": 255, "sum": 0, "prod": 1} {
		if got := fold(t, builtin(t, name, num.U8), nil)[0]; num.Int(got) != want {
			t.Errorf("identity of %s on u8 is %d", name, num.Int(got))
		}
	}
	yes, no := num.FromBool(true), num.FromBool(false)
	for _, c := range []struct {
		xs       []num.Cell
		any, all num.Cell
	}{{nil, no, yes}, {[]num.Cell{no, yes}, yes, no}, {[]num.Cell{yes, yes}, yes, yes}, {[]num.Cell{no}, no, no}} {
		var tuples [][]num.Cell
		for _, x := range c.xs {
			tuples = append(tuples, []num.Cell{x})
		}
		if fold(t, builtin(t, "any", num.Bool), tuples)[0] != c.any || fold(t, builtin(t, "all", num.Bool), tuples)[0] != c.all {
			t.Errorf("any or all of %v is wrong", c.xs)
		}
	}
}

// better is the rule of argmax (sign 1) and argmin (-1): a NaN beats numbers.
func bestIndex(xs []float64, sign float64) (best float64, index int64) {
	best, index = math.Inf(-1)*sign, math.MaxInt64
	for i, x := range xs {
		switch {
		case best != best:
		case x != x, x*sign > best*sign, x == best && int64(i) < index:
			best, index = x, int64(i)
		}
	}
	return best, index
}

// argmax and argmin on random rows with ties, infinities and NaNs, folded from
// the left, from the right and in a random order: the same every time.
func TestArgMonoids(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	pool := []float64{0, math.Copysign(0, -1), 1, 1, -2, 2, math.Inf(1), math.Inf(-1), math.NaN()}
	for range 400 {
		xs := make([]float64, r.Intn(6))
		var tuples [][]num.Cell
		for i := range xs {
			xs[i] = pool[r.Intn(len(pool))]
			tuples = append(tuples, []num.Cell{num.FromFloat(xs[i]), num.FromInt(int64(i))})
		}
		for name, sign := range map[string]float64{"argmax": 1, "argmin": -1} {
			m := builtin(t, name, num.F32, num.I64)
			_, index := bestIndex(xs, sign)
			for range 3 {
				if got := fold(t, m, tuples); num.Int(got[1]) != index {
					t.Fatalf("%s of %v is %d, want %d", name, xs, num.Int(got[1]), index)
				}
				r.Shuffle(len(tuples), func(i, j int) { tuples[i], tuples[j] = tuples[j], tuples[i] })
			}
		}
	}
}

func TestBuiltinMonoidErrors(t *testing.T) {
	for _, c := range []struct {
		name  string
		elems []num.Elem
	}{{"mean", []num.Elem{num.F32}}, {"sum", nil}, {"sum", []num.Elem{num.Bool}}, {"any", []num.Elem{num.F32}},
		{"argmax", []num.Elem{num.F32}}, {"argmax", []num.Elem{num.F32, num.I32}}, {"max", []num.Elem{num.F32, num.F32}}} {
		if _, err := ir.BuiltinMonoid(c.name, c.elems...); err == nil {
			t.Errorf("%s%v was accepted", c.name, c.elems)
		}
	}
	if builtin(t, "sum", num.F32) != builtin(t, "sum", num.F32) {
		t.Error("a built-in monoid has two pointers")
	}
}

// The derived combination of the rescaled monoids of the examples: merging
// parts gives what one pass over all of them gives.
func TestDerived(t *testing.T) {
	m, _ := parseFile(t, "testdata/dense.tnir")
	r := rand.New(rand.NewSource(5))
	online, moments := ir.Lookup[*ir.Monoid](m, "online"), ir.Lookup[*ir.Monoid](m, "moments")
	for range 200 {
		xs := make([]float64, 1+r.Intn(7))
		for i := range xs {
			xs[i] = float64(float32(r.NormFloat64() * 3))
		}
		top, sum := math.Inf(-1), 0.0
		mean, dev := 0.0, 0.0
		for _, x := range xs {
			top = max(top, x)
			mean += x / float64(len(xs))
		}
		for _, x := range xs {
			sum += math.Exp(x - top)
			dev += (x - mean) * (x - mean)
		}
		near(t, "online", tree(t, r, online, xs, func(x float64) []float64 { return []float64{x, 1} }), []float64{top, sum})
		near(t, "moments", tree(t, r, moments, xs, func(x float64) []float64 { return []float64{1, x, 0} }),
			[]float64{float64(len(xs)), mean, dev})
	}
}

// tree folds the tuples of xs in a random bracketing.
func tree(t *testing.T, r *rand.Rand, m *ir.Monoid, xs []float64, tuple func(float64) []float64) []num.Cell {
	if len(xs) == 1 {
		var cells []num.Cell
		for _, v := range tuple(xs[0]) {
			cells = append(cells, num.FromFloat(v))
		}
		return cells
	}
	cut := 1 + r.Intn(len(xs)-1)
	_, params, combine := m.Derived()
	return run(t, combine, params, append(tree(t, r, m, xs[:cut], tuple), tree(t, r, m, xs[cut:], tuple)...))
}

// near allows the f32 rounding of a dozen operations.
func near(t *testing.T, what string, got []num.Cell, want []float64) {
	t.Helper()
	for i, w := range want {
		if g := num.Float(got[i]); math.Abs(g-w) > 1e-5*(1+math.Abs(w)) {
			t.Fatalf("%s: component %d is %v, want %v", what, i, g, w)
		}
	}
}

// The identity of a rescaled monoid is one, and derived regions are plain IR.
func TestDerivedIdentity(t *testing.T) {
	for _, file := range []string{"testdata/dense.tnir", "testdata/sparse.tnir"} {
		m, _ := parseFile(t, file)
		for _, it := range m.Items {
			mon, ok := it.(*ir.Monoid)
			if !ok {
				continue
			}
			identity, params, combine := mon.Derived()
			plain := &ir.Monoid{Name: mon.Name, Params: mon.Params, Identity: identity, CombineParams: params, Combine: combine}
			if err := ir.Verify(&ir.Module{Items: []ir.Item{plain}}); err != nil {
				t.Errorf("@%s, derived, does not verify: %v", mon.Name, err)
			}
			x := make([]num.Cell, len(mon.Params))
			for i := range x {
				x[i] = num.FromFloat(1.5 + float64(i))
			}
			if got := fold(t, mon, [][]num.Cell{x}); !sameCells(got, x) {
				t.Errorf("@%s: identity and %v give %v", mon.Name, x, got)
			}
		}
	}
}

func sameCells(a, b []num.Cell) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}
