package vec

import (
	"errors"
	"fmt"

	"tenon/ir"
	"tenon/ir/ops/access"
)

// Shuffle rearranges the lanes of one or several vectors.
var Shuffle = ir.Register(&ir.OpDef{
	Name: "vec.shuffle",
	Doc: "Gives the lanes whose constant numbers are listed, counted through all operands in order. Permutations,\n" +
		"slices, concatenations and interleavings are shuffles.\n%r = vec.shuffle(%a, %b) lanes(0, 4, 1, 5)",
	Clauses:       []ir.ClauseSpec{operandsClause, {Kind: ir.KindOperands, KW: "lanes"}},
	Traits:        ir.Pure,
	TypesInferred: true,
	Infer: func(op *ir.Op, _ []ir.Type) ([]ir.Type, error) {
		a, err := vecArg(op, 0)
		if err != nil {
			return nil, err
		}
		total := 0
		for i, v := range op.Args("") {
			if v.Value == nil || !ir.SameType(v.Value.Type, a) {
				return nil, fmt.Errorf("operand %d must be a %s as the first is", i+1, a)
			}
			total += a.Lanes
		}
		ns, err := laneNumbers(op, total)
		return one(ir.Vec{Lanes: len(ns), Elem: a.Elem}, err)
	},
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		var slots []int
		for _, v := range op.OperandValues("") {
			slots = append(slots, m.Object(v))
		}
		each, dst := op.Operand(0).Type.(ir.Vec).Lanes, m.Object(op.Results[0])
		ns, _ := laneNumbers(op, each*len(slots))
		return func(f *ir.Frame) {
			r := fresh(f, len(ns))
			for i, n := range ns {
				c, s := get(lanes(f, slots[n/each]), n%each)
				set(r, i, c, s)
			}
			f.O[dst] = r
		}
	},
})

// laneNumbers are the constants of the clause lanes(..).
func laneNumbers(op *ir.Op, total int) ([]int, error) {
	var ns []int
	for _, a := range op.Args("lanes") {
		if a.Expr == nil {
			return nil, errors.New("lanes lists constant integers")
		}
		n, ok := a.Expr.IsConst()
		if !ok || n < 0 || n >= int64(total) {
			return nil, fmt.Errorf("lane number %s must be a constant from 0 to %d", a.Expr, total-1)
		}
		ns = append(ns, int(n))
	}
	if len(ns) == 0 {
		return nil, errors.New("no lane is listed")
	}
	return ns, nil
}

// Permute rearranges by numbers known when running.
var Permute = ir.Register(&ir.OpDef{
	Name: "vec.permute",
	Doc: "Gives in lane i the lane of %a whose number is in %idx's lane i, modulo the number of lanes.\n" +
		"%r = vec.permute(%a, %idx)",
	Clauses:       []ir.ClauseSpec{operandsClause},
	Traits:        ir.Pure,
	TypesInferred: true,
	Infer: func(op *ir.Op, _ []ir.Type) ([]ir.Type, error) {
		if err := access.Count(op, 2, "a vector and one of integers"); err != nil {
			return nil, err
		}
		a, err := vecArg(op, 0)
		if err != nil {
			return nil, err
		}
		idx, err := vecArg(op, 1)
		if err == nil && !idx.Elem.IsInt() {
			err = errors.New("the vector of lane numbers must hold integers")
		}
		return one(ir.Vec{Lanes: idx.Lanes, Elem: a.Elem}, err)
	},
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		src, idx, dst := m.Object(op.Operand(0)), m.Object(op.Operand(1)), m.Object(op.Results[0])
		return func(f *ir.Frame) {
			a, by := lanes(f, src), lanes(f, idx)
			r, n := fresh(f, len(by.Cells)), int64(len(a.Cells))
			for i, k := range by.Cells {
				c, s := get(a, int((int64(k)%n+n)%n))
				set(r, i, c, s)
			}
			f.O[dst] = r
		}
	},
})

// Extract takes one lane.
var Extract = ir.Register(&ir.OpDef{
	Name:          "vec.extract",
	Doc:           "Gives one lane as a scalar.\n%x = vec.extract(%a) lane=3",
	Clauses:       []ir.ClauseSpec{operandsClause, {Kind: ir.KindAttr, KW: "lane"}},
	Traits:        ir.Pure,
	TypesInferred: true,
	Infer: func(op *ir.Op, _ []ir.Type) ([]ir.Type, error) {
		a, err := laneOf(op, 1)
		return one(ir.Scalar{Elem: a.Elem}, err)
	},
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		src, dst, k := m.Object(op.Operand(0)), m.Scalar(op.Results[0]), int(intAttr(op, "lane"))
		return func(f *ir.Frame) {
			c, s := get(lanes(f, src), k)
			access.Set(f, dst, c, s)
		}
	},
})

// Insert replaces one lane.
var Insert = ir.Register(&ir.OpDef{
	Name:          "vec.insert",
	Doc:           "Gives %a with one lane replaced by a scalar.\n%r = vec.insert(%a, %x) lane=3",
	Clauses:       []ir.ClauseSpec{operandsClause, {Kind: ir.KindAttr, KW: "lane"}},
	Traits:        ir.Pure,
	TypesInferred: true,
	Infer: func(op *ir.Op, _ []ir.Type) ([]ir.Type, error) {
		a, err := laneOf(op, 2)
		if err != nil {
			return nil, err
		}
		e, err := access.ScalarElem(op.Args("")[1])
		if err == nil && e != a.Elem {
			err = fmt.Errorf("a %s is put into a lane of %s", e, a.Elem)
		}
		return one(a, err)
	},
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		src, x, dst, k := m.Object(op.Operand(0)), m.Scalar(op.Operand(1)), m.Object(op.Results[0]), int(intAttr(op, "lane"))
		return func(f *ir.Frame) {
			a := lanes(f, src)
			r := fresh(f, len(a.Cells))
			copy(r.Cells, a.Cells)
			copy(r.Shadow, a.Shadow)
			c, s := access.Get(f, x)
			set(r, k, c, s)
			f.O[dst] = r
		}
	},
})

// laneOf checks the operands of a row with the attribute lane.
func laneOf(op *ir.Op, operands int) (ir.Vec, error) {
	if err := access.Count(op, operands, fmt.Sprint(operands)); err != nil {
		return ir.Vec{}, err
	}
	a, err := vecArg(op, 0)
	if k := intAttr(op, "lane"); err == nil && (k < 0 || k >= int64(a.Lanes)) {
		err = fmt.Errorf("there is no lane %d in a %s", k, a)
	}
	return a, err
}
