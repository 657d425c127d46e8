package sym

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func parse(t *testing.T, s string) Expr {
	t.Helper()
	e, err := ParseExpr(s, resolveTest)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return e
}

func parseCond(t *testing.T, s string) Cond {
	t.Helper()
	c, err := ParseCond(s, resolveTest)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return c
}

func TestSyntaxErrors(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "expected an integer",
		"a +":                    "expected an integer",
		"a b":                    "end of the expression",
		"a //b":                  "starts a comment",
		"a//0":                   "must be positive",
		"a mod (3 - 4)":          "must be positive",
		"%q":                     "not a value visible",
		"99999999999999999999":   "does not fit",
		"min(a)":                 `expected ","`,
		"(a":                     `expected ")"`,
		"a ? b":                  "no expression holds",
		"- -a":                   "expected an integer",
		strings.Repeat("(", 300): "nested deeper",
	} {
		if _, err := ParseExpr(in, resolveTest); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", in, err, want)
		}
	}
	if _, err := ParseCond("a = b", nil); err == nil {
		t.Error("a = b is no condition")
	}
}

func TestOverflow(t *testing.T) {
	big := Const(math.MaxInt64)
	for name, e := range map[string]Expr{
		"sum":  Add(big, Const(1)),
		"coef": Mul(Name("N"), Mul(big, Const(2))),
		"kept": Max(Name("N"), Mul(big, big)),
		"neg":  Neg(Const(math.MinInt64)),
	} {
		if _, err := e.Eval(Names(map[string]int64{"N": 0})); !errors.Is(err, ErrOverflow) {
			t.Errorf("%s: %s evaluates with %v", name, e, err)
		}
		if back := parse(t, e.String()); !back.Overflowed() {
			t.Errorf("%s: %s parses as %s", name, e, back)
		}
	}
	e := Mul(Name("N"), Name("N"))
	if _, err := e.Eval(Names(map[string]int64{"N": 1 << 40})); !errors.Is(err, ErrOverflow) {
		t.Errorf("N*N at 2^40: %v", err)
	}
	// A power grows past any use; it must not take the machine with it.
	p := Add(Name("a"), Name("b"), Name("c"), Name("d"))
	for i := 0; i < 40; i++ {
		p = Mul(p, p)
	}
	if !p.Overflowed() {
		t.Error("a sum of thousands of terms is still there")
	}
}

func TestMinInt(t *testing.T) {
	e := Mul(Const(math.MinInt64), Name("N"))
	if back := parse(t, e.String()); !back.Equal(e) {
		t.Errorf("%s parses as %s", e, back)
	}
	if q := FloorDiv(e, Neg(Name("N"))); q.Overflowed() {
		t.Log("overflow is a fair answer too")
	} else if v, ok := q.IsConst(); ok {
		t.Errorf("%s//(-N) = %d", e, v)
	}
}

func TestEvalErrors(t *testing.T) {
	for in, want := range map[string]string{
		"a + b":         "b has no value",
		"%g":            "%g has no value",
		"1//a":          "divisor of 1//a is -2",
		"5 mod (a + 2)": "divisor of 5 mod (a + 2) is 0; it must be positive",
	} {
		_, err := parse(t, in).Eval(Names(map[string]int64{"a": -2}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}

func TestQueries(t *testing.T) {
	e := parse(t, "N*i + max(%g, K) + nnz#p + %h + %g")
	if got := strings.Join(e.Names(), " "); got != "K N i nnz#p" {
		t.Errorf("Names: %s", got)
	}
	if refs := e.Refs(); len(refs) != 2 || refs[0].RefName() != "g" || refs[1].RefName() != "h" {
		t.Errorf("Refs: %v", refs)
	}
	if e.Degree() != 2 || Const(3).Degree() != 0 || parse(t, "N//2").Degree() != 1 {
		t.Error("Degree")
	}
	if id, ok := NNZ("p").IsNNZ(); !ok || id != "p" {
		t.Errorf("IsNNZ: %q %v", id, ok)
	}
	if _, ok := Name("nnzp").IsNNZ(); ok {
		t.Error("nnzp is no edge dim")
	}
	if _, _, ok := parse(t, "i*i + 1").Linear("i"); ok {
		t.Error("i*i is not linear")
	}
	if (Expr{}).String() != "0" || !(Expr{}).Equal(Const(0)) {
		t.Error("the zero value is the constant 0")
	}
	// Two values of one name are two atoms, in sums and in keys.
	a, b := Val(&value{"v"}), Val(&value{"v"})
	if a.Equal(b) || a.Key() == b.Key() || Sub(a, b).Equal(Const(0)) {
		t.Error("refs are compared by name")
	}
}

type numbered struct {
	value
	id uint64
}

func (n *numbered) RefID() uint64 { return n.id }

// A ref with a number of its own never meets one numbered here.
func TestRefWithID(t *testing.T) {
	a, b := &numbered{value{"v"}, 1}, &numbered{value{"v"}, 2}
	if Val(a).Equal(Val(b)) || !Val(a).Equal(Val(a)) || Val(a).Key() == Val(b).Key() {
		t.Error("RefID does not decide")
	}
	for i := 0; i < 3; i++ {
		if v := Val(&value{"v"}); v.Equal(Val(a)) || v.Equal(Val(b)) {
			t.Error("two numberings meet")
		}
	}
}

// The text follows the names of refs, whatever the order they were made in.
func TestTextFollowsNames(t *testing.T) {
	z, y := &value{"z"}, &value{"y"}
	e := Add(Val(z), Min(Val(z), Val(y)), Val(y))
	if got := e.String(); got != "min(%y, %z) + %y + %z" {
		t.Errorf("got %s", got)
	}
	z.name = "a"
	if got := e.String(); got != "min(%a, %y) + %a + %y" {
		t.Errorf("renamed: %s", got)
	}
}

func TestTermsRebuild(t *testing.T) {
	e := parse(t, "3*N*i - 2*(K//8) + %g + 7")
	sum := Const(e.Constant())
	for _, term := range e.Terms() {
		sum = Add(sum, term.Expr())
	}
	if !sum.Equal(e) {
		t.Errorf("%s rebuilt is %s", e, sum)
	}
}
