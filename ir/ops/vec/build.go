package vec

import (
	"errors"
	"fmt"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/access"
)

// Splat spreads a scalar value or a literal.
var Splat = ir.Register(&ir.OpDef{
	Name:    "vec.splat",
	Doc:     "Spreads a scalar value or a literal over all lanes; a bool gives a mask.\n%v = vec.splat(0.0) : vec<16 x f32>",
	Clauses: []ir.ClauseSpec{operandsClause},
	Traits:  ir.Pure,
	Infer: func(op *ir.Op, declared []ir.Type) ([]ir.Type, error) {
		t, err := declaredLanes(declared)
		if err == nil {
			err = access.Count(op, 1, "a scalar value or a literal")
		}
		if err != nil {
			return nil, err
		}
		_, want, _ := lanesOf(t)
		a := op.Args("")[0]
		if x := a.Expr; x != nil { // an integer reads as an expression
			if c, ok := x.IsConst(); ok {
				a = ir.LitArg(ir.Literal{Text: fmt.Sprint(c)})
				op.Args("")[0] = a
			}
		}
		if a.Lit != nil {
			return one(t, a.Lit.Resolve(want))
		}
		e, err := access.ScalarElem(a)
		if err == nil && e != want {
			err = fmt.Errorf("a %s is spread over lanes of %s", e, want)
		}
		return one(t, err)
	},
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		n, _, _ := lanesOf(op.Results[0].Type)
		dst := m.Object(op.Results[0])
		v, step := access.Operand(m, op, op.Args("")[0])
		src, ready := m.Scalar(v), access.Seq(step)
		return func(f *ir.Frame) {
			ready(f)
			c, s := access.Get(f, src)
			f.O[dst] = splat(f, n, c, s)
		}
	},
})

func splat(f *ir.Frame, n int, c cell, s shadow) *ir.Lanes {
	v := fresh(f, n)
	for i := range v.Cells {
		set(v, i, c, s)
	}
	return v
}

// Bcast spreads an element of a buffer.
var Bcast = ir.Register(&ir.OpDef{
	Name:    "vec.bcast",
	Doc:     "Reads one element of a buffer into all lanes.\n%v = vec.bcast(%A[i, j]) : vec<16 x f32>",
	Clauses: []ir.ClauseSpec{operandsClause},
	Infer:   func(_ *ir.Op, declared []ir.Type) ([]ir.Type, error) { return one(declaredVec(declared)) },
	Verify: access.Report(func(op *ir.Op) error {
		if err := access.Count(op, 1, "one element"); err != nil {
			return err
		}
		t, err := access.Element(op.Args("")[0])
		if e := ir.ElemOf(op.Results[0].Type); err == nil && e != t.Elem {
			err = fmt.Errorf("a %s is read into lanes of %s", t.Elem, e)
		}
		return err
	}),
	Effects: func(op *ir.Op) []ir.Effect { return append(access.Reads(op.Args("")[0].Value), access.Trap) },
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		n, dst, at := op.Results[0].Type.(ir.Vec).Lanes, m.Object(op.Results[0]), access.ArgAt(m, op, op.Args("")[0])
		return func(f *ir.Frame) {
			arr, pos := at(f)
			c, s := access.Read(f, op, arr, pos)
			f.O[dst] = splat(f, n, c, s)
		}
	},
})

// Iota counts.
var Iota = ir.Register(&ir.OpDef{
	Name:    "vec.iota",
	Doc:     "Gives start + i in lane i, wrapped to the lanes' integer type.\n%v = vec.iota(start) : vec<16 x i32>",
	Clauses: []ir.ClauseSpec{operandsClause},
	Traits:  ir.Pure,
	Infer: func(op *ir.Op, declared []ir.Type) ([]ir.Type, error) {
		t, err := declaredVec(declared)
		switch {
		case err != nil:
		case !t.Elem.IsInt():
			err = errors.New("lanes must be integers; cast them")
		case len(op.Args("")) != 1 || !access.IsInt(op.Args("")[0]):
			err = errors.New("one integer must be given, the value of lane 0")
		}
		return one(t, err)
	},
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		t, dst, start := op.Results[0].Type.(ir.Vec), m.Object(op.Results[0]), access.Ints(m, op.Args(""))[0]
		return func(f *ir.Frame) {
			v, from := fresh(f, t.Lanes), start(f)
			for i := range v.Cells {
				c := num.FromInt(num.Wrap(t.Elem, from+int64(i)))
				set(v, i, c, num.Exact(t.Elem, c))
			}
			f.O[dst] = v
		}
	},
})

// FirstN is the mask of a tail.
var FirstN = ir.Register(&ir.OpDef{
	Name:    "vec.first",
	Doc:     "Gives a mask of the lanes below a count, which may be negative or too large.\n%m = vec.first(N - j) : mask<16>",
	Clauses: []ir.ClauseSpec{operandsClause},
	Traits:  ir.Pure,
	Infer: func(op *ir.Op, declared []ir.Type) ([]ir.Type, error) {
		t, err := access.One[ir.Mask](declared, "mask<16>")
		if err == nil && (len(op.Args("")) != 1 || !access.IsInt(op.Args("")[0])) {
			err = errors.New("one integer must be given, the number of lanes")
		}
		return one(t, err)
	},
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		n, dst, count := op.Results[0].Type.(ir.Mask).Lanes, m.Object(op.Results[0]), access.Ints(m, op.Args(""))[0]
		return func(f *ir.Frame) {
			v, k := fresh(f, n), count(f)
			for i := range v.Cells {
				c := num.FromBool(int64(i) < k)
				set(v, i, c, num.Exact(num.Bool, c))
			}
			f.O[dst] = v
		}
	},
})

