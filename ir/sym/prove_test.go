package sym

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"
)

func factsOf(t *testing.T, text string) *Facts {
	t.Helper()
	f := NewFacts()
	for _, s := range strings.Split(text, ";") {
		if s = strings.TrimSpace(s); s != "" {
			f.Add(parseCond(t, s))
		}
	}
	return f
}

const bounds = "0 <= i; i < N; 0 <= j; j < K; "

// What the passes rely on: subscripts in range, tiles, conv and pool borders,
// row-major offsets, triangles, clamped loops.
func TestProve(t *testing.T) {
	for _, c := range []struct{ facts, goal string }{
		{bounds, "i + 1 <= N"},
		{bounds, "N >= 1"},
		{bounds + "N == K", "i < K"},
		{bounds + "K == 8", "j <= 7"},
		{"K mod 8 == 0", "8*(K//8) == K"},
		{"K mod 8 == 0; 0 <= k; k < K//8; 0 <= j; j < 8", "8*k + j < K"},
		{"K mod 8 == 0; 0 <= k; k < K", "k//8 < K//8"},
		{"0 <= k; k < K", "k mod 8 < 8"},
		{"0 <= k; k < K", "k//8 < (K + 7)//8"},
		{"0 <= g; g < (N + 255)//256; 0 <= t; t < 256; 256*g + t < N", "256*g + t >= 0"},
		{"0 <= p; p < (H + 1)//2; H >= 0", "2*p - 1 < H"},
		{"0 <= p; p < (H + 1)//2; 0 <= r; r < 3; 0 <= 2*p + r - 1; 2*p + r - 1 < H", "2*p + r <= H"},
		{"H >= 0", "(H + 1)//2 <= H"},
		{"H >= 0", "(H + 1)//2 >= 0"},
		{"max(1, lo) <= i; i < min(N - 1, hi)", "i - 1 >= 0"},
		{"max(1, lo) <= i; i < min(N - 1, hi)", "i + 1 < N"},
		{"max(1, lo) <= i; i < min(N - 1, hi)", "i < hi"},
		{"", "min(a, b) + max(a, b) == a + b"},
		{"a <= b; b <= c", "max(a, min(b, c)) == b"},
		{"0 <= i; i < M; 0 <= j; j < N", "N*i + j < M*N"},
		{"0 <= i; i < M; 0 <= j; j < N; 0 <= k; k < K", "K*N*i + K*j + k < M*N*K"},
		{"0 <= i; i < M; 0 <= j; j < N; 0 <= k; k < K", "K*N*i + K*j + k >= 0"},
		{"0 <= i; i < M; N >= 0", "N*i <= M*N - N"},
		{"", "i*i >= 0"},
		{"", "2*i != 2*j + 1"},
		{"", "4*i + 2 != 6*j + 4*k + 5"},
		{"N != 0; N >= 0", "N >= 1"},
		{"N != M", "N != M"},
		{"0 <= x; x < n", "x//n == 0"},
		{"0 <= x; x < n", "x mod n == x"},
		{"0 <= x; x < n*m", "x//n < m"},
		{"j <= T + i - S; i < S; i >= 0", "j < T"},
		{"0 <= i; 3*i <= 7", "i <= 2"},
		{"K mod 16 == 0", "K mod 8 == 0"},
		{"K mod 8 == 0; N mod 8 == 0", "(K + N) mod 8 == 0"},
		{"K mod 8 == 0; K > 0", "K >= 8"},
		{"0 <= nnz#p; 0 <= e; e < nnz#p", "e + 1 <= nnz#p"},
		{"0 <= i0; i0 < m; n == min(32, m - i0); 0 <= i; i < n", "i + i0 < m"},
		{"%g >= 0; %g < N", "%g + 1 <= N"},
		{"n == min(4, N - i); 0 <= i; i < N", "n >= 1"},
	} {
		f, goal := factsOf(t, c.facts), parseCond(t, c.goal)
		if !f.Prove(goal) {
			t.Errorf("under %q: %s is not proved", c.facts, goal)
		}
		if f.Prove(goal.Not()) {
			t.Errorf("under %q: the opposite of %s is proved", c.facts, goal)
		}
	}
}

