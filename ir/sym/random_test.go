package sym

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"
)

// tree is an expression as written, evaluated without any rewriting.
type tree struct {
	op   string // + - * // mod min max neg; "name", "val", "const"
	name string
	c    int64
	kids []*tree
}

var treeOps = []struct {
	op    string
	build func(a, b Expr) Expr
	eval  func(a, b int64) int64
}{
	{"+", func(a, b Expr) Expr { return Add(a, b) }, func(a, b int64) int64 { return a + b }},
	{"-", Sub, func(a, b int64) int64 { return a - b }},
	{"*", Mul, func(a, b int64) int64 { return a * b }},
	{"//", FloorDiv, func(a, b int64) int64 {
		q := a / b
		if a%b != 0 && (a < 0) != (b < 0) {
			q--
		}
		return q
	}},
	{"mod", Mod, func(a, b int64) int64 { return ((a % b) + b) % b }},
	{"min", Min, func(a, b int64) int64 { return min(a, b) }},
	{"max", Max, func(a, b int64) int64 { return max(a, b) }},
}

var testNames = []string{"N", "K", "i", "j"}
var testVals = []*value{{"g"}, {"h"}}

func randomTree(r *rand.Rand, depth int) *tree {
	if depth == 0 || r.Intn(5) == 0 {
		switch r.Intn(5) {
		case 0, 1:
			return &tree{op: "const", c: int64(r.Intn(21) - 6)}
		case 2:
			return &tree{op: "val", c: int64(r.Intn(len(testVals)))}
		}
		return &tree{op: "name", name: testNames[r.Intn(len(testNames))]}
	}
	op := treeOps[r.Intn(len(treeOps))].op
	a, b := randomTree(r, depth-1), randomTree(r, depth-1)
	if (op == "//" || op == "mod") && r.Intn(3) > 0 {
		b = &tree{op: "const", c: int64(1 + r.Intn(12))}
	}
	return &tree{op: op, kids: []*tree{a, b}}
}

func (t *tree) expr() Expr {
	switch t.op {
	case "const":
		return Const(t.c)
	case "name":
		return Name(t.name)
	case "val":
		return Val(testVals[t.c])
	}
	for _, o := range treeOps {
		if o.op == t.op {
			return o.build(t.kids[0].expr(), t.kids[1].expr())
		}
	}
	panic(t.op)
}

// eval is plain evaluation; ok is false where a divisor is not positive.
func (t *tree) eval(env map[string]int64) (v int64, ok bool) {
	switch t.op {
	case "const":
		return t.c, true
	case "name":
		return env[t.name], true
	case "val":
		return env["%"+testVals[t.c].name], true
	}
	a, ok1 := t.kids[0].eval(env)
	b, ok2 := t.kids[1].eval(env)
	if !ok1 || !ok2 || (t.op == "//" || t.op == "mod") && b <= 0 {
		return 0, false
	}
	for _, o := range treeOps {
		if o.op == t.op {
			return o.eval(a, b), true
		}
	}
	panic(t.op)
}

func (t *tree) String() string {
	switch t.op {
	case "const":
		return fmt.Sprint(t.c)
	case "name":
		return t.name
	case "val":
		return "%" + testVals[t.c].name
	}
	return fmt.Sprintf("(%s %s %s)", t.kids[0], t.op, t.kids[1])
}

func randomEnv(r *rand.Rand) map[string]int64 {
	env := map[string]int64{}
	for _, n := range append(slices.Clone(testNames), "%g", "%h") {
		env[n] = int64(r.Intn(60) - 20)
	}
	return env
}

func envOf(m map[string]int64) Env {
	return Env{
		Name: func(s string) (int64, bool) { v, ok := m[s]; return v, ok },
		Val:  func(r Ref) (int64, bool) { v, ok := m["%"+r.RefName()]; return v, ok },
	}
}

// resolveTest finds the values of testVals.
func resolveTest(s string) (Ref, bool) {
	for _, v := range testVals {
		if v.name == s {
			return v, true
		}
	}
	return nil, false
}

