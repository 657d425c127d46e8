package ir

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"tenon/internal/num"
)

// builtinMonoid is the row of a built-in monoid. Its regions are made of scalar
// ops, so that every consumer of a monoid handles the built-in ones too.
type builtinMonoid struct {
	arity    int
	accepts  func(e num.Elem) bool // component 0
	identity func(b *Builder, e num.Elem) []*Value
	combine  func(b *Builder, p []*Value) []*Value
	needs    []string // scalar ops
}

func isNumeric(e num.Elem) bool { return e.IsFloat() || e.IsInt() }
func isBool(e num.Elem) bool    { return e == num.Bool }

var builtinMonoids = map[string]builtinMonoid{
	"sum":    foldMonoid("add", isNumeric, func(e num.Elem) num.Cell { return number(e, 0) }),
	"prod":   foldMonoid("mul", isNumeric, func(e num.Elem) num.Cell { return number(e, 1) }),
	"max":    foldMonoid("max", isNumeric, least),
	"min":    foldMonoid("min", isNumeric, greatest),
	"any":    foldMonoid("or", isBool, func(num.Elem) num.Cell { return num.FromBool(false) }),
	"all":    foldMonoid("and", isBool, func(num.Elem) num.Cell { return num.FromBool(true) }),
	"argmax": pairMonoid("gt", least),
	"argmin": pairMonoid("lt", greatest),
}

func number(e num.Elem, n int64) num.Cell {
	if e.IsFloat() {
		return num.FromFloat(float64(n))
	}
	return num.FromInt(n)
}

func least(e num.Elem) num.Cell {
	if e.IsFloat() {
		return num.FromFloat(math.Inf(-1))
	}
	lo, _ := num.IntRange(e)
	return num.FromInt(lo)
}

func greatest(e num.Elem) num.Cell {
	if e.IsFloat() {
		return num.FromFloat(math.Inf(1))
	}
	_, hi := num.IntRange(e)
	return num.FromInt(hi)
}

// foldMonoid has one component and combines with a single op.
func foldMonoid(op string, accepts func(num.Elem) bool, identity func(num.Elem) num.Cell) builtinMonoid {
	return builtinMonoid{1, accepts,
		func(b *Builder, e num.Elem) []*Value { return []*Value{b.Const(e, identity(e))} },
		func(b *Builder, p []*Value) []*Value { return []*Value{b.Scalar(op, p...)} },
		[]string{op, "const"}}
}

// pairMonoid keeps a value and its i64 index: the better value by op; ties go
// to the lower index, and a NaN beats all but an earlier NaN.
func pairMonoid(op string, identity func(num.Elem) num.Cell) builtinMonoid {
	return builtinMonoid{2, isNumeric,
		func(b *Builder, e num.Elem) []*Value {
			return []*Value{b.Const(e, identity(e)), b.Const(num.I64, num.FromInt(math.MaxInt64))}
		},
		func(b *Builder, p []*Value) []*Value {
			second := secondWins(b, op, p)
			return []*Value{b.Scalar("select", second, p[2], p[0]), b.Scalar("select", second, p[3], p[1])}
		},
		[]string{op, "const", "select", "lt", "eq", "ne", "and", "or"}}
}

func secondWins(b *Builder, op string, p []*Value) *Value {
	earlier := b.Scalar("lt", p[3], p[1])
	tie := b.Scalar("and", b.Scalar("eq", p[2], p[0]), earlier)
	better := b.Scalar("or", b.Scalar(op, p[2], p[0]), tie)
	if !ElemOf(p[0].Type).IsFloat() {
		return better
	}
	nan1, nan2 := b.Scalar("ne", p[0], p[0]), b.Scalar("ne", p[2], p[2])
	return b.Scalar("select", nan1, b.Scalar("and", nan2, earlier), b.Scalar("or", nan2, better))
}

func isPairMonoid(name string) bool { return builtinMonoids[name].arity == 2 }

// builtinMemo keeps the built-in monoids made so far: they are immutable, and
// one pointer a monoid lets consumers key tables by it.
var builtinMemo sync.Map

// BuiltinMonoid returns the built-in monoid of that name for components of the
// given types: sum prod max min any all with one, argmax argmin with two.
func BuiltinMonoid(name string, elems ...num.Elem) (*Monoid, error) {
	key := fmt.Sprint(name, elems)
	if m, ok := builtinMemo.Load(key); ok {
		return m.(*Monoid), nil
	}
	row, ok := builtinMonoids[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("there is no built-in monoid %s (sum prod max min any all argmax argmin)", name)
	case len(elems) != row.arity:
		return nil, fmt.Errorf("monoid %s has %d components, not %d", name, row.arity, len(elems))
	case !row.accepts(elems[0]):
		return nil, fmt.Errorf("monoid %s does not fold %s", name, elems[0])
	case row.arity == 2 && elems[1] != num.I64:
		return nil, fmt.Errorf("the index of %s is i64, not %s", name, elems[1])
	}
	for _, op := range row.needs {
		if LookupOp(op) == nil {
			return nil, fmt.Errorf("monoid %s needs the op %s, which is not registered", name, op)
		}
	}
	m, _ := builtinMemo.LoadOrStore(key, row.build(name, elems))
	return m.(*Monoid), nil
}

