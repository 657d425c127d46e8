package reduce

import (
	"slices"

	"tenon/ir"
	"tenon/ir/sym"
)

// strategies in the order in which they are applied: what takes out most comes
// first.
var strategies = []strategy{
	{"items", func(m *ir.Module) int { return len(m.Items) }, func(m *ir.Module, lo, hi int) {
		m.Items = slices.Delete(m.Items, lo, hi)
	}},
	perFunc("results", func(f *ir.Func) int { return len(f.Results) }, dropResults),
	perFunc("buffers", func(f *ir.Func) int { return len(buffers(f)) }, dropBuffers),
	dropOps("ops, for operands", operand),
	dropOps("ops, for zeros", zero),
	dropOps("ops, for parameters", parameter),
	{"loops and branches", func(m *ir.Module) int { return len(shells(m)) }, func(m *ir.Module, lo, hi int) {
		for _, s := range shells(m)[lo:hi] {
			unwrap(m, s)
		}
	}},
	{"reads", func(m *ir.Module) int { return len(reads(m)) }, dropReads},
	perFunc("parameters", func(f *ir.Func) int { return len(f.Params) }, dropParams),
	perFunc("facts", func(f *ir.Func) int { return len(f.Where) }, func(f *ir.Func, lo, hi int) { f.Where = slices.Delete(f.Where, lo, hi) }),
	perFunc("dims", func(f *ir.Func) int { return len(f.Dims) }, func(f *ir.Func, lo, hi int) { f.Dims = slices.Delete(f.Dims, lo, hi) }),
	perFunc("directives", func(f *ir.Func) int { return len(f.Directives) }, func(f *ir.Func, lo, hi int) { f.Directives = slices.Delete(f.Directives, lo, hi) }),
}

// perFunc is a strategy whose parts are those of each function, one after the
// other.
func perFunc(name string, parts func(f *ir.Func) int, drop func(f *ir.Func, lo, hi int)) strategy {
	return strategy{name, func(m *ir.Module) int {
		n := 0
		for _, f := range m.Funcs() {
			n += parts(f)
		}
		return n
	}, func(m *ir.Module, lo, hi int) {
		for _, f := range m.Funcs() {
			n := parts(f)
			if from, to := max(lo, 0), min(hi, n); from < to {
				drop(f, from, to)
			}
			lo, hi = lo-n, hi-n
		}
	}}
}

func dropResults(f *ir.Func, lo, hi int) {
	f.Results = slices.Delete(f.Results, lo, hi)
	ret := ir.GetClause[*ir.Operands](f.Body.Last(), "")
	ret.Args = slices.Delete(ret.Args, lo, hi)
}

// dropParams leaves out parameters, and the dims that no other has.
func dropParams(f *ir.Func, lo, hi int) {
	f.Params = slices.Delete(f.Params, lo, hi)
	known := map[string]bool{}
	for _, p := range f.Params {
		ir.MapType(p.Value.Type, func(e sym.Expr) sym.Expr {
			for _, n := range e.Names() {
				known[n] = true
			}
			return e
		})
	}
	f.Dims = slices.DeleteFunc(f.Dims, func(d string) bool { return !known[d] })
}

// buffers are those of f, allocated or parameters.
func buffers(f *ir.Func) []*ir.Value {
	var list []*ir.Value
	add := func(v *ir.Value) {
		if _, ok := v.Type.(ir.Buf); ok {
			list = append(list, v)
		}
	}
	for _, p := range f.Params {
		add(p.Value)
	}
	f.Body.Walk(func(op *ir.Op) bool {
		for _, v := range op.Results {
			add(v)
		}
		return true
	})
	return list
}

// dropBuffers leaves out buffers, what writes to them, and for what is loaded
// from them uses zeros.
func dropBuffers(f *ir.Func, lo, hi int) {
	drop := map[*ir.Value]bool{}
	for _, v := range buffers(f)[lo:hi] {
		drop[v] = true
	}
	d := &dropper{f: f, heir: zero, gone: map[*ir.Op]bool{}, with: map[*ir.Value]*ir.Value{}}
	f.Body.Walk(func(op *ir.Op) bool {
		op.Values(func(v *ir.Value) *ir.Value {
			d.gone[op] = d.gone[op] || drop[v]
			return v
		})
		for _, v := range op.Results {
			d.gone[op] = d.gone[op] || drop[v]
		}
		return true
	})
	d.region(f.Body)
	f.Params = slices.DeleteFunc(f.Params, func(p *ir.Param) bool { return drop[p.Value] })
}

// shell is a loop or a branch around a region that could stand alone.
type shell struct {
	op *ir.Op
	in *ir.Block
}

func shells(m *ir.Module) []shell {
	var list []shell
	for _, op := range ops(m) {
		for _, c := range op.Clauses {
			if b, ok := c.(*ir.Block); ok && op.Def.Family() != "tensor" && len(b.Params) == 0 {
				list = append(list, shell{op, b})
			}
		}
	}
	return list
}

// unwrap puts what is in a shell in its place: the first iteration of a loop.
func unwrap(m *ir.Module, s shell) {
	at := &ir.Mapping{Values: map[*ir.Value]*ir.Value{}, Syms: map[string]sym.Expr{}}
	for _, c := range s.op.Clauses {
		switch c := c.(type) {
		case *ir.Range:
			at.Syms[c.Name] = c.Lo
			if c.Size != "" {
				at.Syms[c.Size] = c.Step
			}
		case *ir.Carry:
			for i, v := range c.Params {
				at.Values[v] = c.Inits[i]
			}
		}
	}
	d := &dropper{with: map[*ir.Value]*ir.Value{}}
	var inside []*ir.Op
	for _, op := range s.in.Region.Ops {
		if op != s.in.Region.Last() {
			inside = append(inside, ir.CloneOp(op, at))
		}
	}
	for i, v := range s.in.Region.Yields() {
		if i < len(s.op.Results) {
			d.with[s.op.Results[i]] = at.Value(v)
		}
	}
	for _, f := range m.Funcs() {
		replaceOp(f.Body, s.op, inside)
		d.region(f.Body)
	}
}

// replaceOp puts other ops in op's place, wherever it stands in r.
func replaceOp(r *ir.Region, op *ir.Op, with []*ir.Op) {
	if i := slices.Index(r.Ops, op); i >= 0 {
		r.Ops = slices.Replace(r.Ops, i, i+1, with...)
		return
	}
	for _, o := range r.Ops {
		for _, in := range o.Regions() {
			replaceOp(in, op, with)
		}
	}
}

// reads are the clauses of comps that read, one entry a read.
func reads(m *ir.Module) (list []*ir.Reads) {
	for _, op := range ops(m) {
		for _, c := range op.Clauses {
			if c, ok := c.(*ir.Reads); ok {
				for range c.List {
					list = append(list, c)
				}
			}
		}
	}
	return list
}

// dropReads leaves out reads; what used one uses another of the same type.
func dropReads(m *ir.Module, lo, hi int) {
	all := reads(m)
	d := &dropper{with: map[*ir.Value]*ir.Value{}}
	for i := hi - 1; i >= lo; i-- {
		c, at := all[i], 0
		for j := i; j > 0 && all[j-1] == c; j-- {
			at++
		}
		gone := c.List[at].Res
		c.List = slices.Delete(slices.Clone(c.List), at, at+1)
		for _, r := range c.List {
			if ir.SameType(r.Res.Type, gone.Type) {
				d.with[gone] = r.Res
			}
		}
	}
	for _, f := range m.Funcs() {
		d.region(f.Body)
	}
}
