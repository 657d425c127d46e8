package tile

import (
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/access"
	"tenon/ir/ops/loop"
)

// kernelRun is a staged tile.call: it makes the kernel's inputs from the
// provider regions, runs the kernel's meaning on them and a tile of
// accumulators, and stores what the epilogue makes of these.
type kernelRun struct {
	m         ir.Machine
	op        *ir.Op
	k         *ir.Kernel
	tile      func(*ir.Frame) *ir.Array
	others    []func(*ir.Frame) int64
	tileSlots []int // of the kernel's dims that the tile gives
	restSlots []int
	ins       []provider
	out       int // slot of the accumulators
	acc       num.Elem
	first     func(*ir.Frame) bool
	last      func(*ir.Frame) bool
	fresh     ir.Step // the meaning, from the monoid's identity
	more      ir.Step // the meaning, from the accumulators
	epilogue  *epilogue
	saved     []int // slots of names that the meaning binds
}

// provider fills one input of the kernel.
type provider struct {
	slot, value int
	elem        num.Elem
	dims        []func(*ir.Frame) int64
	subs        []int
	region      ir.Step
}

type epilogue struct {
	acc, value int
	subs       []int
	region     ir.Step
}

func evalCall(m ir.Machine, op *ir.Op) ir.Step {
	k := ir.Lookup[*ir.Kernel](m.Module(), ir.GetClause[*ir.Attr](op, "kernel").Str)
	ins, out, _ := kernelShape(k)
	tile, others, _ := tileDims(k, out)
	r := &kernelRun{m: m, op: op, k: k, tile: access.View(m, op, op.Args("")[0]), others: access.Ints(m, op.Args("")[1:]),
		out: m.Object(out.Value), acc: ir.ElemOf(out.Value.Type),
		first: loop.AllHold(m, ir.GetClause[*ir.Conds](op, "first")), last: loop.AllHold(m, ir.GetClause[*ir.Conds](op, "last"))}
	r.saved = boundSlots(m, k)
	for _, n := range tile {
		r.tileSlots = append(r.tileSlots, m.Symbol(n))
	}
	for _, n := range others {
		r.restSlots = append(r.restSlots, m.Symbol(n))
	}
	for i, kw := range []string{"a", "b"} {
		r.ins = append(r.ins, newProvider(m, ir.GetClause[*ir.Block](op, kw), ins[i]))
	}
	r.fresh, r.more = m.Region(k.Meaning), m.Region(accumulating(k.Meaning))
	if e := ir.GetClause[*ir.Block](op, "epilogue"); e != nil {
		r.epilogue = newEpilogue(m, e)
	}
	return r.run
}

func newProvider(m ir.Machine, b *ir.Block, p *ir.Param) provider {
	dims, _ := ir.DimsOf(p.Value.Type)
	return provider{slot: m.Object(p.Value), value: m.Scalar(b.Region.Yields()[0]), elem: ir.ElemOf(p.Value.Type),
		dims: access.Exprs(m, dims), subs: symbols(m, b.Params), region: m.Region(b.Region)}
}

func newEpilogue(m ir.Machine, b *ir.Block) *epilogue {
	return &epilogue{acc: m.Scalar(b.Params[0].Val), value: m.Scalar(b.Region.Yields()[0]),
		subs: symbols(m, b.Params[1:]), region: m.Region(b.Region)}
}

func symbols(m ir.Machine, ps []ir.BlockParam) []int {
	var slots []int
	for _, p := range ps {
		slots = append(slots, m.Symbol(p.Sym))
	}
	return slots
}

// boundSlots are the slots of the names that the kernel's text binds. They may
// be names of the caller's too, so run puts them back.
func boundSlots(m ir.Machine, k *ir.Kernel) []int {
	seen := map[string]bool{}
	var slots []int
	add := func(n string) {
		if n != "" && !seen[n] {
			seen[n] = true
			slots = append(slots, m.Symbol(n))
		}
	}
	for _, n := range k.Dims {
		add(n)
	}
	k.Meaning.Walk(func(op *ir.Op) bool {
		for _, c := range op.Clauses {
			switch c := c.(type) {
			case *ir.Axes:
				for _, a := range c.List {
					add(a.Name)
					add(a.Entry)
				}
			case *ir.Range:
				add(c.Name)
				add(c.Size)
			case *ir.Exists:
				for _, d := range c.Dims {
					add(d.Name)
				}
			case *ir.Block:
				for _, p := range c.Params {
					add(p.Sym)
				}
			}
		}
		return true
	})
	return slots
}

