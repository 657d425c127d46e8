package ir

import "tenon/ir/sym"

// effects: a func has none; a proc writes its out and inout parameters and what
// it has allocated.
func (v *verifier) effects(op *Op, before int) {
	if op.Def.Effects == nil || len(v.Errs) != before {
		return
	}
	for _, e := range op.Def.Effects(op) {
		pure := v.Func != nil && !v.Func.IsProc
		switch {
		case pure && (e.Kind == EffectWrite || e.Kind == EffectAlloc || e.Kind == EffectSync):
			v.Errorf(op, "has effects, but @%s is a func; make it a proc", v.Func.Name)
			return
		case e.Kind == EffectWrite && e.Value != nil && !v.OnlyReads(op, e.Value):
			v.mayWrite(op, e.Value)
		}
	}
}

func (v *verifier) mayWrite(op *Op, x *Value) {
	p := v.params[x]
	switch {
	case p != nil && (p.Mode == ModeOut || p.Mode == ModeInOut):
	case p != nil:
		v.Errorf(op, "writes %%%s, an `in` parameter; declare it out or inout", x.Name)
	case x.Def == nil || !x.Def.Def.Traits.Has(Allocates):
		v.Errorf(op, "writes %%%s, which is neither an out or inout parameter nor allocated here", x.Name)
	}
}

// levelType: data are values at tensor level, buffers below.
func (v *verifier) levelType(spec *LevelSpec, t Type, what string) {
	switch t := t.(type) {
	case Buf:
		if !spec.Buffers {
			v.fault(nil, "%s is a buffer; at level %s data are values", what, spec.Level)
		}
	case Tensor:
		if spec.Buffers && t.Enc == nil {
			v.fault(nil, "%s is a tensor; at level %s data are buffers", what, spec.Level)
		}
	}
}

// uniform: every rank reaches a collective, every thread of a block a barrier,
// so none may stand under a condition or in a loop that differs between them.
func (v *verifier) uniform(op *Op) {
	if !op.Def.Traits.Has(Collective) && !op.Def.Traits.Has(Barrier) {
		return
	}
	for _, around := range v.stack[:len(v.stack)-1] {
		for i, c := range around.Clauses {
			if why, bad := v.divides(around.Def.Clauses[i], c); bad {
				v.Errorf(op, "stands under %s, which not all ranks or threads decide alike", why)
				return
			}
		}
	}
}

func (v *verifier) divides(s ClauseSpec, c Clause) (why string, bad bool) {
	switch c := c.(type) {
	case *Conds:
		for _, k := range c.List {
			if (s.KW == "" || s.KW == "if") && (v.varies(k.L) || v.varies(k.R)) {
				return k.String(), true
			}
		}
	case *Range:
		if v.varies(c.Lo) || v.varies(c.Hi) || v.varies(c.Step) {
			return c.Lo.String() + " to " + c.Hi.String(), true
		}
	}
	return "", false
}

// varies reports whether e may differ between ranks or threads: it holds a
// name that does, or a value computed in the function.
func (v *verifier) varies(e sym.Expr) bool {
	for _, n := range e.Names() {
		if b := v.syms[n]; b != nil && b.varying {
			return true
		}
	}
	for _, r := range e.Refs() {
		if x, ok := r.(*Value); !ok || v.params[x] == nil {
			return true
		}
	}
	return false
}
