// sanitize puts a check before every access to memory, and fills fresh buffers
// with what no program computes.
//
// Before:
//
//	%t = loop.alloc : buf<f32[N]>
//	%a = load(%t[i])
//	loop.copy(%x[0:n], %t[0:n])
//
// After:
//
//	%t = loop.alloc : buf<f32[N]>
//	loop.poison(%t)
//	loop.inside(%t[i])
//	loop.defined(%t[i])
//	%a = load(%t[i])
//	loop.inside(%x[0:n])
//	loop.inside(%t[0:n])
//	loop.copy(%x[0:n], %t[0:n])
//
// The checks are ops of the IR, so that every target has them, and are done
// whatever is known: an access that a wrong proof lets through is found. Out
// parameters are fresh buffers too, and so no argument may lie where they do. That an element is undefined shows for
// floats alone: every integer may be meant.
//
// Accesses of vectors are checked likewise, by vec.inside and vec.defined.
//
// Legal always: a program that reads no element that nothing wrote, and none
// outside, means the same. A buffer that is prepared is filled where it is
// prepared. It runs last, since other passes move nothing across
// the checks.
//
// It leaves comps over the entries of a pattern alone, which no code is made of.
package loop

import (
	"slices"

	"tenon/ir"
	rows "tenon/ir/ops/loop"
	"tenon/passes/pass"
)

// Sanitize checks every access.
var Sanitize = pass.Register(&pass.Pass{
	Name:    "sanitize",
	Doc:     "check every access to memory, and fill fresh buffers with what no program computes",
	After:   []string{"lower-comps", "contract-buffers", "vectorise"},
	Counted: true,
	Run: func(c *pass.Context) error {
		for _, f := range c.Module.Funcs() {
			if !f.IsProc || f.Level != ir.LevelLoop && f.Level != ir.LevelVec {
				continue
			}
			c.At(f, nil)
			s := &sanitizer{c, rows.Prepared(f)}
			s.region(f.Body)
			b := ir.NewBuilder(&ir.Region{})
			b.Loc = f.Loc
			for _, p := range f.Params {
				if _, ok := p.Value.Type.(ir.Buf); ok && p.Mode == ir.ModeOut && c.Apply(nil) {
					poison(b, p.Value)
				}
			}
			f.Body.Ops = slices.Concat(b.Region.Ops, f.Body.Ops)
			f.Directives = ir.WithoutDirective(f.Directives, "inplace") // an argument would be poisoned
		}
		return nil
	},
})

type sanitizer struct {
	c        *pass.Context
	prepared map[*ir.Value]*ir.Op // poisoned where they are filled: nothing else writes them
}

func (s *sanitizer) region(r *ir.Region) {
	old := r.Ops
	r.Ops = make([]*ir.Op, 0, 2*len(old))
	b := ir.NewBuilder(r)
	for _, op := range old {
		b.Loc = op.Loc
		if op.Def.Family() != "tensor" {
			for _, in := range op.Regions() {
				s.region(in)
			}
			s.poisonPrepared(op)
		}
		s.before(b, op)
		r.Ops = append(r.Ops, op)
		if op.Def.Traits.Has(ir.Allocates) && s.c.Apply(op) {
			for _, v := range op.Results {
				if s.prepared[v] == nil {
					poison(b, v)
				}
			}
		}
	}
}

// poisonPrepared fills the buffers that op prepares before it does so.
func (s *sanitizer) poisonPrepared(op *ir.Op) {
	if op.Def != rows.Prepare || !s.c.Apply(op) {
		return
	}
	body := op.Regions()[0]
	b := ir.NewBuilder(&ir.Region{})
	b.Loc = op.Loc
	for _, v := range op.OperandValues("") {
		poison(b, v)
	}
	body.Ops = slices.Concat(b.Region.Ops, body.Ops)
}

