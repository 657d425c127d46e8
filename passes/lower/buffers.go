package lower

import (
	"fmt"
	"slices"

	"tenon/internal/diag"
	"tenon/ir"
	"tenon/ir/ops/tensor"
	"tenon/ir/sym"
)

// Where values live, and copies between buffers.

func (b *bufferiser) here() *ir.Builder { return b.scopes[len(b.scopes)-1].Builder }

func (b *bufferiser) enter(r *ir.Region, loop bool, bound ...string) {
	b.scopes = append(b.scopes, &scope{ir.NewBuilder(r), loop, bound})
}

func (b *bufferiser) leave() { b.scopes = b.scopes[:len(b.scopes)-1] }

// findFeeds finds the tensors that are made only to start a loop's carried
// value, in the region that holds the loop: they are made in the loop's buffer.
func findFeeds(r *ir.Region, uses map[*ir.Value]int) map[*ir.Value]*ir.Value {
	feeds := map[*ir.Value]*ir.Value{}
	var walk func(r *ir.Region)
	walk = func(r *ir.Region) {
		made := map[*ir.Value]bool{}
		for _, op := range r.Ops {
			if c := carryOf(op); c != nil {
				for k, v := range c.Inits {
					if made[v] && uses[v] == 1 && isTensor(v) {
						feeds[v] = op.Results[k]
					}
				}
			}
			for _, v := range op.Results {
				made[v] = true
			}
			for _, in := range op.Regions() {
				walk(in)
			}
		}
	}
	walk(r)
	return feeds
}

// carryOf is the carry clause of op, nil if its row has none.
func carryOf(op *ir.Op) *ir.Carry {
	for _, c := range op.Clauses {
		if k, ok := c.(*ir.Carry); ok {
			return k
		}
	}
	return nil
}

// place is the buffer in which v is made, allocated if nothing has decided it.
func (b *bufferiser) place(v *ir.Value) *ir.Value {
	if p := b.places[v]; p != nil {
		return p
	}
	var p *ir.Value
	if loop := b.feeds[v]; loop != nil {
		p = b.place(loop)
	} else {
		p = b.alloc(v.Name, bufType(v.Type).(ir.Buf))
	}
	b.places[v] = p
	return p
}

// made records that v lives in the buffer p.
func (b *bufferiser) made(v, p *ir.Value) { b.m.Values[v] = p }

// alloc allocates outside all loops that its size does not depend on. A size
// that may be negative stays inside: where the loop does not run, nothing must
// be said about it.
func (b *bufferiser) alloc(name string, t ir.Buf) *ir.Value {
	t = b.m.Type(t).(ir.Buf)
	at := len(b.scopes) - 1
	for at > 0 && b.scopes[at].loop && b.mayLeave(t, b.scopes[at]) {
		at--
	}
	op := b.scopes[at].Add(ir.NewOp("loop.alloc", b.here().Loc), []ir.Type{t}, name)
	return op.Results[0]
}

func (b *bufferiser) mayLeave(t ir.Buf, s *scope) bool {
	for _, d := range t.Dims {
		if len(d.Refs()) > 0 || !b.facts.Prove(sym.Ge(d, sym.Const(0))) {
			return false
		}
		for _, n := range d.Names() {
			if slices.Contains(s.bound, n) {
				return false
			}
		}
	}
	return true
}

// axesOver are fresh axes over the dims of t and the element they name.
func (b *bufferiser) axesOver(dims []sym.Expr) (axes []ir.Axis, subs []sym.Expr) {
	for d, n := range dims {
		name := b.symbol(fmt.Sprintf("i%d", d))
		axes = append(axes, ir.Axis{Name: name, Extent: n})
		subs = append(subs, sym.Name(name))
	}
	return axes, subs
}

// symbol is base, or base with a suffix where the function has that symbol.
func (b *bufferiser) symbol(base string) string {
	name := base
	for k := 2; b.names[name]; k++ {
		name = fmt.Sprintf("%s_%d", base, k)
	}
	return name
}

// copy copies a whole buffer, and records why; a buffer is not copied to itself.
func (b *bufferiser) copy(from, to *ir.Value, why string) { b.copyAt(from, to, nil, why) }

// copyAt copies from to the part of to that the first subscripts at select.
func (b *bufferiser) copyAt(from, to *ir.Value, at []sym.Expr, why string) {
	if from == to {
		return
	}
	b.c.Done(b.here().Loc, "%%%s is copied to %%%s: %s", from.Name, to.Name, why)
	dims, _ := ir.DimsOf(from.Type)
	if part, ok := b.extents[from]; ok {
		dims = part
	}
	axes, subs := b.axesOver(dims)
	b.move(axes, from, subs, to, slices.Concat(at, subs))
}

// move is to[out] = from[in] over axes.
func (b *bufferiser) move(axes []ir.Axis, from *ir.Value, in []sym.Expr, to *ir.Value, out []sym.Expr) {
	e := &ir.Value{Name: "e", Type: ir.Scalar{Elem: ir.ElemOf(from.Type)}}
	body := &ir.Region{}
	b.here().In(body).Yield(e)
	b.here().Add(tensor.New(b.here().Loc, tensor.Comp{Par: axes, In: []ir.Read{{Res: e, Src: from, Subs: in}},
		Out: &ir.Outs{List: []ir.Out{{Buf: to, Subs: out}}}, Body: body}), nil)
}

// refuse reports an op that has no form over buffers.
func (b *bufferiser) refuse(op *ir.Op, what string) {
	b.errs = append(b.errs, diag.Errorf(op.Loc.First(), "%s%s has no native code yet; run it with --interp", op.Def.Name, what))
	for _, v := range op.Results {
		b.made(v, &ir.Value{Name: v.Name, Type: bufType(v.Type)})
	}
}
