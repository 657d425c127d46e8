package interp

import (
	"math"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
)

// builtinOp is the scalar op that combines under a built-in monoid of one
// component, and its identity.
var builtinOp = map[string]struct {
	op       string
	identity func(num.Elem) num.Cell
}{
	"sum":  {"add", func(num.Elem) num.Cell { return 0 }},
	"prod": {"mul", one},
	"max":  {"max", least},
	"min":  {"min", greatest},
	"any":  {"or", func(num.Elem) num.Cell { return num.FromBool(false) }},
	"all":  {"and", func(num.Elem) num.Cell { return num.FromBool(true) }},
}

func one(e num.Elem) num.Cell {
	if e.IsFloat() {
		return num.FromFloat(1)
	}
	return num.FromInt(1)
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

// Identity implements ir.Machine.
func (s *stager) Identity(m *ir.Monoid, acc []int) ir.Step {
	es := m.Elems()
	switch {
	case m.Base != nil:
		base, over := s.split(m, acc)
		steps := []ir.Step{s.Identity(m.Base.Monoid, base)}
		for k := len(m.Over.Monoid.Params); len(over) > 0; over = over[k:] {
			steps = append(steps, s.Identity(m.Over.Monoid, over[:k]))
		}
		return sequence(steps)
	case m.Builtin && builtinOp[m.Name].op != "":
		return setCell(es[0], acc[0], builtinOp[m.Name].identity(es[0]))
	case m.Builtin:
		first := least
		if m.Name == "argmin" {
			first = greatest
		}
		return sequence([]ir.Step{setCell(es[0], acc[0], first(es[0])), setCell(es[1], acc[1], greatest(es[1]))})
	}
	in := s.inner()
	body := in.Region(m.Identity)
	return sequence([]ir.Step{body, s.moves(in.yields(m.Identity), acc)})
}

func setCell(e num.Elem, slot int, c num.Cell) ir.Step {
	sh := num.Exact(e, c)
	return func(f *ir.Frame) {
		f.S[slot] = c
		if f.E != nil {
			f.E[slot] = sh
		}
	}
}

// Combine implements ir.Machine.
func (s *stager) Combine(m *ir.Monoid, acc, x []int) ir.Step {
	switch {
	case m.Base != nil:
		return s.rescaled(m, acc, x)
	case m.Builtin && builtinOp[m.Name].op != "":
		return s.fold(builtinOp[m.Name].op, m.Elems()[0], acc[0], x[0])
	case m.Builtin:
		return s.argFold(m.Name, m.Elems()[0], acc, x)
	}
	return s.applied(m.CombineParams, append(append([]int(nil), acc...), x...), m.Combine, acc)
}

// fold stages acc = acc op x.
func (s *stager) fold(op string, e num.Elem, acc, x int) ir.Step {
	g := num.Binary(op, e)
	if g == nil {
		diag.Bugf("no %s on %s to fold with", op, e)
	}
	if s.Shadowed() {
		sh := num.ShadowBinary(op, e)
		return func(f *ir.Frame) {
			c := g(f.S[acc], f.S[x])
			f.E[acc] = sh(f.E[acc], f.E[x], f.S[acc], f.S[x], c)
			f.S[acc] = c
		}
	}
	if op == "add" && e == num.F32 {
		return func(f *ir.Frame) { f.S[acc] = num.AddF32(f.S[acc], f.S[x]) }
	}
	return func(f *ir.Frame) { f.S[acc] = g(f.S[acc], f.S[x]) }
}

func (s *stager) argFold(name string, e num.Elem, acc, x []int) ir.Step {
	g := num.ArgCombine(name, e)
	if g == nil {
		diag.Bugf("no %s on %s to fold with", name, e)
	}
	v, i, xv, xi := acc[0], acc[1], x[0], x[1]
	if !s.Shadowed() {
		return func(f *ir.Frame) { f.S[v], f.S[i] = g(f.S[v], f.S[i], f.S[xv], f.S[xi]) }
	}
	sh := num.ArgShadow(name, e)
	return func(f *ir.Frame) {
		ev, ei := sh(f.E[v], f.E[i], f.E[xv], f.E[xi], f.S[v], f.S[i], f.S[xv], f.S[xi])
		f.S[v], f.S[i] = g(f.S[v], f.S[i], f.S[xv], f.S[xi])
		f.E[v], f.E[i] = ev, ei
	}
}

// applied stages r with params standing for the given slots, and moves what it
// yields to the slots out.
func (s *stager) applied(params []*ir.Value, slots []int, r *ir.Region, out []int) ir.Step {
	in := s.inner()
	for i, p := range params {
		in.values[p] = slots[i]
	}
	body := in.Region(r)
	return sequence([]ir.Step{body, s.moves(in.yields(r), out)})
}

func (s *stager) yields(r *ir.Region) []int {
	var slots []int
	for _, v := range r.Yields() {
		slots = append(slots, s.Scalar(v))
	}
	return slots
}

// moves copies scalars from slots to slots, all at once.
func (s *stager) moves(from, to []int) ir.Step {
	written := map[int]bool{}
	var first, then []ir.Step
	for i := range from {
		src := from[i]
		if written[src] {
			t := s.Temp()
			first, src = append(first, move1(src, t)), t
		}
		if src != to[i] {
			then = append(then, move1(src, to[i]))
		}
		written[to[i]] = true
	}
	return sequence(append(first, then...))
}

func move1(from, to int) ir.Step {
	return func(f *ir.Frame) {
		f.S[to] = f.S[from]
		if f.E != nil {
			f.E[to] = f.E[from]
		}
	}
}

// split sorts the slots of a rescaled monoid's components into base and over.
func (s *stager) split(m *ir.Monoid, slots []int) (base, over []int) {
	at := map[*ir.Value]int{}
	for i, p := range m.Params {
		at[p] = slots[i]
	}
	for _, p := range m.Base.Params {
		base = append(base, at[p])
	}
	for _, p := range m.Over.Params {
		over = append(over, at[p])
	}
	return base, over
}

// rescaled stages the combination that base, over and act derive: with
// b = b1 B b2, v = T(v1; b1, b) V T(v2; b2, b).
func (s *stager) rescaled(m *ir.Monoid, acc, x []int) ir.Step {
	b1, v1 := s.split(m, acc)
	b2, v2 := s.split(m, x)
	b, t1, t2 := s.temps(len(b1)), s.temps(len(v1)), s.temps(len(v1))
	act := func(v, from, out []int) ir.Step {
		slots := append(append(append([]int(nil), v...), from...), b...)
		return s.applied(m.ActParams, slots, m.Act, out)
	}
	steps := []ir.Step{s.moves(b1, b), s.Combine(m.Base.Monoid, b, b2), act(v1, b1, t1), act(v2, b2, t2)}
	k := len(m.Over.Monoid.Params) // V applies to each group of as many components
	for i := 0; i < len(t1); i += k {
		steps = append(steps, s.Combine(m.Over.Monoid, t1[i:i+k], t2[i:i+k]))
	}
	steps = append(steps, s.moves(b, b1), s.moves(t1, v1))
	return sequence(steps)
}

func (s *stager) temps(n int) []int {
	t := make([]int, n)
	for i := range t {
		t[i] = s.Temp()
	}
	return t
}
