package num

import (
	"math/big"
	"math/rand"
	"testing"
)

// refInt computes in unbounded integers; ok is false for what it leaves out.
var refInt = map[string]func(a, b *big.Int, width int) *big.Int{
	"add": func(a, b *big.Int, _ int) *big.Int { return new(big.Int).Add(a, b) },
	"sub": func(a, b *big.Int, _ int) *big.Int { return new(big.Int).Sub(a, b) },
	"mul": func(a, b *big.Int, _ int) *big.Int { return new(big.Int).Mul(a, b) },
	"and": func(a, b *big.Int, _ int) *big.Int { return new(big.Int).And(a, b) },
	"or":  func(a, b *big.Int, _ int) *big.Int { return new(big.Int).Or(a, b) },
	"xor": func(a, b *big.Int, _ int) *big.Int { return new(big.Int).Xor(a, b) },
	"max": func(a, b *big.Int, _ int) *big.Int { return pick(a.Cmp(b) >= 0, a, b) },
	"min": func(a, b *big.Int, _ int) *big.Int { return pick(a.Cmp(b) <= 0, a, b) },
	"tdiv": func(a, b *big.Int, _ int) *big.Int {
		return orZero(b, func() *big.Int { return new(big.Int).Quo(a, b) })
	},
	"trem": func(a, b *big.Int, _ int) *big.Int {
		return orZero(b, func() *big.Int { return new(big.Int).Rem(a, b) })
	},
	"floordiv": func(a, b *big.Int, _ int) *big.Int {
		return orZero(b, func() *big.Int { return floorQuo(a, b) })
	},
	"mod": func(a, b *big.Int, _ int) *big.Int {
		return orZero(b, func() *big.Int { return new(big.Int).Sub(a, new(big.Int).Mul(b, floorQuo(a, b))) })
	},
	"shl": func(a, b *big.Int, width int) *big.Int {
		if b.Sign() < 0 || b.Cmp(big.NewInt(int64(width))) >= 0 {
			return new(big.Int)
		}
		return new(big.Int).Lsh(a, uint(b.Int64()))
	},
	"shr": func(a, b *big.Int, width int) *big.Int {
		if b.Sign() < 0 || b.Cmp(big.NewInt(int64(width))) >= 0 {
			return big.NewInt(int64(min(a.Sign(), 0)))
		}
		return new(big.Int).Rsh(a, uint(b.Int64()))
	},
	"eq": func(a, b *big.Int, _ int) *big.Int { return truth(a.Cmp(b) == 0) },
	"ne": func(a, b *big.Int, _ int) *big.Int { return truth(a.Cmp(b) != 0) },
	"lt": func(a, b *big.Int, _ int) *big.Int { return truth(a.Cmp(b) < 0) },
	"le": func(a, b *big.Int, _ int) *big.Int { return truth(a.Cmp(b) <= 0) },
	"gt": func(a, b *big.Int, _ int) *big.Int { return truth(a.Cmp(b) > 0) },
	"ge": func(a, b *big.Int, _ int) *big.Int { return truth(a.Cmp(b) >= 0) },
}

func pick(c bool, a, b *big.Int) *big.Int {
	if c {
		return a
	}
	return b
}

func truth(c bool) *big.Int { return pick(c, big.NewInt(1), new(big.Int)) }

func orZero(b *big.Int, f func() *big.Int) *big.Int {
	if b.Sign() == 0 {
		return new(big.Int)
	}
	return f()
}

// floorQuo rounds the exact quotient down: big.Int's Div is Euclidean.
func floorQuo(a, b *big.Int) *big.Int {
	if b.Sign() < 0 {
		a, b = new(big.Int).Neg(a), new(big.Int).Neg(b)
	}
	return new(big.Int).Div(a, b)
}

// refWrap takes the value modulo 2^width into the type's range.
func refWrap(e Elem, v *big.Int) int64 {
	m := new(big.Int).Lsh(big.NewInt(1), uint(e.Bits()))
	w := new(big.Int).Mod(v, m)
	if e.IsSigned() && w.Bit(e.Bits()-1) == 1 {
		w.Sub(w, m)
	}
	return w.Int64()
}

func checkInt(t *testing.T, e Elem, a, b int64) {
	t.Helper()
	for name, ref := range refInt {
		got := Int(Binary(name, e)(FromInt(a), FromInt(b)))
		if want := refWrap(e, ref(big.NewInt(a), big.NewInt(b), e.Bits())); got != want {
			t.Fatalf("%s %s(%d, %d) = %d, want %d", e, name, a, b, got, want)
		}
	}
	for name, ref := range map[string]int64{"neg": -a, "not": ^a, "abs": max(a, -a)} {
		if got := Int(Unary(name, e)(FromInt(a))); got != refWrap(e, big.NewInt(ref)) {
			t.Fatalf("%s %s(%d) = %d", e, name, a, got)
		}
	}
	if got := Int(Unary("sign", e)(FromInt(a))); got != int64(big.NewInt(a).Sign()) {
		t.Fatalf("%s sign(%d) = %d", e, a, got)
	}
}

