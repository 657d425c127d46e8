package num

import (
	"math"
	"testing"
)

func fl(x float64) Cell { return FromFloat(x) }

func TestAgree(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		e      Elem
		native Cell
		s      Shadow
		want   bool
	}{
		{F32, fl(1), Shadow{1, 0, 0}, true}, {F32, fl(1 + 0x1p-23), Shadow{1, 0, 0}, false},
		{F32, fl(1 + 0x1p-22), Shadow{1, 0, 0x1p-24}, true}, {F32, fl(1 + 0x1p-21), Shadow{1, 0, 0x1p-24}, false},
		{F64, fl(1), Shadow{1, 0x1p-60, 0}, false}, {F64, fl(1), Shadow{1, 0x1p-60, 0x1p-62}, true},
		{F32, fl(nan), Shadow{nan, 0, 0}, true}, {F32, fl(1), Shadow{nan, 0, 0}, false}, {F32, fl(nan), Shadow{1, 0, 1}, false},
		{F32, fl(inf), Shadow{inf, 0, 0}, true}, {F32, fl(-inf), Shadow{inf, 0, 0}, false}, {F32, fl(inf), Shadow{1, 0, 1e30}, false},
		{F32, fl(nan), Shadow{1, 0, inf}, true}, {F32, fl(3e38), Shadow{inf, 0, 0}, false},
		{I32, 5, Exact(I32, 5), true}, {I32, 6, Exact(I32, 5), false}, {I64, FromInt(-1), Exact(I64, FromInt(-1)), true},
		{I64, FromInt(-1), Exact(I64, FromInt(-2)), false}, {Bool, 1, Undecided(Bool, 0), true}, {Bool, 1, Exact(Bool, 0), false},
	} {
		if got := Agree(c.e, c.native, c.s); got != c.want {
			t.Errorf("%s %v against %v: %v", c.e, Float(c.native), c.s, got)
		}
	}
}

func TestComparisonsWithinTheirBounds(t *testing.T) {
	lt := ShadowBinary("lt", F32)
	near, far, exact := Shadow{1, 0, 1e-7}, Shadow{2, 0, 1e-7}, Shadow{1 + 2e-7, 0, 0}
	if !lt(near, exact, fl(1), fl(1+2e-7), 1).Undecided() {
		t.Error("1 +- 1e-7 < 1 + 2e-7 should be undecided")
	}
	if lt(near, far, fl(1), fl(2), 1).Undecided() || lt(exact, exact, fl(1), fl(1), 0).Undecided() {
		t.Error("clear comparisons are undecided")
	}
	nan, inf := Shadow{Hi: math.NaN()}, Shadow{Hi: math.Inf(1)}
	if lt(nan, near, fl(math.NaN()), fl(1), 0).Undecided() || lt(near, inf, fl(1), fl(math.Inf(1)), 1).Undecided() {
		t.Error("NaN and infinity compare for certain")
	}
	if !lt(Undecided(F32, fl(1)), far, fl(1), fl(2), 1).Undecided() {
		t.Error("an undecided operand")
	}
}

