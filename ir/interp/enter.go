package interp

import (
	"fmt"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
)

// entry is what a call of a function does before its body: put the arguments
// into slots, bind dims, check the declared facts.
type entry struct {
	dims  *dimPlan
	slots []int
	facts []entryFact
	encs  []encodedFacts
}

type entryFact struct {
	fact  ir.Fact
	holds func(*ir.Frame) bool
}

// encodedFacts are the facts of a parameter's encoding, in its own names.
type encodedFacts struct {
	arg   int
	bind  func(*ir.Frame, *ir.Encoded)
	facts []entryFact
}

// entries of staged functions; kept apart so that staged reads easily.
func (st *staged) stageEntry() {
	f, s := st.f, st.s
	e := &entry{dims: s.planDims("@"+f.Name, f.Params, nil)}
	for i, p := range f.Params {
		e.slots = append(e.slots, s.slotOf(p.Value))
		if t, ok := p.Value.Type.(ir.Tensor); ok && t.Enc != nil {
			in := s.inner()
			e.encs = append(e.encs, encodedFacts{i, in.bindEncoded(t.Enc), in.declared(t.Enc.Where)})
		}
	}
	e.facts = s.declared(f.Where)
	st.entry = e
}

func (s *stager) declared(facts []ir.Fact) []entryFact {
	var out []entryFact
	for _, k := range facts {
		if k.Provenance == ir.Declared {
			out = append(out, entryFact{k, s.Cond(k.Cond)})
		}
	}
	return out
}

// enter prepares frame f. top is the entry from outside: there the arguments
// themselves are checked, aliasing is refused and out buffers are poisoned.
func (st *staged) enter(f *ir.Frame, args []any, top bool) error {
	if err := st.enterArgs(f, args, top); err != nil {
		if !err.Pos.IsValid() {
			err.Pos = st.f.Loc.First()
		}
		return &Fault{ir.TrapShape, err}
	}
	return nil
}

func (st *staged) enterArgs(f *ir.Frame, args []any, top bool) *diag.Error {
	e := st.entry
	if top {
		for i, p := range st.f.Params {
			if err := checkArg(st.f, p, args[i], st.s.prog.opts.Unchecked); err != nil {
				return err
			}
		}
	}
	if err := e.dims.bind(f, args); err != nil {
		return err
	}
	if len(e.dims.left) > 0 {
		l := e.dims.left[0]
		return diag.Errorf(st.f.Loc.First(), "%s of %%%s, %s, does not follow from the arguments", l.label, l.param.Value.Name, l.expr)
	}
	for _, k := range e.facts {
		if !k.holds(f) {
			return st.broken(k.fact, f)
		}
	}
	for i, a := range args {
		st.put(f, e.slots[i], st.f.Params[i], a)
	}
	for _, x := range e.encs {
		if err := x.check(f, args[x.arg].(*ir.Encoded), st.f.Params[x.arg]); err != nil {
			return err
		}
	}
	if top {
		return st.outs(f, args)
	}
	return nil
}

func (x *encodedFacts) check(f *ir.Frame, v *ir.Encoded, p *ir.Param) *diag.Error {
	x.bind(f, v)
	for _, k := range x.facts {
		if !k.holds(f) {
			return &diag.Error{Msg: fmt.Sprintf("%%%s is stored by @%s, which needs %s", p.Value.Name, v.Enc.Name, k.fact.Cond)}
		}
	}
	return nil
}

// broken words a declared fact that does not hold.
func (st *staged) broken(k ir.Fact, f *ir.Frame) *diag.Error {
	err := &diag.Error{Msg: fmt.Sprintf("@%s needs %s, which these arguments break", st.f.Name, k.Cond)}
	seen := map[string]bool{}
	for _, n := range append(k.Cond.L.Names(), k.Cond.R.Names()...) {
		if !seen[n] {
			seen[n] = true
			err.Msg += fmt.Sprintf(" (%s = %d)", n, num.Int(f.S[st.s.Symbol(n)]))
		}
	}
	return err
}

// put stores an argument in its slot.
func (st *staged) put(f *ir.Frame, slot int, p *ir.Param, a any) {
	switch a := a.(type) {
	case Scalar:
		f.S[slot] = a.Cell
		if f.E != nil {
			f.E[slot] = a.Shadow
			if a.Shadow == (num.Shadow{}) {
				f.E[slot] = num.Exact(a.Elem, a.Cell)
			}
		}
	case num.Cell:
		f.S[slot] = a
		exactElem(f, ir.ElemOf(p.Value.Type), slot)
	case nil:
	default:
		f.O[slot] = a
	}
}

// outs refuses aliasing, poisons out buffers and makes those not given.
func (st *staged) outs(f *ir.Frame, args []any) *diag.Error {
	if err := aliased(st.f, args); err != nil {
		return err
	}
	for i, p := range st.f.Params {
		a, _ := args[i].(*ir.Array)
		b, isBuf := p.Value.Type.(ir.Buf)
		switch {
		case a != nil && f.E != nil && p.Mode != ir.ModeOut:
			a.Mem.Shadow = shadows(a.Elem, a.Mem.Cells)
		case a != nil && p.Mode == ir.ModeOut:
			fill(a.Mem, poison(a.Elem))
			if f.E != nil {
				a.Mem.Shadow = shadows(a.Elem, a.Mem.Cells)
			}
		case args[i] == nil && isBuf:
			shape := make([]int64, len(b.Dims))
			for d, x := range b.Dims {
				shape[d] = st.s.Expr(x)(f)
			}
			f.O[st.entry.slots[i]] = st.s.prog.array(nil, b.Elem, shape)
		}
		if x, ok := args[i].(*ir.Encoded); ok && f.E != nil {
			for _, part := range x.Parts {
				part.Mem.Shadow = shadows(part.Elem, part.Mem.Cells)
			}
		}
	}
	return nil
}

// aliased refuses buffers that overlap where one of them is written.
func aliased(fn *ir.Func, args []any) *diag.Error {
	for i, p := range fn.Params {
		a, ok := args[i].(*ir.Array)
		if !ok || !fn.IsProc || a.Size() == 0 {
			continue
		}
		for j := range i {
			b, ok := args[j].(*ir.Array)
			q := fn.Params[j]
			if !ok || a.Mem != b.Mem || b.Size() == 0 || p.Mode == ir.ModeIn && q.Mode == ir.ModeIn {
				continue
			}
			lo1, hi1 := extent(a)
			lo2, hi2 := extent(b)
			if lo1 <= hi2 && lo2 <= hi1 {
				return &diag.Error{Msg: fmt.Sprintf("%%%s and %%%s of @%s overlap in memory and one is written", q.Value.Name, p.Value.Name, fn.Name),
					Fix: "pass separate buffers"}
			}
		}
	}
	return nil
}

// extent is the first and the last cell of a non-empty array.
func extent(a *ir.Array) (lo, hi int64) {
	lo, hi = a.Off, a.Off
	for d, n := range a.Shape {
		if step := (n - 1) * a.Strides[d]; step < 0 {
			lo += step
		} else {
			hi += step
		}
	}
	return lo, hi
}
