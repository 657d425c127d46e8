package bench

import (
	"slices"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// Product is a function that computes C[b.., m, n] = sum over k of A[b.., m, k]
// B[b.., k, n], whatever the order of the subscripts. n is the axis along which
// C is contiguous; a product without m is one row.
type Product struct {
	Func    *ir.Func
	Elem    num.Elem
	A, B    Access
	C       Access
	M, N, K string // axes; M may be ""
	Batch   []string
	extents map[string]sym.Expr
}

// Access is an argument of the function (its number, results after parameters)
// and the axis that each of its dims runs over.
type Access struct {
	Arg   int
	Axes  []string
	Const bool
}

// Recognise finds the product that f is. What it is not, it says.
func Recognise(f *ir.Func) (*Product, error) {
	no := func(why string) (*Product, error) {
		return nil, diag.Errorf(f.Loc.First(), "%s is not recognised as a matrix product: %s", f.Name, why).
			WithFix("leave --against out, or compare a function of one sum of products of two parameters")
	}
	var comp *ir.Op
	for _, op := range f.Body.Ops {
		switch {
		case op.Def.Name == "tensor.comp" && comp == nil:
			comp = op
		case op.Def.Name != "return":
			return no("it has more than one operation")
		}
	}
	if comp == nil {
		return no("it has no comprehension")
	}
	by := ir.GetClause[*ir.By](comp, "by")
	reads := ir.GetClause[*ir.Reads](comp, "in")
	switch {
	case by == nil || by.Monoid.Name != "sum":
		return no("it does not sum")
	case comp.Has("if"):
		return no("the sum has conditions")
	case reads == nil || len(reads.List) != 2:
		return no("it does not read two operands")
	case !multiplies(comp, reads.List):
		return no("what it sums is not the product of its two operands")
	}
	p := &Product{Func: f, Elem: by.Monoid.Elems()[0], extents: map[string]sym.Expr{}}
	if why := p.place(comp, reads.List); why != "" {
		return no(why)
	}
	return p, nil
}

// multiplies reports whether the comp's region is the product of what it reads.
func multiplies(comp *ir.Op, reads []ir.Read) bool {
	body := comp.Regions()[0]
	if len(body.Ops) != 2 || body.Ops[0].Def.Name != "mul" || len(body.Yields()) != 1 {
		return false
	}
	xs := body.Ops[0].OperandValues("")
	both := []*ir.Value{reads[0].Res, reads[1].Res}
	return len(xs) == 2 && xs[0] != xs[1] && slices.Contains(both, xs[0]) && slices.Contains(both, xs[1]) &&
		body.Yields()[0] == body.Ops[0].Results[0]
}

// place finds the parts that the axes and operands have; it returns why not.
func (p *Product) place(comp *ir.Op, reads []ir.Read) (why string) {
	red, par := ir.GetClause[*ir.Axes](comp, "red"), ir.GetClause[*ir.Axes](comp, "par")
	if red == nil || len(red.List) != 1 || par == nil {
		return "it does not sum over one axis, or has a single result"
	}
	for _, a := range append(slices.Clone(red.List), par.List...) {
		if a.Pattern != nil {
			return "an axis runs over a sparse pattern"
		}
		p.extents[a.Name] = a.Extent
	}
	p.K = red.List[0].Name
	if why := p.output(comp, par); why != "" {
		return why
	}
	p.N = p.C.Axes[len(p.C.Axes)-1]
	ops, why := p.operands(reads)
	if why != "" {
		return why
	}
	p.A, p.B = ops[0], ops[1]
	if slices.Contains(p.A.Axes, p.N) {
		p.A, p.B = p.B, p.A
	}
	return p.axes()
}

// output says where the result goes and which axes it has.
func (p *Product) output(comp *ir.Op, par *ir.Axes) string {
	for _, a := range par.List {
		p.C.Axes = append(p.C.Axes, a.Name)
	}
	outs := ir.GetClause[*ir.Outs](comp, "out")
	if outs == nil {
		p.C.Arg = len(p.Func.Params)
		return ""
	}
	o := outs.List[0]
	axes, ok := names(o.Subs)
	if !ok {
		return "a subscript of the result is no axis"
	}
	p.C.Axes, p.C.Arg = axes, len(p.Func.Params)
	if o.Buf != nil {
		return "it writes into a buffer"
	}
	return ""
}

func (p *Product) operands(reads []ir.Read) (ops []Access, why string) {
	for _, r := range reads {
		i := slices.IndexFunc(p.Func.Params, func(q *ir.Param) bool { return q.Value == r.Src })
		if i < 0 {
			return nil, "an operand is no parameter"
		}
		axes, ok := names(r.Subs)
		if t, dense := r.Src.Type.(ir.Tensor); !ok || !dense || t.Enc != nil || t.Elem != p.Elem {
			return nil, "an operand is not a dense array of the result's type read at plain axes"
		}
		ops = append(ops, Access{Arg: i, Axes: axes, Const: p.Func.Params[i].Const})
	}
	return ops, ""
}

// names are the axes that subscripts are, each at most once.
func names(subs []sym.Expr) (list []string, ok bool) {
	for _, s := range subs {
		n, isName := s.IsName()
		if !isName || slices.Contains(list, n) {
			return nil, false
		}
		list = append(list, n)
	}
	return list, true
}

// axes sorts the axes into batch, m and n.
func (p *Product) axes() (why string) {
	a, b := p.A.Axes, p.B.Axes
	if slices.Contains(a, p.N) || !slices.Contains(b, p.N) || !slices.Contains(a, p.K) || !slices.Contains(b, p.K) {
		return "both operands, or none, have the last axis of the result, or one lacks the axis summed over"
	}
	for _, x := range p.C.Axes {
		inA, inB := slices.Contains(a, x), slices.Contains(b, x)
		switch {
		case inA && inB:
			p.Batch = append(p.Batch, x)
		case x == p.N:
		case inA && p.M == "":
			p.M = x
		default:
			return "it has more axes than batch, rows and columns"
		}
	}
	for _, op := range []Access{p.A, p.B} {
		if last := op.Axes[len(op.Axes)-1]; slices.Contains(p.Batch, last) {
			return "an operand is contiguous along a batch axis"
		}
	}
	return ""
}
