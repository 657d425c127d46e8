package lower

import (
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// emitter writes the loops of ops that are no comps: sorting and counting.
type emitter struct {
	*ir.Builder
	b *bufferiser
}

func (b *bufferiser) emitter() emitter { return emitter{b.here(), b} }

func (e emitter) in(r *ir.Region) emitter { return emitter{e.In(r), e.b} }

// loop repeats body for i from lo below hi, carrying values, and gives the last
// ones. i is a fresh symbol that begins with base.
func (e emitter) loop(base string, lo, hi, step sym.Expr, inits []*ir.Value, body func(e emitter, i sym.Expr, carried []*ir.Value) []*ir.Value) []*ir.Value {
	name := e.b.symbol(base)
	e.b.names[name] = true
	carry := &ir.Carry{Inits: inits}
	for _, v := range inits {
		carry.Params = append(carry.Params, &ir.Value{Name: e.Fresh(v.Name), Type: v.Type})
	}
	r := &ir.Region{}
	op := ir.NewOp("loop.for", e.Loc, &ir.Range{Name: name, Lo: lo, Hi: hi, Step: step}, &ir.Block{Region: r})
	inside := e.in(r)
	if next := body(inside, sym.Name(name), carry.Params); len(next) > 0 {
		inside.Yield(next...)
		ir.SetClause(op, "carry", carry)
	}
	return e.Add(op, nil).Results
}

// each repeats body for all places of a shape, in C order, carrying values.
func (e emitter) each(dims []sym.Expr, carried []*ir.Value, body func(e emitter, at []sym.Expr, carried []*ir.Value) []*ir.Value) []*ir.Value {
	if len(dims) == 0 {
		return body(e, nil, carried)
	}
	return e.loop("i", sym.Const(0), dims[0], sym.Const(1), carried, func(e emitter, i sym.Expr, carried []*ir.Value) []*ir.Value {
		return e.each(dims[1:], carried, func(e emitter, at []sym.Expr, carried []*ir.Value) []*ir.Value {
			return body(e, append([]sym.Expr{i}, at...), carried)
		})
	})
}

// when runs then where cond holds, else otherwise (nil: nothing). Both give the
// same values.
func (e emitter) when(cond *ir.Value, then, otherwise func(e emitter) []*ir.Value) []*ir.Value {
	yes := &ir.Region{}
	holds := sym.Eq(e.index(e.Cast(cond, num.Index)), sym.Const(1))
	op := ir.NewOp("loop.if", e.Loc, &ir.Conds{List: []sym.Cond{holds}}, &ir.Block{Region: yes})
	arm := func(r *ir.Region, emit func(e emitter) []*ir.Value) {
		inside := e.in(r)
		if vs := emit(inside); len(vs) > 0 {
			inside.Yield(vs...)
		}
	}
	arm(yes, then)
	if otherwise != nil {
		no := &ir.Region{}
		arm(no, otherwise)
		ir.SetClause(op, "else", &ir.Block{Region: no})
	}
	return e.Add(op, nil).Results
}

// index is an index value as an expression.
func (e emitter) index(v *ir.Value) sym.Expr { return sym.Val(v) }

func (e emitter) load(buf *ir.Value, subs ...sym.Expr) *ir.Value {
	return e.Add(ir.NewOp("load", e.Loc, &ir.Operands{Args: []ir.Arg{ir.ElemArg(buf, subs...)}}), nil).Results[0]
}

func (e emitter) put(v, buf *ir.Value, subs ...sym.Expr) {
	e.Add(ir.NewOp("store", e.Loc, &ir.Operands{Args: []ir.Arg{ir.ValueArg(v), ir.ElemArg(buf, subs...)}}), nil)
}

func (e emitter) alloc(name string, elem num.Elem, dims ...sym.Expr) *ir.Value {
	return e.Add(ir.NewOp("loop.alloc", e.Loc), []ir.Type{ir.Buf{Elem: elem, Dims: dims}}, name).Results[0]
}

func (e emitter) int(n int64) *ir.Value { return e.Idx(sym.Const(n), num.Index) }