// Every pair of 8-bit operands, and random wider ones with the ends of the range.
func TestIntegerOps(t *testing.T) {
	for a := int64(-128); a < 128; a += 1 {
		for b := int64(-128); b < 128; b += 1 {
			if testing.Short() && b%7 != 0 {
				continue
			}
			checkInt(t, I8, a, b)
			checkInt(t, U8, a+128, b+128)
		}
	}
	r := rand.New(rand.NewSource(11))
	for _, e := range []Elem{I64, I32, I16, Index} {
		lo, hi := IntRange(e)
		ends := []int64{lo, lo + 1, -1, 0, 1, 2, hi - 1, hi, int64(e.Bits()), int64(e.Bits()) - 1}
		for _, a := range ends {
			for _, b := range ends {
				checkInt(t, e, a, b)
			}
		}
		for range 2000 {
			checkInt(t, e, Wrap(e, int64(r.Uint64()>>r.Intn(64))), Wrap(e, int64(r.Uint64()>>r.Intn(64))))
		}
	}
}

func TestIntegerCasts(t *testing.T) {
	ints := []Elem{I64, I32, I16, I8, U8, Index}
	r := rand.New(rand.NewSource(12))
	for range 3000 {
		for _, from := range ints {
			v := Wrap(from, int64(r.Uint64()>>r.Intn(64)))
			for _, to := range ints {
				if got, want := Int(Cast(from, to, FromInt(v))), refWrap(to, big.NewInt(v)); got != want {
					t.Fatalf("%s(%d: %s) = %d, want %d", to, v, from, got, want)
				}
			}
			if IsTrue(Cast(from, Bool, FromInt(v))) != (v != 0) || Int(Cast(Bool, from, FromBool(v != 0))) != min(1, int64(big.NewInt(v).CmpAbs(new(big.Int)))) {
				t.Fatalf("%s %d to bool and back", from, v)
			}
		}
	}
}

func TestIntegerText(t *testing.T) {
	for _, c := range []struct {
		e       Elem
		s, want string
	}{
		{I8, "300", "300 does not fit i8 (-128 to 127)"}, {U8, "-1", "-1 does not fit u8 (0 to 255)"},
		{I64, "9223372036854775808", "9223372036854775808 does not fit i64 (-9223372036854775808 to 9223372036854775807)"},
		{I32, "1.5", `"1.5" is not an integer`}, {Bool, "yes", `"yes" is neither true nor false`}, {I16, "", `"" is not an integer`}, {I16, "+1", `"+1" is not an integer`},
	} {
		if _, err := ParseInt(c.e, c.s); err == nil || err.Error() != c.want {
			t.Errorf("%s %q: %v", c.e, c.s, err)
		}
	}
	for _, e := range []Elem{I64, I32, I16, I8, U8, Index, Bool} {
		lo, hi := IntRange(e)
		for _, v := range []int64{lo, hi, 0, 1} {
			if c, err := Parse(e, Format(e, FromInt(v))); err != nil || Int(c) != v {
				t.Errorf("%s %d: %v, %v", e, v, c, err)
			}
		}
	}
}

// Which op exists for which type is a table of its own, so that a lost row shows.
func TestOpsExist(t *testing.T) {
	for name, types := range map[string]string{
		"add": "fi", "sub": "fi", "mul": "fi", "div": "f", "pow": "f", "max": "fib", "min": "fib", "tdiv": "i", "trem": "i", "floordiv": "i",
		"mod": "i", "shl": "i", "shr": "i", "and": "ib", "or": "ib", "xor": "ib", "eq": "fib", "ne": "fib", "lt": "fib", "le": "fib", "gt": "fib", "ge": "fib", "?": "",
	} {
		for _, e := range Elems {
			kind := byte('b')
			if e.IsFloat() {
				kind = 'f'
			} else if e.IsInt() {
				kind = 'i'
			}
			want := false
			for i := range types {
				want = want || types[i] == kind
			}
			if got := Binary(name, e) != nil; got != want {
				t.Errorf("%s %s exists: %v", name, e, got)
			}
			if got := ShadowBinary(name, e) != nil; got != want {
				t.Errorf("the shadow of %s %s exists: %v", name, e, got)
			}
		}
	}
	for _, name := range append([]string{"isnan", "isinf", "not", "?"}, chainUnary...) {
		for _, e := range Elems {
			if (Unary(name, e) == nil) != (ShadowUnary(name, e) == nil) {
				t.Errorf("%s %s has an op or a shadow only", name, e)
			}
		}
	}
}
