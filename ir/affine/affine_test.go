package affine

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"tenon/ir/sym"
)

type value string

func (v value) RefName() string { return string(v) }

func resolve(s string) (sym.Ref, bool) { return value(s), true }

func expr(t *testing.T, s string) sym.Expr {
	t.Helper()
	e, err := sym.ParseExpr(strings.TrimSpace(s), resolve)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return e
}

// axesOf reads `i < M, 1 <= j < N`.
func axesOf(t *testing.T, text string) []Axis {
	t.Helper()
	var axes []Axis
	for _, s := range strings.Split(text, ",") {
		parts := strings.Split(s, "<")
		a := Axis{Name: strings.TrimSpace(parts[len(parts)-2]), Extent: expr(t, parts[len(parts)-1])}
		if lo, name, ok := strings.Cut(strings.TrimSpace(s), "<="); ok {
			a.Lo, a.Name = expr(t, lo), strings.TrimSpace(strings.Split(name, "<")[0])
		}
		axes = append(axes, a)
	}
	return axes
}

func factsOf(t *testing.T, text string) *sym.Facts {
	t.Helper()
	f := sym.NewFacts()
	for _, s := range strings.Split(text, ";") {
		if strings.TrimSpace(s) == "" {
			continue
		}
		c, err := sym.ParseCond(s, resolve)
		if err != nil {
			t.Fatal(err)
		}
		f.Add(c)
	}
	return f
}

func exprs(t *testing.T, text string) []sym.Expr {
	var es []sym.Expr
	for _, s := range strings.Split(text, ";") {
		es = append(es, expr(t, s))
	}
	return es
}

func TestLinear(t *testing.T) {
	for _, c := range []struct{ sub, want string }{
		{"2*p + r - 1", "2 1 | -1 | true []"},
		{"N*p + r + M", "N 1 | M | true []"},
		{"p//8 + r", "0 1 | p//8 | false [p//8]"},
		{"N//8*p + %g", "N//8 0 | %g | true [%g]"},
		{"p*r + p", "1 0 | p*r | false []"},
		{"p*(r mod 2)", "0 0 | p*(r mod 2) | false [r mod 2]"},
	} {
		f := Linear(expr(t, c.sub), []string{"p", "r"})
		var ops []string
		for _, a := range f.Opaque {
			ops = append(ops, a.String())
		}
		if got := fmt.Sprintf("%s %s | %s | %v %v", f.Coefs[0], f.Coefs[1], f.Rest, f.Affine, ops); got != c.want {
			t.Errorf("%s: %s, want %s", c.sub, got, c.want)
		}
	}
}

func TestInRange(t *testing.T) {
	for _, c := range []struct {
		sub, extent, axes, facts string
		below, above             bool
	}{
		{"i", "N", "i < N", "", true, true},
		{"i + 1", "N", "i < N", "", true, false},
		{"i - 1", "N", "1 <= i < N", "", true, true},
		{"i - 1", "N", "i < N", "", false, true},
		{"2*p + r - 1", "H", "p < (H + 1)//2, r < 3", "0 <= 2*p + r - 1; 2*p + r - 1 < H", true, true},
		{"2*p + r - 1", "H", "p < (H + 1)//2, r < 3", "", false, false},
		{"k//8", "K//8", "k < K", "K mod 8 == 0", true, true},
		{"k//8", "K//8", "k < K", "", true, false},
		{"k mod 8", "8", "k < K", "", true, true},
		{"i - j", "N", "i < N, j < i + 1", "", true, true},
		{"256*g + t", "N", "g < (N + 255)//256, t < 256", "", true, false},
		{"N*i + j", "M*N", "i < M, j < N", "", true, true},
		{"i + lo", "hi", "i < hi - lo", "lo >= 0", true, true},
		{"%g", "R", "i < N", "", false, false},
		{"%g", "R", "i < N", "0 <= %g; %g < R", true, true},
		{"j0//32", "(nc + 31)//32", "j0 < nc", "", true, true},
	} {
		below, above := InRange(expr(t, c.sub), expr(t, c.extent), axesOf(t, c.axes), factsOf(t, c.facts))
		if below != c.below || above != c.above {
			t.Errorf("%s in 0..%s for %s, %q: %v %v", c.sub, c.extent, c.axes, c.facts, below, above)
		}
	}
}

