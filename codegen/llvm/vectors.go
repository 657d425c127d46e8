package llvm

import (
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	lltypes "github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"tenon/internal/num"
)

// Splat spreads a scalar over lanes.
func (f *Func) Splat(v Value, lanes int) Value {
	t := VecOf(v.Elem(), lanes)
	if c, ok := v.v.(*bits); ok {
		return Value{literal(t.register(), c.raw, c.elem), t}
	}
	vt := t.register().(*lltypes.VectorType)
	one := f.cur.NewInsertElement(constant.NewPoison(vt), v.v, lane(0))
	return Value{f.cur.NewShuffleVector(one, constant.NewPoison(vt), lanesOf(make([]int, lanes))), t}
}

// lane is the number of a lane as an operand.
func lane(i int) constant.Constant { return constant.NewInt(lltypes.I32, int64(i)) }

// lanesOf is the constant vector of lane numbers that a shuffle takes.
func lanesOf(ns []int) constant.Constant {
	cs := make([]constant.Constant, len(ns))
	for i, n := range ns {
		cs[i] = lane(n)
	}
	return constant.NewVector(lltypes.NewVector(uint64(len(ns)), lltypes.I32), cs...)
}

// counting is 0, 1, 2.. in the lanes of an integer type.
func counting(t *lltypes.IntType, lanes int) constant.Constant {
	cs := make([]constant.Constant, lanes)
	for i := range cs {
		// Lanes of i8 may wrap, as the IR's iota does.
		cs[i] = constant.NewInt(t, int64(i)<<(64-t.BitSize)>>(64-t.BitSize))
	}
	return constant.NewVector(lltypes.NewVector(uint64(lanes), t), cs...)
}

// Iota is start, start + 1 and so on in lanes of start's integer type.
func (f *Func) Iota(start Value, lanes int) Value {
	t := register(start.Elem()).(*lltypes.IntType)
	v := f.Splat(start, lanes)
	return Value{f.cur.NewAdd(v.v, counting(t, lanes)), v.t}
}

// FirstN is the mask of the lanes below n, an index, which may be negative or
// too large.
func (f *Func) FirstN(n Value, lanes int) Value {
	f.want("count of lanes", n, num.Index)
	inside := f.Op("max", f.Op("min", n, Index(int64(lanes))), Index(0))
	short := f.Splat(Value{f.cur.NewTrunc(inside.v, lltypes.I32), TypeOf(num.I32)}, lanes)
	less := f.cur.NewICmp(enum.IPredULT, counting(lltypes.I32, lanes), short.v)
	return Value{less, VecOf(num.Bool, lanes)}
}

// Any reports whether a lane of a mask is set.
func (f *Func) Any(mask Value) Value {
	whole := f.cur.NewBitCast(mask.v, lltypes.NewInt(uint64(mask.t.lanes)))
	return Value{f.cur.NewICmp(enum.IPredNE, whole, literal(whole.To, 0, num.Invalid)), TypeOf(num.Bool)}
}

// LoadVec reads a vector of type t at addr; lanes that the mask leaves out are
// zero and not touched in memory. Element alignment is all that is assumed.
func (f *Func) LoadVec(t Type, addr, mask Value) Value {
	if !mask.IsValid() {
		return f.Load(t, addr)
	}
	mem := t.memory()
	zero := literal(mem, 0, num.Invalid)
	read := f.masked("load", mem, nil, addr, t, mask, zero)
	if t.elem != num.Bool {
		return Value{read, t}
	}
	return Value{f.cur.NewICmp(enum.IPredNE, read, zero), t}
}

// StoreVec writes the lanes of v that the mask keeps.
func (f *Func) StoreVec(v, addr, mask Value) {
	if !mask.IsValid() {
		f.Store(v, addr)
		return
	}
	x := v.v
	if v.t.elem == num.Bool {
		x = f.cur.NewZExt(x, v.t.memory())
	}
	f.masked("store", nil, x, addr, v.t, mask, nil)
}

// masked calls llvm.masked.load or store.
func (f *Func) masked(what string, result lltypes.Type, x value.Value, addr Value, t Type, mask Value, zero value.Value) value.Value {
	ptr := f.typed(addr, t)
	align := constant.NewInt(lltypes.I32, int64(t.elem.Bytes()))
	args := []value.Value{ptr, align, mask.v}
	if x != nil {
		args = append([]value.Value{x}, args...)
	}
	if zero != nil {
		args = append(args, zero)
	}
	params := make([]lltypes.Type, len(args))
	for i, a := range args {
		params[i] = a.Type()
	}
	if result == nil {
		result = lltypes.Void
	}
	callee := f.m.declare("llvm.masked."+what+"."+short(t.memory())+".p0", result, false, params...)
	call := f.cur.NewCall(callee, args...)
	return call
}

