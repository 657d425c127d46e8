package interp_test

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
)

const shadowText = `tenon ir 1
func tensor @dot<N>(%x: T[N], %y: T[N]) -> (T[], T[]) {
  %s = tensor.comp red(i < N) in(%a = %x[i], %b = %y[i]) { yield(mul(%a, %b)) } by sum(T) : T[]
  %p = tensor.comp red(i < N) in(%a = %x[i], %b = %y[i]) { yield(sub(add(%a, 3.0: T), mul(0.25: T, %b))) } by prod(T) : T[]
  return(%s, %p) }
`

// exactDot is what @dot means, in 300 bits.
func exactDot(x, y *ir.Array) (sum, prod *big.Float) {
	num300 := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	sum, prod = num300(0), num300(1)
	for i := int64(0); i < x.Shape[0]; i++ {
		a, b := num300(elem(x, i)), num300(elem(y, i))
		sum.Add(sum, new(big.Float).Mul(a, b))
		f := new(big.Float).Add(a, num300(3))
		prod.Mul(prod, f.Sub(f, new(big.Float).Mul(b, num300(0.25))))
	}
	return sum, prod
}

// The exact value lies within the bound of its shadow, what the interpreter
// computes in the program's type within four, and a result that is off by more
// is refused.
func TestShadowsBoundTheTruth(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, e := range []num.Elem{num.F64, num.F32, num.F16, num.BF16} {
		m := parse(t, "shadow.tnir", replace(shadowText, "T", e.String()))
		for _, n := range []int64{1, 2, 7, 40} {
			x, y := random(r, e, n), random(r, e, n)
			got := run(t, m, "dot", x, y)
			sum, prod := exactDot(x, y)
			for k, want := range []*big.Float{sum, prod} {
				if e == num.F16 && k == 1 && n > 7 {
					continue // 3^40 is no f16
				}
				inBound(t, fmt.Sprint(e, n, k), got[k], want)
			}
		}
	}
}

func inBound(t *testing.T, what string, got *ir.Array, want *big.Float) {
	t.Helper()
	s := got.Mem.Shadow[0]
	v := new(big.Float).SetPrec(300).SetFloat64(s.Hi)
	v.Add(v, new(big.Float).SetFloat64(s.Lo))
	diff, _ := v.Sub(v, want).Float64()
	if math.Abs(diff) > s.Err {
		t.Errorf("%s: the shadow is off by %g, its bound is %g", what, diff, s.Err)
	}
	w, _ := want.Float64()
	if s.Err > 1e-2*math.Abs(w)*math.Max(1, float64(got.Elem.Bytes()-2)) && got.Elem != num.BF16 && got.Elem != num.F16 {
		t.Errorf("%s: the bound %g of %g would accept anything", what, s.Err, w)
	}
	if _, err := interp.Compare(got, got); err != nil {
		t.Errorf("%s: the interpreter's own result: %v", what, err)
	}
	wrong, off := cloneArray(got), num.Round(got.Elem, s.Hi+math.Max(6*s.Err, 1e-2*math.Abs(s.Hi)))
	wrong.Mem.Cells[0] = num.FromFloat(off)
	if _, err := interp.Compare(wrong, got); err == nil && off-s.Hi > 4*s.Err {
		t.Errorf("%s: a result that is off by more than four bounds agrees", what)
	}
}

func TestCompare(t *testing.T) {
	ints := intsOf(num.I32, []int64{2}, 1, 2)
	if r, err := interp.Compare(ints, ints); err != nil || r.Elements != 2 || r.Undecided != 0 {
		t.Errorf("%v, %v", r, err)
	}
	for _, bad := range []any{intsOf(num.I32, []int64{2}, 1, 3), intsOf(num.I64, []int64{2}, 1, 2), intsOf(num.I32, []int64{1, 2}, 1, 2),
		interp.Scalar{Elem: num.I32}, nil} {
		if _, err := interp.Compare(bad, ints); err == nil {
			t.Errorf("%v agrees with [1 2]", bad)
		}
	}
	p := func(col int64) *ir.PatternValue {
		return &ir.PatternValue{Rows: 1, Cols: 2, Ptr: []int64{0, 1}, Col: []int64{col}}
	}
	if _, err := interp.Compare(p(1), p(1)); err != nil {
		t.Error(err)
	}
	if _, err := interp.Compare(p(0), p(1)); err == nil {
		t.Error("different patterns agree")
	}
	if _, err := interp.Compare(&ir.Encoded{Parts: []*ir.Array{ints}}, &ir.Encoded{Parts: []*ir.Array{intsOf(num.I32, []int64{2}, 1, 3)}}); err == nil {
		t.Error("different parts agree")
	}
	// An argmax of two values nearer than their bounds is undecided, and counted.
	m := parse(t, "near.tnir", `tenon ir 1
func tensor @f<N>(%x: f32[N]) -> (i64[]) {
  %y, %i = tensor.comp red(i < N) in(%v = %x[i]) { yield(exp(%v), idx(i): i64) } by argmax(f32, i64) : f32[], i64[]
  return(%i) }`)
	got := run(t, m, "f", floats(num.F32, []int64{3}, 0, 1, 1.0000001))
	r, err := interp.Compare(intsOf(num.I64, nil, 1), got[0])
	if err != nil || r.Undecided != 1 || !r.TooManyUndecided() {
		t.Errorf("a near tie: %+v, %v", r, err)
	}
	got = run(t, m, "f", floats(num.F32, []int64{3}, 0, 1, 2))
	if r, err := interp.Compare(intsOf(num.I64, nil, 1), got[0]); err == nil {
		t.Errorf("a wrong argmax agrees: %+v", r)
	}
}

