package golden

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
)

// leaves draws, for each rescaled monoid of the examples, a tuple that its
// program yields at one point. A monoid without an entry fails the test.
var leaves = map[string]func(r *rand.Rand) []float64{
	"moments": func(r *rand.Rand) []float64 { return []float64{1, small(r), 0} },
	"online":  func(r *rand.Rand) []float64 { return []float64{score(r), 1} },
	"online_acc": func(r *rand.Rand) []float64 {
		return []float64{score(r), 1, small(r)}
	},
}

func small(r *rand.Rand) float64 { return float64(float32(r.NormFloat64() * 3)) }

// score is now and then the identity of max: a masked entry.
func score(r *rand.Rand) float64 {
	if r.IntN(6) == 0 {
		return math.Inf(-1)
	}
	return small(r)
}

// law is one side against the other, as regions over scalar arguments.
type law struct {
	name string
	args []*ir.Value
	side [2]func(b *ir.Builder, args []*ir.Value) []*ir.Value
}

// rescaled gives the pieces of a rescaled monoid as functions that build.
type rescaled struct{ m *ir.Monoid }

func (x rescaled) combineBase(b *ir.Builder, p, q []*ir.Value) []*ir.Value {
	_, params, region := x.m.Base.Monoid.Derived()
	return b.Inline(region, params, slices.Concat(p, q))
}

// combineOver applies V to each group of its arity.
func (x rescaled) combineOver(b *ir.Builder, p, q []*ir.Value) []*ir.Value {
	var out []*ir.Value
	k := len(x.m.Over.Monoid.Params)
	for i := 0; i < len(p); i += k {
		_, params, region := x.m.Over.Monoid.Derived()
		out = append(out, b.Inline(region, params, slices.Concat(p[i:i+k], q[i:i+k]))...)
	}
	return out
}

// act is T(v; from, to).
func (x rescaled) act(b *ir.Builder, v, from, to []*ir.Value) []*ir.Value {
	return b.Inline(x.m.Act, x.m.ActParams, slices.Concat(v, from, to))
}

func (x rescaled) identity(b *ir.Builder, m *ir.Monoid, n int) []*ir.Value {
	var out []*ir.Value
	for len(out) < n {
		region, _, _ := m.Derived()
		out = append(out, b.Inline(region, nil, nil)...)
	}
	return out
}

func fresh(suffix string, like []*ir.Value) []*ir.Value {
	var vs []*ir.Value
	for _, v := range like {
		vs = append(vs, &ir.Value{Name: v.Name + "_" + suffix, Type: v.Type})
	}
	return vs
}

// laws are A1, A2 and A3 of the text form's page; b is c B b3, so that it
// includes c.
func (x rescaled) laws() []law {
	base, over := x.m.Base.Params, x.m.Over.Params
	v, b1 := fresh("v", over), fresh("b", base)
	w, b2, b3 := fresh("w", over), fresh("c", base), fresh("d", base)
	cut := func(args []*ir.Value, sizes ...int) [][]*ir.Value {
		var out [][]*ir.Value
		for _, n := range sizes {
			out, args = append(out, args[:n]), args[n:]
		}
		return out
	}
	k, l := len(over), len(base)
	return []law{
		{"A1", slices.Concat(v, b1), [2]func(*ir.Builder, []*ir.Value) []*ir.Value{
			func(b *ir.Builder, a []*ir.Value) []*ir.Value { c := cut(a, k, l); return x.act(b, c[0], c[1], c[1]) },
			func(b *ir.Builder, a []*ir.Value) []*ir.Value { return a[:k] }}},
		{"A2", b1, [2]func(*ir.Builder, []*ir.Value) []*ir.Value{
			func(b *ir.Builder, a []*ir.Value) []*ir.Value {
				return x.act(b, x.identity(b, x.m.Over.Monoid, k), x.identity(b, x.m.Base.Monoid, l), a)
			},
			func(b *ir.Builder, a []*ir.Value) []*ir.Value { return x.identity(b, x.m.Over.Monoid, k) }}},
		{"A3", slices.Concat(v, b1, w, b2, b3), [2]func(*ir.Builder, []*ir.Value) []*ir.Value{
			func(b *ir.Builder, a []*ir.Value) []*ir.Value {
				p := cut(a, k, l, k, l, l)
				c := x.combineBase(b, p[1], p[3])
				to := x.combineBase(b, c, p[4])
				return x.act(b, x.combineOver(b, x.act(b, p[0], p[1], c), x.act(b, p[2], p[3], c)), c, to)
			},
			func(b *ir.Builder, a []*ir.Value) []*ir.Value {
				p := cut(a, k, l, k, l, l)
				to := x.combineBase(b, x.combineBase(b, p[1], p[3]), p[4])
				return x.combineOver(b, x.act(b, p[0], p[1], to), x.act(b, p[2], p[3], to))
			}}},
	}
}