// GatherVec reads, in lane i, the element of number idx[i] of the array at base.
func (f *Func) GatherVec(t Type, base, idx, mask Value) Value {
	return f.eachLane(t, mask, func(i int) Value { return f.At(base, t.elem, f.index(idx, i)) }, func(addr, into Value, i int) Value {
		return f.Insert(into, f.Load(TypeOf(t.elem), addr), i)
	})
}

// ScatterVec writes lane i of v to the element of number idx[i], in order.
func (f *Func) ScatterVec(v, base, idx, mask Value) {
	f.eachLane(v.t, mask, func(i int) Value { return f.At(base, v.t.elem, f.index(idx, i)) }, func(addr, into Value, i int) Value {
		f.Store(f.Extract(v, i), addr)
		return into
	})
}

// index is a lane of a vector of integers as an index.
func (f *Func) index(idx Value, i int) Value { return f.Cast(f.Extract(idx, i), num.Index) }

// eachLane runs visit for the lanes that the mask keeps, one after the other,
// and returns the vector that they fill. Hardware gathers are no faster than
// loads one by one on the cores we know, and scatters are slower.
func (f *Func) eachLane(t Type, mask Value, addr func(i int) Value, visit func(addr, into Value, i int) Value) Value {
	into := f.Splat(Value{literal(register(t.elem), 0, num.Invalid), TypeOf(t.elem)}, t.lanes)
	for i := 0; i < t.lanes; i++ {
		if !mask.IsValid() {
			into = visit(addr(i), into, i)
			continue
		}
		old := into
		into = f.If(f.Extract(mask, i),
			func() []Value { return []Value{visit(addr(i), old, i)} },
			func() []Value { return []Value{old} })[0]
	}
	return into
}

// Extract is one lane.
func (f *Func) Extract(v Value, i int) Value {
	return Value{f.cur.NewExtractElement(v.v, lane(i)), TypeOf(v.Elem())}
}

// Insert is v with one lane replaced.
func (f *Func) Insert(v, x Value, i int) Value {
	return Value{f.cur.NewInsertElement(v.v, x.v, lane(i)), v.t}
}

// Shuffle is the lanes of the numbers given, counted through the operands,
// which have one type.
func (f *Func) Shuffle(vs []Value, ns []int) Value {
	t := VecOf(vs[0].Elem(), len(ns))
	each := vs[0].t.lanes
	if len(vs) <= 2 {
		second := value.Value(constant.NewPoison(vs[0].t.register()))
		if len(vs) == 2 {
			second = vs[1].v
		}
		return Value{f.cur.NewShuffleVector(vs[0].v, second, lanesOf(ns)), t}
	}
	out := Value{constant.NewPoison(t.register()), t}
	for i, n := range ns {
		out = f.Insert(out, f.Extract(vs[n/each], n%each), i)
	}
	return out
}

// Permute is, in lane i, the lane of v whose number is idx's lane i, modulo
// v's length.
func (f *Func) Permute(v, idx Value) Value {
	n := Int(idx.Elem(), int64(v.t.lanes))
	out := Value{constant.NewPoison(vector(register(v.Elem()), idx.t.lanes)), VecOf(v.Elem(), idx.t.lanes)}
	for i := 0; i < idx.t.lanes; i++ {
		at := f.Cast(f.Op("mod", f.Extract(idx, i), n), num.Index)
		x := f.cur.NewExtractElement(v.v, at.v)
		out = f.Insert(out, Value{x, TypeOf(v.Elem())}, i)
	}
	return out
}

// Reduce folds the lanes by an operator: the upper half with the lower one as
// long as their number is even, then the rest from lane 0 on.
func (f *Func) Reduce(op string, v Value) Value {
	n := v.t.lanes
	for ; n > 1 && n%2 == 0; n /= 2 {
		low, high := make([]int, n/2), make([]int, n/2)
		for i := range low {
			low[i], high[i] = i, i+n/2
		}
		v = f.Op(op, f.Shuffle([]Value{v}, low), f.Shuffle([]Value{v}, high))
	}
	out := f.Extract(v, 0)
	for i := 1; i < n; i++ {
		out = f.Op(op, out, f.Extract(v, i))
	}
	return out
}

// Prefetch hints that the line of addr will be read, into the cache of the
// given level from 1 on.
func (f *Func) Prefetch(addr Value, level int) {
	callee := f.m.declare("llvm.prefetch.p0", lltypes.Void, false, lltypes.I8Ptr, lltypes.I32, lltypes.I32, lltypes.I32)
	locality := max(0, 4-level)
	f.cur.NewCall(callee, addr.v, lane(0), lane(locality), lane(1))
}
