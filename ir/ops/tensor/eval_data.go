package tensor

import (
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

func stageCall(m ir.Machine, op *ir.Op) ir.Step {
	return m.Call(op, Callee(op), op.OperandValues(""), op.Results)
}

func stageData(m ir.Machine, op *ir.Op) ir.Step {
	obj, name := m.Object(op.Results[0]), Callee(op)
	return func(f *ir.Frame) { f.O[obj] = m.Data(op, name) }
}

// conds stages conditions that must hold.
func conds(m ir.Machine, op *ir.Op, list []sym.Cond) ir.Step {
	fs := make([]func(*ir.Frame) bool, len(list))
	for i, c := range list {
		fs[i] = m.Cond(c)
	}
	return func(f *ir.Frame) {
		for i, holds := range fs {
			if !holds(f) {
				m.Trap(op, ir.TrapShape, "%s does not hold%s", list[i], values(m, f, list[i]))
			}
		}
	}
}

// values words the sizes in a condition, for the message.
func values(m ir.Machine, f *ir.Frame, c sym.Cond) string {
	return " (" + c.L.String() + " is " + itoa(m.Expr(c.L)(f)) + ", " + c.R.String() + " is " + itoa(m.Expr(c.R)(f)) + ")"
}

func itoa(n int64) string { return sym.Const(n).String() }

func stageCheck(m ir.Machine, op *ir.Op) ir.Step {
	return conds(m, op, ir.GetClause[*ir.Conds](op, "").List)
}

// visit calls v for the position of every element of a in C order, with its
// number.
func visit(a *ir.Array, v func(n int64, idx []int64, pos int64)) {
	size := a.Size()
	idx := make([]int64, len(a.Shape))
	for n := int64(0); n < size; n++ {
		pos := a.Off
		for d, i := range idx {
			pos += i * a.Strides[d]
		}
		v(n, idx, pos)
		for d := len(idx) - 1; d >= 0; d-- {
			if idx[d]++; idx[d] < a.Shape[d] {
				break
			}
			idx[d] = 0
		}
	}
}

// transfer copies an element with its shadow.
func transfer(src *ir.Memory, from int64, dst *ir.Memory, to int64, e num.Elem) {
	dst.Cells[to] = src.Cells[from]
	switch {
	case dst.Shadow == nil:
	case src.Shadow != nil:
		dst.Shadow[to] = src.Shadow[from]
	default:
		dst.Shadow[to] = num.Exact(e, src.Cells[from])
	}
}

func stageReshape(m ir.Machine, op *ir.Op) ir.Step {
	src, dst, shape := m.Object(op.Operand(0)), m.Object(op.Results[0]), stageShape(m, op.Results[0])
	var list []sym.Cond
	if k := ir.GetClause[*ir.Conds](op, "check"); k != nil {
		list = k.List
	}
	check := conds(m, op, list)
	return func(f *ir.Frame) {
		check(f)
		a, to := f.O[src].(*ir.Array), shape(f)
		if n, ok := ir.SizeOf(to); !ok || n != a.Size() {
			m.Trap(op, ir.TrapShape, "%v cannot be reshaped to %v: %d elements become %d", a.Shape, to, a.Size(), n)
		}
		b := m.Array(f, a.Elem, to)
		visit(a, func(n int64, _ []int64, pos int64) { transfer(a.Mem, pos, b.Mem, n, a.Elem) })
		f.O[dst] = b
	}
}

func stageConcat(m ir.Machine, op *ir.Op) ir.Step {
	make := makeArray(m, op.Results[0])
	dst := m.Object(op.Results[0])
	var srcs []int
	for _, v := range op.OperandValues("") {
		srcs = append(srcs, m.Object(v))
	}
	at := int(ir.GetClause[*ir.Attr](op, "axis").Int)
	return func(f *ir.Frame) {
		make(f)
		b := f.O[dst].(*ir.Array)
		off := int64(0)
		for _, s := range srcs {
			a := f.O[s].(*ir.Array)
			visit(a, func(_ int64, idx []int64, pos int64) {
				idx[at] += off
				to, _ := b.Cell(idx)
				idx[at] -= off
				transfer(a.Mem, pos, b.Mem, to, a.Elem)
			})
			off += a.Shape[at]
		}
	}
}

// stagePlan runs the shape program: reads, region, then the yielded integers
// become the dims, which must be what exists says of them.
func stagePlan(m ir.Machine, op *ir.Op) ir.Step {
	var reads []ir.Step
	if r := ir.GetClause[*ir.Reads](op, "in"); r != nil {
		for _, x := range r.List {
			reads = append(reads, m.Element(op, x.Src, x.Subs, x.Policy, m.Scalar(x.Res)))
		}
	}
	region := ir.GetClause[*ir.Block](op, "").Region
	body := m.Region(region)
	var from []int
	for _, v := range region.Yields() {
		from = append(from, m.Scalar(v))
	}
	bind := stageExists(m, op, from)
	return func(f *ir.Frame) {
		for _, r := range reads {
			r(f)
		}
		body(f)
		bind(f)
	}
}

// stageExists binds the dims of op's exists clause to slots and checks what it
// says of them.
func stageExists(m ir.Machine, op *ir.Op, from []int) ir.Step {
	var slots []int
	var said []sym.Cond
	for _, d := range ir.GetClause[*ir.Exists](op, "exists").Dims {
		slots = append(slots, m.Symbol(d.Name))
		said = append(said, d.Conds...)
	}
	check := conds(m, op, said)
	return func(f *ir.Frame) {
		for i, s := range slots {
			f.S[s] = f.S[from[i]]
		}
		check(f)
	}
}

func stageParts(m ir.Machine, op *ir.Op) ir.Step {
	src := m.Object(op.Operand(0))
	var dst []int
	for _, v := range op.Results {
		dst = append(dst, m.Object(v))
	}
	return func(f *ir.Frame) {
		for i, p := range f.O[src].(*ir.Encoded).Parts {
			f.O[dst[i]] = p
		}
	}
}

func stageEncoded(m ir.Machine, op *ir.Op) ir.Step {
	dst, shape, enc := m.Object(op.Results[0]), stageShape(m, op.Results[0]), encodingOf(op.Results[0].Type)
	var srcs []int
	for _, v := range op.OperandValues("") {
		srcs = append(srcs, m.Object(v))
	}
	return func(f *ir.Frame) {
		x := &ir.Encoded{Enc: enc, Shape: shape(f)}
		for _, s := range srcs {
			x.Parts = append(x.Parts, f.O[s].(*ir.Array))
		}
		f.O[dst] = x
	}
}