// before puts the checks of an op's accesses in front of it.
func (s *sanitizer) before(b *ir.Builder, op *ir.Op) {
	if at, ok := lanes[op.Def.Name]; ok {
		if at >= 0 && s.c.Apply(op) {
			checkLanes(b, op, at)
		}
		return
	}
	for _, k := range op.Clauses {
		switch k := k.(type) {
		case *ir.Operands:
			for _, a := range k.Args {
				if a.Value != nil && a.View != nil && isBuf(a.Value) && s.c.Apply(op) {
					check(b, "loop.inside", a)
					if op.Def.Name == "load" && ir.ElemOf(a.Value.Type).IsFloat() {
						check(b, "loop.defined", a)
					}
				}
			}
		case *ir.Reads:
			s.reads(b, op, k)
		}
	}
}

// lanes are the ops that access several elements, with the number of the operand
// that is the first of them; -1: none is accessed.
var lanes = map[string]int{"vec.load": 0, "vec.gather": 0, "vec.store": 1, "vec.scatter": 1, "vec.prefetch": -1}

// checkLanes checks the elements that op accesses in its lanes.
func checkLanes(b *ir.Builder, op *ir.Op, at int) {
	args := op.Args("")
	names := []string{"vec.inside"}
	if len(op.Results) > 0 && ir.ElemOf(args[at].Value.Type).IsFloat() {
		names = append(names, "vec.defined")
	}
	for _, name := range names {
		view := ir.View{Dims: slices.Clone(args[at].View.Dims)}
		k := ir.NewOp(name, b.Loc, &ir.Operands{Args: append([]ir.Arg{{Value: args[at].Value, View: &view}}, args[at+1:]...)})
		switch {
		case len(args) > at+1: // element numbers
		case len(op.Results) > 0:
			ir.SetClause(k, "lanes", &ir.Attr{Value: ir.AttrInt, Int: lanesOf(op.Results[0])})
		default:
			ir.SetClause(k, "lanes", &ir.Attr{Value: ir.AttrInt, Int: lanesOf(args[0].Value)})
		}
		if m := ir.GetClause[*ir.Operands](op, "mask"); m != nil {
			ir.SetClause(k, "mask", &ir.Operands{Args: slices.Clone(m.Args)})
		}
		b.Add(k, nil)
	}
}

// lanesOf is how many elements a vector has; one of bools is a mask.
func lanesOf(v *ir.Value) int64 {
	if m, ok := v.Type.(ir.Mask); ok {
		return int64(m.Lanes)
	}
	return int64(v.Type.(ir.Vec).Lanes)
}

// reads checks what an op reads of buffers by a clause; a read whose subscripts
// another read of the op gives cannot be checked before it.
func (s *sanitizer) reads(b *ir.Builder, op *ir.Op, k *ir.Reads) {
	for _, r := range k.List {
		inner := false
		for _, e := range r.Subs {
			for _, v := range e.Refs() {
				inner = inner || slices.ContainsFunc(k.List, func(o ir.Read) bool { return o.Res == v.(*ir.Value) })
			}
		}
		if inner || op.Def.Name == "tensor.comp" {
			s.c.Decline(op.Loc, "the read of %%%s is not checked: its subscripts are known inside only", r.Src.Name)
			continue
		}
		if isBuf(r.Src) && s.c.Apply(op) {
			check(b, "loop.inside", ir.ElemArg(r.Src, r.Subs...))
		}
	}
}

func isBuf(v *ir.Value) bool {
	_, ok := v.Type.(ir.Buf)
	return ok
}

func check(b *ir.Builder, name string, a ir.Arg) {
	view := ir.View{Dims: slices.Clone(a.View.Dims)}
	b.Add(ir.NewOp(name, b.Loc, &ir.Operands{Args: []ir.Arg{{Value: a.Value, View: &view}}}), nil)
}

func poison(b *ir.Builder, v *ir.Value) {
	b.Add(ir.NewOp("loop.poison", b.Loc, &ir.Operands{Args: []ir.Arg{ir.ValueArg(v)}}), nil)
}
