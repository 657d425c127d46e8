package fuzz

import (
	"fmt"
	"strings"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// some is a tensor among the locals that fits.
func (f *source) some(fits func(t local) bool) (local, bool) {
	var found []local
	for _, t := range f.locals {
		if !t.scalar && fits(t) {
			found = append(found, t)
		}
	}
	if len(found) == 0 {
		return local{}, false
	}
	return pick(f.gen, found), true
}

// wholeCall calls a function of the prelude on whole tensors; what it computes
// is written out here a second time.
func (f *source) wholeCall() bool {
	switch f.IntN(4) {
	case 0:
		return f.softmax()
	case 1:
		return f.matmul()
	case 2:
		return f.cumsum()
	}
	return f.clip()
}

// bind adds the result of a call to the locals.
func (f *source) bind(t local, text string, run func(m *machine) *ir.Array) bool {
	t.name = f.fresh("v")
	f.line("let %s = %s", t.name, text)
	f.run = append(f.run, func(m *machine) { m.arrays[t.name] = run(m) })
	f.locals = append(f.locals, t)
	return true
}

// softmax is along the last axis, one counted from the end, or one by its name.
func (f *source) softmax() bool {
	x, ok := f.some(func(t local) bool { return t.elem.IsFloat() && len(t.dims) > 0 })
	if !ok {
		return false
	}
	axis, arg := len(x.dims)-1, ""
	switch {
	case len(x.axes) > 0 && f.chance(2):
		axis = f.IntN(len(x.axes))
		arg = ", axis=" + x.axes[axis]
	case f.chance(3):
		axis = f.IntN(len(x.dims))
		arg = fmt.Sprintf(", axis=%d", axis-len(x.dims))
	}
	t := local{elem: x.elem, dims: x.dims}
	return f.bind(t, "softmax("+x.name+arg+")", func(m *machine) *ir.Array { return softmaxOf(m.arrays[x.name], axis) })
}

// eachRow calls f with the places of each row of a along axis.
func eachRow(a *ir.Array, axis int, f func(at []int)) {
	stride := 1
	for _, n := range a.Shape[axis+1:] {
		stride *= int(n)
	}
	n := int(a.Shape[axis])
	for pos := range int(a.Size()) {
		if pos/stride%max(n, 1) == 0 {
			at := make([]int, n)
			for k := range at {
				at[k] = pos + k*stride
			}
			f(at)
		}
	}
}

// softmaxOf rounds where the prelude does: f16 and bf16 are summed in f32.
func softmaxOf(x *ir.Array, axis int) *ir.Array {
	e := x.Elem
	wide := (&machine{promote: true}).carrier(e)
	y := ir.NewArray(e, x.Shape...)
	eachRow(x, axis, func(at []int) {
		top, sum := neutral("max", e), num.Cell(0)
		for _, p := range at {
			top = num.Binary("max", e)(top, x.Mem.Cells[p])
		}
		for _, p := range at {
			y.Mem.Cells[p] = num.Unary("exp", e)(num.Binary("sub", e)(x.Mem.Cells[p], top))
			sum = num.Binary("add", wide)(sum, y.Mem.Cells[p])
		}
		sum = num.Cast(wide, e, sum)
		for _, p := range at {
			y.Mem.Cells[p] = num.Binary("div", e)(y.Mem.Cells[p], sum)
		}
	})
	return y
}

func (f *source) matmul() bool {
	a, ok := f.some(func(t local) bool { return t.elem != num.Bool && len(t.dims) == 2 })
	if !ok {
		return false
	}
	b, ok := f.some(func(t local) bool { return t.elem == a.elem && len(t.dims) == 2 && t.dims[0].Equal(a.dims[1]) })
	if !ok {
		return false
	}
	t := local{elem: a.elem, dims: []sym.Expr{a.dims[0], b.dims[1]}, exact: a.exact && b.exact && !a.elem.IsFloat()}
	return f.bind(t, "matmul("+a.name+", "+b.name+")", func(m *machine) *ir.Array {
		x, y := m.arrays[a.name], m.arrays[b.name]
		r, k, c := x.Shape[0], x.Shape[1], y.Shape[1]
		if y.Shape[0] != k {
			panic(stop{})
		}
		wide := (&machine{promote: true}).carrier(a.elem)
		z := ir.NewArray(a.elem, r, c)
		for i := range r * c {
			sum := num.Cell(0)
			for d := range k {
				sum = num.Binary("add", wide)(sum, num.Binary("mul", wide)(x.Mem.Cells[i/c*k+d], y.Mem.Cells[d*c+i%c]))
			}
			z.Mem.Cells[i] = num.Cast(wide, a.elem, sum)
		}
		return z
	})
}

func (f *source) cumsum() bool {
	x, ok := f.some(func(t local) bool { return t.elem != num.Bool && len(t.dims) > 0 })
	if !ok {
		return false
	}
	return f.bind(local{elem: x.elem, dims: x.dims, exact: x.exact && !x.elem.IsFloat()}, "cumsum("+x.name+")", func(m *machine) *ir.Array {
		a := m.arrays[x.name]
		y := ir.NewArray(a.Elem, a.Shape...)
		eachRow(a, 0, func(at []int) {
			sum := num.Cell(0)
			for _, p := range at {
				sum = num.Binary("add", a.Elem)(sum, a.Mem.Cells[p])
				y.Mem.Cells[p] = sum
			}
		})
		return y
	})
}

func (f *source) clip() bool {
	x, ok := f.some(func(t local) bool { return t.elem.IsFloat() })
	if !ok {
		return false
	}
	return f.bind(local{elem: x.elem, dims: x.dims, exact: x.exact}, "clip("+x.name+", -1.0, 0.5)", func(m *machine) *ir.Array {
		a := m.arrays[x.name]
		y := ir.NewArray(a.Elem, a.Shape...)
		for i, v := range a.Mem.Cells {
			v = num.Binary("max", a.Elem)(v, num.FromFloat(-1))
			y.Mem.Cells[i] = num.Binary("min", a.Elem)(v, num.FromFloat(0.5))
		}
		return y
	})
}

// concat puts tensors one after the other.
func (f *source) concat() bool {
	x, ok := f.some(func(t local) bool { return len(t.dims) > 0 })
	if !ok {
		return false
	}
	axis := f.IntN(len(x.dims))
	y, _ := f.some(func(t local) bool {
		if t.elem != x.elem || len(t.dims) != len(x.dims) {
			return false
		}
		for i := range t.dims {
			if i != axis && !t.dims[i].Equal(x.dims[i]) {
				return false
			}
		}
		return true
	})
	dims := append([]sym.Expr{}, x.dims...)
	dims[axis] = sym.Add(x.dims[axis], y.dims[axis])
	text := fmt.Sprintf("concat(%s, %s, axis=%d)", x.name, y.name, axis-len(dims))
	return f.bind(local{elem: x.elem, dims: dims, exact: x.exact && y.exact}, text, func(m *machine) *ir.Array {
		a, b := m.arrays[x.name], m.arrays[y.name]
		z := ir.NewArray(a.Elem, m.shape(dims)...)
		names, ranges := make([]string, len(dims)), make([]span, len(dims))
		for d := range dims {
			names[d], ranges[d] = fmt.Sprint("concat", d), span{0, z.Shape[d]}
		}
		m.over(names, ranges, func(at []int64) {
			from, there := a, append([]int64{}, at...)
			if at[axis] >= a.Shape[axis] {
				from = b
				there[axis] -= a.Shape[axis]
			}
			z.Mem.Cells[elementOf(z, at)] = from.Mem.Cells[elementOf(from, there)]
		})
		return z
	})
}

// callOwn calls a fn of the file on tensors that fit its parameters.
func (f *source) callOwn() bool {
	if len(f.fns) == 0 {
		return false
	}
	c := pick(f.gen, f.fns)
	args, dims, ok := f.argumentsFor(c, false)
	if !ok {
		return false
	}
	bind := map[string]sym.Expr{}
	for k, v := range dims {
		bind[k] = v
	}
	var names, results []string
	for _, a := range args {
		names = append(names, a.name)
	}
	var outs []local
	for _, r := range c.result {
		t := local{name: f.fresh("v"), elem: r.elem}
		for _, d := range r.dims {
			t.dims = append(t.dims, d.Subst(bind))
		}
		outs, results = append(outs, t), append(results, t.name)
	}
	f.line("let %s = %s(%s)", strings.Join(results, ", "), c.name, strings.Join(names, ", "))
	f.run = append(f.run, func(m *machine) {
		for i, a := range c.call(m, args, dims) {
			m.arrays[outs[i].name] = a
		}
	})
	f.locals = append(f.locals, outs...)
	return true
}

// call runs c on arguments of the caller.
func (c *callee) call(m *machine, args []local, dims map[string]sym.Expr) []*ir.Array {
	in := &machine{idx: map[string]int64{}, arrays: map[string]*ir.Array{}}
	for k, e := range dims {
		in.idx[k] = m.dim(e)
	}
	for i, p := range c.params {
		in.arrays[p.name] = m.arrays[args[i].name]
	}
	c.run(in)
	var out []*ir.Array
	for _, r := range c.result {
		out = append(out, in.arrays[r.name])
	}
	return out
}

// argumentsFor finds locals that c takes, and what its dims are then.
func (f *source) argumentsFor(c *callee, writes bool) (args []local, dims map[string]sym.Expr, ok bool) {
	dims = map[string]sym.Expr{}
	for _, p := range c.params {
		if p.bound != nil {
			return nil, nil, false
		}
		var found []local
		for _, t := range f.locals {
			if t.elem == p.elem && t.scalar == p.scalar && t.mode != "var" && fitsDims(t.dims, p.dims, dims) && f.mayPass(t, p, args, writes) {
				found = append(found, t)
			}
		}
		if len(found) == 0 {
			return nil, nil, false
		}
		t := pick(f.gen, found)
		for i, d := range p.dims {
			if n, isName := d.IsName(); isName {
				dims[n] = t.dims[i]
			}
		}
		args = append(args, t)
	}
	for _, d := range c.dims {
		if _, bound := dims[d]; !bound {
			return nil, nil, false
		}
	}
	return args, dims, true
}

// mayPass: a buffer that is written is passed once, and only where the caller
// may write it.
func (f *source) mayPass(t, p local, args []local, writes bool) bool {
	if !writes {
		return true
	}
	for _, a := range args {
		if a.name == t.name {
			return false
		}
	}
	return t.scalar || p.mode == "in" || p.mode == "" || t.mode == "inout" || t.mode == "out"
}

// fitsDims holds the dims of an argument against a parameter's, as far as they
// are names.
func fitsDims(have, want []sym.Expr, dims map[string]sym.Expr) bool {
	if len(have) != len(want) {
		return false
	}
	for i, d := range want {
		n, isName := d.IsName()
		bound, isBound := dims[n]
		switch {
		case !isName && !have[i].Equal(d.Subst(dims)):
			return false
		case isName && isBound && !bound.Equal(have[i]):
			return false
		}
	}
	return true
}