// function wraps what build makes from scalar arguments as a func.
func function(name string, like []*ir.Value, build func(*ir.Builder, []*ir.Value) []*ir.Value) *ir.Func {
	f := &ir.Func{Level: ir.LevelTensor, Name: name, Body: &ir.Region{}}
	b := ir.NewBuilder(f.Body)
	args := fresh("x", like)
	for _, v := range args {
		b.Reserve(v.Name)
		f.Params = append(f.Params, &ir.Param{Mode: ir.ModeIn, Value: v})
	}
	out := build(b, args)
	c := &ir.Operands{}
	for _, v := range out {
		c.Args = append(c.Args, ir.ValueArg(v))
		f.Results = append(f.Results, ir.Result{Type: v.Type})
	}
	b.Add(ir.NewOp("return", ir.Loc{}, c), nil)
	return f
}

// program holds both sides of every law and the derived combination.
func (x rescaled) program(t *testing.T, laws []law) *interp.Program {
	t.Helper()
	m := &ir.Module{}
	for _, l := range laws {
		m.Items = append(m.Items, function(l.name+"_left", l.args, l.side[0]), function(l.name+"_right", l.args, l.side[1]))
	}
	pair := slices.Concat(fresh("p", x.m.Params), fresh("q", x.m.Params))
	m.Items = append(m.Items, function("combine", pair, func(b *ir.Builder, a []*ir.Value) []*ir.Value {
		_, params, region := x.m.Derived()
		return b.Inline(region, params, a)
	}))
	if err := ir.Verify(m); err != nil {
		t.Fatal(err)
	}
	return interp.New(m, interp.Options{Shadow: true})
}

func call(t *testing.T, p *interp.Program, fn string, args []float64) []interp.Scalar {
	t.Helper()
	var in []any
	for _, a := range args {
		in = append(in, interp.Scalar{Elem: num.F32, Cell: num.FromFloat(a)})
	}
	out, err := p.Run(fn, in)
	if err != nil {
		t.Fatalf("@%s%v: %v", fn, args, err)
	}
	var rs []interp.Scalar
	for _, o := range out {
		rs = append(rs, o.(interp.Scalar))
	}
	return rs
}

// tuple is a reachable one: the combination of one to four leaves.
func tuple(t *testing.T, r *rand.Rand, p *interp.Program, name string) []float64 {
	acc := leaves[name](r)
	for range r.IntN(4) {
		out := call(t, p, "combine", append(slices.Clone(acc), leaves[name](r)...))
		for i, s := range out {
			acc[i] = num.Float(s.Cell)
		}
	}
	return acc
}

// The laws of every rescaled monoid of the examples, on random reachable
// tuples: both sides agree within their bounds.
func TestLawsOfRescaledMonoids(t *testing.T) {
	found := 0
	for _, example := range []string{"layernorm", "softmax", "attention"} {
		for _, it := range input(t, example).Items {
			if m, ok := it.(*ir.Monoid); ok && m.Base != nil {
				found++
				t.Run(m.Name, func(t *testing.T) { checkLaws(t, rescaled{m}) })
			}
		}
	}
	if found != len(leaves) {
		t.Errorf("%d rescaled monoids were tested, want %d", found, len(leaves))
	}
}

func checkLaws(t *testing.T, x rescaled) {
	if leaves[x.m.Name] == nil {
		t.Fatalf("no tuples are drawn for @%s", x.m.Name)
	}
	laws := x.laws()
	p := x.program(t, laws)
	r := rand.New(rand.NewPCG(11, 12))
	decided := map[string]int{}
	for range 300 {
		one, two, three := x.split(tuple(t, r, p, x.m.Name)), x.split(tuple(t, r, p, x.m.Name)), x.split(tuple(t, r, p, x.m.Name))
		args := map[string][]float64{
			"A1": slices.Concat(one.v, one.b), "A2": one.b,
			"A3": slices.Concat(one.v, one.b, two.v, two.b, three.b),
		}
		for _, l := range laws {
			left, right := call(t, p, l.name+"_left", args[l.name]), call(t, p, l.name+"_right", args[l.name])
			for i := range left {
				decided[l.name] += sameWithin(t, fmt.Sprintf("%s of @%s at %v, component %d", l.name, x.m.Name, args[l.name], i), left[i], right[i])
			}
		}
	}
	for _, l := range laws {
		if decided[l.name] < 200 {
			t.Errorf("%s was decided only %d times", l.name, decided[l.name])
		}
	}
}

// parts are the base and the over components of a tuple.
type parts struct{ b, v []float64 }

func (x rescaled) split(tuple []float64) parts {
	var p parts
	at := func(v *ir.Value) float64 { return tuple[slices.Index(x.m.Params, v)] }
	for _, v := range x.m.Base.Params {
		p.b = append(p.b, at(v))
	}
	for _, v := range x.m.Over.Params {
		p.v = append(p.v, at(v))
	}
	return p
}

// sameWithin wants each value within the other's bound; it gives 1 if either
// bound says something.
func sameWithin(t *testing.T, what string, a, b interp.Scalar) int {
	t.Helper()
	r1, err1 := interp.Compare(a, b)
	r2, err2 := interp.Compare(b, a)
	if err1 != nil && err2 != nil {
		t.Fatalf("%s: %v", what, err1)
	}
	if r1.Undecided+r2.Undecided == 2 {
		return 0
	}
	return 1
}