// An undecided bool spreads to what depends on it and no further.
func TestUndecidedSpreads(t *testing.T) {
	maybe, yes, no := Undecided(Bool, 1), Exact(Bool, 1), Exact(Bool, 0)
	and, or := ShadowBinary("and", Bool), ShadowBinary("or", Bool)
	if and(maybe, no, 1, 0, 0).Undecided() || or(maybe, yes, 1, 1, 1).Undecided() {
		t.Error("false and x, true or x are decided")
	}
	if !and(maybe, yes, 1, 1, 1).Undecided() || !or(no, maybe, 0, 1, 1).Undecided() || !ShadowUnary("not", Bool)(maybe, 1, 0).Undecided() {
		t.Error("undecided operand lost")
	}
	sel := ShadowSelect(F32)
	s := sel(maybe, Shadow{1, 0, 0.1}, Shadow{3, 0, 0.2}, 1, fl(1), fl(3))
	if s.Hi != 1 || math.Abs(s.Err-2.2) > 1e-12 {
		t.Errorf("select covers both arms: %v", s)
	}
	if s = sel(yes, Shadow{1, 0, 0.1}, Undecided(F32, 0), 1, fl(1), 0); s != (Shadow{1, 0, 0.1}) {
		t.Errorf("the arm not taken counts: %v", s)
	}
	if s = sel(maybe, Exact(F32, fl(1)), Exact(F32, fl(math.Inf(1))), 1, fl(1), fl(math.Inf(1))); !s.Undecided() {
		t.Errorf("finite or infinite: %v", s)
	}
	isel := ShadowSelect(I64)
	if isel(maybe, Exact(I64, 4), Exact(I64, 4), 1, 4, 4).Undecided() || !isel(maybe, Exact(I64, 4), Exact(I64, 5), 1, 4, 5).Undecided() {
		t.Error("select of integers")
	}
	if s = ShadowCast(Bool, F32)(maybe, 1, fl(1)); !Agree(F32, fl(0), s) || !Agree(F32, fl(1), s) || Agree(F32, fl(9), s) {
		t.Errorf("an undecided bool as a float: %v", s)
	}
	if !ShadowCast(I64, F32)(Undecided(I64, 3), 3, fl(3)).Undecided() || !ShadowBinary("add", I64)(Undecided(I64, 3), Exact(I64, 1), 3, 1, 4).Undecided() {
		t.Error("an undecided integer")
	}
}

func TestShadowCasts(t *testing.T) {
	toInt := ShadowCast(F32, I32)
	if toInt(Shadow{2.5, 0, 0.01}, fl(2.5), 2).Undecided() || !toInt(Shadow{2.999, 0, 0.01}, fl(2.999), 2).Undecided() {
		t.Error("float to int is undecided exactly where the bound crosses an integer")
	}
	if toInt(Shadow{1e20, 0, 1e10}, fl(1e20), FromInt(math.MaxInt32)).Undecided() {
		t.Error("saturation is decided")
	}
	x := 1 + 0x1p-20
	if s := ShadowCast(F32, F16)(Exact(F32, fl(x)), fl(x), fl(1)); s.Hi != x || s.Err < 0x1p-11 || s.Err > 0x1p-10 {
		t.Errorf("narrowing rounds: %v", s)
	}
	if s := ShadowCast(F16, F32)(Shadow{x, 0, 0x1p-11}, fl(1), fl(1)); s != (Shadow{x, 0, 0x1p-11}) {
		t.Errorf("widening does not round: %v", s)
	}
	if s := ShadowCast(F32, F16)(Exact(F32, fl(1e6)), fl(1e6), fl(math.Inf(1))); s != (Shadow{Hi: math.Inf(1)}) {
		t.Errorf("certain overflow: %v", s)
	}
	v := FromInt(1<<60 + 1)
	if s := ShadowCast(I64, F64)(Exact(I64, v), v, Cast(I64, F64, v)); s.Hi != 1<<60 || s.Lo != 1 || s.Err == 0 {
		t.Errorf("a wide integer: %v", s)
	}
}

// Attention's masks: -inf scores and what softmax does with them stay decided.
func TestMaskedSoftmaxIsDecided(t *testing.T) {
	inf := math.Inf(1)
	add, sub, top, exp := ShadowBinary("add", F32), ShadowBinary("sub", F32), ShadowBinary("max", F32), ShadowUnary("exp", F32)
	score := Shadow{1e-9, 0, 1e-7}
	mask := Exact(F32, fl(-inf))
	masked := add(score, mask, fl(1e-9), fl(-inf), fl(-inf))
	if masked != (Shadow{Hi: -inf}) {
		t.Fatalf("score - inf: %v", masked)
	}
	if s := top(masked, score, fl(-inf), fl(1e-9), fl(1e-9)); s != score {
		t.Fatalf("max(-inf, score): %v", s)
	}
	d := sub(masked, score, fl(-inf), fl(1e-9), fl(-inf))
	if w := exp(d, fl(-inf), 0); w.Undecided() || !Agree(F32, 0, w) || Agree(F32, fl(1e-30), w) {
		t.Fatalf("exp(-inf): %v", w)
	}
	if s := sub(masked, masked, fl(-inf), fl(-inf), fl(math.NaN())); s.Undecided() || !Agree(F32, fl(math.NaN()), s) || Agree(F32, 0, s) {
		t.Fatalf("-inf - -inf: %v", s)
	}
	zero := Exact(F32, 0)
	for _, x := range []float64{inf, math.NaN()} {
		if s := ShadowBinary("mul", F32)(Exact(F32, fl(x)), zero, fl(x), 0, fl(math.NaN())); s.Undecided() || !Agree(F32, fl(math.NaN()), s) {
			t.Errorf("%v * 0: %v", x, s)
		}
	}
}

