// integer-extremes folds maxima and minima of f32 over the bits of the floats,
// as integers.
//
// Before:
//
//	%m = loop.for j = 0 to N carry(%a = %minus_inf) { yield(max(%a, load(%x[j]))) } : f32
//
// After:
//
//	%t, %u, %l = loop.for j = 0 to N carry(%a = %least, %b = %least, %c = %bits_of_minus_inf) {
//	  %i = bitcast(load(%x[j])) : i32
//	  yield(max(%a, %i), max(%b, xor(%i, %least)), min(%c, %i)) } : 3 * i32
//	%m = bitcast(select(gt(%u, 0x7f800000), xor(%u, %least), select(ge(%t, 0), %t, %l))) : f32
//
// with the least i32, which is the sign bit. Among floats without a sign the
// greatest one has the greatest bits, NaN above infinity; among those with a
// sign the greatest one has the least. So the greatest integer is the maximum if
// any element has no sign, else the least one is. With the sign flipped, the
// greatest integer is that of the greatest size with a sign: it tells a NaN that
// has one, and is the minimum if there is any such element; else the least
// integer is, and the greatest one tells a NaN.
//
// Legal always: the result has the same bits, but for which NaN it is.
//
// For machines whose maximum of floats loses a NaN or takes -0.0 for +0.0 (option
// of the pipeline): keeping them costs five instructions an element, of which
// three wait for the same unit; four that do not take less than half the time.
// Elements of 64 bits stay, for want of vector maxima of such integers. A fold
// under a guard stays too.
package vec

import (
	"math"
	"slices"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/passes/pass"
)

// IntegerExtremes folds maxima and minima over the bits of floats.
var IntegerExtremes = pass.Register(&pass.Pass{
	Name:    "integer-extremes",
	Doc:     "fold maxima and minima of f32 over their bits, as integers",
	After:   []string{"lower-comps", "fuse-loops"},
	Counted: true,
	Run: func(c *pass.Context) error {
		for _, f := range c.Funcs() {
			if f.Level == ir.LevelLoop {
				c.At(f, nil)
				extremesIn(c, f.Body)
			}
		}
		return nil
	},
})

func extremesIn(c *pass.Context, r *ir.Region) {
	for i := 0; i < len(r.Ops); i++ {
		op := r.Ops[i]
		for _, in := range op.Regions() {
			extremesIn(c, in)
		}
		if op.Def.Name != "loop.for" {
			continue
		}
		folds := extremesOf(op)
		if len(folds) == 0 || !c.Apply(op) {
			continue
		}
		ops := onBits(op, folds)
		r.Ops = slices.Replace(r.Ops, i, i+1, ops...)
		i += len(ops) - 1
	}
}

// extremesOf are the ops that fold a carried f32 into its maximum or minimum, by
// the place among what op carries.
func extremesOf(op *ir.Op) map[int]*ir.Op {
	folds := map[int]*ir.Op{}
	params, yields := carryOf(op).Params, bodyOf(op).Yields()
	if len(params) != len(yields) || len(op.Results) != len(params) {
		return nil
	}
	for i, p := range params {
		by := yields[i].Def
		if by == nil || by != combiner(p, yields[i]) || by.Def.Name != "max" && by.Def.Name != "min" {
			continue
		}
		if ir.ElemOf(p.Type) == num.F32 && usesOf(bodyOf(op), p) == 1 && onlyYielded(bodyOf(op), yields[i]) {
			folds[i] = by
		}
	}
	return folds
}

// onBits is the loop op with folds over bits in place of those given, and the
// ops around it.
func onBits(op *ir.Op, folds map[int]*ir.Op) []*ir.Op {
	out, body := &ir.Region{}, &ir.Region{}
	b := ir.NewBuilder(out)
	b.Loc = op.Loc
	in := b.In(body)
	old, carry, next := carryOf(op), &ir.Carry{}, []*ir.Value{}
	for i, p := range old.Params {
		inits, params := []*ir.Value{old.Inits[i]}, []*ir.Value{p}
		if by := folds[i]; by != nil {
			inits, params = bitsToStart(b, by.Def.Name, old.Inits[i]), nil
			for _, v := range inits {
				params = append(params, &ir.Value{Name: p.Name, Type: v.Type})
			}
		}
		carry.Inits, carry.Params = append(carry.Inits, inits...), append(carry.Params, params...)
	}
	for _, o := range bodyOf(op).Ops {
		if o.Def.Name != "yield" && !isOneOf(folds, o) {
			body.Ops = append(body.Ops, o)
		}
	}
	for i, y := range bodyOf(op).Yields() {
		if folds[i] == nil {
			next = append(next, y)
			continue
		}
		next = append(next, foldBits(in, otherOf(folds[i], old.Params[i]), carry.Params[len(next):])...)
	}
	in.Yield(next...)
	loop := withCarry(op, carry, body)
	b.Add(loop, ir.TypesOf(carry.Params), op.Results[0].Name)
	finishAll(b, op, folds, loop)
	return out.Ops
}