func (row builtinMonoid) build(name string, elems []num.Elem) *Monoid {
	m := &Monoid{Name: name, Builtin: true, Assoc: true, Comm: true, Identity: &Region{}, Combine: &Region{}}
	b := NewBuilder(m.Combine)
	for i, e := range elems {
		m.Params = append(m.Params, &Value{Name: []string{"v", "i"}[i], Type: Scalar{e}})
	}
	for _, suffix := range []string{"1", "2"} {
		for _, p := range m.Params {
			m.CombineParams = append(m.CombineParams, &Value{Name: p.Name + suffix, Type: p.Type})
			b.Reserve(p.Name + suffix)
		}
	}
	b.Yield(row.combine(b, m.CombineParams)...)
	id := NewBuilder(m.Identity)
	id.Yield(row.identity(id, elems[0])...)
	return m
}

// Inline appends a copy of r, its terminator left out, with args in place of
// params, and returns what the terminator gave. Names are fresh.
func (b *Builder) Inline(r *Region, params, args []*Value) []*Value {
	m := &Mapping{Values: map[*Value]*Value{}, FreshValue: b.Fresh}
	for i, p := range params {
		m.Values[p] = args[i]
	}
	last := r.Last()
	for _, op := range r.Ops {
		if op == last {
			continue
		}
		c := CloneOp(op, m)
		if !c.Loc.IsKnown() { // a built-in monoid stands in no source
			c.Loc = b.Loc
		}
		b.Region.Ops = append(b.Region.Ops, c)
	}
	var out []*Value
	for _, v := range r.Yields() {
		out = append(out, m.Value(v))
	}
	return out
}

// Derived gives identity and combination of m as regions over its components:
// a plain monoid's own; for a rescaled one (1B, 1V) and
// (b, T(v1; b1, b) V T(v2; b2, b)) with b = b1 B b2.
func (m *Monoid) Derived() (identity *Region, params []*Value, combine *Region) {
	if m.Base == nil {
		return m.Identity, m.CombineParams, m.Combine
	}
	identity, combine = &Region{}, &Region{}
	b := NewBuilder(combine)
	one, two := m.operands(b, "1"), m.operands(b, "2")
	b1, b2 := pick(m, m.Base.Params, one), pick(m, m.Base.Params, two)
	base := m.Base.Monoid.apply(b, b1, b2)
	v1 := b.Inline(m.Act, m.ActParams, slices.Concat(pick(m, m.Over.Params, one), b1, base))
	v2 := b.Inline(m.Act, m.ActParams, slices.Concat(pick(m, m.Over.Params, two), b2, base))
	over := m.Over.Monoid.applyEach(b, v1, v2)
	b.Yield(m.assemble(base, over)...)
	id := NewBuilder(identity)
	id.Yield(m.assemble(m.Base.Monoid.identities(id, len(base)), m.Over.Monoid.identities(id, len(over)))...)
	return identity, slices.Concat(one, two), combine
}

func (m *Monoid) operands(b *Builder, suffix string) []*Value {
	var vs []*Value
	for _, p := range m.Params {
		vs = append(vs, &Value{Name: b.Fresh(p.Name + suffix), Type: p.Type})
	}
	return vs
}

// pick takes from vs, which stand for m's components, those for the components
// named.
func pick(m *Monoid, named, vs []*Value) []*Value {
	var out []*Value
	for _, p := range named {
		out = append(out, vs[slices.Index(m.Params, p)])
	}
	return out
}

// assemble puts base and over components into the order of m's parameters.
func (m *Monoid) assemble(base, over []*Value) []*Value {
	out := make([]*Value, len(m.Params))
	for i, p := range m.Base.Params {
		out[slices.Index(m.Params, p)] = base[i]
	}
	for i, p := range m.Over.Params {
		out[slices.Index(m.Params, p)] = over[i]
	}
	return out
}

func (m *Monoid) apply(b *Builder, x, y []*Value) []*Value {
	_, params, combine := m.Derived()
	return b.Inline(combine, params, slices.Concat(x, y))
}

// applyEach applies m to each group of components of its arity.
func (m *Monoid) applyEach(b *Builder, x, y []*Value) []*Value {
	var out []*Value
	for k := len(m.Params); len(x) > 0; x, y = x[k:], y[k:] {
		out = append(out, m.apply(b, x[:k], y[:k])...)
	}
	return out
}

// identities repeats m's identity until there are n components.
func (m *Monoid) identities(b *Builder, n int) []*Value {
	identity, _, _ := m.Derived()
	var out []*Value
	for len(out) < n {
		out = append(out, b.Inline(identity, nil, nil)...)
	}
	return out
}
