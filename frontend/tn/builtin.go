package tn

import (
	"tenon/frontend/tn/syntax"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// tensorFuncs are the built-in functions on whole tensors.
var tensorFuncs map[string]func(f *fnState, c *syntax.Call) []*tensor

func init() {
	tensorFuncs = map[string]func(f *fnState, c *syntax.Call) []*tensor{
		"nonzero": nonzero,
		"concat":  concat,
	}
}

// tensorArgs evaluates the positional arguments of a built-in; axis is the value
// of axis=, last where absent.
func (f *fnState) tensorArgs(c *syntax.Call) (ts []*tensor, axis syntax.Expr) {
	for _, a := range c.Args {
		if a.Name != nil {
			if a.Name.Name != "axis" {
				f.p.failWith(a.Errorf("%s has no parameter %s", c.Fn.Name, a.Name.Name))
			}
			axis = a.X
			continue
		}
		rs := f.wholeTensors(a.X, nil)
		if len(rs) != 1 || rs[0].scalar != nil {
			f.p.failWith(a.Errorf("%s takes whole tensors", c.Fn.Name).WithFix("bind the value with `let t[i] = ...` first"))
		}
		for _, d := range rs[0].axes {
			if d.pat != nil {
				f.p.failWith(a.Errorf("%s takes dense tensors", c.Fn.Name))
			}
		}
		ts = append(ts, rs[0])
	}
	return ts, axis
}

// nonzero gives the places of the elements that are not 0: a vector of indices
// for a vector, else one column a place.
func nonzero(f *fnState, c *syntax.Call) []*tensor {
	ts, axis := f.tensorArgs(c)
	if len(ts) != 1 || axis != nil {
		f.p.failWith(c.Errorf("nonzero takes one tensor").WithFix("write nonzero(x)"))
	}
	t := ts[0]
	size := sym.Const(1)
	for _, d := range t.axes {
		size = sym.Mul(size, d.ext)
	}
	n := f.names.sym("n_nonzero")
	f.exists[n] = true
	bounds := []sym.Cond{sym.Le(sym.Const(0), sym.Name(n))}
	if !f.multiplies(size) {
		bounds = append(bounds, sym.Le(sym.Name(n), size))
	}
	f.known = append(f.known, bounds...)
	f.factsCache = nil
	op := ir.NewOp("tensor.nonzero", loc(c), &ir.Operands{Args: []ir.Arg{ir.ValueArg(t.val)}},
		&ir.Exists{Dims: []ir.ExDim{{Name: n, Conds: bounds}}})
	rank := sym.Const(int64(len(t.axes)))
	v := f.top().emit(op, []ir.Type{ir.Tensor{Elem: num.I64, Dims: []sym.Expr{rank, sym.Name(n)}}}, "places").Results[0]
	all := &tensor{val: v, elem: num.I64, axes: []dim{{ext: rank, row: -1}, {ext: sym.Name(n), row: -1}}}
	if len(t.axes) != 1 {
		return []*tensor{all}
	}
	top := f.top()
	s := top.child()
	ix := s.denseAxis("r", sym.Name(n))
	s.yield(c, s.read(c, all, []sym.Expr{sym.Const(0), ix.value}, ir.PolicyError))
	ix.name = ""
	return []*tensor{f.resultOver(top.comp(c, s, []*index{ix}, nil, nil, nil, "at")[0], num.I64, []*index{ix})}
}

// concat puts tensors one after the other along an axis, the last by default.
func concat(f *fnState, c *syntax.Call) []*tensor {
	ts, axis := f.tensorArgs(c)
	if len(ts) == 0 || len(ts[0].axes) == 0 {
		f.p.failWith(c.Errorf("concat takes one tensor or more, of rank 1 or more"))
	}
	first := ts[0]
	k := len(first.axes) - 1
	if axis != nil {
		x := &expansion{f: f, c: c, d: &decl{name: "concat"}, n: &syntax.Fn{Name: c.Fn}, axis: axis}
		k = x.axisOf(first)
	}
	axes := append([]dim(nil), first.axes...)
	args := []ir.Arg{ir.ValueArg(first.val)}
	for _, t := range ts[1:] {
		if t.elem != first.elem || len(t.axes) != len(first.axes) {
			f.p.failWith(c.Errorf("concat takes tensors of one element type and rank, and these are %s of rank %d and %s of rank %d",
				first.elem, len(first.axes), t.elem, len(t.axes)).WithFix("cast them, or give them the dims that are missing"))
		}
		for i, d := range t.axes {
			if i == k {
				axes[k].ext = sym.Add(axes[k].ext, d.ext)
			} else {
				f.equate(c, axes[i].ext, d.ext, " in concat")
			}
		}
		args = append(args, ir.ValueArg(t.val))
	}
	dims := make([]sym.Expr, len(axes))
	for i, d := range axes {
		dims[i] = f.canon(d.ext)
	}
	op := ir.NewOp("tensor.concat", loc(c), &ir.Operands{Args: args}, &ir.Attr{Value: ir.AttrInt, Int: int64(k)})
	v := f.top().emit(op, []ir.Type{ir.Tensor{Elem: first.elem, Dims: dims}}, "cat").Results[0]
	return []*tensor{{val: v, elem: first.elem, axes: axes}}
}
