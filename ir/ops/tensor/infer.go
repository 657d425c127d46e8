package tensor

import (
	"fmt"
	"slices"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// declaredTypes is Infer for ops whose types are written: they name a callee's,
// a new pattern's or an encoding's dims, which no operand tells.
func declaredTypes(op *ir.Op, declared []ir.Type) ([]ir.Type, error) {
	if len(declared) == 0 && !op.Def.Traits.Has(ir.Call) {
		return nil, fmt.Errorf("%s needs its result types written after it", op.Def.Name)
	}
	return declared, nil
}

// operand is the i-th whole-value operand, with a complaint where it is not one.
func operand(op *ir.Op, i int) (*ir.Value, error) {
	as := op.Args("")
	if i >= len(as) || as[i].Value == nil || as[i].View != nil {
		return nil, fmt.Errorf("%s needs a value as operand %d", op.Def.Name, i+1)
	}
	return as[i].Value, nil
}

// tensorOperand is the i-th operand, which must be a plain tensor.
func tensorOperand(op *ir.Op, i int) (ir.Tensor, error) {
	v, err := operand(op, i)
	if err != nil {
		return ir.Tensor{}, err
	}
	t, ok := v.Type.(ir.Tensor)
	if !ok {
		return t, fmt.Errorf("operand %%%s of %s is %s, not a tensor", v.Name, op.Def.Name, v.Type)
	}
	if t.Enc != nil && op.Def.Name != "tensor.parts" {
		return t, fmt.Errorf("operand %%%s of %s is encoded by @%s; decode it in a tensor.comp first", v.Name, op.Def.Name, t.Enc.Name)
	}
	return t, nil
}

// axis is the op's axis attribute, in range for rank.
func axis(op *ir.Op, rank int) (int, error) {
	a := ir.GetClause[*ir.Attr](op, "axis")
	if a == nil || a.Value != ir.AttrInt || a.Int < 0 || a.Int >= int64(rank) {
		return 0, fmt.Errorf("axis of %s must be an integer from 0 to %d", op.Def.Name, rank-1)
	}
	return int(a.Int), nil
}

func inferReshape(op *ir.Op, declared []ir.Type) ([]ir.Type, error) {
	x, err := tensorOperand(op, 0)
	if err != nil {
		return nil, err
	}
	if len(declared) != 1 {
		return nil, fmt.Errorf("tensor.reshape needs its one result type written after it")
	}
	y, ok := declared[0].(ir.Tensor)
	if !ok || y.Elem != x.Elem || y.Enc != nil {
		return nil, fmt.Errorf("tensor.reshape of %s cannot give %s", x, declared[0])
	}
	return declared, nil
}

func inferConcat(op *ir.Op, _ []ir.Type) ([]ir.Type, error) {
	first, err := tensorOperand(op, 0)
	if err != nil {
		return nil, err
	}
	at, err := axis(op, len(first.Dims))
	if err != nil {
		return nil, err
	}
	out := ir.Tensor{Elem: first.Elem, Dims: slices.Clone(first.Dims)}
	for i := 1; i < len(op.Args("")); i++ {
		t, err := tensorOperand(op, i)
		if err != nil {
			return nil, err
		}
		if t.Elem != out.Elem || len(t.Dims) != len(out.Dims) {
			return nil, fmt.Errorf("tensor.concat joins tensors of one type and rank, not %s and %s", first, t)
		}
		for d := range t.Dims {
			switch {
			case d == at:
				out.Dims[d] = sym.Add(out.Dims[d], t.Dims[d])
			case !t.Dims[d].Equal(out.Dims[d]):
				return nil, fmt.Errorf("dim %d of tensor.concat's operands is %s and %s; equal dims are one name", d, out.Dims[d], t.Dims[d])
			}
		}
	}
	return []ir.Type{out}, nil
}

func inferScatter(op *ir.Op, _ []ir.Type) ([]ir.Type, error) {
	types := make([]ir.Type, len(op.Args("")))
	for i := range types {
		t, err := tensorOperand(op, i)
		if err != nil {
			return nil, err
		}
		types[i] = t
	}
	return types, nil
}

func inferSort(op *ir.Op, _ []ir.Type) ([]ir.Type, error) {
	t, err := tensorOperand(op, 0)
	if err != nil {
		return nil, err
	}
	if _, err := axis(op, len(t.Dims)); err != nil {
		return nil, err
	}
	return []ir.Type{t, ir.Tensor{Elem: num.I64, Dims: t.Dims}}, nil
}

func inferTopK(op *ir.Op, _ []ir.Type) ([]ir.Type, error) {
	t, err := tensorOperand(op, 0)
	if err != nil {
		return nil, err
	}
	at, err := axis(op, len(t.Dims))
	if err != nil {
		return nil, err
	}
	k, err := topKCount(op)
	if err != nil {
		return nil, err
	}
	dims := slices.Clone(t.Dims)
	dims[at] = k
	return []ir.Type{ir.Tensor{Elem: t.Elem, Dims: dims}, ir.Tensor{Elem: num.I64, Dims: dims}}, nil
}

func topKCount(op *ir.Op) (sym.Expr, error) {
	as := op.Args("")
	if len(as) == 2 && as[1].Expr != nil {
		return *as[1].Expr, nil
	}
	return sym.Expr{}, fmt.Errorf("tensor.topk takes a tensor and k, an index expression")
}

// boundDims are the names that the op's exists clause binds.
func boundDims(op *ir.Op) []string {
	ex := ir.GetClause[*ir.Exists](op, "exists")
	if ex == nil {
		return nil
	}
	var names []string
	for _, d := range ex.Dims {
		names = append(names, d.Name)
	}
	return names
}

// countDim is the one dim that nonzero and unique bind.
func countDim(op *ir.Op) (sym.Expr, error) {
	names := boundDims(op)
	if len(names) != 1 {
		return sym.Expr{}, fmt.Errorf("%s binds one dim, the count: exists(c: 0 <= c)", op.Def.Name)
	}
	return sym.Name(names[0]), nil
}

func inferNonzero(op *ir.Op, _ []ir.Type) ([]ir.Type, error) {
	t, err := tensorOperand(op, 0)
	if err != nil {
		return nil, err
	}
	c, err := countDim(op)
	if err != nil {
		return nil, err
	}
	return []ir.Type{ir.Tensor{Elem: num.I64, Dims: []sym.Expr{sym.Const(int64(len(t.Dims))), c}}}, nil
}

func inferUnique(op *ir.Op, _ []ir.Type) ([]ir.Type, error) {
	t, err := tensorOperand(op, 0)
	if err != nil {
		return nil, err
	}
	c, err := countDim(op)
	if err != nil {
		return nil, err
	}
	if len(t.Dims) != 1 {
		return nil, fmt.Errorf("tensor.unique takes a vector, not %s; reshape it first", t)
	}
	i := ir.Tensor{Elem: num.I64, Dims: []sym.Expr{c}}
	return []ir.Type{ir.Tensor{Elem: t.Elem, Dims: i.Dims}, i, ir.Tensor{Elem: num.I64, Dims: t.Dims}, i}, nil
}

// patternOperand is the i-th operand, which must be a pattern.
func patternOperand(op *ir.Op, i int) (ir.Pattern, error) {
	v, err := operand(op, i)
	if err != nil {
		return ir.Pattern{}, err
	}
	p, ok := v.Type.(ir.Pattern)
	if !ok {
		return p, fmt.Errorf("operand %%%s of %s is %s, not a pattern", v.Name, op.Def.Name, v.Type)
	}
	return p, nil
}

func inferSamePattern(op *ir.Op, _ []ir.Type) ([]ir.Type, error) {
	p, err := patternOperand(op, 0)
	if err != nil {
		return nil, err
	}
	q, err := patternOperand(op, 1)
	if err != nil {
		return nil, err
	}
	var types []ir.Type
	for i := 2; i < len(op.Args("")); i++ {
		t, err := tensorOperand(op, i)
		if err != nil {
			return nil, err
		}
		id, ok := "", false
		if len(t.Dims) > 0 {
			id, ok = t.Dims[0].IsNNZ()
		}
		if !ok || id != q.ID {
			return nil, fmt.Errorf("operand %d of tensor.same_pattern is %s, not an edge tensor of #%s", i+1, t, q.ID)
		}
		dims := slices.Clone(t.Dims)
		dims[0] = sym.NNZ(p.ID)
		types = append(types, ir.Tensor{Elem: t.Elem, Dims: dims})
	}
	return types, nil
}
