package bench

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
	"tenon/runtime"
)

// arguments makes the arguments of f, results last, for a shape: arrays of
// repeating values around 0, scalars of 1.
func arguments(f *ir.Func, shape Shape) ([]runtime.Arg, error) {
	var args []runtime.Arg
	env := sym.Env{Name: sym.Names(shape).Name}
	add := func(what string, t ir.Type) error {
		if s, ok := t.(ir.Scalar); ok {
			one := num.FromInt(1)
			if !s.Elem.IsInt() {
				one = num.FromFloat(1)
			}
			args = append(args, runtime.Scalar{Elem: s.Elem, Cell: one})
			return nil
		}
		if enc, ok := t.(ir.Tensor); ok && enc.Enc != nil {
			return diag.Errorf(f.Loc.First(), "%s of %s is quantised; tenon bench makes dense arguments only", what, f.Name)
		}
		dims, ok := ir.DimsOf(t)
		if !ok {
			return diag.Errorf(f.Loc.First(), "%s of %s is no array; tenon bench makes dense arguments only", what, f.Name)
		}
		sizes := make([]int64, len(dims))
		for i, d := range dims {
			n, err := d.Eval(env)
			if err != nil || n < 0 {
				return diag.Usagef("--shape %s: dim %d of %s, %s, has no size from it", shape, i, what, d)
			}
			sizes[i] = n
		}
		x, err := runtime.Alloc(ir.ElemOf(t), sizes)
		if err == nil {
			args = append(args, x)
		}
		return err
	}
	for _, p := range f.Params {
		if err := add("parameter "+p.Value.Name, p.Value.Type); err != nil {
			return nil, err
		}
		if x, ok := args[len(args)-1].(*runtime.Tensor); ok {
			fill(x, len(args))
		}
	}
	for i, r := range f.Results {
		if err := add(fmt.Sprintf("result %d", i), r.Type); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// fill writes values between -2 and 2, others for another number.
func fill(x *runtime.Tensor, number int) {
	size := x.Elem.Bytes()
	for i := range x.Count() {
		v := float64((i+int64(number)*31)*7919%1009)/252.25 - 2
		if x.Elem.IsInt() {
			num.Encode(x.Elem, num.FromInt(int64(v)), x.Data[int(i)*size:])
			continue
		}
		num.Encode(x.Elem, num.Cast(num.F64, x.Elem, num.FromFloat(v)), x.Data[int(i)*size:])
	}
}

// problem is the product of p over arguments.
func (p *Product) problem(args []runtime.Arg, threads int) *problem {
	sizes := map[string]int64{"": 1}
	for _, op := range []Access{p.A, p.B, p.C} {
		for d, axis := range op.Axes {
			sizes[axis] = args[op.Arg].(*runtime.Tensor).Shape[d]
		}
	}
	q := &problem{elem: p.Elem, m: sizes[p.M], n: sizes[p.N], k: sizes[p.K], constB: p.B.Const, threads: threads}
	batches := int64(1)
	for _, b := range p.Batch {
		batches *= sizes[b]
	}
	for i := range batches {
		q.a = append(q.a, p.matrix(args, p.A, p.M, p.K, i, sizes))
		q.b = append(q.b, p.matrix(args, p.B, p.K, p.N, i, sizes))
		q.c = append(q.c, p.matrix(args, p.C, p.M, p.N, i, sizes))
	}
	if c := p.C.Arg; c < len(p.Func.Params) {
		q.adds = p.Func.Params[c].Mode == ir.ModeInOut
	}
	return q
}

// matrix is the part of an operand that belongs to a batch entry.
func (p *Product) matrix(args []runtime.Arg, op Access, row, col string, batch int64, sizes map[string]int64) matrix {
	t := args[op.Arg].(*runtime.Tensor)
	strides, m, at := runtime.CStrides(t.Shape), matrix{row: 1, col: 1}, int64(0)
	if i := slices.Index(op.Axes, row); i >= 0 {
		m.row = strides[i]
	} else {
		m.row = sizes[col] // a single row
	}
	m.col = strides[slices.Index(op.Axes, col)]
	for i := len(p.Batch) - 1; i >= 0; i-- {
		n := sizes[p.Batch[i]]
		at, batch = at+batch%n*strides[slices.Index(op.Axes, p.Batch[i])], batch/n
	}
	if len(t.Data) > 0 {
		m.data = unsafe.Pointer(&t.Data[at*int64(t.Elem.Bytes())])
	}
	return m
}

// flops are the operations of the product.
func (q *problem) flops() float64 {
	return 2 * float64(q.m) * float64(q.n) * float64(q.k) * float64(len(q.c))
}

// sampled is how many elements of each result are checked.
const sampled = 64

// check holds elements of the result, drawn evenly and the corners among them,
// against dot products in double precision. The bound is that of k roundings.
func (q *problem) check(who string) error {
	eps := 0x1p-23
	if q.elem == num.F64 {
		eps = 0x1p-52
	}
	total := q.m * q.n * int64(len(q.c))
	for s := range min(sampled, total) {
		at := total - 1
		if s < sampled-1 {
			at = s * max(total/sampled, 1)
		}
		b, i, j := at/(q.m*q.n), at/q.n%q.m, at%q.n
		sum := q.before(b, i, j)
		size := math.Abs(sum)
		for l := range q.k {
			x := q.element(q.a[b], i, l) * q.element(q.b[b], l, j)
			sum, size = sum+x, size+math.Abs(x)
		}
		if got := q.element(q.c[b], i, j); !(math.Abs(got-sum) <= eps*float64(q.k+2)*size) {
			return fmt.Errorf("%s gives a wrong result: element %d, %d of entry %d is %v, a dot product gives %v", who, i, j, b, got, sum)
		}
	}
	return nil
}

// base is a copy of a result as it was before anything ran.
type base struct {
	at   []byte
	copy []byte
}

// keepBase keeps what C holds, where the product is added to it; restore puts it
// back. Without either the second to run would add to what the first left.
func (q *problem) keepBase() {
	if !q.adds {
		return
	}
	for _, c := range q.c {
		bytes := unsafe.Slice((*byte)(c.data), q.m*q.n*int64(q.elem.Bytes()))
		q.base = append(q.base, base{bytes, slices.Clone(bytes)})
	}
}

func (q *problem) restore() {
	for _, b := range q.base {
		copy(b.at, b.copy)
	}
}

// before is an element of C as it was kept, 0 where C is overwritten.
func (q *problem) before(b, i, j int64) float64 {
	if len(q.base) == 0 {
		return 0
	}
	return q.element(matrix{unsafe.Pointer(&q.base[b].copy[0]), q.n, 1}, i, j)
}

func (q *problem) element(x matrix, i, j int64) float64 {
	at := unsafe.Add(x.data, (i*x.row+j*x.col)*int64(q.elem.Bytes()))
	if q.elem == num.F64 {
		return *(*float64)(at)
	}
	return float64(*(*float32)(at))
}