// Where neighbours in an order lie within their bounds, another order of them is
// as right; elsewhere it is not.
func TestSortOfNearTies(t *testing.T) {
	m := parse(t, "sort.tnir", `tenon ir 1
func tensor @f<N>(%x: f32[N]) -> (f32[N], i64[N]) {
  %y = tensor.comp par(i < N) in(%v = %x[i]) { yield(exp(%v)) } : f32[N]
  %s, %i = tensor.sort(%y) axis=0 : f32[N], i64[N]
  return(%s, %i) }`)
	for x, undecided := range map[float64]int64{1.0000001: 3, 1.5: 0} {
		got := run(t, m, "f", floats(num.F32, []int64{3}, 1, x, -4))
		swapped := cloneArray(got[0])
		c := swapped.Mem.Cells
		c[1], c[2] = c[2], c[1]
		r, err := interp.Compare(cloneArray(got[1]), got[1])
		if _, fault := interp.Compare(swapped, got[0]); err != nil || (fault == nil) != (undecided > 0) || r.Undecided != undecided {
			t.Errorf("of 1 and %v: %d undecided, %v; exchanged: %v", x, r.Undecided, err, fault)
		}
	}
}

// Without shadows the results are the same, bit for bit.
func TestShadowsChangeNoResult(t *testing.T) {
	m := example(t, "sparse.tnir")
	r := rand.New(rand.NewPCG(23, 24))
	p := graph(r, 9, 9)
	args := []any{p, random(r, num.F32, 9, 4), random(r, num.F32, 9, 4), random(r, num.F32, 9, 3)}
	plain, err := interp.New(m, interp.Options{}).Run("graph_attention", args)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "graph attention", plain[0], run(t, m, "graph_attention", args...)[0])
}

// However the terms of a sum are taken, the result is within the bound: sorted
// rising and falling, where partial sums differ most, for a built-in sum, a sum
// in a plain monoid and one that is rescaled.
func TestSumsInAnyOrder(t *testing.T) {
	m := parse(t, "order.tnir", `tenon ir 1
monoid @count(%n: i64, %s: f32) assoc comm { identity { yield(0: i64, 0.0: f32) }
  combine(%n1, %s1, %n2, %s2) { yield(add(%n1, %n2), add(%s1, %s2)) } }
monoid @top(%m: f32, %s: f32) assoc comm { base max(%m) over sum(%s)
  act(%v, %m1, %m2) { %t = select(eq(%m1, -inf: f32), 0.0: f32, mul(%v, exp(sub(%m1, %m2))))
    yield(select(eq(%m1, %m2), %v, %t)) } }
func tensor @f<N>(%x: f32[N]) -> (f32[], f32[], f32[]) {
  %a = tensor.comp red(i < N) in(%v = %x[i]) { yield(%v) } by sum(f32) : f32[]
  %n, %b = tensor.comp red(i < N) in(%v = %x[i]) { yield(1: i64, %v) } by @count : i64[], f32[]
  %m, %c = tensor.comp red(i < N) in(%v = %x[i]) { yield(0.5: f32, %v) } by @top : f32[], f32[]
  return(%a, %b, %c) }`)
	r := rand.New(rand.NewPCG(51, 52))
	const n = 300
	x := random(r, num.F32, n)
	for i := 0; i < n; i += 2 { // neighbours that cancel: partial sums are small in this order alone
		big := 1000 + 100*num.Float(x.Mem.Cells[i])
		x.Mem.Cells[i] = num.FromFloat(num.Round(num.F32, big))
		x.Mem.Cells[i+1] = num.FromFloat(num.Round(num.F32, 0.01*num.Float(x.Mem.Cells[i+1])-big))
	}
	rising := cloneArray(x)
	slices.SortFunc(rising.Mem.Cells, func(a, b num.Cell) int { return cmp.Compare(num.Float(a), num.Float(b)) })
	falling := cloneArray(rising)
	slices.Reverse(falling.Mem.Cells)
	orders := [][]*ir.Array{run(t, m, "f", x), run(t, m, "f", rising), run(t, m, "f", falling)}
	for _, a := range orders {
		for _, b := range orders {
			for k := range a {
				if _, err := interp.Compare(a[k], b[k]); err != nil {
					t.Errorf("sum %d: %v", k, err)
				}
			}
		}
	}
	for k, s := range orders[0] {
		if e := s.Mem.Shadow[0].Err; e > 1500*n*n*0x1p-24 {
			t.Errorf("sum %d: the bound is %g", k, e)
		}
	}
}