func TestProveNot(t *testing.T) {
	for _, c := range []struct{ facts, goal string }{
		{"", "N >= 0"}, {"", "N*N >= N*M"}, {bounds, "i + 1 < N"}, {"", "K//8*8 == K"},
		{"H >= 0; 0 <= p; p < (H + 1)//2", "2*p + 1 < H"}, {"", "a//0 == 0"},
		{"", "9223372036854775807*2 >= 0"}, {"", "9223372036854775807*2 == 9223372036854775807*2"},
		{"9223372036854775807*2 == 1", "1 == 2"},
	} {
		goal := Eq(FloorDiv(Name("a"), Const(0)), Const(0)) // the parser refuses it
		if c.goal != "a//0 == 0" {
			goal = parseCond(t, c.goal)
		}
		if factsOf(t, c.facts).Prove(goal) {
			t.Errorf("under %q: %s is proved", c.facts, goal)
		}
	}
}

func TestContradiction(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "N < 3; N > 3": true, "N < 3; N > 1": false, "2*N == 7": true,
		"a <= b; b <= c; c < a": true, "0 == 1": true, "N mod 8 == 0; 0 < N; N < 8": true,
		"N >= min(a, b); N < a; N < b": true,
	} {
		if got := factsOf(t, text).Contradiction(); got != want {
			t.Errorf("%q: contradiction %v, want %v", text, got, want)
		}
	}
}

// A clone and its original grow apart.
func TestClone(t *testing.T) {
	f := factsOf(t, "a < b; b < c; c < d")
	g := f.Clone()
	f.Add(parseCond(t, "x < y"))
	g.Add(parseCond(t, "y < x"))
	goal := parseCond(t, "x < y")
	if !f.Prove(goal) || g.Prove(goal) || !g.Prove(goal.Not()) || !g.Prove(parseCond(t, "a < d")) {
		t.Errorf("%v and its clone %v", f.Conds(), g.Conds())
	}
}

func TestRange(t *testing.T) {
	for _, c := range []struct{ facts, expr, want string }{
		{"", "N", "?..?"}, {"", "7", "7..7"}, {"0 <= i; i < 8", "3*i - 1", "-1..20"},
		{"0 <= i; i < 8", "-i", "-7..0"}, {"", "k mod 8", "0..7"}, {"", "2*(k mod 8) + 1", "1..15"},
		{"0 <= N", "N//4 + 2", "2..?"}, {"i >= 3", "min(i, 10)", "3..10"},
		{"0 <= i; i < 4; 0 <= j; j < 5", "i*j", "0..12"}, {"2*N <= 7", "N", "?..3"},
		{"0 <= i; i < 10", "max(i, 4) - min(i, 4)", "0..5"}, {"N == 5; M == N + 1", "M", "6..6"},
	} {
		lo, hi, okLo, okHi := factsOf(t, c.facts).Range(parse(t, c.expr))
		text := func(v int64, ok bool) string {
			if !ok {
				return "?"
			}
			return fmt.Sprint(v)
		}
		if got := text(lo, okLo) + ".." + text(hi, okHi); got != c.want {
			t.Errorf("under %q: %s in %s, want %s", c.facts, c.expr, got, c.want)
		}
	}
}

func TestSimplify(t *testing.T) {
	for _, c := range []struct{ facts, in, want string }{
		{"K mod 8 == 0", "8*(K//8)", "K"}, {"K mod 8 == 0", "K mod 8", "0"},
		{"K mod 8 == 0", "16*(K//8) + 1", "2*K + 1"}, {"", "8*(K//8) + K mod 8", "K"},
		{"0 <= j; j < 8", "(8*k + j)//8", "k"}, {"0 <= j; j < 8", "(8*k + j) mod 8", "j"},
		{"0 <= j; j < N", "(N*k + j)//N", "k"}, {"0 <= j; j < N", "(N*k + j) mod N", "j"},
		{"T == S", "T + 1", "S + 1"}, {"a == b; b == c", "a + b + c", "3*a"}, {"N == 4", "N*i", "4*i"},
		{"i < N - 1", "min(i, N - 1)", "i"}, {"i >= 1", "max(i, 1)", "i"}, {"i <= 1", "max(i, 1)", "1"},
		{"", "max(i, 1)", "max(1, i)"}, {"N*K == 0", "K", "K"}, {"K mod n == 0", "n*(K//n)", "K"},
	} {
		if got := factsOf(t, c.facts).Simplify(parse(t, c.in)).String(); got != c.want {
			t.Errorf("under %q: %s becomes %s, want %s", c.facts, c.in, got, c.want)
		}
	}
}