func isOneOf(folds map[int]*ir.Op, op *ir.Op) bool {
	for _, f := range folds {
		if f == op {
			return true
		}
	}
	return false
}

// otherOf is the operand of by that is not p.
func otherOf(by *ir.Op, p *ir.Value) *ir.Value {
	if v := by.Operand(0); v != p {
		return v
	}
	return by.Operand(1)
}

// withCarry is op with other carried values and another body.
func withCarry(op *ir.Op, carry *ir.Carry, body *ir.Region) *ir.Op {
	loop := &ir.Op{Def: op.Def, Loc: op.Loc, Clauses: slices.Clone(op.Clauses)}
	for i, c := range loop.Clauses {
		switch c.(type) {
		case *ir.Carry:
			loop.Clauses[i] = carry
		case *ir.Block:
			loop.Clauses[i] = &ir.Block{Region: body}
		}
	}
	return loop
}

// infinityBits are those of infinity. The integers that order floats have the
// type of bits; signBit flips their sign.
const infinityBits, signBit = 0x7f800000, math.MinInt32

// bitsToStart are what the three folds begin with for init. The identity is one
// of the last fold alone: over no element, the others must not tell a NaN.
func bitsToStart(b *ir.Builder, by string, init *ir.Value) []*ir.Value {
	start := bitcast(b, init, num.I32)
	if isConst(init, identity(by, num.F32)) {
		least := b.Const(num.I32, num.FromInt(signBit))
		return []*ir.Value{least, least, start}
	}
	return []*ir.Value{start, flipSign(b, start), start}
}

func flipSign(b *ir.Builder, x *ir.Value) *ir.Value {
	return b.Scalar("xor", x, b.Const(num.I32, num.FromInt(signBit)))
}

// foldBits is one iteration of the three folds.
func foldBits(b *ir.Builder, x *ir.Value, acc []*ir.Value) []*ir.Value {
	x = bitcast(b, x, num.I32)
	return []*ir.Value{b.Scalar("max", acc[0], x), b.Scalar("max", acc[1], flipSign(b, x)), b.Scalar("min", acc[2], x)}
}

// finishAll gives op's results values made of those of the new loop.
func finishAll(b *ir.Builder, op *ir.Op, folds map[int]*ir.Op, loop *ir.Op) {
	at := 0
	for i, v := range op.Results {
		by := folds[i]
		if by == nil {
			loop.Results[at], v.Def = v, loop
			at++
			continue
		}
		end := extremeOf(b, by.Def.Name, loop.Results[at:at+3]).Def
		end.Results[0], v.Def = v, end
		at += 3
	}
}

// extremeOf picks the maximum or minimum from the greatest integer, the greatest
// with the sign flipped, and the least.
func extremeOf(b *ir.Builder, by string, acc []*ir.Value) *ir.Value {
	zero, inf := b.Const(num.I32, num.FromInt(0)), b.Const(num.I32, num.FromInt(infinityBits))
	greatest, flipped, least := acc[0], acc[1], acc[2]
	signed := flipSign(b, flipped)
	if by == "max" {
		best := b.Scalar("select", b.Scalar("ge", greatest, zero), greatest, least)
		return bitcast(b, b.Scalar("select", b.Scalar("gt", flipped, inf), signed, best), num.F32)
	}
	best := b.Scalar("select", b.Scalar("ge", flipped, zero), signed, least)
	return bitcast(b, b.Scalar("select", b.Scalar("gt", greatest, inf), greatest, best), num.F32)
}

func bitcast(b *ir.Builder, x *ir.Value, e num.Elem) *ir.Value {
	op := ir.NewOp("bitcast", b.Loc, &ir.Operands{Args: []ir.Arg{ir.ValueArg(x)}})
	return b.Add(op, []ir.Type{ir.Scalar{Elem: e}}).Results[0]
}
