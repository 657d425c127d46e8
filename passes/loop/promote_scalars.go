// promote-scalars makes values of local variables: buffers of rank 0 that are
// allocated in the function and only loaded and stored.
//
// Before:
//
//	%s = loop.alloc : buf<f64[]>
//	store(%z, %s[])
//	loop.for k = 0 to K { store(add(load(%s[]), load(%x[k])), %s[]) }
//	store(load(%s[]), %y[i])
//
// After:
//
//	%s = loop.for k = 0 to K carry(%s = %z) { yield(add(%s, load(%x[k]))) } : f64
//	store(%s, %y[i])
//
// A loop that stores carries the value, a branch that stores gives it.
//
// Legal if nothing else than loads and stores knows the buffer, the first access
// stores, and stores are under loops in order and branches alone. Bits do not
// change: a value has the type of the element.
//
// It leaves variables that parallel loops or loops with directives assign, and those
// that are read first.
package loop

import (
	"slices"

	"tenon/ir"
	"tenon/passes/pass"
)

// PromoteScalars makes carried values of local variables.
var PromoteScalars = pass.Register(&pass.Pass{
	Name:    "promote-scalars",
	Doc:     "carry local variables through loops as values",
	Counted: true,
	Run: func(c *pass.Context) error {
		for _, f := range c.Module.Funcs() {
			if f.IsProc && f.Level == ir.LevelLoop {
				c.At(f, nil)
				promoteIn(c, f.Body)
			}
		}
		return nil
	},
})

// promoteIn promotes what is allocated in r, then what is inside its ops.
func promoteIn(c *pass.Context, r *ir.Region) {
	for _, op := range slices.Clone(r.Ops) {
		for _, v := range op.Results {
			if isVariable(v) && (&promoter{buf: v}).promotes(r) && c.Apply(op) {
				p := &promoter{buf: v, stands: map[*ir.Value]*ir.Value{}}
				p.region(r, nil)
				p.rename(r)
			}
		}
		for _, in := range op.Regions() {
			promoteIn(c, in)
		}
	}
}

func isVariable(v *ir.Value) bool {
	t, ok := v.Type.(ir.Buf)
	return ok && v.Def.Def.Name == "loop.alloc" && len(t.Dims) == 0 && t.Dist == nil && t.Space == "" && t.Strides == nil
}

// promoter makes a value of buf. stands says what stands for the results of its
// loads.
type promoter struct {
	buf    *ir.Value
	stands map[*ir.Value]*ir.Value
}

// promotes reports that buf, allocated in r, can be a value.
func (p *promoter) promotes(r *ir.Region) bool {
	first := slices.IndexFunc(r.Ops, func(op *ir.Op) bool { return p.mentions(op, nil) })
	return first >= 0 && p.isStore(r.Ops[first]) && p.regionFits(r)
}

// regionFits reports that what uses buf in r are loads, stores, and ops whose
// regions may give a value in the place of a store.
func (p *promoter) regionFits(r *ir.Region) bool {
	for _, op := range r.Ops {
		if !p.isLoad(op) && !p.isStore(op) {
			used := false
			op.Values(func(v *ir.Value) *ir.Value {
				used = used || v == p.buf
				return v
			})
			if used || p.mentions(op, p.isStore) && !givesValues(op) {
				return false
			}
		}
		for _, in := range op.Regions() {
			if !p.regionFits(in) {
				return false
			}
		}
	}
	return true
}

// givesValues reports an op that can be made to give another value: a branch, or
// a loop in order. What a directive says of a loop may not hold with the value.
func givesValues(op *ir.Op) bool {
	return op.Def.Name == "loop.if" || op.Def.Name == "loop.for" && ir.GetClause[*ir.Directives](op, "directives") == nil
}

func (p *promoter) isLoad(op *ir.Op) bool {
	return op.Def.Name == "load" && op.Args("")[0].Value == p.buf
}

// isStore reports a store to buf; what is stored is a scalar, never buf.
func (p *promoter) isStore(op *ir.Op) bool {
	return op.Def.Name == "store" && op.Args("")[1].Value == p.buf
}

// mentions reports an op in op, or op itself, that uses buf, and that is one of
// kind where that is given.
func (p *promoter) mentions(op *ir.Op, kind func(*ir.Op) bool) bool {
	found := false
	(&ir.Region{Ops: []*ir.Op{op}}).Walk(func(in *ir.Op) bool {
		in.Values(func(v *ir.Value) *ir.Value {
			found = found || v == p.buf && (kind == nil || kind(in))
			return v
		})
		return !found
	})
	return found
}

// region takes the loads and stores out of r, where the variable is now at the
// start, and gives what it is at the end.
func (p *promoter) region(r *ir.Region, now *ir.Value) *ir.Value {
	kept := make([]*ir.Op, 0, len(r.Ops))
	for _, op := range r.Ops {
		switch {
		case p.isLoad(op):
			p.stands[op.Results[0]] = now
			continue
		case p.isStore(op):
			now = op.Operand(0)
			continue
		case slices.Contains(op.Results, p.buf):
			continue
		case !p.mentions(op, p.isStore):
			for _, in := range op.Regions() {
				p.region(in, now)
			}
		case op.Def.Name == "loop.if":
			now = p.branch(op, now)
		default:
			now = p.loop(op, now)
		}
		kept = append(kept, op)
	}
	r.Ops = kept
	return now
}

// loop carries the variable through op.
func (p *promoter) loop(op *ir.Op, now *ir.Value) *ir.Value {
	param := &ir.Value{Name: p.buf.Name, Type: now.Type}
	c := *carryOf(op)
	c.Inits, c.Params = append(slices.Clone(c.Inits), now), append(slices.Clone(c.Params), param)
	ir.SetClause(op, "carry", &c)
	yieldToo(bodyOf(op), p.region(bodyOf(op), param), op.Loc)
	return p.result(op, now.Type)
}

// branch gives the variable from both sides of op.
func (p *promoter) branch(op *ir.Op, now *ir.Value) *ir.Value {
	if len(op.Regions()) == 1 {
		ir.SetClause(op, "else", &ir.Block{Region: &ir.Region{}})
	}
	for _, in := range op.Regions() {
		yieldToo(in, p.region(in, now), op.Loc)
	}
	return p.result(op, now.Type)
}

func (p *promoter) result(op *ir.Op, t ir.Type) *ir.Value {
	v := &ir.Value{Name: p.buf.Name, Type: t, Def: op}
	op.Results = append(op.Results, v)
	return v
}

// yieldToo adds v to what r gives.
func yieldToo(r *ir.Region, v *ir.Value, loc ir.Loc) {
	vs := append(slices.Clone(r.Yields()), v)
	if r.Last() != nil {
		r.Ops = r.Ops[:len(r.Ops)-1]
	}
	b := ir.NewBuilder(r)
	b.Loc = loc
	b.Yield(vs...)
}

// rename puts what stands for them in the place of the loads' results.
func (p *promoter) rename(r *ir.Region) {
	r.Walk(func(op *ir.Op) bool {
		op.Values(func(v *ir.Value) *ir.Value {
			for u := p.stands[v]; u != nil; u = p.stands[v] {
				v = u
			}
			return v
		})
		return true
	})
}