// small makes a random expression over N, K, i whose values stay small.
func small(r *rand.Rand) Expr {
	names := testNames[:3]
	e := Const(int64(r.Intn(7) - 3))
	for n := r.Intn(3); n >= 0; n-- {
		x := Name(names[r.Intn(3)])
		switch m := Const(int64(2 + r.Intn(3))); r.Intn(9) {
		case 0:
			x = FloorDiv(Add(x, Const(int64(r.Intn(4)))), m)
		case 1:
			x = Mod(x, m)
		case 2:
			x = Min(x, Name(names[r.Intn(3)]))
		case 3:
			x = Max(x, Add(Name(names[r.Intn(3)]), Const(int64(r.Intn(3)-1))))
		case 4:
			x = Mul(x, Name(names[r.Intn(3)]))
		case 5:
			x = FloorDiv(x, Name(names[r.Intn(3)]))
		}
		e = Add(e, Mul(Const(int64(r.Intn(5)-2)), x))
	}
	return e
}

var allRels = []Rel{EQ, NE, LT, LE, GT, GE}

// eachPoint calls visit for every point of the box where the facts hold.
func eachPoint(f *Facts, visit func(env Env, at string)) {
	for n := int64(-4); n <= 7; n++ {
		for k := int64(-4); k <= 7; k++ {
			for i := int64(-4); i <= 7; i++ {
				m := map[string]int64{"N": n, "K": k, "i": i}
				env, holds := Names(m), true
				for _, c := range f.Conds() {
					ok, err := c.Eval(env)
					holds = holds && ok && err == nil
				}
				if holds {
					visit(env, fmt.Sprint(m))
				}
			}
		}
	}
}

// Whatever is claimed under random facts holds at every point of a box that
// satisfies them. Half of the runs know the box, so that much is provable.
func TestClaimsByBruteForce(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	proved, valid, missed, slowest := 0, 0, 0, time.Duration(0)
	for n := 0; n < 600; n++ {
		f := NewFacts()
		if n%2 == 0 {
			for _, s := range testNames[:3] {
				f.AddRange(s, Const(-4), Const(8))
			}
		}
		for m := r.Intn(4); m > 0; m-- {
			f.Add(Cond{small(r), small(r), allRels[r.Intn(6)]})
		}
		goal, e := Cond{small(r), small(r), allRels[r.Intn(6)]}, small(r)
		start := time.Now()
		yes := f.Prove(goal)
		slowest = max(slowest, time.Since(start))
		lo, hi, okLo, okHi := f.Range(e)
		simple, never, always := f.Simplify(e), f.Contradiction(), true
		eachPoint(f, func(env Env, at string) {
			holds, err := goal.Eval(env)
			always = always && (err != nil || holds)
			switch {
			case never:
				t.Fatalf("%v is no contradiction: %s", f.Conds(), at)
			case yes && err == nil && !holds:
				t.Fatalf("%v does not imply %s: %s", f.Conds(), goal, at)
			}
			v, err := e.Eval(env)
			if err != nil {
				return
			}
			if okLo && v < lo || okHi && v > hi {
				t.Fatalf("under %v, %s is %d at %s, range %d..%d %v %v", f.Conds(), e, v, at, lo, hi, okLo, okHi)
			}
			if s, err := simple.Eval(env); err != nil || s != v {
				t.Fatalf("under %v, %s is %d at %s, but %s is %d (%v)", f.Conds(), e, v, at, simple, s, err)
			}
		})
		if yes {
			proved++
		}
		if always && n%2 == 0 {
			valid++
			if !yes {
				missed++
			}
		}
	}
	t.Logf("proved %d; of %d valid in a known box %d were missed; slowest proof %v", proved, valid, missed, slowest)
	if proved < 70 || missed*3 > valid {
		t.Errorf("proved %d; missed %d of %d", proved, missed, valid)
	}
}
