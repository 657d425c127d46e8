package gemm

import (
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// lineBytes is a cache line of every machine that bodies are made for.
const lineBytes = 64

// loop emits the loops over k and returns the accumulators, row by row. A step
// takes unit() neighbours along k; the last one, where they are fewer, leaves
// them out by a mask. Where lines are fetched ahead and a step takes less than
// one, several steps make an iteration.
func (k *body) loop(b *ir.Builder, r, v int, mask *ir.Value) []*ir.Value {
	unit, several := sym.Const(int64(k.unit())), k.stepsPerLine()
	depth := sym.Name("k")
	whole := sym.FloorDiv(depth, unit)
	rounds := sym.FloorDiv(whole, sym.Const(int64(several)))
	acc := k.over(b, k.zeros(b, r*v), sym.Const(0), rounds, func(b *ir.Builder, l sym.Expr, acc []*ir.Value) []*ir.Value {
		l = sym.Mul(sym.Const(int64(several)), l)
		k.fetch(b, v, l)
		for s := range several {
			acc = k.step(b, r, v, sym.Add(l, sym.Const(int64(s))), mask, nil, acc)
		}
		return acc
	})
	if several > 1 {
		acc = k.over(b, acc, sym.Mul(sym.Const(int64(several)), rounds), whole, func(b *ir.Builder, l sym.Expr, acc []*ir.Value) []*ir.Value {
			return k.step(b, r, v, l, mask, nil, acc)
		})
	}
	if k.unit() > 1 {
		acc = k.over(b, acc, whole, ceilDiv(depth, k.unit()), func(b *ir.Builder, l sym.Expr, acc []*ir.Value) []*ir.Value {
			rest := first(b, sym.Sub(depth, sym.Mul(unit, l)), k.unit())
			return k.step(b, r, v, l, mask, rest, acc)
		})
	}
	return acc
}

// stepsPerLine is how many steps read a cache line of a panel or column.
func (k *body) stepsPerLine() int {
	if k.Ahead == 0 {
		return 1
	}
	return max(1, lineBytes/(k.panelRow()*k.ElemOfB().Bytes()))
}

// fetch asks for the lines of B that are read Ahead bytes after those of step l.
func (k *body) fetch(b *ir.Builder, v int, l sym.Expr) {
	if k.Ahead == 0 {
		return
	}
	size := k.ElemOfB().Bytes()
	step := k.panelRow() * size
	for j := range v {
		for at := 0; at < step; at += lineBytes {
			elem := ir.ElemArg(k.b, sym.Const(int64(j)), sym.Add(l, sym.Const(int64(k.Ahead/step))), sym.Const(int64(at/size)))
			if k.dots() {
				elem = ir.ElemArg(k.b, sym.Const(int64(j)), sym.Add(sym.Mul(l, sym.Const(int64(k.Lanes))), sym.Const(int64((k.Ahead+at)/size))))
			}
			b.Add(ir.NewOp("vec.prefetch", b.Loc, &ir.Operands{Args: []ir.Arg{elem}}), nil)
		}
	}
}

// zeros are n accumulators.
func (k *body) zeros(b *ir.Builder, n int) (list []*ir.Value) {
	zero := ir.NewOp("vec.splat", b.Loc, &ir.Operands{Args: []ir.Arg{ir.LitArg(ir.Literal{Elem: k.Acc, Cell: num.Cast(num.F64, k.Acc, num.FromFloat(0))})}})
	z := b.Add(zero, []ir.Type{k.vec}, b.Fresh("zero")).Results[0]
	for range n {
		list = append(list, z)
	}
	return list
}

// over emits a loop that carries the accumulators.
func (k *body) over(b *ir.Builder, acc []*ir.Value, lo, hi sym.Expr, step func(b *ir.Builder, l sym.Expr, acc []*ir.Value) []*ir.Value) []*ir.Value {
	carry := &ir.Carry{Inits: acc}
	var types []ir.Type
	var names []string
	for range acc {
		carry.Params = append(carry.Params, &ir.Value{Name: b.Fresh("acc"), Type: k.vec})
		types, names = append(types, k.vec), append(names, b.Fresh("sum"))
	}
	region := &ir.Region{}
	in := b.In(region)
	in.Yield(step(in, sym.Name("l"), carry.Params)...)
	over := &ir.Range{Name: "l", Lo: lo, Hi: hi, Step: sym.Const(1)}
	return b.Add(ir.NewOp("loop.for", b.Loc, over, carry, &ir.Block{Region: region}), types, names...).Results
}

// step emits step l: mask leaves out columns, rest what lies behind the end of k.
func (k *body) step(b *ir.Builder, r, v int, l sym.Expr, mask, rest *ir.Value, acc []*ir.Value) []*ir.Value {
	var cols []*ir.Value
	for j := range v {
		m := maskFor(mask, j, v)
		if k.dots() {
			m = rest
		}
		cols = append(cols, k.wide(b, k.load(b, k.bAt(j, l), m, k.ElemOfB(), k.panelRow(), "col")))
	}
	var next []*ir.Value
	for i := range r {
		row := k.row(b, i, l, rest)
		for j := range v {
			next = append(next, k.add(b, acc[i*v+j], row, cols[j]))
		}
	}
	return next
}

// row is what all accumulators of row i are multiplied by: one element, or one
// group, in all lanes; or as many neighbours along k as there are lanes.
func (k *body) row(b *ir.Builder, i int, l sym.Expr, rest *ir.Value) *ir.Value {
	at := k.aAt(i, l)
	switch {
	case k.dots():
		return k.wide(b, k.load(b, at, rest, k.Elem, k.Lanes, "row"))
	case k.Group > 1:
		group := k.wide(b, k.load(b, at, rest, k.Elem, k.Group, "group"))
		lanes := &ir.Operands{}
		for n := range k.panelRow() {
			lanes.Args = append(lanes.Args, ir.ExprArg(sym.Const(int64(n%k.Group))))
		}
		return b.Add(ir.NewOp("vec.shuffle", b.Loc, &ir.Operands{Args: []ir.Arg{ir.ValueArg(group)}}, lanes), nil, b.Fresh("row")).Results[0]
	}
	op := ir.NewOp("vec.bcast", b.Loc, &ir.Operands{Args: []ir.Arg{at}})
	return k.wide(b, b.Add(op, []ir.Type{ir.Vec{Lanes: k.Lanes, Elem: k.Elem}}, b.Fresh("row")).Results[0])
}

// wide converts what is loaded to what is multiplied.
func (k *body) wide(b *ir.Builder, x *ir.Value) *ir.Value {
	to := k.Acc
	switch groupedBy(k.Key) {
	case "":
	case "vec.dpwssd":
		to = num.I16
	default:
		return x
	}
	t := x.Type.(ir.Vec)
	if t.Elem == to {
		return x
	}
	op := ir.NewOp("vec.cast", b.Loc, &ir.Operands{Args: []ir.Arg{ir.ValueArg(x)}})
	return b.Add(op, []ir.Type{ir.Vec{Lanes: t.Lanes, Elem: to}}, b.Fresh("wide")).Results[0]
}

// add is acc plus the product of row and col.
func (k *body) add(b *ir.Builder, acc, row, col *ir.Value) *ir.Value {
	if dot := groupedBy(k.Key); dot != "" {
		return lanewise(b, dot, acc, row, col)
	}
	return lanewise(b, "vec.fma", row, col, acc)
}

// aAt and bAt are the first elements that step l reads for a row and for a vector
// or column.
func (k *body) aAt(i int, l sym.Expr) ir.Arg {
	if k.A == Columns {
		return ir.ElemArg(k.a, l, sym.Const(int64(i)))
	}
	return ir.ElemArg(k.a, sym.Const(int64(i)), sym.Mul(sym.Const(int64(k.unit())), l))
}

func (k *body) bAt(j int, l sym.Expr) ir.Arg {
	switch k.B {
	case Panels:
		return ir.ElemArg(k.b, sym.Const(int64(j)), l, sym.Const(0))
	case Columns:
		return ir.ElemArg(k.b, sym.Const(int64(j)), sym.Mul(sym.Const(int64(k.unit())), l))
	}
	return ir.ElemArg(k.b, l, sym.Const(int64(j*k.Lanes)))
}

func lanewise(b *ir.Builder, name string, args ...*ir.Value) *ir.Value {
	ops := &ir.Operands{}
	for _, a := range args {
		ops.Args = append(ops.Args, ir.ValueArg(a))
	}
	return b.Add(ir.NewOp(name, b.Loc, ops), nil, b.Fresh("next")).Results[0]
}

func (k *body) load(b *ir.Builder, at ir.Arg, mask *ir.Value, e num.Elem, lanes int, name string) *ir.Value {
	return b.Add(access("vec.load", mask, at), []ir.Type{ir.Vec{Lanes: lanes, Elem: e}}, b.Fresh(name)).Results[0]
}

// access is a load or store, masked where there is a mask.
func access(name string, mask *ir.Value, args ...ir.Arg) *ir.Op {
	clauses := []ir.Clause{&ir.Operands{Args: args}}
	if mask != nil {
		clauses = append(clauses, &ir.Operands{Args: []ir.Arg{ir.ValueArg(mask)}})
	}
	return ir.NewOp(name, ir.Loc{}, clauses...)
}