// Select chooses lane by lane.
var Select = ir.Register(&ir.OpDef{
	Name:          "vec.select",
	Doc:           "Gives a's lane where the mask is set, else b's.\n%r = vec.select(%m, %a, %b)",
	Clauses:       []ir.ClauseSpec{operandsClause},
	Traits:        ir.Pure,
	TypesInferred: true,
	Infer: func(op *ir.Op, _ []ir.Type) ([]ir.Type, error) {
		if err := access.Count(op, 3, "a mask and two vectors or masks"); err != nil {
			return nil, err
		}
		var n int
		a, err := lanesArg(op, 1)
		if err == nil {
			n, _, err = lanesOf(a)
		}
		switch m := op.Args("")[0].Value; {
		case err != nil:
		case m == nil || !ir.SameType(m.Type, ir.Mask{Lanes: n}):
			err = fmt.Errorf("the first operand must be a mask<%d>", n)
		case op.Args("")[2].Value == nil || !ir.SameType(op.Args("")[2].Value.Type, a):
			err = fmt.Errorf("the third operand must be a %s as the second is", a)
		}
		return one(a, err)
	},
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		mask, a, b, dst := m.Object(op.Operand(0)), m.Object(op.Operand(1)), m.Object(op.Operand(2)), m.Object(op.Results[0])
		_, e, _ := lanesOf(op.Results[0].Type)
		pick := num.ShadowSelect(e)
		return func(f *ir.Frame) {
			ml, al, bl := lanes(f, mask), lanes(f, a), lanes(f, b)
			r := fresh(f, len(al.Cells))
			for i, c := range ml.Cells {
				r.Cells[i] = num.Select(c, al.Cells[i], bl.Cells[i])
				if r.Shadow != nil {
					_, ms := get(ml, i)
					r.Shadow[i] = pick(ms, al.Shadow[i], bl.Shadow[i], c, al.Cells[i], bl.Cells[i])
				}
			}
			f.O[dst] = r
		}
	},
})

// CastLanes converts.
var CastLanes = ir.Register(&ir.OpDef{
	Name:    "vec.cast",
	Doc:     "Converts each lane.\n%r = vec.cast(%a) : vec<16 x f32>",
	Clauses: []ir.ClauseSpec{operandsClause},
	Traits:  ir.Pure,
	Infer: func(op *ir.Op, declared []ir.Type) ([]ir.Type, error) {
		t, err := declaredVec(declared)
		if err != nil {
			return nil, err
		}
		a, err := vecArg(op, 0)
		if err == nil && a.Lanes != t.Lanes {
			err = fmt.Errorf("%d lanes are cast to %d", a.Lanes, t.Lanes)
		}
		return one(t, err)
	},
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		src, dst := m.Object(op.Operand(0)), m.Object(op.Results[0])
		cast := access.Cast(ir.ElemOf(op.Operand(0).Type), ir.ElemOf(op.Results[0].Type))
		return func(f *ir.Frame) {
			a := lanes(f, src)
			r := fresh(f, len(a.Cells))
			for i := range a.Cells {
				c, s := get(a, i)
				c, s = cast(f, c, s)
				set(r, i, c, s)
			}
			f.O[dst] = r
		}
	},
})

// BitcastLanes reads the bits of each lane in another type.
var BitcastLanes = ir.Register(&ir.OpDef{
	Name:    "vec.bitcast",
	Doc:     "Reads the bits of each lane as another type of the same width.\n%r = vec.bitcast(%a) : vec<16 x i32>",
	Clauses: []ir.ClauseSpec{operandsClause},
	Traits:  ir.Pure,
	Infer: func(op *ir.Op, declared []ir.Type) ([]ir.Type, error) {
		t, err := declaredVec(declared)
		if err != nil {
			return nil, err
		}
		a, err := vecArg(op, 0)
		switch {
		case err != nil:
		case a.Lanes != t.Lanes:
			err = fmt.Errorf("%d lanes are read as %d", a.Lanes, t.Lanes)
		case a.Elem.Bytes() != t.Elem.Bytes():
			err = fmt.Errorf("a %s has not as many bits as a %s", a.Elem, t.Elem)
		}
		return one(t, err)
	},
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		src, dst := m.Object(op.Operand(0)), m.Object(op.Results[0])
		from, to := ir.ElemOf(op.Operand(0).Type), ir.ElemOf(op.Results[0].Type)
		return func(f *ir.Frame) {
			a := lanes(f, src)
			r := fresh(f, len(a.Cells))
			for i := range a.Cells {
				r.Cells[i] = num.Bitcast(from, to, a.Cells[i])
				if r.Shadow != nil {
					r.Shadow[i] = num.ShadowBitcast(a.Shadow[i], r.Cells[i])
				}
			}
			f.O[dst] = r
		}
	},
})
