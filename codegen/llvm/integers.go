package llvm

import (
	"github.com/llir/llvm/ir/enum"
	lltypes "github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// bin is an operator that LLVM has as it is.
func bin(op string) emit {
	return func(f *Func, _ num.Elem, a []value.Value) value.Value {
		switch op {
		case "add":
			return f.cur.NewAdd(a[0], a[1])
		case "sub":
			return f.cur.NewSub(a[0], a[1])
		case "mul":
			return f.cur.NewMul(a[0], a[1])
		case "and":
			return f.cur.NewAnd(a[0], a[1])
		case "or":
			return f.cur.NewOr(a[0], a[1])
		case "xor":
			return f.cur.NewXor(a[0], a[1])
		}
		diag.Bugf("no instruction %s", op)
		return nil
	}
}

var ipreds = map[string]enum.IPred{
	"eq": enum.IPredEQ, "ne": enum.IPredNE,
	"slt": enum.IPredSLT, "sle": enum.IPredSLE, "sgt": enum.IPredSGT, "sge": enum.IPredSGE,
	"ult": enum.IPredULT, "ule": enum.IPredULE, "ugt": enum.IPredUGT, "uge": enum.IPredUGE,
}

// icmp compares with or without a sign, as the element type has one.
func icmp(signed, unsigned string) emit {
	s, okS := ipreds[signed]
	u, okU := ipreds[unsigned]
	if !okS || !okU {
		diag.Bugf("no integer compare %s, %s", signed, unsigned)
	}
	return func(f *Func, e num.Elem, a []value.Value) value.Value {
		if e.IsSigned() {
			return f.cur.NewICmp(s, a[0], a[1])
		}
		return f.cur.NewICmp(u, a[0], a[1])
	}
}

func intMax(f *Func, e num.Elem, a []value.Value) value.Value {
	return f.pick(icmp("sgt", "ugt")(f, e, a), a[0], a[1])
}

func intMin(f *Func, e num.Elem, a []value.Value) value.Value {
	return f.pick(icmp("slt", "ult")(f, e, a), a[0], a[1])
}

func intFMA(f *Func, _ num.Elem, a []value.Value) value.Value {
	return f.cur.NewAdd(f.cur.NewMul(a[0], a[1]), a[2])
}

func intNeg(f *Func, e num.Elem, a []value.Value) value.Value {
	return f.cur.NewSub(f.intLit(e, 0), a[0])
}

// intAbs wraps: the magnitude of the least value is itself.
func intAbs(f *Func, e num.Elem, a []value.Value) value.Value {
	if !e.IsSigned() {
		return a[0]
	}
	return f.pick(f.cur.NewICmp(enum.IPredSLT, a[0], f.intLit(e, 0)), intNeg(f, e, a), a[0])
}

// intSign is -1, 0 or 1.
func intSign(f *Func, e num.Elem, a []value.Value) value.Value {
	zero := f.intLit(e, 0)
	some := f.cur.NewZExt(f.cur.NewICmp(enum.IPredNE, a[0], zero), f.register(e))
	if !e.IsSigned() {
		return some
	}
	return f.cur.NewOr(some, f.cur.NewSExt(f.cur.NewICmp(enum.IPredSLT, a[0], zero), f.register(e)))
}

func not(f *Func, e num.Elem, a []value.Value) value.Value {
	ones := int64(-1)
	if !e.IsSigned() {
		_, ones = num.IntRange(e)
	}
	return f.cur.NewXor(a[0], f.intLit(e, ones))
}

// divisor prepares a divisor that does not trap: 0 and, with a sign, -1 are
// replaced by 1. It says which they were; nil means that a constant is neither.
func (f *Func) divisor(e num.Elem, b value.Value) (safe, zero, minus value.Value) {
	if c, ok := (Value{b, TypeOf(e)}).AsInt(); ok && c != 0 && c != -1 {
		return b, nil, nil
	}
	zero = f.cur.NewICmp(enum.IPredEQ, b, f.intLit(e, 0))
	special := zero
	if e.IsSigned() {
		minus = f.cur.NewICmp(enum.IPredEQ, b, f.intLit(e, -1))
		special = f.cur.NewOr(zero, minus)
	}
	return f.pick(special, f.intLit(e, 1), b), zero, minus
}

// tdiv truncates; x / 0 is 0 and MIN / -1 wraps.
func tdiv(f *Func, e num.Elem, a []value.Value) value.Value {
	safe, zero, minus := f.divisor(e, a[1])
	if !e.IsSigned() {
		return f.orZero(zero, e, f.cur.NewUDiv(a[0], safe))
	}
	q := value.Value(f.cur.NewSDiv(a[0], safe))
	if minus != nil {
		q = f.pick(minus, intNeg(f, e, a), q)
	}
	return f.orZero(zero, e, q)
}

// trem has the sign of the dividend; by 0 and by -1 it is 0, which is the
// remainder by 1 as well.
func trem(f *Func, e num.Elem, a []value.Value) value.Value {
	safe, _, _ := f.divisor(e, a[1])
	if e.IsSigned() {
		return f.cur.NewSRem(a[0], safe)
	}
	return f.cur.NewURem(a[0], safe)
}

func (f *Func) orZero(zero value.Value, e num.Elem, q value.Value) value.Value {
	if zero == nil {
		return q
	}
	return f.pick(zero, f.intLit(e, 0), q)
}

// floordiv rounds down: one less than truncation where the remainder is not 0
// and has the other sign.
func floordiv(f *Func, e num.Elem, a []value.Value) value.Value {
	q := tdiv(f, e, a)
	if !e.IsSigned() {
		return q
	}
	off := f.remainderOff(e, trem(f, e, a), a[1])
	return f.pick(off, f.cur.NewSub(q, f.intLit(e, 1)), q)
}

// mod has the sign of the divisor.
func mod(f *Func, e num.Elem, a []value.Value) value.Value {
	r := trem(f, e, a)
	if !e.IsSigned() {
		return r
	}
	return f.pick(f.remainderOff(e, r, a[1]), f.cur.NewAdd(r, a[1]), r)
}

// remainderOff reports a remainder that is not 0 and whose sign is not b's.
func (f *Func) remainderOff(e num.Elem, r, b value.Value) value.Value {
	zero := f.intLit(e, 0)
	some := f.cur.NewICmp(enum.IPredNE, r, zero)
	differ := f.cur.NewICmp(enum.IPredSLT, f.cur.NewXor(r, b), zero)
	return f.cur.NewAnd(some, differ)
}

// shl by the width or more, or by a negative amount, is 0.
func shl(f *Func, e num.Elem, a []value.Value) value.Value {
	inside := f.inWidth(e, a[1])
	amount := f.pick(inside, a[1], f.intLit(e, 0))
	return f.pick(inside, f.cur.NewShl(a[0], amount), f.intLit(e, 0))
}

// shr by the width or more, or by a negative amount, leaves the sign alone: 0
// or -1.
func shr(f *Func, e num.Elem, a []value.Value) value.Value {
	inside := f.inWidth(e, a[1])
	if e.IsSigned() {
		return f.cur.NewAShr(a[0], f.pick(inside, a[1], f.intLit(e, int64(e.Bits())-1)))
	}
	amount := f.pick(inside, a[1], f.intLit(e, 0))
	return f.pick(inside, f.cur.NewLShr(a[0], amount), f.intLit(e, 0))
}

func (f *Func) inWidth(e num.Elem, amount value.Value) value.Value {
	return f.cur.NewICmp(enum.IPredULT, amount, f.intLit(e, int64(e.Bits())))
}

// MulOverflow multiplies two indices and says whether the product left 64 bits.
func (f *Func) MulOverflow(a, b Value) (product, over Value) { return f.overflow("mul", a, b) }

// AddOverflow adds two indices and says whether the sum left 64 bits.
func (f *Func) AddOverflow(a, b Value) (sum, over Value) { return f.overflow("add", a, b) }

func (f *Func) overflow(op string, a, b Value) (result, over Value) {
	f.want("operand", a, num.Index)
	f.want("operand", b, num.Index)
	pair := lltypes.NewStruct(lltypes.I64, lltypes.I1)
	callee := f.m.declare("llvm.s"+op+".with.overflow.i64", pair, true, lltypes.I64, lltypes.I64)
	both := f.cur.NewCall(callee, a.v, b.v)
	return Value{f.cur.NewExtractValue(both, 0), a.t}, Value{f.cur.NewExtractValue(both, 1), TypeOf(num.Bool)}
}