func TestArg(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		xs   []float64
		want int64
	}{
		{"argmax", []float64{1, 3, 3, 2}, 1}, {"argmin", []float64{4, 1, 1}, 1}, {"argmax", []float64{-inf, -inf}, 0}, {"argmin", []float64{inf}, 0},
		{"argmax", []float64{1, nan, 5, nan}, 1}, {"argmin", []float64{1, nan, 0}, 1}, {"argmax", []float64{0, math.Copysign(0, -1)}, 0}, {"argmax", nil, math.MaxInt64},
	} {
		comb := ArgCombine(c.name, F32)
		id := FromFloat(-inf)
		if c.name == "argmin" {
			id = FromFloat(inf)
		}
		v, i := id, FromInt(math.MaxInt64)
		bv, bi := v, i
		for k, x := range c.xs {
			v, i = comb(v, i, fl(x), FromInt(int64(k)))
			j := len(c.xs) - 1 - k
			bv, bi = comb(fl(c.xs[j]), FromInt(int64(j)), bv, bi)
		}
		if Int(i) != c.want || bi != i || !Same(F32, v, bv) {
			t.Errorf("%s %v: %d, from the back %d", c.name, c.xs, Int(i), Int(bi))
		}
	}
}

func TestArgShadow(t *testing.T) {
	comb := ArgShadow("argmin", F32)
	near := Shadow{1, 0, 1e-6}
	v, i := comb(near, Exact(I64, 0), Shadow{1 + 1e-7, 0, 1e-6}, Exact(I64, 1), fl(1), 0, fl(1+1e-7), 1)
	if !i.Undecided() || v.Hi != 1 {
		t.Errorf("a near tie: %v %v", v, i)
	}
	if _, i = comb(v, i, Exact(F32, fl(0)), Exact(I64, 2), fl(1), 0, fl(0), 2); i.Undecided() || !Agree(I64, 2, i) {
		t.Errorf("a clear winner after a near tie: %v", i)
	}
	if _, i = comb(Exact(F32, fl(1)), Exact(I64, 0), Exact(F32, fl(1)), Exact(I64, 1), fl(1), 0, fl(1), 1); i.Undecided() || !Agree(I64, 0, i) {
		t.Errorf("an exact tie is decided: %v", i)
	}
	if v, _ = comb(near, Exact(I64, 0), Exact(F32, fl(3)), Exact(I64, 1), fl(1), 0, fl(3), 1); v != near {
		t.Errorf("a clear winner keeps its bound: %v", v)
	}
}

// Contraction may save a product that overflows by less than the sum takes off,
// and adds one of any size to an infinity of the other sign without a NaN.
func TestOverflowOfAProduct(t *testing.T) {
	for _, e := range []Elem{F64, F32, F16, BF16} {
		mul, top := ShadowBinary("mul", e), formats[e].max
		for _, c := range []struct {
			by, want  float64
			undecided bool
		}{{1, top, false}, {-1, -top, false}, {1.5, 0, true}, {4, 0, true}, {-4, 0, true}, {math.Inf(-1), math.Inf(-1), false}, {0.5, top / 2, false}} {
			x, y := fl(top), fl(c.by)
			s := mul(Exact(e, x), Exact(e, y), x, y, Binary("mul", e)(x, y))
			if s.Undecided() != c.undecided || !c.undecided && (!Agree(e, fl(c.want), s) || Agree(e, fl(1), s)) {
				t.Errorf("%s: max * %v: %v", e, c.by, s)
			}
		}
	}
}