// The normal form has the value of the expression as written wherever that has
// one, and its text parses to itself.
func TestNormalFormKeepsValue(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	defined := 0
	for n := 0; n < 20000; n++ {
		tr := randomTree(r, 1+r.Intn(4))
		e := tr.expr()
		back, err := ParseExpr(e.String(), resolveTest)
		if err != nil && dividesByNoPositive(e) {
			continue // the parser refuses it
		}
		if err != nil || !back.Equal(e) || back.Key() != e.Key() || back.String() != e.String() {
			t.Fatalf("%s is %s, which parses as %v (%v)", tr, e, back, err)
		}
		for m := 0; m < 8; m++ {
			env := randomEnv(r)
			want, ok := tr.eval(env)
			if !ok {
				continue
			}
			defined++
			if got, err := e.Eval(envOf(env)); err != nil || got != want {
				t.Fatalf("%s = %d, its normal form %s gives %d (%v) for %v", tr, want, e, got, err, env)
			}
		}
	}
	if defined < 50000 {
		t.Errorf("only %d evaluations were defined", defined)
	}
}

func dividesByNoPositive(e Expr) bool {
	found := false
	e.Walk(func(a *Atom) bool {
		if a.Kind == AtomFloorDiv || a.Kind == AtomMod {
			c, ok := a.Args[1].IsConst()
			found = found || ok && c <= 0
		}
		return true
	})
	return found
}

// Building in another order gives the same form: sums and products commute and
// associate, minima and maxima too.
func TestNormalFormOfRearranged(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	ops := []func(a, b Expr) Expr{func(a, b Expr) Expr { return Add(a, b) }, Mul, Min, Max}
	for n := 0; n < 5000; n++ {
		a, b, c := randomTree(r, 2).expr(), randomTree(r, 2).expr(), randomTree(r, 2).expr()
		op := ops[r.Intn(2)]
		if x, y := op(op(a, b), c), op(b, op(c, a)); !x.Equal(y) {
			t.Fatalf("%s and %s from %s, %s, %s", x, y, a, b, c)
		}
		op = ops[2+r.Intn(2)]
		if x, y := op(a, b), op(b, a); !x.Equal(y) {
			t.Fatalf("%s and %s from %s, %s", x, y, a, b)
		}
	}
}

// Substituting and then evaluating is evaluating with the substituted value;
// coefficients found by Linear rebuild the expression.
func TestSubstAndLinear(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	split := 0
	for n := 0; n < 10000; n++ {
		e, by := randomTree(r, 3).expr(), randomTree(r, 2).expr()
		s := e.Subst(map[string]Expr{"i": by})
		ref := e.SubstRef(func(r Ref) (Expr, bool) { return by, r.RefName() == "g" })
		for m := 0; m < 4; m++ {
			env := randomEnv(r)
			v, err := by.Eval(envOf(env))
			if err != nil {
				continue
			}
			checkSubst(t, e, s, env, "i", v)
			checkSubst(t, e, ref, env, "%g", v)
		}
		if coef, rest, ok := e.Linear("i"); ok {
			split++
			if coef.Uses("i") || rest.Uses("i") || !Add(Mul(coef, Name("i")), rest).Equal(e) {
				t.Fatalf("%s = (%s)*i + %s", e, coef, rest)
			}
		}
	}
	if split < 1000 {
		t.Errorf("Linear split only %d", split)
	}
}

func checkSubst(t *testing.T, e, replaced Expr, env map[string]int64, name string, v int64) {
	t.Helper()
	old := env[name]
	env[name] = v
	want, err := e.Eval(envOf(env))
	env[name] = old
	if err != nil {
		return
	}
	if got, err := replaced.Eval(envOf(env)); err != nil || got != want {
		t.Fatalf("%s with %s = %d is %d, but %s gives %d (%v)", e, name, v, want, replaced, got, err)
	}
}