func TestFootprint(t *testing.T) {
	for _, c := range []struct{ sub, axes, facts, want string }{
		{"2*p + r - 1", "p < P, r < 3", "", "-1..2*P - 1"},
		{"i - j", "i < M, j < N", "", "-N + 1..M - 1"},
		{"i - j", "i < M, j < i + 1", "", "0..M - 1"},
		{"N*i + j", "i < M, j < N", "N >= 0", "0..M*N - 1"},
		{"c*i", "i < M", "", "?..?"},
		{"c*i", "i < M", "c <= 0", "M*c - c..0"},
		{"i//8", "i < M", "", "0..(M + 7)//8 - 1"},
		{"2*(i mod 8) + j", "i < M, j < 2", "", "0..15"},
		{"max(i, 3) - min(i, j)", "i < M, j < N", "", "-min(M - 1, N - 1) + 3..max(3, M - 1)"},
		{"%g + i", "i < M", "", "%g..M + %g - 1"},
	} {
		s := Footprint(expr(t, c.sub), axesOf(t, c.axes), factsOf(t, c.facts))
		lo, hi := "?", "?"
		if s.OkLo {
			lo = s.Lo.String()
		}
		if s.OkHi {
			hi = s.Hi.String()
		}
		if got := lo + ".." + hi; got != c.want {
			t.Errorf("%s for %s, %q: %s, want %s", c.sub, c.axes, c.facts, got, c.want)
		}
	}
}

func TestInjective(t *testing.T) {
	for _, c := range []struct {
		subs, axes, facts string
		want              bool
	}{
		{"i; j", "i < M, j < N", "", true},
		{"i", "i < M, j < N", "", false},
		{"i; 0", "i < M", "", true},
		{"j + i; i", "i < M, j < N", "", true},
		{"8*i + j", "i < M, j < 8", "", true},
		{"8*i + j", "i < M, j < 9", "", false},
		{"N*i + j", "i < M, j < N", "", true},
		{"N*i + j", "i < M, j < M", "", false},
		{"K*N*i + K*j + k", "i < M, j < N, k < K", "", true},
		{"k//8; k mod 8", "k < K", "", true},
		{"k//8", "k < K", "", false},
		{"i + j; i - j", "i < M, j < N", "", true},
		{"S*i", "i < M", "S >= 1", true},
		{"S*i", "i < M", "", false},
		{"i; %g", "i < M, j < N", "", false},
		{"i", "i < M", "i < %g", true},
		{"i0 + i", "i0 < M, i < 32", "i0 mod 32 == 0", true},
		{"i0 + i", "i0 < M, i < 32", "", false},
		{"i", "i < M, j < 1", "", true},
		{"i*i", "i < M", "", false},
	} {
		if got := Injective(exprs(t, c.subs), axesOf(t, c.axes), factsOf(t, c.facts)); got != c.want {
			t.Errorf("%s for %s, %q: %v", c.subs, c.axes, c.facts, got)
		}
	}
}

// A guard on a value that may differ from point to point ties no two points.
func TestInjectiveValueGuard(t *testing.T) {
	if Injective(exprs(t, "j"), axesOf(t, "i < M, j < N"), factsOf(t, "i == %g")) {
		t.Error("two points may have different values of the guard, so different i")
	}
}

func TestMap(t *testing.T) {
	m := Map{[]string{"i", "j"}, exprs(t, "j + 1; 2*i")}
	if got := m.String(); got != "(i, j) -> (j + 1, 2*i)" {
		t.Error(got)
	}
	mm, err := m.After(m)
	if err != nil || mm.String() != "(i, j) -> (2*i + 1, 2*j + 2)" {
		t.Error(mm, err)
	}
	if !Identity("i", "j").IsIdentity() || m.IsIdentity() {
		t.Error("IsIdentity")
	}
	if p, ok := (Map{[]string{"i", "j"}, exprs(t, "j; i")}).Permutation(); !ok || fmt.Sprint(p) != "[1 0]" {
		t.Error(p, ok)
	}
	if _, ok := (Map{[]string{"i", "j"}, exprs(t, "j; j")}).Permutation(); ok {
		t.Error("(j, j) is no permutation")
	}
	if !m.Equal(Map{[]string{"a", "i"}, exprs(t, "i + 1; 2*a")}) || m.Equal(Identity("i", "j")) {
		t.Error("Equal")
	}
	if _, err := m.Apply(exprs(t, "i")); err == nil {
		t.Error("one coordinate for two axes")
	}
}