// accumulating is the meaning with its reductions started from what the out
// buffers hold.
func accumulating(r *ir.Region) *ir.Region {
	more := &ir.Region{}
	for _, op := range r.Ops {
		copied := *op
		copied.Clauses = append([]ir.Clause(nil), op.Clauses...)
		for i, c := range copied.Clauses {
			if by, ok := c.(*ir.By); ok && !by.FromOut {
				from := *by
				from.FromOut, from.Empty, from.EmptyError = true, nil, false
				copied.Clauses[i] = &from
			}
		}
		more.Ops = append(more.Ops, &copied)
	}
	return more
}

func (r *kernelRun) run(f *ir.Frame) {
	tile, others := r.tile(f), values(f, r.others)
	first, last := r.first(f), r.last(f)
	saved := make([]func(), len(r.saved))
	for i, slot := range r.saved {
		c, s := access.Get(f, slot)
		saved[i] = func() { access.Set(f, slot, c, s) }
	}
	inputs := r.inputs(f, tile, others, saved)
	r.bindDims(f, tile, others)
	for i, in := range r.ins {
		f.O[in.slot] = inputs[i]
	}
	acc := r.accumulators(f, tile, first)
	f.O[r.out] = acc
	if first {
		r.fresh(f)
	} else {
		r.more(f)
	}
	for _, restore := range saved {
		restore()
	}
	r.store(f, tile, acc, last)
}

// bindDims sets the kernel's dims, and checks that the tile is no larger than
// the kernel's.
func (r *kernelRun) bindDims(f *ir.Frame, tile *ir.Array, others []int64) {
	for i, slot := range r.tileSlots {
		if i < len(r.k.Tile) && tile.Shape[i] > r.k.Tile[i] {
			r.m.Trap(r.op, ir.TrapShape, "a tile of shape %v is larger than that of kernel @%s, %v", tile.Shape, r.k.Name, r.k.Tile)
		}
		access.SetInt(f, slot, tile.Shape[i])
	}
	for i, slot := range r.restSlots {
		if others[i] < 0 {
			r.m.Trap(r.op, ir.TrapShape, "operand %d is %d, but cannot be negative", i+2, others[i])
		}
		access.SetInt(f, slot, others[i])
	}
}

// inputs runs the providers. The inputs' sizes use the kernel's names, their
// regions the caller's: so the names are put back in between.
func (r *kernelRun) inputs(f *ir.Frame, tile *ir.Array, others []int64, restore []func()) []*ir.Array {
	r.bindDims(f, tile, others)
	var made []*ir.Array
	for _, in := range r.ins {
		made = append(made, r.m.Array(f, in.elem, values(f, in.dims)))
	}
	for _, back := range restore {
		back()
	}
	for i, in := range r.ins {
		arr := made[i]
		access.Each(arr.Shape, func(idx []int64) {
			for d, slot := range in.subs {
				access.SetInt(f, slot, idx[d])
			}
			in.region(f)
			c, s := access.Get(f, in.value)
			pos, _ := arr.Cell(idx)
			access.Write(f, r.op, arr, pos, c, s)
		})
	}
	return made
}

func (r *kernelRun) accumulators(f *ir.Frame, tile *ir.Array, first bool) *ir.Array {
	acc := r.m.Array(f, r.acc, tile.Shape)
	if first {
		return acc
	}
	cast := access.Cast(tile.Elem, r.acc)
	access.Each(tile.Shape, func(idx []int64) {
		from, _ := tile.Cell(idx)
		to, _ := acc.Cell(idx)
		c, s := access.Read(f, r.op, tile, from)
		c, s = cast(f, c, s)
		access.Write(f, r.op, acc, to, c, s)
	})
	return acc
}

func (r *kernelRun) store(f *ir.Frame, tile, acc *ir.Array, last bool) {
	cast := access.Cast(r.acc, tile.Elem)
	access.Each(tile.Shape, func(idx []int64) {
		from, _ := acc.Cell(idx)
		c, s := access.Read(f, r.op, acc, from)
		if e := r.epilogue; e != nil && last {
			access.Set(f, e.acc, c, s)
			for d, slot := range e.subs {
				access.SetInt(f, slot, idx[d])
			}
			e.region(f)
			c, s = access.Get(f, e.value)
		} else {
			c, s = cast(f, c, s)
		}
		to, _ := tile.Cell(idx)
		access.Write(f, r.op, tile, to, c, s)
	})
}