func randomSub(r *rand.Rand) sym.Expr {
	names := []string{"i", "j", "i", "j", "N"}
	e := sym.Const(int64(r.Intn(5) - 2))
	for n := r.Intn(3); n >= 0; n-- {
		x := sym.Name(names[r.Intn(5)])
		switch r.Intn(8) {
		case 0:
			x = sym.FloorDiv(x, sym.Const(int64(2+r.Intn(3))))
		case 1:
			x = sym.Mod(x, sym.Const(int64(2+r.Intn(3))))
		case 2:
			x = sym.Mul(x, sym.Name("N"))
		case 3:
			x = sym.Min(x, sym.Name(names[r.Intn(5)]))
		}
		e = sym.Add(e, sym.Mul(sym.Const(int64(r.Intn(7)-2)), x))
	}
	return e
}

func randomAxes(r *rand.Rand) []Axis {
	axes := []Axis{{Name: "i"}, {Name: "j"}}
	for k := range axes {
		axes[k].Extent = sym.Const(int64(r.Intn(5)))
		if r.Intn(2) == 0 {
			axes[k].Extent = sym.Add(sym.Name("N"), sym.Const(int64(r.Intn(3)-1)))
		}
		axes[k].Lo = sym.Const(int64(r.Intn(3) - 1))
	}
	if r.Intn(3) == 0 {
		axes[1].Extent = sym.Add(sym.Name("i"), sym.Const(1))
	}
	return axes
}

// eachPoint visits the points of two axes for one N.
func eachPoint(axes []Axis, n int64, visit func(env sym.Env, m map[string]int64)) {
	m := map[string]int64{"N": n}
	env := sym.Names(m)
	at := func(e sym.Expr) int64 { v, _ := e.Eval(env); return v }
	for i := at(axes[0].Lo); i < at(axes[0].Extent); i++ {
		m["i"] = i
		for j := at(axes[1].Lo); j < at(axes[1].Extent); j++ {
			m["j"] = j
			visit(env, m)
		}
		delete(m, "j")
	}
}

func TestAnswersByBruteForce(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	facts := sym.NewFacts()
	facts.AddRange("N", sym.Const(0), sym.Const(6))
	var ranges, injective, ends int
	for n := 0; n < 2000; n++ {
		axes, sub, second := randomAxes(r), randomSub(r), randomSub(r)
		extent := sym.Add(sym.Name("N"), sym.Const(int64(r.Intn(9))))
		below, above := InRange(sub, extent, axes, facts)
		span := Footprint(sub, axes, facts)
		unique := Injective([]sym.Expr{sub, second}, axes, facts)
		for _, name := range Names(axes) {
			if span.Lo.Uses(name) && span.OkLo || span.Hi.Uses(name) && span.OkHi {
				t.Fatalf("the footprint %s..%s of %s uses %s", span.Lo, span.Hi, sub, name)
			}
		}
		if below || above {
			ranges++
		}
		if unique {
			injective++
		}
		if span.OkLo || span.OkHi {
			ends++
		}
		for size := int64(0); size < 6; size++ {
			seen := map[[2]int64]bool{}
			eachPoint(axes, size, func(env sym.Env, m map[string]int64) {
				v, _ := sub.Eval(env)
				w, _ := second.Eval(env)
				hi, _ := extent.Eval(env)
				if below && v < 0 || above && v >= hi {
					t.Fatalf("%s = %d is not in 0..%s at %v; axes %v", sub, v, extent, m, axes)
				}
				lo, _ := span.Lo.Eval(env)
				if hi, _ := span.Hi.Eval(env); span.OkLo && v < lo || span.OkHi && v > hi {
					t.Fatalf("%s = %d is not in %s..%s at %v; axes %v", sub, v, span.Lo, span.Hi, m, axes)
				}
				if unique && seen[[2]int64{v, w}] {
					t.Fatalf("(%s, %s) is not injective at %v; axes %v", sub, second, m, axes)
				}
				seen[[2]int64{v, w}] = true
			})
		}
	}
	if t.Logf("in range %d, injective %d, bounded %d", ranges, injective, ends); ranges < 300 || injective < 300 || ends < 1000 {
		t.Error("too few claims to mean anything")
	}
}
